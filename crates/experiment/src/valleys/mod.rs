//! `valleys`: short dips of the rate that recur while a drive is written in order; what brings them, and what takes them away.
//!
//! The drive is conditioned as asked, and then passed over until passes are alike. As soon as some dips were seen, a pass is made more
//! slowly, and from further in, which tells time, bytes and places apart, and it is read for some gaps between dips, which tells the drive's own work from what
//! somebody else does. Passes over another area or with other blocks follow.

mod conditioning;
mod course;
mod passes;
mod request;

use super::preparation::{self, Filling, reads_only};
use super::{Conduct, Experiment, Remaining, Setup};
use crate::bound::{within, written_since};
use crate::error::PlanError;
use crate::rate_limit::{DecidingWrites, other_size};
use crate::request::{DriveRequest, Supplies, has_drive_options};
use crate::setup::check_room;
use analysis::valley::{Story, stable_from};
use course::{
    GAPS_TO_COMPARE, Goal, Item, PASSES_MAX, RANGE_MIN, SLOWED_GAPS, SLOWED_GAPS_MIN, Task, WRITTEN_MAX,
    WRITTEN_S_ENOUGH, WRITTEN_S_MIN, areas, items,
};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::{BLOCK_BYTES_MAX, OperationMix, Pattern, Workload};
use std::collections::VecDeque;

pub use request::{Amount, Area, Condition, ValleysRequest, Way};

/// Of large drives this much from the start is used, unless a range is given or everything asked for.
const USED_BYTES_MAX: Bytes = Bytes::from_gib(128);
/// The block of passes, as HD Tune's.
const BLOCK: Bytes = Bytes::from_kib(64);
/// A slowed pass is written at this share of the rate: slow enough to tell time from bytes, and a dip to 40 % still shows.
const SLOWED_SHARE: f64 = 0.6;
/// The first slowed pass begins so far into the area, as a share of what is written from dip to dip: what comes by bytes then comes
/// elsewhere, and slow places stay. The golden section is far from all simple fractions.
const FURTHER_IN_SHARE: f64 = 0.382;
/// With fewer gaps it cannot be told whether dips recur, so passes go on.
const GAPS_TO_TELL: usize = 5;
/// … of which reading goes on for so many, and for so long.
const READING_GAPS: f64 = 3.2;
const READING_MIN: Nanos = Nanos::from_secs(10);
const READING_MAX: Nanos = Nanos::from_secs(900);
/// With a time limit, passes end by this share of it, so that there is time for reading.
const PASSES_TIME_SHARE: f64 = 0.75;
/// With requests of this size a slice holds so few of them that each is kept.
const TRACED_BLOCK_MIN: Bytes = Bytes::from_kib(512);
const FILLING: Filling = Filling::of(300, 2);
/// Between areas: it marks that what follows is another question, and is short enough to change nothing.
const MARK: Nanos = Nanos::from_millis(10);

pub struct Valleys {
    setup: Setup,
    items: VecDeque<Item>,
    task: Option<Task>,
    queue: VecDeque<Phase>,
    story: Story,
    /// Whether telling time from bytes, and the drive from others, is done.
    is_compared: bool,
    deciding: DecidingWrites,
    other_writes: Workload,
    announced: Option<Bytes>,
}

impl Valleys {
    pub fn new(setup: Setup, request: &ValleysRequest, supplies: &Supplies) -> Result<Valleys, PlanError> {
        setup.check_writable(ExperimentName::Valleys)?;
        let blocks = match request.blocks.as_slice() {
            [] => vec![BLOCK.max(setup.facts.logical_block)],
            blocks => blocks.to_vec(),
        };
        check_blocks(&blocks, request, setup.facts.logical_block)?;
        let range = used(&setup, request);
        check_room(ExperimentName::Valleys, range.bytes(), RANGE_MIN)?;
        let areas = areas(&request.over, range)?;
        let mut queue = VecDeque::new();
        if setup.empty {
            queue.extend(preparation::fill(ExperimentName::Valleys, &setup, FILLING));
        }
        let items = items(request, &blocks, &areas, &setup, supplies)?;
        let other = other_size(blocks[0], setup.facts.logical_block);
        let other_writes = Workload::new(areas[0], Pattern::Sequential, OperationMix::Write, other, 1);
        let (deciding, story) = (DecidingWrites::default(), Story::default());
        let (task, is_compared, announced) = (None, false, None);
        let mut valleys =
            Valleys { setup, items, task, queue, story, is_compared, deciding, other_writes, announced };
        valleys.announced = valleys.remaining().writes();
        Ok(valleys)
    }

