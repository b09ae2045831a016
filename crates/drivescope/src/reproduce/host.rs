//! The system between a program and a drive: a page cache that keeps what was read and reads further than it was asked
//! to, and a queue in front of the drive.
//!
//! The articles measured through it, so what it does is part of their figures. It is a drive to whoever is above, and
//! the drive below sees only what the cache lets through.

use super::SEED;
use model::prng::Prng;
use model::request::{Completion, Operation, Request, Status, Tag};
use model::target::TargetFacts;
use model::units::{Instant, Nanos};
use sim::Drive;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// The unit of the cache: a page of a PC.
const PAGE_BYTES: u64 = 4096;
/// What a read from the cache costs: a call and a copy of 4 KiB, on machines of 2008.
const COPY_TIME: Nanos = Nanos(5_000);

/// What a system does with the requests of a program.
#[derive(Clone, Debug)]
pub struct HostProfile {
    /// What is read at a time is whole, aligned blocks of this size: those of the file system.
    pub block_bytes: u64,
    /// How far it reads on after a block that was not in the cache.
    pub read_ahead_bytes: u64,
    /// Bytes that are in the cache from the start.
    pub cached: Range<u64>,
    /// How many requests the drive sees at a time. The others wait here.
    pub queue_depth: usize,
    /// Who is served next of those that wait.
    pub order: Order,
    /// How long a write stays in the cache before it goes to the drive.
    pub write_back_after: Nanos,
    /// Another program that reads 4 KiB at a random place of the whole drive, pauses for so long, and reads again.
    pub other_load_pause: Option<Nanos>,
}

/// Who is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Whoever came first.
    FirstCome,
    /// The next place upwards, and from the lowest again: the elevator.
    Elevator,
}

/// A drive seen through a system.
pub struct Host {
    drive: Box<dyn Drive>,
    profile: HostProfile,
    /// Pages in the cache, beside those that were there from the start.
    pages: BTreeSet<u64>,
    /// Pages on their way, and by which fetch.
    coming: BTreeMap<u64, usize>,
    /// By the tag below: what was asked of the drive.
    fetches: Vec<Option<Fetch>>,
    /// Fetches that the drive has not seen yet, in the order in which they came.
    queue: VecDeque<usize>,
    at_drive: usize,
    last_end: u64,
    /// Written pages that are to go to the drive, and when.
    dirty: VecDeque<(Instant, u64, u32)>,
    flushes: Vec<Tag>,
    /// When the other program reads next; none while it waits, or when there is none.
    other_reads_at: Option<Instant>,
    prng: Prng,
    /// Answers by the moment at which they are ready.
    answers: BTreeMap<(u64, u64), Completion>,
    answer_count: u64,
}

/// Something asked of the drive, and who waits for it.
struct Fetch {
    request: Request,
    waiting: Vec<(Tag, u32)>,
}

