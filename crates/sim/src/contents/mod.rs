//! What is stored on a virtual drive: only what was written takes memory, and faults of a profile may change it.

mod corruption;
mod remembered;
mod sparse;

use crate::fault::{FaultProfile, Wrap};
use corruption::{BLOCK, Corrupted, Wrong};
use model::units::{Bytes, GIB};
use remembered::{Remembered, lost_from};
use sparse::Sparse;
use std::collections::BTreeMap;
use std::fmt;

/// How much memory the contents may use unless [`Contents::with_limit`] says otherwise.
pub const MEMORY_BYTES_MAX: u64 = 4 * GIB;
pub const CAPACITY_MAX: Bytes = Bytes::new(1 << 46);

/// The data of a drive, zeros at first. The same requests on the same seed give the same data.
pub struct Contents {
    capacity_bytes: u64,
    wrap: Wrap,
    stored: Sparse,
    corrupted: Vec<Corrupted>,
    lost_from: u64,
    /// What was written last, the newest at the end, of a drive that loses the rest.
    remembered: Remembered,
    /// Of stale blocks: what was written last, which is not what they hold.
    newest: BTreeMap<u64, Box<[u8]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentsError {
    MemoryFull {
        /// How much of the data was stored, from its start on.
        stored_bytes: u64,
        limit_bytes: u64,
    },
    /// It is not within the drive; nothing was stored.
    PastEnd { capacity_bytes: u64 },
}

impl fmt::Display for ContentsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentsError::MemoryFull { limit_bytes, .. } => write!(
                formatter,
                "cannot store what is written to the virtual drive: its data fill the {limit_bytes} bytes of \
                 memory that they may use; discard some, write less, or write zeros, which take none"
            ),
            ContentsError::PastEnd { capacity_bytes } => {
                write!(formatter, "cannot write past the end of the virtual drive at {capacity_bytes} bytes")
            }
        }
    }
}

impl std::error::Error for ContentsError {}

/// How many blocks of 4096 bytes of such a drive these faults and that seed get wrong; a misplaced write two.
pub fn wrong_blocks(capacity: Bytes, faults: &[FaultProfile], seed: u64) -> u64 {
    corrupted(Bytes::new(wrap(capacity, faults).real_bytes), faults, seed).iter().map(Corrupted::count).sum()
}

fn wrap(capacity: Bytes, faults: &[FaultProfile]) -> Wrap {
    let wraps = faults.iter().filter_map(|fault| match *fault {
        FaultProfile::LyingCapacity { real_bytes, spared_bytes } => Some(Wrap { real_bytes, spared_bytes }),
        _ => None,
    });
    let whole = Wrap { real_bytes: capacity.get(), spared_bytes: 0 };
    wraps.fold(whole, |least, wrap| if wrap.real_bytes < least.real_bytes { wrap } else { least })
}

fn corrupted(real: Bytes, faults: &[FaultProfile], seed: u64) -> Vec<Corrupted> {
    let entries = faults.iter().zip(0..);
    entries.filter_map(|(fault, index)| Corrupted::of_profile(fault, real, seed, index)).collect()
}

impl Contents {
    /// A drive of that capacity with these faults, which were checked: of them those count that change data. `seed`
    /// draws which blocks are wrong. Panics when the drive is larger than 64 TiB.
    pub fn new(capacity: Bytes, faults: &[FaultProfile], seed: u64) -> Contents {
        assert!(capacity <= CAPACITY_MAX, "a drive of at most 64 TiB");
        let wrap = wrap(capacity, faults);
        let real_bytes = wrap.real_bytes;
        assert!(real_bytes > 0 && real_bytes <= capacity.get(), "it holds no more than it says");
        Contents {
            capacity_bytes: capacity.get(),
            wrap,
            lost_from: lost_from(faults),
            remembered: Remembered::of(faults),
            stored: Sparse::new(real_bytes, MEMORY_BYTES_MAX),
            corrupted: corrupted(Bytes::new(real_bytes), faults, seed),
            newest: BTreeMap::new(),
        }
    }

    #[must_use]
    pub fn with_limit(mut self, limit: Bytes) -> Contents {
        self.stored.limit(limit.get());
        self
    }

    pub fn memory(&self) -> Bytes {
        Bytes::new(self.stored.used_bytes() + self.newest.len() as u64 * BLOCK)
    }

