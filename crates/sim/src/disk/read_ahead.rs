//! What the disk keeps of what it read, and reading on after a read.
//!
//! The cache consists of segments, replaced as a whole, the least recently used first. A stream of reads fills one
//! after the other. After a read the arm reads on, up to a distance past what was asked for, until somebody needs the arm;
//! a request that continues there costs no positioning and is answered when its last sector has passed the head. When a
//! stream has used up half of what was read on and nobody needs the arm, it goes on reading. With `drops_delivered` a
//! segment holds what was read on only, and gives up what was delivered and all before it, so that no read hits twice.
//!
//! Not modelled: segments that adapt their size, and keeping a part of what is asked for: it is read as a whole.

use crate::disk::mechanism::{Mechanism, Transfer};
use crate::disk::profile::ReadAheadProfile;
use model::units::KIB;

/// The segments, and the stream that is being read on, if any.
#[derive(Clone, Debug)]
pub struct ReadAhead {
    segments: Vec<Segment>,
    segment_bytes: u64,
    ahead_bytes: u64,
    drops_delivered: bool,
    on_arrival: bool,
    sequential_only: bool,
    last_end_byte: u64,
    uses: u64,
    /// The segment in which something was found or stored last.
    recent: usize,
    stream: Option<Stream>,
}

/// A stretch that is in the cache, or will be when the arm has passed it.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    first_byte: u64,
    end_byte: u64,
    used: u64,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    /// The first byte that was not there when the arm began, the moment it passed and the revolutions there.
    first_byte: u64,
    first_s: f64,
    revolutions: f64,
    /// Up to where segments hold it: what somebody asked for.
    promised_byte: u64,
    promised_s: f64,
    limit_byte: u64,
}

impl ReadAhead {
    pub fn new(profile: &ReadAheadProfile) -> ReadAhead {
        ReadAhead {
            segments: vec![Segment::default(); profile.segments as usize],
            segment_bytes: profile.segment_kib * KIB,
            ahead_bytes: profile.ahead_bytes(),
            drops_delivered: profile.drops_delivered,
            on_arrival: profile.on_arrival,
            sequential_only: profile.sequential_only,
            last_end_byte: 0,
            uses: 0,
            recent: 0,
            stream: None,
        }
    }

    /// When the last byte of a read will be in the cache, or is: `now_s` at the soonest. None when it will not. The arm
    /// stays with the stream until what is promised here has passed; `others_wait` says whether somebody else needs it.
    pub fn ready_s(
        &mut self,
        mechanism: &mut Mechanism,
        first_byte: u64,
        end_byte: u64,
        now_s: f64,
        others_wait: bool,
    ) -> Option<f64> {
        let held_byte = self.held_until(first_byte, end_byte);
        if held_byte == end_byte {
            let ready_s = self.passed_s(mechanism, first_byte, end_byte).max(now_s);
            self.resume(mechanism, end_byte, now_s, others_wait);
            self.drop_delivered(first_byte, end_byte);
            return Some(ready_s);
        }
        let further_byte = self.limit_of(mechanism, end_byte);
        let stream = self.stream.as_mut()?;
        if others_wait || held_byte < stream.promised_byte || end_byte > stream.limit_byte {
            return None;
        }
        let last = mechanism.place_of(end_byte - 1);
        let ready_s = stream.first_s + (last.end_revolutions() - stream.revolutions) * mechanism.turn_s();
        let held_byte = stream.promised_byte;
        (stream.promised_byte, stream.promised_s) = (end_byte, ready_s);
        stream.limit_byte = further_byte;
        mechanism.read_on_to(&last, end_byte.div_ceil(mechanism.geometry().sector_bytes()), ready_s);
        self.store_delivered(held_byte, end_byte);
        self.drop_delivered(first_byte, end_byte);
        Some(ready_s.max(now_s))
    }

    fn store_delivered(&mut self, first_byte: u64, end_byte: u64) {
        if !self.drops_delivered {
            self.store(first_byte, end_byte);
        }
    }

    /// Gives up what was delivered, and what its segments hold before it.
    fn drop_delivered(&mut self, first_byte: u64, end_byte: u64) {
        if !self.drops_delivered {
            return;
        }
        for segment in &mut self.segments {
            if first_byte < segment.end_byte && end_byte > segment.first_byte {
                segment.first_byte = end_byte.min(segment.end_byte);
            }
        }
    }

    /// Up to where a stretch is in segments; `first_byte` when its first byte is not.
    fn held_until(&mut self, first_byte: u64, end_byte: u64) -> u64 {
        let mut held_byte = first_byte;
        while held_byte < end_byte {
            let holds = |segment: &Segment| segment.first_byte <= held_byte && held_byte < segment.end_byte;
            let found = match self.segments.get(self.recent) {
                Some(segment) if holds(segment) => Some(self.recent),
                _ => self.segments.iter().position(holds),
            };
            let Some(index) = found else { return held_byte };
            self.uses += 1;
            self.recent = index;
            self.segments[index].used = self.uses;
            held_byte = self.segments[index].end_byte.min(end_byte);
        }
        held_byte
    }

    /// When a stretch that segments hold has passed the head: in the past, unless the arm is on its way to it.
    fn passed_s(&self, mechanism: &Mechanism, first_byte: u64, end_byte: u64) -> f64 {
        match &self.stream {
            Some(stream) if end_byte > stream.first_byte && first_byte < stream.promised_byte => {
                let last = mechanism.place_of(end_byte.min(stream.promised_byte) - 1);
                stream.first_s + (last.end_revolutions() - stream.revolutions) * mechanism.turn_s()
            }
            _ => 0.0,
        }
    }

