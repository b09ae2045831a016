//! Which charts a screen has, and how each is made of what is known so far.

use super::bins::{Bin, GRID_FLOOR_NS};
use super::plot::{Curve, Plot};
use super::state::ScreenState;
use model::units::{Bytes, Nanos};
use report::chart::{Axis, Tick};
use report::quantity::{capacity, rough_time, size};

/// More numbers crowd an axis.
const TICKS_MAX: usize = 7;
/// A part of a drive smaller than this is shown by itself.
const WHOLE_SHARE_MIN: f64 = 1.0 / 8.0;

/// The charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// Rate over position.
    Places,
    /// Rate over time.
    Times,
    /// Mean and longest latency over time.
    Latency,
    /// Access time over position.
    Access,
    /// The slowest request of each stretch.
    Map,
}

impl ChartKind {
    /// All of them, in the order of their keys.
    pub const ALL: [ChartKind; 5] =
        [ChartKind::Places, ChartKind::Times, ChartKind::Latency, ChartKind::Access, ChartKind::Map];

    /// The one that shows most of what is under way.
    pub fn fitting(state: &ScreenState) -> ChartKind {
        // What prepares or wakes the drive between two measurements is no reason to show something else for a moment.
        let is_random = state.measured.is_some_and(|phase| !phase.is_in_order);
        match () {
            () if state.map.is_some() => ChartKind::Map,
            () if is_random && state.access.count() > 0 => ChartKind::Access,
            () if is_random => ChartKind::Latency,
            () if state.places.extent().is_some() => ChartKind::Places,
            () => ChartKind::Times,
        }
    }
}

/// The chart of that kind; the map is none that is drawn so.
pub fn plot(kind: ChartKind, state: &ScreenState) -> Plot {
    match kind {
        ChartKind::Places | ChartKind::Map => places(state),
        ChartKind::Times => times(state),
        ChartKind::Latency => latency(state),
        ChartKind::Access => access(state),
    }
}

const OPERATIONS: [&str; 2] = ["reads", "writes"];

fn places(state: &ScreenState) -> Plot {
    let whole = state.subject.capacity as f64;
    let (first, end) = state
        .places
        .extent()
        .filter(|(first, end)| end - first < WHOLE_SHARE_MIN * whole)
        .unwrap_or((0.0, whole));
    let points = [0, 1].map(|lane| state.places.points(lane).collect::<Vec<_>>());
    let rate_max = points.iter().flatten().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let up = Axis::of_rates("Rate", rate_max);
    let curves = (0..2).map(|lane| Curve {
        name: OPERATIONS[lane],
        lane,
        points: points[lane]
            .iter()
            .map(|(place, rate)| ((place - first) / (end - first).max(1.0), up.share(*rate)))
            .collect(),
        is_line: true,
    });
    let is_whole = first == 0.0 && end == whole;
    let across = if is_whole { position_ticks(state) } else { end_ticks(state, first, end) };
    Plot {
        title: format!("Rate by position, {}", up.unit),
        curves: curves.collect(),
        up: up.even_ticks(),
        across,
        nothing: "nothing has been read or written in order yet",
    }
}

fn position_ticks(state: &ScreenState) -> Vec<Tick> {
    let axis = Axis::of_positions(state.subject.capacity as f64, state.subject.is_file);
    with_unit(axis.ticks(TICKS_MAX), &axis.unit)
}

/// Where a part begins and ends.
fn end_ticks(state: &ScreenState, first: f64, end: f64) -> Vec<Tick> {
    let shown = |bytes: f64| match state.subject.is_file {
        true => size(Bytes(bytes as u64 & !0xF_FFFF)),
        false => capacity(Bytes(bytes as u64)),
    };
    vec![Tick { share: 0.0, label: shown(first) }, Tick { share: 1.0, label: shown(end) }]
}

fn with_unit(mut ticks: Vec<Tick>, unit: &str) -> Vec<Tick> {
    if let Some(last) = ticks.last_mut() {
        last.label = format!("{} {unit}", last.label);
    }
    ticks
}

