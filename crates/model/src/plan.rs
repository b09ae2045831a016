//! Phases, and when each ends.

use crate::units::{Bytes, Nanos};
use crate::workload::Workload;
use std::borrow::Cow;

/// One step of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// For people: "area 3 of 24, round 1".
    pub name: String,
    /// The experiment that asked for it: "check".
    pub experiment: Cow<'static, str>,
    /// What it is for.
    pub kind: PhaseKind,
    /// What is done; nothing while idle.
    pub workload: Option<Workload>,
    /// When it ends.
    pub stop: StopCondition,
}

/// What a phase is for. Only what was measured is analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PhaseKind {
    /// Brings the drive into a known, empty state.
    Purge,
    /// Writes what later phases need to find.
    Precondition,
    /// Wakes the drive, and lets caches and clocks settle.
    WarmUp,
    /// The measurement.
    Measure,
    /// Leaves the drive alone.
    Idle,
    /// Compares what is there with what was written.
    Verify,
}

impl PhaseKind {
    /// All of them.
    pub const ALL: [PhaseKind; 6] = [
        PhaseKind::Purge,
        PhaseKind::Precondition,
        PhaseKind::WarmUp,
        PhaseKind::Measure,
        PhaseKind::Idle,
        PhaseKind::Verify,
    ];

    /// The word in files and on screens.
    pub fn name(self) -> &'static str {
        match self {
            PhaseKind::Purge => "purge",
            PhaseKind::Precondition => "precondition",
            PhaseKind::WarmUp => "warm-up",
            PhaseKind::Measure => "measure",
            PhaseKind::Idle => "idle",
            PhaseKind::Verify => "verify",
        }
    }

    /// The kind with that name.
    pub fn from_name(name: &str) -> Option<PhaseKind> {
        PhaseKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// When a phase ends: as soon as one of the conditions holds. One of `time`, `bytes`, `operations` and
/// `passes` is always given, so that every phase ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StopCondition {
    /// After this long.
    pub time: Option<Nanos>,
    /// After this much has been moved.
    pub bytes: Option<Bytes>,
    /// After this many requests.
    pub operations: Option<u64>,
    /// After the range has been gone through this often.
    pub passes: Option<u64>,
    /// When the 95 % interval of the mean rate is no wider than this share of the mean, to either side.
    pub precision: Option<f64>,
}

/// Why a phase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// Its time was up.
    Time,
    /// It had moved its bytes.
    Bytes,
    /// It had made its requests.
    Operations,
    /// It had gone through its range.
    Passes,
    /// The interval was narrow enough.
    Precision,
    /// Somebody asked for it: Ctrl-C.
    Interrupted,
    /// Somebody asked for the next phase: what this one should have done is not done.
    Skipped,
    /// The device went away.
    DeviceGone,
    /// Nothing but errors for as long as the phase tolerates.
    Errors,
}

impl StopReason {
    /// All of them.
    pub const ALL: [StopReason; 9] = [
        StopReason::Time,
        StopReason::Bytes,
        StopReason::Operations,
        StopReason::Passes,
        StopReason::Precision,
        StopReason::Interrupted,
        StopReason::Skipped,
        StopReason::DeviceGone,
        StopReason::Errors,
    ];

    /// The word in files.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Time => "time",
            StopReason::Bytes => "bytes",
            StopReason::Operations => "operations",
            StopReason::Passes => "passes",
            StopReason::Precision => "precision",
            StopReason::Interrupted => "interrupted",
            StopReason::Skipped => "skipped",
            StopReason::DeviceGone => "device-gone",
            StopReason::Errors => "errors",
        }
    }

    /// The reason with that name.
    pub fn from_name(name: &str) -> Option<StopReason> {
        StopReason::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// Whether the phase did what it was asked to.
    pub fn is_complete(self) -> bool {
        !matches!(
            self,
            StopReason::Interrupted | StopReason::Skipped | StopReason::DeviceGone | StopReason::Errors
        )
    }
}

impl StopCondition {
    /// After this long.
    pub fn after(time: Nanos) -> StopCondition {
        StopCondition { time: Some(time), ..StopCondition::default() }
    }

    /// Once through the range.
    pub fn one_pass() -> StopCondition {
        StopCondition { passes: Some(1), ..StopCondition::default() }
    }

    /// This condition, or that many bytes if they come first.
    pub fn or_bytes(self, bytes: Bytes) -> StopCondition {
        StopCondition { bytes: Some(bytes), ..self }
    }

    /// Whether it ends by itself even if the precision is never reached.
    pub fn is_bounded(&self) -> bool {
        self.time.is_some() || self.bytes.is_some() || self.operations.is_some() || self.passes.is_some()
    }

    /// The most bytes that a phase of `workload` moves until then, as far as bytes, passes or operations say.
    pub fn bytes_max(&self, workload: &Workload) -> Option<Bytes> {
        let by_passes = self.passes.and_then(|passes| workload.range.bytes().checked_mul(passes));
        let by_operations =
            self.operations.and_then(|count| workload.block_sizes.largest().checked_mul(count));
        [self.bytes, by_passes, by_operations].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range::ByteRange;
    use crate::workload::{OperationMix, Pattern};

    #[test]
    fn the_smallest_bound_counts() {
        let range = ByteRange::whole(Bytes::from_mib(8));
        let workload = Workload::new(range, Pattern::Sequential, OperationMix::Read, Bytes::from_mib(1), 4);
        let stop = StopCondition { operations: Some(5), ..StopCondition::one_pass() };
        assert_eq!(stop.bytes_max(&workload), Some(Bytes::from_mib(5)));
        assert_eq!(StopCondition::after(Nanos(1)).bytes_max(&workload), None);
        assert!(!StopCondition { precision: Some(0.01), ..Default::default() }.is_bounded());
    }

    #[test]
    fn names_come_back() {
        for kind in PhaseKind::ALL {
            assert_eq!(PhaseKind::from_name(kind.name()), Some(kind));
        }
        for reason in StopReason::ALL {
            assert_eq!(StopReason::from_name(reason.name()), Some(reason));
        }
    }
}
