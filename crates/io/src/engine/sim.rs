//! Drives a virtual drive in virtual time: waiting moves the clock to the next completion.

use crate::clock::{Clock, VirtualClock};
use crate::engine::{Engine, Full};
use crate::error::IoError;
use model::request::{Completion, Request, Tag};
use model::units::{Instant, Nanos};
use sim::Drive;
use std::path::PathBuf;

/// Answers that may come at one moment before the host is taken to need time for them as well. Without that a phase
/// bounded by time would never end on a drive that answers at once.
const ANSWERS_AT_ONCE_MAX: u64 = 1000;
/// What the host then needs for each.
const HOST_TIME: Nanos = Nanos(1000);

/// A virtual drive behind the engine contract.
pub struct SimEngine<'drive> {
    drive: &'drive mut dyn Drive,
    clock: VirtualClock,
    depth: u32,
    queued: Vec<Request>,
    in_flight: u32,
    answered_at: Instant,
    answers_at_once: u64,
}

impl<'drive> SimEngine<'drive> {
    /// Room for `depth` requests to `drive`.
    pub fn new(drive: &'drive mut dyn Drive, clock: VirtualClock, depth: u32) -> SimEngine<'drive> {
        SimEngine {
            drive,
            clock,
            depth,
            queued: Vec::with_capacity(depth as usize),
            in_flight: 0,
            answered_at: Instant::START,
            answers_at_once: 0,
        }
    }

    fn take_ready(&mut self, into: &mut Vec<Completion>) -> u32 {
        let mut taken = 0;
        while let Some(completion) = self.drive.take_completion(self.clock.now()) {
            into.push(completion);
            taken += 1;
        }
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
            self.clock.pass(Nanos(HOST_TIME.0 * u64::from(taken)));
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
        self.queued.drain(..).for_each(|request| self.drive.submit(request, now));
        self.in_flight += count;
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

    fn buffer(&mut self, _tag: Tag) -> &mut [u8] {
        &mut []
    }
}

impl Drop for SimEngine<'_> {
    /// Lets the drive finish what is under way, so that the next phase finds it idle.
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
