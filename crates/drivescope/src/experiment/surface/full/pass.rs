//! One pass over a range, every block of it once: what is done, and what comes next. It is a function of the phases that
//! were run, so that a pass that was interrupted goes on where it was.

use super::bad_stretch::{BadStretch, Move};
use super::coverage::Coverage;
use super::slow_stretch::{SlowSearch, SlowStretch};
use crate::experiment::preparation::random_block;
use model::plan::{PhaseKind, StopReason};
use model::range::ByteRange;
use model::run::{PhaseSummary, RunView};
use model::target::TargetFacts;
use model::units::{Bytes, GIB, MIB, Nanos, Offset};
use model::workload::OperationMix;
use std::collections::VecDeque;

/// The size of requests.
const BLOCK: Bytes = Bytes::from_mib(1);
/// Phases of a pass, about: each costs a millisecond, and a few hundred bytes of the run's facts.
const PARTS_MAX: u64 = 3500;
/// A part is no smaller, if the range is not.
const PART_BYTES_MIN: u64 = GIB;
/// On a fast drive several parts are one phase, so that it takes about so long.
const PHASE_TIME: Nanos = Nanos::from_secs(5);
const PARTS_PER_PHASE_MAX: u64 = 64;
/// A phase that takes longer than this, and much longer than the rate so far explains, is cut there: a drive that tries
/// for half a minute at each block would be at it for hours.
const PHASE_TIME_MAX: Nanos = Nanos::from_secs(120);
const PHASE_TIME_FACTOR: f64 = 3.0;
/// A sample or a closer look takes no longer.
const LOOK_TIME: Nanos = Nanos::from_secs(60);
/// Bad blocks that are looked at more closely.
const LOOKS_MAX: usize = 32;
/// Slow stretches that are measured again, how often, and how much of each. A quiet drive is taken to be slow by chance with a
/// probability of 0.5 / 21 for each look, and each stretch has been looked at twice: three more rounds than the first leave 64 looks
/// a chance of 0.1 % that any of them is wrong.
const SLOW_MAX: usize = 32;
const SLOW_ROUNDS: u32 = 4;
const AGAIN_BYTES_MAX: u64 = GIB;
/// Before and behind a slow stretch as much again is measured, so that it can be compared with its neighbourhood.
const AGAIN_MARGIN_BYTES: u64 = 16 * MIB;

/// What is read between two rounds, and at how many places it is looked for.
const BESIDE_BYTES: Bytes = Bytes::from_mib(64);
const BESIDE_PLACES: u64 = 64;

/// What is asked of the drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// What for.
    pub purpose: Purpose,
    /// Where.
    pub range: ByteRange,
    /// The size of requests; it divides the range.
    pub block: Bytes,
    /// When it is cut.
    pub time: Nanos,
}

/// What a task is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A part of the pass.
    Part,
    /// Whether it is still bad here.
    Sample,
    /// Which blocks of a request that failed are bad.
    Look,
    /// A slow stretch, again.
    Again {
        /// Which, counted from 1.
        number: u32,
        /// Of how many.
        count: u32,
        /// For which time, counted from 1.
        round: u32,
    },
    /// A sound stretch between two rounds of slow ones: what is slow for a while is slow there too.
    Beside,
}

/// A pass.
#[derive(Clone, Debug)]
pub struct Pass {
    range: ByteRange,
    /// Kind and mix tell its phases from those of another pass.
    kind: PhaseKind,
    mix: OperationMix,
    block: Bytes,
    small_block: Bytes,
    /// The part of the range that holds whole blocks, on their grid.
    body: ByteRange,
    part_bytes: u64,
    /// Phases of the run that were looked at.
    seen: usize,
    /// What was asked for and answered, well or not, or was passed over.
    done: Coverage,
    bad: Option<BadStretch>,
    bad_count: u32,
    looks: VecDeque<ByteRange>,
    looks_planned: usize,
    /// Phases that were parts of the pass, for the search for slow stretches.
    parts: Vec<(u32, Offset)>,
    again: Option<VecDeque<(Purpose, ByteRange)>>,
    moved: Bytes,
    spent: Nanos,
    /// What was asked for last and not answered yet.
    under_way: Coverage,
}

