//! What a target holds that decides what is measured: cached, absent or compressed data touch no drive.
//!
//! Compressibility is estimated from [`BLOCKS`] blocks spread over the target: per block the entropy of its bytes, each for
//! itself (order 0), or the share of its units of 4 KiB that were not seen before, whichever is less. This is an upper bound
//! of what a compressor leaves: text looks less compressible than it is. Encrypted and compressed data come out at 1.

use super::identity::Identity;
use super::page_cache::cached_share;
use super::system_call::{self, AlignedBuffer};
use super::target::Target;
use crate::error::IoError;
use model::target::Caveat;
use model::units::KIB;
use rustix::fs::SeekFrom;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

pub const BLOCKS: u64 = 64;
const BLOCK: u64 = 64 * KIB;
/// The unit in which repetition is sought: what deduplicates does so in blocks of this size or larger, which our data differ in.
const UNIT: usize = 4096;
/// Random bytes in blocks of 64 KiB come out at 0.9995; below this something is to be gained.
const COMPRESSIBLE_BELOW: f64 = 0.9;
/// A superblock or a directory in the page cache spoils no measurement.
const CACHED_FROM: f64 = 0.001;
/// A file in more pieces than this is not followed to its end; what was seen counts for the whole.
const PIECES_MAX: usize = 100_000;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContentProbe {
    pub in_page_cache: Option<f64>,
    /// The share that is holes, in [0, 1]; none for devices.
    pub holes: Option<f64>,
    /// The share that is reserved but was never written, in [0, 1]; none for devices.
    pub unwritten: Option<f64>,
    /// The size after compression over the size before, estimated, in [0, 1].
    pub compressed_ratio: Option<f64>,
    /// The share of the blocks looked at that hold only zeroes, in [0, 1].
    pub zero_blocks: Option<f64>,
    pub blocks_read: u64,
    pub caveats: Vec<Caveat>,
}

/// Looks at what the target holds. Reads at most 4 MiB of it.
/// Fails when the target cannot be opened once more. What cannot be read of it is left out.
pub fn probe_content(target: &Target) -> Result<ContentProbe, IoError> {
    let buffered = target.buffered_descriptor()?;
    let size = target.facts().capacity.get();
    // First of all, since reading buffered would change it.
    let in_page_cache = cached_share(buffered.as_fd(), size).ok();
    let is_file = matches!(target.identity(), Identity::File(_));
    let holes = if is_file { holes(buffered.as_fd(), size).ok() } else { None };
    let unwritten = if is_file { unwritten(buffered.as_fd(), size).ok() } else { None };
    let mut blocks = BlockStatistics::default();
    let mut buffer = AlignedBuffer::new(BLOCK as usize);
    for offset in block_offsets(size, target.facts().logical_block.get()) {
        let length = BLOCK.min(size - offset);
        let block = &mut buffer[..length as usize];
        if let Ok(done) = system_call::read_at(target.descriptor(), block, offset)
            && done == block.len()
        {
            blocks.add(block);
        }
        if !target.is_direct() {
            // Only to leave the page cache as it was; a refusal changes no answer.
            let _ = system_call::forget_cached(buffered.as_fd(), offset, length);
        }
    }
    let mut probe = ContentProbe {
        in_page_cache,
        holes,
        unwritten,
        compressed_ratio: blocks.compressed_ratio(),
        zero_blocks: blocks.zero_share(),
        blocks_read: blocks.count,
        caveats: Vec::new(),
    };
    probe.caveats = caveats(&probe);
    Ok(probe)
}

fn caveats(probe: &ContentProbe) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    if probe.in_page_cache.unwrap_or(0.0) >= CACHED_FROM {
        caveats.push(Caveat::InPageCache);
    }
    if probe.holes.unwrap_or(0.0) > 0.0 {
        caveats.push(Caveat::Sparse);
    }
    if probe.unwritten.unwrap_or(0.0) > 0.0 {
        caveats.push(Caveat::Unwritten);
    }
    if probe.compressed_ratio.unwrap_or(1.0) < COMPRESSIBLE_BELOW {
        caveats.push(Caveat::Compressible);
    }
    caveats
}

/// The starts of the blocks: spread evenly from the first to the last, on the grid of the logical block.
fn block_offsets(size: u64, logical_block: u64) -> Vec<u64> {
    let last = size.saturating_sub(BLOCK);
    let mut offsets = Vec::new();
    for number in 0..BLOCKS {
        let offset = (u128::from(last) * u128::from(number) / u128::from(BLOCKS - 1)) as u64;
        offsets.push(offset - offset % logical_block);
    }
    offsets.dedup();
    offsets
}

fn holes(descriptor: BorrowedFd<'_>, size: u64) -> io::Result<f64> {
    let (mut data_bytes, mut position) = (0, 0);
    for _ in 0..PIECES_MAX {
        let start = system_call::seek(descriptor, SeekFrom::Data(position))?.unwrap_or(size);
        if start >= size {
            return Ok(1.0 - data_bytes as f64 / size as f64);
        }
        position = system_call::seek(descriptor, SeekFrom::Hole(start))?.unwrap_or(size).min(size);
        assert!(start <= position, "data end behind their start");
        data_bytes += position - start;
        if position >= size {
            return Ok(1.0 - data_bytes as f64 / size as f64);
        }
    }
    Ok(1.0 - data_bytes as f64 / position as f64)
}

