//! A latency histogram over all of u64 with a stated relative error, which merges without loss.
//!
//! Executive summary: a value is known to within **0.4 %**, from 1 ns to 584 years, in a fixed 58 KiB.
//!
//! Values below 2·128 have a cell each. Above, every power of two is cut into 128 cells of equal width, so a
//! cell at value `v` is at most `v / 128` wide, and its middle is at most `v / 256` = 0.39 % off. With
//! 7 bits inside a power of two there are (64 − 7) × 128 + 128 = 7,424 cells. The same layout as
//! HdrHistogram's, which the tests use as the reference; ours is fixed in size, so that recording is an
//! index and an addition, and cells of two histograms always match.

use crate::units::{Nanos, Quantile};
use serde::Serialize;

/// Bits kept below the leading one.
const PRECISION_BITS: u32 = 7;
const CELLS_PER_OCTAVE: usize = 1 << PRECISION_BITS;
pub const CELLS: usize = (u64::BITS - PRECISION_BITS + 1) as usize * CELLS_PER_OCTAVE;
/// The largest relative error of a quantile: half a cell.
pub const RELATIVE_ERROR: f64 = 1.0 / (2 * CELLS_PER_OCTAVE) as f64;

/// Latencies in nanoseconds. The quantiles are known to within 0.4 %, the others exactly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "the names say it")]
pub struct LatencySummary {
    pub min: Nanos,
    pub mean: f64,
    pub p50: Nanos,
    pub p90: Nanos,
    pub p99: Nanos,
    pub p999: Nanos,
    pub max: Nanos,
}

#[derive(Clone)]
pub struct LatencyHistogram {
    /// The counts of cells from `held_from` on: all while latencies are recorded, after a shrink those in use.
    cells: Vec<u64>,
    held_from: usize,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    /// The cells in use lie in `lowest..=highest`, so that scans and resets touch no more.
    lowest: usize,
    highest: usize,
}

impl Default for LatencyHistogram {
    fn default() -> LatencyHistogram {
        LatencyHistogram { cells: vec![0; CELLS], ..LatencyHistogram::small() }
    }
}

impl LatencyHistogram {
    pub fn summary(&self) -> Option<LatencySummary> {
        Some(LatencySummary {
            min: self.min()?,
            mean: self.mean_ns()?,
            p50: self.quantile(Quantile::MEDIAN)?,
            p90: self.quantile(Quantile::P90)?,
            p99: self.quantile(Quantile::P99)?,
            p999: self.quantile(Quantile::P999)?,
            max: self.max()?,
        })
    }

    /// An empty one that takes no memory before something is counted in it.
    pub fn small() -> LatencyHistogram {
        LatencyHistogram {
            cells: Vec::new(),
            held_from: 0,
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            lowest: CELLS,
            highest: 0,
        }
    }

