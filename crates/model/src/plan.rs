//! Phases, and when each ends.

use crate::experiment_name::ExperimentName;
use crate::units::{Bytes, Nanos};
use crate::words;
use crate::workload::Workload;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phase {
    /// For people: "area 3 of 24, round 1".
    pub name: String,
    /// The experiment that asked for it: "check".
    pub experiment: ExperimentName,
    pub kind: PhaseKind,
    /// What is done; nothing while idle.
    pub workload: Option<Workload>,
    pub stop: StopCondition,
}

impl Phase {
    pub fn changes_data(&self) -> bool {
        match &self.workload {
            Some(workload) => workload.mix.changes_data(),
            None => false,
        }
    }
}

words! {
    /// What a phase is for. Only what was measured is analysed.
    pub enum PhaseKind {
        /// Brings the drive into a known, empty state.
        Purge = "purge",
        /// Writes what later phases need to find.
        Precondition = "precondition",
        /// Wakes the drive, and lets caches and clocks settle.
        WarmUp = "warm-up",
        Measure = "measure",
        Idle = "idle",
        Verify = "verify",
        /// Reads a block again that failed: what fails once is not always the block.
        Reread = "reread",
    }
}

/// When a phase ends: as soon as one of the conditions holds. One of `time`, `bytes`, `operations` and
/// `passes` is always given, so that every phase ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StopCondition {
    #[serde(rename = "time_ns")]
    pub time: Option<Nanos>,
    pub bytes: Option<Bytes>,
    pub operations: Option<u64>,
    /// After the range has been gone through this often.
    pub passes: Option<u64>,
    /// When the 95 % interval of the mean rate is no wider than this share of the mean, to either side.
    pub precision: Option<f64>,
}

words! {
    pub enum StopReason {
        Time = "time",
        Bytes = "bytes",
        Operations = "operations",
        /// It had gone through its range.
        Passes = "passes",
        Precision = "precision",
        Interrupted = "interrupted",
        /// Somebody asked for the next phase: what this one should have done is not done.
        Skipped = "skipped",
        DeviceGone = "device-gone",
        /// Nothing but errors for as long as the phase tolerates.
        Errors = "errors",
    }
}

impl StopReason {
    pub fn is_complete(self) -> bool {
        !matches!(
            self,
            StopReason::Interrupted | StopReason::Skipped | StopReason::DeviceGone | StopReason::Errors
        )
    }
}

impl StopCondition {
    pub fn after(time: Nanos) -> StopCondition {
        StopCondition { time: Some(time), ..StopCondition::default() }
    }

    pub fn one_pass() -> StopCondition {
        StopCondition { passes: Some(1), ..StopCondition::default() }
    }

    /// This condition, or that many bytes if they come first.
    pub fn or_bytes(self, bytes: Bytes) -> StopCondition {
        StopCondition { bytes: Some(bytes), ..self }
    }

    /// This condition, or that many requests if they come first.
    pub fn or_operations(self, operations: u64) -> StopCondition {
        StopCondition { operations: Some(operations), ..self }
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
        assert_eq!(StopCondition::after(Nanos::new(1)).bytes_max(&workload), None);
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
