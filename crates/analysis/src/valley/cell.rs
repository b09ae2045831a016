//! The time of a phase in pieces, each long enough that the number of requests in it says something of the rate.

use model::request::Operation;
use model::run::{PhaseSummary, RunView};

/// A slice with fewer requests than this is put together with the next: one more or less would look like another rate.
const REQUESTS_MIN: u64 = 8;
/// But no more slices than make a second: when nothing is completed that is what is to be seen.
const JOINED_S_MAX: f64 = 1.0;
/// Single requests are put together to pieces as long as a slice.
const TRACED_S: f64 = 0.04;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub start_s: f64,
    pub seconds: f64,
    pub bytes: f64,
    pub requests: u64,
    pub first_byte: u64,
}

impl Cell {
    pub fn rate(&self) -> f64 {
        self.bytes / self.seconds
    }

    fn join(&mut self, next: &Cell) {
        if self.requests == 0 {
            self.first_byte = next.first_byte;
        }
        self.seconds += next.seconds;
        self.bytes += next.bytes;
        self.requests += next.requests;
    }
}

/// Gives the pieces of a phase to `take`, in the order of time: of its single requests if these were kept, else of its slices.
pub(super) fn each_cell(
    run: &RunView<'_>,
    phase: u32,
    summary: &PhaseSummary,
    operation: Operation,
    take: impl FnMut(Cell),
) {
    let mut ios = run.series.ios(phase).filter(|io| io.operation == operation);
    match ios.next() {
        Some(first) => {
            // From the end of a request to the end of the next: at one at a time nothing lies between.
            let mut before_ns = first.completed_ns;
            let mut cells = Joined { open: None, is_full: is_traced_full, take };
            for io in ios {
                cells.add(Cell {
                    start_s: before_ns as f64 / 1e9,
                    seconds: io.completed_ns.saturating_sub(before_ns) as f64 / 1e9,
                    bytes: f64::from(io.length_bytes),
                    requests: 1,
                    first_byte: io.offset_bytes,
                });
                before_ns = before_ns.max(io.completed_ns);
            }
        }
        None => {
            let ended_ns = summary.ended_ns().unwrap_or(u64::MAX);
            let records = run.slices(phase, operation);
            let mut cells = Joined { open: None, is_full: is_sliced_full, take };
            for record in records.skip(1) {
                // The last slice is recorded with its full length; the phase ended within it.
                if record.end_ns() <= ended_ns {
                    cells.add(Cell {
                        start_s: record.start_ns as f64 / 1e9,
                        seconds: record.duration_ns as f64 / 1e9,
                        bytes: record.bytes as f64,
                        requests: record.operations,
                        first_byte: record.offset_first,
                    });
                }
            }
        }
    }
}

fn is_traced_full(cell: &Cell) -> bool {
    cell.seconds >= TRACED_S
}

fn is_sliced_full(cell: &Cell) -> bool {
    cell.requests >= REQUESTS_MIN || cell.seconds >= JOINED_S_MAX
}

/// Puts pieces together until they are full. What is left over at the end is too little to say anything.
struct Joined<Take> {
    open: Option<Cell>,
    is_full: fn(&Cell) -> bool,
    take: Take,
}

impl<Take: FnMut(Cell)> Joined<Take> {
    fn add(&mut self, piece: Cell) {
        let cell = match self.open.take() {
            Some(mut cell) => {
                cell.join(&piece);
                cell
            }
            None => piece,
        };
        if (self.is_full)(&cell) && cell.seconds > 0.0 {
            (self.take)(cell);
        } else {
            self.open = Some(cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together_until_they_hold_enough() {
        let piece = |requests| Cell { seconds: 0.04, bytes: requests as f64, requests, ..Cell::default() };
        let mut seen = Vec::new();
        let pieces = [9, 5, 4, 0, 0].map(piece).into_iter();
        let mut cells = Joined {
            open: None,
            is_full: is_sliced_full,
            take: |cell: Cell| seen.push((cell.requests, cell.bytes)),
        };
        for piece in pieces {
            cells.add(piece);
        }
        assert_eq!(seen, [(9, 9.0), (9, 9.0)]);
    }
}
