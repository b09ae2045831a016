//! What over-provisioning gains: steady-state writes over a part of a drive.
//! # What it finds
//! Steady-state throughput of random writes over a part of the range, relative to all of it.
//! # Why it matters
//! Unused space of an SSD is room for garbage collection: a third of a drive can sustain several times the random writes.
//! # How
//! Each part, the smallest first, is filled sequentially and written at random until steady by SNIA's two criteria.
//! # Cannot tell when
//! The whole was not among the parts, or one was not steady within the limits.
//! # Known problems
//! A drive without TRIM that was full before gains nothing: unused space still holds data.
//! # References
//! SNIA, "Solid State Storage (SSS) Performance Test Specification", version 2.0.2, 2020: active range, steady state; Desnoyers,
//! "Analytic modeling of SSD write performance", SYSTOR 2012.

use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::clipping::{UsedPart, used_parts};
use crate::examined::Examined;
use crate::measured::evidence_of_phases;
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{ClippingEffect, ClippingEffectUnknown, ClippingPoint, Finding, FindingCode, Outcome};
use model::run::RunView;

/// The value is about the part nearest to this share.
const TOLD_SHARE: f64 = 0.5;
/// Parts are cut to whole blocks: this much is the whole.
const WHOLE_SHARE: f64 = 0.99;

struct PartRate {
    share: f64,
    rate: Estimate,
}

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::ClippingEffect],
    needs: &[Need::Asked(ExperimentName::Sustain)],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let parts = used_parts(run);
    // A scratch file that is filled and then written to is one part: nobody asked what clipping gains.
    if parts.len() < 2 {
        return Vec::new();
    }
    let samples = parts.iter().flat_map(|part| &part.batches);
    let phases: Vec<u32> = samples.map(|sample| sample.phase).collect();
    let outcome = Outcome::of(compare(run, &parts), evidence_of_phases(run, &phases));
    vec![Finding::ClippingEffect(outcome).with_caveats(&doubts(run))]
}

fn compare(run: &RunView<'_>, parts: &[UsedPart]) -> Result<ClippingEffect, ClippingEffectUnknown> {
    let widest = parts.iter().map(|part| part.range.bytes()).max().unwrap_or_default();
    let mut rates = Vec::new();
    for part in parts {
        rates.push(part_rate(part, widest.as_f64())?);
    }
    let (mut whole, mut told): (Option<&PartRate>, Option<&PartRate>) = (None, None);
    for rate in &rates {
        if rate.share >= WHOLE_SHARE {
            whole = whole.or(Some(rate));
        } else if told.is_none_or(|told| rate.distance() < told.distance()) {
            told = Some(rate);
        }
    }
    let whole = whole.ok_or(ClippingEffectUnknown::NoWhole)?;
    let told = told.ok_or(ClippingEffectUnknown::NoPart)?;
    Ok(ClippingEffect {
        gain: ratio(&told.rate, &whole.rate),
        points: rates.iter().map(PartRate::point).collect(),
        share: told.share,
        takes_trim: matches!(run.target.discard_max, Some(most) if !most.is_zero()),
        rates: (told.rate.value, whole.rate.value),
    })
}

impl PartRate {
    fn distance(&self) -> f64 {
        (self.share - TOLD_SHARE).abs()
    }

    fn point(&self) -> ClippingPoint {
        let Estimate { value, low, high, .. } = self.rate;
        ClippingPoint { share: self.share, bytes_per_second: value, low, high }
    }
}

fn part_rate(part: &UsedPart, widest: f64) -> Result<PartRate, ClippingEffectUnknown> {
    let bytes = part.range.bytes().as_f64();
    let share = bytes / widest;
    match part.steady_rate() {
        Some(rate) => Ok(PartRate { share, rate }),
        None => Err(ClippingEffectUnknown::NotSteady { share, times_written: part.written() / bytes }),
    }
}

/// The ratio of two rates measured one after the other: relative half-widths add in squares.
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
