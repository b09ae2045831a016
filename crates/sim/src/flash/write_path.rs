//! What happens to writes on their way into the flash, and when.
//!
//! All dies program in step, superblock by superblock, so the flash takes writes one after the other at one rate:
//! ```text
//! buffer ──► SLC cache or dense cells ──► + garbage collection ──► ÷ heat ──► + bursts, table ──► done
//! ```
//!
//! Garbage collection wins a superblock's space at once but the writes that use it up pay evenly. Idle time pays what
//! is owed, then folds the SLC cache, then collects, both caught up at the next request.

use crate::flash::buffer::WriteBuffer;
use crate::flash::housekeeping::Housekeeping;
use crate::flash::layout::Layout;
use crate::flash::presence::Presence;
use crate::flash::profile::{FlashProfile, Initial, MapFlushProfile};
use crate::flash::slc_cache::{SlcCache, WriteRates};
use crate::flash::thermal::Thermal;
use crate::flash::translation::Translation;
use model::units::{KIB, MIB};

#[derive(Clone, Debug)]
pub(crate) struct WritePath {
    layout: Layout,
    rates: WriteRates,
    presence: Presence,
    translation: Translation,
    slc: Option<SlcCache>,
    buffer: WriteBuffer,
    housekeeping: Option<Housekeeping>,
    thermal: Option<Thermal>,
    map_flush: Option<MapFlush>,
    /// When all that has come is in the flash.
    free_s: f64,
    /// Bytes to be moved that have not been paid for, and how many each byte of the host pays.
    owed_bytes: f64,
    owed_share: f64,
    recent_s: f64,
    recent_at_s: f64,
    /// To program one page, which a write that is not buffered waits for, and a flush of one that is.
    program_s: f64,
    is_buffered: bool,
    idle: Idle,
}

#[derive(Clone, Copy, Debug)]
struct Idle {
    fold_after_s: f64,
    collect_after_s: f64,
    free_wanted: u64,
    used_until_s: f64,
}

#[derive(Clone, Debug)]
struct MapFlush {
    profile: MapFlushProfile,
    bytes: u64,
}

/// Over this time what dies did lately fades to 1/e, in seconds: a few programs.
const RECENT_S: f64 = 2e-3;

impl WritePath {
    pub(crate) fn new(profile: &FlashProfile, layout: Layout, capacity_bytes: u64, seed: u64) -> WritePath {
        let (rates, filled) = (profile.write_rates(), profile.initial == Initial::Filled);
        let slc = |slc: &_| SlcCache::new(Clone::clone(slc), rates, capacity_bytes as f64);
        let buffer_bytes = profile.buffer.as_ref().map_or(0, |buffer| buffer.capacity_kib * KIB);
        let collection = &profile.garbage_collection;
        let mut path = WritePath {
            layout,
            rates,
            presence: Presence::new(layout.pages, filled),
            translation: Translation::new(layout, filled),
            slc: profile.slc.as_ref().map(slc),
            buffer: WriteBuffer::new(buffer_bytes as f64),
            housekeeping: profile
                .housekeeping
                .as_ref()
                .map(|housekeeping| Housekeeping::new(housekeeping.clone(), capacity_bytes, seed)),
            thermal: profile.thermal.clone().map(Thermal::new),
            map_flush: profile.map_flush.clone().map(|profile| MapFlush { profile, bytes: 0 }),
            free_s: 0.0,
            owed_bytes: 0.0,
            owed_share: 0.0,
            recent_s: 0.0,
            recent_at_s: 0.0,
            program_s: 1e-6 * profile.slc.as_ref().map_or(profile.program_us, |slc| slc.program_us),
            is_buffered: profile.buffer.is_some(),
            idle: Idle {
                fold_after_s: profile.slc.as_ref().map_or(f64::INFINITY, |slc| slc.idle_s),
                collect_after_s: collection.idle_s,
                free_wanted: (collection.idle_free_share * f64::from(layout.superblocks)) as u64,
                used_until_s: 0.0,
            },
        };
        for range in &profile.discarded {
            path.trim(range.first_byte, range.bytes, capacity_bytes);
        }
        path
    }

    pub(crate) fn free_s(&self) -> f64 {
        self.free_s
    }

    /// When the last page of what has come is programmed. The flash takes the next write before: other dies are free.
    pub(crate) fn programmed_s(&self) -> f64 {
        self.free_s + self.program_s
    }

    /// How many bytes of a range hold data, by whole pages.
    pub(crate) fn bytes_held(&self, offset: u64, bytes: u64) -> u64 {
        let (first, end) = self.pages(offset, bytes);
        self.presence.count_in(first, end) * self.layout.page_bytes
    }

    pub(crate) fn writing(&self, at_s: f64) -> f64 {
        if self.free_s > at_s + RECENT_S {
            return 1.0;
        }
        let faded_s = self.recent_s * (-(at_s - self.recent_at_s).max(0.0) / RECENT_S).exp();
        (faded_s / RECENT_S).min(1.0)
    }

    /// Dies were taken from writing for that share of all their time.
    pub(crate) fn delay(&mut self, seconds: f64, at_s: f64) {
        if self.free_s > at_s {
            self.free_s += seconds;
        }
    }

