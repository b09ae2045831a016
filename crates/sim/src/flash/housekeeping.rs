//! The valleys of an X25-M: short bursts of the drive's own work that recur while it is written sequentially.
//!
//! **Phenomenological.** Nobody outside Intel knows what the firmware does; a mechanistic model of its garbage collection gives valleys of the
//! wrong depth and period. This says what was seen (8thway.blogspot.com, 2009-06-21), by one number for each region of 8 MiB, its fragmentation:
//!
//! | seen | said here |
//! |---|---|
//! | deep valleys after random writes | a random write of s bytes: f += (1 − f) · min(1, 4·s / region) |
//! | a sequential pass makes them narrower, only where it went | f loses 55 % where it is overwritten by smaller writes |
//! | one a minute, under a second, by time and not by place | every 60 s of writing a burst of 0.9·√F s at a tenth of the rate |
//! | they do not vanish with 64 KiB, nor by idling | writes of s < region leave f ≥ 0.007 · (1 − s / region); time does nothing |
//! | gone after a fill with 8 MiB, seldom with 8 MiB after it | writes of a region or more leave f = 0 |
//! | 4 MiB and less bring them back, smaller ones sooner | the same 0.007 · (1 − s / region) is approached from below |
//! | splitting the drive does not isolate its halves | F = 95 % of the mean f of what is written, 5 % of the whole drive's |
//!
//! F is the mean of what the latest writes found, before they changed it. The numbers 4, 55 %, 60 s, 0.9 and 0.1 are the reference calculation's
//! and give the published 0.80 s after 19 h of mixed writes and .54 .36 .24 .16 .11 .07 s in the passes after it; 0.007 and 5 % are ours: the
//! first makes the last of these stay instead of vanish, since it was seen to stay.
//!
//! **Garbage collection**: a drive with housekeeping moves what must be moved for sequential writes within these bursts, so
//! they do not pay for it besides; random writes do. Charged as it accrues, greedy collection would bring the first pass
//! over a drive that was written at random down to a third of its rate all along, which was not seen.
//!
//! **How large a write was**: systems split large writes into pieces, which then arrive one after the other as fast as the
//! link carries them. So a request that continues the one before it, and comes sooner than `joined_mb_per_s` allows,
//! is a piece of the same write. Requests that follow answers come only as fast as the drive writes, and count one
//! by one at any queue depth; the first ones of a deep queue do not, which is a matter of milliseconds.

use crate::flash::profile::HousekeepingProfile;
use model::prng::Prng;
use model::units::KIB;

const STREAMS: usize = 16;
/// Writing goes on, for the interval's sake, over pauses up to this, in seconds.
const PAUSE_S: f64 = 1.0;

/// A burst goes by what was found in about so many regions before it, and not before a pause.
const LATELY_REGIONS: f64 = 2.0;

#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    start: u64,
    end: u64,
    /// Where the latest write began, which may have come in pieces.
    write_start: u64,
    /// From here on it was written by writes of a region or more.
    large_from: Option<u64>,
    counted: u64,
    arrival_s: f64,
    piece_bytes: u64,
    /// When it was last added to, by number of request.
    touched: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Housekeeping {
    profile: HousekeepingProfile,
    prng: Prng,
    capacity_bytes: u64,
    fragmentation: Vec<f32>,
    total: f64,
    streams: [Stream; STREAMS],
    requests: u64,
    /// Fragmentation times bytes, and bytes, as found by the latest writes.
    found: f64,
    found_bytes: f64,
    /// Seconds of writing so far, and when the next burst is due.
    written_s: f64,
    due_s: f64,
    /// When the last write ended, and when the burst under way will.
    last_end_s: f64,
    burst_end_s: f64,
}

impl Housekeeping {
    /// Of a drive of that many bytes.
    pub(crate) fn new(profile: HousekeepingProfile, capacity_bytes: u64, seed: u64) -> Housekeeping {
        let regions = capacity_bytes.div_ceil(u64::from(profile.region_kib) * KIB) as usize;
        let initial = profile.initial_fragmentation;
        let mut housekeeping = Housekeeping {
            prng: Prng::new(seed, u64::from_le_bytes(*b"valleys ")),
            capacity_bytes,
            fragmentation: vec![initial as f32; regions],
            total: f64::from(initial as f32) * regions as f64,
            streams: [Stream::default(); STREAMS],
            requests: 0,
            found: 0.0,
            found_bytes: 0.0,
            written_s: 0.0,
            due_s: 0.0,
            last_end_s: 0.0,
            burst_end_s: 0.0,
            profile,
        };
        housekeeping.due_s = housekeeping.next_interval_s(initial);
        housekeeping
    }

