//! A visit: a stretch that is read or written in order, and nothing else, as one phase.

use crate::Setup;
use crate::preparation::{self, SEQUENTIAL_DEPTH, random_block, sequential_block, verb};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

const DEPTH: u64 = SEQUENTIAL_DEPTH as u64;
/// Requests in the shortest visit to a drive with moving parts: the first shows when the rest began, and the others are what is
/// under way at once.
const REQUESTS_MIN: u64 = 1 + DEPTH;
/// A drive without may do all that are under way together: a visit is then whole fills of the queue, two at least, or its last
/// request would take the time of four.
const FILLS_MIN: u64 = 2;

/// Requests of a short visit are halved down to this: smaller ones would cost a drive more than they move.
const BLOCK_MIN: Bytes = Bytes::from_kib(512);

#[derive(Clone, Debug)]
pub struct Visitor {
    pub range: ByteRange,
    block: Bytes,
    grid: Bytes,
    bytes: Bytes,
}

impl Visitor {
    /// For visits of about `bytes` each to a range of the target, which moves parts or does not.
    pub fn new(setup: &Setup, range: ByteRange, bytes: Bytes, moves_parts: bool) -> Visitor {
        let mut block = sequential_block(range, setup.facts.logical_block);
        while moves_parts && block > BLOCK_MIN && Bytes::new(block.get() * REQUESTS_MIN) > bytes {
            block = Bytes::new(block.get() / 2);
        }
        let grid = random_block(&setup.facts);
        let (unit, shortest) = match moves_parts {
            true => (block, REQUESTS_MIN * block.get()),
            false => (Bytes::new(DEPTH * block.get()), FILLS_MIN * DEPTH * block.get()),
        };
        let longest = range.bytes().round_down_to(block);
        let bytes = bytes.round_down_to(unit).max(Bytes::new(shortest)).min(longest);
        Visitor { range, block, grid, bytes }
    }

    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// A visit from a random place of `part` on; it may end behind it, but not behind the range.
    pub fn place(&self, part: ByteRange, prng: &mut Prng) -> ByteRange {
        let places = (part.bytes().get() / self.grid.get()).max(1);
        let first = part.first().get() + prng.below(places) * self.grid.get();
        self.at(Offset::new(first))
    }

    /// A visit from about `first` on.
    pub fn at(&self, first: Offset) -> ByteRange {
        let last = self.range.end().get() - self.bytes.get();
        let inside = first.get().clamp(self.range.first().get(), last) - self.range.first().get();
        let aligned = Offset::new(self.range.first().get() + inside / self.grid.get() * self.grid.get());
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
        preparation::phase(ExperimentName::Surface, name, PhaseKind::Measure, Some(workload), stop)
    }
}
