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

use crate::Drive;
use crate::disk::arm::Arm;
use crate::disk::mechanism::Mechanism;
use crate::disk::profile::DiskProfile;
use crate::disk::queue::Waiting;
use crate::disk::write_cache::WriteCache;
use model::request::{Completion, Operation, Request};
use model::target::TargetFacts;
use model::units::{Instant, KIB};

pub struct DiskDrive {
    arm: Arm,
    cache: WriteCache,
}

impl DiskDrive {
    /// A disk at rest, its arm at the outer edge. `seed` draws the noise of its seeks. The profile has been checked.
    pub fn new(facts: TargetFacts, profile: &DiskProfile, seed: u64) -> DiskDrive {
        let mechanism = Mechanism::new(facts.capacity, profile, seed);
        let cache = WriteCache::new(profile.write_cache.capacity_kib * KIB);
        DiskDrive { arm: Arm::new(facts, mechanism, profile), cache }
    }

    fn work_until(&mut self, now: Instant) {
        while self.arm.decides_at <= now && self.work_at(self.arm.decides_s) {}
    }

    fn work_at(&mut self, at_s: f64) -> bool {
        (self.arm.must_write() && self.write_back(at_s)) || self.serve_waiting(at_s) || self.write_back(at_s)
    }

    fn serve_waiting(&mut self, at_s: f64) -> bool {
        let arm = &mut self.arm;
        let Some(waiting) = arm.queue.take(&arm.mechanism, at_s) else { return false };
        let Waiting { request, ready_s, place, .. } = waiting;
        let (first, end) = arm.stretch_of(&request);
        let writes = request.operation == Operation::Write;
        arm.read_ahead.stop(&mut arm.mechanism, at_s);
        let transfer = arm.mechanism.transfer_from(&place, first, end - first, writes, ready_s);
        if !writes {
            arm.read_ahead.began(&arm.mechanism, first, end, &transfer);
        }
        arm.decide_at(transfer.end_s);
        arm.wrote_last = false;
        arm.finish(&request, transfer.end_s, transfer.failed_byte);
        true
    }

    /// Writes one stretch of what is in the cache; whether there was one.
    fn write_back(&mut self, at_s: f64) -> bool {
        let arm = &mut self.arm;
        let start_s = at_s + arm.overhead_s;
        let Some((first, length, place)) = self.cache.take(&arm.mechanism, start_s) else { return false };
        let start_s = if arm.mechanism.goes_on_with(&place, true) { at_s } else { start_s };
        arm.read_ahead.stop(&mut arm.mechanism, at_s);
        let transfer = arm.mechanism.transfer_from(&place, first, length, true, start_s);
        arm.decide_at(transfer.end_s);
        arm.wrote_last = true;
        if self.cache.is_empty() {
            arm.finish_flushes(transfer.end_s);
        }
        self.admit_refused(transfer.end_s);
        true
    }

    fn admit_refused(&mut self, at_s: f64) {
        while self.arm.flushes.is_empty()
            && let Some(&(request, since_s)) = self.arm.refused.front()
            && self.cache.has_room(u64::from(request.length_bytes))
        {
            self.arm.refused.pop_front();
            self.accept_write(&request, at_s.max(since_s));
        }
    }

    fn accept_write(&mut self, request: &Request, at_s: f64) {
        let (first, end) = self.arm.stretch_of(request);
        self.cache.add(first, end);
        self.arm.read_ahead.forget(&mut self.arm.mechanism, first, end, at_s);
        self.arm.finish_at_once(request, at_s);
    }

    fn submit_read(&mut self, request: Request, now_s: f64) {
        let arm = &mut self.arm;
        let (first, end) = arm.stretch_of(&request);
        if self.cache.holds(first, end) {
            return arm.finish_at_once(&request, now_s);
        }
        arm.read_ahead.stop_if_full(&mut arm.mechanism, now_s);
        // A completion is rounded up to a nanosecond: what follows it at once does not come in between.
        let interrupts = arm.queue.breaks_streams() && arm.mechanism.free_s() > now_s + 1e-9;
        let others_wait = arm.is_waited_for() || interrupts;
        if !arm.read_ahead_answers(&request, (first, end), now_s, others_wait) {
            arm.enqueue(request, first, now_s);
        }
    }

    fn submit_write(&mut self, request: Request, now_s: f64) {
        let arm = &mut self.arm;
        let length_bytes = u64::from(request.length_bytes);
        if !self.cache.takes(length_bytes) {
            let (first, end) = arm.stretch_of(&request);
            arm.read_ahead.forget(&mut arm.mechanism, first, end, now_s);
            arm.enqueue(request, first, now_s);
        } else if arm.takes_writes() && self.cache.has_room(length_bytes) {
            self.accept_write(&request, now_s);
        } else {
            arm.refused.push_back((request, now_s));
        }
    }
}

impl Drive for DiskDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        let now_s = now.as_f64() / 1e9;
        self.work_until(now);
        self.arm.wake(now, now_s);
        match request.operation {
            Operation::Discard => self.arm.refuse(&request, now_s),
            Operation::Flush => self.arm.flush(request, now_s, !self.cache.is_empty()),
            _ if self.arm.touches_nothing(&request) => self.arm.finish_at_once(&request, now_s),
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
#[path = "drive_property_tests.rs"]
mod property_tests;
#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
