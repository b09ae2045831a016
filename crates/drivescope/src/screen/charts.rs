//! The charts of a screen, made from what is known so far.

use super::bins::GRID_FLOOR_NS;
use super::plot::{Curve, Plot};
use super::state::ScreenState;
use model::units::{Bytes, Nanos};
use report::chart::{Axis, Tick};
use report::quantity::{capacity, rough_time, size};

const TICKS_MAX: usize = 7;
/// A region smaller than this share of the drive is shown alone.
const WHOLE_SHARE_MIN: f64 = 1.0 / 8.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    Places,
    Times,
    Latency,
    Access,
    Map,
}

impl ChartKind {
    pub const ALL: [ChartKind; 5] =
        [ChartKind::Places, ChartKind::Times, ChartKind::Latency, ChartKind::Access, ChartKind::Map];

    pub fn fitting(state: &ScreenState) -> ChartKind {
        // Phases that prepare or wake the drive do not change the chart.
        let is_random = matches!(state.measured, Some(phase) if !phase.is_in_order);
        if state.map.is_some() {
            ChartKind::Map
        } else if is_random && state.access.count() > 0 {
            ChartKind::Access
        } else if is_random {
            ChartKind::Latency
        } else if state.places.extent().is_some() {
            ChartKind::Places
        } else {
            ChartKind::Times
        }
    }
}

/// The chart of that kind as a plot. A map is not one; its place is taken by throughput by LBA.
pub fn plot(kind: ChartKind, state: &ScreenState) -> Plot {
    match kind {
        ChartKind::Places | ChartKind::Map => places(state),
        ChartKind::Times => times(state),
        ChartKind::Latency => latency(state),
        ChartKind::Access => access(state),
    }
}

const OPERATIONS: [&str; 2] = ["reads", "writes"];

fn throughput(title: &str, lanes: [Vec<(f64, f64)>; 2], across: Vec<Tick>, nothing: &'static str) -> Plot {
    let up = Axis::of_rates("Throughput", highest(lanes.iter().flatten()));
    let mut curves = Vec::new();
    for (lane, mut points) in lanes.into_iter().enumerate() {
        for (_, rate) in &mut points {
            *rate = up.share(*rate);
        }
        curves.push(Curve { name: OPERATIONS[lane], lane, points, is_line: true });
    }
    Plot { title: format!("{title}, {}", up.unit), curves, up: up.even_ticks(), across, nothing }
}

fn highest<'points>(points: impl Iterator<Item = &'points (f64, f64)>) -> f64 {
    points.map(|(_, value)| *value).fold(0.0, f64::max)
}

fn places(state: &ScreenState) -> Plot {
    let whole = state.subject.capacity as f64;
    let (first, end) = match state.places.extent() {
        Some((first, end)) if end - first < WHOLE_SHARE_MIN * whole => (first, end),
        _ => (0.0, whole),
    };
    let mut lanes = [Vec::new(), Vec::new()];
    for (lane, points) in lanes.iter_mut().enumerate() {
        for (offset, rate) in state.places.points(lane) {
            points.push(((offset - first) / (end - first).max(1.0), rate));
        }
    }
    let is_whole = first == 0.0 && end == whole;
    let across = if is_whole { offset_ticks(state) } else { end_ticks(state, first, end) };
    throughput("Sequential throughput by LBA", lanes, across, "no sequential reads or writes yet")
}

fn offset_ticks(state: &ScreenState) -> Vec<Tick> {
    let axis = Axis::of_positions(state.subject.capacity as f64, state.subject.is_file);
    with_unit(axis.ticks(TICKS_MAX), &axis.unit)
}

fn end_ticks(state: &ScreenState, first: f64, end: f64) -> Vec<Tick> {
    let label = |bytes: f64| match state.subject.is_file {
        true => size(Bytes::new(bytes as u64 & !0xF_FFFF)),
        false => capacity(Bytes::new(bytes as u64)),
    };
    vec![Tick { share: 0.0, label: label(first) }, Tick { share: 1.0, label: label(end) }]
}

fn with_unit(mut ticks: Vec<Tick>, unit: &str) -> Vec<Tick> {
    if let Some(last) = ticks.last_mut() {
        last.label = format!("{} {unit}", last.label);
    }
    ticks
}

