//! The part of `sustain --clip`: random writes to parts of the range until they are steady, the smallest part first.

use super::NAME;
use crate::experiment::preparation::{SEQUENTIAL_BLOCK, SEQUENTIAL_DEPTH, phase};
use crate::experiment::{Experiment, Outlook, Question, Step};
use analysis::clipping::used_parts;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, MIB, Nanos};
use model::workload::{BLOCK_BYTES_MAX, OperationMix, Pattern, Workload};
use std::collections::VecDeque;

/// Random writes as those of the fall, with enough under way for all dies: SNIA's 32.
const BLOCK: Bytes = Bytes::from_kib(128);
const DEPTH: u32 = 32;
/// A part is written at random in pieces of this share of it, and no more often than that: SNIA gives up after as much.
const PIECE_SHARE: f64 = 0.1;
const PIECES_MAX: u32 = 50;
/// So many are likely enough: the spare space is used up long before it was written once, and the last half of the pieces has to be
/// even.
const PIECES_LIKELY: u32 = 15;
/// A piece that takes longer is cut.
const PIECE_TIME: Nanos = Nanos::from_secs(3600);
/// What is guessed of a rate, in bytes per second.
const RATE: f64 = 100e6;

/// The part.
pub(super) struct Clip {
    question: Question,
    /// In the order in which they are used.
    ranges: VecDeque<ByteRange>,
    /// What comes before the next piece.
    queue: VecDeque<Phase>,
    pieces: u32,
}

impl Clip {
    /// The parts of that range; none when none was asked for.
    pub fn new(question: &Question, shares: &[f64]) -> Option<Clip> {
        let mut bytes: Vec<u64> =
            shares.iter().map(|share| (question.range.bytes().0 as f64 * share) as u64 / MIB * MIB).collect();
        bytes.sort_unstable();
        bytes.dedup();
        let ranges: VecDeque<ByteRange> = bytes
            .into_iter()
            .filter(|bytes| *bytes >= 64 * MIB)
            .filter_map(|bytes| ByteRange::new(question.range.first(), Bytes(bytes)))
            .collect();
        if ranges.is_empty() {
            return None;
        }
        let mut clip = Clip { question: question.clone(), ranges, queue: VecDeque::new(), pieces: 0 };
        if question.facts.discard_max.is_some_and(|most| most.0 > 0) {
            clip.queue.push_back(discard(question.range));
        }
        clip.fill_next();
        Some(clip)
    }

    fn fill_next(&mut self) {
        self.pieces = 0;
        let Some(range) = self.ranges.front() else { return };
        let writes = Workload::new(
            *range,
            Pattern::Sequential,
            OperationMix::Write,
            SEQUENTIAL_BLOCK,
            SEQUENTIAL_DEPTH,
        );
        let name = format!("fill {}", range.bytes());
        let stop = StopCondition::one_pass();
        self.queue.push_back(phase(NAME, name, PhaseKind::Precondition, Some(writes), stop));
    }

    fn piece(&self, range: ByteRange) -> Phase {
        let writes = Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Write, BLOCK, DEPTH);
        let bytes = Bytes((range.bytes().0 as f64 * PIECE_SHARE) as u64).round_down_to(BLOCK).max(BLOCK);
        let stop = StopCondition::after(PIECE_TIME).or_bytes(bytes);
        let name = format!("write to {}, piece {}", range.bytes(), self.pieces);
        phase(NAME, name, PhaseKind::Measure, Some(writes), stop)
    }

    /// What is written from now on with so many pieces in each part.
    fn bytes_left(&self, pieces: u32) -> u64 {
        let per_part = 1.0 + PIECE_SHARE * f64::from(pieces);
        self.ranges.iter().map(|range| (range.bytes().0 as f64 * per_part) as u64).sum()
    }
}

fn discard(range: ByteRange) -> Phase {
    let block = if range.bytes() < BLOCK_BYTES_MAX { SEQUENTIAL_BLOCK } else { BLOCK_BYTES_MAX };
    let discards = Workload::new(range, Pattern::Sequential, OperationMix::Discard, block, 1);
    let stop = StopCondition::one_pass();
    phase(NAME, "trim all of it".into(), PhaseKind::Purge, Some(discards), stop)
}

impl Experiment for Clip {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        loop {
            if self.question.time_limit.is_some_and(|limit| so_far.elapsed() >= limit) {
                self.ranges.clear();
                return None;
            }
            if let Some(phase) = self.queue.pop_front() {
                return Some(phase);
            }
            let range = *self.ranges.front()?;
            let is_steady =
                self.pieces > 0 && used_parts(so_far).last().is_some_and(|part| part.steady_rate().is_some());
            if is_steady || self.pieces >= PIECES_MAX {
                self.ranges.pop_front();
                self.fill_next();
                continue;
            }
            self.pieces += 1;
            return Some(self.piece(range));
        }
    }

    fn outlook(&self) -> Outlook {
        if self.ranges.is_empty() {
            return Outlook::default();
        }
        let bytes = self.bytes_left(PIECES_MAX);
        let taking = |bytes: u64| Nanos::from_secs_f64(bytes as f64 / RATE).unwrap_or(Nanos(u64::MAX));
        let step = Step {
            what: format!("random writes to {} parts of it, each until it is steady", self.ranges.len()),
            phases: self.ranges.len() as u32 * (PIECES_MAX + 1),
            time: taking(bytes),
            likely: taking(self.bytes_left(PIECES_LIKELY)),
            slow: taking(self.bytes_left(PIECES_LIKELY)),
            reads: Some(Bytes::ZERO),
            writes: Some(Bytes(bytes)),
        };
        let trims = self.queue.iter().filter(|phase| phase.kind == PhaseKind::Purge).cloned();
        let mut steps = Outlook::of(&trims.collect::<Vec<Phase>>()).steps;
        // A trim carries no data.
        steps.iter_mut().for_each(|trim| trim.writes = Some(Bytes::ZERO));
        steps.push(step);
        Outlook { steps }
    }
}
