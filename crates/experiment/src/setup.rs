//! What an experiment is planned for.

use crate::error::PlanError;
use model::experiment_name::ExperimentName;
use model::range::ByteRange;
use model::run::RunView;
use model::target::TargetFacts;
use model::units::{Bytes, Nanos};

#[derive(Clone, Debug)]
pub struct Setup {
    pub facts: TargetFacts,
    pub range: ByteRange,
    pub may_write: bool,
    /// Whether the range holds nothing yet, so that it has to be filled before it can be read.
    pub empty: bool,
    pub seed: u64,
    pub time_limit: Option<Nanos>,
    pub precision: Option<f64>,
}

impl Setup {
    pub(crate) fn is_out_of_time(&self, so_far: &RunView<'_>) -> bool {
        match self.time_limit {
            Some(limit) => so_far.elapsed() >= limit,
            None => false,
        }
    }

    pub(crate) fn check_writable(&self, experiment: ExperimentName) -> Result<(), PlanError> {
        if self.may_write {
            return Ok(());
        }
        Err(PlanError::NeedsWrite { experiment, path: self.facts.path.clone() })
    }
}

pub(crate) fn check_room(experiment: ExperimentName, holds: Bytes, needs: Bytes) -> Result<(), PlanError> {
    if holds >= needs {
        return Ok(());
    }
    Err(PlanError::RangeTooSmall { experiment, holds, needs })
}
