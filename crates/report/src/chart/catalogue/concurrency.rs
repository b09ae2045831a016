//! The charts of throughput and latency against requests at a time, from what the detectors found.

use crate::chart::companions::{self, Samples};
use crate::chart::naming::{Names, places_of, top_of, values_of};
use crate::chart::phase::measured;
use crate::chart::{Axis, Chart, ChartedRun, Mark, Numbers, Place, Point, Series};
use model::finding::{ConcurrencyGain, ConcurrencyPoint, FindingCode, known, of_code};

use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::workload::Workload;

type PointOf = fn(&ConcurrencyPoint) -> Option<Point>;

const POINTS_MIN: usize = 2;

pub fn iops_over_depth(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    for (index, charted) in runs.iter().enumerate() {
        let curves = curves(charted.run);
        if let Some(first) = curves.first() {
            marks.extend(knee(charted.run, first, series.len()));
        }
        for curve in curves {
            let points = curve.points.iter().map(iops).collect();
            series.push(names.line(index, curve.name, points));
        }
    }
    let y = Axis::of_counts("IOPS", top_of(&series));
    let title = "Random IOPS by queue depth";
    let chart = over_depth(runs, &names, "iops-over-depth", title, y, series)?;
    Some(Chart { marks, findings: vec![FindingCode::ConcurrencyGain, FindingCode::ConcurrencyKnee], ..chart })
}

fn over_depth(
    runs: &[ChartedRun<'_>],
    names: &Names<'_>,
    name: &'static str,
    title: &str,
    y: Axis,
    series: Vec<Series>,
) -> Option<Chart> {
    let x = Axis::of_doublings("Queue depth", places_of(&series)?, Numbers::Counts);
    let strips = companions::scattered(&x, samples(runs, &series));
    Some(Chart { strips, ..names.chart(name, title, (x, y), series)? })
}

pub fn latency_over_depth(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let mut series = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        for curve in curves(charted.run) {
            let lines: [(&str, PointOf); 2] = [("mean", mean_latency), ("99th percentile", p99_latency)];
            for (what, point_of) in lines {
                let points: Vec<Point> = curve.points.iter().filter_map(point_of).collect();
                if points.len() >= POINTS_MIN {
                    series.push(names.line(index, &format!("{}, {what}", curve.name), points));
                }
            }
        }
    }
    let y = Axis::of_decades("Latency", values_of(&series)?, Numbers::Times);
    let chart = over_depth(runs, &names, "latency-over-depth", "Latency by queue depth", y, series)?;
    Some(Chart { findings: vec![FindingCode::ConcurrencyKnee, FindingCode::AccessTime], ..chart })
}

fn samples<'run>(
    runs: &'run [ChartedRun<'run>],
    series: &[Series],
) -> Vec<(usize, &'run ChartedRun<'run>, Samples)> {
    let mut sampled = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let mut depths = Vec::new();
        for one in series {
            if one.run == index {
                depths.extend(one.points().map(|point| point.at));
            }
        }
        let random = charted.run.phases.iter().filter_map(random_requests);
        let widest = random.map(|workload| workload.range.bytes()).max();
        let mut samples = Samples::default();
        for summary in &charted.run.phases {
            let Some(workload) = random_requests(summary) else { continue };
            let depth = workload.in_flight_max() as f64;
            if Some(workload.range.bytes()) == widest && depths.contains(&depth) {
                samples.add(summary, (depth, depth));
            }
        }
        sampled.push((index, charted, samples));
    }
    sampled
}

fn random_requests(summary: &PhaseSummary) -> Option<&Workload> {
    let workload = measured(summary)?;
    if workload.pattern.is_random() == Some(true) { Some(workload) } else { None }
}

struct Curve<'run> {
    name: &'static str,
    points: &'run [ConcurrencyPoint],
}

fn curves(run: &Run) -> Vec<Curve<'_>> {
    let Some(gain) = known::<ConcurrencyGain>(&run.findings) else { return Vec::new() };
    let gain = &gain.conclusion;
    let first = if has_random_reads(run) { "read" } else { "write" };
    let mut curves = vec![Curve { name: first, points: &gain.points }];
    if let Some(points) = &gain.points_by_threads {
        curves.push(Curve { name: "read, by threads", points });
    }
    if let Some(write) = &gain.write {
        curves.push(Curve { name: "write", points: &write.points });
    }
    curves.retain(|curve| curve.points.len() >= POINTS_MIN);
    curves
}

fn has_random_reads(run: &Run) -> bool {
    for summary in &run.phases {
        if let Some(workload) = &summary.phase.workload
            && workload.pattern.is_random() == Some(true)
            && summary.totals_of(Operation::Read).is_some()
        {
            return true;
        }
    }
    false
}

fn iops(point: &ConcurrencyPoint) -> Point {
    Point { at: point.in_flight.count() as f64, value: point.iops, interval: point.low.zip(point.high) }
}

fn mean_latency(point: &ConcurrencyPoint) -> Option<Point> {
    if point.iops <= 0.0 {
        return None;
    }
    let at = point.in_flight.count() as f64;
    let interval = match point.low.zip(point.high) {
        Some((low, high)) if low > 0.0 => Some((at / high, at / low)),
        _ => None,
    };
    Some(Point { at, value: at / point.iops, interval })
}

/// A sample that ended before its slowest requests completed has none: its 99th percentile would lie below the mean.
fn p99_latency(point: &ConcurrencyPoint) -> Option<Point> {
    let mean = mean_latency(point)?;
    match point.p99_s {
        Some(value) if value > mean.value => Some(Point { at: mean.at, value, interval: None }),
        _ => None,
    }
}

fn knee(run: &Run, curve: &Curve<'_>, series: usize) -> Option<Mark> {
    let at = of_code(&run.findings, FindingCode::ConcurrencyKnee)?.estimate()?.value;
    let point = curve.points.iter().map(iops).find(|point| point.at == at)?;
    Some(Mark {
        name: "Best IOPS/latency".into(),
        series: Some(series),
        place: Place::Point { at, value: point.value },
        finding: Some(FindingCode::ConcurrencyKnee),
    })
}
