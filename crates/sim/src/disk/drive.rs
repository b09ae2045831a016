//! A hard disk at work: one arm, a platter that turns whether anybody waits or not, a queue, and a cache.
//!
//! Time of a request that needs the platter: command overhead, then the longer of seek and head switch (and for a write
//! the settling), then the wait until its first sector comes by, then the turns that [`Geometry`] says its sectors take.
//! The angle is that of a clock that never stops, so a request that is a moment late waits a whole turn.
//!
//! After a read the disk reads on into its buffer until somebody needs the arm or the buffer is full. A request that
//! continues there costs no positioning; it is answered when its last sector has passed the head.
//!
//! With the write cache on a write is answered when its bytes have crossed the link. The arm takes what is to be
//! written when nothing is to be read or the cache is full, the contiguous continuation of what it wrote last first.

use crate::disk::geometry::{Geometry, Place};
use crate::disk::published::PublishedDisk;
use crate::disk::seek::SeekCurve;
use crate::{Drive, answer_within};
use model::prng::Prng;
use model::request::{Completion, Operation, Request};
use model::target::TargetFacts;
use model::units::Instant;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a disk is made of, beside its layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanics {
    /// One turn, in seconds.
    pub turn_s: f64,
    /// The arm.
    pub seek: SeekCurve,
    /// Standard deviation of a seek as a share of it.
    pub seek_noise: f64,
    /// From one surface to another, in seconds, if the arm need not move.
    pub head_switch_s: f64,
    /// What a write waits longer than a read before it may begin, in seconds.
    pub write_settle_s: f64,
    /// What the electronics need for each command, in seconds.
    pub overhead_s: f64,
    /// What the link carries, in bytes per second.
    pub link_bytes_per_second: f64,
    /// How far it reads on after a read, in bytes; 0 does not.
    pub read_ahead_bytes: u64,
    /// What the write cache holds, in bytes; 0 is off.
    pub write_cache_bytes: u64,
    /// Whom the arm serves next.
    pub policy: Policy,
}

/// Whom the arm serves next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// Whoever came first.
    FirstCome,
    /// Whoever can be reached soonest; each second of waiting counts as `age_weight` seconds nearer, so that nobody
    /// waits for ever. 0.01 gives a depth of 32 its usual 170 IOPS with a 99th percentile of half a second.
    ShortestPositioning {
        /// 0 is none.
        age_weight: f64,
    },
}

/// A request that waits for the arm.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    request: Request,
    since_s: f64,
    place: Place,
}

/// What was read ahead, or is being.
#[derive(Clone, Copy, Debug)]
struct Stream {
    first_byte: u64,
    /// The last byte that there is room for.
    limit_byte: u64,
    /// When the sector at `revolutions` began to pass the head.
    time_s: f64,
    revolutions: f64,
    /// When the arm was taken away, or the buffer was full.
    stopped_s: Option<f64>,
}

/// The disk.
pub struct DiskDrive {
    facts: TargetFacts,
    geometry: Geometry,
    mechanics: Mechanics,
    prng: Prng,
    sector_bytes: u64,
    arm: Arm,
    link_free_s: f64,
    waiting: Vec<Waiting>,
    stream: Option<Stream>,
    cache: WriteCache,
    /// Finished requests by the moment they are ready, then by the order in which they got there.
    finished: BTreeMap<(u64, u64), Completion>,
    finished_count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Arm {
    cylinder: u64,
    surface: u32,
    free_s: f64,
}

/// What was answered but is not yet on the platter.
#[derive(Debug, Default)]
struct WriteCache {
    /// Stretches by their first byte: their end.
    dirty: BTreeMap<u64, u64>,
    dirty_bytes: u64,
    /// First bytes of stretches, oldest first; some have been written or joined to others since.
    ages: VecDeque<u64>,
    /// When what was taken last will be on the platter.
    written_s: f64,
    /// Writes that find no room.
    refused: VecDeque<(Request, f64)>,
    /// Flushes that wait until all is written.
    flushes: VecDeque<Request>,
    last_end: u64,
}

impl DiskDrive {
    /// A disk at rest, its arm at the outer edge. `seed` draws the noise of its seeks.
    pub fn new(facts: TargetFacts, geometry: Geometry, mechanics: Mechanics, seed: u64) -> DiskDrive {
        let sector_bytes = geometry.layout().sector_bytes;
        assert!(
            facts.capacity.0 <= geometry.sectors() * sector_bytes,
            "the layout holds what the disk says it holds"
        );
        DiskDrive {
            facts,
            geometry,
            mechanics,
            prng: Prng::new(seed, u64::from_le_bytes(*b"the disk")),
            sector_bytes,
            arm: Arm { cylinder: 0, surface: 0, free_s: 0.0 },
            link_free_s: 0.0,
            waiting: Vec::new(),
            stream: None,
            cache: WriteCache::default(),
            finished: BTreeMap::new(),
            finished_count: 0,
        }
    }

