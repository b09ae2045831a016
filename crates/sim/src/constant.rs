//! A drive of several servers, each of which takes the same time for every request: no place, no size, no history.

use crate::{Drive, answer_within};
use model::request::{Completion, Request};
use model::target::TargetFacts;
use model::units::{Instant, Nanos};
use std::collections::VecDeque;

/// Serves requests in the order in which they came, as many at a time as it has servers.
pub(crate) struct ConstantDrive {
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
}
