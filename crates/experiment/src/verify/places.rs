//! Where the quick test looks: a start that is marked without a gap, and places in the rest.

use crate::Setup;
use crate::error::PlanError;
use crate::preparation::{SEQUENTIAL_BLOCK, random_block};
use model::experiment_name::ExperimentName;
use model::prng::Prng;
use model::range::ByteRange;
use model::units::{Bytes, MIB, Offset};

/// Requests under way at single places: a disk sorts them, flash serves them side by side.
pub(super) const DEPTH: u32 = 16;
/// The start is this part of the range, so that about as many reads look for it further on.
const START_PART: u64 = 1024;
/// But no less than this, which is quick on any drive.
const START_MIN: u64 = 32 * MIB;
const START_MAX: u64 = 512 * MIB;
/// Blocks of a hunting read: several in a row tell an end from a stray write.
const HUNTED_BLOCKS: u64 = 4;
/// Places drawn in the rest, each in its stratum: with all of them right, at most 0.6 % of the rest is wrong (rule of three).
const DRAWN: u64 = 500;
/// The most places of one run: those drawn, and those of each time the end is closed in on.
pub(super) const COUNT_MAX: u64 = DRAWN + 2 + 11 * 64;
const STREAM: u64 = u64::from_le_bytes(*b"verifies");

#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub range: ByteRange,
    pub start: ByteRange,
    pub block: Bytes,
    pub grid: Bytes,
}

impl Places {
    pub fn new(setup: &Setup) -> Result<Places, PlanError> {
        let grid = setup.facts.logical_block;
        let block = random_block(&setup.facts);
        let range = setup.range.align_inward(block);
        let room = range.bytes().get() / (4 * block.get());
        if room < HUNTED_BLOCKS {
            let needs = block * 4 * HUNTED_BLOCKS;
            return Err(PlanError::RangeTooSmall {
                experiment: ExperimentName::Verify,
                holds: setup.range.bytes(),
                needs,
            });
        }
        let wanted = (range.bytes().get() / START_PART).clamp(START_MIN, START_MAX).min(room * block.get());
        let unit = (HUNTED_BLOCKS * block.get()).min(wanted);
        let start = ByteRange::new(range.first(), Bytes::new(wanted / unit * unit))
            .expect("the start is a part of the range");
        Ok(Places { range, start, block, grid })
    }

    fn rest(&self, end: Offset) -> Option<ByteRange> {
        let from = self.start.end();
        let bytes = Bytes::new(end.get().checked_sub(from.get())?);
        Some(ByteRange::new(from, bytes)?.align_inward(self.block))
    }

    /// Where the start is looked for, how far apart, in reads of what size. However large a drive is that wraps, some place
    /// shows the start as a whole block, since they are no further apart than it is long.
    pub fn hunted(&self) -> Option<(ByteRange, Bytes, Bytes)> {
        let block = Bytes::new(HUNTED_BLOCKS * self.block.get());
        let range = self.rest(self.range.end())?.align_inward(block);
        let stride = self.start.bytes().saturating_sub(block).round_down_to(block).max(block);
        if range.bytes() >= block { Some((range, stride, block)) } else { None }
    }

    /// As much as the start near the end, before the last block; none where there is no room.
    pub fn end(&self) -> Option<ByteRange> {
        let bytes = self.start.bytes();
        let rest = self.rest(self.range.end())?;
        let behind =
            rest.bytes().get().checked_sub((bytes + self.block).get()).filter(|left| *left > bytes.get())?;
        ByteRange::new(rest.first() + Bytes::new(behind), bytes)
    }

    pub fn parts(&self, size: Bytes) -> Vec<ByteRange> {
        let mut parts = Vec::new();
        let mut from = self.range.first().get();
        while from < self.range.end().get() {
            let bytes = size.get().min(self.range.end().get() - from);
            parts.extend(ByteRange::new(Offset::new(from), Bytes::new(bytes)));
            from += bytes;
        }
        parts
    }

    /// The largest request up to 1 MiB that goes into a range without a rest: what does not fit would not be written.
    pub fn large_block(&self, range: ByteRange) -> Bytes {
        let mut block = SEQUENTIAL_BLOCK;
        while block > self.block && !range.bytes().is_multiple_of(block) {
            block = Bytes::new(block.get() / 2);
        }
        block
    }
}

/// Places all over the rest up to `end`, one in each stratum but where the end is marked, and its last block, in order of place.
pub(super) fn drawn(places: &Places, end: Offset, seed: u64) -> Vec<Offset> {
    let Some(rest) = places.rest(end) else { return Vec::new() };
    let blocks = rest.bytes().get() / places.block.get();
    let count = DRAWN.min(blocks);
    let mut prng = Prng::new(seed, STREAM);
    let mut chosen = Vec::new();
    for stratum in 0..count {
        let (from, to) = (stratum_edge(blocks, stratum, count), stratum_edge(blocks, stratum + 1, count));
        chosen.push(from + prng.below((to - from).max(1)));
    }
    chosen.extend(blocks.checked_sub(1));
    chosen.dedup();
    let mut offsets: Vec<Offset> = chosen.iter().map(|block| rest.first() + places.block * *block).collect();
    if let Some(end) = places.end() {
        offsets.retain(|offset| !end.contains_offset(*offset));
    }
    offsets
}

fn stratum_edge(blocks: u64, stratum: u64, count: u64) -> u64 {
    (u128::from(blocks) * u128::from(stratum) / u128::from(count.max(1))) as u64
}

/// About `count` places at equal distances between two bytes, none that touches them.
pub(super) fn between(places: &Places, from: u64, to: u64, count: u64) -> Vec<Offset> {
    let block = places.block.get();
    let (first, end) = (from.div_ceil(block), to / block);
    let blocks = end.saturating_sub(first);
    let count = count.min(blocks);
    let mut offsets: Vec<Offset> = (0..count)
        .map(|index| {
            Offset::new((first + stratum_edge(blocks, 2 * index + 1, 2 * count).min(blocks - 1)) * block)
        })
        .collect();
    offsets.dedup();
    offsets
}