    /// Whether passes were written at a rate limit, as long as that takes no more writes than were announced.
    fn decide(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let writes = &self.other_writes;
        let phase = self.deciding.next(so_far, writes.range, ExperimentName::Valleys, writes)?;
        let left = self.announced.map(|announced| announced.saturating_sub(written_since(so_far, 0)));
        within(phase, left, writes.block_sizes.largest())
    }

    fn go_on(&mut self, now: Nanos) -> bool {
        let Some(mut task) = self.task else { return false };
        let passes_end = self.passes_end();
        let has_time = passes_end > now;
        if task.begun > 0 && self.compare(&mut task, now, has_time) {
            return true;
        }
        if !has_time || task.is_done(&self.story) {
            return false;
        }
        task.begun += 1;
        self.task = Some(task);
        let name = format!("pass {} in blocks of {}", task.begun, task.block);
        self.queue.extend(passes::pass(&task.stretches(), task.block, &name, None));
        true
    }

    /// Plans what tells time from bytes, and then the drive from others, when enough dips were seen and it was not done before.
    fn compare(&mut self, task: &mut Task, now: Nanos, has_time: bool) -> bool {
        if self.is_compared {
            return false;
        }
        let (mut at_full_rate, mut slowed) = (0, 0);
        for gap in self.story.gaps() {
            *(if gap.slowed { &mut slowed } else { &mut at_full_rate }) += 1;
        }
        let Some(gap_s) = self.story.gap_s() else { return false };
        if at_full_rate < GAPS_TO_COMPARE {
            return false;
        }
        let wanted_s = SLOWED_GAPS * gap_s;
        let is_open = slowed < SLOWED_GAPS_MIN && self.story.slowed_s() < wanted_s;
        if is_open && has_time && task.slowed_left() > 0 {
            let mut full = 0.0;
            for pass in self.story.passes() {
                if !pass.shape.slowed {
                    full = pass.rate();
                }
            }
            task.slowed += 1;
            self.task = Some(*task);
            let name = format!("slowed pass {} in blocks of {}", task.slowed, task.block);
            let stretches = task.stretches();
            let mut phases = passes::pass(&stretches, task.block, &name, Some(full * SLOWED_SHARE));
            if let (1, Some(gap_bytes)) = (task.slowed, self.story.gap_bytes()) {
                passes::begin_further_in(&mut phases, Bytes::new((gap_bytes * FURTHER_IN_SHARE) as u64));
            }
            passes::shorten(&mut phases, full * SLOWED_SHARE, wanted_s);
            self.queue.extend(phases);
            return true;
        }
        self.is_compared = true;
        let wanted =
            Nanos::from_secs_f64(gap_s * READING_GAPS).unwrap_or(READING_MAX).clamp(READING_MIN, READING_MAX);
        let wanted = match self.setup.time_limit {
            Some(limit) => wanted.min(limit.saturating_sub(now)),
            None => wanted,
        };
        let reading = passes::reading(task.area, self.setup.facts.logical_block, wanted);
        self.queue.push_back(reading);
        true
    }

    fn passes_end(&self) -> Nanos {
        match self.setup.time_limit {
            Some(limit) => Nanos::new((limit.as_f64() * PASSES_TIME_SHARE) as u64),
            None => Nanos::MAX,
        }
    }

    /// A phase that writes or idles ends with the time for passes.
    fn bounded(&self, mut phase: Phase, now: Nanos) -> Phase {
        let lasts = phase.workload.is_some() || phase.kind == PhaseKind::Idle;
        if self.setup.time_limit.is_some() && !reads_only(&phase) && lasts {
            let left = self.passes_end().saturating_sub(now).max(Nanos::from_millis(1));
            phase.stop.time = Some(phase.stop.time.unwrap_or(left).min(left));
        }
        phase
    }
}

impl Task {
    fn is_done(&self, story: &Story) -> bool {
        if self.full_left() == 0 {
            return true;
        }
        match self.passes {
            Goal::Count(_) => false,
            Goal::Stable => {
                let (bytes, seconds) = story.written();
                let is_long = seconds >= WRITTEN_S_MIN || bytes >= WRITTEN_MAX.get();
                let is_told = if story.count() == 0 { is_long } else { story.gaps().len() >= GAPS_TO_TELL };
                let is_enough = seconds >= WRITTEN_S_ENOUGH || bytes >= WRITTEN_MAX.get();
                let is_last = self.begun >= PASSES_MAX && is_enough;
                let is_stable = match story.groups.last() {
                    Some(group) => stable_from(&group.full_rate()).is_some(),
                    None => false,
                };
                is_last || (is_told && is_stable)
            }
        }
    }
}

