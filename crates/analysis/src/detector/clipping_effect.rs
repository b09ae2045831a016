//! What it gains to use only a part of a drive.
//!
//! # What it finds
//! How many times faster random writes are in the end on a part of the drive than on all of it.
//! # Why it matters
//! What is not used of an SSD is room for its own work: the less of what it erases is still needed, the less it has to copy. A drive of
//! 120 GB of which 40 GB are used can write several times as fast under a load that does not end.
//! # How
//! Each part is filled in order and then written at random until the rate is steady by SNIA's two criteria. Parts come in the order of
//! their size, the smallest first, so that what is not used was never written since the drive was trimmed.
//! # Cannot tell when
//! The whole was not among the parts, or the rate of one was not steady in the time and bytes that there were.
//! # Known problems
//! On a drive that takes no TRIM and was full before, what is not used still holds data, and nothing is gained.
//! # References
//! SNIA, "Solid State Storage (SSS) Performance Test Specification", version 2.0.2, 2020: active range, steady state; Desnoyers, "Analytic modeling of
//! SSD write performance", SYSTOR 2012.

use super::trust::Subject;
use super::wording::{number, rate};
use super::{Detector, Need};
use crate::clipping::{UsedPart, used_parts};
use crate::measured::evidence_of_phases;
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct ClippingEffect;

/// The part of which the effect is told, if it was used: half.
const TOLD_SHARE: f64 = 0.5;
/// Parts are cut to whole blocks: what is so near to the whole is the whole.
const WHOLE_SHARE: f64 = 0.99;

/// Said where that is so.
const NO_TRIM: &str =
    " It takes no TRIM: what was written before to the part that is not used is still kept.";
/// A rate counts as steady within a tenth to either side: less than the ratio of these ends is no gain to act on.
const WORTH_MIN: f64 = 1.1 / 0.9;

/// A part and its rate.
struct Point {
    share: f64,
    rate: Estimate,
}

impl Detector for ClippingEffect {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::ClippingEffect]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked("sustain")]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let parts = used_parts(run);
        // A scratch file that is filled and then written to is one part, of which nobody asked what clipping it gains.
        if parts.len() < 2 {
            return Vec::new();
        }
        let finding =
            found(run, &parts).unwrap_or_else(|why| Finding::unknown(FindingCode::ClippingEffect, why));
        vec![Subject::of(run).qualify(finding)]
    }
}

fn found(run: &RunView<'_>, parts: &[UsedPart]) -> Result<Finding, String> {
    let widest = parts.iter().map(|part| part.range.bytes().0).max().unwrap_or(1) as f64;
    let points: Result<Vec<Point>, String> = parts.iter().map(|part| point(part, widest)).collect();
    let points = points?;
    let is_whole = |point: &&Point| point.share >= WHOLE_SHARE;
    let whole = points.iter().find(is_whole).ok_or("All of the range was not among the parts.")?;
    let distance = |point: &&Point| ((point.share - TOLD_SHARE).abs() * 1e6) as u64;
    let told = points.iter().filter(|point| !is_whole(point)).min_by_key(distance);
    let told = told.ok_or("No part smaller than the range was used.")?;
    let effect = ratio(&told.rate, &whole.rate);
    let statement = format!(
        "On {} % of it random writes end at {}, on all of it at {}.{}",
        number(100.0 * told.share),
        rate(told.rate.value),
        rate(whole.rate.value),
        if takes_trim(run) { "" } else { NO_TRIM }
    );
    let phases: Vec<u32> = parts.iter().flat_map(|part| &part.pieces).map(|piece| piece.phase).collect();
    let finding = Finding::number(
        FindingCode::ClippingEffect,
        effect,
        "ratio",
        statement,
        evidence_of_phases(run, &phases),
    );
    let rows = points.iter().map(|point| {
        Datum::record([
            ("span", Datum::Number(point.share)),
            ("bytes_per_second", Datum::Number(point.rate.value)),
            ("low", Datum::Number(point.rate.low)),
            ("high", Datum::Number(point.rate.high)),
        ])
    });
    let finding = finding
        .with_data("points", Datum::List(rows.collect()))
        .with_data("share", Datum::Number(told.share));
    Ok(match effect.low > WORTH_MIN {
        true => finding.with_advice(format!(
            "Where random writes do not end, leave {} % of it without a partition, after a trim of all of it.",
            number(100.0 * (1.0 - told.share))
        )),
        false => finding,
    })
}

fn takes_trim(run: &RunView<'_>) -> bool {
    run.target.discard_max.is_some_and(|most| most.0 > 0)
}

fn point(part: &UsedPart, widest: f64) -> Result<Point, String> {
    let share = part.range.bytes().0 as f64 / widest;
    let rate = part.steady_rate().ok_or_else(|| {
        format!(
            "On {} % of it the rate was not steady when the run had written {:.1} times as much to it. More time may help: give a larger \
             --time-limit, or none.",
            number(100.0 * share),
            part.written() / part.range.bytes().0 as f64
        )
    })?;
    Ok(Point { share, rate })
}

/// The ratio of two rates that were measured one after the other: relative half-widths add in squares.
fn ratio(part: &Estimate, whole: &Estimate) -> Estimate {
    let half = part.relative_half_width().hypot(whole.relative_half_width());
    let value = part.value / whole.value;
    Estimate {
        value,
        low: value / (1.0 + half),
        high: value * (1.0 + half),
        effective_count: part.effective_count.min(whole.effective_count),
        ..*part
    }
}
