//! Random access: how long one takes, and what several at a time bring.

use super::super::trust::Subject;
use super::super::wording::{number, short_time};
use super::{remark, remarked};
use crate::stated::{Shape, Stated, estimate_of, stated, without_interval};
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::sample::Sample;
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;
use std::collections::BTreeMap;

/// Fewer reads do not show how they scatter.
const READS_MIN: usize = 30;
/// Each seek begins where the last one ended, so that of places drawn evenly two distances that follow each other have a correlation of
/// (7/60 - 1/9) / (1/18) = 0.1. That makes the variance of their mean 1 + 2 · 0.1 times as large.
const SHARED_PLACE: f64 = 1.2;

/// Random reads alone, by their shape.
fn random_reads<'run>(run: &RunView<'run>) -> BTreeMap<Shape, Vec<Stated<'run>>> {
    let mut shapes: BTreeMap<Shape, Vec<Stated<'run>>> = BTreeMap::new();
    for figure in stated(run) {
        let is_random = model::workload::Pattern::RandomWithReplacement == figure.workload.pattern;
        if is_random && figure.workload.mix.operations() == [Operation::Read] {
            shapes.entry(figure.shape()).or_default().push(figure);
        }
    }
    shapes
}

/// The time of a single random read. Reads of several at a time, or that are written back in part, do not tell it.
pub(in super::super) fn access(run: &RunView<'_>) -> Vec<Finding> {
    let code = FindingCode::AccessTime;
    let reads = random_reads(run);
    let single = reads.iter().filter(|(shape, _)| shape.at_once == 1).min_by_key(|(shape, _)| shape.block);
    let Some((shape, figures)) = single else { return several_at_a_time(run) };
    let times: Vec<f64> = figures.iter().map(|figure| 1.0 / figure.per_second()).collect();
    let Some(estimate) = one_by_one(run, figures).or_else(|| estimate_of(&times)) else { return Vec::new() };
    let statement = format!(
        "A single random read of {} takes {} on average{}.",
        shape.block,
        short_time(estimate.value),
        remark(&estimate)
    );
    let evidence = figures.iter().map(Stated::evidence).collect();
    let finding = Finding::number(code, estimate, "s", statement, evidence);
    vec![Subject::of(run).qualify(remarked(finding, run, &estimate))]
}

/// The mean of single requests where they are known; none when there are too few.
fn one_by_one(run: &RunView<'_>, figures: &[Stated<'_>]) -> Option<Estimate> {
    let latencies: Vec<f64> = figures.iter().flat_map(|figure| figure.latencies_s(run)).collect();
    let sample = Sample::new(latencies).filter(|sample| sample.count() >= READS_MIN)?;
    let count = sample.count() as f64;
    let variance = sample.variance() * SHARED_PLACE / count;
    Some(Mean { value: sample.mean(), variance, degrees_of_freedom: count - 1.0 }.interval(CONFIDENCE))
}

fn several_at_a_time(run: &RunView<'_>) -> Vec<Finding> {
    let random = stated(run).into_iter().filter(|figure| !figure.shape().in_order && figure.shape().reads);
    let Some(first) = random.into_iter().next() else { return Vec::new() };
    let shape = first.shape();
    let back = if shape.writes { ", and some of what they find is written back" } else { "" };
    let why = format!(
        "The random reads were {} at a time{back}, so that their rate of {} per second is not the time of one.",
        shape.at_once,
        number(first.per_second())
    );
    vec![Finding::unknown(FindingCode::AccessTime, why)]
}

/// What several random reads at a time bring, of the block size that was measured in the most ways.
pub(in super::super) fn gain(run: &RunView<'_>) -> Vec<Finding> {
    let mut sizes: BTreeMap<u64, BTreeMap<u64, Vec<Stated<'_>>>> = BTreeMap::new();
    for (shape, figures) in random_reads(run) {
        sizes.entry(shape.block.0).or_default().insert(shape.at_once, figures);
    }
    let widest = sizes.into_values().filter(|depths| depths.contains_key(&1)).max_by_key(BTreeMap::len);
    let Some(depths) = widest.filter(|depths| depths.len() > 1) else { return Vec::new() };
    let rate = |figures: &[Stated<'_>]| {
        figures.iter().map(Stated::per_second).sum::<f64>() / figures.len().max(1) as f64
    };
    let one = rate(&depths[&1]);
    let deeper =
        depths.iter().filter(|(depth, _)| **depth > 1).map(|(depth, figures)| (*depth, rate(figures)));
    let Some((depth, best)) = deeper.max_by(|a, b| a.1.total_cmp(&b.1)) else { return Vec::new() };
    let estimate = without_interval(best / one);
    let statement = format!(
        "{depth} random reads at a time bring {} times as many per second as one: {} instead of {}{}.",
        number(estimate.value),
        number(best),
        number(one),
        remark(&estimate)
    );
    let points = depths.iter().map(|(depth, figures)| {
        Datum::record([("depth", Datum::Integer(*depth)), ("iops", Datum::Number(rate(figures)))])
    });
    let points = Datum::List(points.collect());
    let evidence = depths.values().flatten().map(Stated::evidence).collect();
    let finding = Finding::number(FindingCode::ConcurrencyGain, estimate, "ratio", statement, evidence)
        .with_data("depth", Datum::Integer(depth))
        .with_data("points", points);
    vec![Subject::of(run).qualify(remarked(finding, run, &estimate))]
}
