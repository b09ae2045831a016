//! What the maker states, against what was measured.
//! # What it finds
//! Each figure of the drive's data sheet that the run measured: the difference with its interval.
//! # Why it matters
//! A drive that is slower than its maker states is worn, badly connected or not what it says it is.
//! # How
//! It looks the model up in `crate::datasheet` and at the findings of all detectors, after these: the highest sustained
//! rate is set against the rate at the start, the average against the mean over all of the drive, then seeks, speed of
//! rotation and recording, as far as they were found. A difference is significant if the interval leaves out the stated figure.
//! # Cannot tell when
//! The model is not in the table, nothing of it was measured on all of the drive, or a cache may have answered.
//! # Known problems
//! The stated cache is all memory of a drive, and only the part that keeps reads is measured. Makers state rates of the
//! largest model of a line, and round. A recalled figure may be wrong. Behind a slow link it is the link that is compared.
//! # References
//! The source of each row of `data/datasheets.csv`.

use super::trust::covers;
use crate::datasheet::{self, Datasheet, Recording};
use model::finding::{
    Claim, ClaimName, ClaimedFigure, ClaimedRecording, DatasheetClaims, DatasheetClaimsUnknown, Evidence,
    Finding, FindingCode, Outcome, of_code,
};
use model::range::ByteRange;
use model::run::RunView;

/// What is stated of the drive, against what the other detectors found. None when either is missing.
pub(super) fn compared(run: &RunView<'_>, findings: &[Finding]) -> Option<Finding> {
    let sheet = run.target.model.as_deref().and_then(datasheet::find)?;
    let (mut claims, mut evidence) = (Vec::new(), Vec::new());
    let is_whole = matches!(measured_range(run), Some(range) if covers(run, range));
    for figure in &FIGURES {
        if let Some((claim, of_claim)) = claim(figure, is_whole, sheet, findings) {
            claims.push(Claim::Figure(claim));
            evidence.extend(of_claim);
        }
    }
    if let Some((recording, of_recording)) = recording(sheet, findings) {
        claims.push(Claim::Recording(recording));
        evidence.extend(of_recording);
    }
    let Datasheet { maker, family, .. } = *sheet;
    if claims.is_empty() {
        of_code(findings, FindingCode::ReadRateMean)?;
        let reason = DatasheetClaimsUnknown::NothingMeasured { maker, family };
        return Some(Finding::DatasheetClaims(Outcome::Unknown(reason)));
    }
    let compared = DatasheetClaims {
        maker,
        family,
        is_limited: of_code(findings, FindingCode::InterfaceLimit).is_some_and(Finding::is_known),
        model_pattern: sheet.model_pattern,
        source: sheet.source,
        certainty: sheet.certainty,
        claims,
    };
    Some(Finding::DatasheetClaims(Outcome::known(compared, evidence)))
}

/// A figure that a sheet may state, and the finding that measures it.
struct Figure {
    name: ClaimName,
    unit: &'static str,
    code: FindingCode,
    stated: fn(&Datasheet) -> Option<f64>,
    to_unit: fn(f64) -> f64,
}

const FIGURES: [Figure; 6] = [
    Figure {
        name: ClaimName::RateMax,
        unit: "MB/s",
        code: FindingCode::ReadRateOuter,
        stated: |sheet| sheet.rate_max_mb_per_s,
        to_unit: to_megabytes,
    },
    Figure {
        name: ClaimName::RateAverage,
        unit: "MB/s",
        code: FindingCode::ReadRateMean,
        stated: |sheet| sheet.rate_average_mb_per_s,
        to_unit: to_megabytes,
    },
    Figure {
        name: ClaimName::WriteRateMax,
        unit: "MB/s",
        code: FindingCode::WriteRateOuter,
        stated: |sheet| sheet.write_rate_max_mb_per_s,
        to_unit: to_megabytes,
    },
    Figure {
        name: ClaimName::SeekAverage,
        unit: "ms",
        code: FindingCode::SeekAverage,
        stated: |sheet| sheet.seek_read_average_ms,
        to_unit: to_milliseconds,
    },
    Figure {
        name: ClaimName::SeekTrackToTrack,
        unit: "ms",
        code: FindingCode::SeekTrackToTrack,
        stated: |sheet| sheet.seek_track_to_track_ms,
        to_unit: to_milliseconds,
    },
    Figure {
        name: ClaimName::TurnsPerMinute,
        unit: "rpm",
        code: FindingCode::RotationPeriod,
        stated: |sheet| sheet.turns_per_minute.map(f64::from),
        to_unit: |period| 60.0 / period,
    },
];

fn to_megabytes(rate: f64) -> f64 {
    rate / 1e6
}

fn to_milliseconds(seconds: f64) -> f64 {
    seconds * 1e3
}

fn claim(
    figure: &Figure,
    is_whole: bool,
    sheet: &Datasheet,
    findings: &[Finding],
) -> Option<(ClaimedFigure, Vec<Evidence>)> {
    let stated = (figure.stated)(sheet)?;
    let finding = trusted(findings, figure.code)?;
    let estimate = finding.estimate()?;
    let is_usable = stated > 0.0 && estimate.value.is_finite() && estimate.low > 0.0;
    if !is_usable || (figure.name.is_rate() && !is_whole) {
        return None;
    }
    let measured = estimate.map_monotonic(figure.to_unit);
    let claim = ClaimedFigure {
        name: figure.name,
        unit: figure.unit,
        stated,
        measured: measured.value,
        low: measured.low,
        high: measured.high,
        ratio: measured.value / stated,
        significant: !measured.covers(stated),
    };
    Some((claim, finding.evidence().to_vec()))
}

fn trusted(findings: &[Finding], code: FindingCode) -> Option<&Finding> {
    let finding = of_code(findings, code)?;
    if finding.is_known() && finding.caveats().is_empty() { Some(finding) } else { None }
}

fn measured_range(run: &RunView<'_>) -> Option<ByteRange> {
    let workloads = run.phases.iter().filter_map(|phase| phase.phase.workload.as_ref());
    let ranges: Vec<ByteRange> = workloads.map(|workload| workload.range).collect();
    let first = ranges.iter().map(ByteRange::first).min()?;
    let end = ranges.iter().map(ByteRange::end).max()?;
    ByteRange::new(first, end - first)
}

fn recording(sheet: &Datasheet, findings: &[Finding]) -> Option<(ClaimedRecording, Vec<Evidence>)> {
    let stated = match sheet.recording {
        Recording::Conventional => "cmr",
        Recording::Shingled => "smr",
        Recording::Unknown => return None,
    };
    let finding = trusted(findings, FindingCode::RecordingKind)?;
    let measured = finding.word()?.to_string();
    let significant = measured != stated;
    let recording = ClaimedRecording { name: ClaimName::Recording, stated, measured, significant };
    Some((recording, finding.evidence().to_vec()))
}
