//! Verdicts: what a finding says of a drive, against what is true of it.

use crate::document::{Document, number};
use crate::failure::Failure;
use crate::interval::is_bound;
use crate::surface::score::meets_any;
use crate::truth::Truths;
use crate::virtual_drive::{Drive, named};
use model::finding::FindingCode;
use model::units::KIB;
use serde_json::Value;
use sim::disk::profile::DefectKind;
use sim::flash::profile::Initial;
use sim::profile::Profile;
use sim::smr::profile::CleaningPolicy;
use sim::truth::{Truth, TruthData, TruthValue};

/// A closed form and a measurement may round the last bits apart.
const ROUNDING: f64 = 1e-9;

/// Of a drive of one rate, that it has no zones is as true as that it has one.
const ZONES: [FindingCode; 3] = [FindingCode::ZoneRatio, FindingCode::ZoneCount, FindingCode::ZoneTable];

pub struct Judged {
    pub code: FindingCode,
    pub verdict: Verdict,
    pub line: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Interval { holds: bool },
    Bound { holds: bool },
    Exact { is_right: bool },
    None,
    Invented,
    Unknown,
}

impl Verdict {
    pub fn is_wrong(self) -> bool {
        matches!(
            self,
            Verdict::Invented | Verdict::Exact { is_right: false } | Verdict::Bound { holds: false }
        )
    }

    /// Whether somebody should look at it; one interval in twenty misses by chance.
    pub fn is_bad(self) -> bool {
        self.is_wrong() || matches!(self, Verdict::Interval { holds: false } | Verdict::Unknown)
    }
}

pub fn judged(drive: &Drive, document: &Document) -> Result<Vec<Judged>, Failure> {
    let truths = Truths::of(&drive.profile)?;
    let mut judged = Vec::new();
    for truth in &truths.list {
        let code = truth.code;
        if !document.has_asked(code) {
            continue;
        }
        let found = document.said(code);
        let is_beyond = found["value"].is_null() && is_beyond_what_was_done(drive, document, truth);
        if is_beyond
            || passes_a_limit_unmet(drive, document, truth)
            || is_slow_where_remapped(drive, document, truth)
        {
            continue;
        }
        if let Some(verdict) = verdict(found, truth) {
            judged.push(Judged { code, verdict, line: line(found, truth) });
        }
    }
    Ok(judged)
}

/// Writes of one speed are all as fast as the link lets them come: no cache ever fills.
const SAME_SPEED: f64 = 0.98;

/// A die of flash reads at most four planes of 16 KiB in parallel (ONFI 4): units that take turns in larger chunks are drives.
const DIE_CHUNK_MAX: u64 = 64 * KIB;

/// What nothing shows that the run did. Of flash by reads, whether all of it is written or all of it trimmed, which another make of cells
/// would look like, and whether channels that work together are those of one drive or of several; and by writes that the medium takes as
/// fast as the link brings them, how large a cache is that never fills. The bands of a disk that cleans them only when its cache is full.
fn is_beyond_what_was_done(drive: &Drive, document: &Document, truth: &Truth) -> bool {
    let is_flash = drive.profile.flash.is_some();
    match truth.code {
        FindingCode::UnmappedRanges => {
            matches!(&drive.profile.flash, Some(flash) if flash.initial == Initial::Fresh)
        }
        FindingCode::StripeLayout => is_flash || is_of_flash(&drive.profile) && !has_large_chunks(truth),
        FindingCode::WriteCache => {
            is_flash && document.slowest_write_share().is_some_and(|share| share > SAME_SPEED)
        }
        FindingCode::BandSize => {
            matches!(&drive.profile.smr, Some(smr) if smr.cleaning == CleaningPolicy::Lazy)
        }
        _ => false,
    }
}

/// A pass uses more credit than the run did.
fn passes_a_limit_unmet(drive: &Drive, document: &Document, truth: &Truth) -> bool {
    let is_pass = matches!(truth.code, FindingCode::ReadRateMean | FindingCode::FullPassTime);
    is_pass && drive.profile.limit.is_some() && document.said(FindingCode::RateLimit)["value"].is_null()
}

