//! `valleys`: short falls of the rate that recur while a drive is written in order; what brings them, and what takes them away.
//!
//! The drive is conditioned as asked, and then passed over until passes are alike. As soon as some falls were seen, a pass is made more
//! slowly, which tells time from bytes, and it is read for some gaps between falls, which tells the drive's own work from what
//! somebody else does. Passes over another area or with other blocks follow.

mod conditioning;
mod passes;
mod wish;

use super::preparation;
use super::{Experiment, Outlook, Question};
use analysis::valley::{Pass, Story, stable_from};
use conditioning::LARGE;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::{BLOCK_BYTES_MAX, OperationMix};
use std::collections::VecDeque;

pub use wish::{Amount, Condition, Over, Part, ValleysWish, Way};

/// The word on the command line, and in every phase.
pub const NAME: &str = "valleys";
/// Of large drives this much from the start is used, unless a range is given or everything asked for.
const USED_BYTES_MAX: Bytes = Bytes::from_gib(128);
/// Smaller ranges are written in less time than valleys need to recur.
const RANGE_MIN: Bytes = Bytes::from_mib(256);
/// The block of passes, as HD Tune's.
const BLOCK: Bytes = Bytes::from_kib(64);
/// Passes until they are alike, at most: a drive that was seen needs six.
const PASSES_MAX: u32 = 10;
/// On small areas passes are short. More of them are made, until it was written for some gaps between valleys of the only drive on which
/// they were timed, one a minute; if there are falls, until it was written for a quarter of an hour.
const WRITTEN_S_MIN: f64 = 180.0;
const WRITTEN_S_ENOUGH: f64 = 900.0;
const SHORT_PASSES_MAX: u32 = 200;
/// But not past so much: flash wears.
const WRITTEN_MAX: Bytes = Bytes::from_gib(192);
/// Passes after each of several conditions.
const PASSES_OF_TABLE: u32 = 3;
/// A slowed pass is written at this share of the rate: slow enough to tell time from bytes by a handful of gaps that differ by some
/// per cent, and fast enough that a fall to 40 % still shows.
const SLOWED_SHARE: f64 = 0.6;
/// The gaps that slowed passes are to show, for how many gaps they go on to show them, and how many passes that are at most.
const SLOWED_GAPS_MIN: usize = 3;
const SLOWED_GAPS: f64 = 5.0;
const SLOWED_MAX: u32 = 50;
/// Of large areas one is enough.
const SLOWED_EXPECTED: u32 = 1;
/// With fewer gaps it cannot be told whether falls recur, so passes go on.
const GAPS_TO_TELL: usize = 5;
/// So many gaps between falls begin the comparisons …
const GAPS_TO_COMPARE: usize = 2;
/// … of which reading goes on for so many, and for so long.
const READING_GAPS: f64 = 3.2;
const READING_MIN: Nanos = Nanos::from_secs(10);
const READING_MAX: Nanos = Nanos::from_secs(900);
/// With a time limit, passes end by this share of it, so that there is time for reading.
const PASSES_TIME_SHARE: f64 = 0.75;
/// With requests of this size a slice holds so few of them that each is kept.
const TRACED_BLOCK_MIN: Bytes = Bytes::from_kib(512);
const FILL: Nanos = Nanos::from_secs(300);
const SETTLE: Nanos = Nanos::from_secs(2);
/// Between areas: it marks that what follows is another question, and is short enough to change nothing.
const MARK: Nanos = Nanos::from_millis(10);

/// The experiment.
pub struct Valleys {
    question: Question,
    way: Option<Way>,
    /// What is ahead.
    items: VecDeque<Item>,
    /// The task under way.
    task: Option<Task>,
    queue: VecDeque<Phase>,
    story: Story,
    /// How far telling time from bytes, and the drive from others, has come.
    comparing: Comparing,
}

#[derive(Clone, Debug)]
enum Item {
    /// Phases that condition the drive.
    Conditioning(Vec<Phase>),
    Passes(Task),
}

