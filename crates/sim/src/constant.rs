//! A drive of several servers, each with the same latency for every request: no mechanics, no size, no history.

use crate::flaw::Flaw;
use crate::profile::schema::section;
use crate::{Drive, answer_within, first_at, take_ready};
use model::request::{Completion, Request};
use model::target::TargetFacts;
use model::units::{Instant, Nanos};
use std::collections::VecDeque;

section! {
    ConstantProfile at "[constant]" = "A drive with the same latency for every request." {
        latency_us: f64, in 0..=1e7 => "Latency of each request; with 0 it completes at once.";
        servers: u32 = 1, in 1..=65_536 => "Requests served in parallel.";
    }
}

impl ConstantProfile {
    pub fn check(&self) -> Result<(), Flaw> {
        self.check_bounds()
    }

    pub fn latency(&self) -> Nanos {
        Nanos::new((self.latency_us * 1e3).round() as u64)
    }
}

/// Serves requests in the order in which they came.
pub struct ConstantDrive {
    facts: TargetFacts,
    latency: Nanos,
    /// When each server is free. All have the same latency, so they become free in turn.
    free_at: Vec<Instant>,
    next_server: usize,
    in_flight: VecDeque<Completion>,
}

impl ConstantDrive {
    pub(crate) fn new(facts: TargetFacts, latency: Nanos, servers: usize) -> ConstantDrive {
        assert!(servers > 0, "a drive serves one request or more");
        let free_at = vec![Instant::START; servers];
        ConstantDrive { facts, latency, free_at, next_server: 0, in_flight: VecDeque::new() }
    }

    pub fn of_profile(facts: TargetFacts, profile: &ConstantProfile) -> ConstantDrive {
        ConstantDrive::new(facts, profile.latency(), profile.servers as usize)
    }
}

impl Drive for ConstantDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        let server = &mut self.free_at[self.next_server];
        *server = (*server).max(now).saturating_add(self.latency);
        let completed_ns = server.get();
        let (status, transferred_bytes) = answer_within(self.facts.capacity, &request);
        debug_assert!(completed_ns >= now.get(), "a completion is not before its submission");
        debug_assert!(
            self.in_flight.back().is_none_or(|last| last.completed_ns <= completed_ns),
            "completions are in the order of time"
        );
        self.in_flight.push_back(Completion { tag: request.tag, status, transferred_bytes, completed_ns });
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
    }
}
