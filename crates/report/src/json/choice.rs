//! A choice as JSON, schema `drivescope.choice/1`: seconds.

use super::estimate::NumberDocument;
use crate::terminal::{AnsweredQuestion, ChoicePage, WeighedDrive};
use serde::Serialize;

#[derive(Serialize)]
struct ChoiceDocument<'page> {
    schema: &'static str,
    asked: Vec<QuestionDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<QuestionDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<KindDocument<'page>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    writes: Option<&'page str>,
    drives: Vec<DriveDocument<'page>>,
    notes: &'page [&'static str],
}

#[derive(Serialize)]
struct QuestionDocument {
    question: &'static str,
    /// Of an open question, what to type.
    answer: &'static str,
}

#[derive(Serialize)]
struct KindDocument<'page> {
    kind: &'static str,
    use_it: &'page str,
    reason: &'page str,
}

#[derive(Serialize)]
struct DriveDocument<'page> {
    name: &'page str,
    kind: Option<&'page str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'page str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    day_s: Option<NumberDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_burst_s: Option<NumberDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    falls: Option<bool>,
    advice: &'page [String],
}

/// The document, with a line end.
pub fn choice_document(page: &ChoicePage) -> String {
    let document = ChoiceDocument {
        schema: "drivescope.choice/1",
        asked: page.asked.iter().map(question).collect(),
        open: page.open.as_ref().map(question),
        choice: page.choice.as_ref().map(|(kind, _, way, reason)| KindDocument { kind, use_it: way, reason }),
        writes: page.day.as_deref(),
        drives: page.drives.iter().map(drive).collect(),
        notes: &page.notes,
    };
    serde_json::to_string_pretty(&document).expect("numbers, words and lists have a form in JSON") + "\n"
}

fn question(asked: &AnsweredQuestion) -> QuestionDocument {
    QuestionDocument { question: asked.question, answer: asked.answer }
}

fn drive(drive: &WeighedDrive) -> DriveDocument<'_> {
    let known = drive.outcome.as_ref().ok();
    DriveDocument {
        name: &drive.name,
        kind: drive.kind.as_deref(),
        unknown: drive.outcome.as_ref().err().map(String::as_str),
        day_s: known.map(|(day_s, ..)| NumberDocument::of(day_s)),
        longest_burst_s: known.map(|(_, burst_s, _)| NumberDocument::of(burst_s)),
        falls: known.map(|(.., falls)| *falls),
        advice: &drive.advice,
    }
}
