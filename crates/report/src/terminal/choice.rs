//! The page of `choose`: the questions and answers, where they lead, and how long a day's writes take on each drive.

use super::estimate::Told;
use super::section::{notes, page};
use super::tables::Table;
use crate::quantity::rough_time;
use crate::style::{Style, Tone, paragraph};
use model::estimate::Estimate;
use model::units::Nanos;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq)]
pub struct ChoicePage {
    pub asked: Vec<AnsweredQuestion>,
    /// The question that comes next, with what to type; none when all that is needed was answered.
    pub open: Option<AnsweredQuestion>,
    /// The word for the kind, the kind for people, how to use it, and why; none as long as a question is open.
    pub choice: Option<(&'static str, String, String, String)>,
    /// A day's writes, for people; none when they were not told.
    pub day: Option<String>,
    pub drives: Vec<WeighedDrive>,
    /// On what all of it rests, as sentences.
    pub notes: Vec<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnsweredQuestion {
    pub question: &'static str,
    pub answer: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WeighedDrive {
    pub name: String,
    /// `cmr`, `smr` or `flash`; none where it is not known.
    pub kind: Option<String>,
    /// Seconds that the writes of a day take, those of the longest burst, and whether the rate falls; or why they are not known.
    pub outcome: Told<(Estimate, Estimate, bool)>,
    pub advice: Vec<String>,
}

pub fn choice_page(page_of: &ChoicePage, style: Style) -> String {
    page([
        questions(page_of, style),
        verdict(page_of, style),
        drives(page_of, style),
        notes(Tone::Faint, "  ", &page_of.notes, style),
    ])
}

fn questions(page_of: &ChoicePage, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for asked in &page_of.asked {
        lines.extend(paragraph("  ", &format!("{} {}", asked.question, asked.answer), style.columns()));
    }
    if let Some(open) = page_of.open {
        lines.extend(paragraph(
            "  ",
            &format!("{} Answer with {}", open.question, open.answer),
            style.columns(),
        ));
    }
    lines.insert(0, style.paint(Tone::Heading, "Questions"));
    lines
}

fn verdict(page_of: &ChoicePage, style: Style) -> Vec<String> {
    let Some((_, kind, way, reason)) = &page_of.choice else { return Vec::new() };
    let mut lines = vec![style.paint(Tone::Heading, "Answer")];
    lines.extend(paragraph("  ", &style.sentence(&format!("Take {kind}. {reason} {way}")), style.columns()));
    lines
}

fn drives(page_of: &ChoicePage, style: Style) -> Vec<String> {
    let Some(day) = &page_of.day else { return Vec::new() };
    let mut table = Table::new(&["drive", "kind", "a day's writes take", "longest burst", "falls"], 3, style);
    for drive in &page_of.drives {
        let mut sentences = drive.advice.clone();
        if let Told::Unknown(why) = &drive.outcome {
            sentences.insert(0, why.clone());
        }
        let mut below = Vec::new();
        if !sentences.is_empty() {
            below = paragraph("    ", &style.sentence(&sentences.join(" ")), style.columns());
        }
        table.row(row(drive, style), below);
    }
    let mut lines = vec![style.paint(Tone::Heading, &style.sentence(&format!("Your writes: {day}")))];
    lines.extend(table.lines());
    lines
}

fn row(drive: &WeighedDrive, style: Style) -> Vec<String> {
    let name = style.name(&drive.name);
    let kind = drive.kind.as_deref().unwrap_or("unknown").to_owned();
    match &drive.outcome {
        Told::Unknown(_) => vec![name, kind, "unknown".into(), "-".into(), "-".into()],
        Told::Known((busy_s, burst_s, falls)) => {
            let falls = if *falls { "yes" } else { "no" };
            vec![name, kind, time(busy_s, style), time(burst_s, style), falls.into()]
        }
    }
}

fn time(seconds: &Estimate, style: Style) -> String {
    let (value, low, high) = (rough(seconds.value), rough(seconds.low), rough(seconds.high));
    style.own(&if low == high { value } else { format!("{value} ({low} to {high})") })
}

fn rough(seconds: f64) -> String {
    rough_time(Nanos::from_secs_f64(seconds).unwrap_or_default())
}
