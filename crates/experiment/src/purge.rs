//! `purge` by writing zeroes, the last resort: one pass over all of the target. Other methods are no workload.

use super::preparation::{SEQUENTIAL_DEPTH, phase, sequential_block};
use super::{Experiment, Remaining, Setup};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::Bytes;
use model::workload::{DataPattern, OperationMix, Pattern, Workload};
use std::collections::VecDeque;

pub const NAME: ExperimentName = ExperimentName::Purge;

pub struct ZeroFill {
    phases: VecDeque<Phase>,
}

impl ZeroFill {
    /// Zeroes for all of it: in large blocks, and in one for what is left at the end.
    pub fn new(setup: &Setup) -> ZeroFill {
        let range = setup.range;
        let block = sequential_block(range, setup.facts.logical_block);
        let body = range.bytes().round_down_to(block);
        let rest = range.bytes() - body;
        let mut phases = VecDeque::new();
        for (first, bytes, block) in [(range.first(), body, block), (range.first() + body, rest, rest)] {
            if let Some(part) = ByteRange::new(first, bytes)
                && !part.is_empty()
            {
                phases.push_back(zeroes(part, block, setup.facts.logical_block));
            }
        }
        ZeroFill { phases }
    }
}

fn zeroes(range: ByteRange, block: Bytes, alignment: Bytes) -> Phase {
    let writes = Workload::new(range, Pattern::Sequential, OperationMix::Write, block, SEQUENTIAL_DEPTH);
    let writes = Workload { data: DataPattern::Zero, alignment, ..writes };
    phase(NAME, "zero-fill".into(), PhaseKind::Purge, writes, StopCondition::one_pass())
}

impl Experiment for ZeroFill {
    fn next(&mut self, _so_far: &RunView<'_>) -> Option<Phase> {
        self.phases.pop_front()
    }

    fn remaining(&self) -> Remaining {
        Remaining::of(&Vec::from(self.phases.clone()))
    }
}