    /// The disk of a published mechanism.
    pub fn published(facts: TargetFacts, disk: PublishedDisk, seed: u64) -> DiskDrive {
        DiskDrive::new(facts, disk.geometry, disk.mechanics, seed)
    }

    /// Does everything that is decided until `now_s`.
    fn work_until(&mut self, now_s: f64) {
        while self.arm.free_s <= now_s {
            let at_s = self.arm.free_s;
            let cache_is_full = !self.cache.refused.is_empty() || !self.cache.flushes.is_empty();
            let served =
                (cache_is_full && self.write_back(at_s)) || self.serve_waiting(at_s) || self.write_back(at_s);
            if !served {
                return;
            }
        }
    }

    /// Takes one request from the queue; whether there was one.
    fn serve_waiting(&mut self, at_s: f64) -> bool {
        let Some(index) = self.choose(at_s) else { return false };
        let Waiting { request, since_s, place } = self.waiting.swap_remove(index);
        let start_s = at_s.max(since_s);
        let end_s = self.pass_over(&request, place, start_s + self.mechanics.overhead_s);
        self.finish(request, end_s);
        true
    }

    /// The index of whom the arm serves next.
    fn choose(&self, at_s: f64) -> Option<usize> {
        match self.mechanics.policy {
            Policy::FirstCome => (0..self.waiting.len())
                .min_by(|&a, &b| self.waiting[a].since_s.total_cmp(&self.waiting[b].since_s)),
            Policy::ShortestPositioning { age_weight } => {
                let cost = |waiting: &Waiting| {
                    let writes = waiting.request.operation == Operation::Write;
                    let start_s = at_s.max(waiting.since_s) + self.mechanics.overhead_s;
                    let seek_s = self.reach_s(&waiting.place, writes);
                    start_s + seek_s + self.rotation_s(start_s + seek_s, &waiting.place)
                        - at_s
                        - age_weight * (at_s - waiting.since_s)
                };
                let costs = self.waiting.iter().map(cost).enumerate();
                costs.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
            }
        }
    }

    /// Moves the arm to a request's first sector and over all of them; when the last has passed.
    fn pass_over(&mut self, request: &Request, place: Place, start_s: f64) -> f64 {
        self.stop_stream(start_s);
        let writes = request.operation == Operation::Write;
        let noise = 1.0 + self.mechanics.seek_noise * self.prng.normal();
        let ready_s = start_s + self.reach_s(&place, writes) * noise.clamp(0.5, 2.0);
        let first_s = ready_s + self.rotation_s(ready_s, &place);
        let (first, count) = self.sectors_of(request);
        let last = self.geometry.place(first + count - 1);
        let turns = last.revolutions + 1.0 / f64::from(last.sectors_per_track) - place.revolutions;
        let end_s = first_s + turns * self.mechanics.turn_s;
        self.arm = Arm { cylinder: last.cylinder, surface: last.surface, free_s: end_s };
        if request.operation == Operation::Read && self.mechanics.read_ahead_bytes > 0 {
            let end_byte = request.offset_bytes + u64::from(request.length_bytes);
            self.stream = Some(Stream {
                first_byte: request.offset_bytes,
                limit_byte: end_byte + self.mechanics.read_ahead_bytes,
                time_s: first_s,
                revolutions: place.revolutions,
                stopped_s: None,
            });
        }
        end_s
    }

