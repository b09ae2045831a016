//! Verdicts: what was found of a drive's writes against what is true.

use serde_json::Value;

use model::finding::{Datum, FindingCode};
use sim::profile::{Medium, Profile};
use sim::smr::truth::{RandomWrites, ShingledTruth};
use sim::truth::{Answer, Truth, truth_of};

use super::bands::BandVerdict;
use crate::Failure;
use crate::bench::document::{covers, device_s, finding};
use crate::bench::virtual_drive::Drive;

/// How far off bytes and rates may be.
pub const ALLOWED: f64 = 0.03;

/// One drive.
pub struct Score {
    /// Its name.
    pub name: String,
    /// What it is.
    pub family: &'static str,
    /// Seconds of its time.
    pub device_s: f64,
    /// What was written, in bytes.
    pub written: f64,
    /// How it is recorded.
    pub kind: KindVerdict,
    /// Where its rate falls.
    pub fall: FallVerdict,
    /// How large its bands are.
    pub bands: BandVerdict,
}

/// What was said of how it is recorded.
#[derive(Clone, Debug, PartialEq)]
pub enum KindVerdict {
    /// The truth.
    Right,
    /// It said that it does not know.
    Unknown,
    /// Something else, or anything where nothing is true.
    Wrong(String),
}

/// What was said of a fall of the rate.
#[derive(Clone, Debug, PartialEq)]
pub enum FallVerdict {
    /// There is none, and none was found.
    None,
    /// There is one, and none was found.
    Missed,
    /// There is none, and one was found, after so many bytes.
    Invented(f64),
    /// There is one, and one was found.
    Found(FoundFall),
}

/// The errors of a fall that was found, as shares of the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundFall {
    /// Where it is in truth, in bytes.
    pub true_bytes: f64,
    /// Of its place.
    pub bytes: f64,
    /// Of the rate before it.
    pub before: f64,
    /// Of the rate after it.
    pub after: f64,
    /// Whether the interval holds the true place.
    pub is_covered: Option<bool>,
    /// Whether the intervals of the rates before and after hold the true ones.
    pub are_rates_covered: Option<bool>,
    /// What was written, in times of what is written before the fall.
    pub written_times: f64,
}

impl FoundFall {
    /// Whether all errors are allowed.
    pub fn is_allowed(&self) -> bool {
        [self.bytes, self.before, self.after].iter().all(|error| error.abs() <= ALLOWED)
    }
}

impl Score {
    /// The score of a drive from the document of its run.
    pub fn of(drive: &Drive, document: &Value) -> Result<Score, Failure> {
        let flawed = |flaw| Failure::cannot(format!("{flaw}."));
        let truths = truth_of(&drive.profile).map_err(flawed)?;
        let truth = |code| truths.iter().find(|truth: &&Truth| truth.code == code);
        let written = written(document);
        Ok(Score {
            name: drive.name.clone(),
            family: family(&drive.profile),
            device_s: device_s(document),
            written,
            kind: kind(document, truth(FindingCode::RecordingKind)),
            fall: fall(document, truth(FindingCode::WriteCliff), &drive.profile, written),
            bands: BandVerdict::of(&drive.profile, document),
        })
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

/// What measured phases wrote, in bytes. Nearly all of it is random writes of one size.
fn written(document: &Value) -> f64 {
    let phases = document["phases"].as_array().into_iter().flatten();
    let measured = phases.filter(|phase| phase["kind"] == "measure");
    let is_write = |phase: &&Value| phase["workload"]["mix"]["kind"] == "write";
    measured.filter(is_write).filter_map(|phase| phase["bytes"].as_f64()).sum()
}

fn kind(document: &Value, truth: Option<&Truth>) -> KindVerdict {
    let said = finding(document, FindingCode::RecordingKind).and_then(|found| found["value"].as_str());
    let is = truth.and_then(|truth| if let Answer::Word(word) = truth.answer { Some(word) } else { None });
    match (said, is) {
        (None, _) => KindVerdict::Unknown,
        (Some(said), Some(is)) if said == is => KindVerdict::Right,
        (Some(said), _) => KindVerdict::Wrong(said.to_owned()),
    }
}

fn fall(document: &Value, truth: Option<&Truth>, profile: &Profile, written: f64) -> FallVerdict {
    let found = finding(document, FindingCode::WriteCliff).filter(|found| found["value"].is_number());
    let true_bytes = truth.and_then(Truth::value);
    let (Some(truth), Some(true_bytes)) = (truth, true_bytes) else {
        return found
            .and_then(|found| found["value"].as_f64())
            .map_or(FallVerdict::None, FallVerdict::Invented);
    };
    let Some(found) = found else { return FallVerdict::Missed };
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let bytes = number(&found["value"]);
    let share = |name: &str, truth: f64| {
        let datum = &found["data"][name];
        number(if datum.is_object() { &datum["value"] } else { datum }) / truth - 1.0
    };
    let after = after_of(profile, found).unwrap_or_else(|| datum(truth, "after"));
    let holds = |name: &str, truth: f64| {
        let end = |which: &str| found["data"][format!("{name}_{which}")].as_f64();
        Some((end("low")?..=end("high")?).contains(&truth))
    };
    let before = datum(truth, "before");
    FallVerdict::Found(FoundFall {
        true_bytes,
        are_rates_covered: holds("before", before).zip(holds("after", after)).map(|(one, two)| one && two),
        bytes: bytes / true_bytes - 1.0,
        before: share("before", before),
        after: share("after", after),
        is_covered: covers(found, true_bytes),
        written_times: written / true_bytes,
    })
}

fn datum(truth: &Truth, name: &str) -> f64 {
    let datum = truth.data.iter().find(|(key, _)| key == name).map(|(_, datum)| datum);
    if let Some(Datum::Number(number)) = datum { *number } else { f64::NAN }
}

/// The rate of a shingled disk changes after its fall: what is true is the rate over the bytes by which it was judged. Pieces end with a
/// flush, so that all of them had gone to the medium.
fn after_of(profile: &Profile, found: &Value) -> Option<f64> {
    let Ok(Medium::Shingled(disk, smr)) = profile.medium() else { return None };
    let number = |value: &Value| value.as_f64();
    let (fell, data) = (number(&found["value"])?, &found["data"]);
    let capacity = profile.capacity().ok()?;
    let writes = RandomWrites { request_bytes: 128 << 10, span_bytes: capacity.0 };
    let link = profile.link.as_ref().and_then(|link| link.numbers().ok());
    let truth = ShingledTruth::new(capacity, disk, smr).behind(link.as_ref());
    truth.rate_over(writes, fell, number(&data["after_from_bytes"])?, number(&data["after_over_bytes"])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::virtual_drive::named;
    use serde_json::json;

    fn score(name: &str, findings: &Value) -> Score {
        let document = json!({ "phases": [
            { "kind": "measure", "bytes": 9e9, "start_s": 0.0, "seconds": 30.0, "workload": { "mix": { "kind": "write" } } },
        ], "findings": findings });
        let drive = named(name).unwrap_or_else(|failure| panic!("{}", failure.message));
        Score::of(&drive, &document).unwrap_or_else(|failure| panic!("{}", failure.message))
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
