//! A workload: where requests go, how large they are, what they do, how many are under way and when they arrive.

use crate::commit::Commits;
use crate::null_number::null_as_nan;
use crate::payload::Mark;
use crate::range::ByteRange;
use crate::request::Operation;
use crate::units::{Bytes, Offset};
use crate::{hexadecimal, words};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The most requests under way in one thread: what the kernel's submission ring takes.
pub const QUEUE_DEPTH_MAX: u32 = 4096;
/// The most threads of one workload. Article B went to 1000.
pub const THREADS_MAX: u32 = 4096;
/// The largest single request. Larger ones are split by the block layer and measure the splitting.
pub const BLOCK_BYTES_MAX: Bytes = Bytes::from_mib(64);

/// A stream of requests, fully determined by this and a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workload {
    pub range: ByteRange,
    pub pattern: Pattern,
    pub block_sizes: BlockSizes,
    /// Offsets are multiples of this; usually the block size. Sequential ones follow each other without a gap.
    #[serde(rename = "alignment_bytes")]
    pub alignment: Bytes,
    pub mix: OperationMix,
    pub data: DataPattern,
    pub queue_depth: u32,
    pub threads: u32,
    pub arrival: Arrival,
    /// Past the page cache, or through it.
    pub caching: Caching,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Pattern {
    Sequential,
    /// Every block of the range once, in random order, then again in another. One block size only.
    RandomOnce,
    RandomWithReplacement,
    /// Each request begins `stride` after the last, wrapping into the gaps that are left.
    Strided {
        /// From the start of a request to the start of the next.
        #[serde(rename = "stride_bytes")]
        stride: Bytes,
    },
    /// Random, but some parts of the range are visited more often (JESD219: half the accesses to the first 5 %).
    Zoned {
        /// From the start of the range on; both columns add up to 1.
        zones: Vec<ZoneShare>,
    },
    /// Sequential runs, broken by jumps to a random place (Iometer's "% random").
    Mixed {
        /// Share of requests that jump, in [0, 1].
        random_share: f64,
    },
    /// These offsets in this order, then again from the first.
    Listed {
        #[serde(rename = "offsets_bytes")]
        offsets: Vec<Offset>,
    },
}

impl Pattern {
    /// Its word in documents, tables and the ledger.
    pub fn name(&self) -> &'static str {
        match self {
            Pattern::Sequential => "sequential",
            Pattern::RandomOnce => "random-once",
            Pattern::RandomWithReplacement => "random-with-replacement",
            Pattern::Strided { .. } => "strided",
            Pattern::Zoned { .. } => "zoned",
            Pattern::Mixed { .. } => "mixed",
            Pattern::Listed { .. } => "listed",
        }
    }

    /// Whether requests go to any place of the range, and not one behind the other; none for what is neither or both.
    pub fn is_random(&self) -> Option<bool> {
        match self {
            Pattern::RandomOnce | Pattern::RandomWithReplacement => Some(true),
            Pattern::Sequential => Some(false),
            Pattern::Strided { .. }
            | Pattern::Zoned { .. }
            | Pattern::Mixed { .. }
            | Pattern::Listed { .. } => None,
        }
    }
}

/// A part of a range and how much of the traffic goes there; both shares are in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ZoneShare {
    #[serde(deserialize_with = "null_as_nan")]
    pub share_of_range: f64,
    #[serde(deserialize_with = "null_as_nan")]
    pub share_of_requests: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Vec<BlockShare>", into = "Vec<BlockShare>")]
pub struct BlockSizes(Vec<(Bytes, f64)>);

/// What share of requests reads; the rest writes, unless the workload discards.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum OperationMix {
    Read,
    Write,
    Discard,
    /// Reads and writes, drawn one by one.
    ReadWrite {
        /// Reads as a share of all requests, in [0, 1].
        read_share: f64,
    },
    /// Writes that are each made durable.
    Commit(Commits),
}

/// What is written, and what reads are compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DataPattern {
    /// Random bits, different in every block: nothing can be compressed or deduplicated.
    Incompressible,
    /// Sectors that carry their place and that mark, see [`crate::payload`], so that reads can be compared with what was
    /// written: a read of such data that finds something else is a failure.
    /// Until version 0.1.0 there was one mark for a seed, called `addressed`.
    #[serde(alias = "addressed")]
    Marked(Mark),
    Zero,
    Given {
        #[serde(rename = "hexadecimal", with = "hexadecimal")]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        bytes: Vec<u8>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Arrival {
    /// The next when one is done: the queue is always full. Latency counts from submission.
    ClosedLoop,
    /// At a rate that does not wait for the drive. Latency counts from the moment intended, so a stall
    /// is charged to every request that it kept waiting.
    OpenLoop {
        per_second: f64,
        /// Evenly, or at random with that mean.
        spacing: Spacing,
    },
}

