//! The chart of random reads against the part of the drive that they lie in.

use super::data::{interval, number, records_of};
use super::naming::{Names, Sketch, lines_described, range_of};
use super::{Axis, Chart, ChartedRun, Layer, Numbers, Point, Series};
use model::finding::FindingCode;

/// Requests a second by the span of the places that are asked for.
pub fn iops_over_span(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let mut series = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let records = records_of(charted.run, FindingCode::SpanEffect, "points");
        let point = |record| {
            Some(Point {
                at: number(record, "span")?,
                value: number(record, "iops")?,
                interval: interval(record),
            })
        };
        let points: Vec<Point> = records.into_iter().filter_map(point).collect();
        if points.len() >= 2 {
            let name = names.series(index, "random reads, one at a time");
            series.push(Series::new(name, vec![Layer::Line(points)]).of_run(index));
        }
    }
    let points = || series.iter().flat_map(Series::points);
    let tops = points().map(|point| point.interval.map_or(point.value, |of| of.1));
    let y = Axis::of_counts("Requests a second", tops.filter(|top| top.is_finite()).fold(0.0, f64::max));
    let x = Axis::of_decades(
        "Share of the drive they lie in",
        range_of(points().map(|point| point.at))?,
        Numbers::Percents,
    );
    names.chart(Sketch {
        name: "iops-over-span",
        title: "Random reads by how far apart they lie".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks: Vec::new(),
        findings: vec![FindingCode::SpanEffect],
    })
}
