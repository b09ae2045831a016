//! What the maker states, against what was measured.
//!
//! # What it finds
//! For each figure of the drive's data sheet that the run measured: the difference in percent with its interval, and
//! whether it is more than chance. The value is the number of figures compared.
//! # Why it matters
//! A drive that is slower than its maker states is worn, badly connected or not what it says it is. One that is faster is as a
//! rule another generation of the same model.
//! # How
//! It looks the model up in `crate::datasheet` and at the findings of all detectors, after these: the highest sustained
//! rate is set against the rate at the start, the average against the mean over all of the drive, then seeks, speed of
//! rotation and recording, as far as they were found. A difference counts if the interval of what
//! was measured does not hold the stated figure.
//! # Cannot tell when
//! The model is not in the table, or nothing of what the table holds was measured on all of the drive; and not when
//! something else than the drive may have answered.
//! # Known problems
//! The stated cache is all memory of a drive, and what can be measured is the part that keeps reads: these are not compared.
//! Makers state rates of the largest model of a line, and round. A figure that was recalled rather than read
//! may be wrong; the sentence says which it is. Behind a slow link it is the link that is compared.
//! # References
//! The source of each row of `data/datasheets.csv`.

use super::trust::covers;
use super::wording::number;
use crate::datasheet::{self, Certainty, Datasheet, Recording};
use model::estimate::Estimate;
use model::finding::{Conclusion, Datum, Evidence, Finding, FindingCode, Outcome, Value};
use model::range::ByteRange;
use model::run::RunView;

/// By what share a rate must fall short of what is stated before there is something to look for: the sheet's rounding and
/// the differences between drives of a model are less.
const SHORTFALL_MIN: f64 = 0.1;

/// A figure of the sheet and what was measured of it.
struct Claim {
    /// The word in data.
    name: &'static str,
    /// In a sentence.
    what: &'static str,
    unit: &'static str,
    stated: f64,
    measured: Estimate,
    is_rate: bool,
    evidence: Vec<Evidence>,
}

/// What the sheet says of the recording, and what was found.
struct Kind {
    stated: &'static str,
    measured: String,
    evidence: Vec<Evidence>,
}

/// What is stated of the drive, set against what the other detectors found. None when nothing is stated or nothing of
/// it was looked for.
pub(super) fn compared(run: &RunView<'_>, findings: &[Finding]) -> Option<Finding> {
    let sheet = run.target.model.as_deref().and_then(datasheet::find)?;
    let claims = claims(run, sheet, findings);
    let kind = kind(sheet, findings);
    let count = claims.len() + usize::from(kind.is_some());
    if count == 0 {
        let has_rates = findings.iter().any(|finding| finding.code == FindingCode::ReadRateMean);
        let why = format!(
            "{} states figures of the {}, but none of them was measured on the drive itself, over all of it.",
            sheet.maker, sheet.family
        );
        return has_rates.then(|| Finding::unknown(FindingCode::DatasheetClaims, why));
    }
    let mut evidence: Vec<Evidence> = claims.iter().flat_map(|claim| claim.evidence.clone()).collect();
    evidence.extend(kind.iter().flat_map(|kind| kind.evidence.clone()));
    let is_limited = findings
        .iter()
        .any(|finding| finding.code == FindingCode::InterfaceLimit && finding.estimate().is_some());
    let statement = statement(sheet, &claims, kind.as_ref(), is_limited);
    let estimate = Estimate::exact(count as f64);
    let finding = Finding::number(FindingCode::DatasheetClaims, estimate, "count", statement, evidence)
        .with_data("model_pattern", Datum::Text(sheet.model_pattern.into()))
        .with_data("source", Datum::Text(sheet.source.into()))
        .with_data("certainty", Datum::Text(certainty(sheet).into()))
        .with_data(
            "claims",
            Datum::List(claims.iter().map(Claim::datum).chain(kind.iter().map(Kind::datum)).collect()),
        );
    let is_slow = |claim: &Claim| claim.is_rate && claim.ratio().high < 1.0 - SHORTFALL_MIN;
    Some(if !is_limited && claims.iter().any(is_slow) {
        finding.with_advice(
            "It is slower than its maker states: look for other load, a slow port or cable, or a worn drive, and measure again.",
        )
    } else {
        finding
    })
}

/// A figure that a sheet may state, and the finding that measures it.
struct Figure {
    name: &'static str,
    what: &'static str,
    unit: &'static str,
    code: FindingCode,
    /// In `unit`.
    stated: fn(&Datasheet) -> Option<f64>,
    /// From the finding's unit.
    to_unit: fn(f64) -> f64,
}

