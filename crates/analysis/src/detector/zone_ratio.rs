//! How much faster a disk is at its outer than at its inner diameter.
//! # What it finds
//! Throughput at the start relative to that at the end.
//! # Why it matters
//! It says what is gained by putting hot data at the start of a disk: a factor of 1.5 to 2.3.
//! # How
//! The means of the samples of the first and of the last hundredth of the range, which are independent; the interval of their ratio
//! from the relative half widths of the two, added as squares.
//! Of imported figures, the outermost of the first third and the innermost of the last third of the drive.
//! # Cannot tell when
//! The drive does not rotate, or nothing tells; a part was surveyed; other load hides the zones; too few samples of an edge.
//! # Known problems
//! Where a link is the limit at the outer diameter, the ratio is not that of the medium: see `interface-limit`.
//! # References
//! Article A and C of the project's sources: 1.50 and 2.1.

use super::detect::{Detector, Need};
use super::stated;
use super::trust::covers;
use super::zones::{map_of_disk, operation};
use crate::examined::Examined;
use crate::measured::survey_evidence;
use crate::stats::ratio::quotient;
use model::finding::{Finding, FindingCode, Outcome, SurveyUnknown, ZoneRatio};

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::ZoneRatio], needs: Need::SURVEYED_OR_STATED, detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    if stated::is_stated(run) {
        return stated::ratio(run);
    }
    vec![Finding::ZoneRatio(Outcome::of(zone_ratio(run), survey_evidence(run, operation(run))))]
}

fn zone_ratio(run: &Examined<'_>) -> Result<ZoneRatio, SurveyUnknown> {
    let map = map_of_disk(run)?;
    if !covers(run, map.range) {
        return Err(SurveyUnknown::OnlyPart);
    }
    let edge = |start| map.edge(start).ok_or(SurveyUnknown::TooFewAtEdge { start, needed: 8 });
    let (start, end) = (edge(true)?, edge(false)?);
    let ratio = quotient(&end.seconds_per_byte, &start.seconds_per_byte);
    Ok(ZoneRatio { ratio, places: vec![start.range, end.range], imported: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::estimate::Estimate;

    #[test]
    fn errors_of_both_edges_add_as_squares() {
        let edge = |value: f64, share: f64| Estimate {
            value,
            low: value * (1.0 - share),
            high: value * (1.0 + share),
            confidence: 0.95,
            effective_count: 20.0,
        };
        let ratio = quotient(&edge(2e-8, 0.003), &edge(1e-8, 0.004));
        assert!((ratio.value - 2.0).abs() < 1e-12);
        assert!(
            (ratio.high / 2.0 - 1.005_012_5).abs() < 1e-6 && (ratio.low / 2.0 - 0.995_012_5).abs() < 1e-6
        );
    }
}