fn unwritten(descriptor: BorrowedFd<'_>, size: u64) -> io::Result<f64> {
    let (mut unwritten_bytes, mut position, mut pieces) = (0, 0, 0);
    while position < size && pieces < PIECES_MAX {
        let extents = system_call::extents(descriptor, position)?;
        let Some(last) = extents.last() else { break };
        for extent in &extents {
            if !(extent.is_unwritten) {
                continue;
            }
            // The last extent may reach past the end of the file.
            let start = (extent.end - extent.length).clamp(position, size);
            unwritten_bytes += extent.end.min(size) - start;
        }
        pieces += extents.len();
        position = last.end;
        if last.is_last {
            position = size;
        }
    }
    assert!(unwritten_bytes <= position.min(size), "what is unwritten lies in the file");
    Ok(if position == 0 { 0.0 } else { unwritten_bytes as f64 / position.min(size) as f64 })
}

#[derive(Default)]
struct BlockStatistics {
    count: u64,
    zero: u64,
    ratios: f64,
    units: HashSet<u64>,
}

impl BlockStatistics {
    fn add(&mut self, block: &[u8]) {
        self.count += 1;
        if block.iter().all(|&byte| byte == 0) {
            self.zero += 1;
            return;
        }
        let mut new = 0;
        let mut all = 0;
        for unit in block.chunks(UNIT) {
            let mut hasher = DefaultHasher::new();
            hasher.write(unit);
            all += 1;
            new += u64::from(self.units.insert(hasher.finish()));
        }
        let bits = entropy_bits(block);
        assert!((0.0..=8.0 + 1e-9).contains(&bits) && new <= all, "a byte holds at most eight bits");
        self.ratios += (bits / 8.0).min(new as f64 / all as f64);
    }

    fn compressed_ratio(&self) -> Option<f64> {
        if self.count == 0 { None } else { Some(self.ratios / self.count as f64) }
    }

    fn zero_share(&self) -> Option<f64> {
        if self.count == 0 { None } else { Some(self.zero as f64 / self.count as f64) }
    }
}

fn entropy_bits(block: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for &byte in block {
        counts[usize::from(byte)] += 1;
    }
    let mut bits = 0.0;
    for count in counts {
        if count > 0 {
            let share = f64::from(count) / block.len() as f64;
            bits -= share * share.log2();
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(blocks: &[Vec<u8>]) -> f64 {
        let mut statistics = BlockStatistics::default();
        blocks.iter().for_each(|block| statistics.add(block));
        statistics.compressed_ratio().unwrap()
    }

    fn random_block(seed: u64) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes()[0]
        };
        (0..BLOCK).map(|_| next()).collect()
    }

    #[test]
    fn random_data_cannot_be_compressed_and_repeated_data_can() {
        assert!(ratio(&[random_block(1), random_block(2)]) > 0.99);
        assert!(ratio(&[random_block(1), random_block(1)]) < 0.51, "the second block repeats the first");
        assert_eq!(ratio(&[vec![0; BLOCK as usize]]), 0.0);
        assert_eq!(ratio(&[vec![7; BLOCK as usize]]), 0.0);
        let text: Vec<u8> = b"0123456789abcdef".iter().copied().cycle().take(BLOCK as usize).collect();
        assert!(ratio(&[text]) <= 0.5);
    }

    #[test]
    fn the_entropy_of_known_shares_is_known() {
        assert_eq!(entropy_bits(&[0, 1]), 1.0);
        assert_eq!(entropy_bits(&[5; 100]), 0.0);
        let all: Vec<u8> = (0..=255).collect();
        assert!((entropy_bits(&all) - 8.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn blocks_lie_within_the_target(blocks in 128u64..1 << 40, logical in prop::sample::select(vec![512u64, 4096])) {
            let size = blocks * logical;
            let offsets = block_offsets(size, logical);
            prop_assert_eq!(offsets[0], 0);
            prop_assert!(offsets.is_sorted() && offsets.len() as u64 <= BLOCKS);
            prop_assert!(offsets.iter().all(|offset| offset % logical == 0 && offset + BLOCK.min(size) <= size));
        }
    }
}

#[cfg(test)]
mod own_data_tests {
    use super::{BLOCK, BLOCKS, BlockStatistics, COMPRESSIBLE_BELOW};
    use crate::load::data::WriteData;
    use model::workload::DataPattern;

    /// One buffer, stamped anew for each request: what was written with it is no data that can be compressed.
    #[test]
    fn what_we_write_is_not_taken_for_compressible() {
        let pattern = DataPattern::Incompressible;
        let mut data = WriteData::new(&pattern, 1);
        let mut buffer = vec![0; BLOCK as usize];
        data.fill(&pattern, &mut buffer);
        let mut blocks = BlockStatistics::default();
        for number in 0..BLOCKS {
            data.stamp(&mut buffer, number * BLOCK);
            blocks.add(&buffer);
        }
        assert!(blocks.compressed_ratio().is_some_and(|ratio| ratio > COMPRESSIBLE_BELOW));
    }
}
