//! What follows the grid, and again the last reads, where a rate limit was met: what decides about it, and single accesses at the drive's own
//! speed if it came before enough of them.

use super::grid::Grid;
use super::request::AccessRequest;
use crate::preparation::MovedReads;
use crate::rate_limit::{Rest, deciding};
use crate::{Experiment, Remaining, Setup};
use analysis::analyse;
use model::experiment_name::ExperimentName;
use model::finding::FindingCode;
use model::plan::Phase;
use model::run::RunView;
use model::units::Nanos;

const OF_SINGLES: [FindingCode; 3] =
    [FindingCode::AccessTime, FindingCode::LatencyModes, FindingCode::SpanEffect];

/// A rest takes no more than this part of what a time limit leaves the grid.
const REST_PART: u64 = 4;

pub(super) struct AtLimit {
    stage: Stage,
    setup: Setup,
    singles: Grid,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Deciding,
    Resting,
    Singles,
    Done,
}

impl AtLimit {
    pub fn new(setup: &Setup, request: &AccessRequest, moved: MovedReads) -> AtLimit {
        let singles = Grid::of_singles(setup, request, moved);
        AtLimit { stage: Stage::Deciding, setup: setup.clone(), singles }
    }

    fn rest(&self, so_far: &RunView<'_>) -> Option<Phase> {
        let longest = self.setup.time_limit.map_or(Nanos::MAX, |limit| limit / REST_PART);
        let rest = Rest::of(so_far, longest)?;
        for finding in analyse(so_far) {
            if OF_SINGLES.contains(&finding.code()) && !finding.is_known() {
                return Some(rest.phase(ExperimentName::Access));
            }
        }
        None
    }
}

impl Experiment for AtLimit {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        match self.stage {
            Stage::Deciding => {
                let phase = deciding(ExperimentName::Access, so_far, self.setup.range);
                if phase.is_some() {
                    return phase;
                }
                self.stage = Stage::Resting;
                self.next(so_far)
            }
            Stage::Resting => {
                let rest = self.rest(so_far);
                self.stage = if rest.is_some() { Stage::Singles } else { Stage::Done };
                rest
            }
            Stage::Singles => self.singles.next(so_far),
            Stage::Done => None,
        }
    }

    fn remaining(&self) -> Remaining {
        match self.stage {
            Stage::Singles => self.singles.remaining(),
            Stage::Deciding | Stage::Resting | Stage::Done => Remaining::default(),
        }
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        self.singles.needs_trace(phase)
    }
}
