//! What is written to be compared: sectors that say where they belong, in which run and the how manyth time they were written.
//! ```text
//! byte  0..8    place on the target, in bytes          8..16   key of the run
//!      16..20   generation: how manyth write there    20..24   "dsv1"
//!      24..32   checksum of all that                   32..512  body: a table of random words, each XOR the checksum
//! ```
//! Numbers are little-endian. The body follows from the head, so that a sector proves itself wherever and by whomever it is
//! found: that of another place, of an older write and of an earlier run are told apart from damage. No two sectors are
//! alike, and the body does not repeat within 64 KiB, so that nothing can be compressed or deduplicated.

use crate::prng::Prng;
use serde::{Deserialize, Serialize};

/// Sectors are made for the smallest of any drive.
pub const SECTOR_BYTES: usize = 512;
/// What is judged and counted at once: the block of file systems, and of most drives within.
pub const JUDGED_BYTES: usize = 4096;

const HEAD_WORDS: usize = 4;
const SECTOR_WORDS: usize = SECTOR_BYTES / 8;
const BODY_WORDS: usize = SECTOR_WORDS - HEAD_WORDS;
/// The table is for this many sectors, 64 KiB.
const TABLE_SECTORS: u64 = 128;
/// "dsv1" in the upper half of the third word.
const MAGIC: u64 = (u32::from_le_bytes(*b"dsv1") as u64) << 32;
/// Of random sectors half of all bits differ, 2048 ± 32. What differs in fewer than this many of 4096 was the right one once.
const FLIPPED_BITS_MAX: u32 = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mark {
    /// Of the run: drawn, so that what an earlier run wrote is not taken for what this one wrote.
    #[serde(default)]
    pub key: u64,
    /// How manyth write to the place, from 1 on. With 0 nothing was written there: only sectors of this run from elsewhere are wrong.
    #[serde(default = "first_generation")]
    pub generation: u32,
}

fn first_generation() -> u32 {
    1
}

pub struct Payload {
    mark: Mark,
    table: Box<[[u64; BODY_WORDS]]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrong {
    /// What was written there before, by this run or an earlier one: the last write was lost, or is late.
    Stale,
    /// What was written for another place, this many bytes further on (or back).
    Misplaced(i64),
    /// One byte repeated, all zeroes for instance.
    Blank,
    /// What was written, but for some bits.
    Flipped,
    Other,
}

impl Payload {
    pub fn new(mark: Mark) -> Payload {
        let mut table = vec![[0u64; BODY_WORDS]; TABLE_SECTORS as usize].into_boxed_slice();
        let mut prng = Prng::new(u64::from_le_bytes(*b"the body"), 0);
        for word in table.as_flattened_mut() {
            *word = prng.next_u64();
        }
        Payload { mark, table }
    }

    /// Goes on with another generation, without a new table.
    pub fn set_generation(&mut self, generation: u32) {
        self.mark.generation = generation;
    }

    fn head(&self, place: u64) -> [u64; HEAD_WORDS] {
        head_of(place, self.mark.key, self.mark.generation)
    }

    fn body(&self, place: u64) -> &[u64; BODY_WORDS] {
        &self.table[(place / SECTOR_BYTES as u64 % TABLE_SECTORS) as usize]
    }

    /// Fills whole sectors that are to be written at `offset_bytes`.
    pub fn write(&self, buffer: &mut [u8], offset_bytes: u64) {
        let mut place = offset_bytes;
        for sector in buffer.as_chunks_mut().0 {
            self.write_sector(sector, place);
            place += SECTOR_BYTES as u64;
        }
    }

    fn write_sector(&self, sector: &mut [u8; SECTOR_BYTES], place: u64) {
        let head = self.head(place);
        let (words, _) = sector.as_chunks_mut::<8>();
        for (word, value) in words.iter_mut().zip(head) {
            *word = value.to_le_bytes();
        }
        let sum = head[HEAD_WORDS - 1];
        for (word, value) in words[HEAD_WORDS..].iter_mut().zip(self.body(place)) {
            *word = (value ^ sum).to_le_bytes();
        }
    }

