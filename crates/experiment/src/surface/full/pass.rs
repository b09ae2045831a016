//! One pass over a range, every block once: what is done, and what comes next, as a function of the phases so far.

use super::bad_stretch::{BadStretch, Move};
use super::coverage::Coverage;
use super::slow_stretch::{SlowSearch, SlowStretch};
use crate::preparation::random_block;
use model::plan::{PhaseKind, StopReason};
use model::range::ByteRange;
use model::run::{PhaseSummary, RunView};
use model::target::TargetFacts;
use model::units::{Bytes, BytesPerSecond, Nanos, Offset};
use model::workload::OperationMix;
use std::collections::VecDeque;

const BLOCK: Bytes = Bytes::from_mib(1);
/// Phases of a pass, about: each costs a millisecond, and a few hundred bytes of the run's facts.
const PARTS_MAX: u64 = 3500;
/// A part is no smaller, if the range is not.
const PART_BYTES_MIN: Bytes = Bytes::from_gib(1);
/// On a fast drive several parts are one phase, so that it takes about so long.
const PHASE_TIME: Nanos = Nanos::from_secs(5);
const PARTS_PER_PHASE_MAX: u64 = 64;
/// A phase that takes longer than this and much longer than expected is cut: half a minute for each block takes hours.
const PHASE_TIME_MAX: Nanos = Nanos::from_secs(120);
const PHASE_TIME_FACTOR: f64 = 3.0;
/// A sample or a closer look takes no longer.
const LOOK_TIME: Nanos = Nanos::from_secs(60);
const LOOKS_MAX: usize = 32;
/// Slow stretches that are measured again, how often, and how much of each. A quiet drive is slow by chance with a probability of
/// 0.5 / 21 for each look: three more rounds leave a chance of 0.1 % that any of 64 looks is wrong.
const SLOW_MAX: usize = 32;
const SLOW_ROUNDS: u32 = 4;
const AGAIN_BYTES_MAX: Bytes = Bytes::from_gib(1);
/// Before and behind a slow stretch as much again is measured, so that it can be compared with its neighbourhood.
const AGAIN_MARGIN: Bytes = Bytes::from_mib(16);

/// What is read between two rounds, and at how many places it is looked for.
const BESIDE_BYTES: Bytes = Bytes::from_mib(64);
const BESIDE_PLACES: u64 = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub purpose: Purpose,
    pub range: ByteRange,
    pub block: Bytes,
    pub time: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Part,
    Sample,
    /// Which blocks of a request that failed are bad.
    Look,
    Again {
        number: u32,
        count: u32,
        round: u32,
    },
    /// A sound stretch between two rounds of slow ones: what is slow for a while is slow there too.
    Beside,
}

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
    part_bytes: Bytes,
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
    under_way: Coverage,
}

