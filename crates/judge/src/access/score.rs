//! Verdicts: what was found of a drive, code by code, against what is true.

use super::knee;
use crate::document::{Document, covers, rows};
use crate::failure::Failure;
use crate::truth::Truths;
use crate::virtual_drive::Drive;
use model::finding::FindingCode;
use serde_json::Value;
use sim::truth::Truth;
use sim::truth::data::{TrackZone, TruthData};

#[derive(Clone, Copy, Debug)]
pub enum Allowed {
    Share(f64),
    /// A share of the truth, or so much in its unit if that is more.
    ShareOr(f64, f64),
    Exact,
    OneStep,
}

pub const CODES: &[(FindingCode, &str, Allowed)] = &[
    (FindingCode::AccessTime, "access time", Allowed::Share(0.02)),
    (FindingCode::LatencyModes, "kinds of answers", Allowed::Exact),
    (FindingCode::ConcurrencyKnee, "knee", Allowed::OneStep),
    (FindingCode::DriveCache, "drive cache", Allowed::Share(0.1)),
    (FindingCode::ReadAhead, "read-ahead", Allowed::Share(0.1)),
    (FindingCode::StripeLayout, "drives", Allowed::Exact),
    (FindingCode::RotationPeriod, "turn", Allowed::Share(20e-6)),
    (FindingCode::SeekTrackToTrack, "next track", Allowed::ShareOr(0.03, 1e-4)),
    (FindingCode::SeekAverage, "average seek", Allowed::ShareOr(0.03, 1e-4)),
    (FindingCode::SeekFullStroke, "full stroke", Allowed::ShareOr(0.03, 1e-4)),
    (FindingCode::TrackLayout, "sectors of tracks", Allowed::Share(0.05)),
];

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Not asked, or nothing is known to be true.
    None,
    Unknown,
    /// A value where nothing is true: a mechanism that is not there.
    Invented,
    /// A value: its error, whether that is allowed, and whether the interval holds the truth.
    Found {
        error: f64,
        allowed: bool,
        covered: Option<bool>,
    },
}

pub struct Score {
    pub name: String,
    /// Seconds of the drive's time that each experiment took.
    pub access_s: f64,
    pub geometry_s: f64,
    pub verdicts: Vec<Verdict>,
}

impl Score {
    pub fn of(drive: &Drive, access: &Document, geometry: &Document) -> Result<Score, Failure> {
        let truths = Truths::of(&drive.profile)?;
        let knee = knee::knee(&drive.profile);
        let points = access.rows(FindingCode::ConcurrencyGain, "points");
        let depths: Vec<f64> = points.iter().filter_map(|point| point["depth"].as_f64()).collect();
        let mut verdicts = Vec::new();
        for (code, _, allowed) in CODES {
            let found = access.finding(*code).or_else(|| geometry.finding(*code));
            let truth = truths.get(*code);
            verdicts.push(match code {
                FindingCode::TrackLayout => tracks(found, truth),
                FindingCode::StripeLayout => layout(found, truth),
                FindingCode::ConcurrencyKnee => of_knee(found, knee, &depths),
                _ => number(found, truths.value(*code), *allowed),
            });
        }
        let (access_s, geometry_s) = (access.device_s(), geometry.device_s());
        Ok(Score { name: drive.name.clone(), access_s, geometry_s, verdicts })
    }
}

impl Allowed {
    pub fn allows(self, found: f64, truth: f64) -> bool {
        // Nothing found where nothing is true is no error.
        let off = (found - truth).abs();
        match self {
            Allowed::Share(share) => off <= share * truth.abs(),
            Allowed::ShareOr(share, amount) => off <= share * truth.abs() || off <= amount,
            Allowed::Exact | Allowed::OneStep => off < 0.5,
        }
    }
}

fn number(found: Option<&Value>, truth: Option<f64>, allowed: Allowed) -> Verdict {
    let Some(found) = found else { return Verdict::None };
    let Some(value) = found["value"].as_f64() else { return Verdict::Unknown };
    let Some(truth) = truth else { return Verdict::Invented };
    let error = if value == truth { 0.0 } else { value / truth - 1.0 };
    Verdict::Found { error, allowed: allowed.allows(value, truth), covered: covers(found, truth) }
}

