//! A visit: a stretch that is read or written in order, and nothing else, as one phase.

use super::NAME;
use crate::experiment::Question;
use crate::experiment::preparation::{self, SEQUENTIAL_DEPTH, random_block, sequential_block, verb};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

/// Requests under way at once.
const DEPTH: u64 = SEQUENTIAL_DEPTH as u64;
/// Requests in the shortest visit to a drive with moving parts: the first shows when the rest began, and the others are what is
/// under way at once.
const REQUESTS_MIN: u64 = 1 + DEPTH;
/// A drive without may do all that are under way together: a visit is then whole fills of the queue, two at least, or its last
/// request would take the time of four.
const FILLS_MIN: u64 = 2;

/// Requests of a short visit are halved down to this: smaller ones would cost a drive more than they move.
const BLOCK_MIN: Bytes = Bytes::from_kib(512);

/// Makes visits to a range.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// Where visits lie.
    pub range: ByteRange,
    block: Bytes,
    grid: Bytes,
    bytes: Bytes,
}

impl Visitor {
    /// For visits of about `bytes` each to a range of the target, which moves parts or does not.
    pub fn new(question: &Question, range: ByteRange, bytes: Bytes, moves_parts: bool) -> Visitor {
        let mut block = sequential_block(range, question.facts.logical_block);
        while moves_parts && block > BLOCK_MIN && Bytes(block.0 * REQUESTS_MIN) > bytes {
            block = Bytes(block.0 / 2);
        }
        let grid = random_block(&question.facts);
        let (unit, shortest) = match moves_parts {
            true => (block, REQUESTS_MIN * block.0),
            false => (Bytes(DEPTH * block.0), FILLS_MIN * DEPTH * block.0),
        };
        let longest = range.bytes().round_down_to(block);
        let bytes = bytes.round_down_to(unit).max(Bytes(shortest)).min(longest);
        Visitor { range, block, grid, bytes }
    }

    /// What a visit covers.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// A visit from a random place of `part` on; it may end behind it, but not behind the range.
    pub fn place(&self, part: ByteRange, prng: &mut Prng) -> ByteRange {
        let places = (part.bytes().0 / self.grid.0).max(1);
        let first = part.first().0 + prng.below(places) * self.grid.0;
        self.at(Offset(first))
    }

    /// A visit from about `first` on.
    pub fn at(&self, first: Offset) -> ByteRange {
        let last = self.range.end().0 - self.bytes.0;
        let inside = first.0.clamp(self.range.first().0, last) - self.range.first().0;
        let aligned = Offset(self.range.first().0 + inside / self.grid.0 * self.grid.0);
        ByteRange::new(aligned, self.bytes).expect("a visit lies inside its range")
    }

    /// The phase of a visit to `stretch`, which ends after `time` even if the drive is not through with it.
    pub fn phase(&self, mix: OperationMix, stretch: ByteRange, time: Nanos, purpose: &str) -> Phase {
        let workload = Workload {
            alignment: self.grid,
            ..Workload::new(stretch, Pattern::Sequential, mix, self.block, SEQUENTIAL_DEPTH)
        };
        let stop = StopCondition { time: Some(time), ..StopCondition::one_pass() };
        let name = format!("{} {purpose}", verb(mix));
        preparation::phase(NAME, name, PhaseKind::Measure, Some(workload), stop)
    }
}
