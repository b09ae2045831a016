//! The thread that is the drive: takes the kernel's calls, asks the model, and answers when the model says.
//!
//! One thread does all of it. With a second one that reads, every answer would wait for a wake-up between the two,
//! which on a busy machine is later than anything that is done here. The descriptor of the kernel does not block: it is
//! looked at when nothing is due, slept on when nothing is near, and left alone when something is.

use super::flight::{self, Errand, Flight, Flights, Outcome};
use super::lateness::Lateness;
use super::listing::Listing;
use super::pacing::{AnswerCost, Pacer, Wait};
use super::protocol::{self, Body, Call, FILE_NODE, What};
use super::system_call;
use crate::clock::{Clock, MonotonicClock};
use model::request::{Operation, Request, Tag};
use model::units::Instant;
use sim::Drive;
use sim::contents::Contents;
use std::fs::File;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

/// The largest write that the kernel may hand over in one call, and the largest read.
pub(super) const TRANSFER_BYTES_MAX: u32 = 1 << 20;
/// Reads and writes do not go through the page cache, and writes need not wait for each other; closing is not told.
const OPENED: u32 = 1 | 1 << 6 | 1 << 5;

pub(super) enum Order {
    Report(Sender<Lateness>),
    Stop,
}

pub(super) struct Server {
    pub device: File,
    pub orders: Receiver<Order>,
    /// Can be read when there is an order.
    pub bell: UnixStream,
    pub drive: Box<dyn Drive + Send>,
    pub contents: Contents,
    pub listing: Listing,
    pub lateness: Lateness,
    pub clock: MonotonicClock,
}

#[derive(PartialEq, Eq)]
enum Look {
    Taken,
    Nothing,
    Unmounted,
}

impl Server {
    pub(super) fn run(self) -> Lateness {
        let now = self.clock.now();
        let memory = vec![0; protocol::WRITE_OVERHEAD_BYTES + TRANSFER_BYTES_MAX as usize + 4096];
        let mut service = Service {
            block_bytes: self.drive.facts().logical_block.get().max(1),
            capacity: self.drive.facts().capacity.get(),
            discards: matches!(self.drive.facts().discard_max, Some(max) if max.get() > 0),
            began: now,
            said: now,
            pacer: Pacer::new(now),
            cost: AnswerCost::default(),
            flights: Flights::default(),
            server: self,
        };
        service.serve(memory);
        service.report()
    }
}

struct Service {
    server: Server,
    block_bytes: u64,
    capacity: u64,
    discards: bool,
    began: Instant,
    /// The latest moment that the drive was told: none before it may be told any more.
    said: Instant,
    pacer: Pacer,
    cost: AnswerCost,
    flights: Flights,
}

impl Service {
    fn serve(&mut self, mut memory: Vec<u8>) {
        loop {
            match self.server.orders.try_recv() {
                // Nobody listens when whoever asked has gone.
                Ok(Order::Report(to)) => drop(to.send(self.report())),
                Ok(Order::Stop) | Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {}
            }
            self.answer_what_is_due();
            let due = self.due();
            let wait = self.pacer.until(due, self.server.clock.now());
            match wait {
                Wait::Watch => std::hint::spin_loop(),
                // A call may have come while the last ones were answered.
                Wait::No | Wait::Look | Wait::Sleep(_) => match self.look(&mut memory) {
                    Look::Taken => {}
                    Look::Unmounted => return,
                    Look::Nothing => self.rest(wait),
                },
            }
        }
    }

    fn rest(&mut self, wait: Wait) {
        let Wait::Sleep(time) = wait else { return };
        let before = self.server.clock.now();
        system_call::wait_for([self.server.device.as_fd(), self.server.bell.as_fd()], time);
        self.pacer.slept(self.server.clock.now().since(before));
        // The order itself comes another way; this only empties the bell.
        let _ = self.server.bell.read(&mut [0; 16]);
    }

    /// When the next answer must be begun; the moment of a decision inside the drive counts as one.
    fn due(&mut self) -> Option<Instant> {
        let next = self.server.drive.next_completion_at()?;
        let lead = self.cost.lead(self.flights.next_answer_bytes());
        Some(Instant::new(next.get().saturating_sub(lead.get())))
    }

