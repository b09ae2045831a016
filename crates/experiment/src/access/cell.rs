//! One configuration of random access: where, how large, how many at a time; and how long it is measured for.

use crate::preparation::{capacity, measure, verb};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, StopCondition};
use model::range::ByteRange;
use model::units::{Bytes, Nanos};
use model::workload::{BlockSizes, Caching, OperationMix, Pattern, Workload};

/// A phase with single requests keeps each of them: no more than this, 30 bytes each.
const TRACED_MAX: u64 = 20_000;
/// And any phase ends after so many: a drive that answers in no time must not hold it up.
const OPERATIONS_MAX: u64 = 400_000;
/// What all rounds of one configuration write at most together: flash wears.
const WRITE_BYTES_MAX: Bytes = Bytes::from_mib(384);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub range: ByteRange,
    pub sizes: BlockSizes,
    pub alignment: Bytes,
    pub queue_depth: u32,
    pub threads: u32,
    pub mix: OperationMix,
    pub pattern: Pattern,
    pub caching: Caching,
}

impl Cell {
    pub fn at_once(&self) -> u64 {
        u64::from(self.queue_depth) * u64::from(self.threads)
    }

    /// Its phase in a round. Of several, each may write its share.
    pub fn phase(&self, round: u32, time: Nanos, rounds: u32) -> Phase {
        let workload = Workload {
            range: self.range.align_inward(self.alignment),
            pattern: self.pattern.clone(),
            block_sizes: self.sizes.clone(),
            alignment: self.alignment,
            threads: self.threads,
            caching: self.caching,
            ..Workload::new(self.range, self.pattern.clone(), self.mix, self.alignment, self.queue_depth)
        };
        let operations = if self.at_once() == 1 { TRACED_MAX } else { OPERATIONS_MAX };
        let stop = StopCondition { operations: Some(operations), ..StopCondition::after(time) };
        let share = (WRITE_BYTES_MAX / u64::from(rounds.max(1))).max(self.sizes.largest());
        let stop = if self.mix == OperationMix::Write { stop.or_bytes(share) } else { stop };
        measure(ExperimentName::Access, format!("{}, round {round}", self.name()), workload, stop)
    }

    fn name(&self) -> String {
        let verb = verb(self.mix);
        let what = match self.sizes.single() {
            Some(size) => size.to_string(),
            None => "mixed sizes".to_string(),
        };
        let how = match (self.threads, self.queue_depth) {
            (1, depth) => format!("QD {depth}"),
            (threads, _) => format!("{threads} threads"),
        };
        let through = if self.caching == Caching::Buffered { " through the page cache" } else { "" };
        format!("{verb} {what} in {}, {how}{through}", capacity(self.range.bytes()))
    }
}