/// Passes over one area.
#[derive(Clone, Copy, Debug)]
struct Task {
    area: ByteRange,
    block: Bytes,
    passes: Goal,
    /// Passes at full rate that were begun.
    begun: u32,
}

#[derive(Clone, Copy, Debug)]
enum Goal {
    Stable,
    Count(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparing {
    /// Not yet, or so many slowed passes were begun.
    Slowed(u32),
    Done,
}

impl Valleys {
    /// Plans it.
    ///
    /// # Errors
    /// A sentence for a person when nothing may be written, or the range has no room for it.
    pub fn new(question: Question, wish: ValleysWish) -> Result<Valleys, String> {
        if !question.may_write {
            return Err(format!(
                "valleys are seen while writing, and {} may only be read. Add --write if what is on it may be lost, or name a folder to \
                 write to a scratch file in it",
                question.facts.path
            ));
        }
        let blocks = if wish.blocks.is_empty() {
            vec![BLOCK.max(question.facts.logical_block)]
        } else {
            wish.blocks.clone()
        };
        check_blocks(&blocks, &wish, question.facts.logical_block)?;
        let range = used(&question, &wish);
        if range.bytes() < RANGE_MIN {
            return Err(format!(
                "the range holds {}, which is written before a valley could come again; give at least {RANGE_MIN}",
                range.bytes()
            ));
        }
        let areas = areas(&wish.over, range)?;
        let mut queue = VecDeque::new();
        if question.empty {
            queue.extend(preparation::fill(NAME, &question, FILL, SETTLE));
        }
        let items = items(&wish, &blocks, range, &areas, &question);
        Ok(Valleys {
            way: wish.way,
            items,
            task: None,
            queue,
            story: Story::default(),
            comparing: Comparing::Slowed(0),
            question,
        })
    }

    /// The next step of the task under way; false when it is done.
    fn go_on(&mut self, now: Nanos) -> bool {
        let Some(mut task) = self.task else { return false };
        let passes_end = self.passes_end();
        let has_time = passes_end.is_none_or(|end| now < end);
        if task.begun > 0 && self.compare(&task, now, has_time) {
            return true;
        }
        let done = !has_time || task.is_done(&self.story);
        if done {
            return false;
        }
        task.begun += 1;
        self.task = Some(task);
        let name = format!("pass {} in blocks of {}", task.begun, task.block);
        self.queue.extend(passes::pass(
            &passes::stretches(task.area, task.block, self.way),
            task.block,
            &name,
            None,
        ));
        true
    }

    /// Plans what tells time from bytes, and then the drive from others, when enough falls were seen and it was not done before.
    fn compare(&mut self, task: &Task, now: Nanos, has_time: bool) -> bool {
        let Comparing::Slowed(slowed) = self.comparing else { return false };
        let all = self.story.gaps();
        let gaps = |is_slowed: bool| all.iter().filter(|gap| gap.slowed == is_slowed).count();
        let Some(gap_s) = self.story.gap_s().filter(|_| gaps(false) >= GAPS_TO_COMPARE) else { return false };
        let wanted_s = SLOWED_GAPS * gap_s;
        let is_open = gaps(true) < SLOWED_GAPS_MIN && self.story.slowed_s() < wanted_s && slowed < SLOWED_MAX;
        if is_open && has_time {
            let full = self.story.passes().filter(|pass| !pass.shape.slowed).last().map_or(0.0, Pass::rate);
            self.comparing = Comparing::Slowed(slowed + 1);
            let name = format!("slowed pass {} in blocks of {}", slowed + 1, task.block);
            let stretches = passes::stretches(task.area, task.block, self.way);
            let mut phases = passes::pass(&stretches, task.block, &name, Some(full * SLOWED_SHARE));
            passes::shorten(&mut phases, full * SLOWED_SHARE, wanted_s);
            self.queue.extend(phases);
            return true;
        }
        self.comparing = Comparing::Done;
        let wanted =
            Nanos::from_secs_f64(gap_s * READING_GAPS).unwrap_or(READING_MAX).clamp(READING_MIN, READING_MAX);
        let left = self.question.time_limit.map_or(wanted, |limit| limit.saturating_sub(now));
        let reading = passes::reading(task.area, self.question.facts.logical_block, wanted.min(left));
        self.queue.push_back(reading);
        true
    }

    fn passes_end(&self) -> Option<Nanos> {
        self.question.time_limit.map(|limit| Nanos((limit.0 as f64 * PASSES_TIME_SHARE) as u64))
    }

    /// A phase that writes ends with the time for passes.
    fn bounded(&self, mut phase: Phase, now: Nanos) -> Phase {
        let writes = phase.workload.as_ref().is_some_and(|workload| workload.mix != OperationMix::Read);
        if let (true, Some(end)) = (writes, self.passes_end()) {
            let left = end.saturating_sub(now).max(Nanos::from_millis(1));
            phase.stop.time = Some(phase.stop.time.map_or(left, |time| time.min(left)));
        }
        phase
    }
}

impl Task {
    /// Whether enough passes were made over the area.
    fn is_done(&self, story: &Story) -> bool {
        let passes = story.groups.last().map(|group| group.full_rate()).unwrap_or_default();
        match self.passes {
            Goal::Count(count) => self.begun >= count,
            Goal::Stable => {
                let (bytes, seconds) = story.written();
                let is_long = seconds >= WRITTEN_S_MIN || bytes >= WRITTEN_MAX.0;
                let is_told = if story.count() == 0 { is_long } else { story.gaps().len() >= GAPS_TO_TELL };
                let is_enough = seconds >= WRITTEN_S_ENOUGH || bytes >= WRITTEN_MAX.0;
                let is_last = self.begun >= PASSES_MAX && is_enough || self.begun >= SHORT_PASSES_MAX;
                is_last || (is_told && stable_from(&passes).is_some())
            }
        }
    }

    fn passes_max(&self) -> u32 {
        match self.passes {
            Goal::Count(count) => count,
            Goal::Stable => PASSES_MAX,
        }
    }
}

impl Experiment for Valleys {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        self.story.follow(so_far);
        let now = so_far.elapsed();
        let passes_end = self.passes_end();
        loop {
            let is_over = passes_end.is_some_and(|end| now >= end);
            while let Some(phase) = self.queue.pop_front() {
                let reads =
                    phase.workload.as_ref().is_some_and(|workload| workload.mix == OperationMix::Read);
                if !is_over || reads {
                    return Some(self.bounded(phase, now));
                }
            }
            if self.go_on(now) {
                continue;
            }
            self.task = None;
            if is_over {
                self.items.clear();
                return None;
            }
            match self.items.pop_front()? {
                Item::Conditioning(phases) => self.queue.extend(phases),
                Item::Passes(task) => {
                    let mark = StopCondition::after(MARK);
                    self.queue.push_back(preparation::phase(
                        NAME,
                        "pause".into(),
                        PhaseKind::Idle,
                        None,
                        mark,
                    ));
                    self.task = Some(task);
                }
            }
        }
    }

    fn outlook(&self) -> Outlook {
        let mut phases: Vec<Phase> = self.queue.iter().cloned().collect();
        let mut add_passes = |task: &Task, left: u32| {
            let stretches = passes::stretches(task.area, task.block, self.way);
            (0..left).for_each(|_| phases.extend(passes::pass(&stretches, task.block, "pass", None)));
        };
        let slowed = if self.comparing == Comparing::Slowed(0) { SLOWED_EXPECTED } else { 0 };
        let mut slowed_left = slowed;
        if let Some(task) = &self.task {
            add_passes(task, task.passes_max().saturating_sub(task.begun) + std::mem::take(&mut slowed_left));
        }
        let mut conditioning = Vec::new();
        for item in &self.items {
            match item {
                Item::Conditioning(of) => conditioning.extend(of.iter().cloned()),
                Item::Passes(task) => add_passes(task, task.passes_max() + std::mem::take(&mut slowed_left)),
            }
        }
        conditioning.extend(phases);
        Outlook::of(&conditioning)
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        let block = phase.workload.as_ref().map(|workload| workload.block_sizes.largest());
        phase.kind == PhaseKind::Measure && block.is_some_and(|block| block >= TRACED_BLOCK_MIN)
    }
}

fn check_blocks(blocks: &[Bytes], wish: &ValleysWish, logical: Bytes) -> Result<(), String> {
    let of_fills = wish.conditions.iter().filter_map(|condition| match condition {
        Condition::Sequential(block) => Some(*block),
        _ => None,
    });
    let wrong = blocks
        .iter()
        .copied()
        .chain(of_fills)
        .find(|block| block.0 == 0 || !block.is_multiple_of(logical) || *block > BLOCK_BYTES_MAX);
    match wrong {
        Some(block) => Err(format!(
            "blocks of {block} cannot be written: give multiples of {logical} up to {BLOCK_BYTES_MAX}"
        )),
        None => Ok(()),
    }
}

/// The part of the range that is used.
fn used(question: &Question, wish: &ValleysWish) -> ByteRange {
    let range = question.range;
    let is_asked = wish.way == Some(Way::Everything) || wish.over != Over::Whole;
    if is_asked || range.bytes() <= USED_BYTES_MAX {
        return range;
    }
    ByteRange::new(range.first(), USED_BYTES_MAX).unwrap_or(range)
}

fn areas(over: &Over, range: ByteRange) -> Result<Vec<ByteRange>, String> {
    match over {
        Over::Whole => Ok(vec![range]),
        Over::Halves => Ok(vec![range.part(0, 2), range.part(1, 2)]),
        Over::Parts(parts) => {
            let area = |part: &Part| {
                let area = part.within(range).filter(|area| area.bytes() >= RANGE_MIN);
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

/// Each condition with the passes after it. What may cure follows on what brings valleys, if that is among the conditions.
fn items(
    wish: &ValleysWish,
    blocks: &[Bytes],
    range: ByteRange,
    areas: &[ByteRange],
    question: &Question,
) -> VecDeque<Item> {
    let conditions = if wish.conditions.is_empty() { vec![Condition::None] } else { wish.conditions.clone() };
    let usual = if conditions.len() > 1 { Goal::Count(PASSES_OF_TABLE) } else { Goal::Stable };
    let goal = wish.passes.map_or(usual, Goal::Count);
    let brings =
        conditions.iter().find(|condition| matches!(condition, Condition::Mixed(_) | Condition::Random(_)));
    let mut items = VecDeque::new();
    for condition in &conditions {
        let mut phases = Vec::new();
        let may_cure = matches!(condition, Condition::Sequential(_) | Condition::Erase);
        if let (true, Some(brings)) = (may_cure, brings) {
            phases.extend(conditioning::phases(*brings, range, &question.facts));
        }
        phases.extend(conditioning::phases(*condition, range, &question.facts));
        if !phases.is_empty() {
            items.push_back(Item::Conditioning(phases));
        }
        // First the half that was filled: passes over the other one might change it.
        let halves = [range.part(1, 2), range.part(0, 2)];
        let (areas, blocks) = match condition {
            Condition::Halves => (&halves[..], vec![LARGE]),
            Condition::Sequential(block) if conditions.len() > 1 && !blocks.contains(block) => {
                (areas, [&[*block], blocks].concat())
            }
            _ => (areas, blocks.to_vec()),
        };
        for area in areas {
            let task = |&block: &Bytes| Item::Passes(Task { area: *area, block, passes: goal, begun: 0 });
            items.extend(blocks.iter().map(task));
        }
    }
    items
}
