//! Tells a drive that went away from one that could not read: the kernel answers requests to a drive that is gone
//! with EIO, ENODEV, ENOLINK or no bytes at all, by driver and by moment, so an answer alone says nothing.
//! ```text
//! errors of the phase ──► held back for a second at the most ──► observer
//!                              │  is the drive still there?
//!                              └─ no: all that is held back, and all that follows, is "the device went away"
//! ```

use crate::clock::{Clock, MonotonicClock};
use crate::load::collect::{PhaseObserver, Verdict};
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord};
use model::request::Status;
use model::units::{Instant, Nanos};
use std::time::Duration;

/// How long an error waits: the kernel takes tens of milliseconds to take a drive away that was pulled.
const PATIENCE: Nanos = Nanos::from_secs(1);
/// The same when the phase is over. A phase with bad sectors at its end takes that much longer.
const PATIENCE_AT_END: Nanos = Nanos::from_millis(50);
const PAUSE: Duration = Duration::from_millis(5);

/// An observer between a phase and its observer. It looks whether the drive is there whenever a request has failed.
pub(crate) struct PresenceWatch<'phase> {
    observer: &'phase mut dyn PhaseObserver,
    is_gone: &'phase dyn Fn() -> bool,
    clock: MonotonicClock,
    waiting: Vec<ErrorRecord>,
    gone: bool,
}

impl<'phase> PresenceWatch<'phase> {
    pub(crate) fn new(
        observer: &'phase mut dyn PhaseObserver,
        is_gone: &'phase dyn Fn() -> bool,
        clock: MonotonicClock,
    ) -> PresenceWatch<'phase> {
        PresenceWatch { observer, is_gone, clock, waiting: Vec::new(), gone: false }
    }

    /// Hands on what still waits, when the phase is over; whether the drive went away.
    pub(crate) fn settle(mut self) -> bool {
        let deadline = self.clock.now() + PATIENCE_AT_END;
        while !self.waiting.is_empty() && !self.look() && self.clock.now() < deadline {
            std::thread::sleep(PAUSE);
        }
        self.release(Nanos::ZERO);
        self.gone
    }

    fn look(&mut self) -> bool {
        self.gone = self.gone || (self.is_gone)();
        self.gone
    }

    /// Hands on the errors that are older than `age`; all of them when the drive is known to be gone.
    fn release(&mut self, age: Nanos) {
        let now = self.clock.now();
        let is_due = |record: &ErrorRecord| self.gone || now.get().saturating_sub(record.at_ns) >= age.get();
        let (due, waiting) = self.waiting.drain(..).partition(is_due);
        self.waiting = waiting;
        let due: Vec<ErrorRecord> = due;
        for mut record in due {
            if self.gone {
                record.status = Status::DeviceGone;
            }
            self.observer.error(&record);
        }
    }
}

impl PhaseObserver for PresenceWatch<'_> {
    fn interval(&mut self, record: &IntervalRecord) {
        self.observer.interval(record);
    }

    fn histogram(&mut self, record: &HistogramRecord) {
        self.observer.histogram(record);
    }

    fn error(&mut self, record: &ErrorRecord) {
        self.waiting.push(*record);
    }

    fn trace(&mut self, records: &[IoRecord]) {
        self.observer.trace(records);
    }

    fn flushing(&mut self, since: Instant) {
        self.observer.flushing(since);
    }

    fn unanswered(&mut self, waited: Nanos) {
        self.observer.unanswered(waited);
    }

    fn verdict(&mut self) -> Verdict {
        if !self.waiting.is_empty() {
            self.look();
            self.release(PATIENCE);
        }
        if self.gone { Verdict::Interrupt } else { self.observer.verdict() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::request::Operation;
    use std::cell::Cell;

    #[derive(Default)]
    struct Seen(Vec<Status>);

    impl PhaseObserver for Seen {
        fn interval(&mut self, _: &IntervalRecord) {}
        fn histogram(&mut self, _: &HistogramRecord) {}
        fn error(&mut self, record: &ErrorRecord) {
            self.0.push(record.status);
        }
        fn trace(&mut self, _: &[IoRecord]) {}
        fn verdict(&mut self) -> Verdict {
            Verdict::GoOn
        }
    }

    fn error(at_ns: u64, status: Status) -> ErrorRecord {
        let (phase, operation, offset_bytes, length_bytes) = (0, Operation::Read, 4096, 4096);
        ErrorRecord { phase, at_ns, operation, offset_bytes, length_bytes, status }
    }

    #[test]
    fn what_failed_just_before_the_drive_went_is_not_blamed_on_the_medium() {
        let mut seen = Seen::default();
        let gone = Cell::new(false);
        let is_gone = || gone.get();
        let clock = MonotonicClock::start();
        let mut watch = PresenceWatch::new(&mut seen, &is_gone, clock);
        // As seen when a SCSI disk was deleted: EIO first, and no bytes from the moment its size was zero.
        watch.error(&error(clock.now().get(), Status::MediumError));
        assert_eq!(watch.verdict(), Verdict::GoOn);
        gone.set(true);
        watch.error(&error(clock.now().get(), Status::Short));
        assert_eq!(watch.verdict(), Verdict::Interrupt);
        assert!(watch.settle());
        assert_eq!(seen.0, [Status::DeviceGone, Status::DeviceGone]);
    }

    #[test]
    fn a_bad_sector_of_a_drive_that_is_there_stays_one() {
        let mut seen = Seen::default();
        let mut watch = PresenceWatch::new(&mut seen, &|| false, MonotonicClock::start());
        watch.error(&error(0, Status::MediumError));
        assert_eq!(watch.verdict(), Verdict::GoOn);
        assert!(!watch.settle());
        assert_eq!(seen.0, [Status::MediumError]);
    }

    #[test]
    fn nobody_looks_while_nothing_fails() {
        let mut seen = Seen::default();
        let is_gone = || panic!("a look costs calls to the system");
        let mut watch = PresenceWatch::new(&mut seen, &is_gone, MonotonicClock::start());
        assert_eq!(watch.verdict(), Verdict::GoOn);
        assert!(!watch.settle());
    }
}
