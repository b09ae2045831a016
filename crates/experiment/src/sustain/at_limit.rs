//! After a drop of a drive without an arm: whether it is a rate limit's. What else may explain it, and what idle time gives back, is asked
//! only where there is none.

use super::request::SustainRequest;
use crate::composition::Sequence;
use crate::preparation;
use crate::rate_limit::{DecidingWrites, other_size};
use crate::{Experiment, Remaining, Setup};
use analysis::sustained::{History, Standing, standing};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::Workload;

/// A rate that lasted less shows no limit: to go on for so long does.
const LASTING: Nanos = Nanos::from_secs(3);

pub(super) struct AtLimit {
    setup: Setup,
    request: SustainRequest,
    has_gone_on: bool,
    deciding: DecidingWrites,
    otherwise: Sequence,
}

impl AtLimit {
    pub fn new(setup: &Setup, request: &SustainRequest, otherwise: Sequence) -> AtLimit {
        let (setup, request) = (setup.clone(), request.clone());
        AtLimit { setup, request, has_gone_on: false, deciding: DecidingWrites::default(), otherwise }
    }

    fn writes(&self, block: Bytes) -> Workload {
        let request = &self.request;
        Workload::new(self.setup.range, request.pattern(), request.mix(), block, request.depth())
    }

    fn decide(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let Standing::Fell(drop) = standing(History::of(so_far)?.first()) else { return None };
        if !self.has_gone_on && drop.last().seconds < LASTING.seconds() {
            self.has_gone_on = true;
            let (writes, stop) = (self.writes(self.request.block()), StopCondition::after(LASTING));
            let name = "write on, to see whether the rate lasts".into();
            return Some(preparation::phase(ExperimentName::Sustain, name, PhaseKind::WarmUp, writes, stop));
        }
        let other = self.writes(other_size(self.request.block(), self.setup.facts.logical_block));
        self.deciding.next(so_far, self.setup.range, ExperimentName::Sustain, &other)
    }
}

impl Experiment for AtLimit {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if self.setup.is_out_of_time(so_far) {
            return None;
        }
        let phase = match self.deciding {
            DecidingWrites::Over { .. } => None,
            _ => self.decide(so_far),
        };
        match self.deciding {
            DecidingWrites::Over { is_limited: true } => None,
            _ if phase.is_some() => phase,
            _ => self.otherwise.next(so_far),
        }
    }

    fn remaining(&self) -> Remaining {
        match self.deciding {
            DecidingWrites::Over { is_limited: true } => Remaining::default(),
            _ => Remaining { steps: self.otherwise.steps() },
        }
    }
}
