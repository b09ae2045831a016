//! What is known of a drive's writes, from the findings of its runs.

use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode, Outcome, Value};
use model::run::Run;

/// What is known of a drive's writes.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveWrites {
    /// `cmr`, `smr` or `flash`.
    pub kind: Option<String>,
    /// The rate of writes in order, B/s, or why it is not known.
    pub in_order: Result<Estimate, String>,
    /// Writes at random places, or why they are not known.
    pub at_random: Result<AtRandom, String>,
}

/// How a drive writes at random places.
#[derive(Clone, Debug, PartialEq)]
pub struct AtRandom {
    /// The rate at first, B/s.
    pub before: Estimate,
    /// Where it falls, if it does.
    pub fall: Option<Fall>,
    /// What is regained for each second of a pause, B/s.
    pub regained: Option<Estimate>,
}

/// A lasting fall of the rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Fall {
    /// What can be written before, bytes.
    pub bytes: Estimate,
    /// The rate after it, B/s.
    pub after: Estimate,
}

impl DriveWrites {
    /// From one run or several of the same drive; of what several found, the first counts.
    pub fn of(runs: &[&Run]) -> DriveWrites {
        let findings: Vec<&Finding> = runs.iter().flat_map(|run| &run.findings).collect();
        let number = |code| findings.iter().filter(|finding| finding.code == code).find_map(|f| f.estimate());
        let in_order = number(FindingCode::WriteRateMean).copied().ok_or_else(|| {
            "Writes in order were not measured. Measure them: drivescope surface TARGET --write".to_string()
        });
        DriveWrites { kind: kind(&findings), in_order, at_random: at_random(&findings) }
    }

    /// The confidence of the estimates; of a drive of which nothing is estimated, that of a sure thing.
    pub(super) fn confidence(&self) -> f64 {
        let random = self.at_random.iter().map(|random| random.before.confidence);
        let in_order = self.in_order.iter().map(|rate| rate.confidence);
        random.chain(in_order).fold(1.0, f64::min)
    }
}

fn kind(findings: &[&Finding]) -> Option<String> {
    findings.iter().filter(|finding| finding.code == FindingCode::RecordingKind).find_map(|finding| {
        match &finding.outcome {
            Outcome::Known(conclusion) => match &conclusion.value {
                Value::Text(kind) => Some(kind.to_string()),
                Value::Number { .. } => None,
            },
            Outcome::Unknown { .. } => None,
        }
    })
}

fn at_random(findings: &[&Finding]) -> Result<AtRandom, String> {
    let of = |code| findings.iter().find(|finding| finding.code == code);
    let regained = of(FindingCode::IdleRecovery).and_then(|finding| finding.estimate()).copied();
    if let Some((finding, bytes)) = of(FindingCode::WriteCliff).and_then(|f| Some((f, f.estimate()?)))
        && !comes_back(finding)
        && let (Some(before), Some(after)) = (rate(finding, "before"), rate(finding, "after"))
    {
        return Ok(AtRandom { before, fall: Some(Fall { bytes: *bytes, after }), regained });
    }
    let steady = of(FindingCode::WriteSteadyState).and_then(|finding| finding.estimate()).copied();
    steady.map(|before| AtRandom { before, fall: None, regained: None }).ok_or_else(|| {
        "Writes at random places were not measured, or not for long enough. Measure them: drivescope sustain TARGET --write"
            .to_string()
    })
}

/// Whether the rate of a cliff came back by itself, so that it is no fall that lasts.
fn comes_back(cliff: &Finding) -> bool {
    let Outcome::Known(conclusion) = &cliff.outcome else { return false };
    conclusion.data.iter().any(|(name, datum)| name == "comes_back" && *datum == Datum::Flag(true))
}

/// A rate in the data of a finding: a number alone, or one with its interval.
fn rate(finding: &Finding, name: &str) -> Option<Estimate> {
    let Outcome::Known(conclusion) = &finding.outcome else { return None };
    let datum = conclusion.data.iter().find(|(key, _)| key == name).map(|(_, datum)| datum)?;
    match datum {
        Datum::Number(rate) => Some(Estimate::exact(*rate)),
        Datum::Record(parts) => {
            let part = |name: &str| {
                parts.iter().find(|(key, _)| key == name).and_then(|(_, datum)| match datum {
                    Datum::Number(number) => Some(*number),
                    _ => None,
                })
            };
            Some(Estimate { low: part("low")?, high: part("high")?, ..Estimate::exact(part("value")?) })
        }
        _ => None,
    }
}
