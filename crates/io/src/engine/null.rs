//! An engine that does nothing: every request is done at once. It measures what this tool itself costs.

use crate::clock::Clock;
use crate::engine::{Engine, Full};
use crate::error::IoError;
use model::request::{Completion, Request, Status, Tag};
use model::units::Instant;

pub struct NullEngine<C> {
    depth: u32,
    clock: C,
    queued: Vec<Request>,
    committed: Vec<Request>,
}

impl<C: Clock> NullEngine<C> {
    pub fn new(depth: u32, clock: C) -> NullEngine<C> {
        let room = || Vec::with_capacity(depth as usize);
        NullEngine { depth, clock, queued: room(), committed: room() }
    }
}

impl<C: Clock> Engine for NullEngine<C> {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn queue(&mut self, request: Request) -> Result<(), Full> {
        if self.queued.len() + self.committed.len() >= self.depth as usize {
            return Err(Full(request));
        }
        self.queued.push(request);
        Ok(())
    }

    fn commit(&mut self) -> Result<u32, IoError> {
        let count = self.queued.len() as u32;
        self.committed.append(&mut self.queued);
        Ok(count)
    }

    fn reap(&mut self, into: &mut Vec<Completion>, _min: u32, _deadline: Instant) -> Result<(), IoError> {
        let completed_ns = self.clock.now().get();
        into.extend(self.committed.drain(..).map(|request| Completion {
            tag: request.tag,
            status: Status::Done,
            transferred_bytes: request.length_bytes,
            completed_ns,
        }));
        Ok(())
    }

    fn buffer(&mut self, _tag: Tag) -> &mut [u8] {
        &mut []
    }
}
