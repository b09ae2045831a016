//! The chart of latencies by percentile: what is seldom, drawn as wide as what is usual.

use super::rate_over_position::word;
use crate::chart::companions::{self, Samples};
use crate::chart::naming::{Names, places_of, values_of};
use crate::chart::phase::measured;
use crate::chart::{Axis, Chart, ChartedRun, Numbers, Point};
use model::finding::FindingCode;
use model::histogram::LatencyHistogram;

use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, Quantile};
use std::collections::BTreeMap;

/// Requests beyond a percentile: with fewer, one more or less is another latency.
const BEYOND_MIN: f64 = 5.0;
const STEPS: u32 = 12;
const NINES_MAX: u32 = 5;
/// Fewer requests say nothing of more than one in ten.
const REQUESTS_MIN: u64 = 100;
const LINES_MAX: usize = 5;

pub fn latency_percentiles(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let mut series = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let lines_max = (LINES_MAX / runs.len()).max(1);
        for (shape, histogram) in shapes(charted.run, lines_max) {
            series.push(names.line(index, &shape.name(), points(&histogram)));
        }
    }
    let (_, last) = places_of(&series)?;
    let x = Axis::of_nines("Percentile", -(1.0 - last).log10());
    let y = Axis::of_decades("Latency", values_of(&series)?, Numbers::Times);
    let chart = names.chart("latency-percentiles", "Latency percentiles", (x, y), series)?;
    let meanwhile = companions::in_words(names.all(), companions::of_each(runs, samples));
    Some(Chart { findings: vec![FindingCode::AccessTime], ..chart }.with_meanwhile(meanwhile))
}

fn samples(run: &Run) -> Samples {
    let has_random = run.phases.iter().any(is_random);
    Samples::during(run, if has_random { is_random } else { is_in_order })
}

fn is_random(summary: &PhaseSummary) -> bool {
    matches!(measured(summary), Some(workload) if workload.pattern.is_random() == Some(true))
}

fn is_in_order(summary: &PhaseSummary) -> bool {
    matches!(measured(summary), Some(workload) if workload.pattern.is_random() == Some(false))
}

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
        let order = if self.is_random { "random" } else { "sequential" };
        format!("{order} {operation} {}, QD {}", self.block, self.at_once)
    }
}

fn shapes(run: &Run, count_max: usize) -> Vec<(Shape, LatencyHistogram)> {
    let mut shapes = Vec::new();
    let (mut any_random, mut widest) = (false, Bytes::ZERO);
    for (shape, histogram) in all_shapes(run) {
        if histogram.count() >= REQUESTS_MIN {
            any_random |= shape.is_random;
            widest = widest.max(shape.range);
            shapes.push((shape, histogram));
        }
    }
    shapes.retain(|(shape, _)| shape.is_random == any_random && shape.range == widest);
    // One size is enough, that of which there were most; of its depths the small ones, whose requests all came back.
    let mut counts: BTreeMap<Bytes, u64> = BTreeMap::new();
    for (shape, histogram) in &shapes {
        *counts.entry(shape.block).or_default() += histogram.count();
    }
    if let Some((Shape { block, .. }, _)) = shapes.iter().max_by_key(|(shape, _)| counts[&shape.block]) {
        let block = *block;
        shapes.retain(|(shape, _)| shape.block == block);
    }
    shapes.sort_by_key(|(shape, _)| (shape.at_once, *shape));
    shapes.truncate(count_max);
    shapes
}

fn all_shapes(run: &Run) -> BTreeMap<Shape, LatencyHistogram> {
    let mut shapes: BTreeMap<Shape, LatencyHistogram> = BTreeMap::new();
    for summary in &run.phases {
        let Some(workload) = measured(summary) else { continue };
        // The load beside commits is there to disturb them; commits have a chart of their own.
        if workload.mix.commits().is_some() {
            continue;
        }
        let Some(is_random) = workload.pattern.is_random() else { continue };
        let Some(block) = workload.block_sizes.single() else { continue };
        for operation in [Operation::Read, Operation::Write] {
            let Some(totals) = summary.totals_of(operation) else { continue };
            let shape = Shape {
                is_random,
                is_write: operation == Operation::Write,
                // Samples in order lie at many places, and all are alike.
                range: if is_random { workload.range.bytes() } else { Bytes::ZERO },
                at_once: workload.in_flight_max(),
                block,
            };
            shapes.entry(shape).or_default().merge(&totals.histogram);
        }
    }
    shapes
}

/// The latencies at evenly spaced nines, as far as there are requests beyond.
pub(super) fn points(histogram: &LatencyHistogram) -> Vec<Point> {
    let mut points = Vec::new();
    for step in 0..=NINES_MAX * STEPS {
        let at = 1.0 - 10f64.powf(-f64::from(step) / f64::from(STEPS));
        if (1.0 - at) * (histogram.count() as f64) < BEYOND_MIN {
            break;
        }
        if let Some(share) = Quantile::new(at)
            && let Some(latency) = histogram.quantile(share)
        {
            points.push(Point { at, value: latency.seconds().max(1e-9), interval: None });
        }
    }
    points
}
