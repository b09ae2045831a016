//! A drive in memory, in virtual time. It has no clock, no thread and no file: the caller says what time it is.
//!
//! | modelled | how | drives |
//! |---|---|---|
//! | a disk's tracks, surfaces and skew | sector by sector, by the layouts that have been measured | `disk-4tb` |
//! | rotation | an angle that never stops; who is late waits a revolution | `disk-4tb` |
//! | the arm | a seek curve, head switch, settling | `disk-4tb` |
//! | its queue | shortest positioning first, with ageing | `disk-4tb` |
//! | its caches | segments of what was read, read-ahead; a write cache that empties when the arm is free | `disk-4tb` |
//! | its defects | remapped, slow and unreadable sectors; standby | any disk |
//! | shingled recording | a media cache with its map, bands, cleaning in idle time and under pressure | `smr-2tb` |
//! | flash | dies behind channels, translation and garbage collection on a sample of pages, SLC cache, buffer, heat | `sata-tlc-500gb` |
//! | an X25-M's valleys | by what was seen of them, not by its firmware | `x25-m` |
//! | a plain disk | a table of rates by offset, uniform rotational latency, nearest request first | `zoned` |
//! | constant latency | several servers | `constant`, `null` |
//! | the link | rate, cost of a command, queue depth, large requests in several commands | around any drive |
//! | rate limits | token buckets of requests and of bytes | `cloud-volume`, around any drive |
//! | volumes | stripes, mirrors, concatenations | over any drives |
//! | faults | unreadable and slow ranges, time-outs, short reads, stalls, device lost, wrap-around | `faulty`, around any |
//! | other load | random reads of another host through the same link, with a rate or a queue depth | around any drive |
//! | data | what was written, and what silently goes wrong with it | any drive that is mounted |
//! | power cuts | which sectors of the write cache are lost | any drive with a cache |
//!
//! Besides those that ship there is one for every seed, drawn at random: [`generator`].
//!
//! Not modelled: errors of a link, rebuilding a mirror, parity, wear of flash; more at the heads of mechanisms.
#![forbid(unsafe_code)]

pub mod constant;
pub mod contents;
pub mod disk;
pub mod fault;
pub mod flash;
pub mod flaw;
pub mod flush;
pub mod generator;
pub mod limit;
pub mod link;
pub mod power;
pub mod profile;
pub mod smr;
pub mod truth;
pub mod volume;
pub mod zoned;

pub use profile::{ProfileError, open};

use model::request::{Completion, Operation, Request, Status};
use model::target::TargetFacts;
use model::units::{Bytes, Instant, Nanos};
use std::collections::VecDeque;

/// A virtual drive. Time never goes backwards: each call's `now` is at least that of the call before.
pub trait Drive {
    /// Never refuses: the caller keeps to the queue depth. A commit is no command of a drive: the engine sends a write and a flush.
    fn submit(&mut self, request: Request, now: Instant);

    /// The next moment to look at if nothing more is submitted: no completion is ready before it, and at it one may be, or
    /// the drive decides which request to serve next. `None` when nothing is in flight.
    fn next_completion_at(&mut self) -> Option<Instant>;

    /// Takes the next completion if it is ready at `now`.
    fn take_completion(&mut self, now: Instant) -> Option<Completion>;

    /// What the drive reports of itself. Its path is the name it was opened by.
    fn facts(&self) -> &TargetFacts;

    /// How long completions have waited for a busy host so far, as a kernel accounts for it.
    fn host_delay(&self) -> Nanos {
        Nanos::ZERO
    }
}

fn answer_within(capacity: Bytes, request: &Request) -> (Status, u32) {
    if request.operation == Operation::Flush {
        return (Status::Done, 0);
    }
    let left = capacity.get().saturating_sub(request.offset_bytes);
    let moved = u64::from(request.length_bytes).min(left) as u32;
    match request.operation {
        _ if moved == request.length_bytes => (Status::Done, moved),
        Operation::Write if moved == 0 => (Status::NoSpace, 0),
        _ => (Status::Short, moved),
    }
}

#[inline]
fn first_at(completions: &VecDeque<Completion>) -> Option<Instant> {
    Some(Instant::new(completions.front()?.completed_ns))
}

fn insert_by_time(completions: &mut VecDeque<Completion>, completion: Completion) {
    let mut place = completions.len();
    while place > 0 && completions[place - 1].completed_ns > completion.completed_ns {
        place -= 1;
    }
    completions.insert(place, completion);
}

#[inline]
fn take_ready(completions: &mut VecDeque<Completion>, now: Instant) -> Option<Completion> {
    if completions.front()?.completed_ns > now.get() { None } else { completions.pop_front() }
}

/// Puts an item at a free place, and makes one where there is none. The place is its tag.
fn put<T>(items: &mut Vec<T>, free_tags: &mut Vec<u32>, item: T) -> u32 {
    if let Some(tag) = free_tags.pop() {
        items[tag as usize] = item;
        return tag;
    }
    items.push(item);
    items.len() as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::request::Tag;

    #[test]
    fn the_end_of_the_drive_answers_short() {
        let answer = |operation, offset_bytes, length_bytes| {
            answer_within(Bytes::new(8192), &Request { tag: Tag(0), operation, offset_bytes, length_bytes })
        };
        assert_eq!(answer(Operation::Read, 4096, 4096), (Status::Done, 4096));
        assert_eq!(answer(Operation::Read, 4096, 8192), (Status::Short, 4096));
        assert_eq!(answer(Operation::Read, 9000, 512), (Status::Short, 0));
        assert_eq!(answer(Operation::Write, 8192, 512), (Status::NoSpace, 0));
        assert_eq!(answer(Operation::Flush, 0, 0), (Status::Done, 0));
    }
}
