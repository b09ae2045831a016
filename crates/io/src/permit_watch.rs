//! Looks every now and then, while a phase writes, whether its permit still holds. Nobody can claim the drive meanwhile,
//! but not everybody who uses a drive claims it: a loop device can be put on top of ours and mounted.

use crate::clock::{Clock, MonotonicClock};
use crate::error::IoError;
use crate::load::collect::{PhaseObserver, Verdict};
use crate::targets::WritePermit;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord};
use model::units::{Instant, Nanos};

/// How often it looks: a look takes milliseconds of the collector's time and none of the worker's.
const LOOK_EVERY: Nanos = Nanos::from_secs(2);

/// Passes everything on, and ends the phase when the permit has lapsed.
pub(crate) struct PermitWatch<'phase> {
    observer: &'phase mut dyn PhaseObserver,
    /// None for a phase that only reads.
    permit: Option<&'phase WritePermit>,
    clock: MonotonicClock,
    looked: Instant,
    lapsed: Option<IoError>,
}

impl<'phase> PermitWatch<'phase> {
    pub(crate) fn new(
        observer: &'phase mut dyn PhaseObserver,
        permit: Option<&'phase WritePermit>,
        clock: MonotonicClock,
    ) -> PermitWatch<'phase> {
        PermitWatch { observer, permit, clock, looked: clock.now(), lapsed: None }
    }

    /// Why the permit does not hold any more, if it does not; a drive that went away is no fault of the program.
    pub(crate) fn lapsed(self, is_gone: bool) -> Result<(), IoError> {
        match self.lapsed {
            Some(why) if !is_gone => Err(why),
            _ => Ok(()),
        }
    }
}

impl PhaseObserver for PermitWatch<'_> {
    fn interval(&mut self, record: &IntervalRecord) {
        self.observer.interval(record);
    }

    fn histogram(&mut self, record: &HistogramRecord) {
        self.observer.histogram(record);
    }

    fn error(&mut self, record: &ErrorRecord) {
        self.observer.error(record);
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
        let now = self.clock.now();
        if let Some(permit) = self.permit
            && self.lapsed.is_none()
            && now.since(self.looked) >= LOOK_EVERY
        {
            self.looked = now;
            self.lapsed = permit.revalidate().err();
        }
        if self.lapsed.is_some() { Verdict::Interrupt } else { self.observer.verdict() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::collect::Unobserved;

    #[test]
    fn a_drive_that_went_away_is_no_permit_that_lapsed() {
        let lapsed = |is_gone: bool| {
            let mut unobserved = Unobserved;
            let mut watch = PermitWatch::new(&mut unobserved, None, MonotonicClock::start());
            watch.lapsed =
                Some(IoError::WriteRefused { target: "/dev/sdz".into(), why: "it is used".into() });
            watch.lapsed(is_gone)
        };
        assert!(lapsed(false).is_err());
        assert!(lapsed(true).is_ok());
    }
}
