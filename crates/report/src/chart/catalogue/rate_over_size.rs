//! The chart of rates by the size of requests, with the points that something spoilt.

use crate::chart::companions::{self, Samples};
use crate::chart::naming::{Names, places_of, range_of};
use crate::chart::phase::measured;
use crate::chart::{Axis, Chart, ChartedRun, Mark, Numbers, Place, Point, Series};
use model::finding::{FindingCode, SizePattern, SizeProfile, SuspectPoint, SuspectPoints, known};

use model::request::Operation;
use model::run::{PhaseSummary, Run};
use std::collections::BTreeMap;

pub fn rate_over_size(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    for (index, charted) in runs.iter().enumerate() {
        for (what, points) in lines(charted.run) {
            marks.extend(spoilt(charted.run, &what, series.len()));
            series.push(names.line(index, &what, points));
        }
    }
    let mut values: Vec<f64> = series.iter().flat_map(Series::points).map(|point| point.value).collect();
    for mark in &marks {
        if let Place::Point { value, .. } = mark.place {
            values.push(value);
        }
    }
    let y = Axis::of_decades("Throughput", range_of(values)?, Numbers::Rates);
    let x = Axis::of_doublings("Block size", places_of(&series)?, Numbers::Sizes);
    let strips = companions::scattered(&x, companions::of_each(runs, samples));
    let chart = names.chart("rate-over-size", "Throughput by block size", (x, y), series)?;
    Some(Chart {
        marks,
        findings: vec![FindingCode::SizeProfile, FindingCode::SuspectPoints],
        strips,
        ..chart
    })
}

fn samples(run: &Run) -> Samples {
    Samples::of(run, size_of)
}

fn size_of(summary: &PhaseSummary) -> Option<(f64, f64)> {
    let size = measured(summary)?.block_sizes.single()?.as_f64();
    Some((size, size))
}

fn lines(run: &Run) -> BTreeMap<String, Vec<Point>> {
    let mut lines: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    let Some(profile) = known::<SizeProfile>(&run.findings) else { return lines };
    for point in &profile.conclusion.points {
        if point.bytes_per_second > 0.0 {
            let name = line_of(point.operation, point.pattern, point.depth);
            lines.entry(name).or_default().push(Point {
                at: point.bytes.as_f64(),
                value: point.bytes_per_second,
                interval: point.low.zip(point.high),
            });
        }
    }
    for points in lines.values_mut() {
        points.sort_by(|a, b| a.at.total_cmp(&b.at));
    }
    lines
}

fn line_of(operation: Operation, pattern: SizePattern, depth: u64) -> String {
    let order = if pattern == SizePattern::Sequential { "sequential" } else { "random" };
    format!("{order} {}, QD {depth}", operation.name())
}

/// The points of a line that were repeated because something spoilt them, where they were before; and dips.
fn spoilt(run: &Run, line: &str, series: usize) -> Vec<Mark> {
    let Some(suspects) = known::<SuspectPoints>(&run.findings) else { return Vec::new() };
    let mut all: Vec<(&SuspectPoint, f64, &str)> = Vec::new();
    for point in &suspects.conclusion.points {
        all.push((point, point.before, "disturbed and repeated"));
    }
    for dip in &suspects.conclusion.dips {
        all.push((dip, dip.after, "slower than neighbouring sizes"));
    }
    let mut marks = Vec::new();
    for (point, value, name) in all {
        if line_of(point.operation, point.pattern, point.depth) == line {
            let place = Place::Point { at: point.bytes.as_f64(), value };
            marks.push(Mark { series: Some(series), ..Mark::of(FindingCode::SuspectPoints, name, place) });
        }
    }
    marks
}
