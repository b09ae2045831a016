//! How much faster a disk is outside than inside.
//!
//! # What it finds
//! The rate at the outer edge over that at the inner one.
//! # Why it matters
//! It says what is gained by putting what is read most at the start of a disk: 1.5 to 2.3 times on disks.
//! # How
//! The means of the visits to the first and to the last hundredth of the range, which are independent; the interval of their ratio
//! from the relative half widths of the two, added as squares.
//! Of figures that another program stated, those in the first and in the last third of the drive, the outermost and the innermost.
//! # Cannot tell when
//! The drive does not turn, or it is not known whether it does; a part was surveyed; other load hides the zones; too few visits to
//! an edge.
//! # Known problems
//! Where a link is the limit outside, the ratio is that of what the host sees, not of the medium: see `interface-limit`.
//! # References
//! Article A and C of the project's sources: 1.50 and 2.1.

use super::stated;
use super::trust::is_one_disk;
use super::wording::number;
use super::zones::{map_of_disk, operation};
use super::{Detector, Need};
use crate::measured::{places, survey_evidence};
use crate::surface::SurfaceMap;
use model::estimate::Estimate;
use model::finding::{Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

/// See the head of this file.
pub(super) struct ZoneRatio;

impl Detector for ZoneRatio {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::ZoneRatio]
    }

    fn needs(&self) -> &'static [Need] {
        &[
            Need::Survey(Operation::Read),
            Need::Survey(Operation::Write),
            Need::Asked(crate::stated::EXPERIMENT),
        ]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        if stated::is_stated(run) {
            return stated::ratio(run);
        }
        let finding = map_of_disk(run).and_then(|map| found(run, &map));
        vec![finding.unwrap_or_else(|why| Finding::unknown(FindingCode::ZoneRatio, why))]
    }
}

fn found(run: &RunView<'_>, map: &SurfaceMap) -> Result<Finding, String> {
    if !super::trust::covers(run, map.range) {
        return Err("Only a part of the drive was surveyed; its edges are needed for their ratio.".into());
    }
    let edge = |start| map.edge(start).ok_or("Fewer than eight usable visits to an edge. Measure longer.");
    let (start, end) = (edge(true)?, edge(false)?);
    let estimate = ratio(&end.seconds_per_byte, &start.seconds_per_byte);
    let (outside, inside) =
        if is_one_disk(run.target) { ("outside", "inside") } else { ("at its start", "at its end") };
    let statement = if estimate.covers(1.0) {
        format!("The drive is as fast {inside} as {outside}.")
    } else {
        format!("The drive is {} times as fast {outside} as {inside}.", number(estimate.value))
    };
    let evidence = survey_evidence(run, operation(run));
    let finding = Finding::number(FindingCode::ZoneRatio, estimate, "ratio", statement, evidence);
    Ok(finding.with_data("places", places([start.range, end.range])))
}

fn ratio(top: &Estimate, bottom: &Estimate) -> Estimate {
    let value = top.value / bottom.value;
    let half = top.relative_half_width().hypot(bottom.relative_half_width());
    Estimate {
        value,
        low: value * (-half).exp(),
        high: value * half.exp(),
        confidence: top.confidence,
        effective_count: top.effective_count.min(bottom.effective_count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_both_edges_add_as_squares() {
        let edge = |value: f64, share: f64| Estimate {
            value,
            low: value * (1.0 - share),
            high: value * (1.0 + share),
            confidence: 0.95,
            effective_count: 20.0,
        };
        let ratio = ratio(&edge(2e-8, 0.003), &edge(1e-8, 0.004));
        assert!((ratio.value - 2.0).abs() < 1e-12);
        assert!(
            (ratio.high / 2.0 - 1.005_012_5).abs() < 1e-6 && (ratio.low / 2.0 - 0.995_012_5).abs() < 1e-6
        );
    }
}
