//! A drive-managed SMR disk at work: the parts of a hard disk, with a media cache and bands in place of plain sectors.
//!
//! On the platter the media cache comes first, at the outer edge, then the bands. Whoever needs the arm is served in
//! this order: flushes; reads, and writes that found no room, in turns; what is in the write buffer; cleaning.
//!
//! | what | what it costs |
//! |---|---|
//! | append to the media cache | getting there; the packet's data; `journal_turns` until its entry of the map is written. Packets that follow each other need no getting there |
//! | stream to its band | what the same write costs a plain disk |
//! | cleaning a band | `clean_positionings` times (seek between cache and band + half a turn) + `clean_passes` times the band at its zone's rate + `clean_overhead_ms` |
//! | read | what each fragment costs a plain disk, one after the other: each in the media cache is an excursion there |
//!
//! 128 KiB a packet at 7200 turns a minute and 190 MB/s: 0.7 ms of data and 8.0 ms for the map make 15 MB/s, or 0.27 ms
//! for each 4 KiB, however small the writes are that share a packet (0.26 ms).
//!
//! Cleaning in idle time begins after `idle_delay_seconds`, and is caught up when somebody looks. A request that comes
//! while a band is being cleaned waits until that band is done. Then nothing is cleaned until there was a pause of
//! `resume_delay_seconds`. When there is no room for a write, one band is cleaned, then what fits is admitted.
//!
//! Not modelled: cleaning a band fragment by fragment; sorting a read's fragments by angle; reading slots that a
//! write covers in part; quicker cleaning of empty bands; a media cache of several parts.

use crate::Drive;
use crate::disk::arm::{Arm, moment};
use crate::disk::mechanism::Mechanism;
use crate::disk::profile::DiskProfile;
use crate::disk::queue::Waiting;
use crate::smr::bands::Piece;
use crate::smr::cleaning::clean_s;
use crate::smr::map::ShingledMap;
use crate::smr::media_cache::Fragment;
use crate::smr::profile::{CleaningPolicy, SLOT_BYTES, SmrProfile, disk_on_platter};
use crate::smr::write_buffer::WriteBuffer;
use model::request::{Completion, Operation, Request};
use model::target::TargetFacts;
use model::units::{Bytes, Instant, KIB};

/// Of a stream the arm writes no more than this before it looks up: two tracks of a disk of today.
const STREAM_BYTES_MAX: u64 = 4 << 20;

pub struct SmrDrive {
    arm: Arm,
    smr: SmrProfile,
    map: ShingledMap,
    buffer: WriteBuffer,
    /// Where the host's data that the arm wrote last ended.
    written_end: u64,
    idle: Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Idle {
    /// It waits for `idle_delay_seconds`, if there is anything to clean.
    Waits,
    /// It cleans, and nobody has come since it began with the last band.
    Cleans,
    /// It has begun to clean, and somebody came: it waits for `resume_delay_seconds`.
    Interrupted,
}

impl SmrDrive {
    /// A drive at rest, its media cache empty. `seed` draws the noise of its seeks. Both profiles have passed
    /// [`SmrProfile::check_with`] for the capacity of `facts`. It trims if `facts` say so.
    pub fn new(facts: TargetFacts, disk: &DiskProfile, smr: &SmrProfile, seed: u64) -> SmrDrive {
        let (platter, disk) = disk_on_platter(facts.capacity, disk, smr);
        let mechanism = Mechanism::new(platter, &disk, seed);
        SmrDrive {
            map: ShingledMap::new(smr, facts.capacity.get()),
            buffer: WriteBuffer::new(disk.write_cache.capacity_kib * KIB),
            arm: Arm::new(facts, mechanism, &disk),
            smr: smr.clone(),
            written_end: 0,
            idle: Idle::Waits,
        }
    }

    pub fn map(&self) -> &ShingledMap {
        &self.map
    }

    fn work_until(&mut self, now: Instant) {
        while self.arm.decides_at <= now && (self.work_at(self.arm.decides_s) || self.clean_idle(now)) {}
    }

    fn work_at(&mut self, at_s: f64) -> bool {
        (self.arm.must_write() && self.write_back(at_s)) || self.serve_waiting(at_s) || self.write_back(at_s)
    }

    fn home_byte(&self, byte: u64) -> u64 {
        self.smr.media_cache_bytes + byte
    }

