//! What is written: bytes that a drive can neither compress nor deduplicate, unless something else was asked for.

use model::payload::{JUDGED_BYTES, Payload, Wrong};
use model::prng::Prng;
use model::workload::DataPattern;

/// Deduplication works on blocks of this size or larger, so each is made different.
const STAMP_EVERY: usize = 4096;

pub struct WriteData {
    stamped: bool,
    prng: Prng,
    marked: Option<Payload>,
}

impl WriteData {
    pub fn new(pattern: &DataPattern, seed: u64) -> WriteData {
        WriteData {
            stamped: *pattern == DataPattern::Incompressible,
            prng: Prng::new(seed, u64::from_le_bytes(*b"the data")),
            marked: match pattern {
                DataPattern::Marked(mark) => Some(Payload::new(*mark)),
                _ => None,
            },
        }
    }

    pub fn fill(&mut self, pattern: &DataPattern, buffer: &mut [u8]) {
        match pattern {
            DataPattern::Incompressible => self.prng.fill(buffer),
            // Each request makes its own.
            DataPattern::Marked(_) | DataPattern::Zero => buffer.fill(0),
            DataPattern::Given { bytes } => {
                buffer.chunks_mut(bytes.len()).for_each(|chunk| chunk.copy_from_slice(&bytes[..chunk.len()]));
            }
        }
    }

    /// Makes every block of a buffer of random bits different from all before, at the cost of 16 bytes a block.
    /// Filling it anew for every request would measure the processor instead of the drive.
    ///
    /// Data that carry a mark are made for `offset`.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8], offset: u64) {
        if let Some(marked) = &self.marked {
            marked.write(buffer, offset);
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

    #[inline]
    pub fn is_compared(&self) -> bool {
        self.marked.is_some()
    }

    /// Whether a buffer holds what is written at `offset`. An empty one holds nothing else.
    pub fn matches(&self, buffer: &[u8], offset: u64) -> bool {
        self.marked.as_ref().is_none_or(|marked| marked.is_in(buffer, offset))
    }

    /// Tells of each stretch of a buffer that is wrong in one way: where in the target, how long, how. Allocates nothing.
    pub fn each_wrong(&self, buffer: &[u8], offset: u64, mut tell: impl FnMut(u64, u32, Wrong)) {
        let Some(marked) = &self.marked else { return };
        let mut open: Option<(u64, u32, Wrong)> = None;
        for (block, place) in buffer.chunks(JUDGED_BYTES).zip((offset..).step_by(JUDGED_BYTES)) {
            let length = block.len() as u32;
            let found = marked.judge(block, place);
            match (&mut open, found) {
                (Some((_, so_far, wrong)), Some(found)) if *wrong == found => *so_far += length,
                (_, found) => {
                    if let Some((first, so_far, wrong)) = open.take() {
                        tell(first, so_far, wrong);
                    }
                    open = found.map(|wrong| (place, length, wrong));
                }
            }
        }
        if let Some((first, so_far, wrong)) = open {
            tell(first, so_far, wrong);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::payload::Mark;
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
    fn what_is_wrong_in_a_request_is_told_by_stretches() {
        let pattern = |generation| DataPattern::Marked(Mark { key: 7, generation });
        let (mut data, mut older) = (WriteData::new(&pattern(2), 0), WriteData::new(&pattern(1), 0));
        let mut buffer = vec![0; 64 << 10];
        let place = 1 << 20;
        data.stamp(&mut buffer, place);
        assert!(data.is_compared() && data.matches(&buffer, place));
        older.stamp(&mut buffer[8192..16384], place + 8192);
        buffer[16384..20480].fill(0);
        data.stamp(&mut buffer[61440..], 0);
        assert!(!data.matches(&buffer, place));
        let mut told = Vec::new();
        data.each_wrong(&buffer, place, |first, length, wrong| told.push((first - place, length, wrong)));
        let away = Wrong::Misplaced(-(place as i64) - 61440);
        assert_eq!(told, [(8192, 8192, Wrong::Stale), (16384, 4096, Wrong::Blank), (61440, 4096, away)]);
    }

    #[test]
    fn given_data_stays_as_given() {
        let pattern = DataPattern::Given { bytes: vec![1, 2, 3] };
        let mut data = WriteData::new(&pattern, 1);
        let mut buffer = [0; 7];
        data.fill(&pattern, &mut buffer);
        data.stamp(&mut buffer, 0);
        assert_eq!(buffer, [1, 2, 3, 1, 2, 3, 1]);
    }
}
