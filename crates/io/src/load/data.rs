//! What is written: bytes that a drive can neither compress nor deduplicate, unless something else was asked for.

use model::prng::Prng;
use model::workload::DataPattern;

/// Deduplication works on blocks of this size or larger, so each is made different.
const STAMP_EVERY: usize = 4096;

/// Data that follow from their place are made for sectors of this size, the smallest of any drive.
const SECTOR: usize = 512;
/// How much of them is drawn. What follows repeats it under other heads.
const BODY_BYTES: usize = 64 << 10;
/// At the start of each sector: what tells it from all others.
const HEAD_BYTES: usize = 16;

/// Fills and stamps the buffers of writes, and compares those of reads.
pub struct WriteData {
    stamped: bool,
    prng: Prng,
    addressed: Option<Addressed>,
}

/// What a sector holds follows from the seed and its place.
struct Addressed {
    seed: u64,
    body: Box<[u8]>,
}

impl Addressed {
    fn new(seed: u64) -> Addressed {
        let mut body = vec![0; BODY_BYTES].into_boxed_slice();
        Prng::new(seed, u64::from_le_bytes(*b"the body")).fill(&mut body);
        Addressed { seed, body }
    }

    #[inline]
    fn head(&self, offset: u64) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        head[..8].copy_from_slice(&mixed(self.seed ^ offset).to_le_bytes());
        head[8..].copy_from_slice(&mixed(self.seed.rotate_left(32) ^ !offset).to_le_bytes());
        head
    }

    /// The sector at a place, without its head.
    #[inline]
    fn tail(&self, offset: u64) -> &[u8] {
        let from = (offset / SECTOR as u64 * SECTOR as u64 % BODY_BYTES as u64) as usize;
        &self.body[from + HEAD_BYTES..from + SECTOR]
    }

    fn write(&self, buffer: &mut [u8], offset: u64) {
        for (sector, place) in buffer.chunks_exact_mut(SECTOR).zip((offset..).step_by(SECTOR)) {
            sector[..HEAD_BYTES].copy_from_slice(&self.head(place));
            sector[HEAD_BYTES..].copy_from_slice(self.tail(place));
        }
    }

    fn matches(&self, buffer: &[u8], offset: u64) -> bool {
        let mut sectors = buffer.chunks_exact(SECTOR).zip((offset..).step_by(SECTOR));
        sectors.all(|(sector, place)| {
            sector[..HEAD_BYTES] == self.head(place) && sector[HEAD_BYTES..] == *self.tail(place)
        })
    }
}

/// The finalizer of SplitMix64 (Steele et al., "Fast splittable pseudorandom number generators", OOPSLA 2014): a
/// bijection, so that no two places have one head.
#[inline]
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl WriteData {
    /// Data of that pattern; the stamps come from the seed.
    pub fn new(pattern: &DataPattern, seed: u64) -> WriteData {
        WriteData {
            stamped: *pattern == DataPattern::Incompressible,
            prng: Prng::new(seed, u64::from_le_bytes(*b"the data")),
            addressed: (*pattern == DataPattern::Addressed).then(|| Addressed::new(seed)),
        }
    }

    /// Fills a buffer once, before the phase.
    pub fn fill(&mut self, pattern: &DataPattern, buffer: &mut [u8]) {
        match pattern {
            DataPattern::Incompressible => self.prng.fill(buffer),
            // Each request makes its own.
            DataPattern::Addressed | DataPattern::Zero => buffer.fill(0),
            DataPattern::Given(bytes) => {
                buffer.chunks_mut(bytes.len()).for_each(|chunk| chunk.copy_from_slice(&bytes[..chunk.len()]));
            }
        }
    }

    /// Makes every block of a buffer of random bits different from all before, at the cost of 16 bytes a block.
    /// Filling it anew for every request would measure the processor instead of the drive.
    ///
    /// Data that follow from their place are made for `offset`.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8], offset: u64) {
        if let Some(addressed) = &self.addressed {
            addressed.write(buffer, offset);
        }
        if !self.stamped {
            return;
        }
        for block in buffer.chunks_mut(STAMP_EVERY) {
            if let Some(head) = block.first_chunk_mut::<16>() {
                head[..8].copy_from_slice(&self.prng.next_u64().to_le_bytes());
                head[8..].copy_from_slice(&self.prng.next_u64().to_le_bytes());
            }
        }
    }

    /// Whether reads are to be compared.
    #[inline]
    pub fn is_compared(&self) -> bool {
        self.addressed.is_some()
    }

    /// Whether a buffer holds what is written at `offset`. An empty one holds nothing else.
    pub fn matches(&self, buffer: &[u8], offset: u64) -> bool {
        self.addressed.as_ref().is_none_or(|addressed| addressed.matches(buffer, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_blocks_are_alike() {
        let pattern = DataPattern::Incompressible;
        let mut data = WriteData::new(&pattern, 1);
        let mut buffer = vec![0; 16 * STAMP_EVERY];
        data.fill(&pattern, &mut buffer);
        let mut seen = BTreeSet::new();
        for _ in 0..10 {
            data.stamp(&mut buffer, 0);
            for block in buffer.chunks(STAMP_EVERY) {
                assert!(seen.insert(block.to_vec()), "a block was written twice");
            }
        }
        // Random bytes use all 256 values about equally: no byte is more than twice as frequent as 1/256.
        let mut counts = [0usize; 256];
        buffer.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        assert!(counts.iter().all(|&count| count < 2 * buffer.len() / 256), "compressible");
    }

    #[test]
    fn addressed_data_tell_every_wrong_bit_and_every_other_place() {
        let mut data = WriteData::new(&DataPattern::Addressed, 7);
        let mut buffer = vec![0; 1 << 20];
        data.stamp(&mut buffer, 5 << 20);
        assert!(WriteData::new(&DataPattern::Addressed, 7).matches(&buffer, 5 << 20), "the seed is enough");
        assert!(!WriteData::new(&DataPattern::Addressed, 8).matches(&buffer, 5 << 20));
        assert!(!data.matches(&buffer, 6 << 20), "another place");
        assert!(data.matches(&buffer[4096..], (5 << 20) + 4096), "in other requests too");
        for wrong in [0, 15, 16, 511, 512, 700_000, (1 << 20) - 1] {
            buffer[wrong] ^= 1;
            assert!(!data.matches(&buffer, 5 << 20), "byte {wrong}");
            buffer[wrong] ^= 1;
        }
        buffer.swap_with_slice(&mut vec![0; 1 << 20]);
        assert!(!data.matches(&buffer, 5 << 20), "zeroes");
        assert!(data.matches(&[], 0));
    }

    #[test]
    fn given_data_stays_as_given() {
        let pattern = DataPattern::Given(vec![1, 2, 3]);
        let mut data = WriteData::new(&pattern, 1);
        let mut buffer = [0; 7];
        data.fill(&pattern, &mut buffer);
        data.stamp(&mut buffer, 0);
        assert_eq!(buffer, [1, 2, 3, 1, 2, 3, 1]);
    }
}
