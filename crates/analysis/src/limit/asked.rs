//! What of a course counts for one kind of bucket, and what a bucket of a given rate would make of it.

use super::course::{Course, Shape, Step, Used};
use model::units::Bytes;
use std::ops::Range;

/// Windows over which rates are compared: 0.3 s, so that one fits into the short phases of `check`, or a 512th of a long
/// run. A gap longer than a tenth of that ends one, unless what was in flight was waited for: phases of `access` take 0.08 s. What comes back in
/// a shorter one, which hosts take between phases, is used up within the window.
const WINDOW_NS: u64 = 300_000_000;
const GAP_NS: u64 = WINDOW_NS / 10;
const WINDOWS_MAX: u64 = 512;
/// A request more or less at either end of a window, and a share besides by which rates are alike.
pub(super) const ENDS_COSTS: f64 = 1.5;
pub(super) const ALIKE_SHARE: f64 = 0.003;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Requests,
    /// A request counts as one for each part of that size that it begins.
    Parts(Bytes),
    Bytes,
}

impl Unit {
    pub(super) fn part(self) -> Option<Bytes> {
        match self {
            Unit::Parts(part) => Some(part),
            Unit::Requests | Unit::Bytes => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    Reads,
    Writes,
}

/// What of a course counts, added up once: rates are tried by the dozen on courses of many steps.
pub(super) struct Asked<'course> {
    pub course: &'course Course,
    pub unit: Unit,
    pub side: Side,
    /// Before each step and behind the last. Whole numbers, so that differences are exact.
    used_until: Vec<f64>,
    drains: Vec<Drain>,
    flows: Vec<Flow>,
    pub cost_max: f64,
    /// How far the deficit falls: to 0 where the bucket was full at the start, and further where credit was missing.
    pub lowest_deficit: f64,
}

/// What a step adds to the deficit, and for how long before it and within it tokens come.
struct Flow {
    drained: f64,
    idle_s: f64,
    used: f64,
    seconds: f64,
}

/// Before the first step of a phase: what was in flight when the phase before ended by time.
struct Drain {
    index: usize,
    used: f64,
}

/// Steps that follow each other: from the first to before the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub from: usize,
    pub to: usize,
    pub used: f64,
    pub cost: f64,
    pub seconds: f64,
    rate: f64,
    /// A request more or less at either end, as a rate.
    rate_off: f64,
}

impl Window {
    fn new(from: usize, to: usize, seconds: f64, used: f64, cost: f64) -> Window {
        Window { from, to, used, cost, seconds, rate: used / seconds, rate_off: ENDS_COSTS * cost / seconds }
    }

    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    pub(super) fn is_at(&self, rate: f64) -> bool {
        (self.rate - rate).abs() <= self.rate_off + ALIKE_SHARE * rate
    }
}

impl<'course> Asked<'course> {
    pub(super) fn of(course: &'course Course, unit: Unit, side: Side) -> Asked<'course> {
        let mut asked = Asked {
            course,
            unit,
            side,
            used_until: vec![0.0],
            drains: Vec::new(),
            flows: Vec::new(),
            cost_max: 0.0,
            lowest_deficit: 0.0,
        };
        let (mut sum, mut first, mut drained, mut until_ns) = (0.0, 0, 0.0, 0);
        for phase in course.steps.chunk_by(|one, next| one.phase == next.phase) {
            for step in phase {
                asked.cost_max = asked.cost_max.max(asked.cost(step));
                let used = asked.used(step);
                sum += used;
                asked.used_until.push(sum);
                let idle_s = step.start_ns.saturating_sub(until_ns) as f64 / 1e9;
                let seconds = step.end_ns.saturating_sub(step.start_ns.max(until_ns)) as f64 / 1e9;
                asked.flows.push(Flow { drained: std::mem::take(&mut drained), idle_s, used, seconds });
                until_ns = step.end_ns.max(until_ns);
            }
            let index = first + phase.len();
            let used = asked.late(&phase[0]);
            if used > 0.0 {
                asked.drains.push(Drain { index, used });
                drained = used;
            }
            first = index;
        }
        asked
    }

    pub(super) fn steps(&self) -> &'course [Step] {
        &self.course.steps
    }

    pub(super) fn used(&self, step: &Step) -> f64 {
        match self.side {
            Side::Both => self.in_unit(step.reads, step) + self.in_unit(step.writes, step),
            Side::Reads => self.in_unit(step.reads, step),
            Side::Writes => self.in_unit(step.writes, step),
        }
    }

    fn late(&self, step: &Step) -> f64 {
        let all = self.in_unit(self.course.late[step.phase as usize], step);
        let Some(shape) = self.shape(step) else { return all };
        let writes = match shape.beside {
            _ if !shape.writes => 0.0,
            Some(load) if shape.reads_beside() => {
                all.min((shape.in_flight - u64::from(load.depth())) as f64 * self.cost(step))
            }
            _ => all,
        };
        match self.side {
            Side::Both => all,
            Side::Reads => all - writes,
            Side::Writes => writes,
        }
    }

