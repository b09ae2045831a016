//! Findings of one run, checked against each other: what cannot both be true is withdrawn, and told as a contradiction instead.
//!
//! # What it finds
//! Pairs of findings that exclude each other by what drives can be: flash that rotates, a rate above that of the link.
//! # Why it matters
//! Each detector knows its own evidence only. Whoever reads two findings that exclude each other believes the wrong one half of the time.
//! # How
//! A rule for each pair, on words or on whole intervals: numbers exclude each other where their intervals do.
//! # Cannot tell when
//! One of the two is not known: then there is nothing to contradict.
//! # Known problems
//! Intervals of 95 % exclude each other by chance in one pair of 200. Which of the two is wrong is not told.
//! # References
//! None; each rule names its reason in `model::finding::ContradictionKind`.

use model::estimate::Estimate;
use model::finding::{
    Contradicting, Contradiction, ContradictionKind, Contradictions, Finding, FindingCode, LimitedBy,
    LimitedOperations, Outcome, RateLimit, Recording, StripeLayout, VolumeKind, of_code,
};

/// Two codes, and when what was found of them cannot both be true.
struct Rule {
    kind: ContradictionKind,
    codes: [FindingCode; 2],
    exclude: fn(&Finding, &Finding) -> bool,
}

const fn rule(
    kind: ContradictionKind,
    one: FindingCode,
    other: FindingCode,
    exclude: fn(&Finding, &Finding) -> bool,
) -> Rule {
    Rule { kind, codes: [one, other], exclude }
}

const RULES: [Rule; 11] = [
    rule(ContradictionKind::FlashMoves, FindingCode::RecordingKind, FindingCode::RotationPeriod, is_flash),
    rule(ContradictionKind::FlashMoves, FindingCode::RecordingKind, FindingCode::SeekAverage, is_flash),
    rule(ContradictionKind::FlashMoves, FindingCode::RecordingKind, FindingCode::TrackLayout, is_flash),
    rule(
        ContradictionKind::FasterThanRotation,
        FindingCode::AccessTime,
        FindingCode::RotationPeriod,
        is_within_half,
    ),
    rule(ContradictionKind::SeekOrder, FindingCode::SeekAverage, FindingCode::SeekFullStroke, is_above),
    rule(ContradictionKind::SeekOrder, FindingCode::SeekTrackToTrack, FindingCode::SeekAverage, is_above),
    rule(ContradictionKind::StripeOnOneDisk, FindingCode::StripeLayout, FindingCode::TrackLayout, is_stripe),
    rule(ContradictionKind::OverLink, FindingCode::ReadRateOuter, FindingCode::InterfaceLimit, is_over_link),
    rule(ContradictionKind::OverLink, FindingCode::ReadRateInner, FindingCode::InterfaceLimit, is_over_link),
    rule(ContradictionKind::OverLink, FindingCode::ReadRateMean, FindingCode::InterfaceLimit, is_over_link),
    rule(ContradictionKind::OverLimit, FindingCode::WriteSteadyState, FindingCode::RateLimit, is_over_limit),
];

/// A plateau has a narrower interval than the edges that lie on it.
const LINK_TOLERANCE: f64 = 1.02;

/// The contradictions among the findings, each of which is withdrawn; none where there are none.
pub(crate) fn withdrawn(findings: &mut [Finding]) -> Option<Finding> {
    let mut contradictions = Vec::new();
    for Rule { kind, codes: [one, other], exclude } in &RULES {
        if let (Some(one), Some(other)) = (of_code(findings, *one), of_code(findings, *other))
            && let (Some(first), Some(second)) = (one.value(), other.value())
            && exclude(one, other)
        {
            let between = [
                Contradicting { code: one.code(), value: first },
                Contradicting { code: other.code(), value: second },
            ];
            contradictions.push(Contradiction { kind: *kind, between });
        }
    }
    if contradictions.is_empty() {
        return None;
    }
    let mut evidence = Vec::new();
    for Contradiction { between: [one, other], .. } in &contradictions {
        for (code, by) in [(one.code, other.code), (other.code, one.code)] {
            if let Some(finding) = findings.iter_mut().find(|finding| finding.code() == code) {
                evidence.extend_from_slice(finding.evidence());
                finding.withdraw(by);
            }
        }
    }
    Some(Finding::Contradictions(Outcome::known(Contradictions { contradictions }, evidence)))
}

fn is_flash(kind: &Finding, _: &Finding) -> bool {
    matches!(kind.word(), Some(word) if word == Recording::Flash.name())
}

