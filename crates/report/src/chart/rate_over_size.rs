//! The chart of rates by the size of requests, with the points that something spoilt.

use super::companions::{self, Visits};
use super::data::{Record, interval, number, records_of, word};
use super::naming::{Names, Sketch, lines_described, range_of};
use super::{Axis, Chart, ChartedRun, Layer, Mark, Numbers, Place, Point, Series};
use model::finding::FindingCode;
use model::plan::PhaseKind;
use model::run::{PhaseSummary, Run};
use std::collections::BTreeMap;

/// Rates by the size of requests.
pub fn rate_over_size(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    for (index, charted) in runs.iter().enumerate() {
        for (what, points) in lines(charted.run) {
            marks.extend(spoilt(charted.run, &what, series.len()));
            series.push(Series::new(names.series(index, &what), vec![Layer::Line(points)]).of_run(index));
        }
    }
    let points = || series.iter().flat_map(Series::points);
    let spoilt = marks.iter().filter_map(|mark| match mark.place {
        Place::Point { value, .. } => Some(value),
        _ => None,
    });
    let y =
        Axis::of_decades("Rate", range_of(points().map(|point| point.value).chain(spoilt))?, Numbers::Rates);
    let x =
        Axis::of_doublings("Size of a request", range_of(points().map(|point| point.at))?, Numbers::Sizes);
    let strips = companions::scattered(&x, companions::of_each(runs, |run| Visits::of(run, size_of)));
    let chart = names.chart(Sketch {
        name: "rate-over-size",
        title: "Rate by the size of requests".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks,
        findings: vec![FindingCode::SizeProfile, FindingCode::SuspectPoints],
    })?;
    Some(chart.with_strips(strips))
}

/// The size of requests that a phase measured, as a place on the axis across.
fn size_of(_: u32, summary: &PhaseSummary) -> Option<(f64, f64)> {
    let workload = summary.phase.workload.as_ref().filter(|_| summary.phase.kind == PhaseKind::Measure)?;
    let size = workload.block_sizes.single()?.0 as f64;
    Some((size, size))
}

/// The lines by operation, order and requests at a time, each from small to large.
fn lines(run: &Run) -> BTreeMap<String, Vec<Point>> {
    let mut lines: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    for record in records_of(run, FindingCode::SizeProfile, "points") {
        let point = || {
            Some(Point {
                at: number(record, "bytes")?,
                value: number(record, "bytes_per_second").filter(|rate| *rate > 0.0)?,
                interval: interval(record),
            })
        };
        if let (Some(line), Some(point)) = (line_of(record), point()) {
            lines.entry(line).or_default().push(point);
        }
    }
    lines.values_mut().for_each(|points| points.sort_by(|a, b| a.at.total_cmp(&b.at)));
    lines
}

/// "read in order, 4 at a time"
fn line_of(record: Record<'_>) -> Option<String> {
    let order = if word(record, "pattern")? == "sequential" { "in order" } else { "at random" };
    let at_once = match number(record, "depth")? {
        1.0 => "one at a time".to_string(),
        depth => format!("{depth} at a time"),
    };
    Some(format!("{} {order}, {at_once}", word(record, "operation")?))
}

/// The points of a line that were measured again because something spoilt them, where they were before; and what is no accident.
fn spoilt(run: &Run, line: &str, series: usize) -> Vec<Mark> {
    let lists = [
        ("points", "before", "spoilt by something else, and measured again"),
        ("dips", "after", "slower than the sizes next to it"),
    ];
    let mark = |(list, value, name): (&str, &str, &str)| {
        let of_line = records_of(run, FindingCode::SuspectPoints, list).into_iter();
        let of_line = of_line.filter(|record| line_of(record).as_deref() == Some(line));
        let place =
            |record| Some(Place::Point { at: number(record, "bytes")?, value: number(record, value)? });
        let mark = |place| Mark {
            name: name.into(),
            series: Some(series),
            place,
            finding: Some(FindingCode::SuspectPoints),
        };
        of_line.filter_map(place).map(mark).collect::<Vec<Mark>>()
    };
    lists.into_iter().flat_map(mark).collect()
}
