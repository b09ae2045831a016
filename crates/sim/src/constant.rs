//! A drive of several servers without mechanics: latency depends on nothing. With jitter it is as a volume behind a network.

use crate::flaw::Flaw;
use crate::profile::schema::{is_zero, section};
use crate::{Drive, answer_within, first_at, insert_by_time, take_ready};
use model::prng::Prng;
use model::request::{Completion, Operation, Request};
use model::target::TargetFacts;
use model::units::{Instant, Nanos};
use std::collections::VecDeque;

section! {
    ConstantProfile at "[constant]" = "A drive with the same latency for every request." {
        latency_us: f64, in 0..=1e7 => "Latency of each request; with 0 it completes at once.";
        servers: u32 = 1, in 1..=65_536 => "Requests served in parallel.";
        write_latency_us: Option<f64> = None, in 0..=1e7 => "The same of writes. `latency_us` unless given.";
        #[serde(skip_serializing_if = "is_zero")]
        jitter: f64 = 0.0, in 0..=2 => "Standard deviation of the logarithm of the latency, whose median is as given; 0 is none.";
    }
}

const JITTER_STREAM: u64 = 1;

impl ConstantProfile {
    pub fn check(&self) -> Result<(), Flaw> {
        self.check_bounds()
    }

    pub fn latency(&self) -> Nanos {
        from_micros(self.latency_us)
    }

    pub fn write_latency(&self) -> Nanos {
        from_micros(self.write_latency_us.unwrap_or(self.latency_us))
    }

    /// The mean latency over its median: that of a log-normal distribution.
    pub fn mean_over_median(&self) -> f64 {
        (self.jitter * self.jitter / 2.0).exp()
    }
}

fn from_micros(micros: f64) -> Nanos {
    Nanos::new((micros * 1e3).round() as u64)
}

pub struct ConstantDrive {
    facts: TargetFacts,
    latency: Nanos,
    write_latency: Nanos,
    jitter: f64,
    prng: Prng,
    /// When each server is free. They take requests in turn.
    free_at: Vec<Instant>,
    next_server: usize,
    in_flight: VecDeque<Completion>,
}

impl ConstantDrive {
    pub(crate) fn new(facts: TargetFacts, latency: Nanos, servers: usize) -> ConstantDrive {
        assert!(servers > 0, "a drive serves one request or more");
        ConstantDrive {
            facts,
            latency,
            write_latency: latency,
            jitter: 0.0,
            prng: Prng::new(0, JITTER_STREAM),
            free_at: vec![Instant::START; servers],
            next_server: 0,
            in_flight: VecDeque::new(),
        }
    }

    pub fn of_profile(facts: TargetFacts, profile: &ConstantProfile, seed: u64) -> ConstantDrive {
        ConstantDrive {
            write_latency: profile.write_latency(),
            jitter: profile.jitter,
            prng: Prng::new(seed, JITTER_STREAM),
            ..ConstantDrive::new(facts, profile.latency(), profile.servers as usize)
        }
    }

    fn latency_of(&mut self, operation: Operation) -> Nanos {
        let median = if operation == Operation::Write { self.write_latency } else { self.latency };
        if self.jitter == 0.0 {
            return median;
        }
        Nanos::new((median.as_f64() * (self.jitter * self.prng.normal()).exp()) as u64)
    }
}

impl Drive for ConstantDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        let latency = self.latency_of(request.operation);
        let server = &mut self.free_at[self.next_server];
        *server = (*server).max(now).saturating_add(latency);
        let completed_ns = server.get();
        let (status, transferred_bytes) = answer_within(self.facts.capacity, &request);
        debug_assert!(completed_ns >= now.get(), "a completion is not before its submission");
        let completion = Completion { tag: request.tag, status, transferred_bytes, completed_ns };
        insert_by_time(&mut self.in_flight, completion);
        self.next_server = (self.next_server + 1) % self.free_at.len();
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        first_at(&self.in_flight)
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        take_ready(&mut self.in_flight, now)
    }

    fn facts(&self) -> &TargetFacts {
        &self.facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::plain_facts;
    use model::request::{Operation, Status, Tag};
    use model::units::Bytes;

    fn read(tag: u32) -> Request {
        Request { tag: Tag(tag), operation: Operation::Read, offset_bytes: 0, length_bytes: 4096 }
    }

    #[test]
    fn two_servers_take_two_at_a_time() {
        let mut drive = ConstantDrive::new(plain_facts("sim:test", Bytes::from_gib(1)), Nanos::new(100), 2);
        (0..3).for_each(|tag| drive.submit(read(tag), Instant::new(10)));
        assert_eq!(drive.next_completion_at(), Some(Instant::new(110)));
        assert_eq!(drive.take_completion(Instant::new(109)), None);
        let ends: Vec<_> = std::iter::from_fn(|| drive.take_completion(Instant::new(1000)))
            .map(|completion| (completion.tag.0, completion.completed_ns, completion.status))
            .collect();
        assert_eq!(ends, [(0, 110, Status::Done), (1, 110, Status::Done), (2, 210, Status::Done)]);
        assert_eq!(drive.next_completion_at(), None);
    }

    #[test]
    fn the_section_reads_as_documented() {
        let read = |text| toml::from_str::<ConstantProfile>(text);
        let profile = read("latency_us = 0.25").unwrap();
        assert_eq!((profile.latency(), profile.servers, profile.check()), (Nanos::new(250), 1, Ok(())));
        assert!(read("latency_us = 1.0\nserver = 2").is_err());
        let flaw = |text| read(text).unwrap().check().unwrap_err().key;
        assert_eq!(flaw("latency_us = nan"), "latency_us");
        assert_eq!(flaw("latency_us = -1.0"), "latency_us");
        assert_eq!(flaw("latency_us = 1.0\nservers = 0"), "servers");
        assert_eq!(flaw("latency_us = 1.0\njitter = -0.1"), "jitter");
    }

    #[test]
    fn jitter_scatters_around_the_median_and_writes_have_their_own() {
        let text = "latency_us = 600\nwrite_latency_us = 900\njitter = 0.3";
        let profile: ConstantProfile = toml::from_str(text).unwrap();
        for (operation, median_ns) in [(Operation::Read, 600_000.0), (Operation::Write, 900_000.0)] {
            let facts = plain_facts("sim:test", Bytes::from_gib(1));
            let mut drive = ConstantDrive::of_profile(facts, &profile, 7);
            let mut latencies = Vec::new();
            for number in 0..1001 {
                let now = Instant::new(u64::from(number) * 1_000_000_000_000);
                drive.submit(Request { operation, ..read(number) }, now);
                let at = drive.next_completion_at().unwrap();
                latencies.push(drive.take_completion(at).unwrap().completed_ns - now.get());
            }
            latencies.sort_unstable();
            let off = latencies[500] as f64 / median_ns - 1.0;
            // The median of 1001 is known to 1.25 · 0.3 / √1001, 1.2 %.
            assert!(off.abs() < 0.05, "{operation:?}: {off}");
            let spread = (latencies[841] as f64 / latencies[500] as f64).ln();
            assert!((spread - 0.3).abs() < 0.05, "{operation:?}: {spread}");
        }
    }
}
