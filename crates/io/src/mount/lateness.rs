//! How late the answers of a mounted drive were: when they had been given, less when the model says.

use model::histogram::LatencyHistogram;
use model::units::{Instant, Nanos};

/// A hard disk is to be followed within this.
pub const LATE: Nanos = Nanos::new(50_000);
/// What this share of a turn late is, a tool that measures rotation sees.
const SHARE_OF_A_TURN: u64 = 100;

/// The lateness of all answers that the drive itself took part in: reads, writes, flushes and discards.
#[derive(Clone, Debug)]
pub struct Lateness {
    /// By how much each answer was late, in nanoseconds; 0 for one that was early.
    pub histogram: LatencyHistogram,
    /// By how much the earliest was early. Answers that carry much data are begun early, so that they are there in time.
    pub early_max: Nanos,
    pub late: u64,
    /// How many were late by more than a hundredth of a turn; none where the time of a turn is not known.
    pub late_for_rotation: Option<u64>,
    /// Writes that failed because the memory for what is on the drive was used up.
    pub not_stored: u64,
    /// Why the thread that answers does not run before all ordinary ones; none when it does.
    pub scheduling_refusal: Option<String>,
    pub processor_time: Nanos,
    pub served: Nanos,
    pub turn: Option<Nanos>,
}

impl Lateness {
    pub(super) fn new(turn: Option<Nanos>, scheduling_refusal: Option<String>) -> Lateness {
        Lateness {
            histogram: LatencyHistogram::default(),
            early_max: Nanos::ZERO,
            late: 0,
            late_for_rotation: turn.map(|_| 0),
            not_stored: 0,
            scheduling_refusal,
            processor_time: Nanos::ZERO,
            served: Nanos::ZERO,
            turn,
        }
    }

    pub(super) fn record(&mut self, due: Instant, answered: Instant) {
        let lateness = answered.since(due);
        self.histogram.record(lateness.get());
        self.early_max = self.early_max.max(due.since(answered));
        self.late += u64::from(lateness > LATE);
        if let (Some(count), Some(turn)) = (&mut self.late_for_rotation, self.turn) {
            *count += u64::from(lateness.get() > turn.get() / SHARE_OF_A_TURN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_late_is_counted() {
        let mut lateness = Lateness::new(Some(Nanos::new(8_333_333)), None);
        for answered in [999_000, 1_010_000, 1_051_000, 1_084_000] {
            lateness.record(Instant::new(1_000_000), Instant::new(answered));
        }
        assert_eq!(lateness.histogram.count(), 4);
        assert_eq!(lateness.histogram.max(), Some(Nanos::new(84_000)));
        assert_eq!(lateness.early_max, Nanos::new(1_000));
        // 50 µs; and a hundredth of a turn is 83.3 µs.
        assert_eq!((lateness.late, lateness.late_for_rotation), (2, Some(1)));
        assert_eq!(Lateness::new(None, None).late_for_rotation, None);
    }
}
