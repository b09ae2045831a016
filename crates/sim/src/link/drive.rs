//! A drive at the end of a link.
//! ```text
//! host ── waits for a free place ──> command ──> [write: its data] ──> drive
//!      <── [read: its data, as the medium delivers it] ── ready <──────┘
//! ```
//! A command occupies the way to the drive, and a write's data follow it there; then the drive sees the request. A
//! read is done when the drive is ready with it and its data have had the time to cross since the way to the host was
//! free. Where data can go one way at a time only, what goes to the drive goes first and holds up what comes back.
//!
//! A drive says when it is ready with a read, not since when it had the first of its data; they are taken to have come
//! all the time since the command got there. So where the link is slower than the medium, a large read at a random
//! place is done too early, by up to what its data take to cross; a stream is not.
//!
//! The drive is asked to look ahead as far as the last command got to it: nothing is kept that is on its way.

use crate::link::profile::{Duplex, LinkProfile};
use crate::{Drive, first_at, put, take_ready};
use model::request::{Completion, Operation, Request, Status, Tag};
use model::target::TargetFacts;
use model::units::Instant;
use std::collections::VecDeque;

const NEVER: u64 = u64::MAX;

pub struct LinkedDrive {
    inner: Box<dyn Drive + Send>,
    facts: TargetFacts,
    read_ns_per_byte: f64,
    write_ns_per_byte: f64,
    overhead_ns: f64,
    latency_ns: f64,
    depth: u32,
    transfer_bytes_max: u32,
    half_duplex: bool,
    /// When the way to the drive is free, and the way to the host.
    to_drive_free_ns: f64,
    to_host_free_ns: f64,
    /// The latest moment that the drive knows of: it may be later than what the host knows.
    inner_now: u64,
    /// When the drive is to be looked at next, if that is known.
    inner_next: Option<u64>,
    in_inner: u32,
    /// What the drive answered when it was looked at for an earlier moment.
    ahead: Option<Completion>,
    /// Commands under way, by the tag that the drive knows.
    commands: Vec<Command>,
    free_tags: Vec<u32>,
    under_way: u32,
    requests: Vec<Progress>,
    /// In their order; of the first a part may be under way.
    waiting: VecDeque<Request>,
    /// Reads whose data are crossing, in the order in which they will have crossed.
    crossing: VecDeque<Completion>,
    answers: VecDeque<Completion>,
}

/// A request, or a part of it, that the drive knows.
#[derive(Clone, Copy, Debug)]
struct Command {
    request: Request,
    reached_drive_ns: f64,
}

#[derive(Clone, Copy, Debug)]
struct Progress {
    first_byte: u64,
    commands_left: u32,
    transferred_bytes: u32,
    /// Where the first part that failed begins, and how it ended.
    failed: Option<(u64, Status)>,
}

impl LinkedDrive {
    /// `inner` at the end of that link. Panics unless the profile passes its check.
    pub fn new(inner: Box<dyn Drive + Send>, profile: &LinkProfile) -> LinkedDrive {
        let numbers = profile.numbers().expect("a link that was checked");
        let facts = TargetFacts { link: Some(numbers.link), ..inner.facts().clone() };
        LinkedDrive {
            inner,
            facts,
            read_ns_per_byte: 1e9 / numbers.read_bytes_per_second,
            write_ns_per_byte: 1e9 / numbers.write_bytes_per_second,
            overhead_ns: numbers.command_overhead_s * 1e9,
            latency_ns: numbers.command_latency_s * 1e9,
            depth: numbers.queue_depth_max,
            transfer_bytes_max: numbers.transfer_bytes_max,
            half_duplex: numbers.duplex == Duplex::Half,
            to_drive_free_ns: 0.0,
            to_host_free_ns: 0.0,
            inner_now: 0,
            inner_next: None,
            in_inner: 0,
            ahead: None,
            commands: Vec::new(),
            free_tags: Vec::new(),
            under_way: 0,
            requests: Vec::new(),
            waiting: VecDeque::new(),
            crossing: VecDeque::new(),
            answers: VecDeque::new(),
        }
    }

    /// Sends commands for as much of the request as there are places for; what is left waits first.
    fn dispatch(&mut self, mut request: Request, now: u64) {
        let splits = matches!(request.operation, Operation::Read | Operation::Write);
        while splits && request.length_bytes > self.transfer_bytes_max && self.under_way < self.depth {
            let length_bytes = self.transfer_bytes_max;
            self.send(Request { length_bytes, ..request }, now);
            request.length_bytes -= length_bytes;
            request.offset_bytes = request.offset_bytes.saturating_add(u64::from(length_bytes));
        }
        if self.under_way < self.depth {
            self.send(request, now);
        } else {
            self.waiting.push_front(request);
        }
    }

    fn send(&mut self, request: Request, now: u64) {
        let data_ns = match request.operation {
            Operation::Write | Operation::Commit => f64::from(request.length_bytes) * self.write_ns_per_byte,
            Operation::Read | Operation::Flush | Operation::Discard => 0.0,
        };
        let cost_ns = self.overhead_ns + data_ns;
        self.to_drive_free_ns = self.to_drive_free_ns.max(now as f64) + cost_ns;
        if self.half_duplex {
            self.to_host_free_ns = self.to_host_free_ns.max(now as f64) + cost_ns;
        }
        let reached_drive_ns = self.to_drive_free_ns + self.latency_ns;
        let command = Command { request, reached_drive_ns };
        let tag = put(&mut self.commands, &mut self.free_tags, command);
        self.under_way += 1;
        self.in_inner += 1;
        self.inner_next = None;
        self.inner_now = self.inner_now.max(rounded_up(reached_drive_ns));
        debug_assert!(self.in_inner <= self.under_way, "the drive has no more than was sent");
        self.inner.submit(Request { tag: Tag(tag), ..request }, Instant::new(self.inner_now));
    }