    /// A write arrives, which must lie within the drive; whether it is part of sequential writing.
    pub(crate) fn note_write(&mut self, offset: u64, bytes: u64, arrival_s: f64) -> bool {
        self.requests += 1;
        if arrival_s - self.last_end_s >= PAUSE_S {
            (self.found, self.found_bytes) = (0.0, 0.0);
        }
        self.note_found(offset, bytes);
        let index = match self.streams.iter().position(|stream| stream.end == offset && stream.touched > 0) {
            Some(index) => {
                if !self.is_piece(&self.streams[index], arrival_s) {
                    self.end_write(index);
                }
                index
            }
            None => self.begin_stream(offset, arrival_s),
        };
        let stream = &mut self.streams[index];
        stream.end = offset + bytes;
        stream.arrival_s = arrival_s;
        stream.piece_bytes = bytes;
        stream.touched = self.requests;
        self.is_sequential(&self.streams[index])
    }

    /// When writes that take `seconds` undisturbed and begin at `start_s` are done, with the bursts among them.
    pub(crate) fn write(&mut self, start_s: f64, seconds: f64) -> f64 {
        let pause_s = start_s - self.last_end_s;
        if pause_s < PAUSE_S {
            self.written_s += pause_s.max(0.0);
        }
        let (mut at_s, mut left_s) = (start_s, seconds);
        loop {
            if at_s < self.burst_end_s {
                let done_s = (self.burst_end_s - at_s) * self.profile.rate_factor;
                if done_s >= left_s {
                    at_s += left_s / self.profile.rate_factor;
                    break;
                }
                left_s -= done_s;
                at_s = self.burst_end_s;
            }
            let until_due_s = (self.due_s - self.written_s).max(0.0);
            if left_s < until_due_s {
                self.written_s += left_s;
                at_s += left_s;
                break;
            }
            self.written_s += until_due_s;
            at_s += until_due_s;
            left_s -= until_due_s;
            self.begin_burst(at_s);
        }
        self.last_end_s = at_s;
        at_s
    }

    fn begin_burst(&mut self, at_s: f64) {
        let here = if self.found_bytes > 0.0 { self.found / self.found_bytes } else { 0.0 };
        let everywhere = self.total / self.fragmentation.len() as f64;
        let share = self.profile.elsewhere_share;
        let fragmentation = ((1.0 - share) * here + share * everywhere).clamp(0.0, 1.0);
        let width_s = burst_width_s(&self.profile, fragmentation);
        self.burst_end_s = at_s + width_s;
        let interval_s = self.next_interval_s(fragmentation);
        self.due_s = self.written_s + (interval_s - width_s).max(0.01 * interval_s);
    }

    fn next_interval_s(&mut self, fragmentation: f64) -> f64 {
        let jitter = 1.0 + self.profile.interval_jitter * (2.0 * self.prng.unit() - 1.0);
        burst_interval_s(&self.profile, fragmentation) * jitter
    }

    fn region_bytes(&self) -> u64 {
        u64::from(self.profile.region_kib) * KIB
    }

    /// Whether what arrives now, at the end of a stream, is a piece of the stream's latest write.
    fn is_piece(&self, stream: &Stream, arrival_s: f64) -> bool {
        (arrival_s - stream.arrival_s) * self.profile.joined_mb_per_s * 1e6 < stream.piece_bytes as f64
    }

    fn begin_stream(&mut self, offset: u64, arrival_s: f64) -> usize {
        for index in 0..STREAMS {
            if !self.is_piece(&self.streams[index], arrival_s) {
                self.end_write(index);
            }
        }
        let oldest = (0..STREAMS).min_by_key(|&index| self.streams[index].touched).unwrap_or(0);
        self.finish_stream(oldest);
        self.streams[oldest] =
            Stream { start: offset, end: offset, write_start: offset, counted: offset, ..Stream::default() };
        oldest
    }

