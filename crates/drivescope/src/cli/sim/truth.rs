//! `drivescope sim truth`.

use crate::cli::args::SimTruthArguments;
use crate::cli::output;
use crate::error::{UserError, exit};
use crate::virtual_drive::find;
use model::finding::{FindingCode, ValueDocument};
use report::quantity::known;
use report::terminal::{TruthRow, truth_table};
use serde::Serialize;
use sim::truth::{Truth, TruthData, TruthValue, truth_of};

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.truth/1")]
pub(in crate::cli) struct TruthDocument<'truth> {
    drive: &'truth str,
    truths: Vec<EntryDocument<'truth>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct EntryDocument<'truth> {
    code: &'static str,
    /// Null where there is none, or where it depends.
    value: Option<ValueDocument>,
    unit: Option<&'static str>,
    absent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    depends: Option<&'static str>,
    data: &'truth TruthData,
}

pub fn run(arguments: &SimTruthArguments) -> Result<u8, UserError> {
    let drive = find(&arguments.name)?;
    let truths =
        truth_of(&drive.profile).map_err(|flaw| UserError::usage(format!("{}: {flaw}", drive.path)))?;
    let rows: Vec<TruthRow> = truths.iter().map(row).collect();
    let page = truth_table(&rows, output::page_style(true));
    let document = TruthDocument { drive: &drive.path, truths: truths.iter().map(entry).collect() };
    output::give_text(&page, &document, arguments.json.as_deref())?;
    Ok(exit::SUCCESS)
}

fn entry(truth: &Truth) -> EntryDocument<'_> {
    let (value, depends) = match truth.value {
        TruthValue::Number(value) => (Some(ValueDocument::Number(value)), None),
        TruthValue::Word(word) => (Some(ValueDocument::Text(word.into())), None),
        TruthValue::Absent => (None, None),
        TruthValue::Depends(why) => (None, Some(why)),
    };
    let absent = truth.value == TruthValue::Absent;
    EntryDocument { code: truth.code.name(), value, unit: truth.unit(), absent, depends, data: &truth.data }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_a_word_and_none() {
        let truth = |code, value| Truth { code, value, data: TruthData::Cure { block_bytes: 512 } };
        let truths = [
            truth(FindingCode::StripeLayout, TruthValue::Number(3.0)),
            truth(FindingCode::RecordingKind, TruthValue::Word("cmr")),
            truth(FindingCode::WriteCliff, TruthValue::Absent),
            truth(FindingCode::WriteValleys, TruthValue::Depends("on what was written")),
        ];
        let document = TruthDocument { drive: "sim:x", truths: truths.iter().map(entry).collect() };
        let document = serde_json::to_value(&document).unwrap();
        assert_eq!(document["schema"], "drivescope.truth/1");
        let truths = document["truths"].as_array().unwrap();
        assert_eq!(truths[0]["value"], 3.0);
        assert_eq!(truths[0]["unit"], "count");
        assert_eq!(truths[0]["data"]["block_bytes"], 512);
        assert_eq!((&truths[1]["value"], &truths[1]["absent"]), (&"cmr".into(), &false.into()));
        assert_eq!((&truths[2]["value"], &truths[2]["absent"]), (&serde_json::Value::Null, &true.into()));
        assert_eq!(
            (&truths[3]["depends"], &truths[3]["absent"]),
            (&"on what was written".into(), &false.into())
        );
    }
}
