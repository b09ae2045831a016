//! What is true of a virtual drive as JSON, schema `drivescope.truth/1`: for programs that score measurements.

use super::document::text_of;
use model::finding::{FindingCode, ValueDocument};
use serde::Serialize;

/// What is true of a drive for one code. Without value and condition there is none of it.
#[derive(Clone, Copy, Debug)]
pub struct TruthEntry<'truth, Data> {
    pub code: FindingCode,
    pub unit: Option<&'static str>,
    pub value: Option<TruthEntryValue<'truth>>,
    pub depends: Option<&'truth str>,
    pub data: Data,
}

#[derive(Clone, Copy, Debug)]
pub enum TruthEntryValue<'truth> {
    Number(f64),
    Word(&'truth str),
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct TruthDocument<'truth, Data> {
    schema: &'static str,
    drive: &'truth str,
    truths: Vec<EntryDocument<'truth, Data>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct EntryDocument<'truth, Data> {
    code: &'static str,
    /// Null where there is none, or where it depends.
    value: Option<ValueDocument>,
    unit: Option<&'static str>,
    absent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    depends: Option<&'truth str>,
    data: Data,
}

impl<'truth, Data> From<TruthEntry<'truth, Data>> for EntryDocument<'truth, Data> {
    fn from(truth: TruthEntry<'truth, Data>) -> Self {
        let value = match truth.value {
            Some(TruthEntryValue::Number(value)) => Some(ValueDocument::Number(value)),
            Some(TruthEntryValue::Word(word)) => Some(ValueDocument::Text(word.to_string())),
            None => None,
        };
        EntryDocument {
            code: truth.code.name(),
            absent: value.is_none() && truth.depends.is_none(),
            value,
            unit: truth.unit,
            depends: truth.depends,
            data: truth.data,
        }
    }
}

pub fn truth_document<'truth, Data: Serialize>(
    drive: &'truth str,
    truths: impl Iterator<Item = TruthEntry<'truth, Data>>,
) -> String {
    let truths = truths.map(EntryDocument::from).collect();
    text_of(&TruthDocument { schema: "drivescope.truth/1", drive, truths })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_a_word_and_none() {
        let data = serde_json::json!({ "kind": "stripe" });
        let entry =
            |code, value, depends| TruthEntry { code, unit: code.unit(), value, depends, data: &data };
        let entries = [
            entry(FindingCode::StripeLayout, Some(TruthEntryValue::Number(3.0)), None),
            entry(FindingCode::RecordingKind, Some(TruthEntryValue::Word("cmr")), None),
            entry(FindingCode::WriteCliff, None, None),
            entry(FindingCode::WriteValleys, None, Some("on what was written")),
        ];
        let document: serde_json::Value =
            serde_json::from_str(&truth_document("sim:x", entries.into_iter())).unwrap();
        assert_eq!(document["schema"], "drivescope.truth/1");
        let truths = document["truths"].as_array().unwrap();
        assert_eq!(truths[0]["value"], 3.0);
        assert_eq!(truths[0]["unit"], "count");
        assert_eq!(truths[0]["data"]["kind"], "stripe");
        assert_eq!((&truths[1]["value"], &truths[1]["absent"]), (&"cmr".into(), &false.into()));
        assert_eq!((&truths[2]["value"], &truths[2]["absent"]), (&serde_json::Value::Null, &true.into()));
        assert_eq!(
            (&truths[3]["depends"], &truths[3]["absent"]),
            (&"on what was written".into(), &false.into())
        );
    }
}
