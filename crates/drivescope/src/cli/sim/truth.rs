//! `drivescope sim truth`.

use crate::cli::args::SimTruthArguments;
use crate::cli::output;
use crate::error::{UserError, exit};
use crate::virtual_drive::find;
use model::finding::FindingCode;
use report::json::{TruthEntry, TruthEntryValue, truth_document};
use report::quantity::known;
use report::terminal::{TruthRow, truth_table};
use sim::truth::{Truth, TruthData, TruthValue, truth_of};

pub fn run(arguments: &SimTruthArguments) -> Result<u8, UserError> {
    let drive = find(&arguments.name)?;
    let truths =
        truth_of(&drive.profile).map_err(|flaw| UserError::usage(format!("{}: {flaw}", drive.path)))?;
    let rows: Vec<TruthRow> = truths.iter().map(row).collect();
    let page = truth_table(&rows, output::page_style(true));
    let json = || truth_document(&drive.path, truths.iter().map(entry));
    output::give_text(&page, json, arguments.json.as_deref())?;
    Ok(exit::SUCCESS)
}

fn entry(truth: &Truth) -> TruthEntry<'_, &TruthData> {
    let (value, depends) = match truth.value {
        TruthValue::Number(value) => (Some(TruthEntryValue::Number(value)), None),
        TruthValue::Word(word) => (Some(TruthEntryValue::Word(word)), None),
        TruthValue::Absent => (None, None),
        TruthValue::Depends(why) => (None, Some(why)),
    };
    TruthEntry { code: truth.code, unit: truth.unit(), value, depends, data: &truth.data }
}

fn row(truth: &Truth) -> TruthRow {
    let unit = truth.unit().unwrap_or_default();
    let (answer, depends) = match truth.value {
        TruthValue::Number(value) => (counted(truth.code, value, known(value, unit)), None),
        TruthValue::Word(word) => (word.into(), None),
        TruthValue::Absent => ("none".into(), None),
        TruthValue::Depends(why) => ("it depends".into(), Some(why)),
    };
    TruthRow { code: truth.code.name(), answer, depends }
}

/// A count with what is counted, where the code does not say it.
fn counted(code: FindingCode, value: f64, number: String) -> String {
    let things = match code {
        FindingCode::ZoneCount | FindingCode::ZoneTable | FindingCode::TrackLayout => "zone",
        FindingCode::BadBlocks | FindingCode::SlowRegions | FindingCode::UnmappedRanges => "region",
        FindingCode::StripeLayout => "drive",
        _ => return number,
    };
    format!("{number} {things}{}", if value == 1.0 { "" } else { "s" })
}