impl Host {
    /// `drive` behind a system of that kind.
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
            answers: BTreeMap::new(),
            answer_count: 0,
        }
    }

    fn is_cached(&self, page: u64) -> bool {
        self.profile.cached.contains(&(page * PAGE_BYTES)) || self.pages.contains(&page)
    }

    fn answer(&mut self, tag: Tag, transferred_bytes: u32, at: Instant) {
        let completion = Completion { tag, status: Status::Done, transferred_bytes, completed_ns: at.0 };
        self.answers.insert((at.0, self.answer_count), completion);
        self.answer_count += 1;
    }

    fn read(&mut self, request: Request, now: Instant) {
        let asked = pages_of(request.offset_bytes, u64::from(request.length_bytes));
        let Some(missing) = asked.clone().find(|page| !self.is_cached(*page)) else {
            self.answer(request.tag, request.length_bytes, now.saturating_add(COPY_TIME));
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
        let end = (asked_end + self.profile.read_ahead_bytes).min(self.drive.facts().capacity.0);
        // What lies behind and is there already is not read again.
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
        self.answer(request.tag, request.length_bytes, now.saturating_add(COPY_TIME));
    }

    /// Puts something into the queue to the drive; its number.
    fn ask(&mut self, request: Request, waiting: Vec<(Tag, u32)>) -> usize {
        let free = self.fetches.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.fetches.push(None);
            self.fetches.len() - 1
        });
        let tag = Tag(number as u32);
        self.fetches[number] = Some(Fetch { request: Request { tag, ..request }, waiting });
        self.queue.push_back(number);
        number
    }

    /// Whether a fetch is one of the other program: nobody here waits for it.
    fn is_of_other(fetch: &Fetch) -> bool {
        fetch.waiting.is_empty() && fetch.request.operation == Operation::Read
    }

    /// Gives the drive as much as it may see.
    fn feed(&mut self, now: Instant) {
        if self.other_reads_at.is_some_and(|at| at <= now) {
            self.other_reads_at = None;
            let pages = self.drive.facts().capacity.0 / PAGE_BYTES;
            let offset_bytes = self.prng.below(pages) * PAGE_BYTES;
            let length_bytes = PAGE_BYTES as u32;
            self.ask(
                Request { tag: Tag(0), operation: Operation::Read, offset_bytes, length_bytes },
                Vec::new(),
            );
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
            let Some(index) = self.choose() else { break };
            let number = self.queue.remove(index).expect("the chosen one is in the queue");
            let request = self.fetches[number].as_ref().expect("what waits has a fetch").request;
            self.last_end = request.offset_bytes + u64::from(request.length_bytes);
            self.at_drive += 1;
            self.drive.submit(request, now);
        }
        if self.at_drive == 0 && self.queue.is_empty() {
            for tag in std::mem::take(&mut self.flushes) {
                self.ask(
                    Request { tag, operation: Operation::Flush, offset_bytes: 0, length_bytes: 0 },
                    vec![(tag, 0)],
                );
            }
            if !self.queue.is_empty() {
                self.feed(now);
            }
        }
    }

    /// The index in the queue of whom the drive gets next.
    fn choose(&self) -> Option<usize> {
        if self.profile.order == Order::FirstCome {
            return (!self.queue.is_empty()).then_some(0);
        }
        let place = |number: usize| {
            let request = self.fetches[number].as_ref().map(|fetch| fetch.request);
            request.map_or(0, |request| request.offset_bytes)
        };
        let numbered = self.queue.iter().enumerate();
        numbered
            .min_by_key(|(_, number)| (place(**number) < self.last_end, place(**number)))
            .map(|(index, _)| index)
    }

    /// Takes what the drive has ready.
    fn collect(&mut self, now: Instant) {
        while let Some(completion) = self.drive.take_completion(now) {
            let fetch =
                self.fetches[completion.tag.0 as usize].take().expect("the drive answers what it was asked");
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
                self.answer(tag, transferred_bytes, now);
            }
        }
        self.feed(now);
    }
}

impl Drive for Host {
    fn submit(&mut self, request: Request, now: Instant) {
        match request.operation {
            Operation::Read => self.read(request, now),
            Operation::Write => self.write(request, now),
            Operation::Flush => self.flushes.push(request.tag),
            Operation::Discard => self.answer(request.tag, 0, now),
        }
        self.feed(now);
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        let ready = self.answers.first_key_value().map(|((at, _), _)| Instant(*at));
        let below = if self.at_drive > 0 { self.drive.next_completion_at() } else { None };
        [ready, below, self.other_reads_at].into_iter().flatten().min()
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.collect(now);
        let first = self.answers.first_entry().filter(|entry| entry.key().0 <= now.0)?;
        Some(first.remove())
    }

    fn facts(&self) -> &TargetFacts {
        self.drive.facts()
    }
}

fn pages_of(offset_bytes: u64, length_bytes: u64) -> Range<u64> {
    offset_bytes / PAGE_BYTES..(offset_bytes + length_bytes).div_ceil(PAGE_BYTES)
}
