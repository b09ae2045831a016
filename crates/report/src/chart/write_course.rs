//! The charts of writes that go on: their rate over time, and over what had been written.

use super::companions::{self, Moments, Visits};
use super::course::{Columns, each_piece};
use super::data::{Record, detail, finding, number, records_of};
use super::naming::{Names, Sketch, lines_described};
use super::rate_over_position::STATED;
use super::{Axis, Band, Chart, ChartedRun, Layer, Mark, Place, Series, Stretch};
use model::finding::{Finding, FindingCode};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::Bytes;
use model::workload::Arrival;
use std::collections::BTreeMap;

/// Kinds of writes that one chart can hold.
const KINDS_MAX: usize = 3;
/// The share of the time of all writes that these have at least; otherwise the run is no course of writes.
const COVERED_SHARE_MIN: f64 = 0.7;
/// A visit of less time has no course.
const VISIT_S_MIN: f64 = 1.0;
/// Without a pause nothing lies between two phases but setting up the next.
const GAP_SHARE_MIN: f64 = 0.003;
const FINDINGS: [FindingCode; 5] = [
    FindingCode::WriteCliff,
    FindingCode::WriteSteadyState,
    FindingCode::IdleRecovery,
    FindingCode::ClippingEffect,
    FindingCode::WriteValleys,
];

/// The rate of writes over time, with pauses and where it fell.
pub fn write_rate_over_time(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    let mut longest_s: f64 = 0.0;
    let mut courses = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let streams = streams(charted.run);
        let Some(course) = Course::of(charted.run, &streams) else { continue };
        longest_s = longest_s.max(course.seconds);
        // Pauses of several runs lie on each other; the gaps in their lines are seen.
        marks.extend(course.pauses(charted.run).into_iter().filter(|_| runs.len() == 1));
        marks.extend(course.cliff(charted, &streams).map(|at| Mark {
            name: names.mark(index, CLIFF),
            series: (runs.len() > 1).then_some(series.len()),
            place: Place::At(at),
            finding: Some(FindingCode::WriteCliff),
        }));
        for stream in &streams {
            let layers = course.lines(charted, stream, |start_s, _| start_s - course.start_s);
            series.push(Series::new(names.series(index, &stream.kind.name()), layers).of_run(index));
        }
        courses.push((index, course));
    }
    let x = Axis::of_duration("Time", longest_s);
    let y = rate_axis(&series, &marks);
    let whole = |course: &Course| {
        Visits::new(vec![((course.start_s, course.start_s + course.seconds), (0.0, course.seconds))])
    };
    let strips =
        companions::along(&x, courses.iter().map(|(index, course)| (*index, &runs[*index], whole(course))));
    let chart = names.chart(Sketch {
        name: "write-rate-over-time",
        title: "Write rate over time".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks,
        findings: FINDINGS.to_vec(),
    })?;
    Some(chart.with_strips(strips))
}

/// The rate of writes over what had been written, with its levels and where it fell.
pub fn write_rate_over_bytes(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    let mut most_bytes: f64 = 0.0;
    let mut visits = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let mut streams = streams(charted.run);
        streams.truncate(1);
        let (Some(course), Some(stream)) = (Course::of(charted.run, &streams), streams.first()) else {
            continue;
        };
        most_bytes = most_bytes.max(course.bytes);
        let mut layers = course.lines(charted, stream, |_, written| written);
        let (bands, levels) = levels(charted.run);
        layers.extend((!levels.is_empty()).then_some(Layer::Levels(levels)));
        if !bands.is_empty() {
            layers.insert(0, Layer::Bands(bands));
        }
        let limits = limits(charted.run).into_iter().map(|limit| Mark {
            name: names.mark(index, &limit.name),
            series: (runs.len() > 1).then_some(series.len()),
            ..limit
        });
        marks.extend(limits);
        visits.push((index, charted, course.written(charted, stream)));
        series.push(Series::new(names.series(index, &stream.kind.name()), layers).of_run(index));
    }
    let x = Axis::of_amounts("Written", most_bytes);
    let y = rate_axis(&series, &marks);
    let strips = companions::along(&x, visits.into_iter());
    let chart = names.chart(Sketch {
        name: "write-rate-over-bytes",
        title: "Write rate by what had been written".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks,
        findings: FINDINGS.to_vec(),
    })?;
    Some(chart.with_strips(strips))
}

