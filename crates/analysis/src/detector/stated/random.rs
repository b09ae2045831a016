//! Random access: how long one takes, and what several at a time bring.

use super::super::trust::doubts;
use crate::stated::{Shape, Stated, estimate_of, stated, without_interval};
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::sample::Sample;
use model::estimate::Estimate;
use model::finding::{
    AccessTime, AccessTimeUnknown, ConcurrencyGain, ConcurrencyPoint, Finding, Imported, InFlight, Outcome,
};
use model::request::Operation;
use model::run::RunView;
use model::workload::Pattern;
use std::collections::BTreeMap;

/// Fewer reads do not show how they scatter.
const READS_MIN: usize = 30;
/// Each seek begins where the last one ended, so that of places drawn evenly two distances that follow each other have a correlation of
/// (7/60 - 1/9) / (1/18) = 0.1. That makes the variance of their mean 1 + 2 · 0.1 times as large.
const SHARED_PLACE: f64 = 1.2;

fn random_reads<'run>(run: &RunView<'run>) -> BTreeMap<Shape, Vec<Stated<'run>>> {
    let mut shapes: BTreeMap<Shape, Vec<Stated<'run>>> = BTreeMap::new();
    for figure in stated(run) {
        if is_random(&figure) && figure.workload.mix.operations() == [Operation::Read] {
            shapes.entry(figure.shape()).or_default().push(figure);
        }
    }
    shapes
}

/// Of what nobody says whether it was sequential, nothing follows.
fn is_random(figure: &Stated<'_>) -> bool {
    figure.workload.pattern == Pattern::RandomWithReplacement
}

/// The time of a single random read. Reads of several at a time, or that are written back in part, do not tell it.
pub(in super::super) fn access(run: &RunView<'_>) -> Vec<Finding> {
    let reads = random_reads(run);
    let single = reads.iter().filter(|(shape, _)| shape.at_once == 1).min_by_key(|(shape, _)| shape.block);
    let Some((shape, figures)) = single else { return several_at_a_time(run) };
    let times: Vec<f64> = figures.iter().map(|figure| 1.0 / figure.per_second()).collect();
    let Some(estimate) = one_by_one(run, figures).or(estimate_of(&times)) else { return Vec::new() };
    let evidence = figures.iter().map(Stated::evidence).collect();
    let access = AccessTime {
        mean: estimate,
        block: shape.block,
        median_s: None,
        range: None,
        parts: None,
        measured: None,
        imported: Some(Imported::new(&estimate, run.environment.direct)),
    };
    vec![Finding::AccessTime(Outcome::known(access, evidence)).with_caveats(&doubts(run))]
}

/// The mean of single requests where they are known; none when there are too few.
fn one_by_one(run: &RunView<'_>, figures: &[Stated<'_>]) -> Option<Estimate> {
    let latencies: Vec<f64> = figures.iter().flat_map(|figure| figure.latencies_s(run)).collect();
    if latencies.len() < READS_MIN {
        return None;
    }
    let sample = Sample::new(latencies)?;
    let count = sample.count() as f64;
    let variance = sample.variance() * SHARED_PLACE / count;
    Some(Mean { value: sample.mean(), variance, degrees_of_freedom: count - 1.0 }.interval(CONFIDENCE))
}

fn several_at_a_time(run: &RunView<'_>) -> Vec<Finding> {
    let stated = stated(run);
    let random = stated.iter().find(|figure| is_random(figure) && figure.shape().reads);
    let Some(first) = random else { return Vec::new() };
    let shape = first.shape();
    let reason = AccessTimeUnknown::OnlySeveral {
        in_flight: shape.at_once,
        per_second: first.per_second(),
        written_back: shape.writes,
    };
    vec![Finding::AccessTime(Outcome::Unknown(reason))]
}

/// What several random reads at a time bring, of the block size that was measured in the most ways.
pub(in super::super) fn gain(run: &RunView<'_>) -> Vec<Finding> {
    let mut sizes: BTreeMap<u64, BTreeMap<u64, Vec<Stated<'_>>>> = BTreeMap::new();
    for (shape, figures) in random_reads(run) {
        sizes.entry(shape.block.get()).or_default().insert(shape.at_once, figures);
    }
    let widest = sizes.into_values().filter(|depths| depths.contains_key(&1)).max_by_key(BTreeMap::len);
    let Some(depths) = widest.filter(|depths| depths.len() > 1) else { return Vec::new() };
    let (mut points, mut top): (_, Option<(u64, f64)>) = (Vec::new(), None);
    for (depth, figures) in &depths {
        let iops = figures.iter().map(Stated::per_second).sum::<f64>() / figures.len().max(1) as f64;
        points.push(ConcurrencyPoint {
            in_flight: InFlight::Depth(*depth),
            iops,
            low: None,
            high: None,
            p99_s: None,
        });
        if *depth > 1 && top.is_none_or(|(_, best)| iops.total_cmp(&best).is_ge()) {
            top = Some((*depth, iops));
        }
    }
    let (Some((depth, best)), one) = (top, points[0].iops) else { return Vec::new() };
    let estimate = without_interval(best / one);
    let gain = ConcurrencyGain {
        gain: estimate,
        is_read: true,
        best: InFlight::Depth(depth),
        points,
        limited_by_tool: None,
        points_by_threads: None,
        write: None,
        imported: Some(Imported::new(&estimate, run.environment.direct)),
    };
    let evidence = depths.values().flatten().map(Stated::evidence).collect();
    vec![Finding::ConcurrencyGain(Outcome::known(gain, evidence)).with_caveats(&doubts(run))]
}