    /// Takes a read: from the buffer, from read-ahead, without the platter where nothing is, or into the queue.
    fn submit_read(&mut self, request: Request, now_s: f64) {
        let (first, end) = self.arm.stretch_of(&request);
        let (first_slot, end_slot) = self.slots_around(first, end);
        if self.buffer.holds(first, end) || self.map.is_unmapped(first_slot, end_slot) {
            return self.arm.finish_at_once(&request, now_s);
        }
        let fragment = self.map.fragments(first, end).next().expect("a stretch is somewhere");
        let place_byte = self.platter_byte(&fragment);
        if fragment.end_byte == end {
            self.arm.read_ahead.stop_if_full(&mut self.arm.mechanism, now_s);
            let others_wait = self.arm.is_waited_for();
            let on_platter = (place_byte, place_byte + (end - first));
            if self.arm.read_ahead_answers(&request, on_platter, now_s, others_wait) {
                return;
            }
        }
        self.arm.enqueue(request, place_byte, now_s);
    }

    fn platter_byte(&self, fragment: &Fragment) -> u64 {
        match fragment.position {
            Some(position) => self.map.cache().platter_byte(position),
            None => self.home_byte(fragment.first_byte),
        }
    }

    fn serve_waiting(&mut self, at_s: f64) -> bool {
        let Some(waiting) = self.arm.queue.take(&self.arm.mechanism, at_s) else { return false };
        let Waiting { request, ready_s: start_s, .. } = waiting;
        let writes = request.operation == Operation::Write;
        self.arm.read_ahead.stop(&mut self.arm.mechanism, at_s);
        let (first, end) = self.arm.stretch_of(&request);
        let (end_s, failed_byte) = if writes {
            (self.write_through(first, end, start_s), None)
        } else {
            self.read_fragments(first, end, start_s)
        };
        self.arm.decide_at(end_s);
        self.arm.wrote_last = false;
        self.arm.finish(&request, end_s, failed_byte);
        true
    }

    /// Reads a stretch fragment by fragment; when it is done, and the first byte that could not be read.
    fn read_fragments(&mut self, first: u64, end: u64, start_s: f64) -> (f64, Option<u64>) {
        let fragments: Vec<Fragment> = self.map.fragments(first, end).collect();
        let mut end_s = start_s;
        for fragment in fragments {
            let mut platter_byte = self.platter_byte(&fragment);
            let mut length = fragment.end_byte - fragment.first_byte;
            if fragment.position.is_some() {
                // The log is a ring: what goes past its end goes on at its beginning.
                let before_wrap = length.min(self.smr.media_cache_bytes - platter_byte);
                if before_wrap < length {
                    end_s = self.arm.mechanism.transfer(platter_byte, before_wrap, false, end_s).end_s;
                    (platter_byte, length) = (0, length - before_wrap);
                }
            }
            self.arm.read_ahead.stop(&mut self.arm.mechanism, end_s);
            let transfer = self.arm.mechanism.transfer(platter_byte, length, false, end_s);
            self.arm.read_ahead.began(&self.arm.mechanism, platter_byte, platter_byte + length, &transfer);
            end_s = transfer.end_s;
            if let Some(byte) = transfer.failed_byte {
                return (end_s, Some(fragment.first_byte + byte.saturating_sub(platter_byte)));
            }
        }
        (end_s, None)
    }
}

impl SmrDrive {
    fn submit_write(&mut self, request: Request, now_s: f64) {
        let length_bytes = u64::from(request.length_bytes);
        if !self.buffer.takes(length_bytes) {
            let place_byte = self.map.cache().platter_byte(self.map.cache().head());
            self.arm.enqueue(request, place_byte, now_s);
        } else if self.arm.takes_writes() && self.buffer.has_room(length_bytes) {
            self.accept_write(&request, now_s);
        } else {
            self.arm.refused.push_back((request, now_s));
        }
    }

    fn accept_write(&mut self, request: &Request, at_s: f64) {
        let (first, end) = self.arm.stretch_of(request);
        self.buffer.add(first, end);
        self.arm.finish_at_once(request, at_s);
    }

    fn admit_refused(&mut self, at_s: f64) {
        while self.arm.flushes.is_empty()
            && let Some(&(request, since_s)) = self.arm.refused.front()
            && self.buffer.has_room(u64::from(request.length_bytes))
        {
            self.arm.refused.pop_front();
            self.accept_write(&request, at_s.max(since_s));
        }
    }

    /// Writes one packet or a part of a stream out of the buffer, or cleans a band in the way; whether it did either.
    fn write_back(&mut self, at_s: f64) -> bool {
        let Some((first, end)) = self.buffer.next(self.written_end) else { return false };
        self.arm.read_ahead.stop(&mut self.arm.mechanism, at_s);
        self.arm.wrote_last = true;
        let end_s = if self.map.is_stream(first, end - first) {
            let end = end.min(first + STREAM_BYTES_MAX);
            self.buffer.take(first, end);
            self.write_stream(first, end, at_s)
        } else {
            self.append_packet(first, end, at_s)
        };
        self.arm.decide_at(end_s);
        if self.buffer.is_empty() {
            self.arm.finish_flushes(end_s);
        }
        self.admit_refused(end_s);
        true
    }