    fn answer_what_is_due(&mut self) {
        while let Some(due) = self.due() {
            let now = self.server.clock.now();
            if due > now {
                return;
            }
            // The drive lives in its own time, which is ahead of ours by the time that giving the answer takes.
            let Some(next) = self.server.drive.next_completion_at() else { return };
            let moment = self.say(now.max(next));
            let Some(completion) = self.server.drive.take_completion(moment) else { continue };
            let Some(flight) = self.flights.land(completion.tag) else { continue };
            let outcome = flight::outcome(&flight.errand, &completion);
            self.conclude(flight, outcome, Instant::new(completion.completed_ns));
        }
    }

    fn say(&mut self, now: Instant) -> Instant {
        self.said = self.said.max(now);
        self.said
    }

    fn conclude(&mut self, flight: Flight, outcome: Outcome, due: Instant) {
        let Flight { unique, errand } = flight;
        let began = self.server.clock.now();
        let bytes = match (&outcome, &errand) {
            (Outcome::Done, Errand::Discard { next, end }) if next < end => {
                return self.discard(unique, *next, *end, began);
            }
            (Outcome::Read(bytes), Errand::Read { data, .. }) => {
                self.answer(unique, 0, &data[..*bytes as usize]);
                *bytes
            }
            (Outcome::Written(bytes), _) => {
                self.answer(unique, 0, &Body::written(*bytes));
                8
            }
            (Outcome::Failed(errno), _) => {
                self.answer(unique, *errno, &[]);
                0
            }
            _ => {
                self.answer(unique, 0, &[]);
                0
            }
        };
        let answered = self.server.clock.now();
        self.cost.learn(bytes, answered.since(began));
        self.server.lateness.record(due, answered);
        if let Errand::Read { data, .. } = errand {
            self.flights.give_back(data);
        }
    }

    /// Answers the kernel. It does not listen when the caller was killed or the mount has gone, seen elsewhere.
    fn answer(&self, unique: u64, errno: i32, body: &[u8]) {
        let header = protocol::answer_header(unique, errno, body.len());
        let _ = (&self.server.device).write_vectored(&[IoSlice::new(&header), IoSlice::new(body)]);
    }

    fn look(&mut self, memory: &mut [u8]) -> Look {
        let now = self.server.clock.now();
        let length = match (&self.server.device).read(memory) {
            Ok(length) => length,
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => return Look::Unmounted,
            // Nothing there; or the caller was killed before we came to it.
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Look::Nothing,
            Err(_) => return Look::Taken,
        };
        match protocol::parse(&memory[..length]) {
            Some(Call { what: What::Destroy, unique, .. }) => {
                self.answer(unique, 0, &[]);
                Look::Unmounted
            }
            Some(call) => {
                self.take(&call, now);
                Look::Taken
            }
            None => Look::Taken,
        }
    }

    fn take(&mut self, call: &Call<'_>, now: Instant) {
        let unique = call.unique;
        match &call.what {
            What::Read { offset, length, is_direct } if call.node == FILE_NODE => {
                self.read(unique, *offset, *length, *is_direct, now);
            }
            What::Write { offset, data, is_direct } if call.node == FILE_NODE => {
                self.write(unique, *offset, data, *is_direct, now);
            }
            What::Synchronise => {
                let flight = Flight { unique, errand: Errand::Flush };
                self.submit(flight, Operation::Flush, 0, 0, now);
            }
            What::Allocate { offset, length, mode } => self.allocate(unique, *offset, *length, *mode, now),
            What::Unanswered => {}
            What::Open | What::OpenFolder => {
                let flags = if call.node == FILE_NODE { OPENED } else { 0 };
                self.answer(unique, 0, &Body::opened(flags));
            }
            What::Close => self.answer(unique, 0, &[]),
            _ => match self.server.listing.answer(call) {
                Ok(body) => self.answer(unique, 0, &body),
                Err(errno) => self.answer(unique, errno, &[]),
            },
        }
    }

