//! Verdicts: what was found of a drive, code by code, against what is true.

use serde_json::Value;

use model::finding::{Datum, FindingCode};
use sim::truth::{Truth, truth_of};

use super::knee;
use crate::Failure;
use crate::bench::document::{covers, device_s, finding};
use crate::bench::virtual_drive::Drive;

/// How far off a code may be.
#[derive(Clone, Copy, Debug)]
pub enum Allowed {
    /// A share of the truth.
    Share(f64),
    /// A share of the truth, or so much in its unit if that is more.
    ShareOr(f64, f64),
    /// Nothing.
    Exact,
    /// The next number that was measured.
    OneStep,
}

/// What is scored, in the order of the tables.
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

/// What became of one code on one drive.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Not asked, or nothing is known to be true.
    None,
    /// It said that it does not know.
    Unknown,
    /// A value where nothing is true: a mechanism that is not there.
    Invented,
    /// A value: its error, whether that is allowed, and whether the interval holds the truth.
    Found { error: f64, allowed: bool, covered: Option<bool> },
}

/// One drive.
pub struct Score {
    /// Its name.
    pub name: String,
    /// Seconds of the drive's time that each experiment took.
    pub access_s: f64,
    pub geometry_s: f64,
    /// By code, in the order of [`CODES`].
    pub verdicts: Vec<Verdict>,
}

impl Score {
    /// The score of a drive from the documents of both experiments.
    pub fn of(drive: &Drive, access: &Value, geometry: &Value) -> Result<Score, Failure> {
        let truths = truth_of(&drive.profile).map_err(|flaw| Failure::cannot(format!("{flaw}.")))?;
        let knee = knee::knee(&drive.profile);
        let verdict = |&(code, _, allowed): &(FindingCode, &str, Allowed)| {
            let found = finding(access, code).or_else(|| finding(geometry, code));
            let truth = truths.iter().find(|truth| truth.code == code);
            match code {
                FindingCode::TrackLayout => tracks(found, truth),
                FindingCode::StripeLayout => layout(found, truth),
                FindingCode::ConcurrencyKnee => of_knee(found, knee, &measured(access)),
                _ => number(found, truth.and_then(Truth::value), allowed),
            }
        };
        Ok(Score {
            name: drive.name.clone(),
            access_s: device_s(access),
            geometry_s: device_s(geometry),
            verdicts: CODES.iter().map(verdict).collect(),
        })
    }
}

/// The numbers at a time that a run measured.
fn measured(document: &Value) -> Vec<f64> {
    let gain = finding(document, FindingCode::ConcurrencyGain);
    let points = gain.and_then(|gain| gain["data"]["points"].as_array());
    points.into_iter().flatten().filter_map(|point| point["depth"].as_f64()).collect()
}

fn number(found: Option<&Value>, truth: Option<f64>, allowed: Allowed) -> Verdict {
    let Some(found) = found else { return Verdict::None };
    let (Some(value), truth) = (found["value"].as_f64(), truth) else { return Verdict::Unknown };
    let Some(truth) = truth else { return Verdict::Invented };
    // Nothing found where nothing is true is no error.
    let error = if value == truth { 0.0 } else { value / truth - 1.0 };
    let off = (value - truth).abs();
    let is_allowed = match allowed {
        Allowed::Share(share) => error.abs() <= share,
        Allowed::ShareOr(share, amount) => error.abs() <= share || off <= amount,
        Allowed::Exact | Allowed::OneStep => off < 0.5,
    };
    Verdict::Found { error, allowed: is_allowed, covered: covers(found, truth) }
}

/// Members, kind and chunk must all be right.
fn layout(found: Option<&Value>, truth: Option<&Truth>) -> Verdict {
    let verdict = number(found, truth.and_then(Truth::value), Allowed::Exact);
    let (Verdict::Found { error, allowed: true, covered }, Some(found), Some(truth)) =
        (&verdict, found, truth)
    else {
        return verdict;
    };
    let is_same = truth.data.iter().all(|(name, datum)| match datum {
        Datum::Text(text) => found["data"][name.as_ref()] == text.as_str(),
        Datum::Integer(number) => found["data"][name.as_ref()] == *number,
        _ => true,
    });
    Verdict::Found { error: *error, allowed: is_same, covered: *covered }
}

/// Within one step of the numbers that were measured.
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
    let zones = true_zones(truth);
    let rows = found["data"]["sectors_per_track"].as_array().cloned().unwrap_or_default();
    let is_true = |row: &&Value| {
        let first = row["first_byte"].as_u64().unwrap_or_default();
        let last = row["last_byte"].as_u64().unwrap_or(first);
        let counts = row["sectors"].as_array().cloned().unwrap_or_default();
        let here: Vec<u64> = zones
            .iter()
            .enumerate()
            .filter(|(index, (begins, _))| {
                let ends = zones.get(index + 1).map_or(u64::MAX, |(begins, _)| *begins);
                *begins <= last && first < ends
            })
            .flat_map(|(_, (_, counts))| counts.clone())
            .collect();
        !counts.is_empty()
            && counts.iter().all(|count| count.as_u64().is_some_and(|count| here.contains(&count)))
    };
    let wrong = rows.iter().filter(|row| !is_true(row)).count();
    let error = wrong as f64 / rows.len().max(1) as f64;
    Verdict::Found { error, allowed: error <= 0.05, covered: None }
}

/// Where each zone begins, and the sectors on its tracks, surface by surface.
fn true_zones(truth: &Truth) -> Vec<(u64, Vec<u64>)> {
    let rows = truth.data.iter().find(|(name, _)| name == "sectors_per_track");
    let Some((_, Datum::List(rows))) = rows else { return Vec::new() };
    let integer = |datum: &Datum| match datum {
        Datum::Integer(number) => Some(*number),
        _ => None,
    };
    let zone = |row: &Datum| {
        let Datum::Record(parts) = row else { return None };
        let part = |wanted: &str| parts.iter().find(|(name, _)| name == wanted).map(|(_, part)| part);
        let Some(Datum::List(counts)) = part("sectors") else { return None };
        Some((integer(part("first_byte")?)?, counts.iter().filter_map(integer).collect()))
    };
    rows.iter().filter_map(zone).collect()
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