fn layout(found: Option<&Value>, truth: Option<&Truth>) -> Verdict {
    let verdict = number(found, truth.and_then(Truth::value), Allowed::Exact);
    let (Verdict::Found { error, allowed: true, covered }, Some(found), Some(truth)) =
        (&verdict, found, truth)
    else {
        return verdict;
    };
    Verdict::Found { error: *error, allowed: is_same_layout(found, truth), covered: *covered }
}

pub fn is_same_layout(found: &Value, truth: &Truth) -> bool {
    let TruthData::Members { kind, chunk_bytes } = &truth.data else { return false };
    let said = &found["data"];
    found["value"].as_f64() == truth.value()
        && said["kind"] == *kind
        && chunk_bytes.is_none_or(|bytes| said["chunk_bytes"] == bytes)
}

fn of_knee(found: Option<&Value>, truth: Option<f64>, measured: &[f64]) -> Verdict {
    let verdict = number(found, truth, Allowed::OneStep);
    let (Verdict::Found { error, .. }, Some(found), Some(truth)) = (&verdict, found, truth) else {
        return verdict;
    };
    let value = found["value"].as_f64().unwrap_or_default();
    let below = measured.iter().copied().filter(|&number| number < value).fold(1.0, f64::max);
    let above = measured.iter().copied().filter(|&number| number > value).fold(f64::INFINITY, f64::min);
    Verdict::Found { error: *error, allowed: (below..=above).contains(&truth), covered: covers(found, truth) }
}

/// The share of zones seen whose every count is one of those that are true there; the error is the share that is not.
fn tracks(found: Option<&Value>, truth: Option<&Truth>) -> Verdict {
    let Some(found) = found else { return Verdict::None };
    if found["value"].as_f64().is_none() {
        return Verdict::Unknown;
    }
    let Some(truth) = truth else { return Verdict::Invented };
    let (right, of) = zones_right(found, truth);
    let error = (of - right) as f64 / of.max(1) as f64;
    Verdict::Found { error, allowed: error <= 0.05, covered: None }
}

/// How many of the zones seen have only counts of sectors that are true there, and how many were seen.
pub fn zones_right(found: &Value, truth: &Truth) -> (usize, usize) {
    let seen = rows(&found["data"]["sectors_per_track"]);
    (seen.iter().filter(|row| is_zone_right(row, truth.data.tracks())).count(), seen.len())
}

fn is_zone_right(row: &Value, zones: &[TrackZone]) -> bool {
    let first = row["first_byte"].as_u64().unwrap_or_default();
    let last = row["last_byte"].as_u64().unwrap_or(first);
    let mut here = Vec::new();
    for (index, zone) in zones.iter().enumerate() {
        let ends = zones.get(index + 1).map_or(u64::MAX, |next| next.first_byte);
        if zone.first_byte <= last && first < ends {
            here.extend(zone.sectors.iter().copied().map(u64::from));
        }
    }
    let counts = rows(&row["sectors"]);
    !counts.is_empty()
        && counts.iter().all(|count| matches!(count.as_u64(), Some(count) if here.contains(&count)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_is_allowed_or_not() {
        let found = json!({"value": 101.0, "low": 99.0, "high": 100.5});
        let verdict = number(Some(&found), Some(100.0), Allowed::Share(0.02));
        assert!(matches!(verdict, Verdict::Found { allowed: true, covered: Some(true), .. }), "{verdict:?}");
        assert!(matches!(
            number(Some(&found), Some(90.0), Allowed::Share(0.02)),
            Verdict::Found { allowed: false, covered: Some(false), .. }
        ));
        let nothing = json!({"value": 0.0});
        assert!(matches!(
            number(Some(&nothing), Some(0.0), Allowed::Share(0.1)),
            Verdict::Found { error: 0.0, allowed: true, .. }
        ));
        assert_eq!(number(Some(&json!({"unknown": "why"})), Some(1.0), Allowed::Exact), Verdict::Unknown);
        assert_eq!(number(Some(&found), None, Allowed::Exact), Verdict::Invented);
        assert_eq!(number(None, Some(1.0), Allowed::Exact), Verdict::None);
    }

    #[test]
    fn a_knee_may_be_a_step_off() {
        let found = json!({"value": 5.0, "low": 3.0, "high": 9.0});
        let verdict = |truth| of_knee(Some(&found), Some(truth), &[1.0, 2.0, 5.0, 10.0, 25.0]);
        assert!(matches!(verdict(7.0), Verdict::Found { allowed: true, .. }));
        assert!(matches!(verdict(16.0), Verdict::Found { allowed: false, .. }));
    }
}
