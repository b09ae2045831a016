//! What short-stroking brings: using only a part of a drive.
//! # What it finds
//! IOPS of random reads at queue depth 1 over the first 1 % of the span, relative to the whole; other spans in the data.
//! # Why it matters
//! Seeks are shorter within a part of a disk. On flash the ratio is 1, and where it is not, a cache holds part of the span.
//! # How
//! Mean latency of reads of one block size over spans with the same start; means over rounds as in `stats::grouped`. The first read of
//! a visit seeks from wherever the visit before it ended, and is left out: of a stripe one for each drive, without a layout half.
//! # Cannot tell when
//! The part and the whole were not both measured in two rounds without failures; requests that complete in no time; other I/O; parts that
//! hold nothing.
//! # Known problems
//! A part no larger than some drive caches is answered from them in part. The data say how large each part was.
//! # References
//! Wong, "Discovering hard disk physical geometry through microbenchmarking", 2019 (20 % more on half a disk).

use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::examined::Examined;
use crate::measured::{
    Part, Slice, Visit, evidence_of, in_no_time, is_measurement, random_groups, random_visits, round_ratios,
};
use crate::moving_parts::turns;
use crate::stats::CONFIDENCE;
use crate::stats::grouped::mean_of_visits;
use crate::stats::mean::Mean;
use crate::stats::ratio::{Pair, difference, logarithm, ratio_of_sums};
use crate::stripe::Arms;
use model::estimate::Estimate;
use model::finding::{Finding, FindingCode, Outcome, SpanEffect, SpanEffectUnknown, SpanPoint};
use model::record::IoRecord;
use model::request::Operation;
use model::run::RunView;
use model::units::Bytes;
use std::collections::BTreeMap;

/// The span that the value is about, and how far from it a measured one may be: spans are rounded to whole blocks.
const SHARE: f64 = 0.01;
const SHARE_TOLERANCE: f64 = 0.05;
const BATCH_OPERATIONS: f64 = 20.0;
const ERROR_SHARE_MAX: f64 = 0.01;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::SpanEffect], needs: &[Need::Random(Operation::Read)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let spans = by_span(run);
    if spans.len() < 2 {
        return Vec::new();
    }
    let outcome = Outcome::of(compare(run, &spans), evidence_of(spans.values().flatten()));
    vec![Finding::SpanEffect(outcome).with_caveats(&doubts(run))]
}

/// Random reads at queue depth 1 of the block size that was measured over the widest range, by the length of the span.
fn by_span<'run>(run: &RunView<'run>) -> BTreeMap<Bytes, Vec<Visit<'run>>> {
    let mut spans: BTreeMap<Bytes, Vec<Visit<'run>>> = BTreeMap::new();
    let whole = random_groups(run, Operation::Read).remove(&1);
    let Some(reference) = whole.as_ref().and_then(|samples| samples.first()) else { return spans };
    for sample in random_visits(run, Operation::Read) {
        if is_comparable(&sample, reference) {
            spans.entry(sample.workload.range.bytes()).or_default().push(sample);
        }
    }
    spans
}

fn is_comparable(sample: &Visit<'_>, reference: &Visit<'_>) -> bool {
    sample.workload.in_flight_max() == 1
        && sample.workload.block_sizes == reference.workload.block_sizes
        && sample.workload.range.first() == reference.workload.range.first()
        && is_measurement(sample.summary)
        && sample.error_share() <= ERROR_SHARE_MAX
}

fn compare(
    run: &Examined<'_>,
    spans: &BTreeMap<Bytes, Vec<Visit<'_>>>,
) -> Result<SpanEffect, SpanEffectUnknown> {
    let samples: Vec<Visit<'_>> = spans.values().flatten().copied().collect();
    if in_no_time(run, &samples) {
        return Err(SpanEffectUnknown::NoTime);
    }
    if let Some(by) = run.interference() {
        return Err(SpanEffectUnknown::Interference(by));
    }
    if turns(run) == Some(false) && run.read_groups().is_ok() {
        return Err(SpanEffectUnknown::PartlyUnmapped);
    }
    let arms = run.arms();
    let mut means = Vec::new();
    for (bytes, samples) in spans {
        if let Some(mean) = mean_iops(run, samples, arms) {
            means.push((*bytes, mean));
        }
    }
    let Some((whole_bytes, whole)) = means.last() else { return Err(SpanEffectUnknown::TooFewRounds) };
    let points: Vec<SpanPoint> = means
        .iter()
        .map(|(bytes, mean)| {
            let iops = from_logarithm(mean);
            let gain = from_logarithm(&difference(mean, whole));
            let share = bytes.as_f64() / whole_bytes.as_f64();
            SpanPoint { share, span_bytes: *bytes, iops: iops.value, low: iops.low, high: iops.high, gain }
        })
        .collect();
    let at_share = points.iter().find(|point| (point.share / SHARE - 1.0).abs() <= SHARE_TOLERANCE);
    match at_share {
        Some(point) => Ok(SpanEffect { gain: point.gain, points }),
        None => Err(SpanEffectUnknown::TooFewRounds),
    }
}

fn from_logarithm(mean: &Mean) -> Estimate {
    mean.interval(CONFIDENCE).map_monotonic(f64::exp)
}

fn mean_iops(run: &RunView<'_>, samples: &[Visit<'_>], arms: Arms) -> Option<Mean> {
    let mut rounds: Vec<Mean> = Vec::new();
    for sample in samples {
        let reads = reads_within(run, sample, arms);
        if let Some(mean) = ratio_of_sums(&reads).as_ref().and_then(logarithm) {
            rounds.push(mean);
        }
    }
    if rounds.is_empty() {
        let pair = Slice::operations_over_latency;
        let ratios = round_ratios(run, samples, Operation::Read, Part::Steady, BATCH_OPERATIONS, pair);
        rounds.extend(ratios.iter().filter_map(logarithm));
    }
    mean_of_visits(&rounds)
}

/// The reads of a visit that were kept one by one, each by an arm that the one before it left within the span.
fn reads_within(run: &RunView<'_>, visit: &Visit<'_>, arms: Arms) -> Vec<Pair> {
    let mut reads = Vec::new();
    let stripe = arms.stripe();
    let members = if let Some(layout) = stripe { layout.members as usize } else { 1 };
    let mut is_within = vec![false; members];
    for io in run.series.ios(visit.phase).filter(IoRecord::is_done) {
        let arm = if let Some(layout) = stripe { layout.member_of(io.offset_bytes) } else { 0 };
        if is_within[arm] {
            reads.push(Pair { numerator: 1.0, denominator: io.service_ns() as f64 / 1e9 });
        }
        is_within[arm] = true;
    }
    if arms == Arms::Shared { reads.split_off(reads.len() / 2) } else { reads }
}
