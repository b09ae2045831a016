//! `purge` by writing zeroes, the last resort: one pass over all of the target. The other methods are commands to the drive
//! and no workload.

use super::preparation::{SEQUENTIAL_DEPTH, phase, sequential_block};
use super::{Experiment, Outlook, Question};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::run::RunView;
use model::workload::{DataPattern, OperationMix, Pattern, Workload};

/// The word on the command line, and in every phase.
pub const NAME: &str = "purge";

/// The experiment.
pub struct ZeroFill {
    next: Option<Phase>,
}

impl ZeroFill {
    /// Zeroes for all of it.
    pub fn new(question: &Question) -> ZeroFill {
        let block = sequential_block(question.range, question.facts.logical_block);
        let writes =
            Workload::new(question.range, Pattern::Sequential, OperationMix::Write, block, SEQUENTIAL_DEPTH);
        let writes = Workload { data: DataPattern::Zero, alignment: question.facts.logical_block, ..writes };
        let stop = StopCondition::one_pass();
        ZeroFill { next: Some(phase(NAME, "zero-fill".into(), PhaseKind::Purge, Some(writes), stop)) }
    }
}

impl Experiment for ZeroFill {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, _so_far: &RunView<'_>) -> Option<Phase> {
        self.next.take()
    }

    fn outlook(&self) -> Outlook {
        Outlook::of(self.next.as_slice())
    }
}
