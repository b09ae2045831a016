//! Which band is cleaned next, and how long that takes.

use crate::disk::mechanism::Mechanism;
use crate::smr::profile::{CleaningOrder, SmrProfile};
use std::collections::BTreeSet;
use std::ops::Range;

/// Seconds to clean the band that goes from where to where on the drive: positionings between the media cache and the
/// band, each with half a turn of waiting, passes over the band at the rate of its zone, and what else a profile says.
/// It does not depend on how much of the band is dirty, and nothing in it is random.
pub fn clean_s(mechanism: &Mechanism, smr: &SmrProfile, band: &Range<u64>) -> f64 {
    let home_byte = smr.media_cache_bytes + band.start;
    let cache = mechanism.place_of(smr.media_cache_bytes / 2).cylinder;
    let distance = mechanism.place_of(home_byte).cylinder.abs_diff(cache);
    let positioning_s = mechanism.seek().seconds(distance) + 0.5 * mechanism.turn_s();
    let pass_s = (band.end - band.start) as f64 / mechanism.rate_at(home_byte);
    f64::from(smr.clean_positionings) * positioning_s
        + f64::from(smr.clean_passes) * pass_s
        + smr.clean_overhead_ms / 1e3
}

/// How much of each band has its newest copy in the media cache, and whose turn it is.
#[derive(Clone, Debug)]
pub struct DirtyBands {
    order: CleaningOrder,
    dirty_bytes: Vec<u64>,
    dirty: BTreeSet<u32>,
    /// By dirty bytes and band; kept only if the most dirty comes first.
    by_bytes: BTreeSet<(u64, u32)>,
    next_band: u32,
}

impl DirtyBands {
    pub fn new(order: CleaningOrder, count: u32) -> DirtyBands {
        DirtyBands {
            order,
            dirty_bytes: vec![0; count as usize],
            dirty: BTreeSet::new(),
            by_bytes: BTreeSet::new(),
            next_band: 0,
        }
    }

    pub fn count(&self) -> usize {
        self.dirty.len()
    }

    pub fn dirty_bytes(&self, band: u32) -> u64 {
        self.dirty_bytes[band as usize]
    }

    pub fn add(&mut self, band: u32, bytes: u64) {
        self.set(band, self.dirty_bytes[band as usize] + bytes);
    }

    pub fn take(&mut self, band: u32, bytes: u64) {
        self.set(band, self.dirty_bytes[band as usize] - bytes);
    }

    fn set(&mut self, band: u32, bytes: u64) {
        let before = std::mem::replace(&mut self.dirty_bytes[band as usize], bytes);
        if bytes == 0 {
            self.dirty.remove(&band);
        } else if before == 0 {
            self.dirty.insert(band);
        }
        if self.order == CleaningOrder::MostDirty && before != bytes {
            self.by_bytes.remove(&(before, band));
            if bytes > 0 {
                self.by_bytes.insert((bytes, band));
            }
        }
    }

    /// Whose turn it is, if one is dirty. `oldest` is the band of what has been in the cache longest.
    pub fn next(&self, oldest: Option<u32>) -> Option<u32> {
        match self.order {
            CleaningOrder::Fifo => oldest,
            CleaningOrder::RoundRobin => {
                let ahead = self.dirty.range(self.next_band..).next();
                ahead.or(self.dirty.first()).copied()
            }
            CleaningOrder::MostDirty => self.by_bytes.last().map(|&(_, band)| band),
        }
    }

    /// Notes that a band was cleaned, so that the round goes on after it.
    pub fn cleaned(&mut self, band: u32) {
        self.next_band = band.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dirtied(order: CleaningOrder) -> DirtyBands {
        let mut bands = DirtyBands::new(order, 10);
        for (band, bytes) in [(7, 30), (2, 50), (4, 20), (4, 25)] {
            bands.add(band, bytes);
        }
        bands
    }

    fn sequence(bands: &mut DirtyBands) -> Vec<u32> {
        std::iter::from_fn(|| {
            let band = bands.next(Some(9))?;
            bands.take(band, bands.dirty_bytes(band));
            bands.cleaned(band);
            Some(band)
        })
        .collect()
    }

    #[test]
    fn the_round_goes_on_where_it_was() {
        let mut bands = dirtied(CleaningOrder::RoundRobin);
        bands.cleaned(3);
        assert_eq!(sequence(&mut bands), [4, 7, 2]);
    }

    #[test]
    fn the_most_dirty_comes_first() {
        let mut bands = dirtied(CleaningOrder::MostDirty);
        bands.take(2, 10);
        assert_eq!(sequence(&mut bands), [4, 2, 7]);
        assert_eq!(bands.count(), 0);
    }

    #[test]
    fn the_oldest_decides_in_fifo() {
        assert_eq!(dirtied(CleaningOrder::Fifo).next(Some(7)), Some(7));
    }
}
