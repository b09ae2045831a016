//! The charts of writes that go on: their rate over time, and over what had been written.

use super::rate_over_position::{STATED, with_levels};
use crate::chart::companions::{self, Moments, Samples};
use crate::chart::course::{Columns, Interval, Intervals};
use crate::chart::naming::{Names, highest_of};
use crate::chart::phase::{seconds, start_s};
use crate::chart::{Across, Axis, Chart, ChartedRun, Layer, Mark, Place, Series, Stretch};
use model::experiment_name::ExperimentName;
use model::finding::{FindingCode, IdleRecovery, WriteCliff, WriteSteadyState, known};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::Run;
use model::units::Bytes;
use model::workload::Arrival;
use std::collections::BTreeMap;

const KINDS_MAX: usize = 3;
/// The share of the time of all writes that these have at least; otherwise the run is no course of writes.
const COVERED_SHARE_MIN: f64 = 0.7;
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

pub fn write_rate_over_time(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    let mut longest_s: f64 = 0.0;
    let mut samples = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let streams = streams(charted.run);
        let Some(course) = Course::of(charted.run, &streams) else { continue };
        longest_s = longest_s.max(course.seconds);
        // Pauses of several runs lie on each other; the gaps in their lines are seen.
        if runs.len() == 1 {
            marks.extend(course.pauses(charted.run));
        }
        if let Some(at) = course.cliff(charted, &streams) {
            let cliff = Mark::of(FindingCode::WriteCliff, CLIFF, Place::At(at));
            marks.push(names.marked(index, series.len(), cliff));
        }
        for stream in &streams {
            let layers = course.lines(charted, stream, Over::Time);
            series.push(Series::new(names.series(index, &stream.kind.name()), layers).of_run(index));
        }
        let whole = ((course.start_s, course.start_s + course.seconds), (0.0, course.seconds));
        samples.push((index, charted, Samples::new(vec![whole])));
    }
    let x = Axis::of_duration("Time", longest_s);
    let y = rate_axis(&series, &marks);
    let strips = companions::along(&x, samples);
    let chart = names.chart("write-rate-over-time", "Write throughput over time", (x, y), series)?;
    Some(Chart { across: Across::WriteTime, marks, findings: FINDINGS.to_vec(), strips, ..chart })
}

pub fn write_rate_over_bytes(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    let mut most_bytes: f64 = 0.0;
    let mut samples = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let mut streams = streams(charted.run);
        streams.truncate(1);
        let (Some(course), Some(stream)) = (Course::of(charted.run, &streams), streams.first()) else {
            continue;
        };
        most_bytes = most_bytes.max(course.bytes);
        let layers = with_levels(course.lines(charted, stream, Over::Written), levels(charted.run));
        for limit in limits(charted.run) {
            marks.push(names.marked(index, series.len(), limit));
        }
        samples.push((index, charted, written(charted, stream)));
        series.push(Series::new(names.series(index, &stream.kind.name()), layers).of_run(index));
    }
    let x = Axis::of_amounts("Written", most_bytes);
    let y = rate_axis(&series, &marks);
    let strips = companions::along(&x, samples);
    let chart = names.chart("write-rate-over-bytes", "Write throughput by bytes written", (x, y), series)?;
    Some(Chart { marks, findings: FINDINGS.to_vec(), strips, ..chart })
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    is_random: bool,
    block: Bytes,
    is_slowed: bool,
}

struct Stream {
    kind: Kind,
    phases: Vec<u32>,
    seconds: f64,
}

impl Kind {
    fn name(self) -> String {
        let order = if self.is_random { "random" } else { "sequential" };
        let slowed = if self.is_slowed { ", slowed" } else { "" };
        format!("{} {order}{slowed}", self.block)
    }
}

/// The kinds of writes that a run consists of, the main one first; none when it writes too many different things or in short samples.
fn streams(run: &Run) -> Vec<Stream> {
    let mut by_kind: BTreeMap<Kind, Stream> = BTreeMap::new();
    let mut all_s = 0.0;
    for (phase, summary) in (0u32..).zip(&run.phases) {
        // Figures of another program stand beside each other: writing, then rewriting, is no rate that falls.
        let is_stated = summary.phase.experiment == STATED;
        let is_counted =
            !is_stated && matches!(summary.phase.kind, PhaseKind::Measure | PhaseKind::Precondition);
        let Some(workload) = &summary.phase.workload else { continue };
        if !is_counted || summary.bytes_of(Operation::Write) == 0 {
            continue;
        }
        all_s += seconds(summary);
        let Some(is_random) = workload.pattern.is_random() else { continue };
        let Some(block) = workload.block_sizes.single() else { continue };
        let kind = Kind { is_random, block, is_slowed: workload.arrival != Arrival::ClosedLoop };
        let stream = by_kind.entry(kind).or_insert(Stream { kind, phases: Vec::new(), seconds: 0.0 });
        stream.phases.push(phase);
        stream.seconds += seconds(summary);
    }
    let mut streams: Vec<Stream> = by_kind.into_values().collect();
    // Batches of a fast drive are short, but follow each other, unless idle times lie between.
    let are_batches = run.experiments().contains(&&ExperimentName::Sustain)
        && known::<IdleRecovery>(&run.findings).is_none();
    streams.retain(|stream| {
        let is_main = are_batches && stream.seconds >= COVERED_SHARE_MIN * all_s;
        is_main || stream.seconds / stream.phases.len() as f64 >= VISIT_S_MIN
    });
    // What a test slows down on purpose takes long and shows little of how fast the drive writes.
    streams.sort_by(|a, b| a.kind.is_slowed.cmp(&b.kind.is_slowed).then(b.seconds.total_cmp(&a.seconds)));
    streams.truncate(KINDS_MAX);
    let covered_s: f64 = streams.iter().map(|stream| stream.seconds).sum();
    if covered_s < COVERED_SHARE_MIN * all_s { Vec::new() } else { streams }
}