    /// Seconds until the arm is at a place: the longer of seek and head switch, and settling before a write.
    fn reach_s(&self, place: &Place, writes: bool) -> f64 {
        let seek_s = self.mechanics.seek.seconds(self.arm.cylinder.abs_diff(place.cylinder));
        let switch_s = if self.arm.surface == place.surface { 0.0 } else { self.mechanics.head_switch_s };
        let settle_s = if writes { self.mechanics.write_settle_s } else { 0.0 };
        seek_s.max(switch_s) + settle_s
    }

    /// Seconds until a place passes under the head.
    fn rotation_s(&self, from_s: f64, place: &Place) -> f64 {
        let turns = place.revolutions - from_s / self.mechanics.turn_s;
        (turns - turns.floor()) * self.mechanics.turn_s
    }

    /// Physical sectors that a request touches: the first, and how many.
    fn sectors_of(&self, request: &Request) -> (u64, u64) {
        let first = request.offset_bytes / self.sector_bytes;
        let end = (request.offset_bytes + u64::from(request.length_bytes).max(1)).div_ceil(self.sector_bytes);
        (first, end.min(self.geometry.sectors()) - first)
    }

    /// When the last byte of a read will have been read ahead; none when it will not.
    fn read_ahead_ready_s(&mut self, request: &Request) -> Option<f64> {
        let stream = self.stream?;
        let end_byte = request.offset_bytes + u64::from(request.length_bytes);
        if request.offset_bytes < stream.first_byte || end_byte > stream.limit_byte {
            return None;
        }
        let (first, count) = self.sectors_of(request);
        let last = self.geometry.place(first + count - 1);
        let turns = last.revolutions + 1.0 / f64::from(last.sectors_per_track) - stream.revolutions;
        let ready_s = stream.time_s + turns * self.mechanics.turn_s;
        if stream.stopped_s.is_some_and(|stopped_s| ready_s > stopped_s) {
            return None;
        }
        if let Some(stream) = &mut self.stream
            && stream.stopped_s.is_none()
        {
            let limit = end_byte + self.mechanics.read_ahead_bytes;
            stream.limit_byte = stream.limit_byte.max(limit);
            // What was read ahead before gives way to what is read ahead now.
            let kept = stream.limit_byte.saturating_sub(2 * self.mechanics.read_ahead_bytes);
            stream.first_byte = stream.first_byte.max(kept.min(request.offset_bytes));
            // The arm stays until what was promised has been read.
            self.arm =
                Arm { cylinder: last.cylinder, surface: last.surface, free_s: self.arm.free_s.max(ready_s) };
        }
        Some(ready_s)
    }

    /// The arm is needed elsewhere, or the buffer has been full for a while.
    fn stop_stream(&mut self, at_s: f64) {
        if let Some(stream) = &mut self.stream {
            stream.stopped_s.get_or_insert(at_s);
        }
    }

    /// A buffer that filled up before `now_s` ended the reading ahead then.
    fn stop_full_stream(&mut self, now_s: f64) {
        let Some(stream) = self.stream.filter(|stream| stream.stopped_s.is_none()) else { return };
        let capacity = self.facts.capacity.0;
        let last_sector = (stream.limit_byte.min(capacity) - 1) / self.sector_bytes;
        let last = self.geometry.place(last_sector);
        let turns = last.revolutions + 1.0 / f64::from(last.sectors_per_track) - stream.revolutions;
        let full_s = stream.time_s + turns * self.mechanics.turn_s;
        if full_s <= now_s {
            self.stop_stream(full_s);
        }
    }

