//! Dips of throughput within one phase: intervals slower than those around them. One pass, in bounded memory.

use super::cell::Cell;
use crate::stats::sample::middle;

/// What is usual is the median over about this long: longer than a dip, shorter than zones and levels of a cache.
const WINDOW_S: f64 = 10.0;
/// A rest shorter than this joins the window before it.
const REST_S: f64 = 5.0;
/// Pieces of a window; more are a window of less time.
const WINDOW_CELLS_MAX: usize = 1024;
/// Below this share of what is usual an interval is low. Surfaces and zones of a disk differ by 6 %.
pub(crate) const DROP_SHARE: f64 = 0.75;
/// With requests that take longer than a slice each, a dip of 50 ms makes one of them so much longer.
const SHORTEST_S: f64 = 0.05;
const LOW_SHARE_MAX: f64 = 0.9;
/// A piece is low only if noise alone would hardly ever make it so.
const NOISE_TIMES: f64 = 6.0;
/// If that would be below this share, the rate is too uneven for dips to be told from it.
const LOW_SHARE_MIN: f64 = 0.4;
/// What a dip takes away at least, in seconds of writing: 50 ms at half the rate. A late completion takes less.
const LOST_S_MIN: f64 = 0.025;
/// What lasts longer is no short dip: a drive that is too warm needs some seconds at least to cool by a few degrees.
const WIDTH_S_MAX: f64 = 3.0;
/// Dips of a phase that are kept; all are counted.
const FALLS_MAX: usize = 10_000;
/// The standard deviation of a normal variable is so many times its median absolute deviation.
const MAD_TO_SIGMA: f64 = 1.4826;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dip {
    pub start_s: f64,
    pub end_s: f64,
    pub lost_s: f64,
    /// What was left of the rate inside it, where it was long enough to see an inside.
    pub inside: Option<f64>,
    /// What was left of the rate in its lowest piece.
    pub lowest: f64,
    pub at_bytes: f64,
    pub first_byte: u64,
    /// Dips with one number came while it was written without a pause at one speed.
    pub chain: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PhaseDips {
    pub dips: Vec<Dip>,
    pub count: u64,
    pub long: u64,
    /// Seconds that were looked at, and of them those in which the rate was too uneven.
    pub seconds: f64,
    pub uneven_s: f64,
}

struct Window {
    cells: Vec<Cell>,
    seconds: f64,
    median: f64,
    noise: f64,
}

#[derive(Default)]
pub(super) struct DipFinder {
    block_bytes: f64,
    whole_requests: bool,
    /// Writes come at a fixed rate and catch up after a dip: that gives back nothing of what it took.
    is_paced: bool,
    /// The window that is filled, and the two before it, of which the later has not been looked at.
    filling: Vec<Cell>,
    filling_s: f64,
    waiting: Option<Window>,
    median_before: Option<f64>,
    scratch: Vec<f64>,
    open: Option<OpenDip>,
    /// What the last piece lost that was not low.
    edge_lost_s: f64,
    bytes: f64,
    found: PhaseDips,
}

struct OpenDip {
    dip: Dip,
    low_s: f64,
    /// Seconds of the low pieces, and the bytes as seconds of the usual rate, the first and the latest left out.
    inside: (f64, f64),
    latest: (f64, f64),
    low_cells: u32,
    is_pausing: bool,
}

impl DipFinder {
    pub fn new(block_bytes: f64, whole_requests: bool, is_paced: bool) -> DipFinder {
        DipFinder { block_bytes, whole_requests, is_paced, ..DipFinder::default() }
    }

    pub fn take(&mut self, cell: Cell) {
        self.filling_s += cell.seconds;
        self.filling.push(cell);
        if self.filling_s >= WINDOW_S || self.filling.len() >= WINDOW_CELLS_MAX {
            let cells = std::mem::take(&mut self.filling);
            let window = self.window(cells, self.filling_s);
            self.filling_s = 0.0;
            let after = window.median;
            if let Some(done) = self.waiting.replace(window) {
                self.look(done, Some(after));
            }
        }
    }

    pub fn finish(mut self) -> PhaseDips {
        let rest = std::mem::take(&mut self.filling);
        let rest_s = self.filling_s;
        match self.waiting.take() {
            Some(last) if rest_s < REST_S => {
                let cells = [last.cells, rest].concat();
                let window = self.window(cells, last.seconds + rest_s);
                self.look(window, None);
            }
            Some(last) => {
                let window = self.window(rest, rest_s);
                let after = window.median;
                self.look(last, Some(after));
                self.look(window, None);
            }
            None if !rest.is_empty() => {
                let window = self.window(rest, rest_s);
                self.look(window, None);
            }
            None => {}
        }
        self.close();
        self.found
    }

    fn window(&mut self, cells: Vec<Cell>, seconds: f64) -> Window {
        self.scratch.clear();
        self.scratch.extend(cells.iter().map(Cell::rate));
        let median = middle(&mut self.scratch);
        for rate in &mut self.scratch {
            *rate = (*rate - median).abs();
        }
        let spread = MAD_TO_SIGMA * middle(&mut self.scratch) / median;
        let mean_bytes = bytes_of(&cells) / cells.len().max(1) as f64;
        // Where slices end is not where requests do: a request more or less.
        let grain = if self.whole_requests { 0.0 } else { 0.5 * self.block_bytes / mean_bytes };
        Window { cells, seconds, median, noise: spread.max(grain) }
    }

    /// What is usual is the lowest of three windows: behind a step to a lower rate that is the new one, so that a step is no dip.
    fn look(&mut self, window: Window, after: Option<f64>) {
        let (before, after) = (self.median_before.unwrap_or(f64::INFINITY), after.unwrap_or(f64::INFINITY));
        let usual = before.min(window.median).min(after);
        self.median_before = Some(window.median);
        self.found.seconds += window.seconds;
        let is_rate = usual > 0.0 && usual.is_finite();
        let Some(low_share) = self.low_share(usual, window.noise).filter(|_| is_rate) else {
            self.found.uneven_s += window.seconds;
            self.bytes += bytes_of(&window.cells);
            self.close();
            return;
        };
        for cell in &window.cells {
            self.look_at(cell, usual, low_share);
        }
    }

    fn low_share(&self, usual: f64, noise: f64) -> Option<f64> {
        let request_s = if self.whole_requests { self.block_bytes / usual } else { 0.0 };
        let by_request = request_s / (request_s + SHORTEST_S);
        let share = by_request.clamp(DROP_SHARE, LOW_SHARE_MAX).min(1.0 - NOISE_TIMES * noise);
        (share >= LOW_SHARE_MIN).then_some(share)
    }

    fn look_at(&mut self, cell: &Cell, usual: f64, low_share: f64) {
        let share = cell.rate() / usual;
        let lost_s = cell.seconds - cell.bytes / usual;
        if share < low_share {
            let (edge_lost_s, at_bytes) = (self.edge_lost_s, self.bytes);
            let open = self.open.get_or_insert_with(|| OpenDip::at(cell, edge_lost_s, at_bytes));
            open.add(cell, share, lost_s);
        } else {
            match &mut self.open {
                Some(open) if open.is_pausing => self.close(),
                Some(open) => {
                    // It may go on after one piece; if not, this piece holds the end of it.
                    open.is_pausing = true;
                    open.dip.lost_s += if self.is_paced { lost_s.max(0.0) } else { lost_s };
                }
                None => {}
            }
            self.edge_lost_s = lost_s;
        }
        self.bytes += cell.bytes;
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        if open.low_s > WIDTH_S_MAX {
            self.found.long += 1;
            return;
        }
        let dip = open.closed();
        if dip.lost_s < LOST_S_MIN {
            return;
        }
        self.found.count += 1;
        if self.found.dips.len() < FALLS_MAX {
            self.found.dips.push(dip);
        }
    }
}

impl OpenDip {
    fn at(cell: &Cell, edge_lost_s: f64, at_bytes: f64) -> OpenDip {
        let dip = Dip {
            start_s: cell.start_s,
            end_s: cell.start_s,
            // The piece before holds the beginning of it.
            lost_s: edge_lost_s.max(0.0),
            inside: None,
            lowest: f64::INFINITY,
            at_bytes,
            first_byte: cell.first_byte,
            chain: 0,
        };
        OpenDip { dip, low_s: 0.0, inside: (0.0, 0.0), latest: (0.0, 0.0), low_cells: 0, is_pausing: false }
    }

    fn add(&mut self, cell: &Cell, share: f64, lost_s: f64) {
        self.is_pausing = false;
        self.low_cells += 1;
        self.low_s += cell.seconds;
        self.dip.lost_s += lost_s;
        self.dip.end_s = cell.start_s + cell.seconds;
        self.dip.lowest = self.dip.lowest.min(share);
        self.inside = (self.inside.0 + self.latest.0, self.inside.1 + self.latest.1);
        self.latest = if self.low_cells > 1 { (cell.seconds, cell.seconds * share) } else { (0.0, 0.0) };
    }

    /// Its first and its last low piece are only partly inside.
    fn closed(mut self) -> Dip {
        let (seconds, usual_s) = self.inside;
        self.dip.inside = (seconds > 0.0).then_some(usual_s / seconds);
        self.dip
    }
}

fn bytes_of(cells: &[Cell]) -> f64 {
    cells.iter().map(|cell| cell.bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 100 MB/s in pieces of 40 ms of whole requests of 64 KiB, with that share of the rate between two moments.
    fn found(dips: &[(f64, f64, f64)], seconds: f64) -> PhaseDips {
        let mut finder = DipFinder::new(65_536.0, false, false);
        let share_at = |at_s: f64| {
            let of = dips.iter().find(|(from_s, width_s, _)| (*from_s..from_s + width_s).contains(&at_s));
            of.map_or(1.0, |(_, _, share)| *share)
        };
        for number in 0..(seconds / 0.04) as u32 {
            let start_s = f64::from(number) * 0.04;
            let bytes = (0..40).map(|ms| 1e5 * share_at(start_s + (f64::from(ms) + 0.5) / 1e3)).sum::<f64>();
            finder.take(Cell { start_s, seconds: 0.04, bytes, requests: 61, first_byte: 0 });
        }
        finder.finish()
    }

    #[test]
    fn a_dip_is_measured() {
        let phase = found(&[(20.01, 0.5, 0.1)], 60.0);
        let [dip] = phase.dips[..] else { panic!("{phase:?}") };
        assert!((dip.start_s - 20.01).abs() <= 0.04 && (dip.lost_s - 0.45).abs() < 0.002, "{dip:?}");
        assert!((dip.inside.unwrap() - 0.1).abs() < 1e-9, "{dip:?}");
        assert!((dip.at_bytes - 2e9).abs() < 5e6, "{dip:?}");
    }

    /// Requests of 64 KiB in slices of 40 ms around a stall of 80 ms in a rate-limited pass on the drive `x25-m`, which catches up behind it.
    #[test]
    fn what_a_paced_pass_catches_up_hides_no_dip() {
        let count = |is_paced| {
            let mut finder = DipFinder::new(65_536.0, false, is_paced);
            for number in 0..750u32 {
                let requests = match number {
                    365 => 9,
                    366 => 15,
                    367 => 43,
                    368 => 36,
                    _ => 25 + u64::from(number % 3 > 0),
                };
                let (start_s, bytes) = (0.04 * f64::from(number), requests as f64 * 65_536.0);
                finder.take(Cell { start_s, seconds: 0.04, bytes, requests, first_byte: 0 });
            }
            finder.finish().count
        };
        assert_eq!((count(true), count(false)), (1, 0));
    }

    #[test]
    fn steps_and_long_dips_are_none() {
        let half = found(&[(13.0, 1e9, 0.4)], 60.0);
        assert_eq!((half.count, half.long), (0, 0));
        let long = found(&[(22.0, 4.0, 0.4)], 60.0);
        assert_eq!((long.count, long.long), (0, 1));
        assert_eq!(found(&[(30.0, 0.02, 0.0)], 60.0).count, 0);
    }

    proptest! {
        #[test]
        fn what_a_dip_takes_is_found_wherever_it_lies(
            from_s in 1.0f64..55.0, width_s in 0.08f64..2.0, share in 0.0f64..0.4,
        ) {
            let phase = found(&[(from_s, width_s, share)], 60.0);
            prop_assert_eq!(phase.count, 1);
            let lost_s = width_s * (1.0 - share);
            prop_assert!((phase.dips[0].lost_s - lost_s).abs() < 0.003, "{:?} {}", phase.dips[0], lost_s);
        }
    }
}
