//! What is left of acknowledged records after a power cut.
//!
//! A drive may lose the record in flight. Every record before it was flushed: it must be whole, or overwritten by a newer one.

use model::payload::{Payload, SECTOR_BYTES};
use model::power_cut::{Acknowledged, RECORD_BYTES, SECTORS, Survival};

pub struct Judge {
    acknowledged: Acknowledged,
    payload: Payload,
    survival: Survival,
    missing: Vec<u64>,
}

impl Judge {
    pub fn new(acknowledged: Acknowledged) -> Judge {
        let expected = acknowledged.expected();
        Judge {
            acknowledged,
            payload: acknowledged.ring.payload(),
            survival: Survival {
                acknowledged: acknowledged.count,
                expected: expected.end - expected.start,
                ..Survival::default()
            },
            missing: Vec::new(),
        }
    }

    /// Where `record`, one of those expected, was written: what is there now.
    pub fn slot(&mut self, record: u64, found: &[u8; RECORD_BYTES]) {
        let ring = self.acknowledged.ring;
        let mut offset = ring.offset_of(record);
        let mut sectors = [None; SECTORS];
        for (sector, bytes) in sectors.iter_mut().zip(found.as_chunks::<SECTOR_BYTES>().0) {
            *sector = ring.record_of(&self.payload, bytes, offset);
            offset += SECTOR_BYTES as u64;
        }
        let is_there = |sector: &Option<u64>| matches!(sector, Some(number) if *number >= record);
        let there = sectors.iter().filter(|sector| is_there(sector)).count();
        if there == SECTORS {
            self.survival.kept += 1;
            // A newer one that is there in part was in flight.
            if sectors.iter().all(|sector| *sector == sectors[0]) {
                self.survival.newest = self.survival.newest.max(sectors[0]);
            }
            return;
        }
        self.missing.push(record);
        match there {
            0 if sectors.iter().all(Option::is_some) => self.survival.stale += 1,
            0 => self.survival.lost += 1,
            _ => self.survival.torn += 1,
        }
    }

    pub fn finish(mut self) -> Survival {
        let newest = self.survival.newest;
        self.survival.reordered =
            self.missing.iter().filter(|record| matches!(newest, Some(newest) if **record < newest)).count()
                as u64;
        self.survival.first_missing = self.missing.iter().min().copied();
        self.survival.last_missing = self.missing.iter().max().copied();
        self.survival
    }
}

#[cfg(test)]
mod tests;
