//! `valleys`: short falls of the rate that recur while a drive is written in order; what brings them, and what takes them away.
//!
//! The drive is conditioned as asked, and then passed over until passes are alike. As soon as some falls were seen, a pass is made more
//! slowly, and from further in, which tells time, bytes and places apart, and it is read for some gaps between falls, which tells the drive's own work from what
//! somebody else does. Passes over another area or with other blocks follow.

mod conditioning;
mod course;
mod passes;
mod wish;

use super::preparation;
use super::{Experiment, Outlook, Question};
use analysis::valley::{Pass, Story, stable_from};
use course::{Goal, Item, PASSES_MAX, Task, WRITTEN_MAX, areas, items};
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
/// On small areas passes are short. More of them are made, until it was written for some gaps between valleys of the only drive on which
/// they were timed, one a minute; if there are falls, until it was written for a quarter of an hour.
const WRITTEN_S_MIN: f64 = 180.0;
const WRITTEN_S_ENOUGH: f64 = 900.0;
/// A slowed pass is written at this share of the rate: slow enough to tell time from bytes by a handful of gaps that differ by some
/// per cent, and fast enough that a fall to 40 % still shows.
const SLOWED_SHARE: f64 = 0.6;
/// The first slowed pass begins so far into the area, as a share of what is written from fall to fall: what comes after so many bytes
/// comes somewhere else from then on, and slow places stay where they are. The golden section is far from all simple fractions, so that
/// falls of which only each second or third is seen move as well.
const FURTHER_IN_SHARE: f64 = 0.382;
/// The gaps that slowed passes are to show, and for how many gaps they go on to show them.
const SLOWED_GAPS_MIN: usize = 3;
const SLOWED_GAPS: f64 = 5.0;
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
    /// What is ahead.
    items: VecDeque<Item>,
    /// The task under way.
    task: Option<Task>,
    queue: VecDeque<Phase>,
    story: Story,
    /// Whether telling time from bytes, and the drive from others, is done.
    is_compared: bool,
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
        let items = items(&wish, &blocks, &areas, &question)?;
        Ok(Valleys { items, task: None, queue, story: Story::default(), is_compared: false, question })
    }

    /// The next step of the task under way; false when it is done.
    fn go_on(&mut self, now: Nanos) -> bool {
        let Some(mut task) = self.task else { return false };
        let passes_end = self.passes_end();
        let has_time = passes_end.is_none_or(|end| now < end);
        if task.begun > 0 && self.compare(&mut task, now, has_time) {
            return true;
        }
        let done = !has_time || task.is_done(&self.story);
        if done {
            return false;
        }
        task.begun += 1;
        self.task = Some(task);
        let name = format!("pass {} in blocks of {}", task.begun, task.block);
        self.queue.extend(passes::pass(&task.stretches(), task.block, &name, None));
        true
    }

    /// Plans what tells time from bytes, and then the drive from others, when enough falls were seen and it was not done before.
    fn compare(&mut self, task: &mut Task, now: Nanos, has_time: bool) -> bool {
        if self.is_compared {
            return false;
        }
        let all = self.story.gaps();
        let gaps = |is_slowed: bool| all.iter().filter(|gap| gap.slowed == is_slowed).count();
        let Some(gap_s) = self.story.gap_s().filter(|_| gaps(false) >= GAPS_TO_COMPARE) else { return false };
        let wanted_s = SLOWED_GAPS * gap_s;
        let is_open = gaps(true) < SLOWED_GAPS_MIN && self.story.slowed_s() < wanted_s;
        if is_open && has_time && task.slowed_left() > 0 {
            let full = self.story.passes().filter(|pass| !pass.shape.slowed).last().map_or(0.0, Pass::rate);
            task.slowed += 1;
            self.task = Some(*task);
            let name = format!("slowed pass {} in blocks of {}", task.slowed, task.block);
            let stretches = task.stretches();
            let mut phases = passes::pass(&stretches, task.block, &name, Some(full * SLOWED_SHARE));
            if let (1, Some(gap_bytes)) = (task.slowed, self.story.gap_bytes()) {
                passes::begin_further_in(&mut phases, Bytes((gap_bytes * FURTHER_IN_SHARE) as u64));
            }
            passes::shorten(&mut phases, full * SLOWED_SHARE, wanted_s);
            self.queue.extend(phases);
            return true;
        }
        self.is_compared = true;
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
        if self.full_left() == 0 {
            return true;
        }
        match self.passes {
            Goal::Count(_) => false,
            Goal::Stable => {
                let (bytes, seconds) = story.written();
                let is_long = seconds >= WRITTEN_S_MIN || bytes >= WRITTEN_MAX.0;
                let is_told = if story.count() == 0 { is_long } else { story.gaps().len() >= GAPS_TO_TELL };
                let is_enough = seconds >= WRITTEN_S_ENOUGH || bytes >= WRITTEN_MAX.0;
                let is_last = self.begun >= PASSES_MAX && is_enough;
                is_last || (is_told && stable_from(&passes).is_some())
            }
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
                    self.queue.push_back(mark());
                    self.task = Some(task);
                }
            }
        }
    }

    /// At most: passes end earlier when they are alike, and nothing is compared where nothing falls.
    fn outlook(&self) -> Outlook {
        let conditioning = self.items.iter().filter_map(|item| match item {
            Item::Conditioning(phases) => Some(phases),
            Item::Passes(_) => None,
        });
        let mut phases: Vec<Phase> = conditioning.flatten().chain(&self.queue).cloned().collect();
        let ahead = self.items.iter().filter_map(|item| match item {
            Item::Passes(task) => Some(task),
            Item::Conditioning(_) => None,
        });
        let ahead: Vec<&Task> = ahead.collect();
        phases.extend(ahead.iter().map(|_| mark()));
        let tasks: Vec<&Task> = self.task.iter().chain(ahead).collect();
        if let (false, Some(first)) = (self.is_compared, tasks.first()) {
            phases.push(passes::reading(first.area, self.question.facts.logical_block, READING_MAX));
        }
        let mut outlook = Outlook::of(&phases);
        // It is read only if there is something to compare.
        if !self.is_compared
            && let Some(reading) = outlook.steps.last_mut()
        {
            reading.likely = Nanos::ZERO;
        }
        // It is compared in one of them.
        let most = tasks.iter().max_by_key(|task| task.slowed_bytes()).filter(|_| !self.is_compared);
        let full = tasks.iter().flat_map(|task| task.steps(task.full_left(), task.likely_left()));
        let slowed = most.into_iter().flat_map(|task| task.steps(task.slowed_besides(), 0));
        full.chain(slowed).for_each(|step| outlook.add(step));
        outlook
    }

    fn may_rest(&self) -> bool {
        false
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        let block = phase.workload.as_ref().map(|workload| workload.block_sizes.largest());
        phase.kind == PhaseKind::Measure && block.is_some_and(|block| block >= TRACED_BLOCK_MIN)
    }
}

fn mark() -> Phase {
    preparation::phase(NAME, "pause".into(), PhaseKind::Idle, None, StopCondition::after(MARK))
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