    fn write_through(&mut self, first: u64, end: u64, start_s: f64) -> f64 {
        if self.map.is_stream(first, end - first) {
            return self.write_stream(first, end, start_s);
        }
        let (mut at_s, mut next) = (start_s, first);
        while next < end {
            let packet_end = end.min(next - next % SLOT_BYTES + self.smr.packet_bytes);
            at_s = self.append(next, packet_end, at_s);
            let (first_slot, end_slot) = self.slots_around(next, packet_end);
            at_s = self.write_packet(end_slot - first_slot, at_s);
            next = packet_end;
        }
        at_s
    }

    /// Writes a part of a stream to its bands; when it is done.
    fn write_stream(&mut self, first: u64, end: u64, start_s: f64) -> f64 {
        let mut at_s = self.note_run(first, end, true, start_s);
        let (first_slot, end_slot) = self.slots_around(first, end);
        let pieces: Vec<Piece> = self.map.bands().pieces(first_slot, end_slot).collect();
        for piece in pieces {
            if let Some(band) = self.map.direct_blocked_by(piece) {
                at_s = self.clean(band, at_s);
            }
            self.map.write_band(piece);
        }
        let home = self.home_byte(first);
        self.arm.read_ahead.forget(&mut self.arm.mechanism, home, home + (end - first), at_s);
        self.written_end = end;
        self.arm.mechanism.transfer(home, end - first, true, at_s).end_s
    }

    /// Appends what fits into a packet from that stretch on, or cleans a band for room. When that is done.
    fn append_packet(&mut self, first: u64, end: u64, start_s: f64) -> f64 {
        if let Some(band) = self.blocked_by(first, end) {
            return self.clean(band, start_s);
        }
        let (mut at_s, mut packet_bytes) = (start_s, 0);
        let mut next = Some((first, end));
        while let Some((first, end)) = next {
            let end = end.min(first - first % SLOT_BYTES + self.smr.packet_bytes - packet_bytes);
            self.buffer.take(first, end);
            at_s = self.append(first, end, at_s);
            let (first_slot, end_slot) = self.slots_around(first, end);
            packet_bytes += end_slot - first_slot;
            self.written_end = end;
            next = self.buffer.next(end).filter(|_| packet_bytes < self.smr.packet_bytes);
            next = next.filter(|&(first, end)| {
                !self.map.is_stream(first, end - first) && self.blocked_by(first, end).is_none()
            });
        }
        self.write_packet(packet_bytes, at_s)
    }

    /// The band to be cleaned before the media cache takes the beginning of a stretch, as much as a packet holds.
    fn blocked_by(&self, first: u64, end: u64) -> Option<u32> {
        let (first_slot, end_slot) = self.slots_around(first, end);
        let end_slot = end_slot.min(first_slot + self.smr.packet_bytes);
        self.map.bands().pieces(first_slot, end_slot).next().and_then(|piece| self.map.blocked_by(piece))
    }

    /// Enters a stretch into the map of the media cache, and cleans what is in the way of it; when that is done.
    fn append(&mut self, first: u64, end: u64, start_s: f64) -> f64 {
        let mut at_s = self.note_run(first, end, false, start_s);
        let (first_slot, end_slot) = self.slots_around(first, end);
        let pieces: Vec<Piece> = self.map.bands().pieces(first_slot, end_slot).collect();
        for piece in pieces {
            while let Some(band) = self.map.blocked_by(piece) {
                at_s = self.clean(band, at_s);
            }
            self.map.append(piece);
        }
        at_s
    }

    /// Moves the arm over a packet that ends where the log does, and over the journal; when that is done.
    fn write_packet(&mut self, packet_bytes: u64, start_s: f64) -> f64 {
        let cache = self.map.cache();
        let platter_byte = cache.platter_byte(cache.head() - packet_bytes);
        let before_wrap = packet_bytes.min(self.smr.media_cache_bytes - platter_byte);
        let arm = &mut self.arm;
        arm.read_ahead.forget(&mut arm.mechanism, platter_byte, platter_byte + before_wrap, start_s);
        let mut end_s = arm.mechanism.transfer(platter_byte, before_wrap, true, start_s).end_s;
        if before_wrap < packet_bytes {
            end_s = arm.mechanism.transfer(0, packet_bytes - before_wrap, true, end_s).end_s;
        }
        end_s += self.smr.journal_turns * arm.mechanism.turn_s();
        arm.mechanism.hold_until(end_s);
        end_s
    }

