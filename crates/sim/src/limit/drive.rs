//! A drive behind token buckets. A request passes when each bucket holds what it costs, or is full: what costs more
//! than a full bucket leaves a debt. Not modelled: credit that is shared with other volumes.

use crate::Drive;
use crate::limit::profile::{BucketNumbers, Counted, LimitProfile};
use model::request::{Completion, Operation, Request};
use model::target::TargetFacts;
use model::units::Instant;
use std::collections::VecDeque;

pub struct LimitedDrive {
    inner: Box<dyn Drive + Send>,
    /// One for reads and writes together, or one for each.
    gates: Vec<Gate>,
    /// Requests that wait, by the moment at which they pass.
    held: VecDeque<(u64, Request)>,
}

struct Gate {
    buckets: Vec<Bucket>,
    passed_ns: u64,
}

struct Bucket {
    numbers: BucketNumbers,
    tokens: f64,
    at_ns: u64,
}

impl Bucket {
    fn cost(&self, request: &Request) -> f64 {
        match self.numbers.counted {
            Counted::Requests => 1.0,
            Counted::Parts(part_bytes) => (f64::from(request.length_bytes) / part_bytes).ceil(),
            Counted::Bytes => f64::from(request.length_bytes),
        }
    }

    fn tokens_at(&self, at_ns: u64) -> f64 {
        let BucketNumbers { per_second, credit, change_ns, times, .. } = self.numbers;
        let before_ns = at_ns.min(change_ns).saturating_sub(self.at_ns);
        let after_ns = at_ns - self.at_ns - before_ns;
        let refilled = (before_ns as f64 + after_ns as f64 * times) / 1e9 * per_second;
        (self.tokens + refilled).min(credit)
    }

    fn wait_ns(&self, request: &Request, from_ns: u64) -> u64 {
        let missing = self.cost(request).min(self.numbers.credit) - self.tokens_at(from_ns);
        let wait_ns = (missing.max(0.0) / self.numbers.per_second * 1e9).ceil() as u64;
        let before_ns = wait_ns.min(self.numbers.change_ns.saturating_sub(from_ns));
        before_ns + ((wait_ns - before_ns) as f64 / self.numbers.times).ceil() as u64
    }

    fn take(&mut self, request: &Request, at_ns: u64) {
        self.tokens = self.tokens_at(at_ns) - self.cost(request);
        self.at_ns = at_ns;
    }
}

impl Gate {
    fn new(numbers: &[BucketNumbers]) -> Gate {
        let at_start = |&numbers: &BucketNumbers| Bucket { numbers, tokens: numbers.first_credit, at_ns: 0 };
        Gate { buckets: numbers.iter().map(at_start).collect(), passed_ns: 0 }
    }

    /// Lets a request that comes at `now_ns` pass, and says when.
    fn pass(&mut self, request: &Request, now_ns: u64) -> u64 {
        let from_ns = now_ns.max(self.passed_ns);
        let waits = self.buckets.iter().map(|bucket| bucket.wait_ns(request, from_ns));
        self.passed_ns = from_ns + waits.max().unwrap_or(0);
        assert!(self.passed_ns >= now_ns, "no request passes before it comes");
        for bucket in &mut self.buckets {
            bucket.take(request, self.passed_ns);
        }
        self.passed_ns
    }
}

impl LimitedDrive {
    pub fn new(inner: Box<dyn Drive + Send>, profile: &LimitProfile) -> LimitedDrive {
        let numbers = profile.buckets();
        let count = if profile.separate { 2 } else { 1 };
        let gates = (0..count).map(|_| Gate::new(&numbers)).collect();
        LimitedDrive { inner, gates, held: VecDeque::new() }
    }

    fn gate(&mut self, operation: Operation) -> Option<&mut Gate> {
        match operation {
            Operation::Read => self.gates.first_mut(),
            Operation::Write | Operation::Commit => self.gates.last_mut(),
            Operation::Flush | Operation::Discard => None,
        }
    }

