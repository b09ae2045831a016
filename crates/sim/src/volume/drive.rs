//! A volume at work: requests become parts on its drives, and are done with the last part.
//!
//! | | read | write, flush, discard | a part that fails |
//! |---|---|---|---|
//! | stripe, concatenation | from where it lies | where it lies; flush: all | fails the request from there on |
//! | mirror | from one drive | to all that are there | a read tries the next drive; a write leaves the drive out from then on |
//!
//! A drive that has gone is left out of a mirror too. Nothing is written back, and nothing rebuilt.

use crate::volume::kind::VolumeKind;
use crate::volume::layout::{Layout, Part};
use crate::volume::profile::{MEMBERS_MAX, ReadPolicy, VolumeProfile};
use crate::{Drive, answer_within, first_at, put, take_ready};
use model::request::{Completion, Operation, Request, Status, Tag};
use model::target::TargetFacts;
use model::units::{Bytes, Instant};
use std::collections::VecDeque;

const NEVER: u64 = u64::MAX;

pub struct VolumeDrive {
    facts: TargetFacts,
    layout: Layout,
    read_policy: ReadPolicy,
    all_rotate: bool,
    members: Vec<Member>,
    /// Parts under way, by the tag that their drive knows.
    parts: Vec<PartUnderWay>,
    free_tags: Vec<u32>,
    requests: Vec<Progress>,
    /// Which drive of a mirror the last read went to, when they take turns.
    last_read: usize,
    latest: u64,
    answers: VecDeque<Completion>,
}

struct Member {
    drive: Box<dyn Drive + Send>,
    under_way: u32,
    /// When it is to be looked at next, if that is known.
    next: Option<u64>,
    /// Where what was sent to it last ends, and what it answered last.
    sent_to_byte: u64,
    head_byte: u64,
    left_out: bool,
}

#[derive(Clone, Copy, Debug)]
struct PartUnderWay {
    host_tag: u32,
    part: Part,
    /// The drives of a mirror that could not read it, as bits.
    tried: u64,
}

#[derive(Clone, Copy, Debug)]
struct Progress {
    request: Request,
    parts_left: u32,
    /// What it would be answered if all goes well.
    sound: (Status, u32),
    any_done: bool,
    /// The first byte of the volume, from its own on, that could not be moved, and why.
    failed: Option<(u64, Status)>,
}