impl Pass {
    /// A pass over a range of a target, whose phases are of that kind and do that.
    pub fn new(facts: &TargetFacts, range: ByteRange, kind: PhaseKind, mix: OperationMix) -> Pass {
        let block = BLOCK.max(facts.logical_block).min(range.bytes());
        let block = block.round_down_to(facts.logical_block).max(facts.logical_block);
        let part = (range.bytes().0 / PARTS_MAX).max(PART_BYTES_MIN);
        Pass {
            range,
            kind,
            mix,
            block,
            small_block: random_block(facts).min(block),
            body: range.align_inward(block),
            part_bytes: part.div_ceil(block.0) * block.0,
            seen: 0,
            done: Coverage::default(),
            bad: None,
            bad_count: 0,
            looks: VecDeque::new(),
            looks_planned: 0,
            parts: Vec::new(),
            again: None,
            moved: Bytes::ZERO,
            spent: Nanos::ZERO,
            under_way: Coverage::default(),
        }
    }

    /// What comes next; none when the pass is done.
    pub fn next_task(&mut self, so_far: &RunView<'_>) -> Option<Task> {
        for number in self.seen..so_far.phases.len() {
            self.take(number as u32, so_far);
        }
        self.seen = so_far.phases.len();
        self.task(so_far)
    }

    /// Notes that a task is under way, and no more ahead.
    pub fn begin(&mut self, task: &Task) {
        self.under_way = self.done.clone();
        self.under_way.add(task.range);
    }

    /// Notes that nothing is under way.
    pub fn end(&mut self) {
        self.under_way = Coverage::default();
    }

    fn ahead(&self) -> &Coverage {
        if self.under_way == Coverage::default() { &self.done } else { &self.under_way }
    }

    /// Takes in a phase that was run.
    fn take(&mut self, number: u32, so_far: &RunView<'_>) {
        let summary = &so_far.phases[number as usize];
        let workload = summary.phase.workload.as_ref();
        let is_own = |mix| summary.phase.kind == self.kind && mix == self.mix;
        let Some(workload) = workload.filter(|workload| is_own(workload.mix)) else { return };
        let (range, stopped) = (workload.range, summary.stopped);
        // What was under way when the program was killed or the device went away is done again.
        let Some(stopped) = stopped.filter(|why| *why != StopReason::DeviceGone) else { return };
        let asked = self.task(so_far).filter(|task| task.range.first() == range.first());
        match asked.map(|task| task.purpose) {
            Some(Purpose::Sample) => self.take_sample(range, summary),
            Some(Purpose::Look) => drop(self.looks.pop_front()),
            Some(Purpose::Again { .. } | Purpose::Beside) if stopped == StopReason::Interrupted => {}
            Some(Purpose::Again { .. } | Purpose::Beside) => {
                self.again.as_mut().and_then(VecDeque::pop_front);
            }
            Some(Purpose::Part) | None => self.take_part(number, range, so_far),
        }
    }

    fn take_part(&mut self, number: u32, range: ByteRange, so_far: &RunView<'_>) {
        let summary = &so_far.phases[number as usize];
        let answered = answered(summary, range);
        self.done.add(answered);
        self.parts.push((number, range.first()));
        self.moved = self.moved + Bytes(summary.bytes());
        self.spent = self.spent + Nanos(summary.duration_ns);
        if summary.errors() == 0 {
            return;
        }
        self.plan_looks(number, so_far);
        let gave_up = matches!(summary.stopped, Some(StopReason::Errors | StopReason::Time));
        if gave_up && answered.end() < self.body.end() && self.body.contains(&range) {
            self.bad = Some(BadStretch::new(answered.end(), self.body.end(), self.block, self.bad_count));
            self.bad_count += 1;
        }
    }

    fn take_sample(&mut self, range: ByteRange, summary: &PhaseSummary) {
        if summary.stopped == Some(StopReason::Interrupted) {
            return;
        }
        let answered = answered(summary, range);
        self.done.add(answered);
        let is_good = summary.errors() == 0 && answered == range;
        if let Some(bad) = &mut self.bad {
            bad.sampled(range, is_good);
        }
    }

    /// The first and the last of the requests that failed next to each other.
    fn plan_looks(&mut self, phase: u32, so_far: &RunView<'_>) {
        if self.small_block == self.block {
            return;
        }
        let mut failed: Vec<ByteRange> = so_far
            .series
            .errors(phase)
            // Where data are wrong is known to the block already.
            .filter(|error| !error.status.is_wrong_data())
            .filter_map(|error| {
                ByteRange::new(Offset(error.offset_bytes), Bytes(u64::from(error.length_bytes)))
            })
            .filter(|request| self.body.contains(request))
            .collect();
        failed.sort_by_key(|request| request.first());
        for (index, request) in failed.iter().enumerate() {
            let follows = index > 0 && failed[index - 1].end() == request.first();
            let goes_on = failed.get(index + 1).is_some_and(|next| next.first() == request.end());
            if self.looks_planned < LOOKS_MAX && !(follows && goes_on) {
                self.looks_planned += 1;
                self.looks.push_back(*request);
            }
        }
    }