/// Writes that are alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    is_random: bool,
    block: Bytes,
    is_slowed: bool,
}

/// The phases of one kind of writes.
struct Stream {
    kind: Kind,
    phases: Vec<u32>,
    seconds: f64,
}

impl Kind {
    fn name(self) -> String {
        let order = if self.is_random { "at random" } else { "in order" };
        let slowed = if self.is_slowed { ", slowed" } else { "" };
        format!("{} {order}{slowed}", self.block)
    }
}

fn seconds(summary: &PhaseSummary) -> f64 {
    summary.duration_ns as f64 / 1e9
}

/// The kinds of writes that a run consists of, the longest first; none when it writes too many different things or in short visits.
fn streams(run: &Run) -> Vec<Stream> {
    let mut by_kind: BTreeMap<Kind, Stream> = BTreeMap::new();
    let mut all_s = 0.0;
    for (phase, summary) in (0u32..).zip(&run.phases) {
        // Figures of another program stand beside each other: writing, then rewriting, is no rate that falls.
        let is_stated = summary.phase.experiment == STATED;
        let is_counted =
            !is_stated && matches!(summary.phase.kind, PhaseKind::Measure | PhaseKind::Precondition);
        let written = summary.totals_of(Operation::Write).filter(|totals| is_counted && totals.bytes > 0);
        let (Some(_), Some(workload)) = (written, summary.phase.workload.as_ref()) else { continue };
        all_s += seconds(summary);
        let Some(is_random) = workload.pattern.is_random() else { continue };
        let Some(block) = workload.block_sizes.single() else { continue };
        let kind = Kind { is_random, block, is_slowed: workload.arrival != Arrival::ClosedLoop };
        let stream = by_kind.entry(kind).or_insert(Stream { kind, phases: Vec::new(), seconds: 0.0 });
        stream.phases.push(phase);
        stream.seconds += seconds(summary);
    }
    let mut streams: Vec<Stream> = by_kind.into_values().collect();
    streams.retain(|stream| stream.seconds / stream.phases.len() as f64 >= VISIT_S_MIN);
    streams.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    streams.truncate(KINDS_MAX);
    let covered_s: f64 = streams.iter().map(|stream| stream.seconds).sum();
    if covered_s < COVERED_SHARE_MIN * all_s { Vec::new() } else { streams }
}

/// From when to when the writes went on.
struct Course {
    start_s: f64,
    seconds: f64,
    bytes: f64,
    phases: (u32, u32),
}

impl Course {
    fn of(run: &Run, streams: &[Stream]) -> Option<Course> {
        let phases = || streams.iter().flat_map(|stream| &stream.phases).copied();
        let (first, last) = (phases().min()?, phases().max()?);
        let at = |phase: u32| run.phases.get(phase as usize);
        let start_s = at(first)?.start_ns as f64 / 1e9;
        let end_s = at(last)?.start_ns as f64 / 1e9 + seconds(at(last)?) + at(last)?.flush_ns() as f64 / 1e9;
        let written = |phase| {
            at(phase).and_then(|summary| summary.totals_of(Operation::Write)).map(|totals| totals.bytes)
        };
        let bytes = phases().filter_map(written).sum::<u64>() as f64;
        Some(Course { start_s, seconds: end_s - start_s, bytes, phases: (first, last) })
    }

    /// When how much of a stream had been written.
    fn written(&self, charted: &ChartedRun<'_>, stream: &Stream) -> Visits {
        let mut visits: Vec<(Moments, (f64, f64))> = Vec::new();
        self.each(charted, stream, |piece, written| {
            let (end_s, end) = (piece.start_s + piece.seconds, written + piece.bytes);
            match visits.last_mut() {
                // What the host tells comes once a second.
                Some((moments, extent)) if end_s - moments.0 <= 1.0 => (moments.1, extent.1) = (end_s, end),
                _ => visits.push(((piece.start_s, end_s), (written, end))),
            }
        });
        Visits::new(visits)
    }