impl VolumeDrive {
    /// A volume over those drives, with the capacity of their layout. Panics unless the profile gives one.
    pub fn new(
        facts: TargetFacts,
        profile: &VolumeProfile,
        members: Vec<Box<dyn Drive + Send>>,
    ) -> VolumeDrive {
        let capacities: Vec<Bytes> = members.iter().map(|drive| drive.facts().capacity).collect();
        let layout = profile.layout(&capacities).expect("a volume that was checked");
        assert!(members.len() <= MEMBERS_MAX, "a bit for each drive");
        let member = |drive| Member {
            drive,
            under_way: 0,
            next: None,
            sent_to_byte: 0,
            head_byte: 0,
            left_out: false,
        };
        VolumeDrive {
            facts: TargetFacts { capacity: layout.capacity(), ..facts },
            layout,
            read_policy: profile.read_policy(),
            all_rotate: members.iter().all(|drive| drive.facts().rotational == Some(true)),
            last_read: members.len() - 1,
            latest: 0,
            members: members.into_iter().map(member).collect(),
            parts: Vec::new(),
            free_tags: Vec::new(),
            requests: Vec::new(),
            answers: VecDeque::new(),
        }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn is_mirror(&self) -> bool {
        self.layout.kind() == VolumeKind::Mirror
    }

    fn send_parts(&mut self, request: &Request, bytes: u32, now: u64) -> u32 {
        let flush = request.operation == Operation::Flush;
        let first_byte = if flush { 0 } else { request.offset_bytes };
        let whole = Part { member: 0, first_byte, bytes: u64::from(bytes) };
        if self.is_mirror() && request.operation == Operation::Read {
            return u32::from(self.send_read(request.tag.0, whole, 0, now));
        }
        let mut count = 0;
        for member in 0..self.members.len() {
            if (flush || self.is_mirror()) && !self.members[member].left_out {
                self.send(request, Part { member, ..whole }, 0, now);
                count += 1;
            }
        }
        if flush || self.is_mirror() {
            return count;
        }
        // At most one for each drive, so that they fit here without allocating.
        let mut parts = [None; MEMBERS_MAX];
        for (to, part) in parts.iter_mut().zip(self.layout.parts(whole.first_byte, whole.bytes)) {
            *to = Some(part);
        }
        for part in parts.into_iter().flatten() {
            self.send(request, part, 0, now);
            count += 1;
        }
        count
    }

    fn send(&mut self, request: &Request, part: Part, tried: u64, now: u64) {
        let under_way = PartUnderWay { host_tag: request.tag.0, part, tried };
        let tag = put(&mut self.parts, &mut self.free_tags, under_way);
        let member = &mut self.members[part.member];
        member.under_way += 1;
        member.next = None;
        member.sent_to_byte = part.first_byte.saturating_add(part.bytes);
        let request = Request {
            tag: Tag(tag),
            operation: request.operation,
            offset_bytes: part.first_byte,
            length_bytes: part.bytes as u32,
        };
        self.latest = self.latest.max(now);
        member.drive.submit(request, Instant::new(self.latest));
    }

    /// Sends a read of a mirror to a drive that was not tried; false when there is none.
    fn send_read(&mut self, host_tag: u32, whole: Part, tried: u64, now: u64) -> bool {
        let Some(member) = self.read_member(whole.first_byte, tried) else { return false };
        self.last_read = member;
        let request = Request {
            tag: Tag(host_tag),
            operation: Operation::Read,
            offset_bytes: whole.first_byte,
            length_bytes: whole.bytes as u32,
        };
        self.send(&request, Part { member, ..whole }, tried | 1 << member, now);
        true
    }

    fn read_member(&self, first_byte: u64, tried: u64) -> Option<usize> {
        let count = self.members.len();
        let mut best = None;
        for (index, member) in self.members.iter().enumerate() {
            if tried >> index & 1 == 1 || member.left_out {
                continue;
            }
            let cost = match self.read_policy {
                ReadPolicy::First => (false, 0, 0),
                ReadPolicy::RoundRobin => (false, 0, ((index + count - self.last_read - 1) % count) as u64),
                ReadPolicy::Nearest => {
                    // Of busy disks Linux takes the nearest, of busy SSDs the one with the fewest (read_balance in drivers/md/raid1.c).
                    let busy = if self.all_rotate { member.under_way.min(1) } else { member.under_way };
                    (member.sent_to_byte != first_byte, busy, member.head_byte.abs_diff(first_byte))
                }
            };
            best = best.into_iter().chain([(cost, index)]).min();
        }
        Some(best?.1)
    }

    fn next(&mut self) -> (u64, usize) {
        let mut first = (NEVER, 0);
        for (index, member) in self.members.iter_mut().enumerate() {
            if member.under_way == 0 {
                continue;
            }
            if member.next.is_none() {
                member.next = Some(member.drive.next_completion_at().map_or(NEVER, Instant::get));
            }
            first = first.min((member.next.unwrap_or(NEVER), index));
        }
        first
    }

    fn advance(&mut self, now: u64) {
        loop {
            let (at, index) = self.next();
            if at > now || at == NEVER {
                return;
            }
            let member = &mut self.members[index];
            member.next = None;
            debug_assert!(member.under_way > 0, "only who has something to do completes it");
            self.latest = self.latest.max(at);
            if let Some(completion) = member.drive.take_completion(Instant::new(self.latest)) {
                member.under_way -= 1;
                self.finish(index, completion);
            }
        }
    }

    fn finish(&mut self, member: usize, completion: Completion) {
        let under_way = self.parts[completion.tag.0 as usize];
        self.free_tags.push(completion.tag.0);
        let operation = self.requests[under_way.host_tag as usize].request.operation;
        self.members[member].head_byte = under_way.part.first_byte.saturating_add(under_way.part.bytes);
        if self.is_mirror() && leaves_out(operation, completion.status) && self.others_left(member) {
            self.members[member].left_out = true;
        }
        let unread = !matches!(completion.status, Status::Done | Status::Short);
        let (tag, at) = (under_way.host_tag, completion.completed_ns);
        if self.is_mirror()
            && operation == Operation::Read
            && unread
            && self.send_read(tag, under_way.part, under_way.tried, at)
        {
            return;
        }
        let bad_byte = under_way.part.first_byte.saturating_add(u64::from(completion.transferred_bytes));
        let bad_byte = self.layout.volume_byte(member, bad_byte);
        let progress = &mut self.requests[tag as usize];
        debug_assert!(progress.parts_left > 0, "a part completes once");
        progress.parts_left -= 1;
        match completion.status {
            Status::Done => progress.any_done = true,
            status if progress.failed.is_none_or(|(first, _)| bad_byte < first) => {
                progress.failed = Some((bad_byte, status));
            }
            _ => {}
        }
        if progress.parts_left == 0 {
            let (status, transferred_bytes) = self.answer(tag);
            let tag = Tag(tag);
            self.answers.push_back(Completion { tag, status, transferred_bytes, completed_ns: at });
        }
    }

    fn others_left(&self, member: usize) -> bool {
        self.members.iter().enumerate().any(|(index, other)| index != member && !other.left_out)
    }

    fn answer(&self, tag: u32) -> (Status, u32) {
        let progress = &self.requests[tag as usize];
        match progress.failed {
            Some(_) if self.is_mirror() && progress.any_done => progress.sound,
            Some((bad_byte, status)) => {
                let moved = bad_byte.saturating_sub(progress.request.offset_bytes);
                (status, moved.min(u64::from(progress.sound.1)) as u32)
            }
            None => progress.sound,
        }
    }
}

fn leaves_out(operation: Operation, status: Status) -> bool {
    match status {
        Status::DeviceGone => true,
        Status::MediumError | Status::TimedOut | Status::Other(_) => operation != Operation::Read,
        _ => false,
    }
}

impl Drive for VolumeDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        self.advance(now.get());
        let sound = answer_within(self.layout.capacity(), &request);
        let slot = request.tag.0 as usize;
        let progress = Progress { request, parts_left: 0, sound, any_done: false, failed: None };
        if self.requests.len() <= slot {
            self.requests.resize(slot + 1, progress);
        }
        self.requests[slot] = progress;
        let data = request.operation != Operation::Flush;
        let count = if data && sound.1 == 0 { 0 } else { self.send_parts(&request, sound.1, now.get()) };
        self.requests[slot].parts_left = count;
        if count == 0 {
            // Nothing of it lies on the volume.
            let (status, transferred_bytes) = sound;
            let tag = request.tag;
            self.answers.push_back(Completion { tag, status, transferred_bytes, completed_ns: now.get() });
        }
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        if !self.answers.is_empty() {
            return first_at(&self.answers);
        }
        let (at, _) = self.next();
        (at < NEVER).then_some(Instant::new(at))
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
