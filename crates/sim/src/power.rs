//! Data behind a write cache that loses its power.
//!
//! What is in a cache gets to the medium in any order, sector by sector, so a cut leaves any part of it. Drives promise no more: a
//! write is atomic for a sector, and SQLite, PostgreSQL and file systems rely on no more ("Atomic commit in SQLite", 2.2).

use crate::contents::{Contents, ContentsError};
use crate::flush::FlushPolicy;
use model::prng::Prng;
use model::units::Bytes;
use std::collections::BTreeMap;

const SECTOR: usize = 512;

pub struct CachedContents {
    medium: Contents,
    policy: FlushPolicy,
    /// Sectors that wait, by their offset, with the number of their write.
    waiting: BTreeMap<u64, (u64, [u8; SECTOR])>,
    /// The same by the number of their write: which is the oldest.
    ages: BTreeMap<u64, u64>,
    sectors_max: usize,
    writes: u64,
}

impl CachedContents {
    /// Data behind a cache of so many bytes; without one, each write is on the medium at once.
    pub fn new(medium: Contents, policy: FlushPolicy, cache: Bytes) -> CachedContents {
        CachedContents {
            medium,
            policy,
            waiting: BTreeMap::new(),
            ages: BTreeMap::new(),
            sectors_max: cache.get() as usize / SECTOR,
            writes: 0,
        }
    }

    /// Writes whole sectors.
    ///
    /// # Errors
    /// When it is past the end, or the memory is used up.
    pub fn write(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), ContentsError> {
        let mut at = offset_bytes;
        for sector in data.as_chunks::<SECTOR>().0 {
            if let Some((older, _)) = self.waiting.insert(at, (self.writes, *sector)) {
                self.ages.remove(&older);
            }
            self.ages.insert(self.writes, at);
            self.writes += 1;
            at += SECTOR as u64;
        }
        while self.waiting.len() > self.sectors_max {
            self.store_oldest()?;
        }
        Ok(())
    }

    fn store_oldest(&mut self) -> Result<(), ContentsError> {
        let Some((_, oldest)) = self.ages.pop_first() else { return Ok(()) };
        let (_, sector) = self.waiting.remove(&oldest).expect("what has an age waits");
        self.medium.write(oldest, &sector)
    }

    /// # Errors
    /// When the memory is used up.
    pub fn flush(&mut self) -> Result<(), ContentsError> {
        while self.policy.stores() && !self.waiting.is_empty() {
            self.store_oldest()?;
        }
        Ok(())
    }

    /// Cuts the power: what is on the medium then, and how many sectors of the cache are lost.
    ///
    /// # Errors
    /// When the memory is used up.
    pub fn cut(mut self, chance: &mut Prng) -> Result<(Contents, u64), ContentsError> {
        let mut lost = 0;
        for (at, (_, sector)) in &self.waiting {
            // Capacitors last until all of it is stored; without them half of it was on its way.
            if self.policy == FlushPolicy::Protected || chance.below(2) == 0 {
                self.medium.write(*at, sector)?;
            } else {
                lost += 1;
            }
        }
        Ok((self.medium, lost))
    }
}
