//! The part of `sustain --clip`: random writes to parts of the range until they are steady, the smallest part first.

use crate::preparation::{SEQUENTIAL_BLOCK, SEQUENTIAL_DEPTH, measure, phase};
use crate::{Experiment, Remaining, Setup, Step};
use analysis::clipping::used_parts;
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::share::Share;
use model::units::{Bytes, MIB, Nanos};
use model::workload::{BLOCK_BYTES_MAX, OperationMix, Pattern, Workload};
use std::collections::VecDeque;

/// Random writes as those of the drop, with enough under way for all dies: SNIA's 32.
const BLOCK: Bytes = Bytes::from_kib(128);
const DEPTH: u32 = 32;
/// A part is written at random in batches of this share of it, and no more often than that: SNIA gives up after as much.
const PIECE_SHARE: f64 = 0.1;
const PIECES_MAX: u32 = 50;
/// So many are likely enough: the spare space is used up early, and the last half of the batches has to be even.
const PIECES_LIKELY: u32 = 15;
const PART_MIN: Bytes = Bytes::from_mib(64);
const PIECE_TIME: Nanos = Nanos::from_secs(3600);
/// What is guessed of a rate, in bytes per second.
const RATE: f64 = 100e6;

pub(super) struct Clip {
    setup: Setup,
    ranges: VecDeque<ByteRange>,
    queue: VecDeque<Phase>,
    batches: u32,
}

impl Clip {
    pub fn new(setup: &Setup, shares: &[Share]) -> Option<Clip> {
        let mut sizes = Vec::new();
        for share in shares {
            let part = setup.range.bytes().as_f64() * share.get();
            sizes.push(Bytes::new(part as u64).round_down_to(Bytes::new(MIB)));
        }
        sizes.sort_unstable();
        sizes.dedup();
        let mut ranges = VecDeque::new();
        for size in sizes {
            if size >= PART_MIN {
                ranges.extend(ByteRange::new(setup.range.first(), size));
            }
        }
        if ranges.is_empty() {
            return None;
        }
        let mut clip = Clip { setup: setup.clone(), ranges, queue: VecDeque::new(), batches: 0 };
        if !setup.facts.discard_max.unwrap_or_default().is_zero() {
            clip.queue.push_back(discard(setup.range));
        }
        clip.fill_next();
        Some(clip)
    }

    fn fill_next(&mut self) {
        self.batches = 0;
        let Some(range) = self.ranges.front() else { return };
        let writes = Workload::new(
            *range,
            Pattern::Sequential,
            OperationMix::Write,
            SEQUENTIAL_BLOCK,
            SEQUENTIAL_DEPTH,
        );
        let name = format!("fill {}", range.bytes());
        let (kind, stop) = (PhaseKind::Precondition, StopCondition::one_pass());
        self.queue.push_back(phase(ExperimentName::Sustain, name, kind, writes, stop));
    }

    fn batch(&self, range: ByteRange) -> Phase {
        let writes = Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Write, BLOCK, DEPTH);
        let bytes = Bytes::new((range.bytes().as_f64() * PIECE_SHARE) as u64).round_down_to(BLOCK).max(BLOCK);
        let stop = StopCondition::after(PIECE_TIME).or_bytes(bytes);
        let name = format!("write to {}, batch {}", range.bytes(), self.batches);
        measure(ExperimentName::Sustain, name, writes, stop)
    }

    /// What is written from now on with so many batches in each part.
    fn bytes_left(&self, batches: u32) -> Bytes {
        let per_part = 1.0 + PIECE_SHARE * f64::from(batches);
        let mut bytes = Bytes::ZERO;
        for range in &self.ranges {
            bytes += Bytes::new((range.bytes().as_f64() * per_part) as u64);
        }
        bytes
    }
}

fn taking(bytes: Bytes) -> Nanos {
    Nanos::from_secs_f64(bytes.as_f64() / RATE).unwrap_or(Nanos::MAX)
}

fn discard(range: ByteRange) -> Phase {
    let block = if range.bytes() < BLOCK_BYTES_MAX { SEQUENTIAL_BLOCK } else { BLOCK_BYTES_MAX };
    let discards = Workload::new(range, Pattern::Sequential, OperationMix::Discard, block, 1);
    let stop = StopCondition::one_pass();
    phase(ExperimentName::Sustain, "discard the whole range".into(), PhaseKind::Purge, discards, stop)
}

impl Experiment for Clip {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        loop {
            if self.setup.is_out_of_time(so_far) {
                self.ranges.clear();
                return None;
            }
            if let Some(phase) = self.queue.pop_front() {
                return Some(phase);
            }
            let range = *self.ranges.front()?;
            let is_steady = self.batches > 0
                && matches!(used_parts(so_far).last(), Some(part) if part.steady_rate().is_some());
            if is_steady || self.batches >= PIECES_MAX {
                self.ranges.pop_front();
                self.fill_next();
                continue;
            }
            self.batches += 1;
            return Some(self.batch(range));
        }
    }

    fn remaining(&self) -> Remaining {
        if self.ranges.is_empty() {
            return Remaining::default();
        }
        let bytes = self.bytes_left(PIECES_MAX);
        let likely = taking(self.bytes_left(PIECES_LIKELY));
        let what = format!("random writes to {} spans, each to steady state", self.ranges.len());
        let step = Step::lasting(what, self.ranges.len() as u32 * (PIECES_MAX + 1), taking(bytes));
        let step = Step { likely, slow: likely, writes: Some(bytes), ..step };
        let trims = self.queue.iter().filter(|phase| phase.kind == PhaseKind::Purge).cloned();
        let mut steps = Remaining::of(&trims.collect::<Vec<Phase>>()).steps;
        // A trim carries no data.
        for trim in &mut steps {
            trim.writes = Some(Bytes::ZERO);
        }
        steps.push(step);
        Remaining { steps }
    }
}
