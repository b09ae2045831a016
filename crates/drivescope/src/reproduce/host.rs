//! The system between a program and a drive: a page cache with read-ahead, and a queue in front of the drive.
//!
//! The articles measured through it, so it is part of their figures. It implements a drive, above the real one.

use super::article::SEED;
use model::prng::Prng;
use model::request::{Completion, Operation, Request, Status, Tag};
use model::target::TargetFacts;
use model::units::{Instant, Nanos};
use sim::Drive;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

const PAGE_BYTES: u64 = 4096;
/// A system call and a copy of 4 KiB, on machines of 2008.
const COPY_TIME: Nanos = Nanos::new(5_000);

#[derive(Clone, Debug)]
pub struct HostProfile {
    /// Reads are of whole, aligned blocks of the file system.
    pub block_bytes: u64,
    /// After a block that was not in the cache.
    pub read_ahead_bytes: u64,
    pub cached: Range<u64>,
    /// Requests in flight at the drive; the others wait here.
    pub queue_depth: usize,
    pub order: Order,
    pub write_back_after: Nanos,
    /// Background load: 4 KiB reads anywhere on the drive, with this pause between them.
    pub other_load_pause: Option<Nanos>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    FirstCome,
    /// The next offset upwards, then from the lowest again.
    Elevator,
}

pub struct Host {
    drive: Box<dyn Drive>,
    profile: HostProfile,
    pages: BTreeSet<u64>,
    coming: BTreeMap<u64, usize>,
    fetches: Vec<Option<Fetch>>,
    queue: VecDeque<usize>,
    at_drive: usize,
    last_end: u64,
    dirty: VecDeque<(Instant, u64, u32)>,
    flushes: Vec<Tag>,
    other_reads_at: Option<Instant>,
    prng: Prng,
    completions: BTreeMap<(u64, u64), Completion>,
    completed: u64,
}

struct Fetch {
    request: Request,
    waiting: Vec<(Tag, u32)>,
}

impl Host {
    pub fn new(drive: Box<dyn Drive>, profile: HostProfile) -> Host {
        let other_reads_at = profile.other_load_pause.map(|_| Instant::START);
        Host {
            drive,
            profile,
            pages: BTreeSet::new(),
            coming: BTreeMap::new(),
            fetches: Vec::new(),
            queue: VecDeque::new(),
            at_drive: 0,
            last_end: 0,
            dirty: VecDeque::new(),
            flushes: Vec::new(),
            other_reads_at,
            prng: Prng::new(SEED, u64::from_le_bytes(*b"the host")),
            completions: BTreeMap::new(),
            completed: 0,
        }
    }

    fn is_cached(&self, page: u64) -> bool {
        self.profile.cached.contains(&(page * PAGE_BYTES)) || self.pages.contains(&page)
    }

    fn complete(&mut self, tag: Tag, transferred_bytes: u32, at: Instant) {
        let completion = Completion { tag, status: Status::Done, transferred_bytes, completed_ns: at.get() };
        self.completions.insert((at.get(), self.completed), completion);
        self.completed += 1;
    }

    fn read(&mut self, request: Request, now: Instant) {
        let asked = pages_of(request.offset_bytes, u64::from(request.length_bytes));
        let Some(missing) = asked.clone().find(|page| !self.is_cached(*page)) else {
            self.complete(request.tag, request.length_bytes, now.saturating_add(COPY_TIME));
            return;
        };
        let waiter = (request.tag, request.length_bytes);
        if let Some(&fetch) = self.coming.get(&missing) {
            let fetch = self.fetches[fetch].as_mut().expect("a page on its way has a fetch");
            fetch.waiting.push(waiter);
            return;
        }
        let block = self.profile.block_bytes;
        let first = missing * PAGE_BYTES / block * block;
        let asked_end = (asked.end * PAGE_BYTES).next_multiple_of(block);
        let end = (asked_end + self.profile.read_ahead_bytes).min(self.drive.facts().capacity.get());
        // Cached pages at the end are not read again.
        let mut end_page = end / PAGE_BYTES;
        while end_page > asked.end
            && (self.is_cached(end_page - 1) || self.coming.contains_key(&(end_page - 1)))
        {
            end_page -= 1;
        }
        let length_bytes = (end_page * PAGE_BYTES - first) as u32;
        let request = Request { tag: Tag(0), operation: Operation::Read, offset_bytes: first, length_bytes };
        let fetch = self.ask(request, vec![waiter]);
        for page in pages_of(first, u64::from(length_bytes)) {
            self.coming.entry(page).or_insert(fetch);
        }
    }

    fn write(&mut self, request: Request, now: Instant) {
        self.pages.extend(pages_of(request.offset_bytes, u64::from(request.length_bytes)));
        let due = now.saturating_add(self.profile.write_back_after);
        self.dirty.push_back((due, request.offset_bytes, request.length_bytes));
        self.complete(request.tag, request.length_bytes, now.saturating_add(COPY_TIME));
    }

