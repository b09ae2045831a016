//! The chart of seek times over distances, from what the detectors found.

use crate::chart::companions::{self, is_measured};
use crate::chart::naming::{Names, top_of};
use crate::chart::{Axis, Chart, ChartedRun, Mark, Place, Point};
use model::estimate::Estimate;
use model::finding::{FindingCode, SeekAverage, SeekFullStroke, SeekTrackToTrack, known};
use model::run::Run;

pub fn seek_curve(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    for (index, charted) in runs.iter().enumerate() {
        let points = points(charted.run);
        if points.is_empty() {
            continue;
        }
        if let Some(average) = known::<SeekAverage>(&charted.run.findings)
            && runs.len() == 1
        {
            let place = Place::Value(average.conclusion.seek.value);
            marks.push(Mark::of(FindingCode::SeekAverage, "mean over all pairs of cylinders", place));
        }
        series.push(names.line(index, "", points));
    }
    if let [one] = series.as_mut_slice()
        && one.name.is_empty()
    {
        one.name = "seek".into();
    }
    let x = Axis::of_shares("Seek distance, share of all cylinders");
    let y = Axis::of_times("Seek", top_of(&series));
    let chart = names.chart("seek-curve", "Seek time by distance", (x, y), series)?;
    Some(
        Chart {
            marks,
            findings: vec![
                FindingCode::SeekFullStroke,
                FindingCode::SeekAverage,
                FindingCode::SeekTrackToTrack,
            ],
            ..chart
        }
        .with_meanwhile(companions::during(names.all(), runs, is_measured)),
    )
}

fn points(run: &Run) -> Vec<Point> {
    let Some(full_stroke) = known::<SeekFullStroke>(&run.findings) else { return Vec::new() };
    let mut points = Vec::new();
    if let Some(next_track) = known::<SeekTrackToTrack>(&run.findings) {
        let Estimate { value, low, high, .. } = next_track.conclusion.seek;
        points.push(Point { at: 0.0, value, interval: Some((low, high)) });
    }
    for seek in &full_stroke.conclusion.curve {
        let interval = Some((seek.low, seek.high));
        points.push(Point { at: seek.share_of_cylinders, value: seek.seconds, interval });
    }
    points
}
