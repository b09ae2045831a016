//! What is done in which order: conditions, the areas that are passed over after each, and how many passes that are at most.

use super::conditioning::{self, LARGE, brings_valleys};
use super::passes;
use super::request::{Area, Condition, ValleysRequest, Way};
use crate::error::PlanError;
use crate::request::Supplies;
use crate::{Remaining, Setup, Step};
use model::plan::Phase;
use model::range::ByteRange;
use model::units::{Bytes, Nanos};
use std::collections::VecDeque;

/// Smaller ranges are written in less time than valleys need to recur.
pub(super) const RANGE_MIN: Bytes = Bytes::from_mib(256);
/// On small areas passes are short. More of them are made, until it was written for some gaps between valleys of the only drive on which
/// they were timed, one a minute; if there are dips, until it was written for a quarter of an hour.
pub(super) const WRITTEN_S_MIN: f64 = 180.0;
pub(super) const WRITTEN_S_ENOUGH: f64 = 900.0;
/// The gaps that slowed passes are to show, and for how many gaps they go on to show them.
pub(super) const SLOWED_GAPS_MIN: usize = 3;
pub(super) const SLOWED_GAPS: f64 = 5.0;
/// So many gaps between dips begin the comparisons …
pub(super) const GAPS_TO_COMPARE: usize = 2;
/// Passes until they are alike, at most: a drive that was seen needs six.
pub(super) const PASSES_MAX: u32 = 10;
const PASSES_SEEN: u32 = 6;
/// Passes without a dip are alike from the second on.
const PASSES_MIN: u32 = 2;
/// Over small areas of a drive there are more, but no more than write so much, slowed ones half of it: flash wears.
pub(super) const WRITTEN_MAX: Bytes = Bytes::from_gib(192);
const SHORT_PASSES_MAX: u32 = 200;
const SLOWED_MAX: u32 = 50;
/// A file lies on a disk that is in use: passes over it and slowed ones are together no more than these.
const FILE_PASSES_MAX: u32 = PASSES_MAX + 1;
const FILE_SLOWED_MAX: u32 = 5;
const PASSES_OF_TABLE: u32 = 3;
/// How long passes go on after the usual ones: until enough was written, and slowed for some of the gaps of which two were seen.
const MORE_S: f64 = WRITTEN_S_ENOUGH * (1.0 + SLOWED_GAPS / GAPS_TO_COMPARE as f64);
/// Shares of a range begin and end at multiples of this, so that what is conditioned in large blocks is all that is passed over.
const GRID: Bytes = conditioning::DISCARD_BLOCK;

#[derive(Clone, Debug)]
pub(super) enum Item {
    Conditioning(Vec<Phase>),
    Passes(Task),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub area: ByteRange,
    pub block: Bytes,
    pub passes: Goal,
    way: Option<Way>,
    limits: Limits,
    likely: u32,
    pub begun: u32,
    pub slowed: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    Stable,
    Count(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    full: u32,
    slowed: u32,
    all: u32,
}

impl Limits {
    fn of(goal: Goal, pass: Bytes, is_file: bool) -> Limits {
        let fit = (WRITTEN_MAX / pass.max(Bytes::new(1))).min(u64::from(SHORT_PASSES_MAX)) as u32;
        let fit_half = (WRITTEN_MAX / 2 / pass.max(Bytes::new(1))).min(u64::from(SHORT_PASSES_MAX)) as u32;
        match (goal, is_file) {
            (Goal::Stable, true) => {
                Limits { full: PASSES_MAX, slowed: FILE_SLOWED_MAX, all: FILE_PASSES_MAX }
            }
            (Goal::Count(full), true) => {
                let slowed = full.div_ceil(2).min(FILE_SLOWED_MAX);
                Limits { full, slowed, all: full.saturating_add(slowed) }
            }
            (goal, false) => {
                let full = match goal {
                    Goal::Stable => fit.max(PASSES_MAX),
                    Goal::Count(full) => full,
                };
                let slowed = fit_half.clamp(1, SLOWED_MAX);
                Limits { full, slowed, all: full.saturating_add(slowed) }
            }
        }
    }
}

impl Task {
    fn new(area: ByteRange, block: Bytes, passes: Goal, way: Option<Way>, is_file: bool) -> Task {
        let written = passes::stretches(area, block, way).iter().map(ByteRange::bytes).sum();
        let limits = Limits::of(passes, written, is_file);
        let mut task = Task { area, block, passes, way, limits, likely: limits.full, begun: 0, slowed: 0 };
        if let Goal::Stable = passes {
            // Few drives have valleys, and without any it is enough to have written for long enough.
            let one = Remaining::of(&passes::pass(&task.stretches(), block, "pass", None)).likely_time();
            let count = (WRITTEN_S_MIN / one.seconds().max(1e-3)).ceil() as u32;
            task.likely = count.max(PASSES_MIN).min(limits.full);
        }
        task
    }

