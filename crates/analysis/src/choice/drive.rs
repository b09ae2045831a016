//! What is known of a drive's writes, from the findings of its runs.

use super::unknown::WritesUnknown;
use model::estimate::Estimate;
use model::finding::{Finding, FindingCode, IdleRecovery, RecordingKind, WriteCliff, WriteSteadyState};
use model::run::Run;

#[derive(Clone, Debug, PartialEq)]
pub struct DriveWrites {
    pub kind: Option<String>,
    pub in_order: Result<Estimate, WritesUnknown>,
    pub at_random: Result<AtRandom, WritesUnknown>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AtRandom {
    /// The write rate before the cliff, in bytes per second.
    pub before: Estimate,
    pub fall: Option<Fall>,
    /// What is regained for each second of a pause, B/s.
    pub regained: Option<Estimate>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fall {
    pub bytes: Estimate,
    /// The write rate behind the cliff, in bytes per second.
    pub after: Estimate,
}

impl DriveWrites {
    pub fn of(runs: &[&Run]) -> DriveWrites {
        let findings: Vec<&Finding> = runs.iter().flat_map(|run| &run.findings).collect();
        let mut in_order = Err(WritesUnknown::InOrder);
        for finding in &findings {
            if finding.code() == FindingCode::WriteRateMean && in_order.is_err() {
                in_order = finding.estimate().ok_or(WritesUnknown::InOrder);
            }
        }
        DriveWrites { kind: kind(&findings), in_order, at_random: at_random(&findings) }
    }

    /// The confidence of the estimates; of a drive of which nothing is estimated, that of a sure thing.
    pub(super) fn confidence(&self) -> f64 {
        let mut confidence = 1.0_f64;
        if let Ok(random) = &self.at_random {
            confidence = confidence.min(random.before.confidence);
        }
        if let Ok(rate) = &self.in_order {
            confidence = confidence.min(rate.confidence);
        }
        confidence
    }
}

fn kind(findings: &[&Finding]) -> Option<String> {
    let known = findings.iter().find_map(|finding| finding.as_known::<RecordingKind>())?;
    Some(known.conclusion.recording.name().into())
}

fn at_random(findings: &[&Finding]) -> Result<AtRandom, WritesUnknown> {
    if let Some(known) = findings.iter().find_map(|finding| finding.as_known::<WriteCliff>())
        && !known.conclusion.comes_back
    {
        let cliff = &known.conclusion;
        let recovery = findings.iter().find_map(|finding| finding.as_known::<IdleRecovery>());
        return Ok(AtRandom {
            before: Estimate::exact(cliff.before),
            fall: Some(Fall { bytes: cliff.bytes, after: Estimate::exact(cliff.after) }),
            regained: recovery.map(|known| known.conclusion.rate),
        });
    }
    match findings.iter().find_map(|finding| finding.as_known::<WriteSteadyState>()) {
        Some(steady) => Ok(AtRandom { before: steady.conclusion.rate, fall: None, regained: None }),
        None => Err(WritesUnknown::AtRandom),
    }
}
