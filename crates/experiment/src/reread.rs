//! What failed is read again once an experiment is over: a block that cannot be read fails again, a cable or a bridge fails elsewhere.

use crate::preparation::phase;
use crate::{Conduct, Experiment, Remaining};
use analysis::failed_again::{REREADS_MAX, Rereads, failed_reads};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::workload::{OperationMix, Pattern, Workload};

pub(crate) struct Reread {
    experiment: Box<dyn Experiment>,
    /// One of each place that failed, once the experiment is over.
    failed: Option<Vec<ByteRange>>,
}

impl Reread {
    pub(crate) fn after(experiment: impl Experiment + 'static) -> Box<dyn Experiment> {
        Box::new(Reread { experiment: Box::new(experiment), failed: None })
    }

    /// Until one fails again: each may take the drive many seconds.
    fn again(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let failed = self.failed.get_or_insert_with(|| failed_reads(so_far));
        let Rereads { made, failed: failed_again, .. } = Rereads::of(so_far);
        if failed.is_empty() || failed_again > 0 || made >= REREADS_MAX {
            return None;
        }
        let range = failed[made % failed.len()];
        let name = format!("read again what failed, {} of up to {REREADS_MAX}", made + 1);
        let read = Workload {
            alignment: so_far.target.logical_block,
            ..Workload::new(range, Pattern::Sequential, OperationMix::Read, range.bytes(), 1)
        };
        let experiment = so_far.phases.last()?.phase.experiment.clone();
        Some(phase(experiment, name, PhaseKind::Reread, read, StopCondition::one_pass()))
    }
}

impl Experiment for Reread {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if self.failed.is_none()
            && let Some(phase) = self.experiment.next(so_far)
        {
            return Some(phase);
        }
        self.again(so_far)
    }

    fn remaining(&self) -> Remaining {
        self.experiment.remaining()
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        self.experiment.needs_trace(phase)
    }

    fn conduct(&self) -> Conduct {
        self.experiment.conduct()
    }

    fn is_done_with(&self, phase: &Phase) -> bool {
        self.experiment.is_done_with(phase)
    }
}