words! {
    pub enum Spacing {
        Even = "even",
        Poisson = "poisson",
    }
}

words! {
    /// Past the page cache, or through it.
    pub enum Caching {
        Direct = "direct",
        /// Through the page cache: what an application sees.
        Buffered = "buffered",
    }
}

/// One size of a mix, as it is written.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct BlockShare {
    bytes: Bytes,
    #[serde(deserialize_with = "null_as_nan")]
    share: f64,
}

impl From<BlockSizes> for Vec<BlockShare> {
    fn from(sizes: BlockSizes) -> Vec<BlockShare> {
        sizes.0.into_iter().map(|(bytes, share)| BlockShare { bytes, share }).collect()
    }
}

impl TryFrom<Vec<BlockShare>> for BlockSizes {
    type Error = WorkloadError;

    fn try_from(parts: Vec<BlockShare>) -> Result<BlockSizes, WorkloadError> {
        BlockSizes::mix(parts.into_iter().map(|part| (part.bytes, part.share)).collect())
    }
}

impl BlockSizes {
    pub fn one(size: Bytes) -> BlockSizes {
        BlockSizes(vec![(size, 1.0)])
    }

    /// Sizes with weights, which are scaled to add up to 1. Those that do already, to within 1e-9, are kept to
    /// the bit, so that a stored mix is the mix that was measured.
    pub fn mix(parts: Vec<(Bytes, f64)>) -> Result<BlockSizes, WorkloadError> {
        let total: f64 = parts.iter().map(|(_, weight)| weight).sum();
        if parts.is_empty() || !total.is_finite() || total <= 0.0 || parts.iter().any(|(_, w)| *w < 0.0) {
            return Err(WorkloadError(
                "a mix of block sizes needs weights that add up to more than zero".into(),
            ));
        }
        let scale = if (total - 1.0).abs() < 1e-9 { 1.0 } else { total };
        Ok(BlockSizes(parts.into_iter().map(|(size, weight)| (size, weight / scale)).collect()))
    }

    /// Each size and its share; the shares add up to 1.
    pub fn parts(&self) -> &[(Bytes, f64)] {
        &self.0
    }

    pub fn single(&self) -> Option<Bytes> {
        match self.0.as_slice() {
            [(size, _)] => Some(*size),
            _ => None,
        }
    }

    pub fn largest(&self) -> Bytes {
        self.0.iter().map(|(size, _)| *size).max().unwrap_or_default()
    }
}

impl OperationMix {
    pub fn commits(self) -> Option<Commits> {
        if let OperationMix::Commit(commits) = self { Some(commits) } else { None }
    }

    /// The operations that can occur, in the order of their numbers.
    pub fn operations(self) -> &'static [Operation] {
        match self {
            OperationMix::Read => &[Operation::Read],
            OperationMix::Write => &[Operation::Write],
            OperationMix::Discard => &[Operation::Discard],
            OperationMix::ReadWrite { .. } => &[Operation::Read, Operation::Write],
            OperationMix::Commit(commits) => commits.operations(),
        }
    }

    pub fn changes_data(self) -> bool {
        self.operations().iter().any(|operation| operation.changes_data())
    }
}

impl Workload {
    /// A direct, closed-loop workload of one block size in one thread, aligned to its block size.
    pub fn new(
        range: ByteRange,
        pattern: Pattern,
        mix: OperationMix,
        block: Bytes,
        queue_depth: u32,
    ) -> Workload {
        Workload {
            range,
            pattern,
            block_sizes: BlockSizes::one(block),
            alignment: block,
            mix,
            data: DataPattern::Incompressible,
            queue_depth,
            threads: 1,
            arrival: Arrival::ClosedLoop,
            caching: Caching::Direct,
        }
    }

    pub fn in_flight_max(&self) -> u64 {
        let beside = self.mix.commits().map_or(0, Commits::beside_depth);
        u64::from(self.queue_depth) * u64::from(self.threads) + u64::from(beside)
    }

    /// The largest request, of the load beside commits too.
    pub fn largest_request(&self) -> Bytes {
        let own = self.block_sizes.largest();
        match self.mix.commits().and_then(|commits| commits.beside) {
            Some(beside) => own.max(beside.load.block()),
            None => own,
        }
    }

