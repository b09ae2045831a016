//! The chart of latencies by percentile: what is seldom, drawn as wide as what is usual.

use super::companions::{self, Visits};
use super::naming::{Names, Sketch, lines_described, range_of};
use super::rate_over_position::word;
use super::{Axis, Chart, ChartedRun, Layer, Numbers, Point, Series};
use model::finding::FindingCode;
use model::histogram::LatencyHistogram;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, Quantile};
use std::collections::BTreeMap;

/// Requests beyond a percentile: with fewer, one more or less is another latency.
const BEYOND_MIN: f64 = 5.0;
/// Steps within each nine.
const STEPS: u32 = 12;
const NINES_MAX: u32 = 5;
/// Fewer requests say nothing of more than one in ten.
const REQUESTS_MIN: u64 = 100;
/// More lines hide each other.
const LINES_MAX: usize = 5;

/// Latencies by percentile, up to five nines where there were requests enough.
pub fn latency_percentiles(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let mut series = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let lines_max = (LINES_MAX / runs.len()).max(1);
        for (shape, histogram) in shapes(charted.run, lines_max) {
            let name = names.series(index, &shape.name());
            series.push(Series::new(name, vec![Layer::Line(points(&histogram))]).of_run(index));
        }
    }
    let points = || series.iter().flat_map(Series::points);
    let (_, last) = range_of(points().map(|point| point.at))?;
    let x = Axis::of_nines("Share of the requests that take no longer", -(1.0 - last).log10());
    let y = Axis::of_decades("Latency", range_of(points().map(|point| point.value))?, Numbers::Times);
    let chart = names.chart(Sketch {
        name: "latency-percentiles",
        title: "Latency by percentile".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks: Vec::new(),
        findings: vec![FindingCode::AccessTime],
    })?;
    let visits =
        companions::of_each(runs, |run| Visits::during(run, |summary| is_of_order(summary, has_random(run))));
    let meanwhile = companions::in_words(names.all(), visits);
    Some(chart.with_meanwhile(meanwhile))
}

/// Whether a phase measured requests at random, or in order.
fn is_of_order(summary: &PhaseSummary, is_random: bool) -> bool {
    let order = summary.phase.workload.as_ref().and_then(|workload| workload.pattern.is_random());
    summary.phase.kind == PhaseKind::Measure && order == Some(is_random)
}

fn has_random(run: &Run) -> bool {
    run.phases.iter().any(|summary| is_of_order(summary, true))
}

/// Requests that are alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    is_random: bool,
    is_write: bool,
    range: Bytes,
    at_once: u64,
    block: Bytes,
}

impl Shape {
    fn name(&self) -> String {
        let operation = word(if self.is_write { Operation::Write } else { Operation::Read });
        let order = if self.is_random { "at random" } else { "in order" };
        let at_once = match self.at_once {
            1 => "one at a time".to_string(),
            many => format!("{many} at a time"),
        };
        format!("{operation} {} {order}, {at_once}", self.block)
    }
}

/// The kinds of requests that are drawn: those at random if there were any, over the widest range.
fn shapes(run: &Run, count_max: usize) -> Vec<(Shape, LatencyHistogram)> {
    let mut shapes: BTreeMap<Shape, LatencyHistogram> = BTreeMap::new();
    for summary in run.phases.iter().filter(|summary| summary.phase.kind == PhaseKind::Measure) {
        let Some(workload) = summary.phase.workload.as_ref() else { continue };
        let Some(is_random) = workload.pattern.is_random() else { continue };
        let Some(block) = workload.block_sizes.single() else { continue };
        for operation in [Operation::Read, Operation::Write] {
            let Some(totals) = summary.totals_of(operation) else { continue };
            let shape = Shape {
                is_random,
                is_write: operation == Operation::Write,
                // Visits in order lie at many places, and all are alike.
                range: if is_random { workload.range.bytes() } else { Bytes::ZERO },
                at_once: workload.in_flight_max(),
                block,
            };
            shapes.entry(shape).or_default().merge(&totals.histogram);
        }
    }
    shapes.retain(|_, histogram| histogram.count() >= REQUESTS_MIN);
    let any_random = shapes.keys().any(|shape| shape.is_random);
    let widest = shapes.keys().map(|shape| shape.range).max();
    shapes.retain(|shape, _| shape.is_random == any_random && Some(shape.range) == widest);
    // One size is enough, that of which there were most; of its depths the small ones, whose requests all came back.
    let count_of = |block: Bytes| -> u64 {
        shapes.iter().filter(|(shape, _)| shape.block == block).map(|(_, histogram)| histogram.count()).sum()
    };
    let block = shapes.keys().map(|shape| shape.block).max_by_key(|block| count_of(*block));
    shapes.retain(|shape, _| Some(shape.block) == block);
    let mut shapes: Vec<(Shape, LatencyHistogram)> = shapes.into_iter().collect();
    shapes.sort_by_key(|(shape, _)| (shape.at_once, *shape));
    shapes.truncate(count_max);
    shapes
}

/// The latencies at evenly spaced nines, as far as there are requests beyond.
fn points(histogram: &LatencyHistogram) -> Vec<Point> {
    let shares = (0..=NINES_MAX * STEPS).map(|step| 1.0 - 10f64.powf(-f64::from(step) / f64::from(STEPS)));
    let enough = shares.take_while(|share| (1.0 - share) * histogram.count() as f64 >= BEYOND_MIN);
    let point = |share: f64| {
        let latency = histogram.quantile(Quantile::new(share)?)?;
        Some(Point { at: share, value: latency.seconds().max(1e-9), interval: None })
    };
    enough.filter_map(point).collect()
}
