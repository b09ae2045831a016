//! Verdicts: what was found of a drive's writes against what is true.

use crate::document::{Document, covers, number};
use crate::failure::Failure;
use crate::truth::Truths;
use crate::virtual_drive::Drive;
use model::finding::FindingCode;
use model::units::KIB;
use serde_json::Value;
use sim::profile::{Medium, Profile};
use sim::smr::truth::{RandomWrites, ShingledTruth};
use sim::truth::TruthValue;

pub const ALLOWED: f64 = 0.03;

pub struct Score {
    pub name: String,
    pub family: &'static str,
    pub device_s: f64,
    pub written: f64,
    pub kind: KindVerdict,
    pub fall: FallVerdict,
    pub bands: BandVerdict,
}

#[derive(Clone, Debug, PartialEq)]
pub enum KindVerdict {
    Right,
    Unknown,
    /// Something else, or anything where nothing is true.
    Wrong(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum FallVerdict {
    None,
    Missed,
    /// There is none, and one was found, after so many bytes.
    Invented(f64),
    Found(FoundFall),
}

#[derive(Clone, Debug, PartialEq)]
pub struct FoundFall {
    pub true_bytes: f64,
    pub bytes: f64,
    pub before: f64,
    pub after: f64,
    pub is_covered: Option<bool>,
    pub are_rates_covered: Option<bool>,
    /// What was written, in times of what is written before the fall.
    pub written_times: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BandVerdict {
    None,
    /// It said why it does not know, or nothing where there are some.
    Unknown(String),
    Invented(f64),
    Found {
        true_bytes: f64,
        error: f64,
        is_covered: bool,
    },
}

impl BandVerdict {
    pub fn of(profile: &Profile, document: &Document) -> BandVerdict {
        let code = FindingCode::BandSize;
        match (true_band_bytes(profile, document), document.value(code)) {
            (None, None) => BandVerdict::None,
            (None, Some(bytes)) => BandVerdict::Invented(bytes),
            (Some(_), None) if document.finding(code).is_none() => {
                BandVerdict::Unknown("nothing was said".into())
            }
            (Some(_), None) => BandVerdict::Unknown(document.why(code).to_owned()),
            (Some(true_bytes), Some(bytes)) => BandVerdict::Found {
                true_bytes,
                error: bytes / true_bytes - 1.0,
                is_covered: covers(document.said(code), true_bytes) == Some(true),
            },
        }
    }
}

pub fn true_band_bytes(profile: &Profile, document: &Document) -> Option<f64> {
    let Ok(Medium::Shingled(_, smr)) = profile.medium() else { return None };
    let first_byte = document.number(FindingCode::BandSize, "first_byte").unwrap_or_default();
    let zone = smr.band_zones.iter().rev().find(|zone| zone.first_byte as f64 <= first_byte);
    Some(zone.map_or(f64::NAN, |zone| zone.band_bytes as f64))
}

impl FoundFall {
    pub fn is_allowed(&self) -> bool {
        [self.bytes, self.before, self.after].iter().all(|error| error.abs() <= ALLOWED)
    }
}

impl Score {
    pub fn of(drive: &Drive, document: &Document) -> Result<Score, Failure> {
        let truths = Truths::of(&drive.profile)?;
        Ok(Score {
            name: drive.name.clone(),
            family: family(&drive.profile),
            device_s: document.device_s(),
            written: document.bytes_written(),
            kind: kind(document, &truths),
            fall: fall(document, &truths, &drive.profile),
            bands: BandVerdict::of(&drive.profile, document),
        })
    }

    pub fn is_right(&self) -> bool {
        let is_fall_right = match &self.fall {
            FallVerdict::None => true,
            FallVerdict::Found(fall) => fall.is_allowed(),
            FallVerdict::Missed | FallVerdict::Invented(_) => false,
        };
        is_fall_right && !matches!(self.kind, KindVerdict::Wrong(_))
    }
}

fn family(profile: &Profile) -> &'static str {
    match profile.medium() {
        Ok(Medium::Disk(_)) => "disk",
        Ok(Medium::Shingled(..)) => "shingled disk",
        Ok(Medium::Flash(_)) => "flash",
        Ok(Medium::Volume(_)) => "volume",
        _ => "none of these",
    }
}

fn kind(document: &Document, truths: &Truths) -> KindVerdict {
    let is = truths.get(FindingCode::RecordingKind).map(|truth| truth.value);
    match (document.said(FindingCode::RecordingKind)["value"].as_str(), is) {
        (None, _) => KindVerdict::Unknown,
        (Some(said), Some(TruthValue::Word(is))) if said == is => KindVerdict::Right,
        (Some(said), _) => KindVerdict::Wrong(said.to_owned()),
    }
}

fn fall(document: &Document, truths: &Truths, profile: &Profile) -> FallVerdict {
    let code = FindingCode::WriteCliff;
    let (true_bytes, bytes) = match (truths.value(code), document.value(code)) {
        (None, None) => return FallVerdict::None,
        (None, Some(bytes)) => return FallVerdict::Invented(bytes),
        (Some(_), None) => return FallVerdict::Missed,
        (Some(true_bytes), Some(bytes)) => (true_bytes, bytes),
    };
    let found = document.said(code);
    let cliff = truths.get(code).and_then(|truth| truth.data.cliff());
    let before = cliff.map_or(f64::NAN, |cliff| cliff.before);
    let after = after_of(profile, found).or(cliff.map(|cliff| cliff.after)).unwrap_or(f64::NAN);
    let rates_hold = rate_holds(found, "before", before).zip(rate_holds(found, "after", after));
    FallVerdict::Found(FoundFall {
        true_bytes,
        are_rates_covered: rates_hold.map(|(before, after)| before && after),
        bytes: bytes / true_bytes - 1.0,
        before: rate(found, "before") / before - 1.0,
        after: rate(found, "after") / after - 1.0,
        is_covered: covers(found, true_bytes),
        written_times: document.bytes_written() / true_bytes,
    })
}

/// A rate of the finding's data, which may have an interval.
fn rate(found: &Value, name: &str) -> f64 {
    let datum = &found["data"][name];
    let rate = if datum.is_object() { datum["value"].as_f64() } else { datum.as_f64() };
    rate.unwrap_or(f64::NAN)
}

fn rate_holds(found: &Value, name: &str, truth: f64) -> Option<bool> {
    let low = found["data"][format!("{name}_low")].as_f64()?;
    Some((low..=found["data"][format!("{name}_high")].as_f64()?).contains(&truth))
}

/// The rate of an SMR disk changes after its fall: what is true is the rate over the bytes by which it was judged.
fn after_of(profile: &Profile, found: &Value) -> Option<f64> {
    let Ok(Medium::Shingled(disk, smr)) = profile.medium() else { return None };
    let (fell, data) = (number(found, "value"), &found["data"]);
    let capacity = profile.capacity().ok()?;
    let writes = RandomWrites { request_bytes: 128 * KIB, span_bytes: capacity.get() };
    let link = profile.link.as_ref().and_then(|link| link.numbers().ok());
    let truth = ShingledTruth::new(capacity, disk, smr).behind(link.as_ref());
    truth.rate_over(writes, fell, number(data, "after_from_bytes"), number(data, "after_over_bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtual_drive::named;
    use serde_json::json;

    fn score(name: &str, findings: &Value) -> Score {
        let document = json!({ "phases": [
            { "kind": "measure", "bytes": 9e9, "start_s": 0.0, "seconds": 30.0, "workload": { "mix": { "kind": "write" } } },
        ], "findings": findings });
        let drive = named(name).expect("a drive");
        Score::of(&drive, &document.into()).expect("a drive")
    }

    #[test]
    fn a_fall_is_scored_by_its_place_and_both_rates() {
        // The truth is 7 GB, 380 and 230 MB/s.
        let score = score(
            "sata-tlc-500gb",
            &json!([
                { "code": "recording-kind", "value": "flash" },
                { "code": "write-cliff", "value": 7.07e9, "low": 6.9e9, "high": 7.1e9, "data":
                    { "before": 380e6, "before_low": 379e6, "before_high": 381e6, "after": 253e6, "after_low": 250e6, "after_high": 256e6 } },
            ]),
        );
        assert_eq!(score.kind, KindVerdict::Right);
        let FallVerdict::Found(fall) = &score.fall else { panic!("{:?}", score.fall) };
        assert!(
            (fall.bytes - 0.01).abs() < 1e-3 && fall.before.abs() < 1e-3 && (fall.after - 0.1).abs() < 1e-3
        );
        assert!(!fall.is_allowed() && fall.is_covered == Some(true) && fall.are_rates_covered == Some(false));
        assert!((fall.written_times - 9.0 / 7.0).abs() < 1e-3);
    }

    #[test]
    fn what_is_not_there_is_invented_and_what_is_not_seen_is_missed() {
        let found =
            json!([{ "code": "write-cliff", "value": 1e9 }, { "code": "recording-kind", "value": "smr" }]);
        assert_eq!(score("st3250823a", &found).fall, FallVerdict::Invented(1e9));
        assert_eq!(score("st3250823a", &found).kind, KindVerdict::Wrong("smr".into()));
        let unknown = json!([{ "code": "write-cliff", "unknown": "why" }]);
        assert_eq!(score("sata-tlc-500gb", &unknown).fall, FallVerdict::Missed);
        assert_eq!(score("st3250823a", &unknown).fall, FallVerdict::None);
    }
}
