//! What a drive-managed SMR disk really does, computed from its profile and never from running it.
//!
//! After the cliff a random write waits until a band has been cleaned, so that everything follows from how many bands
//! have to be cleaned for how many bytes. Over a span of S bytes in N bands, with C of them in the media cache, each
//! cleaned band makes room for what the cache has of it:
//!
//! - **In a round**, the band that was left alone longest comes next. With x = the share of bands cleaned since the
//!   cliff, a = 1 − C/S, and overwritten copies taking no room, W(x) = S·ln(a + (1 − a)·e^(x/a)) bytes were written
//!   until each band was cleaned once, which for a small C/S is C·(e^x − 1): (e − 1) = 1.7 caches for a round. Bands
//!   to which nothing was written are passed over: that is most of them when there are more bands than entries.
//!   Where bands differ in size, x is the share of bytes. In the order of age when entries are what is short comes close to that.
//! - **The most dirty first**: see [`super::most_dirty`].
//! - **In a ring** (FIFO), where room is won only behind the oldest, a band is cleaned for every extent of r bytes at the
//!   tail whose band was not cleaned before: W(x) = r·N·ln(1/(1 − x)) for the first C bytes.
//!
//! Both are limits of many bands. The whole rate over the first W bytes after the cliff is then W/(T + W/R), with the
//! time T to clean those bands and the rate R of the appends. The reference calculation has the same with a constant gain g:
//! 1/(1/R + t·S/(g·C·B)).

use crate::disk::mechanism::Mechanism;
use crate::disk::profile::DiskProfile;
use crate::smr::bands::Bands;
use crate::smr::cleaning::clean_s;
use crate::smr::most_dirty::{self, SizeClass};
use crate::smr::profile::{CleaningOrder, CleaningPolicy, SLOT_BYTES, SmrProfile, disk_on_platter};
use model::units::{Bytes, KIB};
use std::collections::BTreeMap;

/// What the finding `recording-kind` is for every such drive.
pub const RECORDING_KIND: &str = "smr";

/// Random writes of one size, at places that are multiples of it, over the first bytes of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomWrites {
    /// The size of each, in bytes.
    pub request_bytes: u64,
    /// Over how much of the drive, in bytes.
    pub span_bytes: u64,
}

/// A drive whose truth is asked for. Its write cache is taken to be on.
pub struct ShingledTruth {
    smr: SmrProfile,
    mechanism: Mechanism,
    bands: Bands,
    write_cache_bytes: u64,
}

impl ShingledTruth {
    /// The truth about a drive of two checked sections and that capacity.
    pub fn new(capacity: Bytes, disk: &DiskProfile, smr: &SmrProfile) -> ShingledTruth {
        let (platter, disk) = disk_on_platter(capacity, disk, smr);
        ShingledTruth {
            mechanism: Mechanism::new(platter, &disk, 0),
            bands: Bands::new(&smr.band_zones, capacity.0),
            write_cache_bytes: disk.write_cache.capacity_kib * KIB,
            smr: smr.clone(),
        }
    }

    /// The sequential rate around a byte of the drive, in bytes per second: reading, and writing in a stream.
    pub fn sequential_bytes_per_second(&self, byte: u64) -> f64 {
        self.mechanism.rate_at(self.smr.media_cache_bytes + byte)
    }

    /// The time to read all of a clean drive in order, in seconds.
    pub fn pass_s(&self) -> f64 {
        self.reading_s(self.smr.media_cache_bytes, self.bands.capacity_bytes())
    }

    fn reading_s(&self, first_platter_byte: u64, bytes: u64) -> f64 {
        let geometry = self.mechanism.geometry();
        let first = first_platter_byte / geometry.sector_bytes();
        geometry.revolutions_over(first, bytes / geometry.sector_bytes()) * self.mechanism.turn_s()
    }

    /// The size of the band that a byte of the drive is in, in bytes.
    pub fn band_bytes(&self, byte: u64) -> u64 {
        self.band_bytes_of(self.bands.of(byte))
    }

    fn band_bytes_of(&self, band: u32) -> u64 {
        let range = self.bands.range(band);
        range.end - range.start
    }

    /// The rate of random writes while the media cache has room, in bytes per second.
    pub fn rate_before_cliff(&self, writes: RandomWrites) -> f64 {
        let cache_bytes = self.smr.media_cache_bytes;
        let data_s = self.reading_s(0, cache_bytes) / cache_bytes as f64 * self.smr.packet_bytes as f64;
        let packet_s = data_s + self.smr.journal_turns * self.mechanism.turn_s();
        let share_of_slots = writes.request_bytes as f64 / slots_bytes(writes.request_bytes) as f64;
        self.smr.packet_bytes as f64 / packet_s * share_of_slots
    }