    /// A stream's latest write is complete: counts its effect, unless the stream is still too short to tell.
    fn end_write(&mut self, index: usize) {
        let Stream { end, write_start, counted, large_from, .. } = self.streams[index];
        let (region, bytes) = (self.region_bytes(), end - write_start);
        if bytes == 0 {
            return;
        }
        self.streams[index].write_start = end;
        if bytes >= region {
            let from = large_from.unwrap_or(write_start);
            self.streams[index].large_from = Some(from);
            self.streams[index].counted = end;
            self.change(write_start, end, |f, share| f * (1.0 - share));
            // Regions that large writes covered together, none of them alone.
            let first = from.div_ceil(region).max(write_start / region) * region;
            let last = if end == self.capacity_bytes { end } else { end / region * region };
            self.change(first, last, |_, _| 0.0);
            return;
        }
        self.streams[index].large_from = None;
        // A region counts when it has been passed: what its last part finds must not be what its first part left.
        let passed = end / region * region;
        if self.is_sequential(&self.streams[index]) && passed > counted {
            self.streams[index].counted = passed;
            self.heal(counted, passed, bytes);
        }
    }

    fn finish_stream(&mut self, index: usize) {
        let bytes = self.streams[index].end - self.streams[index].write_start;
        self.end_write(index);
        let Stream { counted, end, piece_bytes, .. } = self.streams[index];
        if self.is_sequential(&self.streams[index]) {
            self.heal(counted, end, bytes.max(piece_bytes));
        } else {
            let weight = self.profile.random_weight;
            self.change(counted, end, |f, share| f + (1.0 - f) * (weight * share).min(1.0));
        }
    }

    fn is_sequential(&self, stream: &Stream) -> bool {
        stream.end - stream.start >= u64::from(self.profile.sequential_kib) * KIB
    }

    fn heal(&mut self, from: u64, until: u64, write_bytes: u64) {
        let target = fragmentation_left(&self.profile, write_bytes);
        let kept = 1.0 - self.profile.healing;
        self.change(from, until, |f, share| {
            let kept = kept.powf(share);
            if f > target { (f * kept).max(target) } else { target - (target - f) * kept }
        });
    }

    /// Applies `effect(fragmentation, share of the region)` to the regions between two places.
    fn change(&mut self, from: u64, until: u64, effect: impl Fn(f64, f64) -> f64) {
        let region = self.region_bytes();
        let mut at = from;
        while at < until {
            let end = until.min((at / region + 1) * region);
            let fragmentation = &mut self.fragmentation[(at / region) as usize];
            let old = f64::from(*fragmentation);
            let size = region.min(self.capacity_bytes - at / region * region);
            *fragmentation = effect(old, (end - at) as f64 / size as f64).clamp(0.0, 1.0) as f32;
            self.total += f64::from(*fragmentation) - old;
            at = end;
        }
    }

    fn note_found(&mut self, offset: u64, bytes: u64) {
        let region = self.region_bytes();
        let mut at = offset;
        while at < offset + bytes {
            let end = (offset + bytes).min((at / region + 1) * region);
            self.found += f64::from(self.fragmentation[(at / region) as usize]) * (end - at) as f64;
            at = end;
        }
        self.found_bytes += bytes as f64;
        // What was found long ago fades.
        let lately = LATELY_REGIONS * region as f64;
        if self.found_bytes > lately {
            self.found *= lately / self.found_bytes;
            self.found_bytes = lately;
        }
    }
}

pub fn burst_width_s(profile: &HousekeepingProfile, fragmentation: f64) -> f64 {
    let width_s = profile.width_s * fragmentation.sqrt();
    if width_s < profile.width_s_min { 0.0 } else { width_s }
}

pub fn burst_interval_s(profile: &HousekeepingProfile, fragmentation: f64) -> f64 {
    profile.interval_s / (1.0 + profile.crowding * fragmentation)
}

/// The fragmentation that overwriting sequentially again and again by writes of that size ends at.
pub fn fragmentation_left(profile: &HousekeepingProfile, write_bytes: u64) -> f64 {
    let share = write_bytes as f64 / (u64::from(profile.region_kib) * KIB) as f64;
    profile.small_write_fragmentation * (1.0 - share).max(0.0)
}

/// The fragmentation of what has been overwritten sequentially once more, by writes of that size.
pub fn fragmentation_after_pass(profile: &HousekeepingProfile, fragmentation: f64, write_bytes: u64) -> f64 {
    if write_bytes >= u64::from(profile.region_kib) * KIB {
        return 0.0;
    }
    let (target, kept) = (fragmentation_left(profile, write_bytes), 1.0 - profile.healing);
    if fragmentation > target {
        (fragmentation * kept).max(target)
    } else {
        target - (target - fragmentation) * kept
    }
}

#[cfg(test)]
#[path = "housekeeping_tests.rs"]
mod housekeeping_tests;
