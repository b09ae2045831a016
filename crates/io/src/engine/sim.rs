//! Drives a virtual drive in virtual time: waiting moves the clock to the next completion.

use crate::clock::{Clock, VirtualClock};
use crate::engine::buffer::BufferPool;
use crate::engine::{Engine, Full};
use crate::error::IoError;
use model::request::{Completion, Operation, Request, Status, Tag};
use model::units::{Instant, Nanos};
use sim::Drive;
use sim::contents::Contents;
use std::path::PathBuf;

/// Answers at one moment before the host needs time as well: else a phase of a drive without latency never ends.
const ANSWERS_AT_ONCE_MAX: u64 = 1000;
/// What the host then needs for each.
const HOST_TIME: Nanos = Nanos::new(1000);

/// How far a commit has come: drives know writes and flushes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommitStep {
    None,
    Writing,
    Flushing { transferred_bytes: u32 },
}

struct Data<'drive> {
    contents: &'drive mut Contents,
    buffers: BufferPool,
    under_way: Vec<Option<Request>>,
}

pub struct SimEngine<'drive> {
    drive: &'drive mut dyn Drive,
    data: Option<Data<'drive>>,
    clock: VirtualClock,
    depth: u32,
    queued: Vec<Request>,
    /// Of each tag whether it is a commit, and what its write moved once that is done.
    commits: Vec<CommitStep>,
    in_flight: u32,
    answered_at: Instant,
    answers_at_once: u64,
}

impl<'drive> SimEngine<'drive> {
    pub fn new(drive: &'drive mut dyn Drive, clock: VirtualClock, depth: u32) -> SimEngine<'drive> {
        SimEngine {
            drive,
            data: None,
            clock,
            depth,
            queued: Vec::with_capacity(depth as usize),
            commits: vec![CommitStep::None; depth as usize],
            in_flight: 0,
            answered_at: Instant::START,
            answers_at_once: 0,
        }
    }

    /// The same, moving data between buffers of that size and what the drive holds.
    pub fn with_contents(
        mut self,
        contents: &'drive mut Contents,
        buffer_bytes: usize,
    ) -> Result<SimEngine<'drive>, IoError> {
        let buffers = BufferPool::new(self.depth, buffer_bytes)?;
        self.data = Some(Data { contents, buffers, under_way: vec![None; self.depth as usize] });
        Ok(self)
    }

    fn take_ready(&mut self, into: &mut Vec<Completion>) -> u32 {
        let mut taken = 0;
        while let Some(mut completion) = self.drive.take_completion(self.clock.now()) {
            let step = &mut self.commits[completion.tag.0 as usize];
            match *step {
                CommitStep::Writing if completion.status.is_done() => {
                    *step = CommitStep::Flushing { transferred_bytes: completion.transferred_bytes };
                    let flush = Request {
                        tag: completion.tag,
                        operation: Operation::Flush,
                        offset_bytes: 0,
                        length_bytes: 0,
                    };
                    self.drive.submit(flush, self.clock.now());
                    continue;
                }
                CommitStep::Flushing { transferred_bytes } if completion.status.is_done() => {
                    completion.transferred_bytes = transferred_bytes;
                }
                _ => {}
            }
            *step = CommitStep::None;
            if let Some(data) = &mut self.data {
                data.finish(&mut completion);
            }
            into.push(completion);
            taken += 1;
        }
        debug_assert!(taken <= self.in_flight, "no answer without a request");
        self.in_flight -= taken;
        taken
    }

    /// A real drive that never answers is given up by the kernel, with an error; a virtual one has to do that itself.
    fn silent(&self) -> IoError {
        let target = PathBuf::from(&self.drive.facts().path);
        IoError::Unsuitable { target, why: format!("it never answers {} requests", self.in_flight) }
    }

    fn spend_host_time(&mut self, taken: u32) {
        let now = self.clock.now();
        if now > self.answered_at {
            (self.answered_at, self.answers_at_once) = (now, 0);
        }
        self.answers_at_once += u64::from(taken);
        if self.answers_at_once > ANSWERS_AT_ONCE_MAX {
            self.clock.pass(Nanos::new(HOST_TIME.get() * u64::from(taken)));
            self.answered_at = self.clock.now();
        }
    }
}

impl Engine for SimEngine<'_> {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn queue(&mut self, request: Request) -> Result<(), Full> {
        if self.queued.len() as u32 + self.in_flight >= self.depth {
            return Err(Full(request));
        }
        self.queued.push(request);
        Ok(())
    }

    fn commit(&mut self) -> Result<u32, IoError> {
        let now = self.clock.now();
        let count = self.queued.len() as u32;
        for request in self.queued.drain(..) {
            if request.operation == Operation::Commit {
                self.commits[request.tag.0 as usize] = CommitStep::Writing;
                self.drive.submit(Request { operation: Operation::Write, ..request }, now);
            } else {
                self.drive.submit(request, now);
            }
            if let Some(data) = &mut self.data {
                data.under_way[request.tag.0 as usize] = Some(request);
            }
        }
        self.in_flight += count;
        debug_assert!(self.in_flight <= self.depth, "the depth is kept");
        Ok(count)
    }

    fn reap(&mut self, into: &mut Vec<Completion>, min: u32, deadline: Instant) -> Result<(), IoError> {
        let mut taken = self.take_ready(into);
        while taken < min && self.in_flight > 0 {
            match self.drive.next_completion_at() {
                Some(moment) if moment <= deadline => self.clock.advance_to(moment.max(self.clock.now())),
                None if deadline == Instant::NEVER => return Err(self.silent()),
                _ => break,
            }
            taken += self.take_ready(into);
        }
        self.spend_host_time(taken);
        // Nobody else moves virtual time: what was waited for in vain has passed.
        if taken < min && deadline != Instant::NEVER && deadline > self.clock.now() {
            self.clock.advance_to(deadline);
        }
        Ok(())
    }

    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.data.as_mut().map_or(&mut [], |data| data.buffers.slot(tag))
    }
}

impl Data<'_> {
    /// Moves the data of a request that the drive has done. One that finds no memory is an error of the drive.
    fn finish(&mut self, completion: &mut Completion) {
        let Some(request) = self.under_way[completion.tag.0 as usize].take() else { return };
        if !completion.status.is_done() {
            return;
        }
        let buffer = &mut self.buffers.slot(request.tag);
        let length = buffer.len().min(request.length_bytes as usize);
        match request.operation {
            Operation::Read => self.contents.read(request.offset_bytes, &mut buffer[..length]),
            Operation::Write | Operation::Commit
                if self.contents.write(request.offset_bytes, &buffer[..length]).is_err() =>
            {
                (completion.status, completion.transferred_bytes) = (Status::NoSpace, 0);
            }
            Operation::Discard => {
                self.contents.discard(request.offset_bytes, u64::from(request.length_bytes));
            }
            Operation::Write | Operation::Commit | Operation::Flush => {}
        }
    }
}

impl Drop for SimEngine<'_> {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            let Some(moment) = self.drive.next_completion_at() else { return };
            self.clock.advance_to(moment.max(self.clock.now()));
            while self.drive.take_completion(self.clock.now()).is_some() {
                self.in_flight -= 1;
            }
        }
    }
}
