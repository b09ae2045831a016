//! After the rate of a drive without an arm fell to one that no drive keeps so evenly: what tells a rate limit from a full cache. Reads of another
//! size meet the limit, too, or leave it time to give credit back, which writes of another size use up. What else may explain a drop, and what
//! idle time gives back, is asked only where there is no limit.

use super::request::SustainRequest;
use crate::composition::Sequence;
use crate::preparation;
use crate::rate_limit::reads_apart;
use crate::{Experiment, Remaining, Setup};
use analysis::limit;
use analysis::sustained::{History, RateDrop, Standing, standing};
use model::experiment_name::ExperimentName;
use model::finding::LimitedOperations;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::Workload;

/// A rate that lasted less shows no limit: to go on for so long does.
const LASTING: Nanos = Nanos::from_secs(3);
/// Credit that came back while it was read is used up in no more than this.
const WRITING_MAX: Nanos = Nanos::from_secs(60);

pub(super) struct AtLimit {
    setup: Setup,
    request: SustainRequest,
    stage: Stage,
    otherwise: Sequence,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Begun,
    Suspecting,
    /// For so long; then writes for as long.
    Reading(Nanos),
    Writing,
    Limited,
    Otherwise,
}

impl AtLimit {
    pub fn new(setup: &Setup, request: &SustainRequest, otherwise: Sequence) -> AtLimit {
        AtLimit { setup: setup.clone(), request: request.clone(), stage: Stage::Begun, otherwise }
    }

    fn other_block(&self) -> Bytes {
        let (block, logical) = (self.request.block(), self.setup.facts.logical_block);
        if block > logical { (block / 2).round_down_to(logical) } else { block * 2 }
    }

    fn read(&self, time: Nanos) -> Phase {
        reads_apart(ExperimentName::Sustain, self.setup.range, self.other_block(), time)
    }

    fn write(&self, block: Bytes, time: Nanos) -> Phase {
        let writes = Workload::new(
            self.setup.range,
            self.request.pattern(),
            self.request.mix(),
            block,
            self.request.depth(),
        );
        let name = "write on, to tell a rate limit".into();
        let stop = StopCondition::after(time);
        preparation::phase(ExperimentName::Sustain, name, PhaseKind::WarmUp, writes, stop)
    }
}

/// How long what comes back in a time takes to use up.
fn using_up(drop: &RateDrop, time: Nanos) -> Nanos {
    let (before, after) = (drop.before.bytes_per_second(), drop.last().bytes_per_second());
    let seconds = time.seconds() * after / (before - after);
    Nanos::from_secs_f64(seconds).unwrap_or(WRITING_MAX).min(WRITING_MAX)
}

fn limits_writes(so_far: &RunView<'_>) -> bool {
    let is_of_writes = |limit: &limit::Limit| matches!(&limit.found, Ok(found) if found.operations != LimitedOperations::Reads);
    limit::limits(so_far).iter().any(is_of_writes)
}

impl Experiment for AtLimit {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if self.setup.is_out_of_time(so_far) {
            return None;
        }
        let history = History::of(so_far);
        let drop = match history.as_ref().map(|history| standing(history.first())) {
            Some(Standing::Fell(drop)) => Some(drop),
            _ => None,
        };
        let (stage, phase) = match (self.stage, drop) {
            (Stage::Begun, Some(drop)) if drop.last().seconds < LASTING.seconds() => {
                (Stage::Suspecting, Some(self.write(self.request.block(), LASTING)))
            }
            (Stage::Begun | Stage::Suspecting, Some(_)) => match limit::suspected_of_writes(so_far) {
                Some(time) => (Stage::Reading(time), Some(self.read(time))),
                None => (Stage::Otherwise, None),
            },
            (Stage::Reading(_) | Stage::Writing, _) if limits_writes(so_far) => (Stage::Limited, None),
            (Stage::Reading(time), Some(drop)) => {
                // Until what came back is used up again, and for as long at the limit.
                (Stage::Writing, Some(self.write(self.other_block(), time + using_up(&drop, time))))
            }
            (Stage::Limited, _) => (Stage::Limited, None),
            _ => (Stage::Otherwise, None),
        };
        self.stage = stage;
        match (stage, phase) {
            (Stage::Otherwise, None) => self.otherwise.next(so_far),
            (_, phase) => phase,
        }
    }

    /// Most drives have no limit, and need none of it.
    fn remaining(&self) -> Remaining {
        match self.stage {
            Stage::Limited => Remaining::default(),
            _ => Remaining { steps: self.otherwise.steps() },
        }
    }
}
