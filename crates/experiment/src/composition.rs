//! Experiments made of others: what comes before the measurements, and parts one after the other.

use crate::preparation::{self, Filling, filled};
use crate::{Experiment, Remaining, Setup, Step};
use model::experiment_name::ExperimentName;
use model::plan::Phase;
use model::range::ByteRange;
use model::run::RunView;
use model::units::Bytes;
use std::collections::VecDeque;

/// What comes before the measurements: filling a scratch file with a rest after it, and reads that wake the drive.
pub struct Prepared {
    experiment: ExperimentName,
    phases: VecDeque<Phase>,
    count: usize,
    fills: bool,
}

impl Prepared {
    pub fn new(experiment: ExperimentName, setup: &Setup, filling: Filling) -> Prepared {
        let mut phases = VecDeque::new();
        if setup.empty {
            phases.extend(preparation::fill(experiment.clone(), setup, filling));
        }
        Prepared { experiment, count: phases.len(), phases, fills: setup.empty }
    }

    pub fn and_warm_up(mut self, range: ByteRange, block: Bytes) -> Prepared {
        let reads = preparation::warm_up(self.experiment.clone(), range, block, preparation::WARM_UP);
        self.phases.push_back(reads);
        self.count += 1;
        self
    }

    pub fn next(&mut self) -> Option<Phase> {
        self.phases.pop_front()
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn steps(&self) -> Vec<Step> {
        Remaining::of(&Vec::from(self.phases.clone())).steps
    }

    /// What of a range can be measured: of a scratch file what was filled; none where that is too little.
    pub fn range(&self, range: ByteRange, so_far: &RunView<'_>) -> Option<ByteRange> {
        if self.fills { filled(range, so_far) } else { Some(range) }
    }
}

pub struct OnePhase(pub Option<Phase>);

impl Experiment for OnePhase {
    fn next(&mut self, _so_far: &RunView<'_>) -> Option<Phase> {
        self.0.take()
    }

    fn remaining(&self) -> Remaining {
        Remaining::of(self.0.as_slice())
    }
}

/// Parts, each of which begins when the one before it is done.
#[derive(Default)]
pub struct Sequence {
    parts: VecDeque<Box<dyn Experiment>>,
}

impl Sequence {
    pub fn push(&mut self, part: impl Experiment + 'static) {
        self.parts.push_back(Box::new(part));
    }

    /// Adds a part, or none where the drive has no room for it.
    pub fn push_if_any(&mut self, part: Option<impl Experiment + 'static>) {
        if let Some(part) = part {
            self.push(part);
        }
    }

    pub fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        while let Some(part) = self.parts.front_mut() {
            match part.next(so_far) {
                Some(phase) => return Some(phase),
                None => drop(self.parts.pop_front()),
            }
        }
        None
    }

    pub fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for part in &self.parts {
            steps.extend(part.remaining().steps);
        }
        steps
    }

    pub fn needs_trace(&self, phase: &Phase) -> bool {
        match self.parts.front() {
            Some(part) => part.needs_trace(phase),
            None => false,
        }
    }

    pub fn end(&mut self) {
        self.parts.clear();
    }
}
