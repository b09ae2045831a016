//! The chart of random reads against the part of the drive that they lie in.

use super::companions::{self, Visits};
use super::data::{Record, interval, number, records_of};
use super::naming::{Names, Sketch, lines_described, range_of, top_of};
use super::{Axis, Chart, ChartedRun, Layer, Numbers, Point, Series};
use model::finding::FindingCode;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::PhaseSummary;

/// Requests a second by the span of the places that are asked for.
pub fn iops_over_span(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut visits) = (Vec::new(), Vec::new());
    for (index, charted) in runs.iter().enumerate() {
        let records = records_of(charted.run, FindingCode::SpanEffect, "points");
        let point = |record| {
            Some(Point {
                at: number(record, "span")?,
                value: number(record, "iops")?,
                interval: interval(record),
            })
        };
        let places = places(&records);
        let points: Vec<Point> = records.into_iter().filter_map(point).collect();
        if points.len() >= 2 {
            visits.push((index, charted, Visits::of(charted.run, |_, summary| place_of(summary, &places))));
            let name = names.series(index, "random reads, one at a time");
            series.push(Series::new(name, vec![Layer::Line(points)]).of_run(index));
        }
    }
    let points = || series.iter().flat_map(Series::points);
    let y = Axis::of_counts("Requests a second", top_of(&series));
    let x = Axis::of_decades(
        "Share of the drive they lie in",
        range_of(points().map(|point| point.at))?,
        Numbers::Percents,
    );
    let strips = companions::scattered(&x, visits.into_iter());
    let chart = names.chart(Sketch {
        name: "iops-over-span",
        title: "Random reads by how far apart they lie".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks: Vec::new(),
        findings: vec![FindingCode::SpanEffect],
    })?;
    Some(chart.with_strips(strips))
}

/// The spans that were measured, in bytes, with their places on the axis across.
fn places(records: &[Record<'_>]) -> Vec<(f64, f64)> {
    records
        .iter()
        .filter_map(|record| Some((number(record, "span_bytes")?, number(record, "span")?)))
        .collect()
}

/// Where a phase of single random reads stands on the axis across.
fn place_of(summary: &PhaseSummary, places: &[(f64, f64)]) -> Option<(f64, f64)> {
    let workload = summary.phase.workload.as_ref().filter(|_| summary.phase.kind == PhaseKind::Measure)?;
    let is_single = workload.is_single_random(Operation::Read);
    let bytes = workload.range.bytes().0 as f64;
    let (_, at) = places.iter().find(|(span_bytes, _)| is_single && *span_bytes == bytes)?;
    Some((*at, *at))
}
