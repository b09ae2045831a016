//! Requests that wait for the arm, and whom it serves next.
//!
//! The drive chooses among its oldest `depth` requests (native command queueing); others wait behind them in the order in which they came.
//! "Aged" is the shortest positioning time less a share of the time waited (Seltzer, Chen and Ousterhout 1990; Jacobson and Wilkes 1991): 0.01 s
//! for each second keeps the 99th percentile of a depth of 32 near half a second.

use crate::disk::geometry::Place;
use crate::disk::mechanism::Mechanism;
use crate::disk::profile::{QueuePolicy, QueueProfile};
use model::request::{Operation, Request};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub request: Request,
    pub since_s: f64,
    /// When the electronics have understood it, in seconds; of one that was taken, when the arm starts to move for it.
    pub ready_s: f64,
    pub place: Place,
}

impl Waiting {
    fn overhead_s(&self) -> f64 {
        self.ready_s - self.since_s
    }

    fn goes_on(&self, mechanism: &Mechanism, at_s: f64) -> bool {
        self.ready_s <= at_s
            && mechanism.goes_on_with(&self.place, self.request.operation == Operation::Write)
    }
}

#[derive(Clone, Debug)]
pub struct Queue {
    policy: QueuePolicy,
    depth: usize,
    age_weight: f64,
    breaks_streams: bool,
    near: Vec<Waiting>,
    later: VecDeque<Waiting>,
}

impl Queue {
    pub fn new(profile: &QueueProfile) -> Queue {
        let age_weight = if profile.policy == QueuePolicy::Aged { profile.age_weight } else { 0.0 };
        let depth = if profile.policy == QueuePolicy::FirstCome { 1 } else { profile.depth as usize };
        Queue {
            policy: profile.policy,
            depth,
            age_weight,
            breaks_streams: profile.breaks_streams,
            near: Vec::with_capacity(depth),
            later: VecDeque::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    pub fn breaks_streams(&self) -> bool {
        self.breaks_streams
    }

    pub fn push(&mut self, waiting: Waiting) {
        if self.near.len() < self.depth {
            debug_assert!(self.later.is_empty(), "who came later is not chosen before there is room");
            self.near.push(waiting);
        } else {
            self.later.push_back(waiting);
        }
    }

    /// Takes whom the free arm serves next at `at_s`. The electronics turn to it only then, so the arm starts to move
    /// for it after their overhead; what comes next where the arm is, and was understood before, it need not move for.
    pub fn take(&mut self, mechanism: &Mechanism, at_s: f64) -> Option<Waiting> {
        let index = match self.near.len() {
            0 => return None,
            1 => 0,
            _ => self.nearest(mechanism, at_s),
        };
        // Those that stay keep their order: of two that are equally near the older one is taken.
        let mut taken = self.near.remove(index);
        let goes_on = !self.breaks_streams && taken.goes_on(mechanism, at_s);
        taken.ready_s = if goes_on { at_s } else { at_s + taken.overhead_s() };
        if let Some(next) = self.later.pop_front() {
            self.near.push(next);
        }
        Some(taken)
    }

    fn nearest(&self, mechanism: &Mechanism, at_s: f64) -> usize {
        debug_assert!(self.policy != QueuePolicy::FirstCome, "who comes first has no rivals");
        let overhead_s = self.near.first().map_or(0.0, Waiting::overhead_s);
        let phase_turns = mechanism.phase_turns(at_s + overhead_s);
        let (mut best, mut best_cost) = (0, f64::INFINITY);
        for (index, waiting) in self.near.iter().enumerate() {
            let writes = waiting.request.operation == Operation::Write;
            if waiting.goes_on(mechanism, at_s) {
                return index;
            }
            let positioning_s = mechanism.positioning_from(&waiting.place, phase_turns, writes);
            let cost = positioning_s - self.age_weight * (at_s - waiting.since_s);
            if cost < best_cost {
                (best, best_cost) = (index, cost);
            }
        }
        best
    }
}