/// In the order in which they are shown.
const FIGURES: [Figure; 6] = [
    Figure {
        name: "rate-max",
        what: "highest rate",
        unit: RATE_UNIT,
        code: FindingCode::ReadRateOuter,
        stated: |sheet| sheet.rate_max_mb_per_s,
        to_unit: |rate| rate / 1e6,
    },
    Figure {
        name: "rate-average",
        what: "average rate",
        unit: RATE_UNIT,
        code: FindingCode::ReadRateMean,
        stated: |sheet| sheet.rate_average_mb_per_s,
        to_unit: |rate| rate / 1e6,
    },
    Figure {
        name: "write-rate-max",
        what: "highest write rate",
        unit: RATE_UNIT,
        code: FindingCode::WriteRateOuter,
        stated: |sheet| sheet.write_rate_max_mb_per_s,
        to_unit: |rate| rate / 1e6,
    },
    Figure {
        name: "seek-average",
        what: "average seek",
        unit: "ms",
        code: FindingCode::SeekAverage,
        stated: |sheet| sheet.seek_read_average_ms,
        to_unit: |seconds| seconds * 1e3,
    },
    Figure {
        name: "seek-track-to-track",
        what: "seek to the next track",
        unit: "ms",
        code: FindingCode::SeekTrackToTrack,
        stated: |sheet| sheet.seek_track_to_track_ms,
        to_unit: |seconds| seconds * 1e3,
    },
    Figure {
        name: "turns-per-minute",
        what: "rotation",
        unit: "turns a minute",
        code: FindingCode::RotationPeriod,
        stated: |sheet| sheet.turns_per_minute.map(f64::from),
        to_unit: |period| 60.0 / period,
    },
];

const RATE_UNIT: &str = "MB/s";

fn claims(run: &RunView<'_>, sheet: &Datasheet, findings: &[Finding]) -> Vec<Claim> {
    let is_whole = measured_range(run).is_some_and(|range| covers(run, range));
    let claim = |figure: &Figure| {
        let stated = (figure.stated)(sheet).filter(|stated| *stated > 0.0)?;
        let conclusion = trusted(findings, figure.code)?;
        let Value::Number { estimate, .. } = &conclusion.value else { return None };
        let is_rate = figure.unit == RATE_UNIT;
        let is_usable = estimate.value.is_finite() && estimate.low > 0.0 && (is_whole || !is_rate);
        is_usable.then(|| Claim {
            name: figure.name,
            what: figure.what,
            unit: figure.unit,
            stated,
            measured: estimate.map_monotonic(figure.to_unit),
            is_rate,
            evidence: conclusion.evidence.clone(),
        })
    };
    FIGURES.iter().filter_map(claim).collect()
}

/// The conclusion of that code, if it is the drive's own.
fn trusted(findings: &[Finding], code: FindingCode) -> Option<&Conclusion> {
    let finding = findings.iter().find(|finding| finding.code == code)?;
    let Outcome::Known(conclusion) = &finding.outcome else { return None };
    conclusion.data.iter().all(|(name, _)| name != "caveats").then_some(conclusion)
}

/// What all phases with a workload cover together.
fn measured_range(run: &RunView<'_>) -> Option<ByteRange> {
    let ranges = || run.phases.iter().filter_map(|phase| Some(phase.phase.workload.as_ref()?.range));
    let first = ranges().map(|range| range.first()).min()?;
    let end = ranges().map(|range| range.end()).max()?;
    ByteRange::new(first, end - first)
}

fn kind(sheet: &Datasheet, findings: &[Finding]) -> Option<Kind> {
    let stated = match sheet.recording {
        Recording::Conventional => "cmr",
        Recording::Shingled => "smr",
        Recording::Unknown => return None,
    };
    let conclusion = trusted(findings, FindingCode::RecordingKind)?;
    let Value::Text(measured) = &conclusion.value else { return None };
    Some(Kind { stated, measured: measured.to_string(), evidence: conclusion.evidence.clone() })
}

fn certainty(sheet: &Datasheet) -> &'static str {
    match sheet.certainty {
        Certainty::Read => "read",
        Certainty::Recalled => "recalled",
    }
}

fn statement(sheet: &Datasheet, claims: &[Claim], kind: Option<&Kind>, is_limited: bool) -> String {
    let parts: Vec<String> = claims.iter().map(Claim::text).chain(kind.map(Kind::text)).collect();
    let limited = if is_limited { " Its link, and not the drive, sets the rates." } else { "" };
    let source = match sheet.certainty {
        Certainty::Read => format!("Stated in: {}.", sheet.source),
        Certainty::Recalled => format!("Stated, from memory, in: {}. Check it there.", sheet.source),
    };
    format!("{} {}: {}.{limited} {source}", sheet.maker, sheet.family, parts.join("; "))
}

