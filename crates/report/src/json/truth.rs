//! What is true of a virtual drive as JSON, schema `drivescope.truth/1`: for programs that score measurements.

use crate::json::finding::{DetailsDocument, ValueDocument};
use model::finding::{Datum, FindingCode, Name};
use serde::Serialize;

/// What is true of a drive for one code. Without number, word and condition there is none of it.
#[derive(Clone, Copy, Debug)]
pub struct TruthEntry<'truth> {
    /// What it is about.
    pub code: FindingCode,
    /// A number in the unit of the code.
    pub value: Option<f64>,
    /// A word, such as `cmr`.
    pub word: Option<&'truth str>,
    /// On what it depends.
    pub depends: Option<&'truth str>,
    /// Details, named as those of findings.
    pub data: &'truth [(Name, Datum)],
}

#[derive(Serialize)]
struct TruthDocument<'truth> {
    schema: &'static str,
    drive: &'truth str,
    truths: Vec<EntryDocument<'truth>>,
}

#[derive(Serialize)]
struct EntryDocument<'truth> {
    code: &'static str,
    /// Null where there is none, or where it depends.
    value: Option<ValueDocument>,
    unit: Option<&'static str>,
    /// True where none must be found.
    absent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    depends: Option<&'truth str>,
    data: DetailsDocument,
}

/// The document, with a line end.
pub fn truth_document<'truth>(drive: &str, truths: impl Iterator<Item = TruthEntry<'truth>>) -> String {
    let entry = |truth: TruthEntry<'truth>| {
        let word = truth.word.map(|word| ValueDocument::Text(word.to_string()));
        let value = truth.value.map(ValueDocument::Number).or(word);
        EntryDocument {
            code: truth.code.name(),
            absent: value.is_none() && truth.depends.is_none(),
            value,
            unit: truth.code.unit(),
            depends: truth.depends,
            data: DetailsDocument::of(truth.data),
        }
    };
    let document = TruthDocument { schema: "drivescope.truth/1", drive, truths: truths.map(entry).collect() };
    let text = serde_json::to_string_pretty(&document).expect("numbers, words and lists have a form in JSON");
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_a_word_and_none() {
        let data = [(Name::from("kind"), Datum::Text("stripe".into()))];
        let entry = |code, value, word, depends| TruthEntry { code, value, word, depends, data: &data };
        let entries = [
            entry(FindingCode::StripeLayout, Some(3.0), None, None),
            entry(FindingCode::RecordingKind, None, Some("cmr"), None),
            entry(FindingCode::WriteCliff, None, None, None),
            entry(FindingCode::WriteValleys, None, None, Some("on what was written")),
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
