//! The time of a phase in pieces, each long enough that the number of requests in it says something of the rate.

use model::request::Operation;
use model::run::{PhaseSummary, RunView};

/// A slice with fewer requests than this is put together with the next: one more or less would look like another rate.
const REQUESTS_MIN: u64 = 8;
/// But no more slices than make a second: when nothing is completed that is what is to be seen.
const JOINED_S_MAX: f64 = 1.0;
/// Single requests are put together to pieces as long as a slice.
const TRACED_S: f64 = 0.04;

/// A piece of a phase's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cell {
    /// When it began, in seconds of the run's clock.
    pub start_s: f64,
    pub seconds: f64,
    pub bytes: f64,
    pub requests: u64,
    /// The lowest byte touched in it.
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

/// Gives the pieces of a phase to `take`, in the order of time: of its single requests if these were kept, else of its slices. What
/// the drive needs to get going is before the first.
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
            let pieces = ios.map(move |io| {
                let start_ns = before_ns;
                before_ns = before_ns.max(io.completed_ns);
                Cell {
                    start_s: start_ns as f64 / 1e9,
                    seconds: io.completed_ns.saturating_sub(start_ns) as f64 / 1e9,
                    bytes: f64::from(io.length_bytes),
                    requests: 1,
                    first_byte: io.offset_bytes,
                }
            });
            joined(pieces, |cell| cell.seconds >= TRACED_S, take);
        }
        None => {
            let ended_ns = summary.ended_ns().unwrap_or(u64::MAX);
            let records = run.series.intervals(phase).filter(|record| record.operation == operation);
            let pieces = records.skip(1).filter_map(|record| {
                // The last slice is recorded with its full length; the phase ended within it.
                let is_whole = record.end_ns() <= ended_ns;
                is_whole.then_some(Cell {
                    start_s: record.start_ns as f64 / 1e9,
                    seconds: record.duration_ns as f64 / 1e9,
                    bytes: record.bytes as f64,
                    requests: record.operations,
                    first_byte: record.offset_first,
                })
            });
            let is_full = |cell: &Cell| cell.requests >= REQUESTS_MIN || cell.seconds >= JOINED_S_MAX;
            joined(pieces, is_full, take);
        }
    }
}

/// Puts pieces together until they are full. What is left over at the end is too little to say anything.
fn joined(pieces: impl Iterator<Item = Cell>, is_full: impl Fn(&Cell) -> bool, mut take: impl FnMut(Cell)) {
    let mut open: Option<Cell> = None;
    for piece in pieces {
        let mut cell = match open.take() {
            Some(mut cell) => {
                cell.join(&piece);
                cell
            }
            None => piece,
        };
        if is_full(&cell) && cell.seconds > 0.0 {
            take(std::mem::take(&mut cell));
        } else {
            open = Some(cell);
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
        joined(pieces, |cell| cell.requests >= REQUESTS_MIN, |cell| seen.push((cell.requests, cell.bytes)));
        assert_eq!(seen, [(9, 9.0), (9, 9.0)]);
    }
}
