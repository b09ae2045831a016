//! What it brings to use only a part of a drive.
//!
//! # What it finds
//! Single random reads per second over the first hundredth of the span, as a multiple of those over all of it; and the same for other
//! parts, in the data.
//! # Why it matters
//! On a disk the arm has less far to go within a part ("short-stroking"): a database on the first tenth of a disk gets half as many
//! reads again. On flash it makes no difference, and where it does, a cache holds part of the span.
//! # How
//! Mean latency of random reads, one at a time, of the same block size, over stretches that begin where the whole span begins; means
//! over rounds as in `stats::grouped`, in logarithms.
//! # Cannot tell when
//! The part and the whole were not both measured in two rounds without failures; answers in no time.
//! # Known problems
//! A part no larger than some caches of the drive is answered from them in part. The data say how large each part was.
//! # References
//! Wong, "Discovering hard disk physical geometry through microbenchmarking", 2019 (20 % more requests per second on half of a
//! disk, 55 % on a tenth).

use super::trust::Subject;
use super::wording::{number, size};
use super::{Detector, Need};
use crate::measured::{
    NO_TIME, Part, Slice, Visit, evidence_of, in_no_time, is_measurement, random_groups, random_visits,
    round_ratios,
};
use crate::stats::CONFIDENCE;
use crate::stats::grouped::mean_of_visits;
use crate::stats::mean::Mean;
use crate::stats::ratio::{Pair, difference, logarithm};
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;
use model::units::Bytes;
use std::collections::BTreeMap;

/// See the head of this file.
pub(super) struct SpanEffect;

/// The part that the value is about, and how far from it a measured part may be: stretches are rounded to whole blocks.
const PART: f64 = 0.01;
const PART_TOLERANCE: f64 = 0.05;
const BATCH_OPERATIONS: f64 = 20.0;
const ERROR_SHARE_MAX: f64 = 0.01;
/// Up to this gain nobody would divide a drive for it.
const NO_GAIN_MAX: f64 = 1.1;

/// A stretch of the span, with the logarithm of single reads per second.
struct Stretch {
    bytes: Bytes,
    mean: Mean,
}

impl Detector for SpanEffect {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::SpanEffect]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Random(Operation::Read)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let stretches = by_range(run);
        if stretches.len() < 2 {
            // Whoever measures one span only asks nothing about others.
            return Vec::new();
        }
        let finding =
            found(run, stretches).unwrap_or_else(|why| Finding::unknown(FindingCode::SpanEffect, why));
        vec![finding]
    }
}

/// Single reads of the block size that was measured over the widest range, by the length of the range.
fn by_range<'run>(run: &RunView<'run>) -> BTreeMap<Bytes, Vec<Visit<'run>>> {
    let whole = random_groups(run, Operation::Read).remove(&1);
    let Some(model) = whole.as_ref().and_then(|visits| visits.first()).map(|visit| visit.workload) else {
        return BTreeMap::new();
    };
    let is_alike = |visit: &Visit<'_>| {
        let workload = visit.workload;
        workload.in_flight_max() == 1
            && workload.block_sizes == model.block_sizes
            && workload.range.first() == model.range.first()
            && is_measurement(visit.summary)
            && visit.error_share() <= ERROR_SHARE_MAX
    };
    let mut stretches: BTreeMap<Bytes, Vec<Visit<'run>>> = BTreeMap::new();
    for visit in random_visits(run, Operation::Read).into_iter().filter(is_alike) {
        stretches.entry(visit.workload.range.bytes()).or_default().push(visit);
    }
    stretches
}

fn found(run: &RunView<'_>, stretches: BTreeMap<Bytes, Vec<Visit<'_>>>) -> Result<Finding, String> {
    let visits: Vec<Visit<'_>> = stretches.values().flatten().copied().collect();
    if in_no_time(run, &visits) {
        return Err(NO_TIME.into());
    }
    let stretch =
        |(bytes, visits): (Bytes, Vec<Visit<'_>>)| Some(Stretch { bytes, mean: rate(run, &visits)? });
    let stretches: Vec<Stretch> = stretches.into_iter().filter_map(stretch).collect();
    let few = "It takes two rounds without failures over the whole span and over a hundredth of it.";
    let whole = stretches.last().ok_or(few)?;
    let share = |stretch: &Stretch| stretch.bytes.0 as f64 / whole.bytes.0 as f64;
    let part =
        stretches.iter().find(|stretch| (share(stretch) / PART - 1.0).abs() <= PART_TOLERANCE).ok_or(few)?;
    let gain = |stretch: &Stretch| {
        difference(&stretch.mean, &whole.mean).interval(CONFIDENCE).map_monotonic(f64::exp)
    };
    let effect = gain(part);
    let points = stretches.iter().map(|stretch| {
        let iops = stretch.mean.interval(CONFIDENCE).map_monotonic(f64::exp);
        Datum::record([
            ("span", Datum::Number(share(stretch))),
            ("span_bytes", Datum::Integer(stretch.bytes.0)),
            ("iops", Datum::Number(iops.value)),
            ("low", Datum::Number(iops.low)),
            ("high", Datum::Number(iops.high)),
        ])
    });
    let tenth = stretches.iter().find(|stretch| (share(stretch) / 0.1 - 1.0).abs() <= PART_TOLERANCE);
    let statement = sentence(part, &effect, tenth.map(|tenth| (tenth, gain(tenth))), whole);
    let points = Datum::List(points.collect());
    let finding =
        Finding::number(FindingCode::SpanEffect, effect, "ratio", statement, evidence_of(visits.iter()))
            .with_data("points", points);
    Ok(Subject::of(run).qualify(finding))
}

fn sentence(
    part: &Stretch,
    effect: &model::estimate::Estimate,
    tenth: Option<(&Stretch, model::estimate::Estimate)>,
    whole: &Stretch,
) -> String {
    if effect.high <= NO_GAIN_MAX {
        return "Reads within a small part of it are as quick as over all of it: it has no arm to move."
            .into();
    }
    let of_tenth = tenth.map_or(String::new(), |(tenth, gain)| {
        format!(" within the first tenth ({}) {} times as many, and", size(tenth.bytes.0), number(gain.value))
    });
    let within =
        format!("within the first hundredth ({}) {} times as many", size(part.bytes.0), number(effect.value));
    format!(
        "Single random reads come {} times a second over all of it;{of_tenth} {within}.",
        number(whole.mean.value.exp())
    )
}

/// The logarithm of reads per second, one at a time.
fn rate(run: &RunView<'_>, visits: &[Visit<'_>]) -> Option<Mean> {
    let pair = |slice: &Slice| Pair { numerator: slice.operations, denominator: slice.latency_s };
    let rounds = round_ratios(run, visits, Operation::Read, Part::Whole, BATCH_OPERATIONS, pair);
    let rounds: Vec<Mean> = rounds.iter().filter_map(logarithm).collect();
    mean_of_visits(&rounds)
}