    /// Notes when a request is answered: its bytes cross the link after they are ready, one request after the other.
    fn finish(&mut self, request: Request, ready_s: f64) {
        let (status, transferred_bytes) = answer_within(self.facts.capacity, &request);
        let link_s = f64::from(transferred_bytes) / self.mechanics.link_bytes_per_second;
        // Reads cross the link while they come off the platter, which is slower; the link is only the limit when it
        // has been busy since the request could have begun to cross it.
        let done_s = ready_s.max(self.link_free_s + link_s);
        self.link_free_s = done_s;
        self.answer(Completion { tag: request.tag, status, transferred_bytes, completed_ns: 0 }, done_s);
    }

    fn answer(&mut self, completion: Completion, at_s: f64) {
        let completed_ns = (at_s * 1e9).round() as u64;
        self.finished.insert((completed_ns, self.finished_count), Completion { completed_ns, ..completion });
        self.finished_count += 1;
    }
}

/// The write cache.
impl DiskDrive {
    fn accept_write(&mut self, request: Request, now_s: f64) {
        if self.cache.dirty_bytes + u64::from(request.length_bytes) > self.mechanics.write_cache_bytes {
            self.cache.refused.push_back((request, now_s));
            return;
        }
        let (first, end) = (request.offset_bytes, request.offset_bytes + u64::from(request.length_bytes));
        self.cache.add(first, end.min(self.facts.capacity.0));
        let link_s = f64::from(request.length_bytes) / self.mechanics.link_bytes_per_second;
        self.finish(request, now_s + self.mechanics.overhead_s + link_s);
    }

    /// Writes one stretch of what is in the cache; whether there was one.
    fn write_back(&mut self, at_s: f64) -> bool {
        let Some((first, end)) = self.choose_dirty(at_s) else {
            while let Some(flush) = self.cache.flushes.pop_front() {
                self.finish(flush, at_s.max(self.cache.written_s));
            }
            return false;
        };
        let length_bytes = (end - first).min(WRITE_BACK_BYTES_MAX) as u32;
        let request = Request {
            tag: model::request::Tag(0),
            operation: Operation::Write,
            offset_bytes: first,
            length_bytes,
        };
        let place = self.geometry.place(first / self.sector_bytes);
        let end_s = self.pass_over(&request, place, at_s);
        self.cache.remove(first, first + u64::from(length_bytes));
        self.cache.last_end = first + u64::from(length_bytes);
        self.cache.written_s = end_s;
        while let Some((request, since_s)) = self.cache.refused.front().copied() {
            if self.cache.dirty_bytes + u64::from(request.length_bytes) > self.mechanics.write_cache_bytes {
                break;
            }
            self.cache.refused.pop_front();
            self.accept_write(request, end_s.max(since_s));
        }
        true
    }

    /// The stretch that continues the last one, else the one of the oldest few that can be reached soonest.
    fn choose_dirty(&mut self, at_s: f64) -> Option<(u64, u64)> {
        let stretch = |(&first, &end): (&u64, &u64)| (first, end);
        if let Some(next) = self.cache.dirty.get_key_value(&self.cache.last_end).map(stretch) {
            return Some(next);
        }
        self.cache.forget_written();
        let cost = |first: u64| {
            let place = self.geometry.place(first / self.sector_bytes);
            let seek_s = self.reach_s(&place, true);
            seek_s + self.rotation_s(at_s + seek_s, &place)
        };
        let oldest =
            self.cache.ages.iter().filter_map(|first| self.cache.dirty.get_key_value(first).map(stretch));
        let costs = oldest.take(SORTED_STRETCHES).map(|(first, end)| (cost(first), first, end));
        costs.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, first, end)| (first, end))
    }
}

/// The arm writes no more than this before it looks up: two tracks of a disk of today.
const WRITE_BACK_BYTES_MAX: u64 = 4 << 20;
/// Of what is to be written, this many are weighed against each other. Disks write at random from their cache about as
/// fast as they read at a depth of 64: they do not sort all of it.
const SORTED_STRETCHES: usize = 64;

