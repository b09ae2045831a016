//! Rates by the size of requests, where a program swept it.

use super::super::trust::Subject;
use super::super::wording::{memory, rate};
use crate::stated::{Stated, stated};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;
use std::collections::BTreeMap;

/// Fewer sizes are no sweep.
const SIZES_MIN: usize = 3;
/// From this share of the best rate on it is nearly the best.
const NEARLY: f64 = 0.9;

/// What differs by nothing but the size: operation, whether in order, how many at a time.
type Series = (Operation, bool, u64);

/// The curves; nothing when no program swept sizes.
pub(in super::super) fn sizes(run: &RunView<'_>) -> Vec<Finding> {
    let mut series: BTreeMap<Series, BTreeMap<u64, Stated<'_>>> = BTreeMap::new();
    for figure in stated(run) {
        let ([operation], shape) = (figure.workload.mix.operations(), figure.shape()) else { continue };
        if !figure.is_byte_by_byte() {
            let of = series.entry((*operation, shape.in_order, shape.at_once)).or_default();
            of.insert(shape.block.0, figure);
        }
    }
    series.retain(|_, sizes| sizes.len() >= SIZES_MIN);
    if series.is_empty() {
        return Vec::new();
    }
    let mut all: Vec<u64> = series.values().flat_map(BTreeMap::keys).copied().collect();
    all.sort_unstable();
    all.dedup();
    let mut statement: Vec<String> = series.iter().filter_map(sentence).collect();
    statement.push("Each size was measured once, so that no figure has an interval and a disturbed one looks like a slow size.".into());
    let count = Estimate::exact(all.len() as f64);
    let figures = || series.values().flat_map(BTreeMap::values);
    let evidence = figures().map(Stated::evidence).collect();
    let points = series.iter().flat_map(|(of, sizes)| sizes.values().map(|figure| point(*of, figure)));
    let finding = Finding::number(FindingCode::SizeProfile, count, "count", statement.join(" "), evidence)
        .with_data("points", Datum::List(points.collect()));
    vec![Subject::of(run).qualify(finding)]
}

fn bytes_per_second(figure: &Stated<'_>) -> f64 {
    1.0 / figure.seconds_per_byte()
}

/// "Reads in order, 4 at a time: 271 MB/s at best, nearly that from 64 KiB on."
fn sentence(
    ((operation, in_order, at_once), sizes): (&Series, &BTreeMap<u64, Stated<'_>>),
) -> Option<String> {
    let best = sizes.values().map(bytes_per_second).fold(0.0, f64::max);
    let below = sizes.iter().rev().find(|(_, figure)| bytes_per_second(figure) < NEARLY * best);
    let from = match below {
        Some((below, _)) => sizes.range(below + 1..).next()?.0,
        None => sizes.keys().next()?,
    };
    let verbs = if *operation == Operation::Write { "writes" } else { "reads" };
    let what = if *in_order { format!("{verbs} in order") } else { format!("random {verbs}") };
    let what = what[..1].to_uppercase() + &what[1..];
    let many = if *at_once == 1 { "one at a time".into() } else { format!("{at_once} at a time") };
    Some(format!("{what}, {many}: {} at best, and nearly that from {} on.", rate(best), memory(*from as f64)))
}

fn point((operation, in_order, at_once): Series, figure: &Stated<'_>) -> Datum {
    Datum::record([
        ("bytes", Datum::Integer(figure.shape().block.0)),
        ("operation", Datum::Text(operation.name().into())),
        ("pattern", Datum::Text(if in_order { "sequential" } else { "random" }.into())),
        ("depth", Datum::Integer(at_once)),
        ("bytes_per_second", Datum::Number(bytes_per_second(figure))),
        ("iops", Datum::Number(figure.per_second())),
    ])
}