impl DriveRequest for ValleysRequest {
    has_drive_options!(ExperimentName::Valleys);

    fn plan_names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for condition in &self.condition {
            if let Condition::Plan { name, .. } = condition {
                names.push(name.as_str());
            }
        }
        names
    }

    fn plan(&self, setup: Setup, supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        Ok(Box::new(Valleys::new(setup, self, supplies)?))
    }
}

impl Experiment for Valleys {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        self.story.follow(so_far);
        let now = so_far.elapsed();
        let passes_end = self.passes_end();
        loop {
            let is_over = now >= passes_end;
            while let Some(phase) = self.queue.pop_front() {
                if !is_over || reads_only(&phase) {
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
            let Some(item) = self.items.pop_front() else { return self.decide(so_far) };
            match item {
                Item::Conditioning(phases) => self.queue.extend(phases),
                Item::Passes(task) => {
                    self.queue.push_back(mark());
                    self.task = Some(task);
                }
            }
        }
    }

    /// At most: passes end earlier when they are alike, and nothing is compared where nothing dips.
    fn remaining(&self) -> Remaining {
        let mut phases = Vec::new();
        let mut tasks = Vec::from_iter(&self.task);
        for item in &self.items {
            match item {
                Item::Conditioning(conditioning) => phases.extend(conditioning.iter().cloned()),
                Item::Passes(task) => tasks.push(task),
            }
        }
        phases.extend(self.queue.iter().cloned());
        let marks = tasks.len() - usize::from(self.task.is_some());
        phases.extend(vec![mark(); marks]);
        if let (false, Some(first)) = (self.is_compared, tasks.first()) {
            phases.push(passes::reading(first.area, self.setup.facts.logical_block, READING_MAX));
        }
        let mut remaining = Remaining::of(&phases);
        // It is read only if there is something to compare.
        if !self.is_compared
            && let Some(reading) = remaining.steps.last_mut()
        {
            reading.likely = Nanos::ZERO;
        }
        let mut steps = Vec::new();
        for task in &tasks {
            steps.extend(task.steps(task.full_left(), task.likely_left()));
        }
        // It is compared in one of them.
        if let (false, Some(most)) = (self.is_compared, tasks.iter().max_by_key(|task| task.slowed_bytes())) {
            steps.extend(most.steps(most.slowed_besides(), 0));
        }
        for step in steps {
            remaining.add(step);
        }
        remaining
    }

    fn conduct(&self) -> Conduct {
        Conduct { may_rest: false, ..Conduct::default() }
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        match &phase.workload {
            Some(workload) => {
                phase.kind == PhaseKind::Measure && workload.block_sizes.largest() >= TRACED_BLOCK_MIN
            }
            None => false,
        }
    }
}

fn mark() -> Phase {
    preparation::idle(ExperimentName::Valleys, "pause".into(), MARK)
}

fn check_blocks(blocks: &[Bytes], request: &ValleysRequest, logical: Bytes) -> Result<(), PlanError> {
    let mut all = Vec::new();
    for block in blocks {
        all.push(("--blocks", *block));
    }
    for condition in &request.condition {
        if let Condition::Sequential(block) = condition {
            all.push(("--condition", *block));
        }
    }
    for (option, block) in all {
        if block == Bytes::ZERO || !block.is_multiple_of(logical) {
            return Err(PlanError::OddBlock { option, block, logical });
        }
        if block > BLOCK_BYTES_MAX {
            return Err(PlanError::BlockTooLarge { option, size: block, most: BLOCK_BYTES_MAX });
        }
    }
    Ok(())
}

fn used(setup: &Setup, request: &ValleysRequest) -> ByteRange {
    let range = setup.range;
    let is_asked =
        request.way == Some(Way::Everything) || !matches!(request.over.as_slice(), [] | [Area::Whole]);
    if is_asked || range.bytes() <= USED_BYTES_MAX {
        return range;
    }
    ByteRange::new(range.first(), USED_BYTES_MAX).unwrap_or(range)
}
