//! A drive of several servers, each of which takes the same time for every request: no place, no size, no history.

use crate::flaw::Flaw;
use crate::{Drive, answer_within};
use model::request::{Completion, Request};
use model::target::TargetFacts;
use model::units::{Instant, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The section `[constant]` of a profile: a drive that takes the same time for everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantProfile {
    /// What each request takes, in microseconds; 0 answers at once. At most 10⁷.
    pub latency_us: f64,
    /// How many requests are served at a time, 1 to 65536. Default: 1.
    #[serde(default = "one")]
    pub servers: u32,
}

/// As many servers as a drive can have: more than any queue holds.
const SERVERS_MAX: u32 = 65_536;
/// The longest that a request can take, in microseconds: longer than the system waits.
const LATENCY_US_MAX: f64 = 1e7;

fn one() -> u32 {
    1
}

impl ConstantProfile {
    /// Whether such a drive can be.
    ///
    /// # Errors
    /// When nobody serves, or a time is none.
    pub fn check(&self) -> Result<(), Flaw> {
        if !(0.0..=LATENCY_US_MAX).contains(&self.latency_us) {
            return Err(Flaw::new("latency_us", format!("it is not between 0 and {LATENCY_US_MAX}")));
        }
        if !(1..=SERVERS_MAX).contains(&self.servers) {
            return Err(Flaw::new("servers", format!("there are 1 to {SERVERS_MAX}")));
        }
        Ok(())
    }

    /// What each request takes.
    pub fn latency(&self) -> Nanos {
        Nanos((self.latency_us * 1e3).round() as u64)
    }
}

/// Serves requests in the order in which they came, as many at a time as it has servers.
pub struct ConstantDrive {
    facts: TargetFacts,
    latency: Nanos,
    /// When each server is free. All take the same time, so they become free in turn.
    free_at: Vec<Instant>,
    next_server: usize,
    /// In the order in which they will be done.
    under_way: VecDeque<Completion>,
}

impl ConstantDrive {
    /// A drive that answers after `latency`, `servers` requests at a time. Panics when there is no server.
    pub(crate) fn new(facts: TargetFacts, latency: Nanos, servers: usize) -> ConstantDrive {
        assert!(servers > 0, "somebody serves");
        let free_at = vec![Instant::START; servers];
        ConstantDrive { facts, latency, free_at, next_server: 0, under_way: VecDeque::new() }
    }

    /// The drive of a profile that passed its check.
    pub fn of_profile(facts: TargetFacts, profile: &ConstantProfile) -> ConstantDrive {
        ConstantDrive::new(facts, profile.latency(), profile.servers as usize)
    }
}

impl Drive for ConstantDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        let server = &mut self.free_at[self.next_server];
        *server = (*server).max(now).saturating_add(self.latency);
        let (status, transferred_bytes) = answer_within(self.facts.capacity, &request);
        self.under_way.push_back(Completion {
            tag: request.tag,
            status,
            transferred_bytes,
            completed_ns: server.0,
        });
        self.next_server = (self.next_server + 1) % self.free_at.len();
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        self.under_way.front().map(|completion| Instant(completion.completed_ns))
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        let ready = self.under_way.front().is_some_and(|completion| completion.completed_ns <= now.0);
        if ready { self.under_way.pop_front() } else { None }
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
        let mut drive = ConstantDrive::new(plain_facts("sim:test", Bytes::from_gib(1)), Nanos(100), 2);
        (0..3).for_each(|tag| drive.submit(read(tag), Instant(10)));
        assert_eq!(drive.next_completion_at(), Some(Instant(110)));
        assert_eq!(drive.take_completion(Instant(109)), None);
        let ends: Vec<_> = std::iter::from_fn(|| drive.take_completion(Instant(1000)))
            .map(|completion| (completion.tag.0, completion.completed_ns, completion.status))
            .collect();
        assert_eq!(ends, [(0, 110, Status::Done), (1, 110, Status::Done), (2, 210, Status::Done)]);
        assert_eq!(drive.next_completion_at(), None);
    }

    #[test]
    fn the_section_reads_as_documented() {
        let read = |text| toml::from_str::<ConstantProfile>(text);
        let profile = read("latency_us = 0.25").unwrap();
        assert_eq!((profile.latency(), profile.servers, profile.check()), (Nanos(250), 1, Ok(())));
        assert!(read("latency_us = 1.0\nserver = 2").is_err());
        let flaw = |text| read(text).unwrap().check().unwrap_err().key;
        assert_eq!(flaw("latency_us = nan"), "latency_us");
        assert_eq!(flaw("latency_us = -1.0"), "latency_us");
        assert_eq!(flaw("latency_us = 1.0\nservers = 0"), "servers");
    }
}
