//! A hard disk at work: a queue before one arm, and caches that answer without it.
//!
//! Whom the arm serves is decided when it becomes free, among those who have come by then. Each command costs its
//! overhead before the arm moves, but for one that has been waiting and goes on where the arm is. Reads that the cache holds, or that the arm is about to pass, are answered
//! without a place in the queue, while the arm works elsewhere. With the write cache on a write is answered as soon as
//! there is room; what is dirty is written when nothing is to be read, in turns with reads when the cache is full, and
//! before anything else when a flush waits. Writes that come after a flush wait for it.
//!
//! The link is not part of it: a wrapper around the drive has its rate and its queue.
//!
//! Not modelled: reordering that keeps overlapping requests in order, a cache that knows streams, discards.

use crate::disk::mechanism::Mechanism;
use crate::disk::profile::DiskProfile;
use crate::disk::queue::{Queue, Waiting};
use crate::disk::read_ahead::ReadAhead;
use crate::disk::write_cache::WriteCache;
use crate::flush::FlushPolicy;
use crate::{Drive, answer_within, first_at, insert_by_time, take_ready};
use model::request::{Completion, Operation, Request, Status};
use model::target::TargetFacts;
use model::units::{Instant, KIB};
use std::collections::VecDeque;

pub struct DiskDrive {
    facts: TargetFacts,
    overhead_s: f64,
    mechanism: Mechanism,
    queue: Queue,
    read_ahead: ReadAhead,
    cache: WriteCache,
    refused: VecDeque<(Request, f64)>,
    flushes: VecDeque<Request>,
    flush: FlushPolicy,
    /// When the arm is free to be told what to do next: not before the latest request came.
    decides_s: f64,
    /// The same as a moment at which to look: that in seconds may be off by its rounding.
    decides_at: Instant,
    /// With a full cache, whether the arm wrote last and reads next.
    wrote_last: bool,
    /// Answers by the moment they are ready, those of one moment in the order in which they got there.
    finished: VecDeque<Completion>,
}

impl DiskDrive {
    /// A disk at rest, its arm at the outer edge. `seed` draws the noise of its seeks. The profile has been checked.
    pub fn new(facts: TargetFacts, profile: &DiskProfile, seed: u64) -> DiskDrive {
        DiskDrive {
            overhead_s: profile.command_overhead_ms / 1e3,
            mechanism: Mechanism::new(facts.capacity, profile, seed),
            queue: Queue::new(&profile.queue),
            read_ahead: ReadAhead::new(&profile.read_ahead),
            cache: WriteCache::new(profile.write_cache.capacity_kib * KIB),
            refused: VecDeque::new(),
            flushes: VecDeque::new(),
            flush: profile.write_cache.flush,
            decides_s: 0.0,
            decides_at: Instant::START,
            wrote_last: false,
            finished: VecDeque::with_capacity(64),
            facts,
        }
    }

    /// Does everything that is decided until `now`.
    fn work_until(&mut self, now: Instant) {
        while self.decides_at <= now && self.work_at(self.decides_s) {}
    }

    /// The arm is busy until `end_s`.
    fn decide_at(&mut self, end_s: f64) {
        (self.decides_s, self.decides_at) = (end_s, moment(end_s));
    }

    fn work_at(&mut self, at_s: f64) -> bool {
        let must_write = !self.flushes.is_empty() || (!self.refused.is_empty() && !self.wrote_last);
        (must_write && self.write_back(at_s)) || self.serve_waiting(at_s) || self.write_back(at_s)
    }

    fn serve_waiting(&mut self, at_s: f64) -> bool {
        let Some(waiting) = self.queue.take(&self.mechanism, at_s) else { return false };
        let Waiting { request, ready_s, place, .. } = waiting;
        let (first, end) = self.stretch_of(&request);
        let writes = request.operation == Operation::Write;
        self.read_ahead.stop(&mut self.mechanism, at_s);
        let transfer = self.mechanism.transfer_from(&place, first, end - first, writes, ready_s);
        if !writes {
            self.read_ahead.began(&self.mechanism, first, end, &transfer);
        }
        self.decide_at(transfer.end_s);
        self.wrote_last = false;
        self.finish(request, transfer.end_s, transfer.failed_byte);
        true
    }

    /// Writes one stretch of what is in the cache; whether there was one.
    fn write_back(&mut self, at_s: f64) -> bool {
        let start_s = at_s + self.overhead_s;
        let Some((first, length, place)) = self.cache.take(&self.mechanism, start_s) else { return false };
        let start_s = if self.mechanism.goes_on_with(&place, true) { at_s } else { start_s };
        self.read_ahead.stop(&mut self.mechanism, at_s);
        let transfer = self.mechanism.transfer_from(&place, first, length, true, start_s);
        self.decide_at(transfer.end_s);
        self.wrote_last = true;
        if self.cache.is_empty() {
            while let Some(flush) = self.flushes.pop_front() {
                self.finish(flush, transfer.end_s, None);
            }
        }
        self.admit_refused(transfer.end_s);
        true
    }