/// Remapped sectors cost seeks to the spares and back: a sample with many of them takes twice as long and is slow indeed.
fn is_slow_where_remapped(drive: &Drive, document: &Document, truth: &Truth) -> bool {
    let regions = document.rows(truth.code, "regions");
    if truth.code != FindingCode::SlowRegions || truth.value != TruthValue::Absent || regions.is_empty() {
        return false;
    }
    let Some(disk) = &drive.profile.disk else { return false };
    let mut remapped = Vec::new();
    for defect in &disk.defects {
        if defect.kind == DefectKind::Remapped {
            remapped.push((defect.first_byte as f64, defect.bytes as f64));
        }
    }
    for region in regions {
        if !meets_any(&(number(region, "first_byte"), number(region, "bytes")), &remapped) {
            return false;
        }
    }
    true
}

fn is_of_flash(profile: &Profile) -> bool {
    let Some(volume) = &profile.volume else { return false };
    for member in &volume.members {
        if !matches!(named(&member.profile), Ok(drive) if drive.profile.flash.is_some()) {
            return false;
        }
    }
    true
}

fn has_large_chunks(truth: &Truth) -> bool {
    matches!(truth.data, TruthData::Members { chunk_bytes: Some(bytes), .. } if bytes > DIE_CHUNK_MAX)
}

/// None where what is true depends on what was done before.
fn verdict(found: &Value, truth: &Truth) -> Option<Verdict> {
    let said = &found["value"];
    match truth.value {
        TruthValue::Depends(_) => None,
        TruthValue::Absent if said.is_null() || *said == 0.0 => Some(Verdict::None),
        TruthValue::Absent => Some(Verdict::Invented),
        TruthValue::Number(1.0) if said.is_null() && ZONES.contains(&truth.code) => Some(Verdict::None),
        _ if said.is_null() => Some(Verdict::Unknown),
        TruthValue::Word(word) => Some(Verdict::Exact { is_right: said == word }),
        TruthValue::Number(number) => Some(of_number(found, truth.code, number)),
    }
}

fn of_number(found: &Value, code: FindingCode, truth: f64) -> Verdict {
    let margin = ROUNDING * truth.abs();
    let (low, high) = (found["low"].as_f64(), found["high"].as_f64());
    let holds = low.is_none_or(|low| low - margin <= truth) && high.is_none_or(|high| truth <= high + margin);
    match low.zip(high) {
        Some((low, high)) if low == high => Verdict::Exact { is_right: holds },
        Some(_) if !is_bound(code) => Verdict::Interval { holds },
        _ => Verdict::Bound { holds },
    }
}

