//! `sustain`: how writes go on that do not stop. Its parts are experiments, each of which begins when the one before it is answered.

mod at_limit;
mod bands;
mod budget;
mod cache;
mod clip;
mod cross_check;
mod drop;
mod kind;
mod request;
mod rest;

use super::composition::{OnePhase, Prepared, Sequence};
use super::preparation::{Filling, SEQUENTIAL_BLOCK, SEQUENTIAL_DEPTH, moves_parts, phase, random_block};
use super::turn::Rereads;
use super::{Conduct, Experiment, Remaining, Setup, Step};
use crate::bound::{capped, within, written_since};
use crate::error::PlanError;
use crate::request::{DriveRequest, Supplies, has_drive_options};
use crate::setup::check_room;
use at_limit::AtLimit;
use bands::Bands;
use budget::Budget;
use cache::Cache;
use clip::Clip;
use cross_check::CrossCheck;
use drop::RateDrop;
use kind::Kind;
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::run::{PhaseSummary, RunView};
use model::units::Bytes;
use model::workload::{OperationMix, Pattern, Workload};
use rest::Rest;

pub use request::{SustainRequest, Until, WritePattern};

/// A scratch file is filled before, for this long at most: allotting what was never written is another question.
const FILLING: Filling = Filling::of(600, 5);
/// Smaller ranges hold too few batches of writing to see a drop.
const RANGE_MIN: Bytes = Bytes::from_mib(64);

pub struct Sustain {
    setup: Setup,
    request: SustainRequest,
    prepared: Prepared,
    /// None of them until the preparation is over.
    parts: Option<Sequence>,
    /// What all parts together may write, so that what was asked for and announced holds; none where nothing bounds it.
    limit: Option<Bytes>,
    left: Option<Bytes>,
}

impl Sustain {
    pub fn new(setup: Setup, request: SustainRequest) -> Result<Sustain, PlanError> {
        request.check()?;
        setup.check_writable(ExperimentName::Sustain)?;
        let (block, logical) = (request.block(), setup.facts.logical_block);
        if !block.is_multiple_of(logical) {
            return Err(PlanError::OddBlock { option: "--block", block, logical });
        }
        let range = setup.range.align_inward(block);
        check_room(ExperimentName::Sustain, range.bytes(), RANGE_MIN)?;
        Budget::check(&setup, &request)?;
        let prepared = Prepared::new(ExperimentName::Sustain, &setup, FILLING)
            .and_warm_up(range, random_block(&setup.facts));
        let setup = Setup { range, ..setup };
        let asked = Budget::of(&setup, &request, false);
        let limit = if asked.is_asked { Some(asked.bytes) } else { None };
        Ok(Sustain { setup, request, prepared, parts: None, limit, left: limit })
    }

    /// Lays out the parts on what of a scratch file was filled.
    fn begin(&mut self, so_far: &RunView<'_>) -> Option<()> {
        let range = self.prepared.range(self.setup.range, so_far)?.align_inward(self.request.block());
        if range.bytes() < RANGE_MIN {
            return None;
        }
        self.setup.range = range;
        // What was announced holds, whatever the drive turns out to be.
        self.limit = self.remaining().writes();
        self.parts = Some(self.parts(moves_parts(&self.setup.facts, so_far)));
        Some(())
    }

    fn parts(&self, mechanical: bool) -> Sequence {
        let (setup, request) = (&self.setup, &self.request);
        let mut parts = Sequence::default();
        if mechanical {
            parts.push(Rereads::new(setup, ExperimentName::Sustain));
        }
        parts.push_if_any(Bands::new(setup, mechanical));
        parts.push_if_any(Kind::new(setup, mechanical));
        parts.push(RateDrop::new(setup, request, mechanical));
        parts.push_if_any(Cache::new(setup, request));
        if mechanical {
            parts.push_if_any(Rest::new(setup, request, mechanical));
        } else {
            let mut otherwise = Sequence::default();
            otherwise.push_if_any(CrossCheck::new(setup, request));
            otherwise.push_if_any(Rest::new(setup, request, mechanical));
            parts.push(AtLimit::new(setup, request, otherwise));
        }
        parts.push_if_any(Clip::new(setup, &request.clip));
        if request.drain {
            parts.push(OnePhase(Some(drain(setup))));
        }
        parts
    }

    /// What is ahead before it has begun, by as the drive reports it; where that need not be its own word, what writes more.
    fn planned(&self) -> Vec<Step> {
        let facts = &self.setup.facts;
        let guesses = match facts.rotational {
            Some(turns) if facts.caveats.is_empty() => vec![turns],
            _ => vec![true, false],
        };
        let mut most = Vec::new();
        for mechanical in guesses {
            let steps = self.parts(mechanical).steps();
            if most.is_empty() || writes_of(&steps) >= writes_of(&most) {
                most = steps;
            }
        }
        most
    }
}

/// In the end all of the range is written in order, so that an SMR disk need not clean its media cache for hours.
fn drain(setup: &Setup) -> Phase {
    let (pattern, mix) = (Pattern::Sequential, OperationMix::Write);
    let writes = Workload::new(setup.range, pattern, mix, SEQUENTIAL_BLOCK, SEQUENTIAL_DEPTH);
    let stop = StopCondition { time: setup.time_limit, ..StopCondition::one_pass() };
    let name = "fill sequentially, so that nothing is left to clean".into();
    phase(ExperimentName::Sustain, name, PhaseKind::Purge, writes, stop)
}

fn writes_of(steps: &[Step]) -> Bytes {
    let bytes: Option<Bytes> = steps.iter().map(|step| step.writes).sum();
    bytes.unwrap_or(Bytes::new(u64::MAX))
}

impl DriveRequest for SustainRequest {
    has_drive_options!(ExperimentName::Sustain);

    fn plan(&self, setup: Setup, _supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        Ok(Box::new(Sustain::new(setup, self.clone())?))
    }
}

impl Experiment for Sustain {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if let Some(phase) = self.prepared.next() {
            return Some(phase);
        }
        if self.parts.is_none() {
            self.begin(so_far)?;
        }
        // A batch more would fail as well: where all that is written is refused there is no end by bytes.
        if so_far.phases.last().is_some_and(PhaseSummary::has_all_failed) {
            return None;
        }
        let written = written_since(so_far, self.prepared.count());
        self.left = self.limit.map(|limit| limit.saturating_sub(written));
        let parts = self.parts.as_mut()?;
        let phase = within(parts.next(so_far)?, self.left, self.request.block());
        if phase.is_none() {
            parts.end();
        }
        phase
    }

    fn remaining(&self) -> Remaining {
        let mut steps = self.prepared.steps();
        let ahead = match &self.parts {
            Some(parts) => parts.steps(),
            None => self.planned(),
        };
        steps.extend(capped(ahead, self.left));
        Remaining { steps }
    }

    fn conduct(&self) -> Conduct {
        Conduct { may_rest: false, ..Conduct::default() }
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        match &self.parts {
            Some(parts) => parts.needs_trace(phase),
            None => false,
        }
    }
}

/// That everything in the range of a virtual drive may be written to, for tests of the parts.
#[cfg(test)]
fn setup_of(drive: &str, range: model::range::ByteRange) -> Setup {
    let facts = sim::open(drive, 1).unwrap().facts().clone();
    Setup { facts, range, may_write: true, empty: false, seed: 3, time_limit: None, precision: None }
}
