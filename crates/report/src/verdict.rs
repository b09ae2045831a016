//! Whether a drive is sound, and the findings that say most about it: what a page, a report and a post begin with.

use crate::finding::Group;
use crate::style::{Style, Tone};
use crate::terminal::findings::{Row, rows_of};
use crate::terminal::method::not_served;
use model::finding::FindingCode;
use model::run::Run;

/// Findings that say most about a drive, the first first: what is wrong with it, what kind it is, how fast it is, and what
/// limits it. Those that are bad news come before all others.
const WEIGHTY: [FindingCode; 26] = [
    FindingCode::DeviceLost,
    FindingCode::DataIntegrity,
    FindingCode::CapacityTrue,
    FindingCode::BadBlocks,
    FindingCode::SlowRegions,
    FindingCode::WriteCliff,
    FindingCode::WriteValleys,
    FindingCode::RecordingKind,
    FindingCode::ReadRateMean,
    FindingCode::WriteSteadyState,
    FindingCode::AccessTime,
    FindingCode::WriteRateMean,
    FindingCode::FullPassTime,
    FindingCode::InterfaceLimit,
    FindingCode::ConcurrencyKnee,
    FindingCode::StripeLayout,
    FindingCode::RotationPeriod,
    FindingCode::SeekAverage,
    FindingCode::DriveCache,
    FindingCode::ReadAhead,
    FindingCode::IdleRecovery,
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ConcurrencyGain,
    FindingCode::WriteRateOuter,
    FindingCode::WriteRateInner,
];

pub(crate) fn is_weighty(row: &Row) -> bool {
    row.code.is_some_and(|code| WEIGHTY.contains(&code))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Bad,
    Care,
    Sound,
    /// The run does not tell.
    Open,
}

pub(crate) struct Verdict {
    pub severity: Severity,
    pub headline: &'static str,
    pub sentence: String,
}

impl Verdict {
    pub(crate) fn of(run: &Run, style: Style) -> Verdict {
        let verdict = |severity, headline, sentence| Verdict { severity, headline, sentence };
        let rows = rows_of(Group::Sound, run, style);
        let bad = sentences_of(&rows, Tone::Bad);
        if !bad.is_empty() {
            return verdict(Severity::Bad, "Not sound.", bad);
        }
        let failed = not_served(run);
        if !failed.is_empty() {
            return verdict(Severity::Bad, "Requests failed.", format!("{}.", failed.join("; ")));
        }
        let warnings = sentences_of(&rows, Tone::Warning);
        if !warnings.is_empty() {
            return verdict(Severity::Care, "Take care.", warnings);
        }
        for row in &rows {
            if row.code == Some(FindingCode::SlowRegions) && is_known(row) && row.number != "none" {
                return verdict(Severity::Care, "Take care.", row.sentence.clone());
            }
        }
        match rows.iter().find(|row| row.code.is_none()) {
            Some(nothing) => verdict(Severity::Sound, "No failures.", nothing.sentence.clone()),
            None => verdict(Severity::Open, "Not known.", "This run does not test drive health.".into()),
        }
    }
}

fn sentences_of(rows: &[Row], tone: Tone) -> String {
    let mut sentences = Vec::new();
    for row in rows {
        if row.tone == Some(tone) {
            sentences.push(row.sentence.as_str());
        }
    }
    sentences.join(" ")
}

fn is_known(row: &Row) -> bool {
    row.tone != Some(Tone::Faint)
}

/// What is known and says most, at most so many.
pub(crate) fn weightiest(run: &Run, style: Style, count: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for group in Group::ALL {
        rows.extend(rows_of(group, run, style));
    }
    rows.retain(|row| is_known(row) && row.code.is_some() && !row.number.is_empty());
    rows.sort_by_key(importance);
    rows.truncate(count);
    rows
}

/// Bad news first, numbers of nothing last, and between them what says most about a drive.
fn importance(row: &Row) -> (bool, bool, usize) {
    let weight = WEIGHTY.iter().position(|weighty| row.code == Some(*weighty));
    (row.tone.is_none(), row.number == "none", weight.unwrap_or(WEIGHTY.len()))
}
