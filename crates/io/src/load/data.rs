//! What is written: bytes that a drive can neither compress nor deduplicate, unless something else was asked for.

use model::prng::Prng;
use model::workload::DataPattern;

/// Deduplication works on blocks of this size or larger, so each is made different.
const STAMP_EVERY: usize = 4096;

/// Fills and stamps the buffers of writes.
pub struct WriteData {
    stamped: bool,
    prng: Prng,
}

impl WriteData {
    /// Data of that pattern; the stamps come from the seed.
    pub fn new(pattern: &DataPattern, seed: u64) -> WriteData {
        WriteData {
            stamped: *pattern == DataPattern::Incompressible,
            prng: Prng::new(seed, u64::from_le_bytes(*b"the data")),
        }
    }

    /// Fills a buffer once, before the phase.
    pub fn fill(&mut self, pattern: &DataPattern, buffer: &mut [u8]) {
        match pattern {
            DataPattern::Incompressible => self.prng.fill(buffer),
            DataPattern::Zero => buffer.fill(0),
            DataPattern::Given(bytes) => {
                buffer.chunks_mut(bytes.len()).for_each(|chunk| chunk.copy_from_slice(&bytes[..chunk.len()]));
            }
        }
    }

    /// Makes every block of a buffer of random bits different from all before, at the cost of 16 bytes a block.
    /// Filling it anew for every request would measure the processor instead of the drive.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8]) {
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
            data.stamp(&mut buffer);
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
    fn given_data_stays_as_given() {
        let pattern = DataPattern::Given(vec![1, 2, 3]);
        let mut data = WriteData::new(&pattern, 1);
        let mut buffer = [0; 7];
        data.fill(&pattern, &mut buffer);
        data.stamp(&mut buffer);
        assert_eq!(buffer, [1, 2, 3, 1, 2, 3, 1]);
    }
}
