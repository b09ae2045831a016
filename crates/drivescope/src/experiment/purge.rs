//! `purge` by writing zeroes, the last resort: one pass over all of the target. The other methods are commands to the drive
//! and no workload.

use super::preparation::{SEQUENTIAL_DEPTH, phase, sequential_block};
use super::{Experiment, Outlook, Question};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::Bytes;
use model::workload::{DataPattern, OperationMix, Pattern, Workload};
use std::collections::VecDeque;

/// The word on the command line, and in every phase.
pub const NAME: &str = "purge";

/// The experiment.
pub struct ZeroFill {
    phases: VecDeque<Phase>,
}

impl ZeroFill {
    /// Zeroes for all of it: in large blocks, and in one for what is left at the end.
    pub fn new(question: &Question) -> ZeroFill {
        let range = question.range;
        let block = sequential_block(range, question.facts.logical_block);
        let body = range.bytes().round_down_to(block);
        let rest = Bytes(range.bytes().0 - body.0);
        let parts = [(range.first(), body, block), (range.first() + body, rest, rest)];
        let phases = parts.into_iter().filter_map(|(first, bytes, block)| {
            let part = ByteRange::new(first, bytes).filter(|part| !part.is_empty())?;
            Some(zeroes(part, block, question.facts.logical_block))
        });
        ZeroFill { phases: phases.collect() }
    }
}

fn zeroes(range: ByteRange, block: Bytes, alignment: Bytes) -> Phase {
    let writes = Workload::new(range, Pattern::Sequential, OperationMix::Write, block, SEQUENTIAL_DEPTH);
    let writes = Workload { data: DataPattern::Zero, alignment, ..writes };
    phase(NAME, "zero-fill".into(), PhaseKind::Purge, Some(writes), StopCondition::one_pass())
}

impl Experiment for ZeroFill {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, _so_far: &RunView<'_>) -> Option<Phase> {
        self.phases.pop_front()
    }

    fn outlook(&self) -> Outlook {
        Outlook::of(&Vec::from(self.phases.clone()))
    }
}