    /// Whether requests of that operation, and no others, go to random places one at a time.
    pub fn is_single_random(&self, operation: Operation) -> bool {
        self.pattern.is_random() == Some(true)
            && self.in_flight_max() == 1
            && self.mix.operations() == [operation]
    }

    /// Checks it against a target of that capacity and logical block size.
    pub fn validate(&self, capacity: Bytes, logical_block: Bytes) -> Result<(), WorkloadError> {
        self.validate_place(capacity, logical_block)?;
        self.validate_pattern()?;
        self.validate_concurrency()
    }

    fn validate_place(&self, capacity: Bytes, logical_block: Bytes) -> Result<(), WorkloadError> {
        let whole = ByteRange::whole(capacity);
        if !whole.contains(&self.range) {
            return fail(format!(
                "the range ends at byte {} but the target has {} bytes; give a range inside 0..{}",
                self.range.end().get(),
                capacity.get(),
                capacity.get()
            ));
        }
        for (size, _) in self.block_sizes.parts() {
            if !size.is_multiple_of(logical_block) || size.get() == 0 {
                return fail(format!(
                    "a block size of {size} is no multiple of the target's logical block of {logical_block}"
                ));
            }
            if *size > BLOCK_BYTES_MAX {
                return fail(format!("a block size of {size} is above the largest, {BLOCK_BYTES_MAX}"));
            }
        }
        if !self.alignment.is_multiple_of(logical_block) {
            return fail(format!(
                "an alignment of {} is no multiple of the target's logical block of {logical_block}",
                self.alignment
            ));
        }
        let room = self.range.align_inward(self.alignment);
        if room.bytes() < self.block_sizes.largest() {
            return fail(format!(
                "the range holds {} at an alignment of {}, less than one block of {}",
                room.bytes(),
                self.alignment,
                self.block_sizes.largest()
            ));
        }
        Ok(())
    }

    fn validate_pattern(&self) -> Result<(), WorkloadError> {
        match &self.pattern {
            Pattern::RandomOnce if self.block_sizes.single().is_none() => {
                fail("each block once needs one block size; choose random with replacement for a mix".into())
            }
            Pattern::RandomOnce if self.block_sizes.single() != Some(self.alignment) => {
                fail("each block once needs an alignment equal to the block size".into())
            }
            Pattern::Strided { stride } if !stride.is_multiple_of(self.alignment) => {
                fail(format!("a stride of {stride} is no multiple of the alignment of {}", self.alignment))
            }
            Pattern::Zoned { zones } => validate_zones(zones),
            Pattern::Mixed { random_share } if !(0.0..=1.0).contains(random_share) => {
                fail(format!("a random share of {random_share} is not in 0 to 1"))
            }
            Pattern::Listed { offsets } => self.validate_list(offsets),
            _ => Ok(()),
        }
    }

    fn validate_list(&self, offsets: &[Offset]) -> Result<(), WorkloadError> {
        if offsets.is_empty() {
            return fail("a list of offsets is empty".into());
        }
        let largest = self.block_sizes.largest();
        for offset in offsets {
            let is_inside = match ByteRange::new(*offset, largest) {
                Some(block) => self.range.contains(&block),
                None => false,
            };
            if !is_inside || !offset.is_multiple_of(self.alignment) {
                return fail(format!(
                    "listed offset {} is outside the range or no multiple of the alignment of {}",
                    offset.get(),
                    self.alignment
                ));
            }
        }
        Ok(())
    }

    fn validate_concurrency(&self) -> Result<(), WorkloadError> {
        if !(1..=QUEUE_DEPTH_MAX).contains(&self.queue_depth) {
            return fail(format!("a queue depth of {} is not in 1 to {QUEUE_DEPTH_MAX}", self.queue_depth));
        }
        if !(1..=THREADS_MAX).contains(&self.threads) {
            return fail(format!("{} threads are not in 1 to {THREADS_MAX}", self.threads));
        }
        if let OperationMix::ReadWrite { read_share } = self.mix
            && !(0.0..=1.0).contains(&read_share)
        {
            return fail(format!("a read share of {read_share} is not in 0 to 1"));
        }
        if let Arrival::OpenLoop { per_second, .. } = self.arrival
            && !(per_second.is_finite() && per_second > 0.0)
        {
            return fail(format!("a rate of {per_second} requests per second is not above zero"));
        }
        if matches!(&self.data, DataPattern::Given { bytes } if bytes.is_empty()) {
            return fail("the given data is empty".into());
        }
        Ok(())
    }
}