    /// The same where something was written before that brings valleys: it likely takes as many passes as were seen.
    fn with_valleys(self) -> Task {
        match self.passes {
            Goal::Stable => Task { likely: (PASSES_SEEN + 1).min(self.limits.full), ..self },
            Goal::Count(_) => self,
        }
    }

    pub(super) fn stretches(&self) -> Vec<ByteRange> {
        passes::stretches(self.area, self.block, self.way)
    }

    pub(super) fn full_left(&self) -> u32 {
        self.all_left().min(self.limits.full.saturating_sub(self.begun))
    }

    pub(super) fn slowed_left(&self) -> u32 {
        self.all_left().min(self.limits.slowed.saturating_sub(self.slowed))
    }

    pub(super) fn slowed_besides(&self) -> u32 {
        self.slowed_left().min(self.all_left() - self.full_left())
    }

    pub(super) fn slowed_bytes(&self) -> u64 {
        let pass: Bytes = self.stretches().iter().map(ByteRange::bytes).sum();
        pass.get().saturating_mul(u64::from(self.slowed_besides()))
    }

    fn all_left(&self) -> u32 {
        self.limits.all.saturating_sub(self.begun + self.slowed)
    }

    pub(super) fn likely_left(&self) -> u32 {
        self.full_left().min(self.likely.saturating_sub(self.begun))
    }

    /// What so many passes take and write at most, and what these take of which so many are likely.
    pub(super) fn steps(&self, count: u32, likely: u32) -> Vec<Step> {
        if count == 0 {
            return Vec::new();
        }
        let mut steps = Remaining::of(&passes::pass(&self.stretches(), self.block, "pass", None)).steps;
        let usual = u64::from(count.min(PASSES_MAX + 1));
        let more = u64::from(count) - usual;
        let more_max = Nanos::new((MORE_S * 1e9) as u64);
        for step in &mut steps {
            let longer = step.time.saturating_add(more_max).min(step.time.saturating_mul(more));
            step.phases = step.phases.saturating_mul(count);
            step.time = step.time.saturating_mul(usual).saturating_add(longer);
            step.likely = step.likely.saturating_mul(u64::from(likely));
            step.slow = step.slow.saturating_mul(u64::from(likely));
            step.writes = step.writes.map(|bytes| Bytes::new(bytes.get().saturating_mul(u64::from(count))));
        }
        steps
    }
}

pub(super) fn areas(over: &[Area], range: ByteRange) -> Result<Vec<ByteRange>, PlanError> {
    let parts = match over {
        [] | [Area::Whole] => return Ok(vec![range]),
        [Area::Halves] => return Ok(vec![range.part(0, 2), range.part(1, 2)]),
        parts => parts,
    };
    let mut areas = Vec::new();
    for part in parts {
        let Area::Part(part) = part else { return Err(PlanError::MixedAreas) };
        match part.within(range, GRID) {
            Some(area) if area.bytes() >= RANGE_MIN => areas.push(area),
            _ => return Err(PlanError::PartOutside { range: range.bytes(), needs: RANGE_MIN }),
        }
    }
    Ok(areas)
}

/// Each condition with the passes after it. What may cure follows on what brings valleys, if that is among the conditions.
pub(super) fn items(
    request: &ValleysRequest,
    blocks: &[Bytes],
    areas: &[ByteRange],
    setup: &Setup,
    supplies: &Supplies,
) -> Result<VecDeque<Item>, PlanError> {
    let conditions =
        if request.condition.is_empty() { vec![Condition::None] } else { request.condition.clone() };
    let usual = if conditions.len() > 1 { Goal::Count(PASSES_OF_TABLE) } else { Goal::Stable };
    let goal = request.passes.map_or(usual, Goal::Count);
    let brings = conditions.iter().find(|condition| brings_valleys(condition, supplies));
    let covered = ByteRange::union(areas);
    let mut items = VecDeque::new();
    for condition in &conditions {
        let mut phases = Vec::new();
        let may_cure = matches!(condition, Condition::Sequential(_) | Condition::Erase);
        if let (true, Some(brings)) = (may_cure, brings) {
            phases.extend(conditioning::phases(brings, &covered, &setup.facts, supplies)?);
        }
        phases.extend(conditioning::phases(condition, &covered, &setup.facts, supplies)?);
        if !phases.is_empty() {
            items.push_back(Item::Conditioning(phases));
        }
        let (areas, blocks) = match condition {
            // First the half that was filled: passes over the other one might change it.
            Condition::Halves => {
                (covered.iter().flat_map(|area| [area.part(1, 2), area.part(0, 2)]).collect(), vec![LARGE])
            }
            Condition::Sequential(block) if conditions.len() > 1 && !blocks.contains(block) => {
                (areas.to_vec(), [&[*block], blocks].concat())
            }
            _ => (areas.to_vec(), blocks.to_vec()),
        };
        for area in areas {
            for block in &blocks {
                let task = Task::new(area, *block, goal, request.way, setup.empty);
                items.push_back(Item::Passes(if brings.is_some() { task.with_valleys() } else { task }));
            }
        }
    }
    Ok(items)
}
