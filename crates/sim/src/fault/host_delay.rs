//! A host that sees completions late, as with busy processors, and accounts for it. The drive works on; the next request comes later too.
//!
//! Not modelled: delays that depend on each other, as those of a processor that is taken away for a while do.

use crate::fault::profile::{FaultProfile, nanos};
use crate::{Drive, first_at, insert_by_time, take_ready};
use model::prng::Prng;
use model::request::{Completion, Request};
use model::target::TargetFacts;
use model::units::{Instant, Nanos};
use std::collections::VecDeque;

const DELAYS_STREAM: u64 = 0x6465_6c61_7973;

/// By how much completions are seen late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostDelay {
    /// The mean of an exponential distribution: how long a waiter waits that is woken at random.
    pub mean: Nanos,
    pub late_share: f64,
    pub late: Nanos,
}

impl HostDelay {
    pub fn of_profile(fault: &FaultProfile) -> Option<HostDelay> {
        let FaultProfile::HostDelay { mean_us, late_share, late_ms } = *fault else { return None };
        Some(HostDelay { mean: nanos(mean_us / 1e6), late_share, late: nanos(late_ms / 1e3) })
    }

    fn draw(&self, prng: &mut Prng) -> u64 {
        let delay_ns = (self.mean.get() as f64 * prng.exponential()) as u64;
        let is_late = prng.unit() < self.late_share;
        if is_late { delay_ns + self.late.get() } else { delay_ns }
    }
}

pub struct DelayedDrive {
    inner: Box<dyn Drive + Send>,
    delays: Vec<HostDelay>,
    prng: Prng,
    inner_now: Instant,
    delay_ns: u64,
    seen: VecDeque<Completion>,
}

impl DelayedDrive {
    pub fn new(inner: Box<dyn Drive + Send>, delays: Vec<HostDelay>, seed: u64) -> DelayedDrive {
        let prng = Prng::new(seed, DELAYS_STREAM);
        DelayedDrive { inner, delays, prng, inner_now: Instant::START, delay_ns: 0, seen: VecDeque::new() }
    }

    fn advance(&mut self, now: Instant) {
        while let Some(at) = self.inner.next_completion_at()
            && at <= now
        {
            self.inner_now = self.inner_now.max(at);
            let Some(mut completion) = self.inner.take_completion(self.inner_now) else { continue };
            for delay in &self.delays {
                let delay_ns = delay.draw(&mut self.prng);
                completion.completed_ns += delay_ns;
                self.delay_ns += delay_ns;
            }
            insert_by_time(&mut self.seen, completion);
        }
    }
}

impl Drive for DelayedDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        self.advance(now);
        self.inner_now = self.inner_now.max(now);
        self.inner.submit(request, now);
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        let inner = self.inner.next_completion_at();
        [first_at(&self.seen), inner].into_iter().flatten().min()
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.advance(now);
        take_ready(&mut self.seen, now)
    }

    fn facts(&self) -> &TargetFacts {
        self.inner.facts()
    }

    fn host_delay(&self) -> Nanos {
        Nanos::new(self.delay_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constant::ConstantDrive;
    use crate::profile::plain_facts;
    use model::request::{Operation, Tag};
    use model::units::Bytes;

    /// 20,000 reads of 100 µs each are seen 50 µs late on average, and one in a hundred 1 ms later still.
    #[test]
    fn completions_are_seen_late_by_what_was_asked_for() {
        let facts = plain_facts("sim:test", Bytes::from_gib(1));
        let constant = ConstantDrive::new(facts, Nanos::from_micros(100), 1);
        let delay = HostDelay { mean: Nanos::from_micros(50), late_share: 0.01, late: Nanos::from_millis(1) };
        let mut drive = DelayedDrive::new(Box::new(constant), vec![delay], 7);
        let (mut now, mut late, mut least_ns) = (Instant::START, 0, u64::MAX);
        for _ in 0..20_000 {
            let asked = now;
            let read =
                Request { tag: Tag(1), operation: Operation::Read, offset_bytes: 0, length_bytes: 4096 };
            drive.submit(read, now);
            let completion = loop {
                now = drive.next_completion_at().expect("one is under way");
                if let Some(completion) = drive.take_completion(now) {
                    break completion;
                }
            };
            assert_eq!(completion.completed_ns, now.get());
            let took_ns = now.get() - asked.get();
            least_ns = least_ns.min(took_ns);
            late += u32::from(took_ns > 1_100_000);
        }
        assert!((100_000..100_100).contains(&least_ns), "{least_ns}");
        assert!((160..240).contains(&late), "{late}");
        let mean_us = now.get() as f64 / 20_000.0 / 1e3;
        assert!((mean_us - 160.0).abs() < 3.0, "{mean_us}");
    }
}
