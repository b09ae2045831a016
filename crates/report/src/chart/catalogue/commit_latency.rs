//! The chart of commits by percentile: one committer alone and beside other load, with the limit of the program that was named.

use super::percentiles::points;
use crate::chart::companions;
use crate::chart::naming::{Names, places_of, range_of, values_of};
use crate::chart::phase::measured;
use crate::chart::{Axis, Chart, ChartedRun, Mark, Numbers, Place};
use model::commit::BesideLoad;
use model::finding::FindingCode;
use model::histogram::LatencyHistogram;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::Bytes;
use std::collections::BTreeMap;

const LINES_MAX: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    beside: Option<BesideLoad>,
    write: Bytes,
}

impl Shape {
    fn name(&self) -> String {
        match self.beside {
            None => format!("{}", self.write),
            Some(load) => format!("{}, with {}", self.write, load.name().replace('-', " ")),
        }
    }
}

pub fn commit_latency(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let lines_max = (LINES_MAX / runs.len()).max(1);
    let (mut series, mut marks): (_, Vec<Mark>) = (Vec::new(), Vec::new());
    for (index, charted) in runs.iter().enumerate() {
        for (shape, histogram) in shapes(charted.run).into_iter().take(lines_max) {
            series.push(names.line(index, &shape.name(), points(&histogram)));
        }
        if let Some(mark) = limit(charted.run)
            && !marks.contains(&mark)
        {
            marks.push(mark);
        }
    }
    let (_, last) = places_of(&series)?;
    let (low, high) = values_of(&series)?;
    let extent = range_of([low, high].into_iter().chain(marks.iter().filter_map(Mark::value)))?;
    let x = Axis::of_nines("Percentile", -(1.0 - last).log10());
    let y = Axis::of_decades("Latency", extent, Numbers::Times);
    let chart = names.chart("commit-latency", "Commit latency percentiles", (x, y), series)?;
    let meanwhile = companions::during(names.all(), runs, has_commits);
    Some(Chart { marks, findings: vec![FindingCode::CommitLatency], ..chart }.with_meanwhile(meanwhile))
}

fn has_commits(summary: &PhaseSummary) -> bool {
    matches!(measured(summary), Some(workload) if workload.mix.commits().is_some())
}

/// One committer by the method and log that stand for the drive, the usual size first.
fn shapes(run: &Run) -> BTreeMap<Shape, LatencyHistogram> {
    let mut shapes: BTreeMap<Shape, LatencyHistogram> = BTreeMap::new();
    let mut all = run.phases.iter().filter_map(|summary| measured(summary)?.mix.commits());
    let Some(main) = all.find(|commits| commits.is_main) else { return shapes };
    for summary in &run.phases {
        let Some(workload) = measured(summary) else { continue };
        let (Some(commits), 1) = (workload.mix.commits(), workload.threads) else { continue };
        if (commits.method, commits.log) != (main.method, main.log) {
            continue;
        }
        if let Some(write) = workload.block_sizes.single()
            && let Some(totals) = summary.totals_of(Operation::Commit)
        {
            let shape = Shape { beside: commits.beside.map(|beside| beside.load), write };
            shapes.entry(shape).or_insert_with(LatencyHistogram::small).merge(&totals.histogram);
        }
    }
    shapes
}

fn limit(run: &Run) -> Option<Mark> {
    let workloads = run.phases.iter().filter_map(measured);
    let application = workloads.filter_map(|workload| workload.mix.commits()?.application).next()?;
    let limit = application.need().limit?;
    // 99.9 and not 99.90000000000001. The legend tells the value.
    let percent = (limit.percentile.get() * 1e5).round() / 1e3;
    let name = format!("{} limit for p{percent}", application.name());
    Some(Mark::of(FindingCode::CommitVerdict, name, Place::Value(limit.latency.seconds())))
}
