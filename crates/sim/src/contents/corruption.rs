//! Which blocks silently go wrong, and how.

use crate::fault::{Corruption, FaultProfile};
use model::prng::Prng;
use model::units::Bytes;

/// What goes wrong at once: the block of a check.
pub(super) const BLOCK: u64 = 4096;

/// Blocks that go wrong: in each run of so many one, at a place that the seed draws.
pub(super) struct Corrupted {
    corruption: Corruption,
    every_blocks: u64,
    first_block: u64,
    end_block: u64,
    drive_blocks: u64,
    seed: u64,
    index: u64,
}

pub(super) enum Wrong {
    BitFlip { byte: usize, mask: u8 },
    Zero,
    Lost,
    Elsewhere { block: u64 },
    Stale,
}

impl Corrupted {
    pub(super) fn of_profile(
        fault: &FaultProfile,
        capacity: Bytes,
        seed: u64,
        index: u64,
    ) -> Option<Corrupted> {
        let FaultProfile::SilentCorruption { corruption, every_blocks, first_byte, bytes } = *fault else {
            return None;
        };
        let end = bytes.and_then(|bytes| first_byte.checked_add(bytes)).unwrap_or(capacity.get());
        Some(Corrupted {
            corruption,
            every_blocks: every_blocks.max(1),
            first_block: first_byte.div_ceil(BLOCK),
            end_block: end.min(capacity.get()) / BLOCK,
            drive_blocks: capacity.get() / BLOCK,
            seed,
            index,
        })
    }

    pub(super) fn wrong(&self, block: u64) -> Option<Wrong> {
        if !(self.first_block..self.end_block).contains(&block) {
            return None;
        }
        let run = (block - self.first_block) / self.every_blocks;
        let mut prng = self.run_prng(run);
        if (block - self.first_block) % self.every_blocks != prng.below(self.every_blocks) {
            return None;
        }
        Some(match self.corruption {
            Corruption::BitFlip => {
                let bit = prng.below(BLOCK * 8);
                Wrong::BitFlip { byte: (bit / 8) as usize, mask: 1 << (bit % 8) }
            }
            Corruption::Zero => Wrong::Zero,
            Corruption::LostWrite => Wrong::Lost,
            Corruption::Stale => Wrong::Stale,
            Corruption::MisplacedWrite => match block.checked_sub(1) {
                Some(before) => Wrong::Elsewhere { block: before },
                None if self.drive_blocks > 1 => Wrong::Elsewhere { block: 1 },
                None => Wrong::Lost,
            },
        })
    }

    pub(super) fn count(&self) -> u64 {
        let blocks = self.end_block.saturating_sub(self.first_block);
        let (runs, rest) = (blocks / self.every_blocks, blocks % self.every_blocks);
        // In the last run, which is cut off, the place may be past the end.
        runs + u64::from(self.run_prng(runs).below(self.every_blocks) < rest)
    }

    fn run_prng(&self, run: u64) -> Prng {
        Prng::new(self.seed ^ u64::from_le_bytes(*b"go wrong").wrapping_add(self.index), run)
    }
}
