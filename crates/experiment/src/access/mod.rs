//! `access`: how fast random access is, and by what mechanism. Its parts are experiments that ask one after the other.

mod at_limit;
mod cache;
mod cell;
mod grid;
mod page_cache;
mod request;

use super::composition::{OnePhase, Prepared, Sequence};
use super::preparation::{Filling, MovedReads, random_block};
use super::stripe::Stripe;
use super::turn::Rereads;
use super::{Experiment, Remaining, Setup};
use crate::error::PlanError;
use crate::request::{DriveRequest, Supplies, has_drive_options};
use crate::setup::check_room;
use at_limit::AtLimit;
use cache::Cache;
use grid::{Grid, RANGE_BLOCKS_MIN, has_room};
use model::experiment_name::ExperimentName;
use model::plan::Phase;
use model::run::RunView;
use model::target::TargetKind;
use model::units::{Bytes, Nanos};
use page_cache::buffered_reads;

pub use request::AccessRequest;

const RANGE_MIN: Bytes = Bytes::from_mib(1);
const TIME_FOR_ALL: Nanos = Nanos::from_secs(60);

pub struct Access {
    setup: Setup,
    request: AccessRequest,
    prepared: Prepared,
    /// None of them until the preparation is over.
    parts: Option<Sequence>,
    /// Whether to ask for a rotation: not where `geometry` does.
    asks_turn: bool,
}

impl Access {
    pub fn new(setup: Setup, request: AccessRequest) -> Result<Access, PlanError> {
        request.check()?;
        let block = random_block(&setup.facts);
        let range = setup.range.align_inward(block);
        check_room(ExperimentName::Access, range.bytes(), RANGE_MIN)?;
        let logical = setup.facts.logical_block;
        for &block in &request.blocks {
            if block == Bytes::ZERO || !block.is_multiple_of(logical) {
                return Err(PlanError::OddBlock { option: "--blocks", block, logical });
            }
            if !has_room(range, block) {
                return Err(PlanError::NoRoomForBlocks {
                    block,
                    range: range.bytes(),
                    count: RANGE_BLOCKS_MIN,
                });
            }
        }
        let prepared =
            Prepared::new(ExperimentName::Access, &setup, Filling::BRIEF).and_warm_up(range, block);
        Ok(Access { setup: Setup { range, ..setup }, request, prepared, parts: None, asks_turn: true })
    }

    /// The usual questions on a drive that is awake and filled, as a part of another experiment.
    pub(crate) fn of_woken(setup: Setup, moved: MovedReads, asks_turn: bool) -> Access {
        let range = setup.range.align_inward(random_block(&setup.facts));
        let setup = Setup { range, empty: false, ..setup };
        let prepared = Prepared::new(ExperimentName::Access, &setup, Filling::BRIEF);
        let request = AccessRequest::default();
        let mut access = Access { setup, request, prepared, parts: None, asks_turn };
        access.parts = Some(access.parts(moved));
        access
    }

    fn parts(&self, moved: MovedReads) -> Sequence {
        // What comes after the grid takes about as long as it; with little time it is left out rather than cut to pieces.
        let limit = self.setup.time_limit;
        let (has_time, time_limit) = match limit {
            None => (true, None),
            Some(limit) if limit >= TIME_FOR_ALL => (true, Some(limit / 2)),
            Some(_) => (false, limit),
        };
        let of_grid = Setup { time_limit, ..self.setup.clone() };
        let mut parts = Sequence::default();
        parts.push(Grid::new(&of_grid, &self.request, moved));
        if !has_time {
            return parts;
        }
        parts.push(AtLimit::new(&of_grid, &self.request, moved));
        let has_page_cache = self.setup.facts.kind != TargetKind::Sim;
        if self.request.buffered && has_page_cache {
            parts.push(OnePhase(buffered_reads(&self.setup)));
        }
        if moved == MovedReads::All && self.asks_turn {
            parts.push(Rereads::new(&self.setup, ExperimentName::Access));
        }
        // Before the cache: on a stripe it takes pairs of reads on one drive to see how far that reads on.
        parts.push_if_any(Stripe::new(&self.setup, ExperimentName::Access));
        parts.push_if_any(Cache::new(&self.setup));
        parts.push(AtLimit::new(&of_grid, &self.request, moved));
        parts
    }
}

impl DriveRequest for AccessRequest {
    has_drive_options!(ExperimentName::Access);

    fn plan(&self, setup: Setup, _supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        Ok(Box::new(Access::new(setup, self.clone())?))
    }
}

impl Experiment for Access {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if let Some(phase) = self.prepared.next() {
            return Some(phase);
        }
        if self.parts.is_none() {
            self.setup.range = self.prepared.range(self.setup.range, so_far)?;
            self.parts = Some(self.parts(MovedReads::of(&self.setup.facts, so_far)));
        }
        self.parts.as_mut()?.next(so_far)
    }

    fn remaining(&self) -> Remaining {
        let mut steps = self.prepared.steps();
        match &self.parts {
            Some(parts) => steps.extend(parts.steps()),
            // Before it has begun, what will be measured is taken to be what it would be now.
            None => {
                let moved = MovedReads::of_rotational(self.setup.facts.rotational.unwrap_or(false));
                steps.extend(self.parts(moved).steps());
            }
        }
        Remaining { steps }
    }

    /// The reads that wake the drive say how long the first of them took, and how long any read takes that no memory answers.
    fn needs_trace(&self, phase: &Phase) -> bool {
        match &self.parts {
            Some(parts) => parts.needs_trace(phase),
            None => true,
        }
    }
}