/// Time from the beginning of the run until now, in the unit that suits it.
fn time_axis(state: &ScreenState) -> Axis {
    let lanes = [0, 1].map(|lane| state.times.points(lane).last().map_or(0.0, |(at, _)| at));
    let end = lanes.into_iter().fold(state.elapsed_s(), f64::max).max(1.0);
    Axis::of_duration("Time", end)
}

fn times(state: &ScreenState) -> Plot {
    let across = time_axis(state);
    let rated = |(at, bin): (f64, &Bin)| Some((at, bin.rate()?));
    let points = [0, 1].map(|lane| state.times.points(lane).filter_map(rated).collect::<Vec<_>>());
    let rate_max = points.iter().flatten().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let up = Axis::of_rates("Rate", rate_max);
    let curves = (0..2).map(|lane| Curve {
        name: OPERATIONS[lane],
        lane,
        points: points[lane].iter().map(|(at, rate)| (across.share(*at), up.share(*rate))).collect(),
        is_line: true,
    });
    Plot {
        title: format!("Rate over time, {}", up.unit),
        curves: curves.collect(),
        up: up.even_ticks(),
        across: with_unit(across.ticks(TICKS_MAX), &across.unit),
        nothing: "nothing has been read or written yet",
    }
}

/// Powers of ten of time, from one to another.
struct Decades {
    first: i32,
    end: i32,
}

impl Decades {
    fn around(low_ns: f64, high_ns: f64) -> Decades {
        let first = low_ns.max(1.0).log10().floor() as i32;
        Decades { first, end: (high_ns.max(1.0).log10().ceil() as i32).max(first + 1) }
    }

    fn share(&self, time_ns: f64) -> f64 {
        (time_ns.max(1.0).log10() - f64::from(self.first)) / f64::from(self.end - self.first)
    }

    fn ticks(&self) -> Vec<Tick> {
        let tick = |power: i32| Tick {
            share: f64::from(power - self.first) / f64::from(self.end - self.first),
            label: power_of_ten(power),
        };
        (self.first..=self.end).map(tick).collect()
    }
}

/// "100 µs" for 5: whole numbers, where a time for an impression has three digits.
fn power_of_ten(power: i32) -> String {
    let (unit, of) = match power {
        ..3 => ("ns", 0),
        3..6 => ("µs", 3),
        6..9 => ("ms", 6),
        9.. => return rough_time(Nanos(10u64.saturating_pow(power.clamp(9, 19) as u32))),
    };
    format!("{} {unit}", 10u32.pow((power - of).max(0) as u32))
}

fn latency(state: &ScreenState) -> Plot {
    let across = time_axis(state);
    let bins = [0, 1].map(|lane| {
        state.times.points(lane).filter_map(|(at, bin)| Some((at, bin.latency_ns()?))).collect::<Vec<_>>()
    });
    let all = || bins.iter().flatten();
    let low = all().map(|(_, (mean, _))| *mean).fold(f64::INFINITY, f64::min);
    let high = all().map(|(_, (_, worst))| *worst).fold(0.0, f64::max);
    let up = Decades::around(if low.is_finite() { low } else { 1e6 }, high);
    let curve = |name, lane, value: fn(&(f64, f64)) -> f64| Curve {
        name,
        lane,
        points: all().map(|(at, both)| (across.share(*at), up.share(value(both)))).collect(),
        is_line: true,
    };
    Plot {
        title: "Latency over time".into(),
        curves: vec![curve("mean", 0, |both| both.0), curve("longest", 1, |both| both.1)],
        up: up.ticks(),
        across: with_unit(across.ticks(TICKS_MAX), &across.unit),
        nothing: "nothing has been answered yet",
    }
}

fn access(state: &ScreenState) -> Plot {
    let times = || state.access.points().map(|(_, time)| time);
    let low = times().fold(f64::INFINITY, f64::min);
    let high = times().fold(0.0, f64::max);
    let up = Decades::around(if low.is_finite() { low } else { GRID_FLOOR_NS }, high);
    let points = state.access.points().map(|(place, time)| (place, up.share(time)));
    Plot {
        title: "Access time by position".into(),
        curves: vec![Curve { name: "requests", lane: 0, points: points.collect(), is_line: false }],
        up: up.ticks(),
        across: position_ticks(state),
        nothing: "no single random requests are kept by this run so far; --trace keeps all",
    }
}
