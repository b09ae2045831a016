//! What a drive-managed SMR disk really does, computed from its profile and never from running it.
//!
//! After the cliff a random write waits until a band has been cleaned, so that everything follows from how many bands
//! have to be cleaned for how many bytes. Over a span of S bytes in N bands, with C of them in the media cache, each
//! cleaned band makes room for what the cache has of it:
//! - **In a round**, the band that was left alone longest comes next. With x = the share of bands cleaned since the
//!   cliff, a = 1 − C/S, and overwritten copies taking no room, W(x) = S·ln(a + (1 − a)·e^(x/a)) bytes were written
//!   until each band was cleaned once, which for a small C/S is C·(e^x − 1): (e − 1) = 1.7 caches for a round. Bands
//!   to which nothing was written are passed over: that is most of them when there are more bands than entries.
//!   Where bands differ in size, x is the share of bytes.
//! - **The band of the oldest entry** (FIFO), where the cache is a ring: see [`super::oldest_first`].
//!
//! All are limits of many bands. The whole rate over the first W bytes after the cliff is then W/(T + W/R), with the time T
//! to clean those bands and the rate R of the appends; in the reference calculation 1/(1/R + t·S/(g·C·B)).
//!
//! Before the cliff packets follow each other without a gap, since the write cache has the next one at hand, or the queue has a write that
//! came while the one before it was written. Without either a write is taken up when the one before it was answered: the place behind
//! it in the log has passed by then, and each write takes whole turns beside its data.

use crate::disk::mechanism::Mechanism;
use crate::disk::profile::{DiskProfile, QueuePolicy};
use crate::link::LinkNumbers;
use crate::smr::bands::Bands;
use crate::smr::cleaning::clean_s;
use crate::smr::most_dirty::{self, SizeClass};
use crate::smr::oldest_first::{self, Room};
use crate::smr::profile::{CleaningOrder, CleaningPolicy, SLOT_BYTES, SmrProfile, disk_on_platter};
use model::request::Operation;
use model::units::{Bytes, KIB};

/// Cleaning takes twice as long inside as outside at most: within one of so many stretches it differs by some percent.
const STRETCHES: u32 = 32;

/// So many writes are under way at least: as many as SATA's queue takes. A link may take fewer.
const DEPTH: u32 = 32;

/// Random writes of one size, at places that are multiples of it, over the first bytes of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomWrites {
    pub request_bytes: u64,
    /// Over how much of the drive, in bytes.
    pub span_bytes: u64,
}

pub struct ShingledTruth {
    smr: SmrProfile,
    mechanism: Mechanism,
    bands: Bands,
    write_cache_bytes: u64,
    overhead_s: f64,
    /// Until the place behind the last packet comes by when a band was cleaned: settling and half a turn.
    return_s: f64,
    /// Whether the latest of the writes that wait is known when the one before it ends, and chosen since its place comes next.
    goes_on: bool,
    link: Option<LinkNumbers>,
}

impl ShingledTruth {
    /// The truth about a drive of two checked sections and that capacity, at the end of a link that costs nothing.
    pub fn new(capacity: Bytes, disk: &DiskProfile, smr: &SmrProfile) -> ShingledTruth {
        let (platter, disk) = disk_on_platter(capacity, disk, smr);
        ShingledTruth {
            mechanism: Mechanism::new(platter, &disk, 0),
            bands: Bands::new(&smr.band_zones, capacity.get()),
            write_cache_bytes: disk.write_cache.capacity_kib * KIB,
            overhead_s: disk.command_overhead_ms / 1e3,
            return_s: disk.write_settle_ms / 1e3 + 0.5 * disk.turn_s(),
            goes_on: disk.queue.policy != QueuePolicy::FirstCome && disk.queue.depth >= DEPTH,
            link: None,
            smr: smr.clone(),
        }
    }