    fn task(&mut self, so_far: &RunView<'_>) -> Option<Task> {
        while let Some(bad) = &self.bad {
            match bad.next_move() {
                Move::Sample(range) => return Some(self.small_task(Purpose::Sample, range, self.block)),
                Move::PassOver(range) => {
                    self.done.add(range);
                    self.bad = None;
                }
            }
        }
        if let Some(gap) = self.done.first_gap(self.range) {
            return Some(self.part_in(gap));
        }
        if let Some(&range) = self.looks.front() {
            return Some(self.small_task(Purpose::Look, range, self.small_block));
        }
        if self.again.is_none() {
            self.again =
                Some(if self.kind == PhaseKind::Measure { self.plan_again(so_far) } else { VecDeque::new() });
        }
        let &(purpose, range) = self.again.as_ref()?.front()?;
        Some(Task { purpose, range, block: self.block, time: self.time_for(range.bytes()) })
    }

    /// A phase at the start of a gap: as much as takes some seconds, up to a border of parts.
    fn part_in(&self, gap: ByteRange) -> Task {
        let first = gap.first().0;
        let border = if first < self.body.first().0 || self.body.is_empty() {
            self.body.first().0
        } else if first >= self.body.end().0 {
            self.range.end().0
        } else {
            let part = (first - self.body.first().0) / self.part_bytes + self.parts_per_phase();
            (self.body.first().0 + part * self.part_bytes).min(self.body.end().0)
        };
        let border = if border <= first { self.range.end().0 } else { border };
        let bytes = Bytes(gap.end().0.min(border) - first);
        let range = ByteRange::new(gap.first(), bytes).expect("a part of a gap lies inside it");
        // Before and behind the whole blocks there is less than one.
        let block = if bytes.is_multiple_of(self.block) { self.block } else { bytes };
        Task { purpose: Purpose::Part, range, block, time: self.time_for(bytes) }
    }

    fn small_task(&self, purpose: Purpose, range: ByteRange, block: Bytes) -> Task {
        Task { purpose, range, block, time: LOOK_TIME }
    }

    fn parts_per_phase(&self) -> u64 {
        let usual = self.bytes_per_second().unwrap_or(0.0) * PHASE_TIME.seconds() / self.part_bytes as f64;
        (usual as u64).clamp(1, PARTS_PER_PHASE_MAX)
    }

    fn time_for(&self, bytes: Bytes) -> Nanos {
        let expected = self.bytes_per_second().filter(|rate| *rate > 0.0);
        let expected =
            expected.and_then(|rate| Nanos::from_secs_f64(bytes.0 as f64 / rate * PHASE_TIME_FACTOR));
        expected.unwrap_or_default().max(PHASE_TIME_MAX)
    }

    /// What was slow, round after round: in order, and then the other way round, so that each place has other times; between them something that
    /// was not slow, without which nobody could tell a slow place from a slow time.
    fn plan_again(&self, so_far: &RunView<'_>) -> VecDeque<(Purpose, ByteRange)> {
        let slow = self.slow_stretches(so_far);
        let count = slow.len() as u32;
        let mut planned = VecDeque::new();
        for round in 1..=SLOW_ROUNDS {
            let mut numbered: Vec<(u32, ByteRange)> =
                (1..).zip(slow.iter().map(|stretch| self.around(stretch.range))).collect();
            if round % 2 == 0 {
                numbered.reverse();
            }
            if round > 1 && !slow.is_empty() {
                planned.extend(self.beside(&slow).map(|range| (Purpose::Beside, range)));
            }
            planned.extend(
                numbered.into_iter().map(|(number, range)| (Purpose::Again { number, count, round }, range)),
            );
        }
        planned
    }