    /// The rate of a stream, at places that follow from when a piece began and what had been written by then.
    fn lines(
        &self,
        charted: &ChartedRun<'_>,
        stream: &Stream,
        place: impl Fn(f64, f64) -> f64,
    ) -> Vec<Layer> {
        let mut columns = Columns::until(place(self.start_s + self.seconds, self.bytes));
        let mut reached_s = None;
        self.each(charted, stream, |piece, written| {
            let at = place(piece.start_s, written);
            let is_late =
                reached_s.is_some_and(|reached_s| piece.start_s - reached_s > GAP_SHARE_MIN * self.seconds);
            if is_late {
                columns.interrupt(at);
            }
            let end = place(piece.start_s + piece.seconds, written + piece.bytes);
            columns.add_stretch(at, end, piece.rate());
            reached_s = Some(piece.start_s + piece.seconds);
        });
        columns.lines()
    }

    fn each(
        &self,
        charted: &ChartedRun<'_>,
        stream: &Stream,
        mut take: impl FnMut(super::course::Piece, f64),
    ) {
        let mut written = 0.0;
        for &phase in &stream.phases {
            let Some(summary) = charted.run.phases.get(phase as usize) else { continue };
            each_piece(charted.series, phase, summary, Operation::Write, |piece| {
                take(piece, written);
                written += piece.bytes;
            });
        }
    }

    /// When the drive was left alone.
    fn pauses(&self, run: &Run) -> Vec<Mark> {
        let between = run.phases.get(self.phases.0 as usize..=self.phases.1 as usize).unwrap_or_default();
        let idle = between.iter().filter(|summary| summary.phase.kind == PhaseKind::Idle);
        let mark = |summary: &PhaseSummary| {
            let first = summary.start_ns as f64 / 1e9 - self.start_s;
            Mark {
                name: "pause".into(),
                series: None,
                place: Place::Pause { first, end: first + seconds(summary) },
                finding: None,
            }
        };
        idle.map(mark).collect()
    }

    /// When so much had been written that the rate fell.
    fn cliff(&self, charted: &ChartedRun<'_>, streams: &[Stream]) -> Option<f64> {
        // Where the writer saw it fall: what a disk took into its memory by then counts as fast, too, and comes later. Until then it was
        // written at the rate before, however slow the rest of the piece in which it fell.
        let (_, levels) = levels(charted.run);
        let (fell_at, before) = (levels.get(1)?.first, levels[0].value);
        let mut reached = None;
        self.each(charted, streams.first()?, |piece, written| {
            let missing = fell_at - written;
            if missing <= piece.bytes && reached.is_none() {
                reached = Some(piece.start_s - self.start_s + (missing / before).clamp(0.0, piece.seconds));
            }
        });
        reached
    }
}

const CLIFF: &str = "the rate falls";

/// The levels between which the rate fell, and their intervals.
fn levels(run: &Run) -> (Vec<Band>, Vec<Stretch>) {
    let records = records_of(run, FindingCode::WriteCliff, "levels");
    let last = detail(run, FindingCode::WriteCliff, "looked_until_bytes").unwrap_or(0.0);
    let from = |record: Record<'_>| number(record, "from_bytes").map(|from| from.max(0.0));
    let ends = records.iter().skip(1).filter_map(|record| from(record)).chain([last]);
    let (mut bands, mut levels) = (Vec::new(), Vec::new());
    for (record, end) in records.iter().zip(ends) {
        let (Some(first), Some(value)) = (from(record), number(record, "bytes_per_second")) else { continue };
        levels.push(Stretch { first, end, value });
        if let (Some(low), Some(high)) = (number(record, "low"), number(record, "high")) {
            bands.push(Band { first, end, low, high });
        }
    }
    (bands, levels)
}

/// Where the rate fell, and to what it settled.
fn limits(run: &Run) -> Vec<Mark> {
    let of = |code| finding(run, code).and_then(Finding::estimate);
    let cliff = of(FindingCode::WriteCliff).map(|cliff| Mark {
        name: CLIFF.into(),
        series: None,
        place: Place::At(cliff.value),
        finding: Some(FindingCode::WriteCliff),
    });
    let steady = of(FindingCode::WriteSteadyState).map(|steady| Mark {
        name: "rate that lasts".into(),
        series: None,
        place: Place::Value(steady.value),
        finding: Some(FindingCode::WriteSteadyState),
    });
    cliff.into_iter().chain(steady).collect()
}

fn rate_axis(series: &[Series], marks: &[Mark]) -> Axis {
    let limits = marks.iter().filter_map(|mark| match mark.place {
        Place::Value(value) => Some(value),
        _ => None,
    });
    let rates = series.iter().flat_map(Series::points).map(|point| point.value);
    Axis::of_rates("Rate", rates.chain(limits).fold(0.0, f64::max))
}
