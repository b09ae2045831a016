//! A flash drive at work: takes requests, and knows at once when each will be answered.
//! ```text
//! request ──► wake-up ──► controller ──┬─ read ───► dies and channels (or nothing there: at once)
//!                                      ├─ write ──► write path: buffer, SLC cache, garbage collection, …
//!                                      ├─ discard ► maps
//!                                      └─ flush ──► when the last page is programmed
//! ```
//!
//! Reads and writes meet on the dies: a read waits for what its die programs or erases, and takes its time from writes.

use crate::flash::dies::Dies;
use crate::flash::profile::{BufferProfile, FlashProfile, PowerStateProfile};
use crate::flash::write_path::WritePath;
use crate::flaw::Flaw;
use crate::{Drive, answer_within, first_at, insert_by_time, take_ready};
use model::request::{Completion, Operation, Request};
use model::target::TargetFacts;
use model::units::Instant;
use std::collections::VecDeque;

pub struct FlashDrive {
    facts: TargetFacts,
    dies: Dies,
    die_count: f64,
    writes: WritePath,
    buffer: Option<BufferProfile>,
    power_states: Vec<PowerStateProfile>,
    command_s: f64,
    read_overhead_s: f64,
    write_overhead_s: f64,
    controller_free_s: f64,
    active_until_s: f64,
    is_dirty: bool,
    /// When the mapping table of the last flush is stored.
    stored_s: f64,
    /// By the moment they are ready, those of one moment in the order in which they came.
    answers: VecDeque<Completion>,
}

impl FlashDrive {
    /// A drive as its profile says, at rest. `seed` draws what a read finds its die at, and the jitter of housekeeping.
    pub fn new(facts: TargetFacts, profile: &FlashProfile, seed: u64) -> Result<FlashDrive, Flaw> {
        profile.check(facts.capacity)?;
        let layout = profile.layout(facts.capacity)?;
        let capacity = facts.capacity.get();
        Ok(FlashDrive {
            facts,
            dies: Dies::new(profile, seed),
            die_count: f64::from(profile.dies()),
            writes: WritePath::new(profile, layout, capacity, seed),
            buffer: profile.buffer.clone(),
            power_states: profile.power_states.clone(),
            command_s: profile.command_us * 1e-6,
            read_overhead_s: profile.read_overhead_us * 1e-6,
            write_overhead_s: profile.write_overhead_us * 1e-6,
            controller_free_s: 0.0,
            active_until_s: 0.0,
            is_dirty: false,
            stored_s: 0.0,
            answers: VecDeque::new(),
        })
    }

    #[cfg(test)]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.writes.memory_bytes()
    }

    /// When a request that comes now is before the controller; uses the idle time before it.
    fn accept(&mut self, now_s: f64) -> f64 {
        let idle_since_s = self.active_until_s.max(self.writes.free_s());
        let idle_s = now_s - idle_since_s;
        self.writes.use_idle_time(idle_since_s, now_s);
        let mut wake_s = 0.0;
        for state in &self.power_states {
            if idle_s > 0.0 && idle_s >= state.idle_ms * 1e-3 {
                wake_s = state.wake_us * 1e-6;
            }
        }
        self.controller_free_s = self.controller_free_s.max(now_s + wake_s) + self.command_s;
        self.controller_free_s
    }

    fn read(&mut self, offset: u64, bytes: u64, at_s: f64) -> f64 {
        let held = self.writes.bytes_held(offset, bytes);
        if held == 0 {
            return at_s + self.read_overhead_s;
        }
        let read = self.dies.read(offset, bytes.min(held), at_s, self.writes.writing(at_s));
        self.writes.delay(read.work_s / self.die_count, at_s);
        read.end_s + self.read_overhead_s
    }

    fn write(&mut self, offset: u64, bytes: u64, at_s: f64) -> f64 {
        debug_assert!(bytes > 0, "a write has data");
        let room_s = self.writes.write(offset, bytes, at_s).max(at_s);
        self.is_dirty = true;
        let copy_s = self.buffer.as_ref().map_or(0.0, |buffer| bytes as f64 * 1e-6 / buffer.copy_mb_per_s);
        room_s.max(at_s + copy_s) + self.write_overhead_s
    }

    fn flush(&mut self, at_s: f64) -> f64 {
        let was_written = std::mem::take(&mut self.is_dirty);
        let durable_s = match &self.buffer {
            Some(buffer) if !buffer.flush.stores() => at_s,
            Some(buffer) if was_written => {
                self.stored_s = self.writes.programmed_s().max(at_s) + buffer.flush_us * 1e-6;
                self.stored_s
            }
            // A flush that comes while another stores the table waits for it.
            _ => self.writes.free_s().max(at_s).max(self.stored_s),
        };
        debug_assert!(durable_s >= at_s, "nothing is durable before its flush came");
        durable_s + self.write_overhead_s
    }
}

impl Drive for FlashDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        let now_s = now.as_f64() * 1e-9;
        let (status, moved) = answer_within(self.facts.capacity, &request);
        let (offset, bytes) = (request.offset_bytes, u64::from(moved));
        let at_s = self.accept(now_s);
        let end_s = match request.operation {
            Operation::Flush => self.flush(at_s),
            _ if bytes == 0 => at_s + self.read_overhead_s,
            Operation::Read => self.read(offset, bytes, at_s),
            Operation::Write | Operation::Commit => self.write(offset, bytes, at_s),
            Operation::Discard => {
                self.writes.trim(offset, bytes, self.facts.capacity.get());
                at_s + self.write_overhead_s
            }
        };
        self.active_until_s = self.active_until_s.max(end_s);
        let completed_ns = ((end_s * 1e9).round() as u64).max(now.get());
        let completion = Completion { tag: request.tag, status, transferred_bytes: moved, completed_ns };
        insert_by_time(&mut self.answers, completion);
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        first_at(&self.answers)
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        take_ready(&mut self.answers, now)
    }

    fn facts(&self) -> &TargetFacts {
        &self.facts
    }
}

#[cfg(test)]
#[path = "drive_tests.rs"]
pub(crate) mod drive_tests;

#[cfg(test)]
#[path = "published_tests.rs"]
mod published_tests;