    /// A stretch that was not slow, as near to the middle as there is one; none where there is nothing to compare.
    fn beside(&self, slow: &[SlowStretch]) -> Option<ByteRange> {
        let bytes = BESIDE_BYTES.min(self.body.bytes()).0 / self.block.0 * self.block.0;
        let around: Vec<ByteRange> = slow.iter().map(|stretch| self.around(stretch.range)).collect();
        let step = (self.body.bytes().0 / BESIDE_PLACES).max(1);
        let at = |number: u64| {
            let offset = (self.body.bytes().0 / 2 + number * step) % self.body.bytes().0;
            let first =
                self.body.first().0 + offset.min(self.body.bytes().0 - bytes) / self.block.0 * self.block.0;
            ByteRange::new(Offset(first), Bytes(bytes))
        };
        let is_apart = |range: &ByteRange| {
            let misses = |slow: &ByteRange| slow.end() <= range.first() || range.end() <= slow.first();
            around.iter().all(misses)
        };
        (0..BESIDE_PLACES).filter_map(at).find(is_apart).filter(|range| range.bytes().0 > 0)
    }

    fn slow_stretches(&self, so_far: &RunView<'_>) -> Vec<SlowStretch> {
        let mut parts = self.parts.clone();
        parts.sort_by_key(|(number, first)| (*first, *number));
        let mut search = SlowSearch::default();
        for (number, _) in parts {
            so_far.series.intervals(number).for_each(|slice| search.add(&slice));
            search.end_phase();
        }
        search.finish(SLOW_MAX)
    }

    /// A slow stretch with what is beside it, in whole blocks; of a long one the first part.
    fn around(&self, slow: ByteRange) -> ByteRange {
        let bytes = slow.bytes().0.min(AGAIN_BYTES_MAX);
        let first = slow.first().0.saturating_sub(AGAIN_MARGIN_BYTES).max(self.body.first().0);
        let first = self.body.first().0 + (first - self.body.first().0) / self.block.0 * self.block.0;
        let end = (slow.first().0 + bytes).saturating_add(AGAIN_MARGIN_BYTES).min(self.body.end().0);
        let blocks = end.saturating_sub(first).div_ceil(self.block.0).max(1);
        let first = first.min(self.body.end().0 - self.block.0);
        let bytes = (blocks * self.block.0).min(self.body.end().0 - first);
        ByteRange::new(Offset(first), Bytes(bytes)).expect("it lies inside the range")
    }

    /// The rate of the pass so far; none before anything was moved.
    pub fn bytes_per_second(&self) -> Option<f64> {
        (self.moved.0 > 0).then(|| self.moved.per(self.spent)).flatten().map(|rate| rate.0)
    }

    /// What was moved, and how long that took.
    pub fn moved(&self) -> (Bytes, Nanos) {
        (self.moved, self.spent)
    }

    /// What its phases are for.
    pub fn kind(&self) -> PhaseKind {
        self.kind
    }

    /// What its phases do.
    pub fn mix(&self) -> OperationMix {
        self.mix
    }

    /// The range it goes over.
    pub fn range(&self) -> ByteRange {
        self.range
    }

    /// The stretches still to go through.
    pub fn gaps(&self) -> impl Iterator<Item = ByteRange> + '_ {
        self.ahead().gaps(self.range)
    }

    /// How much there is still to go through.
    pub fn bytes_left(&self) -> Bytes {
        self.ahead().missing(self.range)
    }

    /// How many phases there still are in the pass itself, at the rate so far.
    pub fn parts_left(&self) -> u32 {
        let bytes = self.part_bytes.saturating_mul(self.parts_per_phase());
        self.gaps().map(|gap| gap.bytes().0.div_ceil(bytes) as u32).sum()
    }

    /// What is still to be measured again, as far as it is known.
    pub fn again(&self) -> impl Iterator<Item = ByteRange> + '_ {
        self.again.iter().flatten().map(|(_, range)| *range)
    }
}

/// From the start of a phase's range, what was asked for and answered. Requests come in order, and every one that was
/// made is answered before the phase ends: it may be too late to be counted, but the earlier ones are as many as count.
fn answered(summary: &PhaseSummary, range: ByteRange) -> ByteRange {
    let block =
        summary.phase.workload.as_ref().map_or(Bytes::ZERO, |workload| workload.block_sizes.largest());
    let requests = summary.operations() + summary.errors();
    let bytes = match summary.stopped {
        Some(StopReason::Passes) => range.bytes(),
        _ => block.checked_mul(requests).unwrap_or(range.bytes()).min(range.bytes()),
    };
    ByteRange::new(range.first(), bytes).expect("a part of a range lies inside it")
}
