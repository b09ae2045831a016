//! The chart of what random writes settle to when only a part of the drive is used.

use super::companions;
use super::data::{interval, number, records_of};
use super::naming::{Names, Sketch, lines_described, top_of};
use super::{Axis, Chart, ChartedRun, Layer, Point, Series};
use model::finding::FindingCode;
use model::run::Run;

/// One part is no curve.
const POINTS_MIN: usize = 2;

/// The rate that lasts by the share of the drive that is used.
pub fn write_rate_over_share(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let mut series = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let points = points(charted.run);
        if points.len() >= POINTS_MIN {
            let name = names.series(index, "random writes, once steady");
            series.push(Series::new(name, vec![Layer::Line(points)]).of_run(index));
        }
    }
    let y = Axis::of_rates("Rate that lasts", top_of(&series));
    let x = Axis::of_shares("Share of the range that is used");
    let chart = names.chart(Sketch {
        name: "write-rate-over-share",
        title: "Random writes by how much is used".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks: Vec::new(),
        findings: vec![FindingCode::ClippingEffect],
    })?;
    Some(chart.with_meanwhile(companions::of_measurements(names.all(), runs)))
}

fn points(run: &Run) -> Vec<Point> {
    let point = |record| {
        Some(Point {
            at: number(record, "span")?,
            value: number(record, "bytes_per_second")?,
            interval: interval(record),
        })
    };
    let mut points: Vec<Point> =
        records_of(run, FindingCode::ClippingEffect, "points").into_iter().filter_map(point).collect();
    points.sort_by(|a, b| a.at.total_cmp(&b.at));
    points
}