    /// Counts one latency. Allocates only after a shrink.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        let cell = cell_of(latency_ns);
        match self.cells.get_mut(cell.wrapping_sub(self.held_from)) {
            Some(count) => *count += 1,
            None => self.count_in_new_cell(cell),
        }
        self.count += 1;
        self.sum_ns += u128::from(latency_ns);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        self.lowest = self.lowest.min(cell);
        self.highest = self.highest.max(cell);
    }

    pub fn record_many(&mut self, latency_ns: u64, times: u64) {
        let Some(more) = times.checked_sub(1) else { return };
        self.record(latency_ns);
        // Its cell is held now.
        if let Some(count) = self.cells.get_mut(cell_of(latency_ns) - self.held_from) {
            *count += more;
        }
        self.count += more;
        self.sum_ns += u128::from(latency_ns) * u128::from(more);
    }

    /// Adds the counts of `other`: the same as if all its latencies had been recorded here.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        if other.count == 0 {
            return;
        }
        let is_held = other.lowest >= self.held_from && other.highest < self.held_from + self.cells.len();
        if !is_held {
            self.hold(other.lowest, other.highest);
        }
        let (first, end) = (other.lowest - self.held_from, other.highest - self.held_from + 1);
        let more = &other.cells[other.lowest - other.held_from..=other.highest - other.held_from];
        self.cells[first..end].iter_mut().zip(more).for_each(|(count, more)| *count += more);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.lowest = self.lowest.min(other.lowest);
        self.highest = self.highest.max(other.highest);
    }

    /// Forgets everything. Touches only the cells in use and does not allocate.
    pub fn clear(&mut self) {
        if self.count > 0 {
            self.cells[self.lowest - self.held_from..=self.highest - self.held_from].fill(0);
        }
        self.count = 0;
        self.sum_ns = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
        self.lowest = CELLS;
        self.highest = 0;
    }

    /// Lets go of the memory of unused cells, 58 KiB to mostly some KiB, for histograms that are kept by phase.
    pub fn shrink(&mut self) {
        let used = if self.count == 0 {
            0..0
        } else {
            self.lowest - self.held_from..self.highest - self.held_from + 1
        };
        self.held_from = if self.count == 0 { 0 } else { self.lowest };
        self.cells = self.cells[used].to_vec();
    }

    #[cold]
    fn count_in_new_cell(&mut self, cell: usize) {
        self.hold(0, CELLS - 1);
        self.cells[cell] += 1;
    }

    /// Makes room for these cells beside those that are held.
    fn hold(&mut self, mut first: usize, mut last: usize) {
        if !self.cells.is_empty() {
            first = first.min(self.held_from);
            last = last.max(self.held_from + self.cells.len() - 1);
        }
        let mut cells = vec![0; last - first + 1];
        if let Some(held) = cells.get_mut(self.held_from.wrapping_sub(first)..) {
            held[..self.cells.len()].copy_from_slice(&self.cells);
        }
        (self.cells, self.held_from) = (cells, first);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn min(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos::new(self.min_ns))
    }

    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos::new(self.max_ns))
    }

    /// The mean of the latencies themselves, not of the cells.
    pub fn mean_ns(&self) -> Option<f64> {
        if self.count > 0 { Some(self.sum_ns as f64 / self.count as f64) } else { None }
    }

    /// Standard deviation, each latency taken at the middle of its cell.
    pub fn deviation_ns(&self) -> Option<f64> {
        let mean = self.mean_ns()?;
        let squares = self.cells().map(|(cell, count)| {
            let distance = middle_of(cell as usize) as f64 - mean;
            distance * distance * count as f64
        });
        Some((squares.sum::<f64>() / self.count as f64).sqrt())
    }

    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The smallest latency recorded that the share `quantile` does not exceed, to within the relative error.
    pub fn quantile(&self, quantile: Quantile) -> Option<Nanos> {
        if self.count == 0 {
            return None;
        }
        let rank = ((quantile.get() * self.count as f64).ceil() as u64).clamp(1, self.count);
        if rank == 1 {
            return Some(Nanos::new(self.min_ns));
        }
        if rank == self.count {
            return Some(Nanos::new(self.max_ns));
        }
        let mut seen = 0;
        for cell in self.lowest..=self.highest {
            seen += self.cells[cell - self.held_from];
            if seen >= rank {
                return Some(Nanos::new(middle_of(cell).clamp(self.min_ns, self.max_ns)));
            }
        }
        unreachable!("the cells hold as many latencies as were counted")
    }

    /// How many took less than `latency`, to within the cell that it falls into.
    pub fn count_below(&self, latency: Nanos) -> u64 {
        let bound = cell_of(latency.get()) as u32;
        self.cells().take_while(|(cell, _)| *cell < bound).map(|(_, count)| count).sum()
    }

    /// The cells in use, lowest first: index and count.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let used = if self.count == 0 { 0..0 } else { self.lowest..self.highest + 1 };
        let count_of = |cell: usize| self.cells[cell - self.held_from];
        used.filter(move |&cell| count_of(cell) > 0).map(move |cell| (cell as u32, count_of(cell)))
    }

    /// Rebuilds a histogram from its stored parts. `None` when they contradict each other: a cell that does
    /// not exist, a count that overflows, a minimum or maximum outside its cell, a sum that cannot be.
    pub fn from_parts(
        cells: impl IntoIterator<Item = (u32, u64)>,
        sum_ns: u128,
        min_ns: u64,
        max_ns: u64,
    ) -> Option<LatencyHistogram> {
        let cells: Vec<(u32, u64)> = cells.into_iter().collect();
        let mut histogram = LatencyHistogram::small();
        for &(cell, count) in &cells {
            let cell = usize::try_from(cell).ok().filter(|&cell| cell < CELLS)?;
            if count > 0 {
                histogram.count = histogram.count.checked_add(count)?;
                histogram.lowest = histogram.lowest.min(cell);
                histogram.highest = histogram.highest.max(cell);
            }
        }
        if histogram.count == 0 {
            return Some(histogram);
        }
        histogram.hold(histogram.lowest, histogram.highest);
        for (cell, count) in cells {
            if count > 0 {
                // It cannot overflow where the count of all does not.
                histogram.cells[cell as usize - histogram.held_from] += count;
            }
        }
        let count = u128::from(histogram.count);
        let sound = cell_of(min_ns) == histogram.lowest
            && cell_of(max_ns) == histogram.highest
            && (u128::from(min_ns) * count..=u128::from(max_ns) * count).contains(&sum_ns);
        (histogram.sum_ns, histogram.min_ns, histogram.max_ns) = (sum_ns, min_ns, max_ns);
        sound.then_some(histogram)
    }
}

