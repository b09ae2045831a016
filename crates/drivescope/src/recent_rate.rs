//! The rate now: that of the last half second, steady enough to read and fresh enough to see a stall.

use model::record::IntervalRecord;
use model::units::Nanos;

/// Slices of 40 ms that count.
const SLICES: usize = 12;

/// What the last slices moved.
#[derive(Clone, Debug, Default)]
pub struct RecentRate {
    slices: [(u64, u64, u64); SLICES],
    next: usize,
}

impl RecentRate {
    /// Takes in a slice.
    pub fn add(&mut self, slice: &IntervalRecord) {
        self.slices[self.next] = (slice.duration_ns, slice.operations, slice.bytes);
        self.next = (self.next + 1) % SLICES;
    }

    /// Bytes and requests a second; none before the first slice.
    pub fn per_second(&self) -> Option<(f64, f64)> {
        let zero = (0u64, 0u64, 0u64);
        let (nanos, operations, bytes) = self.slices.iter().fold(zero, |sum, slice| {
            (sum.0.saturating_add(slice.0), sum.1.saturating_add(slice.1), sum.2.saturating_add(slice.2))
        });
        let seconds = Nanos(nanos).seconds();
        (nanos > 0).then(|| (bytes as f64 / seconds, operations as f64 / seconds))
    }
}
