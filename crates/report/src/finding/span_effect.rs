//! Words for the finding of short-stroking.

use super::access::why_interference;
use super::numbers::{number, size};
use super::{Group, NO_TIME, RATE_LIMITED, Reason, Subject, Wording};
use model::finding::{FindingCode, Known, SpanEffect, SpanEffectUnknown, SpanPoint};

/// Up to this gain nobody would short-stroke a drive.
const NO_GAIN_MAX: f64 = 1.1;

impl Wording for SpanEffect {
    const PLACE: (Group, &'static str) = (Group::Access, "Short-stroke gain (1 %)");

    fn statement(known: &Known<SpanEffect>, _: FindingCode, _: &Subject<'_>) -> String {
        let SpanEffect { gain, points } = &known.conclusion;
        if gain.high <= NO_GAIN_MAX {
            return "Random reads within a small span are no faster than over the whole range.".into();
        }
        let parts: Vec<String> = [("10 %", 0.1), ("1 %", 0.01)]
            .iter()
            .filter_map(|(name, share)| Some((name, nearest(points, *share)?)))
            .map(|(name, point)| {
                let (times, span) = (number(point.gain.value), size(point.span_bytes.get()));
                format!("{times} × within the first {name} ({span})")
            })
            .collect();
        format!("Gain in random read IOPS at QD 1: {}.", parts.join(", "))
    }
}

impl Reason for SpanEffectUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::RateLimited => RATE_LIMITED.into(),
            Self::NoTime => NO_TIME.into(),
            Self::Interference(by) => why_interference(*by),
            Self::PartlyUnmapped => "Inconclusive: parts of the drive hold no data, and reads there are faster. Write the whole drive once.".into(),
            Self::TooFewRounds => {
                "Inconclusive: fewer than two rounds without failures over the whole range and over 1 % of it.".into()
            }
        }
    }
}

/// The point of that share; spans are rounded to whole blocks.
fn nearest(points: &[SpanPoint], share: f64) -> Option<&SpanPoint> {
    points.iter().find(|point| (point.share / share - 1.0).abs() <= 0.05)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;
    use model::estimate::Estimate;
    use model::units::Bytes;

    fn point(share: f64, span_bytes: u64, iops: f64, gain: f64) -> SpanPoint {
        SpanPoint {
            share,
            span_bytes: Bytes::new(span_bytes),
            iops,
            low: iops,
            high: iops,
            gain: Estimate::exact(gain),
        }
    }

    #[test]
    fn a_gain_names_both_spans() {
        let points = vec![
            point(0.01, 5_000_000_000, 160.0, 2.06),
            point(0.1, 50_000_000_000, 120.0, 1.54),
            point(1.0, 500_000_000_000, 77.8, 1.0),
        ];
        let finding = known(SpanEffect { gain: Estimate::exact(2.06), points });
        assert_eq!(
            statement(&finding, FindingCode::SpanEffect),
            "Gain in random read IOPS at QD 1: 1.54 × within the first 10 % (50.0 GB), 2.06 × within the first 1 % (5.00 GB)."
        );
    }
}
