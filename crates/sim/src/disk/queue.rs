//! Requests that wait for the arm, and whom it serves next.
//!
//! The drive chooses among its oldest `depth` requests (native command queueing); others wait behind them in the order
//! in which they came. "Aged" is the shortest positioning time less a share of the time waited (Seltzer, Chen and
//! Ousterhout 1990; Jacobson and Wilkes 1991): 0.01 s for each second keeps the 99th percentile of a depth of 32 near
//! half a second.

use crate::disk::geometry::Place;
use crate::disk::mechanism::Mechanism;
use crate::disk::profile::{QueuePolicy, QueueProfile};
use model::request::{Operation, Request};
use std::collections::VecDeque;

/// A request that waits for the arm.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// What is asked for.
    pub request: Request,
    /// Since when, in seconds.
    pub since_s: f64,
    /// Where its first sector is.
    pub place: Place,
}

/// All that wait.
#[derive(Clone, Debug)]
pub struct Queue {
    policy: QueuePolicy,
    depth: usize,
    age_weight: f64,
    /// Those it chooses among.
    near: Vec<Waiting>,
    /// Those behind them, oldest first.
    later: VecDeque<Waiting>,
}

impl Queue {
    /// An empty queue.
    pub fn new(profile: &QueueProfile) -> Queue {
        let age_weight = if profile.policy == QueuePolicy::Aged { profile.age_weight } else { 0.0 };
        let depth = if profile.policy == QueuePolicy::FirstCome { 1 } else { profile.depth as usize };
        Queue {
            policy: profile.policy,
            depth,
            age_weight,
            near: Vec::with_capacity(depth),
            later: VecDeque::new(),
        }
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// Adds the youngest.
    pub fn push(&mut self, waiting: Waiting) {
        if self.near.len() < self.depth {
            self.near.push(waiting);
        } else {
            self.later.push_back(waiting);
        }
    }

    /// Takes whom the arm serves next at `at_s`, if it starts to move at `start_s`.
    pub fn take(&mut self, mechanism: &Mechanism, at_s: f64, start_s: f64) -> Option<Waiting> {
        let index = match self.near.len() {
            0 => return None,
            1 => 0,
            _ => self.nearest(mechanism, at_s, start_s),
        };
        let taken = self.near.swap_remove(index);
        if let Some(next) = self.later.pop_front() {
            self.near.push(next);
        }
        Some(taken)
    }

    fn nearest(&self, mechanism: &Mechanism, at_s: f64, start_s: f64) -> usize {
        debug_assert!(self.policy != QueuePolicy::FirstCome, "who comes first has no rivals");
        let phase_turns = mechanism.phase_turns(start_s);
        let (mut best, mut best_cost) = (0, f64::INFINITY);
        for (index, waiting) in self.near.iter().enumerate() {
            let writes = waiting.request.operation == Operation::Write;
            let positioning_s = mechanism.positioning_from(&waiting.place, phase_turns, writes);
            let cost = positioning_s - self.age_weight * (at_s - waiting.since_s);
            if cost < best_cost {
                (best, best_cost) = (index, cost);
            }
        }
        best
    }
}