    /// Notes what was read from the platter; the arm reads on from there.
    pub fn began(&mut self, mechanism: &Mechanism, first_byte: u64, end_byte: u64, transfer: &Transfer) {
        if self.segments.is_empty() || transfer.failed_byte.is_some() {
            return;
        }
        if self.on_arrival {
            self.store(first_byte - mechanism.passed_before(first_byte, transfer.waited_s), first_byte);
        }
        self.store_delivered(first_byte, end_byte);
        let is_sequential = first_byte == self.last_end_byte;
        self.last_end_byte = end_byte;
        if self.ahead_bytes > 0 && transfer.is_plain && (is_sequential || !self.sequential_only) {
            self.stream = Some(Stream {
                first_byte,
                first_s: transfer.first_s,
                revolutions: mechanism.place_of(first_byte).revolutions,
                promised_byte: end_byte,
                promised_s: transfer.end_s,
                limit_byte: self.limit_of(mechanism, end_byte),
            });
        }
    }

    /// How far the arm reads on when what was asked for ends there.
    fn limit_of(&self, mechanism: &Mechanism, end_byte: u64) -> u64 {
        mechanism.sound_until(end_byte, (end_byte + self.ahead_bytes).min(mechanism.bytes()))
    }

    /// Puts a stretch into segments: behind what it continues, or in place of the least recently used ones.
    fn store(&mut self, mut first_byte: u64, end_byte: u64) {
        // Of more than all segments hold only the end stays.
        let room = self.segment_bytes * self.segments.len() as u64;
        first_byte = first_byte.max(end_byte.saturating_sub(room));
        while first_byte < end_byte {
            let recent = &self.segments[self.recent];
            let held = recent.end_byte - recent.first_byte;
            if recent.end_byte != first_byte || held >= self.segment_bytes || held == 0 {
                self.recent = self.least_recent();
                self.segments[self.recent] = Segment { first_byte, end_byte: first_byte, used: 0 };
            }
            self.uses += 1;
            let recent = &mut self.segments[self.recent];
            recent.used = self.uses;
            recent.end_byte = end_byte.min(recent.first_byte + self.segment_bytes);
            first_byte = recent.end_byte;
        }
    }

    fn least_recent(&self) -> usize {
        let (mut least, mut used) = (0, u64::MAX);
        for (index, segment) in self.segments.iter().enumerate() {
            if segment.used < used {
                (least, used) = (index, segment.used);
            }
        }
        least
    }

    /// The arm is needed elsewhere at a moment: what has passed by then is kept, and the arm is where it got to.
    pub fn stop(&mut self, mechanism: &mut Mechanism, at_s: f64) {
        let Some(stream) = self.stream.take() else { return };
        if at_s <= stream.promised_s {
            return;
        }
        let sector_bytes = mechanism.geometry().sector_bytes();
        let turns = (at_s - stream.first_s) / mechanism.turn_s();
        let passed = mechanism.geometry().sectors_within(stream.revolutions + turns);
        let end_byte = (passed * sector_bytes).min(stream.limit_byte);
        if end_byte > stream.promised_byte {
            let last = mechanism.place_of(end_byte - 1);
            let end_s = stream.first_s + (last.end_revolutions() - stream.revolutions) * mechanism.turn_s();
            mechanism.read_on_to(&last, end_byte.div_ceil(sector_bytes), end_s.min(at_s));
            self.store(stream.promised_byte, end_byte);
        }
    }

    pub fn stop_if_full(&mut self, mechanism: &mut Mechanism, now_s: f64) {
        let Some(stream) = &self.stream else { return };
        // No disk reads this fast, so most of the time there is no need to look closer.
        const BYTES_PER_SECOND_MAX: f64 = 600e6;
        let left = (stream.limit_byte - stream.promised_byte) as f64;
        if now_s <= stream.promised_s + left / BYTES_PER_SECOND_MAX {
            return;
        }
        let last = mechanism.place_of(stream.limit_byte - 1);
        let full_s = stream.first_s + (last.end_revolutions() - stream.revolutions) * mechanism.turn_s();
        if full_s <= now_s {
            self.stop(mechanism, now_s);
        }
    }

    /// Goes on reading a stream of which a read took the part up to `end_byte`, if half is used up and the arm is free.
    fn resume(&mut self, mechanism: &Mechanism, end_byte: u64, now_s: f64, others_wait: bool) {
        if self.ahead_bytes == 0 || others_wait || self.stream.is_some() || mechanism.free_s() > now_s {
            return;
        }
        let limit_byte = self.limit_of(mechanism, end_byte);
        let held_byte = self.held_until(end_byte, limit_byte);
        if held_byte - end_byte > self.ahead_bytes / 2 || held_byte >= limit_byte {
            return;
        }
        let place = mechanism.place_of(held_byte);
        let first_s = now_s + mechanism.positioning_s(&place, now_s, false);
        self.stream = Some(Stream {
            first_byte: held_byte,
            first_s,
            revolutions: place.revolutions,
            promised_byte: held_byte,
            promised_s: first_s,
            limit_byte,
        });
    }

    pub fn forget(&mut self, mechanism: &mut Mechanism, first_byte: u64, end_byte: u64, at_s: f64) {
        if let Some(stream) = self.stream
            && first_byte < stream.limit_byte
            && end_byte > stream.first_byte
        {
            self.stop(mechanism, at_s);
        }
        for segment in &mut self.segments {
            if first_byte < segment.end_byte && end_byte > segment.first_byte {
                *segment = Segment::default();
            }
        }
    }
}
