//! Ways in which the places of a volume may lie on its drives in turn.

use model::units::{KIB, MIB};

/// Chunks of so much, one drive after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Layout {
    pub members: u32,
    /// How much lies on one before the next comes, in bytes.
    pub chunk_bytes: u64,
}

/// As many drives as are looked for. The work of looking grows with the square of it.
pub const MEMBERS_MAX: u32 = 16;
/// Chunks are these multiples of powers of two: nearly all software makes 1, some controllers and `mdadm` others.
const ODD_FACTORS: [u64; 4] = [1, 3, 5, 7];
const CHUNK_MAX: u64 = 16 * MIB;

impl Layout {
    pub fn member_of(&self, offset_bytes: u64) -> usize {
        (offset_bytes / self.chunk_bytes % u64::from(self.members)) as usize
    }

    /// The drive that holds that byte, counted from 0, and the byte of that drive.
    pub fn place_of(&self, offset_bytes: u64) -> (usize, u64) {
        let row_bytes = u64::from(self.members) * self.chunk_bytes;
        let before = offset_bytes / row_bytes * self.chunk_bytes;
        (self.member_of(offset_bytes), before + offset_bytes % self.chunk_bytes)
    }

    pub fn farther(&self, offset_bytes: u64, by_bytes: u64) -> u64 {
        let (drive, at) = self.place_of(offset_bytes);
        let (row, within) = ((at + by_bytes) / self.chunk_bytes, (at + by_bytes) % self.chunk_bytes);
        (row * u64::from(self.members) + drive as u64) * self.chunk_bytes + within
    }

    /// All that are looked for with reads of `block_bytes`, which must not lie across a border.
    pub fn all(block_bytes: u64) -> Vec<Layout> {
        let mut layouts = Vec::new();
        for members in 2..=MEMBERS_MAX {
            for factor in ODD_FACTORS {
                let mut chunk_bytes = 4 * KIB * factor;
                while chunk_bytes <= CHUNK_MAX {
                    if chunk_bytes.is_multiple_of(block_bytes) {
                        layouts.push(Layout { members, chunk_bytes });
                    }
                    chunk_bytes *= 2;
                }
            }
        }
        layouts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chunks_go_round() {
        let layout = Layout { members: 3, chunk_bytes: 64 * KIB };
        assert_eq!([0, 65_535, 65_536, 131_072, 196_608].map(|at| layout.member_of(at)), [0, 0, 1, 2, 0]);
        assert_eq!([5, 65_536, 196_613].map(|at| layout.place_of(at)), [(0, 5), (1, 0), (0, 65_541)]);
        // 60 KiB into a chunk of the second drive; 4 KiB farther begins its next chunk.
        assert_eq!(layout.farther(124 * KIB, 4 * KIB), 256 * KIB);
        assert_eq!(layout.farther(124 * KIB, 0), 124 * KIB);
    }

    #[test]
    fn every_common_layout_is_looked_for() {
        let all = Layout::all(4096);
        for members in 2..=8 {
            for chunk_kib in [16, 32, 64, 96, 128, 256, 512, 1024] {
                assert!(all.contains(&Layout { members, chunk_bytes: chunk_kib * KIB }));
            }
        }
        let mut distinct = all.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
        assert!(Layout::all(16 * KIB).iter().all(|layout| layout.chunk_bytes.is_multiple_of(16 * KIB)));
    }

    proptest! {
        #[test]
        fn a_block_lies_on_one_drive(members in 2u32..16, chunk in 1u64..300, block in 0u64..1 << 30) {
            let layout = Layout { members, chunk_bytes: chunk * 4096 };
            let first = layout.member_of(block * 4096);
            prop_assert_eq!(first, layout.member_of(block * 4096 + 4095));
            prop_assert!(first < members as usize);
            // A full row further it is the same drive again.
            prop_assert_eq!(first, layout.member_of(block * 4096 + layout.chunk_bytes * u64::from(members)));
        }
    }
}
