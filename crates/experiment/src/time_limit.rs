//! A plan within its time limit, of whatever experiment.

use crate::error::PlanError;
use crate::request::{DriveRequest, Supplies};
use crate::{Conduct, Experiment, Remaining, Setup};
use model::plan::Phase;
use model::run::RunView;
use model::units::Nanos;

/// What a request asks for. What is still ahead ends with its time limit, as the experiment itself does after the phase under way.
pub fn plan(
    request: &dyn DriveRequest,
    setup: Setup,
    supplies: &Supplies,
) -> Result<Box<dyn Experiment>, PlanError> {
    let time_limit = setup.time_limit;
    let experiment = request.plan(setup, supplies)?;
    Ok(match time_limit {
        Some(limit) => Box::new(Limited { experiment, limit, spent: Nanos::ZERO }),
        None => experiment,
    })
}

struct Limited {
    experiment: Box<dyn Experiment>,
    limit: Nanos,
    spent: Nanos,
}

impl Experiment for Limited {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        self.spent = so_far.elapsed();
        self.experiment.next(so_far)
    }

    fn remaining(&self) -> Remaining {
        let mut remaining = self.experiment.remaining();
        remaining.end_within(self.limit.saturating_sub(self.spent));
        remaining
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
