//! What is done in which order: conditions, the areas that are passed over after each, and how many passes that are at most.

use super::conditioning::{self, LARGE};
use super::passes;
use super::wish::{Condition, Over, Part, ValleysWish, Way};
use super::{RANGE_MIN, SLOWED_GAPS, WRITTEN_S_ENOUGH, WRITTEN_S_MIN};
use crate::experiment::{Outlook, Question, Step};
use model::plan::Phase;
use model::range::ByteRange;
use model::units::{Bytes, Nanos, Offset};
use std::collections::VecDeque;

/// Passes until they are alike, at most: a drive that was seen needs six.
pub(super) const PASSES_MAX: u32 = 10;
const PASSES_SEEN: u32 = 6;
/// Passes without a fall are alike from the second on.
const PASSES_MIN: u32 = 2;
/// Over small areas of a drive there are more, but no more than write so much, slowed ones half of it: flash wears.
pub(super) const WRITTEN_MAX: Bytes = Bytes::from_gib(192);
const SHORT_PASSES_MAX: u32 = 200;
const SLOWED_MAX: u32 = 50;
/// A file lies on a disk that is in use: passes over it and slowed ones are together no more than these.
const FILE_PASSES_MAX: u32 = PASSES_MAX + 1;
const FILE_SLOWED_MAX: u32 = 5;
/// Passes after each of several conditions.
const PASSES_OF_TABLE: u32 = 3;
/// How long passes go on after the usual ones: until it was written for long enough, and slowed for some of the gaps of which two were
/// seen by then.
const MORE_S: f64 = WRITTEN_S_ENOUGH * (1.0 + SLOWED_GAPS / super::GAPS_TO_COMPARE as f64);
/// Shares of a range begin and end at multiples of this, so that what is conditioned in large blocks is all that is passed over.
const GRID: Bytes = conditioning::DISCARD_BLOCK;

#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Phases that condition the drive.
    Conditioning(Vec<Phase>),
    Passes(Task),
}

/// Passes over one area.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub area: ByteRange,
    pub block: Bytes,
    pub passes: Goal,
    way: Option<Way>,
    limits: Limits,
    /// How many of them are likely made at full rate.
    likely: u32,
    /// Passes at full rate that were begun.
    pub begun: u32,
    /// Slowed passes that were begun.
    pub slowed: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    Stable,
    Count(u32),
}

/// How many passes are made over an area at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    full: u32,
    slowed: u32,
    /// Of both together.
    all: u32,
}

impl Limits {
    /// The limits of passes that write so much each.
    fn of(goal: Goal, pass: Bytes, is_file: bool) -> Limits {
        let fit = |bytes: Bytes| (bytes.0 / pass.0.max(1)).min(u64::from(SHORT_PASSES_MAX)) as u32;
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
                    Goal::Stable => fit(WRITTEN_MAX).max(PASSES_MAX),
                    Goal::Count(full) => full,
                };
                let slowed = fit(Bytes(WRITTEN_MAX.0 / 2)).clamp(1, SLOWED_MAX);
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
            let one = Outlook::of(&passes::pass(&task.stretches(), block, "pass", None)).likely_time();
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

    /// What a pass writes, in order.
    pub(super) fn stretches(&self) -> Vec<ByteRange> {
        passes::stretches(self.area, self.block, self.way)
    }

    /// How many passes at full rate may still be begun.
    pub(super) fn full_left(&self) -> u32 {
        self.all_left().min(self.limits.full.saturating_sub(self.begun))
    }

    /// How many slowed passes may still be begun.
    pub(super) fn slowed_left(&self) -> u32 {
        self.all_left().min(self.limits.slowed.saturating_sub(self.slowed))
    }

    /// How many of these are besides all that may be begun at full rate.
    pub(super) fn slowed_besides(&self) -> u32 {
        self.slowed_left().min(self.all_left() - self.full_left())
    }

    /// What these write.
    pub(super) fn slowed_bytes(&self) -> u64 {
        let pass: Bytes = self.stretches().iter().map(ByteRange::bytes).sum();
        pass.0.saturating_mul(u64::from(self.slowed_besides()))
    }

