//! The chart of durable commits a second against the number of threads that commit at once.

use crate::chart::companions::{self, Samples};
use crate::chart::naming::{Names, places_of, top_of};
use crate::chart::phase::measured;
use crate::chart::{Axis, Chart, ChartedRun, Numbers, Point};
use model::finding::{CommitRate, FindingCode, RatePoint, known};
use model::run::PhaseSummary;

pub fn commits_over_committers(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut samples) = (Vec::new(), Vec::new());
    for (index, charted) in runs.iter().enumerate() {
        let Some(rate) = known::<CommitRate>(&charted.run.findings) else { continue };
        for (what, separate_files) in [("one log", false), ("a log for each committer", true)] {
            let points = line(&rate.conclusion.points, separate_files);
            if points.len() >= 2 {
                series.push(names.line(index, what, points));
            }
        }
        samples.push((index, charted, Samples::of(charted.run, committers)));
    }
    let y = Axis::of_counts("Commits per second", top_of(&series));
    let x = Axis::of_doublings("Threads", places_of(&series)?, Numbers::Counts);
    let strips = companions::scattered(&x, samples);
    let title = "Commits by number of threads";
    let chart = names.chart("commits-over-committers", title, (x, y), series)?;
    Some(Chart { findings: vec![FindingCode::CommitRate], strips, ..chart })
}

fn line(points: &[RatePoint], separate_files: bool) -> Vec<Point> {
    let mut line = Vec::new();
    for point in points {
        if point.separate_files == separate_files {
            line.push(Point { at: f64::from(point.committers), value: point.per_second, interval: None });
        }
    }
    line
}

fn committers(summary: &PhaseSummary) -> Option<(f64, f64)> {
    let workload = measured(summary)?;
    workload.mix.commits()?;
    Some((f64::from(workload.threads), f64::from(workload.threads)))
}