    fn admit_refused(&mut self, at_s: f64) {
        while self.flushes.is_empty()
            && let Some(&(request, since_s)) = self.refused.front()
            && self.cache.has_room(u64::from(request.length_bytes))
        {
            self.refused.pop_front();
            self.accept_write(request, at_s.max(since_s));
        }
    }

    fn accept_write(&mut self, request: Request, at_s: f64) {
        let (first, end) = self.stretch_of(&request);
        self.cache.add(first, end);
        self.read_ahead.forget(&mut self.mechanism, first, end, at_s);
        self.finish(request, at_s + self.overhead_s, None);
    }

    fn stretch_of(&self, request: &Request) -> (u64, u64) {
        let end = request.offset_bytes.saturating_add(u64::from(request.length_bytes));
        (request.offset_bytes, end.min(self.facts.capacity.get()))
    }

    fn finish(&mut self, request: Request, at_s: f64, failed_byte: Option<u64>) {
        let (status, transferred_bytes) = match failed_byte {
            Some(byte) => (Status::MediumError, byte.saturating_sub(request.offset_bytes) as u32),
            None => answer_within(self.facts.capacity, &request),
        };
        self.answer(&request, at_s, status, transferred_bytes);
    }

    fn answer(&mut self, request: &Request, at_s: f64, status: Status, transferred_bytes: u32) {
        let completed_ns = moment(at_s).get();
        let completion = Completion { tag: request.tag, status, transferred_bytes, completed_ns };
        insert_by_time(&mut self.finished, completion);
    }

    fn submit_read(&mut self, request: Request, now_s: f64) {
        let (first, end) = self.stretch_of(&request);
        if self.cache.holds(first, end) {
            return self.finish(request, now_s + self.overhead_s, None);
        }
        self.read_ahead.stop_if_full(&mut self.mechanism, now_s);
        let others_wait = !self.queue.is_empty() || !self.refused.is_empty() || !self.flushes.is_empty();
        // A completion is rounded up to a nanosecond: what follows it at once does not come in between.
        let interrupts = self.queue.breaks_streams() && self.mechanism.free_s() > now_s + 1e-9;
        let others_wait = others_wait || interrupts;
        let ready = self.read_ahead.ready_s(&mut self.mechanism, first, end, now_s, others_wait);
        if let Some(ready_s) = ready {
            if self.mechanism.free_s() > self.decides_s {
                self.decide_at(self.mechanism.free_s());
            }
            return self.finish(request, ready_s.max(now_s + self.overhead_s), None);
        }
        self.enqueue(request, now_s);
    }

    fn submit_write(&mut self, request: Request, now_s: f64) {
        let length_bytes = u64::from(request.length_bytes);
        if !self.cache.takes(length_bytes) {
            let (first, end) = self.stretch_of(&request);
            self.read_ahead.forget(&mut self.mechanism, first, end, now_s);
            self.enqueue(request, now_s);
        } else if self.refused.is_empty() && self.flushes.is_empty() && self.cache.has_room(length_bytes) {
            self.accept_write(request, now_s);
        } else {
            self.refused.push_back((request, now_s));
        }
    }

    fn enqueue(&mut self, request: Request, now_s: f64) {
        let place = self.mechanism.place_of(request.offset_bytes);
        let ready_s = now_s + self.overhead_s;
        self.queue.push(Waiting { request, since_s: now_s, ready_s, place });
    }
}

/// The first whole nanosecond that is not before a moment in seconds.
pub(crate) fn moment(at_s: f64) -> Instant {
    let nanoseconds = at_s * 1e9;
    let whole = nanoseconds as u64;
    Instant::new(whole.saturating_add(u64::from((whole as f64) < nanoseconds)))
}

impl Drive for DiskDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        let now_s = now.as_f64() / 1e9;
        self.work_until(now);
        if self.decides_at < now {
            // An arm that has been free starts now, not when it became free.
            (self.decides_s, self.decides_at) = (now_s, now);
        }
        let touches_nothing = request.length_bytes == 0 || request.offset_bytes >= self.facts.capacity.get();
        match request.operation {
            Operation::Discard => self.answer(&request, now_s + self.overhead_s, Status::NotSupported, 0),
            Operation::Flush if !self.flush.stores() => self.finish(request, now_s + self.overhead_s, None),
            Operation::Flush if !self.cache.is_empty() => self.flushes.push_back(request),
            Operation::Flush => {
                let written_s = if self.wrote_last { self.decides_s } else { now_s };
                self.finish(request, written_s.max(now_s + self.overhead_s), None);
            }
            _ if touches_nothing => self.finish(request, now_s + self.overhead_s, None),
            Operation::Read => self.submit_read(request, now_s),
            Operation::Write | Operation::Commit => self.submit_write(request, now_s),
        }
        self.work_until(now);
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        let finished = first_at(&self.finished);
        let has_work = !self.queue.is_empty() || !self.refused.is_empty() || !self.flushes.is_empty();
        let decision = has_work.then_some(self.decides_at);
        [finished, decision].into_iter().flatten().min()
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.work_until(now);
        take_ready(&mut self.finished, now)
    }

    fn facts(&self) -> &TargetFacts {
        &self.facts
    }
}

#[cfg(test)]
#[path = "drive_property_tests.rs"]
mod property_tests;
#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