fn validate_zones(zones: &[ZoneShare]) -> Result<(), WorkloadError> {
    let (mut ranges, mut requests, mut are_shares) = (0.0, 0.0, true);
    for zone in zones {
        ranges += zone.share_of_range;
        requests += zone.share_of_requests;
        are_shares &=
            (0.0..=1.0).contains(&zone.share_of_range) && (0.0..=1.0).contains(&zone.share_of_requests);
    }
    if !(are_shares && (ranges - 1.0).abs() < 1e-9 && (requests - 1.0).abs() < 1e-9) {
        return fail("the shares of a zoned pattern must each add up to 1".into());
    }
    Ok(())
}

fn fail(why: String) -> Result<(), WorkloadError> {
    Err(WorkloadError(why))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadError(pub String);

impl fmt::Display for WorkloadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for WorkloadError {}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: Bytes = Bytes::from_mib(1);
    const SECTOR: Bytes = Bytes::new(512);

    fn reads() -> Workload {
        Workload::new(
            ByteRange::whole(CAPACITY),
            Pattern::Sequential,
            OperationMix::Read,
            Bytes::from_kib(4),
            1,
        )
    }

    fn refusal(change: impl FnOnce(&mut Workload)) -> String {
        let mut workload = reads();
        change(&mut workload);
        workload.validate(CAPACITY, SECTOR).unwrap_err().0
    }

    #[test]
    fn a_plain_workload_is_sound() {
        assert_eq!(reads().validate(CAPACITY, SECTOR), Ok(()));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let end = |w: &mut Workload| w.range = ByteRange::new(Offset::new(4096), CAPACITY).unwrap();
        assert_eq!(
            refusal(end),
            "the range ends at byte 1052672 but the target has 1048576 bytes; give a range inside 0..1048576"
        );
        assert_eq!(
            refusal(|w| w.block_sizes = BlockSizes::one(Bytes::new(1000))),
            "a block size of 1000 bytes is no multiple of the target's logical block of 512 bytes"
        );
        assert_eq!(
            refusal(|w| w.range = ByteRange::new(Offset::new(1), Bytes::new(8190)).unwrap()),
            "the range holds 0 bytes at an alignment of 4 KiB, less than one block of 4 KiB"
        );
        assert_eq!(refusal(|w| w.queue_depth = 0), "a queue depth of 0 is not in 1 to 4096");
        assert!(refusal(|w| w.pattern = Pattern::Strided { stride: Bytes::new(700) }).contains("700 bytes"));
        assert!(refusal(|w| w.mix = OperationMix::ReadWrite { read_share: 1.5 }).contains("1.5"));
        let rate = Arrival::OpenLoop { per_second: f64::NAN, spacing: Spacing::Even };
        assert!(refusal(|w| w.arrival = rate).contains("NaN"));
        assert!(
            refusal(|w| w.pattern = Pattern::Listed { offsets: vec![Offset::START + CAPACITY] })
                .contains("1048576")
        );
        assert!(refusal(|w| w.pattern = Pattern::Listed { offsets: vec![] }).contains("empty"));
    }

    #[test]
    fn each_block_once_needs_one_block_size() {
        let mix = BlockSizes::mix(vec![(Bytes::new(4096), 67.0), (Bytes::new(8192), 33.0)]).unwrap();
        assert_eq!(mix.parts()[0].1, 0.67);
        let change = |w: &mut Workload| {
            w.pattern = Pattern::RandomOnce;
            w.block_sizes = mix;
        };
        assert!(refusal(change).contains("one block size"));
        assert!(BlockSizes::mix(vec![]).is_err());
    }

    #[test]
    fn zone_shares_add_up() {
        let zones = |a: f64| {
            vec![
                ZoneShare { share_of_range: 0.05, share_of_requests: 0.5 },
                ZoneShare { share_of_range: 0.95, share_of_requests: a },
            ]
        };
        assert!(refusal(|w| w.pattern = Pattern::Zoned { zones: zones(0.4) }).contains("add up"));
        let mut sound = reads();
        sound.pattern = Pattern::Zoned { zones: zones(0.5) };
        assert_eq!(sound.validate(CAPACITY, SECTOR), Ok(()));
    }

    #[test]
    fn a_mix_needs_a_permit_if_anything_in_it_does() {
        assert!(!OperationMix::Read.changes_data());
        for mix in [OperationMix::Write, OperationMix::Discard, OperationMix::ReadWrite { read_share: 1.0 }] {
            assert!(mix.changes_data(), "{mix:?}");
        }
    }
}
