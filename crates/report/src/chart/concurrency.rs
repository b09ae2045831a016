//! The charts of throughput and latency against requests at a time, from what the detectors found.

use super::companions::{self, Visits};
use super::data::{Record, finding, interval, number, records, records_within};
use super::naming::{Names, Sketch, lines_described, range_of, top_of};
use super::{Axis, Chart, ChartedRun, Layer, Mark, Numbers, Place, Point, Series};
use model::finding::FindingCode;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::workload::Workload;

/// How a point comes from a record.
type PointOf = fn(Record<'_>, &str) -> Option<Point>;

/// One line is no curve with fewer points.
const POINTS_MIN: usize = 2;

/// Requests a second against requests at a time, with the knee.
pub fn iops_over_depth(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    for (index, charted) in runs.iter().enumerate() {
        let curves = curves(charted.run);
        if let Some(first) = curves.first() {
            marks.extend(knee(charted.run, first, series.len()));
        }
        for curve in curves {
            let points = curve.points.iter().filter_map(|point| iops(point, curve.axis)).collect();
            let name = names.series(index, curve.name);
            series.push(Series::new(name, vec![Layer::Line(points)]).of_run(index));
        }
    }
    let (low, high) = range_of(series.iter().flat_map(Series::points).map(|point| point.at))?;
    let y = Axis::of_counts("Requests a second", top_of(&series));
    let x = Axis::of_doublings("Requests at a time", (low, high), Numbers::Counts);
    let strips = companions::scattered(&x, visits(runs, &series).into_iter());
    let chart = names.chart(Sketch {
        name: "iops-over-depth",
        title: "Random requests by how many at a time".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks,
        findings: vec![FindingCode::ConcurrencyGain, FindingCode::ConcurrencyKnee],
    })?;
    Some(chart.with_strips(strips))
}

/// Latency against requests at a time: the mean, and what 99 of 100 stay below.
pub fn latency_over_depth(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let mut series = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        for curve in curves(charted.run) {
            let lines: [(&str, PointOf); 2] = [("mean", mean_latency), ("99 of 100 stay below", p99_latency)];
            for (what, point_of) in lines {
                let points: Vec<Point> =
                    curve.points.iter().filter_map(|point| point_of(point, curve.axis)).collect();
                if points.len() >= POINTS_MIN {
                    let name = names.series(index, &format!("{}, {what}", curve.name));
                    series.push(Series::new(name, vec![Layer::Line(points)]).of_run(index));
                }
            }
        }
    }
    let points = || series.iter().flat_map(Series::points);
    let (low, high) = range_of(points().map(|point| point.at))?;
    let x = Axis::of_doublings("Requests at a time", (low, high), Numbers::Counts);
    let y = Axis::of_decades("Latency", range_of(points().map(|point| point.value))?, Numbers::Times);
    let strips = companions::scattered(&x, visits(runs, &series).into_iter());
    let chart = names.chart(Sketch {
        name: "latency-over-depth",
        title: "Latency by requests at a time".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks: Vec::new(),
        findings: vec![FindingCode::ConcurrencyKnee, FindingCode::AccessTime],
    })?;
    Some(chart.with_strips(strips))
}

/// When each of the numbers at a time was measured that are drawn of a run.
fn visits<'run>(
    runs: &'run [ChartedRun<'run>],
    series: &[Series],
) -> Vec<(usize, &'run ChartedRun<'run>, Visits)> {
    let of_run = |(index, charted): (usize, &'run ChartedRun<'run>)| {
        let drawn = series.iter().filter(|series| series.run == index);
        let depths: Vec<f64> = drawn.flat_map(Series::points).map(|point| point.at).collect();
        let random = || charted.run.phases.iter().filter_map(random_requests);
        let widest = random().map(|workload| workload.range.bytes()).max();
        let place = |_, summary: &PhaseSummary| {
            let workload = random_requests(summary).filter(|one| Some(one.range.bytes()) == widest)?;
            let depth = workload.in_flight_max() as f64;
            depths.contains(&depth).then_some((depth, depth))
        };
        (index, charted, Visits::of(charted.run, place))
    };
    runs.iter().enumerate().map(of_run).collect()
}

/// What a phase asked for, where it measured requests at random.
fn random_requests(summary: &PhaseSummary) -> Option<&Workload> {
    let workload = summary.phase.workload.as_ref().filter(|_| summary.phase.kind == PhaseKind::Measure)?;
    (workload.pattern.is_random() == Some(true)).then_some(workload)
}

/// Points of one operation, one way of asking for more.
struct Curve<'run> {
    name: &'static str,
    axis: &'static str,
    points: Vec<Record<'run>>,
}

fn curves<'run>(run: &'run Run) -> Vec<Curve<'run>> {
    let Some(gain) = finding(run, FindingCode::ConcurrencyGain) else { return Vec::new() };
    let first = if has_random_reads(run) { "read" } else { "write" };
    let all = [
        (first, records(gain, "points")),
        ("read, by threads", records(gain, "points_by_threads")),
        ("write", records_within(gain, "write", "points")),
    ];
    let curve = |(name, points): (&'static str, Vec<Record<'run>>)| {
        let axis = ["depth", "threads"]
            .into_iter()
            .find(|axis| points.first().is_some_and(|point| number(point, axis).is_some()))?;
        (points.len() >= POINTS_MIN).then_some(Curve { name, axis, points })
    };
    all.into_iter().filter_map(curve).collect()
}

fn has_random_reads(run: &Run) -> bool {
    run.phases.iter().any(|summary| {
        let order = summary.phase.workload.as_ref().and_then(|workload| workload.pattern.is_random());
        order == Some(true) && summary.totals_of(Operation::Read).is_some()
    })
}

fn iops(point: Record<'_>, axis: &str) -> Option<Point> {
    Some(Point { at: number(point, axis)?, value: number(point, "iops")?, interval: interval(point) })
}

/// By Little's law: requests under way over requests a second.
fn mean_latency(point: Record<'_>, axis: &str) -> Option<Point> {
    let (at, iops) = (number(point, axis)?, number(point, "iops")?);
    let interval = interval(point).filter(|(low, _)| *low > 0.0).map(|(low, high)| (at / high, at / low));
    (iops > 0.0).then(|| Point { at, value: at / iops, interval })
}

/// Of a visit that was over before its slowest requests came back there is none: then 99 of 100 seem quicker than the mean.
fn p99_latency(point: Record<'_>, axis: &str) -> Option<Point> {
    let mean = mean_latency(point, axis)?;
    let value = number(point, "p99_s").filter(|p99_s| *p99_s > mean.value)?;
    Some(Point { at: mean.at, value, interval: None })
}

/// The knee, on the curve that it is of.
fn knee(run: &Run, curve: &Curve<'_>, series: usize) -> Option<Mark> {
    let at = finding(run, FindingCode::ConcurrencyKnee)?.estimate()?.value;
    let points = || curve.points.iter().filter_map(|point| iops(point, curve.axis));
    let point = points().find(|point| point.at == at)?;
    Some(Mark {
        name: "knee: beyond it more cost more than they bring".into(),
        series: Some(series),
        place: Place::Point { at, value: point.value },
        finding: Some(FindingCode::ConcurrencyKnee),
    })
}