    fn in_unit(&self, used: Used, step: &Step) -> f64 {
        match self.unit {
            Unit::Bytes => used.bytes,
            Unit::Requests => used.requests,
            Unit::Parts(_) => used.requests * self.cost(step),
        }
    }

    pub(super) fn shape(&self, step: &Step) -> Option<&Shape> {
        self.course.shapes[step.phase as usize].as_ref()
    }

    pub(super) fn only_shape(&self, window: &Window) -> Option<&Shape> {
        let steps = &self.steps()[window.from..window.to];
        let shape = self.shape(steps.first()?)?;
        let of_other_phases = steps.iter().filter(|step| step.phase != steps[0].phase);
        for step in of_other_phases {
            if self.shape(step) != Some(shape) {
                return None;
            }
        }
        Some(shape)
    }

    pub(super) fn cost(&self, step: &Step) -> f64 {
        match (self.unit, self.shape(step)) {
            (Unit::Bytes, Some(shape)) => shape.block.as_f64(),
            (Unit::Parts(part), Some(shape)) => shape.block.get().div_ceil(part.get()) as f64,
            _ => 1.0,
        }
    }

    pub(super) fn windows(&self) -> Vec<Window> {
        let steps = self.steps();
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Vec::new() };
        let whole_ns = last.end_ns.saturating_sub(first.start_ns);
        let length_ns = WINDOW_NS.max(whole_ns / WINDOWS_MAX);
        let mut windows = Vec::new();
        let (mut from, mut used, mut cost) = (0, 0.0, 0.0f64);
        for (index, (step, flow)) in steps.iter().zip(&self.flows).enumerate() {
            if index > from {
                let gap_ns = step.start_ns.saturating_sub(steps[index - 1].end_ns);
                if flow.drained > 0.0 && gap_ns > 0 {
                    used += flow.drained;
                } else if gap_ns > GAP_NS {
                    (from, used, cost) = (index, 0.0, 0.0);
                }
            }
            used += flow.used;
            cost = cost.max(self.cost(step));
            let ns = step.end_ns.saturating_sub(steps[from].start_ns);
            if ns >= length_ns {
                windows.push(Window::new(from, index + 1, ns as f64 / 1e9, used, cost));
                (from, used, cost) = (index + 1, 0.0, 0.0);
            }
        }
        windows
    }

    /// The share by which the bucket may have given less for a phase than was counted: bytes stay as many, however requests are merged.
    pub(super) fn merged_share(&self, phase: u32) -> f64 {
        if self.unit == Unit::Bytes { 0.0 } else { self.course.merged_share(phase) }
    }

    pub(super) fn is_surely_apart(&self, steps: Range<usize>) -> bool {
        self.steps()[steps].iter().all(|step| self.merged_share(step.phase) == 0.0)
    }

    fn used_between(&self, from: usize, to: usize) -> f64 {
        self.used_until[to] - self.used_until[from]
    }

    fn drained_between(&self, from: usize, to: usize) -> f64 {
        let behind = |step: usize| self.drains.partition_point(|drain| drain.index <= step);
        self.drains[behind(from)..behind(to)].iter().map(|drain| drain.used).sum()
    }

    pub(super) fn deficits(&self, per_second: f64) -> Vec<f64> {
        let mut deficit = 0.0f64;
        let flows = self.flows.iter();
        flows
            .map(|flow| {
                deficit = (deficit + flow.drained - per_second * flow.idle_s).max(self.lowest_deficit);
                deficit = (deficit + flow.used - per_second * flow.seconds).max(self.lowest_deficit);
                deficit
            })
            .collect()
    }
}

impl Asked<'_> {
    pub(super) fn seconds_between(&self, from: usize, to: usize) -> f64 {
        self.steps()[to].end_ns.saturating_sub(self.steps()[from].end_ns) as f64 / 1e9
    }

    /// The lowest deficit between the end of one step and that of another, also before a step that follows idle time.
    pub(super) fn lowest(&self, waiting: &Waiting, from: usize, to: usize) -> f64 {
        let mut lowest = f64::INFINITY;
        for step in from.max(1)..to {
            let idle_ns = self.steps()[step].start_ns.saturating_sub(self.steps()[step - 1].end_ns);
            let after_idle = waiting.deficits[step - 1] - waiting.per_second * idle_ns as f64 / 1e9;
            lowest = lowest.min(after_idle).min(waiting.deficits[step]);
        }
        lowest
    }

    pub(super) fn stretch(&self, from: usize, to: usize, cost: f64) -> Option<Waiting> {
        let seconds = self.seconds_between(from, to);
        if seconds <= 0.0 {
            return None;
        }
        let per_second = (self.used_between(from + 1, to + 1) + self.drained_between(from, to)) / seconds;
        let deficits = self.deficits(per_second);
        let credit = (deficits[from] + deficits[to]) / 2.0;
        Some(Waiting { from, to, per_second, error: 2.0 * cost / seconds, credit, deficits })
    }
}

/// Steps from one moment at the credit to another, without a full bucket between: what was used is what came back.
pub(super) struct Waiting {
    pub from: usize,
    pub to: usize,
    pub per_second: f64,
    pub error: f64,
    pub credit: f64,
    pub deficits: Vec<f64>,
}
