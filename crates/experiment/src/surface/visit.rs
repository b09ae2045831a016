//! A visit: a stretch that is read or written in order, and nothing else, as one phase.

use crate::Setup;
use crate::preparation::{self, random_block, streaming_block, verb};
use model::experiment_name::ExperimentName;
use model::finding::StreamSetting;
use model::plan::{Phase, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

/// Requests in the shortest visit to a drive with moving parts: the first shows when the rest began, and four show a rate.
const REQUESTS_MIN: u64 = 5;
/// A drive without an arm may do all in flight together, and several arms find their places in the first fill: two whole fills at least.
pub const FILLS_MIN: u64 = 2;

/// Requests of a short visit are halved down to this: smaller ones would cost a drive more than they move.
const BLOCK_MIN: Bytes = Bytes::from_kib(512);

/// Visits to the same place count once, and a small drive has too few places that are aligned.
const PLACES_MIN: u64 = 1000;
/// Parts of an edge are as small as that.
const PLACES_OF_PART: u64 = 3;

#[derive(Clone, Debug)]
pub struct Visitor {
    pub range: ByteRange,
    block: Bytes,
    depth: u32,
    grid: Bytes,
    /// Of requests: file systems and a full pass align them, and others read one page group, allocation unit or shard more. A disk does not.
    alignment: Bytes,
    bytes: Bytes,
}

impl Visitor {
    /// For visits of about `bytes` each to a range of the target, which moves parts or does not, with such requests.
    pub fn new(
        setup: &Setup,
        range: ByteRange,
        bytes: Bytes,
        moves_parts: bool,
        setting: StreamSetting,
    ) -> Visitor {
        let mut block = streaming_block(range, setup.facts.logical_block, setting);
        while moves_parts && block > BLOCK_MIN && Bytes::new(block.get() * REQUESTS_MIN) > bytes {
            block = Bytes::new(block.get() / 2);
        }
        let grid = random_block(&setup.facts);
        let depth = setting.queue_depth;
        let fill = block * u64::from(depth);
        let (unit, shortest) = match moves_parts {
            true => (block, block * REQUESTS_MIN),
            false => (fill, fill * FILLS_MIN),
        };
        let longest = range.bytes().round_down_to(block);
        let bytes = bytes.round_down_to(unit).max(shortest).min(longest);
        let alignment = if moves_parts && setup.facts.rotational == Some(true) { grid } else { block };
        Visitor { range, block, depth, grid, alignment, bytes }
    }

    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// A visit from a random place of `part` on; it may end behind it, but not behind the range.
    pub fn place(&self, part: ByteRange, prng: &mut Prng) -> ByteRange {
        let has_room = self.range.bytes() >= self.alignment * PLACES_MIN
            && part.bytes() >= self.alignment * PLACES_OF_PART;
        let step = if has_room { self.alignment } else { self.grid };
        let places = (part.bytes().get() / step.get()).max(1);
        let first = Offset::new(part.first().get() + prng.below(places) * step.get());
        if has_room { self.aligned(first) } else { self.at(first) }
    }

    pub fn aligned(&self, first: Offset) -> ByteRange {
        let last = self.range.end().get() - self.bytes.get();
        let alignment = self.alignment.get();
        self.at(Offset::new(first.get().min(last) / alignment * alignment))
    }

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
            ..Workload::new(stretch, Pattern::Sequential, mix, self.block, self.depth)
        };
        let stop = StopCondition { time: Some(time), ..StopCondition::one_pass() };
        let name = format!("{} {purpose}", verb(mix));
        preparation::measure(ExperimentName::Surface, name, workload, stop)
    }
}