    fn ask(&mut self, request: Request, waiting: Vec<(Tag, u32)>) -> usize {
        let number = self.fetches.iter().position(Option::is_none).unwrap_or(self.fetches.len());
        if number == self.fetches.len() {
            self.fetches.push(None);
        }
        let tag = Tag(number as u32);
        self.fetches[number] = Some(Fetch { request: Request { tag, ..request }, waiting });
        self.queue.push_back(number);
        number
    }

    /// Whether a fetch is of the background load: no request waits for it.
    fn is_of_other(fetch: &Fetch) -> bool {
        fetch.waiting.is_empty() && fetch.request.operation == Operation::Read
    }

    fn feed(&mut self, now: Instant) {
        if matches!(self.other_reads_at, Some(at) if at <= now) {
            self.other_reads_at = None;
            let pages = self.drive.facts().capacity.get() / PAGE_BYTES;
            let offset_bytes = self.prng.below(pages) * PAGE_BYTES;
            let length_bytes = PAGE_BYTES as u32;
            let request = Request { tag: Tag(0), operation: Operation::Read, offset_bytes, length_bytes };
            self.ask(request, Vec::new());
        }
        while let Some(&(due, offset_bytes, length_bytes)) = self.dirty.front() {
            if due > now && self.flushes.is_empty() {
                break;
            }
            self.dirty.pop_front();
            let request = Request { tag: Tag(0), operation: Operation::Write, offset_bytes, length_bytes };
            self.ask(request, Vec::new());
        }
        while self.at_drive < self.profile.queue_depth {
            let Some(number) = self.choose().and_then(|index| self.queue.remove(index)) else { break };
            let request = self.waiting(number).request;
            self.last_end = request.offset_bytes + u64::from(request.length_bytes);
            self.at_drive += 1;
            self.drive.submit(request, now);
        }
        if self.at_drive == 0 && self.queue.is_empty() {
            for tag in std::mem::take(&mut self.flushes) {
                let flush = Request { tag, operation: Operation::Flush, offset_bytes: 0, length_bytes: 0 };
                self.ask(flush, vec![(tag, 0)]);
            }
            if !self.queue.is_empty() {
                self.feed(now);
            }
        }
    }

    fn choose(&self) -> Option<usize> {
        match self.profile.order {
            Order::FirstCome if self.queue.is_empty() => None,
            Order::FirstCome => Some(0),
            Order::Elevator => (0..self.queue.len()).min_by_key(|&index| {
                let offset_bytes = self.waiting(self.queue[index]).request.offset_bytes;
                (offset_bytes < self.last_end, offset_bytes)
            }),
        }
    }

    fn waiting(&self, fetch: usize) -> &Fetch {
        self.fetches[fetch].as_ref().expect("what waits has a fetch")
    }

    fn collect(&mut self, now: Instant) {
        while let Some(completion) = self.drive.take_completion(now) {
            let fetch = self.fetches[completion.tag.0 as usize]
                .take()
                .expect("the drive completes what was submitted");
            self.at_drive -= 1;
            if Host::is_of_other(&fetch) {
                self.other_reads_at = self.profile.other_load_pause.map(|pause| now.saturating_add(pause));
                continue;
            }
            let Request { operation, offset_bytes, length_bytes, .. } = fetch.request;
            if operation == Operation::Read {
                for page in pages_of(offset_bytes, u64::from(length_bytes)) {
                    self.coming.remove(&page);
                    self.pages.insert(page);
                }
            }
            for (tag, transferred_bytes) in fetch.waiting {
                self.complete(tag, transferred_bytes, now);
            }
        }
        self.feed(now);
    }
}

impl Drive for Host {
    fn submit(&mut self, request: Request, now: Instant) {
        match request.operation {
            Operation::Read => self.read(request, now),
            Operation::Write | Operation::Commit => self.write(request, now),
            Operation::Flush => self.flushes.push(request.tag),
            Operation::Discard => self.complete(request.tag, 0, now),
        }
        self.feed(now);
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        let ready = self.completions.first_key_value().map(|((at, _), _)| Instant::new(*at));
        let below = if self.at_drive > 0 { self.drive.next_completion_at() } else { None };
        [ready, below, self.other_reads_at].into_iter().flatten().min()
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.collect(now);
        let first = self.completions.first_entry().filter(|entry| entry.key().0 <= now.get())?;
        Some(first.remove())
    }

    fn facts(&self) -> &TargetFacts {
        self.drive.facts()
    }
}

fn pages_of(offset_bytes: u64, length_bytes: u64) -> Range<u64> {
    offset_bytes / PAGE_BYTES..(offset_bytes + length_bytes).div_ceil(PAGE_BYTES)
}