    /// Whether that is what is written at `offset_bytes`. An empty buffer holds nothing else.
    pub fn is_in(&self, buffer: &[u8], offset_bytes: u64) -> bool {
        if self.mark.generation == 0 {
            return !self.is_elsewhere_in(buffer, offset_bytes);
        }
        let mut place = offset_bytes;
        for sector in buffer.as_chunks().0 {
            if !self.holds(sector, place, &self.head(place)) {
                return false;
            }
            place += SECTOR_BYTES as u64;
        }
        true
    }

    /// Whether a sector is the one with that head, bit for bit.
    fn holds(&self, sector: &[u8; SECTOR_BYTES], place: u64, head: &[u64; HEAD_WORDS]) -> bool {
        let (words, _) = sector.as_chunks::<8>();
        let sum = head[HEAD_WORDS - 1];
        let (mut of_head, mut of_body) = (0, 0);
        for (word, value) in words.iter().zip(head) {
            of_head |= u64::from_le_bytes(*word) ^ value;
        }
        for (word, value) in words[HEAD_WORDS..].iter().zip(self.body(place)) {
            of_body |= u64::from_le_bytes(*word) ^ value ^ sum;
        }
        of_head | of_body == 0
    }

    fn is_elsewhere_in(&self, buffer: &[u8], offset_bytes: u64) -> bool {
        let blocks = buffer.chunks(JUDGED_BYTES).zip((offset_bytes..).step_by(JUDGED_BYTES));
        blocks.into_iter().any(|(block, place)| matches!(self.judge(block, place), Some(Wrong::Misplaced(_))))
    }

    /// What is wrong with a block of up to [`JUDGED_BYTES`] that was read at `place`: of its first sector that is wrong.
    pub fn judge(&self, block: &[u8], place: u64) -> Option<Wrong> {
        let mut at = place;
        for sector in block.as_chunks().0 {
            if let Some(wrong) = self.judge_sector(sector, at) {
                return Some(wrong);
            }
            at += SECTOR_BYTES as u64;
        }
        None
    }

    fn judge_sector(&self, sector: &[u8; SECTOR_BYTES], place: u64) -> Option<Wrong> {
        let expected = self.head(place);
        let unwritten = self.mark.generation == 0;
        if !unwritten && self.holds(sector, place, &expected) {
            return None;
        }
        match self.origin(sector) {
            Some((found, mark)) if mark.key == self.mark.key && found != place => {
                return Some(Wrong::Misplaced(found.wrapping_sub(place) as i64));
            }
            _ if unwritten => return None,
            Some(_) => return Some(Wrong::Stale),
            None => {}
        }
        if sector.iter().all(|byte| *byte == sector[0]) {
            return Some(Wrong::Blank);
        }
        let mut meant = [0; SECTOR_BYTES];
        self.write_sector(&mut meant, place);
        let flipped: u32 = sector.iter().zip(meant).map(|(found, meant)| (found ^ meant).count_ones()).sum();
        Some(if flipped <= FLIPPED_BITS_MAX { Wrong::Flipped } else { Wrong::Other })
    }

    /// Whether a sector was marked, by whichever run and for whichever place.
    pub fn proves_itself(&self, sector: &[u8]) -> bool {
        sector.try_into().is_ok_and(|sector| self.origin(sector).is_some())
    }

    /// The place and the mark of a sector that is whole, whichever run made it.
    pub fn origin(&self, sector: &[u8; SECTOR_BYTES]) -> Option<(u64, Mark)> {
        let (words, _) = sector.as_chunks::<8>();
        let [place, key, third, sum] = [0, 1, 2, 3].map(|index| u64::from_le_bytes(words[index]));
        let head = head_of(place, key, third as u32);
        let is_whole = head[2] == third && head[3] == sum && self.holds(sector, place, &head);
        is_whole.then_some((place, Mark { key, generation: third as u32 }))
    }
}

fn head_of(place: u64, key: u64, generation: u32) -> [u64; HEAD_WORDS] {
    let third = MAGIC | u64::from(generation);
    let sum = mixed(mixed(mixed(place) ^ key) ^ third);
    [place, key, third, sum]
}

/// The finalizer of SplitMix64 (Steele et al., OOPSLA 2014): a bijection, so that no two places have one head.
#[inline]
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const PLACE: u64 = 5 << 20;

    fn payload(key: u64, generation: u32) -> Payload {
        Payload::new(Mark { key, generation })
    }