fn time_axis(state: &ScreenState) -> Axis {
    let end = state.elapsed_s().max(state.times.end_s()).max(1.0);
    Axis::of_duration("Time", end)
}

fn times(state: &ScreenState) -> Plot {
    let across = time_axis(state);
    let mut lanes = [Vec::new(), Vec::new()];
    for (lane, points) in lanes.iter_mut().enumerate() {
        for (at, bin) in state.times.points(lane) {
            if let Some(rate) = bin.rate() {
                points.push((across.share(at), rate));
            }
        }
    }
    let ticks = with_unit(across.ticks(TICKS_MAX), &across.unit);
    throughput("Throughput over time", lanes, ticks, "no reads or writes yet")
}

/// The latencies that a clock of 64 bits can tell apart, ns: what a damaged record says beyond them has no place on an axis.
const CREDIBLE_NS: (f64, f64) = (1.0, u64::MAX as f64);

struct Decades {
    first: i32,
    end: i32,
}

impl Decades {
    fn around<'points>(points: impl Iterator<Item = &'points (f64, f64)>, usual_ns: f64) -> Decades {
        let (mut low_ns, mut high_ns) = (f64::INFINITY, 0.0_f64);
        for (_, time_ns) in points {
            (low_ns, high_ns) = (low_ns.min(*time_ns), high_ns.max(*time_ns));
        }
        let low_ns = if low_ns.is_finite() { low_ns } else { usual_ns };
        let first = power_of(low_ns).floor() as i32;
        Decades { first, end: (power_of(high_ns).ceil() as i32).max(first + 1) }
    }

    fn share(&self, time_ns: f64) -> f64 {
        (power_of(time_ns) - f64::from(self.first)) / f64::from(self.end - self.first)
    }

    fn ticks(&self) -> Vec<Tick> {
        let mut ticks = Vec::new();
        for power in self.first..=self.end {
            let share = f64::from(power - self.first) / f64::from(self.end - self.first);
            ticks.push(Tick { share, label: power_of_ten(power) });
        }
        ticks
    }

    fn curve(&self, name: &'static str, lane: usize, mut points: Vec<(f64, f64)>, is_line: bool) -> Curve {
        for (_, time_ns) in &mut points {
            *time_ns = self.share(*time_ns);
        }
        Curve { name, lane, points, is_line }
    }
}

fn power_of(time_ns: f64) -> f64 {
    time_ns.clamp(CREDIBLE_NS.0, CREDIBLE_NS.1).log10()
}

fn power_of_ten(power: i32) -> String {
    let (unit, of) = match power {
        ..3 => ("ns", 0),
        3..6 => ("µs", 3),
        6..9 => ("ms", 6),
        9.. => return rough_time(Nanos::new(10u64.saturating_pow(power.clamp(9, 19) as u32))),
    };
    format!("{} {unit}", 10u32.pow((power - of).max(0) as u32))
}

fn latency(state: &ScreenState) -> Plot {
    let across = time_axis(state);
    let (mut means, mut longest) = (Vec::new(), Vec::new());
    for (at, bin) in state.times.points(0).chain(state.times.points(1)) {
        if let Some((mean_ns, max_ns)) = bin.latency_ns() {
            means.push((across.share(at), mean_ns));
            longest.push((across.share(at), max_ns));
        }
    }
    let up = Decades::around(means.iter().chain(&longest), 1e6);
    Plot {
        title: "Latency over time".into(),
        curves: vec![up.curve("mean", 0, means, true), up.curve("max", 1, longest, true)],
        up: up.ticks(),
        across: with_unit(across.ticks(TICKS_MAX), &across.unit),
        nothing: "no request completed yet",
    }
}

fn access(state: &ScreenState) -> Plot {
    let points: Vec<(f64, f64)> = state.access.points().collect();
    let up = Decades::around(points.iter(), GRID_FLOOR_NS);
    Plot {
        title: "Access time by LBA".into(),
        curves: vec![up.curve("requests", 0, points, false)],
        up: up.ticks(),
        across: offset_ticks(state),
        nothing: "no single random requests recorded so far; --trace records all",
    }
}
