//! What a run asked of the drive over time, of whichever phase: the series that a token bucket is looked for in.

use model::commit::BesideLoad;
use model::request::Operation;
use model::run::RunView;
use model::units::Bytes;
use model::workload::{Arrival, Caching, OperationMix, Pattern, Workload};

/// Steps kept at most; of a longer run, two that follow each other within a phase are made one.
const STEPS_MAX: usize = 200_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub phase: u32,
    pub start_ns: u64,
    pub end_ns: u64,
    pub reads: Used,
    pub writes: Used,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    pub requests: f64,
    pub bytes: f64,
}

/// What a phase asks for, as far as it decides how fast a drive is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub block: Bytes,
    pub in_flight: u64,
    pub is_sequential: bool,
    pub writes: bool,
    pub is_closed: bool,
    pub beside: Option<BesideLoad>,
}

pub(super) struct Course {
    pub steps: Vec<Step>,
    /// Of each phase; none where nothing was asked of the drive itself.
    pub shapes: Vec<Option<Shape>>,
    /// What was in flight when each phase ended by time: it reached the drive, and no record counts it.
    pub late: Vec<Used>,
    /// Whether a kernel queued the requests, which merges neighbours: the drive is asked less often than was counted.
    is_queued: bool,
}

impl Course {
    /// All phases that reach the drive. None of a run through a file system.
    pub fn of(run: &RunView<'_>) -> Option<Course> {
        if run.phases.iter().any(|summary| summary.files.is_some()) {
            return None;
        }
        let mut course = Course {
            steps: Vec::new(),
            shapes: Vec::new(),
            late: Vec::new(),
            is_queued: run.environment.is_in_real_time(),
        };
        for (phase, summary) in (0u32..).zip(run.phases) {
            let shape = summary.phase.workload.as_ref().and_then(shape);
            let is_asked = shape.is_some();
            let bytes = summary.late_bytes as f64;
            let requests = shape.as_ref().map_or(0.0, |shape| bytes / shape.largest().as_f64());
            course.late.push(Used { requests, bytes });
            course.shapes.push(shape);
            if is_asked {
                course.add_phase(run, phase, summary.ended_ns().unwrap_or(u64::MAX));
            }
        }
        Some(course)
    }

    pub fn is_mixed(&self) -> bool {
        self.steps.iter().any(Step::has_reads) && self.steps.iter().any(|step| step.writes.requests > 0.0)
    }

    /// Of the requests of a phase, the share by which the drive is asked less often than was counted where the kernel merges neighbours.
    pub fn merged_share(&self, phase: u32) -> f64 {
        match &self.shapes[phase as usize] {
            Some(shape) if self.is_queued && shape.is_sequential && shape.in_flight > 1 => {
                1.0 - 1.0 / shape.in_flight as f64
            }
            _ => 0.0,
        }
    }

    pub fn until(&self, step: usize) -> Course {
        let (shapes, late) = (self.shapes.clone(), self.late.clone());
        Course { steps: self.steps[..step].to_vec(), shapes, late, is_queued: self.is_queued }
    }

    fn add_phase(&mut self, run: &RunView<'_>, phase: u32, ended_ns: u64) {
        for slice in run.series.intervals(phase) {
            let used = Used { requests: slice.operations as f64, bytes: slice.bytes as f64 };
            let (reads, writes) = match slice.operation {
                Operation::Read => (used, Used::default()),
                Operation::Write | Operation::Commit => (Used::default(), used),
                Operation::Flush | Operation::Discard => continue,
            };
            // Slices without requests may follow the last of a phase, which is recorded with its full length.
            if slice.start_ns >= ended_ns && slice.operations == 0 {
                continue;
            }
            let end_ns = slice.end_ns().min(ended_ns);
            match self.steps.last_mut() {
                Some(last) if last.phase == phase && last.start_ns == slice.start_ns => {
                    last.add(reads, writes)
                }
                _ => self.steps.push(Step { phase, start_ns: slice.start_ns, end_ns, reads, writes }),
            }
        }
        if self.steps.len() > STEPS_MAX {
            self.coarsen();
        }
    }

    fn coarsen(&mut self) {
        let mut coarse: Vec<Step> = Vec::with_capacity(self.steps.len() / 2 + 1);
        for (index, step) in self.steps.iter().enumerate() {
            match coarse.last_mut() {
                Some(last) if index % 2 == 1 && last.phase == step.phase => {
                    last.end_ns = step.end_ns;
                    last.add(step.reads, step.writes);
                }
                _ => coarse.push(*step),
            }
        }
        self.steps = coarse;
    }
}

impl Shape {
    pub fn reads_beside(&self) -> bool {
        self.beside.is_some_and(|load| load.operation() == Operation::Read)
    }

    fn largest(&self) -> Bytes {
        match self.beside {
            Some(load) => load.block().max(self.block),
            None => self.block,
        }
    }
}

impl Step {
    pub fn has_reads(&self) -> bool {
        self.reads.requests > 0.0
    }

    fn add(&mut self, reads: Used, writes: Used) {
        for (own, more) in [(&mut self.reads, reads), (&mut self.writes, writes)] {
            own.requests += more.requests;
            own.bytes += more.bytes;
        }
    }
}

fn shape(workload: &Workload) -> Option<Shape> {
    let reaches_drive = workload.caching == Caching::Direct && !workload.mix.operations().is_empty();
    if !reaches_drive {
        return None;
    }
    Some(Shape {
        block: workload.block_sizes.largest(),
        in_flight: workload.in_flight_max(),
        // How long commits take does not follow zones: each waits for its flush.
        is_sequential: workload.pattern == Pattern::Sequential
            && !matches!(workload.mix, OperationMix::Commit(_)),
        writes: workload.mix.changes_data(),
        is_closed: workload.arrival == Arrival::ClosedLoop,
        beside: match workload.mix {
            OperationMix::Commit(commits) => commits.beside.map(|beside| beside.load),
            _ => None,
        },
    })
}