/// Two are equal when they counted the same, whatever memory they hold.
impl PartialEq for LatencyHistogram {
    fn eq(&self, other: &LatencyHistogram) -> bool {
        let sums = |histogram: &LatencyHistogram| {
            (histogram.count, histogram.sum_ns, histogram.min_ns, histogram.max_ns)
        };
        sums(self) == sums(other) && self.cells().eq(other.cells())
    }
}

impl Eq for LatencyHistogram {}

impl std::fmt::Debug for LatencyHistogram {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cells: Vec<_> = self.cells().collect();
        formatter
            .debug_struct("LatencyHistogram")
            .field("sum_ns", &self.sum_ns)
            .field("cells", &cells)
            .finish()
    }
}

#[inline]
fn cell_of(value: u64) -> usize {
    // For values below 2^7 the leading one is taken to be bit 6, which gives them a cell each.
    let shift = (u64::BITS - (value | CELLS_PER_OCTAVE as u64).leading_zeros()) - PRECISION_BITS - 1;
    shift as usize * CELLS_PER_OCTAVE + (value >> shift) as usize
}

fn middle_of(cell: usize) -> u64 {
    if cell < 2 * CELLS_PER_OCTAVE {
        return cell as u64;
    }
    let shift = cell / CELLS_PER_OCTAVE - 1;
    let first = ((cell - shift * CELLS_PER_OCTAVE) as u64) << shift;
    first + ((1u64 << shift) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_below_a_bound_is_counted() {
        let histogram = of(&[1_000_000, 9_000_000, 12_000_000, 700_000_000]);
        assert_eq!(histogram.count_below(Nanos::from_millis(10)), 2);
        assert_eq!(histogram.count_below(Nanos::from_millis(500)), 3);
        assert_eq!(of(&[]).count_below(Nanos::from_millis(10)), 0);
    }

    fn of(latencies: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::default();
        latencies.iter().for_each(|&latency| histogram.record(latency));
        histogram
    }

    #[test]
    fn the_layout_is_as_stated() {
        assert_eq!(CELLS, 7424);
        assert_eq!(cell_of(0), 0);
        assert_eq!(cell_of(255), 255);
        assert_eq!(cell_of(256), 256);
        assert_eq!(cell_of(257), 256);
        assert_eq!(cell_of(u64::MAX), CELLS - 1);
    }

    #[test]
    fn a_shrunk_histogram_holds_little() {
        assert_eq!(LatencyHistogram::small(), of(&[]));
        let mut histogram = LatencyHistogram::small();
        [100_000, 130_000].into_iter().for_each(|latency| histogram.record(latency));
        assert_eq!(histogram, of(&[100_000, 130_000]));
        histogram.shrink();
        assert!(histogram.cells.len() < 60, "{}", histogram.cells.len());
    }

    #[test]
    fn nothing_recorded_has_no_quantile() {
        assert_eq!(of(&[]).quantile(Quantile::MEDIAN), None);
        let mut many = of(&[7]);
        many.record_many(3, 0);
        many.record_many(9, 3);
        assert_eq!(many, of(&[7, 9, 9, 9]));
        assert_eq!(of(&[]).mean_ns(), None);
    }

    #[test]
    fn small_values_are_exact() {
        let histogram = of(&[1, 2, 3, 4, 100]);
        assert_eq!(histogram.quantile(Quantile::MEDIAN), Some(Nanos::new(3)));
        assert_eq!(histogram.mean_ns(), Some(22.0));
        assert_eq!(histogram.max(), Some(Nanos::new(100)));
    }

    #[test]
    fn contradicting_parts_are_refused() {
        assert!(LatencyHistogram::from_parts([(CELLS as u32, 1)], 0, 0, 0).is_none());
        assert!(LatencyHistogram::from_parts([(5, u64::MAX), (6, 1)], 0, 5, 6).is_none());
        assert!(LatencyHistogram::from_parts([(5, 2)], 11, 5, 5).is_none());
        assert!(LatencyHistogram::from_parts([(5, 2)], 10, 5, 6).is_none());
        assert_eq!(LatencyHistogram::from_parts([(5, 2)], 10, 5, 5), Some(of(&[5, 5])));
    }

    proptest! {
        #[test]
        fn a_cell_is_never_wider_than_stated(value in any::<u64>()) {
            let middle = middle_of(cell_of(value));
            prop_assert!(middle.abs_diff(value) as f64 <= value as f64 * RELATIVE_ERROR);
        }

        #[test]
        fn quantiles_agree_with_the_reference(
            latencies in prop::collection::vec(1u64..1 << 50, 1..400),
            quantile in 0.0f64..=1.0,
        ) {
            let ours = of(&latencies).quantile(Quantile::new(quantile).unwrap()).unwrap().as_f64();
            let mut reference = hdrhistogram::Histogram::<u64>::new(3).unwrap();
            latencies.iter().for_each(|&latency| reference.record(latency).unwrap());
            let theirs = reference.value_at_quantile(quantile) as f64;
            prop_assert!((ours - theirs).abs() <= theirs * (RELATIVE_ERROR + 1e-3) + 1.0, "{} {}", ours, theirs);
        }

        #[test]
        fn merging_parts_equals_the_whole(
            a in prop::collection::vec(any::<u64>(), 0..100),
            b in prop::collection::vec(any::<u64>(), 0..100),
        ) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            prop_assert_eq!(merged, of(&[a, b].concat()));
        }

        #[test]
        fn stored_parts_come_back(latencies in prop::collection::vec(any::<u64>(), 0..100)) {
            let histogram = of(&latencies);
            let min = histogram.min().map_or(0, |min| min.get());
            let max = histogram.max().map_or(0, |max| max.get());
            let back = LatencyHistogram::from_parts(histogram.cells(), histogram.sum_ns(), min, max);
            prop_assert_eq!(back, Some(histogram));
        }

        #[test]
        fn a_shrunk_histogram_is_the_same_and_goes_on(
            a in prop::collection::vec(any::<u64>(), 0..60),
            b in prop::collection::vec(any::<u64>(), 0..60),
        ) {
            let mut shrunk = of(&a);
            shrunk.shrink();
            prop_assert_eq!(&shrunk, &of(&a));
            prop_assert_eq!(shrunk.quantile(Quantile::P99), of(&a).quantile(Quantile::P99));
            let (mut recorded, mut merged, mut cleared) = (shrunk.clone(), shrunk.clone(), shrunk.clone());
            b.iter().for_each(|&latency| recorded.record(latency));
            let mut other = of(&b);
            other.shrink();
            merged.merge(&other);
            cleared.clear();
            cleared.merge(&other);
            let both = of(&[a, b.clone()].concat());
            prop_assert_eq!(recorded, both.clone());
            prop_assert_eq!(merged, both);
            prop_assert_eq!(cleared, of(&b));
        }

        #[test]
        fn clearing_forgets_everything(latencies in prop::collection::vec(any::<u64>(), 0..100)) {
            let mut histogram = of(&latencies);
            histogram.clear();
            prop_assert_eq!(histogram, LatencyHistogram::default());
        }
    }
}