    fn all_left(&self) -> u32 {
        self.limits.all.saturating_sub(self.begun + self.slowed)
    }

    /// How many passes at full rate are likely still made.
    pub(super) fn likely_left(&self) -> u32 {
        self.full_left().min(self.likely.saturating_sub(self.begun))
    }

    /// What so many passes take and write at most, and what these take of which so many are likely.
    pub(super) fn steps(&self, count: u32, likely: u32) -> Vec<Step> {
        let one = Outlook::of(&passes::pass(&self.stretches(), self.block, "pass", None));
        let usual = u64::from(count.min(PASSES_MAX + 1));
        let more = u64::from(count) - usual;
        let of = |step: &Step| {
            let longer =
                step.time.0.saturating_add((MORE_S * 1e9) as u64).min(step.time.0.saturating_mul(more));
            Step {
                phases: step.phases.saturating_mul(count),
                time: Nanos(step.time.0.saturating_mul(usual).saturating_add(longer)),
                likely: Nanos(step.likely.0.saturating_mul(u64::from(likely))),
                slow: Nanos(step.slow.0.saturating_mul(u64::from(likely))),
                writes: step.writes.map(|bytes| Bytes(bytes.0.saturating_mul(u64::from(count)))),
                ..step.clone()
            }
        };
        if count == 0 { Vec::new() } else { one.steps.iter().map(of).collect() }
    }
}

/// The areas that are passed over, one after the other.
pub(super) fn areas(over: &Over, range: ByteRange) -> Result<Vec<ByteRange>, String> {
    match over {
        Over::Whole => Ok(vec![range]),
        Over::Halves => Ok(vec![range.part(0, 2), range.part(1, 2)]),
        Over::Parts(parts) => {
            let area = |part: &Part| {
                let area = part.within(range, GRID).filter(|area| area.bytes() >= RANGE_MIN);
                area.ok_or_else(|| {
                    format!(
                        "--over: a part is not within the range of {}, or holds less than {RANGE_MIN}",
                        range.bytes()
                    )
                })
            };
            parts.iter().map(area).collect()
        }
    }
}

/// What the areas cover together: those that touch are one.
fn union(areas: &[ByteRange]) -> Vec<ByteRange> {
    let mut sorted = areas.to_vec();
    sorted.sort_unstable_by_key(|area| area.first().0);
    let mut pieces: Vec<(u64, u64)> = Vec::new();
    for area in sorted {
        match pieces.last_mut() {
            Some(last) if area.first().0 <= last.1 => last.1 = last.1.max(area.end().0),
            _ => pieces.push((area.first().0, area.end().0)),
        }
    }
    pieces.into_iter().filter_map(|(first, end)| ByteRange::new(Offset(first), Bytes(end - first))).collect()
}

/// Each condition with the passes after it. What may cure follows on what brings valleys, if that is among the conditions. Nothing is
/// conditioned that is not passed over.
pub(super) fn items(
    wish: &ValleysWish,
    blocks: &[Bytes],
    areas: &[ByteRange],
    question: &Question,
) -> Result<VecDeque<Item>, String> {
    let conditions = if wish.conditions.is_empty() { vec![Condition::None] } else { wish.conditions.clone() };
    let usual = if conditions.len() > 1 { Goal::Count(PASSES_OF_TABLE) } else { Goal::Stable };
    let goal = wish.passes.map_or(usual, Goal::Count);
    let brings = conditions.iter().find(|condition| condition.brings());
    let covered = union(areas);
    let mut items = VecDeque::new();
    for condition in &conditions {
        let mut phases = Vec::new();
        let may_cure = matches!(condition, Condition::Sequential(_) | Condition::Erase);
        if let (true, Some(brings)) = (may_cure, brings) {
            phases.extend(conditioning::phases(brings, &covered, &question.facts)?);
        }
        phases.extend(conditioning::phases(condition, &covered, &question.facts)?);
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
            let task = |&block: &Bytes| {
                let task = Task::new(area, block, goal, wish.way, question.empty);
                if brings.is_some() { task.with_valleys() } else { task }
            };
            items.extend(blocks.iter().map(task).map(Item::Passes));
        }
    }
    Ok(items)
}
