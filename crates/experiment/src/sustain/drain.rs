//! In the end all of the range is written in order, so that an SMR disk need not clean its media cache for hours.

use crate::preparation::{SEQUENTIAL_BLOCK, SEQUENTIAL_DEPTH, phase};
use crate::{Experiment, Remaining, Setup};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::run::RunView;
use model::workload::{OperationMix, Pattern, Workload};

pub(super) struct Drain {
    phase: Option<Phase>,
}

impl Drain {
    pub fn new(setup: &Setup) -> Drain {
        let writes = Workload::new(
            setup.range,
            Pattern::Sequential,
            OperationMix::Write,
            SEQUENTIAL_BLOCK,
            SEQUENTIAL_DEPTH,
        );
        let stop = StopCondition { time: setup.time_limit, ..StopCondition::one_pass() };
        let name = "fill sequentially, so that nothing is left to clean".into();
        Drain { phase: Some(phase(ExperimentName::Sustain, name, PhaseKind::Purge, Some(writes), stop)) }
    }
}

impl Experiment for Drain {
    fn name(&self) -> ExperimentName {
        ExperimentName::Sustain
    }

    fn next(&mut self, _so_far: &RunView<'_>) -> Option<Phase> {
        self.phase.take()
    }

    fn remaining(&self) -> Remaining {
        Remaining::of(&self.phase.iter().cloned().collect::<Vec<Phase>>())
    }
}
