//! What any drive with one arm keeps: who waits for the arm, when it decides whom to serve, and the answers.

use crate::disk::mechanism::Mechanism;
use crate::disk::profile::DiskProfile;
use crate::disk::queue::{Queue, Waiting};
use crate::disk::read_ahead::ReadAhead;
use crate::flush::FlushPolicy;
use crate::{answer_within, first_at, insert_by_time, take_ready};
use model::request::{Completion, Request, Status};
use model::target::TargetFacts;
use model::units::Instant;
use std::collections::VecDeque;

pub(crate) struct Arm {
    pub facts: TargetFacts,
    pub overhead_s: f64,
    pub mechanism: Mechanism,
    pub queue: Queue,
    pub read_ahead: ReadAhead,
    /// Writes that find no room in the cache, with when they came.
    pub refused: VecDeque<(Request, f64)>,
    pub flushes: VecDeque<Request>,
    flush: FlushPolicy,
    /// When the arm is free to be told what to do next: not before the latest request came.
    pub decides_s: f64,
    /// The same as a moment at which to look: that in seconds may be off by its rounding.
    pub decides_at: Instant,
    /// With a full cache, whether the arm wrote last and reads next.
    pub wrote_last: bool,
    /// Answers by the moment they are ready, those of one moment in the order in which they got there.
    pub finished: VecDeque<Completion>,
}

impl Arm {
    pub(crate) fn new(facts: TargetFacts, mechanism: Mechanism, profile: &DiskProfile) -> Arm {
        Arm {
            facts,
            overhead_s: profile.command_overhead_ms / 1e3,
            mechanism,
            queue: Queue::new(&profile.queue),
            read_ahead: ReadAhead::new(&profile.read_ahead),
            refused: VecDeque::new(),
            flushes: VecDeque::new(),
            flush: profile.write_cache.flush,
            decides_s: 0.0,
            decides_at: Instant::START,
            wrote_last: false,
            finished: VecDeque::with_capacity(64),
        }
    }

    /// The arm is busy until `end_s`.
    pub(crate) fn decide_at(&mut self, end_s: f64) {
        (self.decides_s, self.decides_at) = (end_s, moment(end_s));
    }

    /// An arm that has been free starts now, not when it became free.
    pub(crate) fn wake(&mut self, now: Instant, now_s: f64) {
        if self.decides_at < now {
            (self.decides_s, self.decides_at) = (now_s, now);
        }
    }

    pub(crate) fn must_write(&self) -> bool {
        !self.flushes.is_empty() || (!self.refused.is_empty() && !self.wrote_last)
    }

    /// Whether no write has to wait for one before it, or for a flush.
    pub(crate) fn takes_writes(&self) -> bool {
        self.refused.is_empty() && self.flushes.is_empty()
    }

    pub(crate) fn is_waited_for(&self) -> bool {
        !self.queue.is_empty() || !self.takes_writes()
    }

    pub(crate) fn stretch_of(&self, request: &Request) -> (u64, u64) {
        let end = request.offset_bytes.saturating_add(u64::from(request.length_bytes));
        (request.offset_bytes, end.min(self.facts.capacity.get()))
    }

    pub(crate) fn touches_nothing(&self, request: &Request) -> bool {
        request.length_bytes == 0 || request.offset_bytes >= self.facts.capacity.get()
    }

    pub(crate) fn enqueue(&mut self, request: Request, platter_byte: u64, now_s: f64) {
        let (place, ready_s) = (self.mechanism.place_of(platter_byte), now_s + self.overhead_s);
        self.queue.push(Waiting { request, since_s: now_s, ready_s, place });
    }

    /// Whether read-ahead has a stretch of the platter, or is about to pass it, and so answers the request.
    pub(crate) fn read_ahead_answers(
        &mut self,
        request: &Request,
        (first, end): (u64, u64),
        now_s: f64,
        others_wait: bool,
    ) -> bool {
        let ready = self.read_ahead.ready_s(&mut self.mechanism, first, end, now_s, others_wait);
        let Some(ready_s) = ready else { return false };
        if self.mechanism.free_s() > self.decides_s {
            self.decide_at(self.mechanism.free_s());
        }
        self.finish(request, ready_s.max(now_s + self.overhead_s), None);
        true
    }

    pub(crate) fn flush(&mut self, request: Request, now_s: f64, has_dirty: bool) {
        if !self.flush.stores() {
            self.finish_at_once(&request, now_s);
        } else if has_dirty {
            self.flushes.push_back(request);
        } else {
            self.finish(&request, self.written_s(now_s), None);
        }
    }

    /// When a flush is done for which nothing is left to write.
    pub(crate) fn written_s(&self, now_s: f64) -> f64 {
        let written_s = if self.wrote_last { self.decides_s } else { now_s };
        written_s.max(now_s + self.overhead_s)
    }

    pub(crate) fn finish_flushes(&mut self, at_s: f64) {
        while let Some(flush) = self.flushes.pop_front() {
            self.finish(&flush, at_s, None);
        }
    }

    pub(crate) fn finish_at_once(&mut self, request: &Request, now_s: f64) {
        self.finish(request, now_s + self.overhead_s, None);
    }

    pub(crate) fn finish(&mut self, request: &Request, at_s: f64, failed_byte: Option<u64>) {
        let (status, transferred_bytes) = match failed_byte {
            Some(byte) => (Status::MediumError, byte.saturating_sub(request.offset_bytes) as u32),
            None => answer_within(self.facts.capacity, request),
        };
        self.answer(request, at_s, status, transferred_bytes);
    }

    pub(crate) fn refuse(&mut self, request: &Request, now_s: f64) {
        self.answer(request, now_s + self.overhead_s, Status::NotSupported, 0);
    }

    fn answer(&mut self, request: &Request, at_s: f64, status: Status, transferred_bytes: u32) {
        let completed_ns = moment(at_s).get();
        let completion = Completion { tag: request.tag, status, transferred_bytes, completed_ns };
        insert_by_time(&mut self.finished, completion);
    }

    pub(crate) fn next_completion_at(&self) -> Option<Instant> {
        let decision = if self.is_waited_for() { Some(self.decides_at) } else { None };
        [first_at(&self.finished), decision].into_iter().flatten().min()
    }

    pub(crate) fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        take_ready(&mut self.finished, now)
    }
}

/// The first whole nanosecond that is not before a moment in seconds. Whether a moment has come is only asked of these:
/// one that is turned into nanoseconds and back may come out earlier than it was.
pub(crate) fn moment(at_s: f64) -> Instant {
    let nanoseconds = at_s * 1e9;
    let whole = nanoseconds as u64;
    Instant::new(whole.saturating_add(u64::from((whole as f64) < nanoseconds)))
}
