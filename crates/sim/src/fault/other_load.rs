//! Somebody else who uses the same drive: random reads all over it, now and then or all the time, as a scrub or a
//! database makes them. They share the host's link and queue, and their answers are nobody's business here.
//!
//! What they do between two requests of the host is worked out when the host comes back: as long as nothing of the host
//! is under way there is nothing to look at. When one looks does not change what happens.
//!
//! Not modelled: writes, reads in order, somebody who backs off when the host is busy.

use crate::fault::profile::{FaultProfile, nanos};
use crate::{Drive, first_at, put, take_ready};
use model::prng::Prng;
use model::request::{Completion, Operation, Request, Tag};
use model::target::TargetFacts;
use model::units::{Instant, KIB};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What somebody who waits for each answer needs before the next: a drive without it would do nothing else.
const HOST_NS: u64 = 10_000;
/// The most requests of one load that are under way at once; those that would be more are not made.
const UNDER_WAY_MAX: u32 = 64;
/// The sizes that are drawn from where none is given, in KiB.
const SIZES_KIB: [u64; 5] = [4, 8, 16, 32, 64];
const ALIGNED_BYTES: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherLoad {
    pub at: Instant,
    /// How long it lasts each time, in ns; `u64::MAX` is for ever.
    pub duration_ns: u64,
    /// From the beginning of one time to that of the next, in ns, if it comes again. Not less than it lasts.
    pub every_ns: Option<u64>,
    /// The size of each request in bytes; some from 4 KiB to 64 KiB where none is given.
    pub request_bytes: Option<u64>,
    pub arrival: LoadArrival,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadArrival {
    /// So many a second on average, at random, whether they are answered or not.
    PerSecond(f64),
    QueueDepth(u32),
}

impl OtherLoad {
    pub fn of_profile(fault: &FaultProfile) -> Option<OtherLoad> {
        let FaultProfile::OtherLoad { at_s, seconds, every_s, request_kib, per_second, queue_depth } = *fault
        else {
            return None;
        };
        let arrival = match (per_second, queue_depth) {
            (Some(rate), _) => LoadArrival::PerSecond(rate),
            (None, depth) => LoadArrival::QueueDepth(depth.unwrap_or(1)),
        };
        Some(OtherLoad {
            at: Instant::new(nanos(at_s).get()),
            duration_ns: seconds.map_or(u64::MAX, |seconds| nanos(seconds).get()),
            every_ns: every_s.map(|every_s| nanos(every_s).get()),
            request_bytes: request_kib.map(|kib| kib * KIB),
            arrival,
        })
    }

    /// The moment at which it has lasted this long in all, pauses left out; none when it never does.
    fn moment_after(&self, lasted_ns: u64) -> Option<u64> {
        let (times, into) = (lasted_ns / self.duration_ns, lasted_ns % self.duration_ns);
        let begin = match (times, self.every_ns) {
            (0, _) => self.at.get(),
            (_, Some(every_ns)) => self.at.get().checked_add(times.checked_mul(every_ns)?)?,
            (_, None) => return None,
        };
        begin.checked_add(into)
    }

    fn next_on(&self, now_ns: u64) -> Option<u64> {
        let since = now_ns.saturating_sub(self.at.get());
        match self.every_ns {
            _ if now_ns <= self.at.get() => Some(self.at.get()),
            None => (since < self.duration_ns).then_some(now_ns),
            Some(every_ns) if since % every_ns < self.duration_ns => Some(now_ns),
            Some(every_ns) => self.at.get().checked_add((since / every_ns + 1).checked_mul(every_ns)?),
        }
    }
}

struct Source {
    load: OtherLoad,
    prng: Prng,
    under_way: u32,
    /// With a number a second: how long the load has lasted until its latest request, pauses left out.
    lasted_ns: u64,
}

#[derive(Clone, Copy)]
enum Owner {
    Host(Tag),
    Source(usize),
}

pub struct LoadedDrive {
    inner: Box<dyn Drive + Send>,
    sources: Vec<Source>,
    arrivals: BinaryHeap<Reverse<(u64, usize)>>,
    owners: Vec<Owner>,
    free_tags: Vec<u32>,
    /// The host's requests that the drive has not answered.
    host_under_way: u32,
    answered: VecDeque<Completion>,
    inner_now: u64,
}

impl LoadedDrive {
    /// `inner` with these loads beside the host's. `seed` draws their places, sizes and moments.
    pub fn new(inner: Box<dyn Drive + Send>, loads: Vec<OtherLoad>, seed: u64) -> LoadedDrive {
        let mut sources = Vec::with_capacity(loads.len());
        let mut arrivals = BinaryHeap::new();
        for (number, load) in loads.into_iter().enumerate() {
            let prng = Prng::new(seed, u64::from_le_bytes(*b"others\0\0") ^ number as u64);
            let mut source = Source { load, prng, under_way: 0, lasted_ns: 0 };
            match source.load.arrival {
                LoadArrival::PerSecond(_) => arrivals.extend(arrival(source.next_arrival(), number)),
                LoadArrival::QueueDepth(depth) => {
                    let first = Reverse((source.load.at.get(), number));
                    arrivals.extend(std::iter::repeat_n(first, depth as usize));
                }
            }
            sources.push(source);
        }
        LoadedDrive {
            inner,
            sources,
            arrivals,
            owners: Vec::new(),
            free_tags: Vec::new(),
            host_under_way: 0,
            answered: VecDeque::new(),
            inner_now: 0,
        }
    }

    fn submit_inner(&mut self, request: Request, owner: Owner) {
        let tag = put(&mut self.owners, &mut self.free_tags, owner);
        self.inner.submit(Request { tag: Tag(tag), ..request }, Instant::new(self.inner_now));
    }

    fn inner_next(&mut self) -> Option<u64> {
        Some(self.inner.next_completion_at()?.get().max(self.inner_now))
    }

    fn next_arrival(&self) -> Option<u64> {
        let Reverse((at, _)) = self.arrivals.peek()?;
        Some(*at)
    }

    fn advance(&mut self, now: u64) {
        loop {
            let answer = self.inner_next().unwrap_or(u64::MAX);
            let arrival = self.next_arrival().unwrap_or(u64::MAX);
            if answer.min(arrival) > now || answer.min(arrival) == u64::MAX {
                return;
            }
            debug_assert!(self.inner_now <= answer, "time never goes back");
            if answer <= arrival {
                self.inner_now = answer;
                self.take_inner();
            } else {
                self.inner_now = self.inner_now.max(arrival);
                self.arrive();
            }
        }
    }

    fn take_inner(&mut self) {
        let Some(completion) = self.inner.take_completion(Instant::new(self.inner_now)) else { return };
        let tag = completion.tag.0;
        self.free_tags.push(tag);
        match self.owners[tag as usize] {
            Owner::Host(tag) => {
                debug_assert!(self.host_under_way > 0, "the host waits for what it submitted");
                self.host_under_way -= 1;
                self.answered.push_back(Completion { tag, ..completion });
            }
            Owner::Source(number) => {
                let source = &mut self.sources[number];
                debug_assert!(source.under_way > 0, "a load completes what it submitted");
                source.under_way -= 1;
                if matches!(source.load.arrival, LoadArrival::QueueDepth(_)) {
                    let next = source.load.next_on(completion.completed_ns.saturating_add(HOST_NS));
                    self.arrivals.extend(arrival(next, number));
                }
            }
        }
    }

    fn arrive(&mut self) {
        let Some(Reverse((_, number))) = self.arrivals.pop() else { return };
        let source = &mut self.sources[number];
        let request = source.draw(self.inner.facts());
        if matches!(source.load.arrival, LoadArrival::PerSecond(_)) {
            self.arrivals.extend(arrival(source.next_arrival(), number));
            if source.under_way >= UNDER_WAY_MAX {
                return;
            }
        }
        source.under_way += 1;
        self.submit_inner(request, Owner::Source(number));
    }
}

fn arrival(at: Option<u64>, number: usize) -> Option<Reverse<(u64, usize)>> {
    Some(Reverse((at?, number)))
}

impl Source {
    /// When the next of so many a second comes: a Poisson process while the load is on.
    fn next_arrival(&mut self) -> Option<u64> {
        let LoadArrival::PerSecond(rate) = self.load.arrival else { return None };
        let gap_ns = (self.prng.exponential() / rate * 1e9) as u64;
        self.lasted_ns = self.lasted_ns.checked_add(gap_ns.max(1))?;
        self.load.moment_after(self.lasted_ns)
    }

    fn draw(&mut self, facts: &TargetFacts) -> Request {
        let drawn = SIZES_KIB[self.prng.below(SIZES_KIB.len() as u64) as usize] * KIB;
        let bytes = self.load.request_bytes.unwrap_or(drawn).min(facts.capacity.get());
        let places = (facts.capacity.get() - bytes) / ALIGNED_BYTES + 1;
        Request {
            tag: Tag(0),
            operation: Operation::Read,
            offset_bytes: self.prng.below(places) * ALIGNED_BYTES,
            length_bytes: bytes as u32,
        }
    }
}

impl Drive for LoadedDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        self.advance(now.get());
        self.inner_now = self.inner_now.max(now.get());
        self.host_under_way += 1;
        self.submit_inner(request, Owner::Host(request.tag));
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        if !self.answered.is_empty() || self.host_under_way == 0 {
            return first_at(&self.answered);
        }
        let next = [self.inner_next(), self.next_arrival()].into_iter().flatten().min()?;
        Some(Instant::new(next.max(self.inner_now)))
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        if self.host_under_way > 0 {
            self.advance(now.get());
        }
        take_ready(&mut self.answered, now)
    }

    fn facts(&self) -> &TargetFacts {
        self.inner.facts()
    }
}

#[cfg(test)]
#[path = "other_load_tests.rs"]
mod tests;