impl Pass {
    /// A pass over a range of a target, whose phases are of that kind and do that.
    pub fn new(facts: &TargetFacts, range: ByteRange, kind: PhaseKind, mix: OperationMix) -> Pass {
        let block = BLOCK.max(facts.logical_block).min(range.bytes());
        let block = block.round_down_to(facts.logical_block).max(facts.logical_block);
        let part = (range.bytes() / PARTS_MAX).max(PART_BYTES_MIN);
        Pass {
            range,
            kind,
            mix,
            block,
            small_block: random_block(facts).min(block),
            body: range.align_inward(block),
            part_bytes: part.round_up_to(block),
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

    pub fn next_task(&mut self, so_far: &RunView<'_>) -> Option<Task> {
        for number in self.seen..so_far.phases.len() {
            self.take(number as u32, so_far);
        }
        self.seen = so_far.phases.len();
        self.task(so_far)
    }

    pub fn begin(&mut self, task: &Task) {
        self.under_way = self.done.clone();
        self.under_way.add(task.range);
    }

    pub fn end(&mut self) {
        self.under_way = Coverage::default();
    }

    fn ahead(&self) -> &Coverage {
        if self.under_way == Coverage::default() { &self.done } else { &self.under_way }
    }

    fn take(&mut self, number: u32, so_far: &RunView<'_>) {
        let summary = &so_far.phases[number as usize];
        let Some(workload) = &summary.phase.workload else { return };
        // What was under way when the program was killed or the device went away is done again.
        let stopped = match summary.stopped {
            None | Some(StopReason::DeviceGone) => return,
            Some(stopped) => stopped,
        };
        if summary.phase.kind != self.kind || workload.mix != self.mix {
            return;
        }
        let range = workload.range;
        let purpose = match self.task(so_far) {
            Some(task) if task.range.first() == range.first() => Some(task.purpose),
            _ => None,
        };
        match purpose {
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
        self.moved += Bytes::new(summary.bytes());
        self.spent += Nanos::new(summary.duration_ns);
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

    fn plan_looks(&mut self, phase: u32, so_far: &RunView<'_>) {
        if self.small_block == self.block {
            return;
        }
        let mut failed = Vec::new();
        for error in so_far.series.errors(phase) {
            let request = ByteRange::from_bytes(error.offset_bytes, u64::from(error.length_bytes));
            // Where data are wrong is known to the block already.
            if let (false, Some(request)) = (error.status.is_wrong_data(), request)
                && self.body.contains(&request)
            {
                failed.push(request);
            }
        }
        failed.sort_by_key(ByteRange::first);
        for (index, request) in failed.iter().enumerate() {
            let follows = index > 0 && failed[index - 1].end() == request.first();
            let goes_on = index + 1 < failed.len() && failed[index + 1].first() == request.end();
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
        let first = gap.first();
        let border = if first < self.body.first() || self.body.is_empty() {
            self.body.first()
        } else if first >= self.body.end() {
            self.range.end()
        } else {
            let part = (first - self.body.first()) / self.part_bytes + self.parts_per_phase();
            let border =
                self.part_bytes.checked_mul(part).and_then(|ahead| self.body.first().checked_add(ahead));
            border.unwrap_or(self.body.end()).min(self.body.end())
        };
        let border = if border <= first { self.range.end() } else { border };
        let bytes = gap.end().min(border) - first;
        let range = ByteRange::new(gap.first(), bytes).expect("a part of a gap lies inside it");
        // Before and behind the whole blocks there is less than one.
        let block = if bytes.is_multiple_of(self.block) { self.block } else { bytes };
        Task { purpose: Purpose::Part, range, block, time: self.time_for(bytes) }
    }

    fn small_task(&self, purpose: Purpose, range: ByteRange, block: Bytes) -> Task {
        Task { purpose, range, block, time: LOOK_TIME }
    }

    fn parts_per_phase(&self) -> u64 {
        let rate = self.rate().unwrap_or(BytesPerSecond::new(0.0));
        let usual = rate.get() * PHASE_TIME.seconds() / self.part_bytes.as_f64();
        (usual as u64).clamp(1, PARTS_PER_PHASE_MAX)
    }

    fn time_for(&self, bytes: Bytes) -> Nanos {
        let expected = match self.rate() {
            Some(rate) if rate.get() > 0.0 => {
                Nanos::from_secs_f64(rate.seconds_for(bytes) * PHASE_TIME_FACTOR)
            }
            _ => None,
        };
        expected.unwrap_or_default().max(PHASE_TIME_MAX)
    }

    /// What was slow, round after round: in order, and then the other way round, so that each place has other times; between them something that
    /// was not slow, without which nobody could tell a slow place from a slow time.
    fn plan_again(&self, so_far: &RunView<'_>) -> VecDeque<(Purpose, ByteRange)> {
        let slow: Vec<ByteRange> =
            self.slow_stretches(so_far).iter().map(|stretch| self.around(stretch.range)).collect();
        let count = slow.len() as u32;
        let mut planned = VecDeque::new();
        for round in 1..=SLOW_ROUNDS {
            let mut numbered: Vec<(u32, &ByteRange)> = (1..).zip(&slow).collect();
            if round % 2 == 0 {
                numbered.reverse();
            }
            if round > 1
                && !slow.is_empty()
                && let Some(range) = self.beside(&slow)
            {
                planned.push_back((Purpose::Beside, range));
            }
            for (number, range) in numbered {
                planned.push_back((Purpose::Again { number, count, round }, *range));
            }
        }
        planned
    }

    /// A stretch that was not slow, as near to the middle as there is one; none where there is nothing to compare.
    fn beside(&self, slow: &[ByteRange]) -> Option<ByteRange> {
        let body = self.body.bytes();
        let bytes = BESIDE_BYTES.min(body).round_down_to(self.block);
        if bytes.is_zero() {
            return None;
        }
        let step = (body / BESIDE_PLACES).max(Bytes::new(1));
        for number in 0..BESIDE_PLACES {
            let offset = (body / 2 + step * number) % body;
            let first = self.body.first() + offset.min(body - bytes).round_down_to(self.block);
            let range = ByteRange::new(first, bytes)?;
            if !slow.iter().any(|slow| slow.overlaps(&range)) {
                return Some(range);
            }
        }
        None
    }

    fn slow_stretches(&self, so_far: &RunView<'_>) -> Vec<SlowStretch> {
        let mut parts = self.parts.clone();
        parts.sort_by_key(|(number, first)| (*first, *number));
        let mut search = SlowSearch::default();
        for (number, _) in parts {
            for slice in so_far.series.intervals(number) {
                search.add(&slice);
            }
            search.end_phase();
        }
        search.finish(SLOW_MAX)
    }

    /// A slow stretch with what is beside it, in whole blocks; of a long one the first part.
    fn around(&self, slow: ByteRange) -> ByteRange {
        let (body, block) = (self.body, self.block);
        let from = slow.first().checked_sub(AGAIN_MARGIN).unwrap_or_default().max(body.first());
        let end = slow.first() + slow.bytes().min(AGAIN_BYTES_MAX) + AGAIN_MARGIN;
        let first = (body.first() + (from - body.first()).round_down_to(block)).min(body.end() - block);
        let bytes = first.distance(end.min(body.end()).max(first)).round_up_to(block).max(block);
        ByteRange::new(first, bytes.min(body.end() - first)).expect("it lies inside the range")
    }

    pub fn rate(&self) -> Option<BytesPerSecond> {
        if self.moved.is_zero() { None } else { self.moved.per(self.spent) }
    }

    pub fn moved(&self) -> (Bytes, Nanos) {
        (self.moved, self.spent)
    }

    pub fn kind(&self) -> PhaseKind {
        self.kind
    }

    pub fn mix(&self) -> OperationMix {
        self.mix
    }

    pub fn range(&self) -> ByteRange {
        self.range
    }

    pub fn gaps(&self) -> impl Iterator<Item = ByteRange> + '_ {
        self.ahead().gaps(self.range)
    }

    pub fn bytes_left(&self) -> Bytes {
        self.ahead().missing(self.range)
    }

    pub fn parts_left(&self) -> u32 {
        let mut parts = 0;
        for gap in self.gaps() {
            parts += gap.bytes().get().div_ceil(self.part_bytes.get().saturating_mul(self.parts_per_phase()))
                as u32;
        }
        parts
    }

    pub fn again(&self) -> impl Iterator<Item = ByteRange> + '_ {
        self.again.iter().flatten().map(|(_, range)| *range)
    }
}

/// From the start of a phase's range, what was asked for and answered. Requests come in order, and every one that was
/// made is answered before the phase ends: it may be too late to be counted, but the earlier ones are as many as count.
fn answered(summary: &PhaseSummary, range: ByteRange) -> ByteRange {
    let requests = summary.operations() + summary.errors();
    let bytes = match (summary.stopped, &summary.phase.workload) {
        (Some(StopReason::Passes), _) => range.bytes(),
        (_, Some(workload)) => match workload.block_sizes.largest().checked_mul(requests) {
            Some(bytes) => bytes.min(range.bytes()),
            None => range.bytes(),
        },
        (_, None) => Bytes::ZERO,
    };
    ByteRange::new(range.first(), bytes).expect("a part of a range lies inside it")
}