    pub fn read(&self, offset_bytes: u64, into: &mut [u8]) {
        let left = self.capacity_bytes.saturating_sub(offset_bytes).min(into.len() as u64) as usize;
        let (inside, past) = into.split_at_mut(left);
        past.fill(0);
        let (mut offset, mut rest) = (offset_bytes, inside);
        while !rest.is_empty() {
            let at = self.wrap.address(offset);
            let size = (self.wrap.real_bytes - at).min(rest.len() as u64) as usize;
            let (part, after) = rest.split_at_mut(size);
            self.stored.read(at, part);
            if offset + size as u64 > self.lost_from {
                let whole = self.lost_from.saturating_sub(offset) as usize;
                part[whole..].fill(0);
                self.remembered.read(offset, part);
            }
            (offset, rest) = (offset + size as u64, after);
        }
    }

    /// Writes.
    /// Fails when it is past the end, or the memory is used up: then the part before is stored.
    pub fn write(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), ContentsError> {
        let end = offset_bytes.checked_add(data.len() as u64);
        if end.is_none_or(|end| end > self.capacity_bytes) {
            return Err(ContentsError::PastEnd { capacity_bytes: self.capacity_bytes });
        }
        let mut stored = 0;
        while stored < data.len() {
            let at = self.wrap.address(offset_bytes + stored as u64);
            let mut size = (self.wrap.real_bytes - at).min((data.len() - stored) as u64) as usize;
            let part = &data[stored..stored + size];
            self.remembered.write(offset_bytes + stored as u64, part);
            let there = self.lost_from.saturating_sub(offset_bytes + stored as u64).min(size as u64) as usize;
            if there < size {
                if there > 0 {
                    self.store(at, &part[..there]);
                }
                stored += size;
                continue;
            }
            let (kept, full) = if self.corrupted.is_empty() {
                self.store(at, part)
            } else {
                size = part.len().min((BLOCK - at % BLOCK) as usize);
                self.write_to_block(at, &part[..size])
            };
            if full {
                let (stored_bytes, limit_bytes) = ((stored + kept) as u64, self.stored.limit_bytes());
                return Err(ContentsError::MemoryFull { stored_bytes, limit_bytes });
            }
            stored += size;
        }
        Ok(())
    }

    /// Forgets a stretch: all its whole pages of 4096 bytes are zeros again.
    pub fn discard(&mut self, offset_bytes: u64, length_bytes: u64) {
        let end = offset_bytes.saturating_add(length_bytes).min(self.capacity_bytes);
        let mut offset = offset_bytes.min(end);
        while offset < end {
            let at = self.wrap.address(offset);
            let size = (self.wrap.real_bytes - at).min(end - offset);
            self.stored.discard(at, size);
            let blocks = at.div_ceil(BLOCK)..(at + size) / BLOCK;
            if !blocks.is_empty() {
                while let Some((&stale, _)) = self.newest.range(blocks.clone()).next() {
                    self.newest.remove(&stale);
                }
            }
            offset += size;
        }
    }

    fn store(&mut self, at: u64, data: &[u8]) -> (usize, bool) {
        let (kept, result) = self.stored.write(at, data);
        (kept, result.is_err())
    }

    fn write_to_block(&mut self, at: u64, data: &[u8]) -> (usize, bool) {
        let (block, within) = (at / BLOCK, (at % BLOCK) as usize);
        let wrong = self.corrupted.iter().find_map(|corrupted| corrupted.wrong(block));
        let Some(wrong) = wrong else { return self.store(at, data) };
        match wrong {
            Wrong::BitFlip { byte, mask } => {
                let mut data = data.to_vec();
                if let Some(hit) = byte.checked_sub(within).and_then(|byte| data.get_mut(byte)) {
                    *hit ^= mask;
                }
                self.store(at, &data)
            }
            Wrong::Zero => self.store(at, &vec![0; data.len()]),
            Wrong::Lost => (data.len(), false),
            Wrong::Elsewhere { block } => self.store(block * BLOCK + within as u64, data),
            Wrong::Stale => self.write_late(block, within, data),
        }
    }

    /// The block gets what was meant for it the last time.
    fn write_late(&mut self, block: u64, within: usize, data: &[u8]) -> (usize, bool) {
        let size = (self.wrap.real_bytes - block * BLOCK).min(BLOCK) as usize;
        let meant = self.newest.remove(&block);
        let mut newest = match &meant {
            Some(meant) => meant.clone(),
            None => {
                let mut held = vec![0; size].into_boxed_slice();
                self.stored.read(block * BLOCK, &mut held);
                held
            }
        };
        newest[within..within + data.len()].copy_from_slice(data);
        let (kept, full) = match meant {
            Some(meant) => self.store(block * BLOCK, &meant),
            None => (0, self.memory().get() + BLOCK > self.stored.limit_bytes()),
        };
        self.newest.insert(block, newest);
        (kept.min(data.len()), full)
    }
}

#[cfg(test)]
#[path = "contents_tests.rs"]
mod tests;
