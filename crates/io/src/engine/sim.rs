//! Drives a virtual drive in virtual time: waiting moves the clock to the next completion.

use crate::clock::{Clock, VirtualClock};
use crate::engine::{Engine, Full};
use crate::error::IoError;
use model::request::{Completion, Request, Tag};
use model::units::Instant;
use sim::Drive;

/// A virtual drive behind the engine contract.
pub struct SimEngine<'drive> {
    drive: &'drive mut dyn Drive,
    clock: VirtualClock,
    depth: u32,
    queued: Vec<Request>,
    in_flight: u32,
}

impl<'drive> SimEngine<'drive> {
    /// Room for `depth` requests to `drive`.
    pub fn new(drive: &'drive mut dyn Drive, clock: VirtualClock, depth: u32) -> SimEngine<'drive> {
        SimEngine { drive, clock, depth, queued: Vec::with_capacity(depth as usize), in_flight: 0 }
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
                _ => break,
            }
            taken += self.take_ready(into);
        }
        // Nobody else moves virtual time: what was waited for in vain has passed.
        if taken < min && deadline > self.clock.now() {
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