    fn written(payload: &Payload, place: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        payload.write(&mut buffer, place);
        buffer
    }

    #[test]
    fn every_wrong_bit_and_every_other_place_is_told() {
        let ours = payload(7, 1);
        let mut buffer = written(&ours, PLACE, 1 << 20);
        assert!(payload(7, 1).is_in(&buffer, PLACE), "the mark is enough");
        assert!(!payload(8, 1).is_in(&buffer, PLACE) && !payload(7, 2).is_in(&buffer, PLACE));
        assert!(!ours.is_in(&buffer, PLACE + 512), "another place");
        assert!(ours.is_in(&buffer[4096..], PLACE + 4096), "in other requests too");
        for wrong in [0, 8, 16, 20, 24, 31, 32, 511, 512, 700_000, (1 << 20) - 1] {
            buffer[wrong] ^= 1;
            assert!(!ours.is_in(&buffer, PLACE), "byte {wrong}");
            buffer[wrong] ^= 1;
        }
        assert!(!ours.is_in(&vec![0; 1 << 20], PLACE), "zeroes");
        assert!(ours.is_in(&[], 0));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let ours = payload(7, 2);
        let block = |payload: &Payload, place| written(payload, place, JUDGED_BYTES);
        let judged = |block: &[u8]| ours.judge(block, PLACE);
        assert_eq!(judged(&block(&ours, PLACE)), None);
        assert_eq!(judged(&block(&payload(7, 1), PLACE)), Some(Wrong::Stale), "an older write");
        assert_eq!(judged(&block(&payload(6, 9), PLACE)), Some(Wrong::Stale), "an earlier run");
        assert_eq!(judged(&block(&ours, PLACE + 8192)), Some(Wrong::Misplaced(8192)));
        assert_eq!(judged(&block(&payload(7, 1), 0)), Some(Wrong::Misplaced(-(PLACE as i64))));
        assert_eq!(judged(&[0; JUDGED_BYTES]), Some(Wrong::Blank));
        assert_eq!(judged(&[0xff; JUDGED_BYTES]), Some(Wrong::Blank));
        let mut torn = block(&ours, PLACE);
        torn[2048..].copy_from_slice(&block(&payload(7, 1), PLACE)[2048..]);
        assert_eq!(judged(&torn), Some(Wrong::Stale), "half a write");
        for bit in [0, 100, 4095] {
            let mut flipped = block(&ours, PLACE);
            flipped[1024 + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(judged(&flipped), Some(Wrong::Flipped));
        }
        let mut noise = vec![0; JUDGED_BYTES];
        Prng::new(3, 3).fill(&mut noise);
        assert_eq!(judged(&noise), Some(Wrong::Other));
    }

    #[test]
    fn where_nothing_was_written_only_what_belongs_elsewhere_is_wrong() {
        let (ours, nothing) = (payload(7, 1), payload(7, 0));
        let mut noise = vec![0; 2 * JUDGED_BYTES];
        assert!(nothing.is_in(&noise, PLACE));
        Prng::new(3, 3).fill(&mut noise);
        assert!(nothing.is_in(&noise, PLACE));
        assert!(nothing.is_in(&written(&ours, PLACE, JUDGED_BYTES), PLACE));
        assert!(nothing.is_in(&written(&payload(6, 1), 0, JUDGED_BYTES), PLACE), "another run's");
        ours.write(&mut noise[JUDGED_BYTES..], 0);
        assert!(!nothing.is_in(&noise, PLACE));
        let second = PLACE + JUDGED_BYTES as u64;
        assert_eq!(nothing.judge(&noise[JUDGED_BYTES..], second), Some(Wrong::Misplaced(-(second as i64))));
    }

    #[test]
    fn no_two_sectors_are_alike() {
        let mut seen = BTreeSet::new();
        for generation in 1..4 {
            let buffer = written(&payload(7, generation), 0, 256 << 10);
            buffer.chunks(64).for_each(|piece| assert!(seen.insert(piece.to_vec()), "64 bytes came twice"));
            let mut counts = [0usize; 256];
            buffer.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
            // But for the heads all bytes are about equally frequent.
            assert!(counts[1..].iter().all(|&count| count < 2 * buffer.len() / 256), "compressible");
        }
    }
}
