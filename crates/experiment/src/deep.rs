//! `check --deep`: throughput over the surface, random access and mechanics in one run that only reads. Its parts are the experiments for
//! each alone, and a later one begins with what earlier ones learned, such as whether an arm serves the drive.

use crate::access::Access;
use crate::error::PlanError;
use crate::geometry::{self, Geometry, Times};
use crate::preparation::{MovedReads, filled, is_warm_up};
use crate::rate_limit::Rest;
use crate::surface::adaptive::Adaptive;
use crate::{Experiment, Remaining, Setup};
use model::experiment_name::ExperimentName;
use model::plan::Phase;
use model::run::RunView;
use model::units::Nanos;
use model::workload::OperationMix;

/// All three take no longer: who waits at a drive on a bench runs it on every one.
const TIME: Nanos = Nanos::from_secs(180);
/// Of a time limit each part gets as much.
const PARTS: u64 = 3;
/// The phase under way when the time is over needs this much to end.
const LAST_PHASE: Nanos = Nanos::from_secs(3);

pub(crate) struct Deep {
    setup: Setup,
    under_way: Box<dyn Experiment>,
    stage: Stage,
    spent: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Surface,
    Access(MovedReads),
    Geometry,
}

impl Deep {
    pub fn new(setup: Setup) -> Result<Deep, PlanError> {
        let time_limit = setup.time_limit.map(|limit| limit / PARTS);
        let of_surface = Setup { time_limit, ..setup.clone() };
        let under_way = Box::new(Adaptive::new(of_surface, vec![OperationMix::Read])?);
        Ok(Deep { setup, under_way, stage: Stage::Surface, spent: Nanos::ZERO })
    }

    fn following(&self, stage: Stage, setup: &Setup, now: Nanos) -> Option<Box<dyn Experiment>> {
        let left = setup.time_limit.map(|limit| limit.saturating_sub(now));
        match stage {
            Stage::Surface => None,
            Stage::Access(moved) => {
                let asks_geometry = self.asks_geometry(moved);
                let time_limit = if asks_geometry { left.map(|left| left / (PARTS - 1)) } else { left };
                let setup = Setup { time_limit, ..setup.clone() };
                Some(Box::new(Access::of_woken(setup, moved, !asks_geometry)))
            }
            Stage::Geometry => {
                let usual = if setup.time_limit.is_some() { self.ends() } else { now + geometry::TIME };
                let times = Times { usual: usual.min(self.ends()), of_ends: self.ends() };
                Some(Box::new(Geometry::of_woken(setup.clone(), times).ok()?))
            }
        }
    }

    fn ends(&self) -> Nanos {
        self.setup.time_limit.unwrap_or(TIME) - LAST_PHASE
    }

    /// Where a scratch file lies on its drive is not known.
    fn asks_geometry(&self, moved: MovedReads) -> bool {
        moved == MovedReads::All && !self.setup.empty
    }

    fn stage_after(&self, stage: Stage, moved: MovedReads) -> Option<Stage> {
        match stage {
            Stage::Surface => Some(Stage::Access(moved)),
            Stage::Access(moved) if self.asks_geometry(moved) => Some(Stage::Geometry),
            Stage::Access(_) | Stage::Geometry => None,
        }
    }

    fn go_on(&mut self, so_far: &RunView<'_>) -> Option<()> {
        let stage = self.stage_after(self.stage, MovedReads::of(&self.setup.facts, so_far))?;
        let range = self.setup.range;
        let range = if self.setup.empty { filled(range, so_far)? } else { range };
        let setup = Setup { range, ..self.setup.clone() };
        self.under_way = self.following(stage, &setup, so_far.elapsed())?;
        self.stage = stage;
        Some(())
    }
}

impl Experiment for Deep {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        self.spent = so_far.elapsed();
        while self.spent < self.ends() {
            if let Some(phase) = self.under_way.next(so_far) {
                return Some(phase);
            }
            self.go_on(so_far)?;
            if let (Stage::Access(_), Some(rest)) =
                (self.stage, Rest::of(so_far, (self.ends() - self.spent) / PARTS))
            {
                return Some(rest.phase(ExperimentName::Check));
            }
        }
        None
    }

    /// Of the parts to come what they would ask now, of the kind of drive that it says it is.
    fn remaining(&self) -> Remaining {
        let mut remaining = self.under_way.remaining();
        let moved = MovedReads::of_rotational(self.setup.facts.rotational.unwrap_or(false));
        let mut stage = self.stage;
        while let Some(next) = self.stage_after(stage, moved) {
            if let Some(part) = self.following(next, &self.setup, Nanos::ZERO) {
                remaining.steps.extend(part.remaining().steps);
            }
            stage = next;
        }
        remaining.end_within((self.ends() + LAST_PHASE).saturating_sub(self.spent));
        remaining
    }

    /// The reads that wake the drive also say how long the first of them took, and how long those take that no cache answers.
    fn needs_trace(&self, phase: &Phase) -> bool {
        is_warm_up(phase) || self.under_way.needs_trace(phase)
    }
}
