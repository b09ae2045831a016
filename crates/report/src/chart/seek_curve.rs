//! The chart of seek times over distances, from what the detectors found.

use super::companions;
use super::data::{finding, interval, number, records_of};
use super::naming::{Names, Sketch, lines_described, top_of};
use super::{Axis, Chart, ChartedRun, Layer, Mark, Place, Point, Series};
use model::finding::{Finding, FindingCode};
use model::run::Run;

/// How long the arm takes to get so far.
pub fn seek_curve(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    for (index, charted) in runs.iter().enumerate() {
        let points = points(charted.run);
        if points.is_empty() {
            continue;
        }
        let average = finding(charted.run, FindingCode::SeekAverage).and_then(Finding::estimate);
        marks.extend(average.filter(|_| runs.len() == 1).map(|average| Mark {
            name: "mean over all pairs of places".into(),
            series: None,
            place: Place::Value(average.value),
            finding: Some(FindingCode::SeekAverage),
        }));
        series.push(Series::new(names.series(index, ""), vec![Layer::Line(points)]).of_run(index));
    }
    if let [one] = series.as_mut_slice()
        && one.name.is_empty()
    {
        one.name = "seek".into();
    }
    let x = Axis::of_shares("Distance as a share of all cylinders");
    let y = Axis::of_times("Seek", top_of(&series));
    let chart = names.chart(Sketch {
        name: "seek-curve",
        title: "Seek time by distance".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks,
        findings: vec![FindingCode::SeekFullStroke, FindingCode::SeekAverage, FindingCode::SeekTrackToTrack],
    })?;
    Some(chart.with_meanwhile(companions::of_measurements(names.all(), runs)))
}

/// The curve, from the next track on where that is known.
fn points(run: &Run) -> Vec<Point> {
    let curve = records_of(run, FindingCode::SeekFullStroke, "curve");
    let far = curve.iter().filter_map(|record| {
        Some(Point {
            at: number(record, "share_of_cylinders")?,
            value: number(record, "seconds")?,
            interval: interval(record),
        })
    });
    let near = finding(run, FindingCode::SeekTrackToTrack).and_then(Finding::estimate);
    let near = near.filter(|_| !curve.is_empty()).map(|near| Point {
        at: 0.0,
        value: near.value,
        interval: Some((near.low, near.high)),
    });
    let mut points: Vec<Point> = near.into_iter().chain(far).collect();
    points.sort_by(|a, b| a.at.total_cmp(&b.at));
    points
}
