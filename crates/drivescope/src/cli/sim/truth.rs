//! `drivescope sim truth`.

use crate::cli::args::SimTruthArguments;
use crate::cli::output;
use crate::error::{UserError, exit};
use crate::virtual_drive::find;
use model::finding::FindingCode;
use report::json::{TruthEntry, truth_document};
use report::quantity::known;
use report::terminal::{TruthRow, truth_table};
use sim::truth::{Answer, Truth, truth_of};

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such drive.
pub fn run(arguments: &SimTruthArguments) -> Result<u8, UserError> {
    let drive = find(&arguments.name)?;
    let truths =
        truth_of(&drive.profile).map_err(|flaw| UserError::usage(format!("{}: {flaw}", drive.path)))?;
    let page = if arguments.json {
        truth_document(&drive.path, truths.iter().map(entry))
    } else {
        let rows: Vec<TruthRow> = truths.iter().map(row).collect();
        truth_table(&rows, output::page_style(true))
    };
    output::print(&page)?;
    Ok(exit::SUCCESS)
}

fn entry(truth: &Truth) -> TruthEntry<'_> {
    let (value, word, depends) = match truth.answer {
        Answer::Number(value) => (Some(value), None, None),
        Answer::Word(word) => (None, Some(word), None),
        Answer::Absent => (None, None, None),
        Answer::Depends(why) => (None, None, Some(why)),
    };
    TruthEntry { code: truth.code, value, word, depends, data: &truth.data }
}

fn row(truth: &Truth) -> TruthRow {
    let unit = truth.code.unit().unwrap_or_default();
    let (answer, depends) = match truth.answer {
        Answer::Number(value) => (counted(truth.code, value, known(value, unit)), None),
        Answer::Word(word) => (word.into(), None),
        Answer::Absent => ("none".into(), None),
        Answer::Depends(why) => ("it depends".into(), Some(why)),
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