    pub fn behind(self, link: Option<&LinkNumbers>) -> ShingledTruth {
        let queues = link.is_none_or(|link| link.queue_depth_max > 1);
        ShingledTruth { link: link.cloned(), goes_on: self.goes_on && queues, ..self }
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

    pub fn band_bytes(&self, byte: u64) -> u64 {
        self.band_bytes_of(self.bands.of(byte))
    }

    fn band_bytes_of(&self, band: u32) -> u64 {
        let range = self.bands.range(band);
        range.end - range.start
    }

    pub fn rate_before_cliff(&self, writes: RandomWrites) -> f64 {
        let request_s = match self.write_cache_bytes {
            0 => self.unbuffered_s(writes.request_bytes),
            _ => self.buffered_s(writes.request_bytes).max(self.carried_s(writes.request_bytes)),
        };
        writes.request_bytes as f64 / request_s
    }

    /// What a request takes the link, in seconds; where that carries one command at a time, with the drive's answer to each.
    fn carried_s(&self, request_bytes: u64) -> f64 {
        let Some(link) = &self.link else { return 0.0 };
        let rate = link.bytes_per_second(Operation::Write, request_bytes as u32, DEPTH);
        let commands = request_bytes.div_ceil(u64::from(link.transfer_bytes_max));
        let answers_s = if link.queue_depth_max == 1 { commands as f64 * self.overhead_s } else { 0.0 };
        request_bytes as f64 / rate + answers_s
    }

    /// What a request takes that shares full packets with others, in seconds.
    fn buffered_s(&self, request_bytes: u64) -> f64 {
        let packets = slots_bytes(request_bytes) as f64 / self.smr.packet_bytes as f64;
        self.log_s(slots_bytes(request_bytes)) + packets * self.journal_s()
    }

    /// What a request takes without a write cache, in seconds. Each of its commands has packets of its own, and behind the last of them
    /// the arm goes on at once or waits until the place behind it comes by again.
    fn unbuffered_s(&self, request_bytes: u64) -> f64 {
        let most = self.link.as_ref().map_or(u64::MAX, |link| u64::from(link.transfer_bytes_max));
        let (whole, rest) = (request_bytes / most, request_bytes % most);
        let rest_s = if rest > 0 { self.unbuffered_command_s(rest) } else { 0.0 };
        let whole_s = if whole > 0 { whole as f64 * self.unbuffered_command_s(most) } else { 0.0 };
        whole_s + rest_s
    }

    fn unbuffered_command_s(&self, bytes: u64) -> f64 {
        let packets = slots_bytes(bytes).div_ceil(self.smr.packet_bytes) as f64;
        let journal_s = packets * self.journal_s();
        let turn_s = self.mechanism.turn_s();
        let until_next_s = match self.goes_on {
            true => journal_s,
            false => ((journal_s + self.between_s(bytes)) / turn_s).ceil() * turn_s,
        };
        self.log_s(slots_bytes(bytes)) + until_next_s
    }

    /// From the answer to one command until the arm can turn to the next, in seconds: less where that waits at the drive.
    fn between_s(&self, bytes: u64) -> f64 {
        match &self.link {
            Some(link) if link.queue_depth_max == 1 => {
                let carried_s = bytes as f64 / link.write_bytes_per_second;
                link.command_overhead_s + carried_s + link.command_latency_s + self.overhead_s
            }
            _ => self.overhead_s,
        }
    }

    /// What the data of so many bytes of the log take to pass the head, in seconds.
    fn log_s(&self, bytes: u64) -> f64 {
        let cache_bytes = self.smr.media_cache_bytes;
        self.reading_s(0, cache_bytes) / cache_bytes as f64 * bytes as f64
    }

    fn journal_s(&self) -> f64 {
        self.smr.journal_turns * self.mechanism.turn_s()
    }

    /// How much the host has written at random when the rate falls, in bytes, the volatile write cache filled as well.
    /// None when the span is too small to fill the media cache. Without idle time, from an empty one.
    pub fn cliff_bytes(&self, writes: RandomWrites) -> Option<f64> {
        let (span, slots) = (writes.span_bytes as f64, slots_bytes(writes.request_bytes) as f64);
        let requests = span / slots;
        let written_until = |share: f64| if share < 1.0 { -span * (1.0 - share).ln() } else { f64::INFINITY };
        let by_entries = written_until(self.requests_listed(writes) / requests);
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

    /// The rate of so many bytes of random writes after `from_bytes` of them, in bytes per second, flushed to the medium. The host saw
    /// the rate fall at `fell_bytes`, earlier than at the cliff where something was written before. None without a cliff.
    pub fn rate_over(
        &self,
        writes: RandomWrites,
        fell_bytes: f64,
        from_bytes: f64,
        bytes: f64,
    ) -> Option<f64> {
        let full = fell_bytes - self.write_cache_bytes as f64;
        let seconds = |written: f64| {
            let before_s = written.min(full) / self.rate_before_cliff(writes);
            let after = written - full;
            let after_s = if after > 0.0 { after / self.rate_after_cliff(writes, after)? } else { 0.0 };
            Some(before_s + after_s)
        };
        Some(bytes / (seconds(from_bytes + bytes)? - seconds(from_bytes)?))
    }

    /// How many requests the map has entries for. A request that goes across the border of a band takes two.
    fn requests_listed(&self, writes: RandomWrites) -> f64 {
        let mut across = 0.0;
        for band in 0..self.span_bands(writes.span_bytes) as u32 {
            let border = self.bands.range(band).end;
            if border < writes.span_bytes && !border.is_multiple_of(writes.request_bytes) {
                across += 1.0;
            }
        }
        let requests = writes.span_bytes as f64 / writes.request_bytes as f64;
        self.smr.map_entries as f64 / (1.0 + across / requests)
    }

    pub fn full_bytes(&self, writes: RandomWrites) -> f64 {
        let by_entries = self.requests_listed(writes) * slots_bytes(writes.request_bytes) as f64;
        by_entries.min(self.smr.media_cache_bytes as f64).min(writes.span_bytes as f64)
    }

    /// The rate of random writes over the first `bytes` after the cliff, in bytes per second. None when there is no cliff.
    pub fn rate_after_cliff(&self, writes: RandomWrites, bytes: f64) -> Option<f64> {
        self.cliff_bytes(writes)?;
        let full = self.full_bytes(writes);
        let cleaning_s = match self.smr.cleaning_order {
            CleaningOrder::Fifo => self.oldest_first_s(writes, bytes),
            CleaningOrder::MostDirty => self.most_dirty_s(writes, bytes, full),
            CleaningOrder::RoundRobin => self.round_s(writes, bytes, full),
        };
        Some(bytes / (cleaning_s + bytes / self.rate_before_cliff(writes)))
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
        let mean_s = self.mean_clean_s(writes.span_bytes) + self.return_s;
        let (mut seconds, mut cleaned_bytes) = (0.0, 0.0);
        for band in 0..bands as u32 {
            let written = written_at(cleaned_bytes / span);
            if written > bytes {
                return seconds;
            }
            let band_bytes = self.band_bytes_of(band) as f64;
            let is_dirty = 1.0 - (-writes_per_byte(written) * band_bytes).exp();
            seconds += is_dirty * self.clean_and_return_s(band);
            cleaned_bytes += band_bytes;
        }
        // In the long run a band that is cleaned is twice as dirty as the mean.
        let later_rounds = (bytes - written_at(1.0)).max(0.0) / (2.0 * full);
        let is_dirty = 1.0 - (-2.0 * writes_per_byte(0.0) * span / bands).exp();
        seconds + later_rounds * bands * mean_s * is_dirty
    }

    /// Seconds of cleaning, the band of the oldest entry first, while so much is written after the cliff.
    fn oldest_first_s(&self, writes: RandomWrites, bytes: f64) -> f64 {
        let slot_bytes = slots_bytes(writes.request_bytes) as f64;
        let log = self.smr.media_cache_bytes as f64 / slot_bytes;
        let room = Room { entries: self.requests_listed(writes), log };
        oldest_first::cleaning_s(&self.size_classes(writes), room, bytes / slot_bytes)
    }

    /// Seconds of cleaning, the most dirty band first, while so much is written after the cliff.
    fn most_dirty_s(&self, writes: RandomWrites, bytes: f64, full: f64) -> f64 {
        let slot_bytes = slots_bytes(writes.request_bytes) as f64;
        let dirty_share = full / writes.span_bytes as f64;
        most_dirty::cleaning_s(&self.size_classes(writes), dirty_share, bytes / slot_bytes)
    }

    /// The bands of the span in stretches that take about as long to clean, the last first: of two as dirty the further in is cleaned.
    fn size_classes(&self, writes: RandomWrites) -> Vec<SizeClass> {
        let slot_bytes = slots_bytes(writes.request_bytes) as f64;
        let count = self.span_bands(writes.span_bytes) as u32;
        let most = f64::from(count.div_ceil(STRETCHES));
        let mut classes: Vec<SizeClass> = Vec::new();
        for band in (0..count).rev() {
            let (slots, clean_s) =
                (self.band_bytes_of(band) as f64 / slot_bytes, self.clean_and_return_s(band));
            match classes.last_mut().filter(|class| class.slots == slots && class.bands < most) {
                Some(class) => {
                    class.clean_s = (class.clean_s * class.bands + clean_s) / (class.bands + 1.0);
                    class.bands += 1.0;
                }
                None => classes.push(SizeClass { bands: 1.0, slots, clean_s }),
            }
        }
        classes
    }

    /// The equation of the reference calculation: the lasting rate when each cleaned band makes room for `gain` times what the media
    /// cache has of a band on average, in B/s: 1 just after the cliff, 1.7 over the first round, 2 in the long run.
    #[cfg(test)]
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

    fn clean_s(&self, band: u32) -> f64 {
        clean_s(&self.mechanism, &self.smr, &self.bands.range(band))
    }

    fn clean_and_return_s(&self, band: u32) -> f64 {
        self.clean_s(band) + self.return_s
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

    /// The idle seconds to clean all that so many bytes of random writes left in the media cache.
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

fn slots_bytes(request_bytes: u64) -> u64 {
    request_bytes.max(1).next_multiple_of(SLOT_BYTES)
}

#[cfg(test)]
#[path = "truth_tests.rs"]
mod tests;