fn line(found: &Value, truth: &Truth) -> String {
    let code = truth.code.name();
    let true_value = match truth.value {
        TruthValue::Number(number) => number.to_string(),
        TruthValue::Word(word) => word.to_owned(),
        TruthValue::Absent | TruthValue::Depends(_) => "none".to_owned(),
    };
    match found["unknown"].as_str() {
        Some(why) => format!("{code}, truth {true_value}: {why}"),
        None => {
            format!("{code}, truth {true_value}: {} ({} to {})", found["value"], found["low"], found["high"])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict, judged};
    use crate::document::Document;
    use crate::virtual_drive::named;
    use model::finding::FindingCode;
    use serde_json::{Value, json};

    /// Of the verdict on one finding of a drive whose rotation takes 8.333 ms, which is a CMR disk and has no rate limit.
    fn of(finding: Value) -> Option<Verdict> {
        on("sata-160gb", finding)
    }

    fn on(name: &str, finding: Value) -> Option<Verdict> {
        let drive = named(name).expect("a drive that ships");
        let document = Document::from(json!({ "findings": [finding] }));
        judged(&drive, &document).expect("a truth").first().map(|judged| judged.verdict)
    }

    #[test]
    fn an_interval_holds_or_misses() {
        let seek =
            |low: f64, high: f64| of(json!({"code": "zone-ratio", "value": low, "low": low, "high": high}));
        assert_eq!(seek(1.0, 9.0), Some(Verdict::Interval { holds: true }));
        assert_eq!(seek(8.0, 9.0), Some(Verdict::Interval { holds: false }));
        assert_eq!(seek(8.0, 8.0), Some(Verdict::Exact { is_right: false }));
        let lowest = of(json!({"code": "zone-count", "value": 1.0, "low": 1.0, "high": null}));
        assert_eq!(lowest, Some(Verdict::Bound { holds: true }));
        let turn = of(json!({"code": "rotation-period", "value": 1.0, "low": 0.9, "high": 1.1}));
        assert_eq!(turn, Some(Verdict::Bound { holds: false }));
    }

    #[test]
    fn a_word_is_right_or_wrong() {
        let kind = |word: &str| of(json!({"code": "recording-kind", "value": word}));
        assert_eq!(kind("cmr"), Some(Verdict::Exact { is_right: true }));
        assert_eq!(kind("smr"), Some(Verdict::Exact { is_right: false }));
    }

    #[test]
    fn what_was_not_asked_is_no_unknown() {
        let unknown = |why: &str| of(json!({"code": "rotation-period", "unknown": why}));
        assert_eq!(unknown("Inconclusive: too few reads."), Some(Verdict::Unknown));
        assert_eq!(unknown("Not measured: no reads at QD 1."), None);
    }

    #[test]
    fn a_drive_of_one_rate_has_no_zones_or_one() {
        let of = |finding: Value| on("constant", finding);
        let none =
            of(json!({"code": "zone-count", "unknown": "The drive does not rotate, so it has no zones."}));
        assert_eq!(none, Some(Verdict::None));
        let one = of(json!({"code": "zone-count", "value": 1.0, "low": 1.0, "high": null}));
        assert_eq!(one, Some(Verdict::Bound { holds: true }));
        let two = of(json!({"code": "zone-count", "value": 2.0, "low": 2.0, "high": null}));
        assert_eq!(two, Some(Verdict::Bound { holds: false }));
    }

    #[test]
    fn what_nothing_shows_is_no_unknown() {
        let of = |finding: Value| on("970-pro", finding);
        assert_eq!(of(json!({"code": "stripe-layout", "unknown": "Inconclusive: no actuator."})), None);
        let three = of(json!({"code": "stripe-layout", "value": 3.0, "low": 3.0, "high": 3.0}));
        assert_eq!(three, Some(Verdict::Exact { is_right: false }));
        // Four drives with chunks of 16 KiB, and two with chunks of 1 MiB.
        for (name, verdict) in
            [("random-volume-1150000", None), ("random-volume-1150055", Some(Verdict::Unknown))]
        {
            assert_eq!(
                on(name, json!({"code": "stripe-layout", "unknown": "Inconclusive."})),
                verdict,
                "{name}"
            );
        }
        // One cleans only when its media cache is fuller, the other when it is idle.
        for (name, verdict) in
            [("random-shingled-1512107", None), ("random-shingled-1512102", Some(Verdict::Unknown))]
        {
            assert_eq!(on(name, json!({"code": "band-size", "unknown": "Inconclusive."})), verdict, "{name}");
        }
    }

    #[test]
    fn what_is_not_there_is_invented() {
        let code = FindingCode::WriteCliff.name();
        assert_eq!(of(json!({"code": code, "value": 1e9})), Some(Verdict::Invented));
        assert_eq!(of(json!({"code": code, "unknown": "None detected."})), Some(Verdict::None));
    }

    /// 958 KB of it were remapped at byte 2,397,990,912; nothing at its start was.
    #[test]
    fn what_was_remapped_may_be_slow() {
        let slow_at = |first_byte: u64| {
            let region = json!({"first_byte": first_byte, "bytes": 8_388_608});
            let found = json!({"code": "slow-regions", "value": 1.0, "low": 1.0, "high": null, "data": {"regions": [region]}});
            on("random-shingled-1538616", found)
        };
        assert_eq!(slow_at(2_391_814_144), None);
        assert_eq!(slow_at(0), Some(Verdict::Invented));
    }
}