    fn read(&mut self, unique: u64, offset: u64, length: u32, is_direct: bool, now: Instant) {
        let length = u64::from(length).min(self.capacity.saturating_sub(offset)) as u32;
        let (first, end) = match self.blocks(offset, length, is_direct) {
            Some(blocks) if length > 0 => blocks,
            Some(_) => return self.answer(unique, 0, &[]),
            None => return self.answer(unique, libc::EINVAL, &[]),
        };
        let data = self.flights.memory(length);
        let errand = Errand::Read { head: (offset - first) as u32, data };
        let tag = self.submit(Flight { unique, errand }, Operation::Read, first, (end - first) as u32, now);
        // Now, while the drive is busy and there is time. A write may overtake a read under way, as on any drive.
        if let Some(Errand::Read { data, .. }) = self.flights.errand(tag) {
            self.server.contents.read(offset, data);
        }
    }

    fn write(&mut self, unique: u64, offset: u64, data: &[u8], is_direct: bool, now: Instant) {
        let fits = self.capacity.saturating_sub(offset).min(data.len() as u64) as u32;
        let (first, end) = match self.blocks(offset, fits, is_direct) {
            Some(blocks) if fits > 0 => blocks,
            Some(_) => return self.answer(unique, libc::ENOSPC, &[]),
            None => return self.answer(unique, libc::EINVAL, &[]),
        };
        let errand = Errand::Write { head: (offset - first) as u32, length: fits };
        let tag = self.submit(Flight { unique, errand }, Operation::Write, first, (end - first) as u32, now);
        // Before it is answered: what a later read finds must be what was written.
        if self.server.contents.write(offset, &data[..fits as usize]).is_err() {
            self.server.lateness.not_stored += 1;
            self.flights.refuse(tag, libc::ENOSPC);
        }
    }

    /// The whole blocks around a range: direct requests must fit them, others are rounded, as by the page cache.
    fn blocks(&self, offset: u64, length: u32, is_direct: bool) -> Option<(u64, u64)> {
        let end = offset + u64::from(length);
        let fits = offset.is_multiple_of(self.block_bytes) && end.is_multiple_of(self.block_bytes);
        if is_direct && !fits && end != self.capacity {
            return None;
        }
        let end = end.next_multiple_of(self.block_bytes).min(self.capacity);
        Some((offset - offset % self.block_bytes, end))
    }

    fn allocate(&mut self, unique: u64, offset: u64, length: u64, mode: u32, now: Instant) {
        let end = offset.checked_add(length);
        let fits = end.filter(|end| *end <= self.capacity);
        match (mode, fits) {
            // All of it is there already.
            (0 | protocol::KEEP_SIZE, Some(_)) => self.answer(unique, 0, &[]),
            (0 | protocol::KEEP_SIZE, None) => self.answer(unique, libc::ENOSPC, &[]),
            (mode, _) if mode == protocol::KEEP_SIZE | protocol::PUNCH_HOLE && self.discards => {
                let end = end.unwrap_or(u64::MAX).min(self.capacity);
                // Blocks that are only partly in the range keep their data.
                let first = offset.next_multiple_of(self.block_bytes);
                let end = end - end % self.block_bytes;
                if first >= end {
                    return self.answer(unique, 0, &[]);
                }
                self.discard(unique, first, end, now);
            }
            _ => self.answer(unique, libc::EOPNOTSUPP, &[]),
        }
    }

    fn discard(&mut self, unique: u64, first: u64, end: u64, now: Instant) {
        let (part, next) = flight::discard_part(first, end);
        let flight = Flight { unique, errand: Errand::Discard { next, end } };
        self.submit(flight, Operation::Discard, first, part.length_bytes, now);
        self.server.contents.discard(first, u64::from(part.length_bytes));
    }

    fn submit(
        &mut self,
        flight: Flight,
        operation: Operation,
        offset_bytes: u64,
        length_bytes: u32,
        now: Instant,
    ) -> Tag {
        let tag = self.flights.board(flight);
        let moment = self.say(now);
        self.server.drive.submit(Request { tag, operation, offset_bytes, length_bytes }, moment);
        tag
    }

    fn report(&self) -> Lateness {
        Lateness {
            processor_time: system_call::thread_time(),
            served: self.server.clock.now().since(self.began),
            ..self.server.lateness.clone()
        }
    }
}