impl WriteCache {
    /// Adds a stretch, and joins it with what it touches or covers.
    fn add(&mut self, mut first: u64, mut end: u64) {
        if let Some((&before, &before_end)) = self.dirty.range(..=first).next_back()
            && before_end >= first
        {
            first = before;
            end = end.max(before_end);
        }
        let covered: Vec<(u64, u64)> = self.dirty.range(first..=end).map(|(&a, &b)| (a, b)).collect();
        for (covered_first, covered_end) in covered {
            end = end.max(covered_end);
            self.dirty.remove(&covered_first);
            self.dirty_bytes -= covered_end - covered_first;
        }
        self.dirty.insert(first, end);
        self.dirty_bytes += end - first;
        self.ages.push_back(first);
    }

    /// Takes the beginning of a stretch away.
    fn remove(&mut self, first: u64, end: u64) {
        let whole_end = self.dirty.remove(&first).expect("a stretch that is there");
        if whole_end > end {
            self.dirty.insert(end, whole_end);
            self.ages.push_front(end);
        }
        self.dirty_bytes -= end - first;
    }

    /// Drops the ages of stretches that are no more, when they are the oldest or outnumber the others.
    fn forget_written(&mut self) {
        while self.ages.front().is_some_and(|first| !self.dirty.contains_key(first)) {
            self.ages.pop_front();
        }
        if self.ages.len() > 2 * self.dirty.len() + SORTED_STRETCHES {
            let mut seen = BTreeSet::new();
            self.ages.retain(|first| self.dirty.contains_key(first) && seen.insert(*first));
        }
    }

    /// Whether all of a stretch is still in the cache.
    fn holds(&self, first: u64, end: u64) -> bool {
        self.dirty.range(..=first).next_back().is_some_and(|(_, &stretch_end)| stretch_end >= end)
    }
}

impl Drive for DiskDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        let now_s = now.0 as f64 / 1e9;
        self.work_until(now_s);
        self.stop_full_stream(now_s);
        let end_byte = request.offset_bytes + u64::from(request.length_bytes);
        let inside = end_byte <= self.facts.capacity.0;
        match request.operation {
            Operation::Flush if self.cache.dirty_bytes > 0 => self.cache.flushes.push_back(request),
            Operation::Flush | Operation::Discard => {
                let written_s = self.cache.written_s.max(now_s);
                self.finish(request, written_s + self.mechanics.overhead_s);
            }
            _ if !inside && request.offset_bytes >= self.facts.capacity.0 => {
                self.finish(request, now_s + self.mechanics.overhead_s);
            }
            Operation::Write if self.mechanics.write_cache_bytes >= u64::from(request.length_bytes) => {
                self.accept_write(request, now_s);
            }
            Operation::Read if self.cache.holds(request.offset_bytes, end_byte) => {
                let link_s = f64::from(request.length_bytes) / self.mechanics.link_bytes_per_second;
                self.finish(request, now_s + self.mechanics.overhead_s + link_s);
            }
            Operation::Read | Operation::Write => {
                if request.operation == Operation::Read
                    && let Some(ready_s) = self.read_ahead_ready_s(&request)
                {
                    let link_s = f64::from(request.length_bytes) / self.mechanics.link_bytes_per_second;
                    self.finish(request, ready_s.max(now_s + self.mechanics.overhead_s + link_s));
                    return;
                }
                let place = self.geometry.place(request.offset_bytes / self.sector_bytes);
                self.waiting.push(Waiting { request, since_s: now_s, place });
            }
        }
        // An arm that has been free starts now, not when it became free.
        self.arm.free_s = self.arm.free_s.max(now_s);
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        let finished = self.finished.first_key_value().map(|((at, _), _)| *at);
        let has_work =
            !self.waiting.is_empty() || !self.cache.refused.is_empty() || !self.cache.flushes.is_empty();
        let decision = has_work.then(|| (self.arm.free_s * 1e9).ceil() as u64);
        match (finished, decision) {
            (Some(finished), Some(decision)) => Some(Instant(finished.min(decision))),
            (finished, decision) => finished.or(decision).map(Instant),
        }
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.work_until(now.0 as f64 / 1e9);
        let entry = self.finished.first_entry().filter(|entry| entry.key().0 <= now.0)?;
        Some(entry.remove())
    }

    fn facts(&self) -> &TargetFacts {
        &self.facts
    }
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