    /// How much the host has written at random when the rate falls, in bytes, the volatile write cache filled as well.
    /// None when the media cache never fills, because the span is too small. Without idle time, and from an empty
    /// media cache.
    pub fn cliff_bytes(&self, writes: RandomWrites) -> Option<f64> {
        let (span, slots) = (writes.span_bytes as f64, slots_bytes(writes.request_bytes) as f64);
        let requests = span / slots;
        let written_until = |share: f64| if share < 1.0 { -span * (1.0 - share).ln() } else { f64::INFINITY };
        let by_entries = written_until(self.smr.map_entries as f64 / requests);
        let cache = self.smr.media_cache_bytes as f64;
        let by_bytes = match self.smr.cleaning_order {
            // The last of all places to be overwritten is overwritten after S·ln(n) bytes: an older one is not there.
            CleaningOrder::Fifo if span * requests.ln() > cache => cache,
            CleaningOrder::Fifo => f64::INFINITY,
            CleaningOrder::RoundRobin | CleaningOrder::MostDirty => written_until(cache / span),
        };
        let written = by_bytes.min(by_entries) * writes.request_bytes as f64 / slots;
        written.is_finite().then_some(written + self.write_cache_bytes as f64)
    }

    /// What the media cache holds when it is full of such writes, in bytes.
    pub fn full_bytes(&self, writes: RandomWrites) -> f64 {
        let by_entries = self.smr.map_entries as f64 * slots_bytes(writes.request_bytes) as f64;
        by_entries.min(self.smr.media_cache_bytes as f64).min(writes.span_bytes as f64)
    }

    /// The rate of random writes over the first `bytes` after the cliff, in bytes per second. None when there is no cliff.
    pub fn rate_after_cliff(&self, writes: RandomWrites, bytes: f64) -> Option<f64> {
        self.cliff_bytes(writes)?;
        let full = self.full_bytes(writes);
        let is_short_of_bytes = full >= self.smr.media_cache_bytes as f64;
        let cleaning_s = match self.smr.cleaning_order {
            CleaningOrder::Fifo if is_short_of_bytes => self.ring_s(writes, bytes, full),
            CleaningOrder::MostDirty => self.most_dirty_s(writes, bytes, full),
            CleaningOrder::Fifo | CleaningOrder::RoundRobin => self.round_s(writes, bytes, full),
        };
        Some(bytes / (cleaning_s + bytes / self.rate_before_cliff(writes)))
    }

    /// Seconds of cleaning in a ring while so much is written after the cliff.
    fn ring_s(&self, writes: RandomWrites, bytes: f64, full: f64) -> f64 {
        let bands = self.span_bands(writes.span_bytes);
        let once_each = slots_bytes(writes.request_bytes) as f64 * bands;
        let rounds = |written: f64| 1.0 - (-written / once_each).exp();
        // What follows the first ring is taken to go as the first did.
        let rounds = if bytes <= full { rounds(bytes) } else { rounds(full) * bytes / full };
        rounds * bands * self.mean_clean_s(writes.span_bytes)
    }

    /// Seconds of cleaning in a round while so much is written after the cliff: a sum over the bands, each of which has
    /// to be cleaned unless nothing was written to it, for which the chance is e^−(writes to it on average).
    fn round_s(&self, writes: RandomWrites, bytes: f64, full: f64) -> f64 {
        let span = writes.span_bytes as f64;
        let bands = self.span_bands(writes.span_bytes);
        let clean_share = 1.0 - full / span;
        let written_at = |x: f64| span * (clean_share + (1.0 - clean_share) * (x / clean_share).exp()).ln();
        let writes_per_byte = |written: f64| {
            (written - span * clean_share.ln()) / slots_bytes(writes.request_bytes) as f64 / span
        };
        let mean_s = self.mean_clean_s(writes.span_bytes);
        let in_order = self.smr.cleaning_order == CleaningOrder::RoundRobin;
        let (mut seconds, mut cleaned_bytes) = (0.0, 0.0);
        for band in 0..bands as u32 {
            let written = written_at(cleaned_bytes / span);
            if written > bytes {
                return seconds;
            }
            let band_bytes = self.band_bytes_of(band) as f64;
            let is_dirty = 1.0 - (-writes_per_byte(written) * band_bytes).exp();
            seconds += is_dirty * if in_order { self.clean_s(band) } else { mean_s };
            cleaned_bytes += band_bytes;
        }
        // In the long run a band that is cleaned is twice as dirty as the mean.
        let later_rounds = (bytes - written_at(1.0)).max(0.0) / (2.0 * full);
        let is_dirty = 1.0 - (-2.0 * writes_per_byte(0.0) * span / bands).exp();
        seconds + later_rounds * bands * mean_s * is_dirty
    }