fn both(one: &Finding, other: &Finding) -> Option<(Estimate, Estimate)> {
    Some((one.estimate()?, other.estimate()?))
}

fn is_above(one: &Finding, other: &Finding) -> bool {
    matches!(both(one, other), Some((one, other)) if one.low > other.high)
}

fn is_within_half(access: &Finding, rotation: &Finding) -> bool {
    matches!(both(access, rotation), Some((access, rotation)) if access.high < rotation.low / 2.0)
}

fn is_over_link(rate: &Finding, link: &Finding) -> bool {
    matches!(both(rate, link), Some((rate, link)) if rate.low > LINK_TOLERANCE * link.high)
}

/// A mirror of two disks of one model follows their tracks, too.
fn is_stripe(volume: &Finding, _: &Finding) -> bool {
    matches!(volume.as_known::<StripeLayout>(), Some(volume) if volume.conclusion.kind == VolumeKind::Stripe)
}

/// What a limit by bytes allows writes for ever.
fn write_limit(limit: &Finding) -> Option<Estimate> {
    let limit = &limit.as_known::<RateLimit>()?.conclusion;
    let holds_writes = limit.by == LimitedBy::Bytes && limit.operations != LimitedOperations::Reads;
    holds_writes.then_some(limit.sustained)
}

fn is_over_limit(rate: &Finding, limit: &Finding) -> bool {
    matches!((rate.estimate(), write_limit(limit)), (Some(rate), Some(limit)) if rate.low > limit.high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::finding::{ProbeTimes, RecordingKind, RotationPeriod, SeekAverage, SeekFullStroke};

    fn within(low: f64, high: f64) -> Estimate {
        Estimate { low, high, confidence: 0.95, ..Estimate::exact((low + high) / 2.0) }
    }

    fn kind(recording: Recording) -> Finding {
        let times = ProbeTimes::default();
        let kind = RecordingKind { recording, reasons: Vec::new(), times, cost_after_cliff: None };
        Finding::RecordingKind(Outcome::known(kind, Vec::new()))
    }

    fn rotation(low: f64, high: f64) -> Finding {
        let period = RotationPeriod {
            period: within(low, high),
            rpm: 7200.0,
            phase_scatter_turns: 0.001,
            repeated_reads: 10,
            repeated_reads_in_phase: 10,
        };
        Finding::RotationPeriod(Outcome::known(period, Vec::new()))
    }

    fn seeks(average: (f64, f64), full: (f64, f64)) -> Vec<Finding> {
        let seek = within(average.0, average.1);
        let average = SeekAverage { seek, is_bounded: false, hops: 100, noise: 0.01, held_up: 0.0 };
        let full = SeekFullStroke { seek: within(full.0, full.1), is_bounded: false, curve: Vec::new() };
        vec![
            Finding::SeekAverage(Outcome::known(average, Vec::new())),
            Finding::SeekFullStroke(Outcome::known(full, Vec::new())),
        ]
    }

    fn kinds(findings: &mut [Finding]) -> Vec<ContradictionKind> {
        match withdrawn(findings) {
            Some(Finding::Contradictions(Outcome::Known(known))) => {
                known.conclusion.contradictions.iter().map(|contradiction| contradiction.kind).collect()
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn flash_that_rotates_is_one_contradiction_and_no_two_truths() {
        let mut findings = vec![kind(Recording::Flash), rotation(8.332e-3, 8.334e-3)];
        assert_eq!(kinds(&mut findings), [ContradictionKind::FlashMoves]);
        assert_eq!(findings[0], Finding::RecordingKind(Outcome::Withdrawn(FindingCode::RotationPeriod)));
        assert_eq!(findings[1], Finding::RotationPeriod(Outcome::Withdrawn(FindingCode::RecordingKind)));
        assert!(findings.iter().all(|finding| !finding.is_known() && finding.estimate().is_none()));
        let mut disk = vec![kind(Recording::Cmr), rotation(8.332e-3, 8.334e-3)];
        assert_eq!(kinds(&mut disk), []);
        assert!(disk.iter().all(Finding::is_known));
    }

    #[test]
    fn seeks_exclude_each_other_only_where_their_intervals_do() {
        assert_eq!(kinds(&mut seeks((8.0e-3, 8.4e-3), (6.0e-3, 7.9e-3))), [ContradictionKind::SeekOrder]);
        assert_eq!(kinds(&mut seeks((8.0e-3, 8.4e-3), (6.0e-3, 8.1e-3))), []);
    }
}
