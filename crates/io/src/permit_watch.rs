//! Looks every now and then, while a phase writes, whether its permit still holds. Nobody can claim the drive meanwhile,
//! but not everybody who uses a drive claims it: a loop device can be put on top of ours and mounted.

use crate::clock::{Clock, MonotonicClock};
use crate::error::IoError;
use crate::load::collect::{PhaseObserver, Verdict};
use crate::target::WritePermit;
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
    /// Begins to watch a permit that has just been found to hold.
    pub(crate) fn new(
        observer: &'phase mut dyn PhaseObserver,
        permit: Option<&'phase WritePermit>,
        clock: MonotonicClock,
    ) -> PermitWatch<'phase> {
        PermitWatch { observer, permit, clock, looked: clock.now(), lapsed: None }
    }

    /// Why the permit does not hold any more, if it does not.
    pub(crate) fn lapsed(self) -> Result<(), IoError> {
        self.lapsed.map_or(Ok(()), Err)
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
