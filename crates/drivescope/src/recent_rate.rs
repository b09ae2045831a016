//! Throughput over the last half second: steady enough to read, short enough to show a stall.

use model::record::IntervalRecord;
use model::units::Nanos;

const INTERVALS: usize = 12;

#[derive(Clone, Debug, Default)]
pub struct RecentRate {
    intervals: [(u64, u64, u64); INTERVALS],
    next: usize,
}

impl RecentRate {
    pub fn add(&mut self, interval: &IntervalRecord) {
        self.intervals[self.next] = (interval.duration_ns, interval.operations, interval.bytes);
        self.next = (self.next + 1) % INTERVALS;
    }

    pub fn per_second(&self) -> Option<(f64, f64)> {
        let (mut nanos, mut operations, mut bytes) = (0u64, 0u64, 0u64);
        for interval in &self.intervals {
            nanos = nanos.saturating_add(interval.0);
            operations = operations.saturating_add(interval.1);
            bytes = bytes.saturating_add(interval.2);
        }
        if nanos == 0 {
            return None;
        }
        let seconds = Nanos::new(nanos).seconds();
        Some((bytes as f64 / seconds, operations as f64 / seconds))
    }
}