    /// Hands the drive what passes by `now`, each request at its moment.
    fn advance(&mut self, now: Instant) {
        while let Some(&(at_ns, request)) = self.held.front()
            && at_ns <= now.get()
        {
            self.held.pop_front();
            self.inner.submit(request, Instant::new(at_ns));
        }
    }
}

impl Drive for LimitedDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        self.advance(now);
        let at_ns = match self.gate(request.operation) {
            Some(gate) => gate.pass(&request, now.get()),
            None => now.get(),
        };
        if at_ns <= now.get() {
            return self.inner.submit(request, now);
        }
        let place = self.held.partition_point(|(other_ns, _)| *other_ns <= at_ns);
        self.held.insert(place, (at_ns, request));
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        let passes = self.held.front().map(|(at_ns, _)| Instant::new(*at_ns));
        [self.inner.next_completion_at(), passes].into_iter().flatten().min()
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.advance(now);
        self.inner.take_completion(now)
    }

    fn facts(&self) -> &TargetFacts {
        self.inner.facts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constant::ConstantDrive;
    use crate::profile::plain_facts;
    use model::request::Tag;
    use model::units::{Bytes, Nanos};

    fn drive(profile: &LimitProfile) -> LimitedDrive {
        let facts = plain_facts("sim:test", Bytes::from_gib(1));
        LimitedDrive::new(Box::new(ConstantDrive::new(facts, Nanos::new(100_000), 64)), profile)
    }

    fn request(tag: u32, operation: Operation, length_bytes: u32) -> Request {
        Request { tag: Tag(tag), operation, offset_bytes: 0, length_bytes }
    }

    /// When each of these, one of them always in flight for each tag, is done.
    fn ends(
        drive: &mut LimitedDrive,
        operation: Operation,
        length: u32,
        depth: u32,
        count: usize,
    ) -> Vec<u64> {
        let mut ends = Vec::new();
        (0..depth).for_each(|tag| drive.submit(request(tag, operation, length), Instant::START));
        while ends.len() < count {
            let now = drive.next_completion_at().unwrap();
            while let Some(done) = drive.take_completion(now) {
                assert!(done.completed_ns <= now.get());
                ends.push(now.get());
                drive.submit(request(done.tag.0, operation, length), now);
            }
        }
        ends
    }

    /// 50 of credit at 100 µs and 4 in flight are gone after 1.25 ms; then one passes every 5 ms, at whatever depth.
    #[test]
    fn the_credit_goes_first_and_then_one_request_passes_at_a_time() {
        let profile =
            LimitProfile { iops: Some(200.0), credit_requests: Some(50.0), ..LimitProfile::default() };
        for depth in [1u32, 4, 32] {
            let ends = ends(&mut drive(&profile), Operation::Read, 4096, depth, 300);
            assert!(ends[49] <= 100_000 * 50u64.div_ceil(u64::from(depth)), "the credit: {}", ends[49]);
            assert!(ends[60..].windows(2).all(|pair| pair[1] - pair[0] == 5_000_000), "depth {depth}");
            // What passed is the credit and what came back since the start, each rounded up to a whole nanosecond.
            assert!(ends[299].abs_diff(250 * 5_000_000 + 100_000) <= 1, "depth {depth}");
        }
    }

    /// One request passes every 10 ms, and from 55 ms on every 5 ms: the one that waited then passes at 55 + 5/2 ms.
    #[test]
    fn a_limit_may_change() {
        let profile = LimitProfile {
            iops: Some(100.0),
            changes_at_s: Some(0.055),
            changes_by: Some(2.0),
            ..LimitProfile::default()
        };
        let ends = ends(&mut drive(&profile), Operation::Read, 4096, 4, 9);
        let expected = [0, 10_000, 20_000, 30_000, 40_000, 50_000, 57_500, 62_500, 67_500];
        assert_eq!(ends, expected.map(|us| 1000 * us + 100_000));
    }

    /// A gate of 100 a second: of 64 KiB one passes each 10 ms, and of 65 KiB and of 128 KiB each 20 ms.
    #[test]
    fn a_large_request_costs_one_for_each_part_that_it_begins() {
        let profile = LimitProfile { iops: Some(100.0), request_kib: Some(64.0), ..LimitProfile::default() };
        for (kib, parts) in [(4, 1u64), (64, 1), (65, 2), (128, 2), (1024, 16)] {
            let ends = ends(&mut drive(&profile), Operation::Read, kib * 1024, 4, 5);
            assert!(
                ends[1..].windows(2).all(|pair| pair[1] - pair[0] == parts * 10_000_000),
                "{kib}: {ends:?}"
            );
        }
    }

    #[test]
    fn bytes_cost_by_their_number_and_more_than_a_full_bucket_leaves_a_debt() {
        let profile =
            LimitProfile { rate_mb_per_s: Some(10.0), credit_mb: Some(1.0), ..LimitProfile::default() };
        let small = ends(&mut drive(&profile), Operation::Write, 100_000, 8, 50);
        assert_eq!(small[49], 40 * 10_000_000 + 100_000);
        let large = ends(&mut drive(&profile), Operation::Write, 2_000_000, 1, 3);
        // The first is all credit and leaves a debt of as much, so that the second waits for 2 MB.
        assert_eq!(large, [100_000, 200_100_000, 400_100_000]);
    }

    #[test]
    fn reads_and_writes_share_a_bucket_unless_they_are_separate() {
        let shared =
            LimitProfile { iops: Some(100.0), credit_requests: Some(2.0), ..LimitProfile::default() };
        for (separate, expected) in [(false, 20_100_000), (true, 100_000)] {
            let mut drive = drive(&LimitProfile { separate, ..shared.clone() });
            for tag in 0..4 {
                let operation = if tag < 2 { Operation::Read } else { Operation::Write };
                drive.submit(request(tag, operation, 4096), Instant::START);
            }
            drive.submit(request(4, Operation::Flush, 0), Instant::START);
            let mut last = 0;
            let mut count = 0;
            while let Some(now) = drive.next_completion_at() {
                while let Some(done) = drive.take_completion(now) {
                    (last, count) = (done.completed_ns, count + 1);
                }
            }
            assert_eq!((last, count), (expected, 5));
        }
    }

    #[test]
    fn an_idle_bucket_refills_to_its_credit_and_no_further() {
        let numbers = [BucketNumbers {
            counted: Counted::Requests,
            per_second: 300.0,
            credit: 40_000.0,
            first_credit: 40_000.0,
            change_ns: u64::MAX,
            times: 1.0,
        }];
        let mut gate = Gate::new(&numbers);
        let read = request(0, Operation::Read, 4096);
        for _ in 0..40_000 {
            assert_eq!(gate.pass(&read, 0), 0);
        }
        assert_eq!(gate.pass(&read, 0), 3_333_334);
        assert_eq!(gate.buckets[0].tokens_at(66_000_000_000).floor(), 19_799.0);
        assert_eq!(gate.buckets[0].tokens_at(1_000_000_000_000), 40_000.0);
    }

    #[test]
    fn a_limit_has_something_that_refills_it() {
        let flaw = |text: &str| toml::from_str::<LimitProfile>(text).unwrap().check().unwrap_err().key;
        assert_eq!(flaw(""), "iops");
        assert_eq!(flaw("iops = 300\ncredit_mb = 3000"), "credit_mb");
        assert_eq!(flaw("rate_mb_per_s = 40\ncredit_requests = 10"), "credit_requests");
        assert_eq!(flaw("rate_mb_per_s = 40\nrequest_kib = 256"), "request_kib");
        assert_eq!(flaw("iops = 0"), "iops");
        let profile: LimitProfile = toml::from_str("iops = 300\ncredit_requests = 40000").unwrap();
        assert_eq!(profile.check(), Ok(()));
        assert_eq!(
            profile.buckets(),
            [BucketNumbers {
                counted: Counted::Requests,
                per_second: 300.0,
                credit: 40_000.0,
                first_credit: 40_000.0,
                change_ns: u64::MAX,
                times: 1.0
            }]
        );
    }
}