    /// Notes where a write was, and puts a band in order in which another stream ended; when that is done.
    fn note_run(&mut self, first: u64, end: u64, direct: bool, at_s: f64) -> f64 {
        match self.map.note_run(first, end, direct) {
            Some(band) => self.clean(band, at_s),
            None => at_s,
        }
    }

    fn slots_around(&self, first: u64, end: u64) -> (u64, u64) {
        (first - first % SLOT_BYTES, end.next_multiple_of(SLOT_BYTES).min(self.arm.facts.capacity.get()))
    }

    /// Takes a trim: of whole slots, for the drive keeps no account of parts.
    fn discard(&mut self, request: &Request, now_s: f64) {
        let (first, end) = self.arm.stretch_of(request);
        let first_slot = first.next_multiple_of(SLOT_BYTES);
        let end_slot = if end == self.arm.facts.capacity.get() { end } else { end - end % SLOT_BYTES };
        if first_slot < end_slot {
            self.buffer.forget(first_slot, end_slot);
            self.map.discard(first_slot, end_slot);
            self.after_forgetting(now_s);
        }
    }

    /// What waited for the buffer need not wait for what was forgotten: nobody will write it.
    fn after_forgetting(&mut self, now_s: f64) {
        if self.buffer.is_empty() {
            self.arm.finish_flushes(self.arm.written_s(now_s));
        }
        self.admit_refused(now_s);
    }
}

impl SmrDrive {
    fn clean(&mut self, band: u32, start_s: f64) -> f64 {
        let range = self.map.bands().range(band);
        let end_s = start_s + clean_s(&self.arm.mechanism, &self.smr, &range);
        let (home, home_end) = (self.home_byte(range.start), self.home_byte(range.end));
        self.arm.read_ahead.forget(&mut self.arm.mechanism, home, home_end, start_s);
        self.map.clean(band);
        // It ends on the journal, where the map says now that the band is clean.
        let head_byte = self.map.cache().platter_byte(self.map.cache().head());
        let last = self.arm.mechanism.place_of(head_byte);
        let next_sector = head_byte / self.arm.mechanism.geometry().sector_bytes() + 1;
        self.arm.mechanism.read_on_to(&last, next_sector, end_s);
        end_s
    }

    /// Cleans a band if the drive has been idle for long enough at `now`; whether it did.
    fn clean_idle(&mut self, now: Instant) -> bool {
        let delay_s = match self.idle {
            Idle::Waits => self.smr.idle_delay_seconds,
            Idle::Interrupted => self.smr.resume_delay_seconds,
            Idle::Cleans => 0.0,
        };
        let start_s = self.arm.decides_s + delay_s;
        if moment(start_s) > now {
            return false;
        }
        let Some(band) = self.idle_band() else {
            self.idle = Idle::Waits;
            return false;
        };
        self.idle = Idle::Cleans;
        self.arm.read_ahead.stop(&mut self.arm.mechanism, start_s);
        let end_s = self.clean(band, start_s);
        self.arm.decide_at(end_s);
        true
    }

    /// The band that is cleaned next in idle time; none when the policy leaves things as they are.
    fn idle_band(&mut self) -> Option<u32> {
        let mark = match (self.smr.cleaning, self.idle) {
            (CleaningPolicy::Aggressive, _) => 0.0,
            (CleaningPolicy::Lazy, Idle::Waits) => self.smr.high_water_share,
            (CleaningPolicy::Lazy, Idle::Cleans | Idle::Interrupted) => self.smr.low_water_share,
        };
        let dirty = if self.map.cache().fullness() > mark { self.map.next_to_clean() } else { None };
        dirty.or_else(|| self.map.end_stream())
    }
}

impl Drive for SmrDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        let now_s = now.as_f64() / 1e9;
        self.work_until(now);
        self.arm.wake(now, now_s);
        if self.idle == Idle::Cleans {
            self.idle = Idle::Interrupted;
        }
        let trims = self.arm.facts.discard_max.is_some_and(|most| most > Bytes::ZERO);
        match request.operation {
            Operation::Discard if !trims => self.arm.refuse(&request, now_s),
            Operation::Flush => self.arm.flush(request, now_s, !self.buffer.is_empty()),
            _ if self.arm.touches_nothing(&request) => self.arm.finish_at_once(&request, now_s),
            Operation::Discard => {
                self.discard(&request, now_s);
                self.arm.finish_at_once(&request, now_s);
            }
            Operation::Read => self.submit_read(request, now_s),
            Operation::Write | Operation::Commit => self.submit_write(request, now_s),
        }
        self.work_until(now);
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        self.arm.next_completion_at()
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.work_until(now);
        self.arm.take_completion(now)
    }

    fn facts(&self) -> &TargetFacts {
        &self.arm.facts
    }
}

#[cfg(test)]
#[path = "drive_tests.rs"]
pub(in crate::smr) mod tests;