struct Course {
    start_s: f64,
    seconds: f64,
    bytes: f64,
    phases: (u32, u32),
}

#[derive(Clone, Copy)]
enum Over {
    Time,
    Written,
}

impl Course {
    fn of(run: &Run, streams: &[Stream]) -> Option<Course> {
        let (mut first, mut last, mut bytes) = (u32::MAX, 0, 0u64);
        for &phase in streams.iter().flat_map(|stream| &stream.phases) {
            (first, last) = (first.min(phase), last.max(phase));
            bytes += run.phases[phase as usize].bytes_of(Operation::Write);
        }
        let start_s = start_s(run.phases.get(first as usize)?);
        let end = run.phases.get(last as usize)?;
        let end_s = end.start_ns as f64 / 1e9 + seconds(end) + end.flush_ns() as f64 / 1e9;
        Some(Course { start_s, seconds: end_s - start_s, bytes: bytes as f64, phases: (first, last) })
    }

    fn place(&self, over: Over, at_s: f64, written: f64) -> f64 {
        match over {
            Over::Time => at_s - self.start_s,
            Over::Written => written,
        }
    }

    fn lines(&self, charted: &ChartedRun<'_>, stream: &Stream, over: Over) -> Vec<Layer> {
        let mut columns = Columns::until(self.place(over, self.start_s + self.seconds, self.bytes));
        let (mut reached_s, mut written) = (f64::INFINITY, 0.0);
        for interval in intervals(charted, stream) {
            let at = self.place(over, interval.start_s, written);
            if interval.start_s - reached_s > GAP_SHARE_MIN * self.seconds {
                columns.interrupt(at);
            }
            reached_s = interval.start_s + interval.seconds;
            written += interval.bytes;
            columns.add_stretch(at, self.place(over, reached_s, written), interval.rate());
        }
        columns.lines()
    }

    fn pauses(&self, run: &Run) -> Vec<Mark> {
        let mut pauses = Vec::new();
        for summary in &run.phases[self.phases.0 as usize..=self.phases.1 as usize] {
            if summary.phase.kind == PhaseKind::Idle {
                let first = start_s(summary) - self.start_s;
                pauses.push(Mark::new("pause", Place::Pause { first, end: first + seconds(summary) }));
            }
        }
        pauses
    }

    fn cliff(&self, charted: &ChartedRun<'_>, streams: &[Stream]) -> Option<f64> {
        // Where the writer saw it fall: what a disk took into its memory by then counts as fast, too, and comes later. Until then it was
        // written at the rate before, however slow the rest of the interval in which it fell.
        let levels = levels(charted.run);
        let (fell_at, before) = (levels.get(1)?.0.first, levels[0].0.value);
        let mut written = 0.0;
        for interval in intervals(charted, streams.first()?) {
            let missing = fell_at - written;
            if missing <= interval.bytes {
                return Some(
                    interval.start_s - self.start_s + (missing / before).clamp(0.0, interval.seconds),
                );
            }
            written += interval.bytes;
        }
        None
    }
}

fn intervals(charted: &ChartedRun<'_>, stream: &Stream) -> impl Iterator<Item = Interval> {
    stream.phases.iter().flat_map(|&phase| {
        Intervals::of(charted.series, phase, &charted.run.phases[phase as usize], Operation::Write)
    })
}

fn written(charted: &ChartedRun<'_>, stream: &Stream) -> Samples {
    let mut samples: Vec<(Moments, (f64, f64))> = Vec::new();
    let mut written = 0.0;
    for interval in intervals(charted, stream) {
        let (end_s, end) = (interval.start_s + interval.seconds, written + interval.bytes);
        match samples.last_mut() {
            // What the host tells comes once a second.
            Some((moments, extent)) if end_s - moments.0 <= 1.0 => (moments.1, extent.1) = (end_s, end),
            _ => samples.push(((interval.start_s, end_s), (written, end))),
        }
        written = end;
    }
    Samples::new(samples)
}

const CLIFF: &str = "write cliff";

fn levels(run: &Run) -> Vec<(Stretch, f64, f64)> {
    let mut levels = Vec::new();
    let Some(cliff) = known::<WriteCliff>(&run.findings) else { return levels };
    let cliff = &cliff.conclusion;
    for (index, level) in cliff.levels.iter().enumerate() {
        let first = level.from_bytes.max(0.0);
        let end = match cliff.levels.get(index + 1) {
            Some(next) => next.from_bytes,
            None => cliff.looked_until_bytes,
        };
        levels.push((Stretch { first, end, value: level.bytes_per_second }, level.low, level.high));
    }
    levels
}

fn limits(run: &Run) -> Vec<Mark> {
    let mut limits = Vec::new();
    if let Some(cliff) = known::<WriteCliff>(&run.findings) {
        limits.push(Mark::of(FindingCode::WriteCliff, CLIFF, Place::At(cliff.conclusion.bytes.value)));
    }
    if let Some(steady) = known::<WriteSteadyState>(&run.findings) {
        let place = Place::Value(steady.conclusion.rate.value);
        limits.push(Mark::of(FindingCode::WriteSteadyState, "steady state", place));
    }
    limits
}

fn rate_axis(series: &[Series], marks: &[Mark]) -> Axis {
    let rates = series.iter().flat_map(Series::points).map(|point| point.value);
    Axis::of_rates("Throughput", highest_of(rates.chain(marks.iter().filter_map(Mark::value))))
}