    /// Takes a write that arrives at `at_s` and lies within the drive; the moment from which on it may be answered.
    pub(crate) fn write(&mut self, offset: u64, bytes: u64, at_s: f64) -> f64 {
        let (first, end) = self.pages(offset, bytes);
        let page_bytes = self.layout.page_bytes;
        let programmed = ((end - first) * page_bytes) as f64;
        let mapped = (self.presence.count() * page_bytes) as f64;
        let new = (self.presence.insert(first, end) * page_bytes) as f64;
        let noted =
            self.housekeeping.as_mut().map(|housekeeping| housekeeping.note_write(offset, bytes, at_s));
        // See `housekeeping`: what sequential writes make it move, it moves in its bursts.
        let pays_for_moves = noted != Some(true);
        let seconds = match &mut self.slc {
            Some(slc) => slc.write(programmed, (new / programmed).min(1.0), mapped),
            None => programmed / self.rates.dense,
        };
        debug_assert!(new <= programmed, "no page is new that is not programmed");
        let moved = self.moved_bytes(first, end, programmed);
        let moved_s = if pays_for_moves { moved / self.rates.dense } else { 0.0 };
        let start_s = self.free_s.max(at_s);
        let work_s = self.heated(programmed, start_s, seconds + moved_s);
        let flushed_s = start_s + self.map_flush_s(bytes);
        let end_s = match &mut self.housekeeping {
            Some(housekeeping) => housekeeping.write(flushed_s, work_s),
            None => flushed_s + work_s,
        };
        debug_assert!(end_s >= start_s, "writing takes time");
        self.free_s = end_s;
        self.recent_s = self.recent_s * (-(at_s - self.recent_at_s).max(0.0) / RECENT_S).exp() + work_s;
        self.recent_at_s = self.recent_at_s.max(at_s);
        let room_s = self.buffer.room_at(programmed, start_s, end_s);
        if self.is_buffered { room_s } else { room_s + self.program_s }
    }

    /// Forgets what lies wholly in a range. As with writes, what is meant is what was written before.
    pub(crate) fn trim(&mut self, offset: u64, bytes: u64, capacity_bytes: u64) {
        let page_bytes = self.layout.page_bytes;
        let first = offset.div_ceil(page_bytes);
        let whole_end = (offset + bytes) / page_bytes;
        let end = if offset + bytes >= capacity_bytes { self.layout.pages } else { whole_end };
        if first >= end {
            return;
        }
        let mapped = (self.presence.count() * page_bytes) as f64;
        let removed = (self.presence.remove(first, end) * page_bytes) as f64;
        self.translation.trim_units(self.layout.units_of(first, end));
        if let Some(slc) = &mut self.slc {
            slc.trim(removed, mapped);
        }
    }

    /// Uses the time since `idle_since_s`, when the drive fell idle, until `now_s`.
    pub(crate) fn use_idle_time(&mut self, idle_since_s: f64, now_s: f64) {
        let mut from_s = idle_since_s.max(self.idle.used_until_s);
        if now_s <= from_s {
            return;
        }
        self.idle.used_until_s = now_s;
        let paid_s = (self.owed_bytes / self.rates.dense).min(now_s - from_s);
        debug_assert!(paid_s >= 0.0, "a debt is paid in time that has passed");
        self.owed_bytes -= paid_s * self.rates.dense;
        from_s += paid_s;
        let fold_s = now_s - from_s.max(idle_since_s + self.idle.fold_after_s);
        if let (Some(slc), true) = (&mut self.slc, fold_s > 0.0) {
            slc.fold_idle(fold_s);
        }
        let collect_s = now_s - from_s.max(idle_since_s + self.idle.collect_after_s);
        if collect_s > 0.0 && self.idle.free_wanted > 0 {
            let units_max = collect_s * self.rates.dense / self.layout.unit_bytes() as f64;
            self.translation.collect_idle(units_max as u64, self.idle.free_wanted);
        }
    }

    fn pages(&self, offset: u64, bytes: u64) -> (u64, u64) {
        (offset / self.layout.page_bytes, (offset + bytes).div_ceil(self.layout.page_bytes))
    }

    /// What garbage collection moves at the expense of a write, in bytes.
    fn moved_bytes(&mut self, first_page: u64, end_page: u64, programmed: f64) -> f64 {
        let moved = self.translation.write_units(self.layout.units_of(first_page, end_page));
        if moved > 0 {
            let unit_bytes = self.layout.unit_bytes() as f64;
            self.owed_bytes += moved as f64 * unit_bytes;
            let room = self.translation.writable_units().max(1) as f64 * unit_bytes;
            self.owed_share = self.owed_bytes / room;
        }
        let paid = self.owed_bytes.min(programmed * self.owed_share);
        self.owed_bytes -= paid;
        paid
    }

    fn heated(&mut self, bytes: f64, start_s: f64, seconds: f64) -> f64 {
        match &mut self.thermal {
            Some(thermal) => thermal.write(bytes, start_s, seconds),
            None => seconds,
        }
    }

    fn map_flush_s(&mut self, bytes: u64) -> f64 {
        let Some(flush) = &mut self.map_flush else { return 0.0 };
        flush.bytes += bytes;
        let every = flush.profile.every_mib * MIB;
        let times = flush.bytes / every;
        flush.bytes %= every;
        times as f64 * flush.profile.stall_ms * 1e-3
    }

    #[cfg(test)]
    pub(crate) fn memory_bytes(&self) -> u64 {
        Presence::memory_bytes_max(self.layout.pages) + self.translation.memory_bytes()
    }
}