    fn inner_next(&mut self) -> u64 {
        if let Some(completion) = self.ahead {
            return completion.completed_ns;
        }
        if self.in_inner == 0 {
            return NEVER;
        }
        if let Some(at) = self.inner_next {
            return at;
        }
        let at = self.inner.next_completion_at().map_or(NEVER, Instant::get);
        self.inner_next = Some(at);
        at
    }

    /// Does all that is due by `now`, in the order of time.
    fn advance(&mut self, now: u64) {
        loop {
            let crossed = self.crossing.front().map_or(NEVER, |completion| completion.completed_ns);
            let ready = self.inner_next();
            if crossed <= ready && crossed <= now && crossed < NEVER {
                let completion = self.crossing.pop_front().expect("there is a first one");
                self.finish(completion);
            } else if ready <= now && ready < NEVER {
                self.look_at_inner(ready);
            } else {
                return;
            }
        }
    }

    fn look_at_inner(&mut self, at: u64) {
        let mut completion = self.ahead.take();
        if completion.is_none() {
            self.inner_now = self.inner_now.max(at);
            self.inner_next = None;
            completion = self.inner.take_completion(Instant::new(self.inner_now));
            self.in_inner -= u32::from(completion.is_some());
        }
        match completion {
            Some(completion) if completion.completed_ns > at => self.ahead = Some(completion),
            Some(completion) => self.cross(completion),
            None => {}
        }
    }

    fn cross(&mut self, mut completion: Completion) {
        let command = self.commands[completion.tag.0 as usize];
        if command.request.operation != Operation::Read || completion.transferred_bytes == 0 {
            return self.finish(completion);
        }
        let began_ns = self.to_host_free_ns.max(command.reached_drive_ns);
        let data_ns = f64::from(completion.transferred_bytes) * self.read_ns_per_byte;
        self.to_host_free_ns = (began_ns + data_ns).max(completion.completed_ns as f64);
        let crossed = rounded_up(self.to_host_free_ns);
        if crossed <= completion.completed_ns {
            self.finish(completion);
        } else {
            completion.completed_ns = crossed;
            self.crossing.push_back(completion);
        }
    }

    fn finish(&mut self, completion: Completion) {
        let command = self.commands[completion.tag.0 as usize].request;
        self.free_tags.push(completion.tag.0);
        debug_assert!(self.under_way > 0, "only what was sent completes");
        self.under_way -= 1;
        let progress = &mut self.requests[command.tag.0 as usize];
        debug_assert!(progress.commands_left > 0, "a request completes once");
        progress.commands_left -= 1;
        progress.add(&command, &completion);
        if progress.commands_left == 0 {
            let (status, transferred_bytes) = progress.answer();
            let answer = Completion { tag: command.tag, status, transferred_bytes, ..completion };
            self.answers.push_back(answer);
        }
        if let Some(next) = self.waiting.pop_front() {
            self.dispatch(next, completion.completed_ns);
        }
    }
}

/// `f64::ceil` is a call into the mathematics library on the oldest processors that are built for.
fn rounded_up(ns: f64) -> u64 {
    let whole = ns as u64;
    whole.saturating_add(u64::from((whole as f64) < ns))
}

impl Progress {
    const NONE: Progress = Progress { first_byte: 0, commands_left: 0, transferred_bytes: 0, failed: None };

    fn add(&mut self, command: &Request, completion: &Completion) {
        if completion.status == Status::Done {
            if self.failed.is_none() {
                self.transferred_bytes += completion.transferred_bytes;
            }
        } else if self.failed.is_none_or(|(first, _)| command.offset_bytes < first) {
            // What counts is what was moved from the start on, before the first part that failed.
            let before = command.offset_bytes.saturating_sub(self.first_byte) as u32;
            self.transferred_bytes = before + completion.transferred_bytes;
            self.failed = Some((command.offset_bytes, completion.status));
        }
    }

    fn answer(&self) -> (Status, u32) {
        (self.failed.map_or(Status::Done, |(_, status)| status), self.transferred_bytes)
    }
}

impl Drive for LinkedDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        self.advance(now.get());
        let slot = request.tag.0 as usize;
        if self.requests.len() <= slot {
            self.requests.resize(slot + 1, Progress::NONE);
        }
        let splits = matches!(request.operation, Operation::Read | Operation::Write);
        let commands_left = match splits {
            true if request.length_bytes > self.transfer_bytes_max => {
                request.length_bytes.div_ceil(self.transfer_bytes_max)
            }
            _ => 1,
        };
        self.requests[slot] = Progress { first_byte: request.offset_bytes, commands_left, ..Progress::NONE };
        if self.waiting.is_empty() {
            self.dispatch(request, now.get());
        } else {
            self.waiting.push_back(request);
        }
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        if !self.answers.is_empty() {
            return first_at(&self.answers);
        }
        let crossed = self.crossing.front().map_or(NEVER, |completion| completion.completed_ns);
        let next = crossed.min(self.inner_next());
        (next < NEVER).then_some(Instant::new(next))
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        if self.answers.is_empty() {
            self.advance(now.get());
        }
        take_ready(&mut self.answers, now)
    }

    fn facts(&self) -> &TargetFacts {
        &self.facts
    }
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
