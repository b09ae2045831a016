//! The chart of what random writes settle to when only a part of the drive is used.

use crate::chart::companions::{self, is_measured};
use crate::chart::naming::{Names, top_of};
use crate::chart::{Axis, Chart, ChartedRun, Point};
use model::finding::{ClippingEffect, FindingCode, known};
use model::run::Run;

const POINTS_MIN: usize = 2;

pub fn write_rate_over_share(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let mut series = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let points = points(charted.run);
        if points.len() >= POINTS_MIN {
            series.push(names.line(index, "random writes, steady state", points));
        }
    }
    let y = Axis::of_rates("Steady-state throughput", top_of(&series));
    let x = Axis::of_shares("Share of the range in use");
    let chart =
        names.chart("write-rate-over-share", "Steady-state random writes by share in use", (x, y), series)?;
    Some(Chart { findings: vec![FindingCode::ClippingEffect], ..chart }.with_meanwhile(companions::during(
        names.all(),
        runs,
        is_measured,
    )))
}

fn points(run: &Run) -> Vec<Point> {
    let Some(effect) = known::<ClippingEffect>(&run.findings) else { return Vec::new() };
    let mut points = Vec::new();
    for part in &effect.conclusion.points {
        let interval = Some((part.low, part.high));
        points.push(Point { at: part.share, value: part.bytes_per_second, interval });
    }
    points.sort_by(|a, b| a.at.total_cmp(&b.at));
    points
}