impl Claim {
    /// What was measured over what is stated.
    fn ratio(&self) -> Estimate {
        self.measured.map_monotonic(|measured| measured / self.stated)
    }

    fn is_significant(&self) -> bool {
        !self.measured.covers(self.stated)
    }

    /// "highest rate measured 204 MB/s (203 to 205) against 210 stated: -2.9 % (-3.3 to -2.4 %)".
    fn text(&self) -> String {
        let Estimate { value, low, high, .. } = self.measured;
        let share = self.ratio();
        let is_narrow = share.relative_half_width() < 0.005;
        let percent = |ratio: f64| {
            let percent = (ratio - 1.0) * 100.0;
            let text = if is_narrow { format!("{percent:+.1}") } else { format!("{percent:+.0}") };
            // Nothing has no sign.
            if text.trim_start_matches(['+', '-', '0', '.']).is_empty() { text[1..].to_owned() } else { text }
        };
        let interval =
            if low == high { "exact".to_owned() } else { format!("{} to {}", number(low), number(high)) };
        let chance = if self.is_significant() { "" } else { ", no more than chance" };
        format!(
            "{} measured {} {} ({interval}) against {} stated: {} % ({} to {} %){chance}",
            self.what,
            number(value),
            self.unit,
            self.stated,
            percent(share.value),
            percent(share.low),
            percent(share.high)
        )
    }

    fn datum(&self) -> Datum {
        let ratio = self.ratio();
        Datum::record([
            ("claim", Datum::Text(self.name.into())),
            ("unit", Datum::Text(self.unit.into())),
            ("stated", Datum::Number(self.stated)),
            ("measured", Datum::Number(self.measured.value)),
            ("low", Datum::Number(self.measured.low)),
            ("high", Datum::Number(self.measured.high)),
            ("ratio", Datum::Number(ratio.value)),
            ("significant", Datum::Flag(self.is_significant())),
        ])
    }
}

impl Kind {
    fn text(&self) -> String {
        let verdict = if self.measured == self.stated { "as stated" } else { "which is not what is stated" };
        format!("recording found {}, {verdict}", self.measured.to_uppercase())
    }

    fn datum(&self) -> Datum {
        Datum::record([
            ("claim", Datum::Text("recording".into())),
            ("stated", Datum::Text(self.stated.into())),
            ("measured", Datum::Text(self.measured.clone())),
            ("significant", Datum::Flag(self.measured != self.stated)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(stated: f64, value: f64, low: f64, high: f64) -> Claim {
        let measured = Estimate { value, low, high, confidence: 0.95, effective_count: 9.0 };
        Claim {
            name: "rate-average",
            what: "average rate",
            unit: "MB/s",
            stated,
            measured,
            is_rate: true,
            evidence: Vec::new(),
        }
    }

    /// Article C: 166 MB/s were measured and 156 stated.
    #[test]
    fn a_claim_is_set_against_what_was_measured() {
        assert_eq!(
            claim(156.0, 166.0, 164.0, 168.0).text(),
            "average rate measured 166 MB/s (164 to 168) against 156 stated: +6 % (+5 to +8 %)"
        );
        assert_eq!(
            claim(210.0, 203.6, 203.2, 204.0).text(),
            "average rate measured 204 MB/s (203 to 204) against 210 stated: -3.0 % (-3.2 to -2.9 %)"
        );
    }

    #[test]
    fn what_lies_within_the_interval_is_chance() {
        let near = claim(156.0, 155.0, 150.0, 160.0);
        assert!(!near.is_significant());
        assert_eq!(
            near.text(),
            "average rate measured 155 MB/s (150 to 160) against 156 stated: -1 % (-4 to +3 %), no more than chance"
        );
        assert!(claim(156.0, 155.9, 155.3, 156.5).text().contains(": -0.1 % (-0.4 to +0.3 %), no more than"));
        assert!(
            claim(100.0, 100.01, 100.01, 100.01)
                .text()
                .contains("(exact) against 100 stated: 0.0 % (0.0 to 0.0 %)")
        );
    }

    #[test]
    fn recording_that_is_not_as_stated_is_said() {
        let kind = |measured: &str| Kind { stated: "cmr", measured: measured.into(), evidence: Vec::new() };
        assert_eq!(kind("cmr").text(), "recording found CMR, as stated");
        assert_eq!(kind("smr").text(), "recording found SMR, which is not what is stated");
    }
}