    /// Seconds of cleaning, the most dirty band first, while so much is written after the cliff.
    fn most_dirty_s(&self, writes: RandomWrites, bytes: f64, full: f64) -> f64 {
        let slot_bytes = slots_bytes(writes.request_bytes) as f64;
        let mut by_size: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for band in 0..self.span_bands(writes.span_bytes) as u32 {
            let (bands, clean_s) = by_size.entry(self.band_bytes_of(band)).or_default();
            *bands += 1.0;
            *clean_s += self.clean_s(band);
        }
        let class = |(band_bytes, (bands, clean_s)): (u64, (f64, f64))| SizeClass {
            bands,
            slots: band_bytes as f64 / slot_bytes,
            clean_s: clean_s / bands,
        };
        let classes: Vec<SizeClass> = by_size.into_iter().map(class).collect();
        most_dirty::cleaning_s(&classes, full / writes.span_bytes as f64, bytes / slot_bytes)
    }

    /// The equation of the reference calculation: the lasting rate when each cleaned band makes room for `gain` times what the media
    /// cache has of a band on average, in bytes per second. 1 just after the cliff, 1.7 over the first round, 2 in the
    /// long run.
    pub fn rate_with_gain(&self, writes: RandomWrites, gain: f64) -> f64 {
        let bands = self.span_bands(writes.span_bytes);
        let cleaning_s = self.mean_clean_s(writes.span_bytes) * bands / (gain * self.full_bytes(writes));
        1.0 / (1.0 / self.rate_before_cliff(writes) + cleaning_s)
    }

    /// Mean time to clean a band of the first `span_bytes`, in seconds.
    pub fn mean_clean_s(&self, span_bytes: u64) -> f64 {
        let last = self.bands.of(span_bytes.clamp(1, self.bands.capacity_bytes()) - 1);
        (0..=last).map(|band| self.clean_s(band)).sum::<f64>() / f64::from(last + 1)
    }

    /// Time to clean a band, in seconds.
    fn clean_s(&self, band: u32) -> f64 {
        clean_s(&self.mechanism, &self.smr, &self.bands.range(band))
    }

    fn span_bands(&self, span_bytes: u64) -> f64 {
        f64::from(self.bands.of(span_bytes.clamp(1, self.bands.capacity_bytes()) - 1)) + 1.0
    }

    /// How many bands are dirty after so many bytes of random writes, at most those that fit into the media cache.
    pub fn dirty_bands(&self, writes: RandomWrites, written_bytes: f64) -> f64 {
        let bands = self.span_bands(writes.span_bytes);
        let requests = written_bytes.min(self.full_bytes(writes)) / writes.request_bytes as f64;
        bands * (1.0 - (-requests / bands).exp())
    }

    /// The time to clean all that so many bytes of random writes left in the media cache, in seconds of idle time after
    /// the drive has noticed that it is idle.
    pub fn drain_s(&self, writes: RandomWrites, written_bytes: f64) -> f64 {
        self.dirty_bands(writes, written_bytes) * self.mean_clean_s(writes.span_bytes)
    }

    /// Room in the media cache that is won in each second of idle time after so many bytes of random writes, in bytes per
    /// second: what `idle-recovery` is. None for a drive that is too lazy to clean by then.
    pub fn idle_recovery_bytes_per_second(&self, writes: RandomWrites, written_bytes: f64) -> Option<f64> {
        let full = self.full_bytes(writes);
        let held = written_bytes.min(full);
        let mark = match self.smr.cleaning {
            CleaningPolicy::Aggressive => 0.0,
            CleaningPolicy::Lazy => self.smr.high_water_share,
        };
        (held > mark * full).then(|| held / self.drain_s(writes, written_bytes))
    }
}

/// What a request takes of the media cache, in whole slots.
fn slots_bytes(request_bytes: u64) -> u64 {
    request_bytes.max(1).next_multiple_of(SLOT_BYTES)
}

#[cfg(test)]
#[path = "truth_tests.rs"]
mod tests;
