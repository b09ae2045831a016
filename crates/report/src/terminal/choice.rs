//! The page of `choose`: the questions and answers, where they lead, and how long a day's writes take on each drive.

use super::page;
use super::tables::Table;
use crate::quantity::rough_time;
use crate::style::{Style, Tone, paragraph};
use model::estimate::Estimate;
use model::units::Nanos;

/// Which kind of drive to take, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoicePage {
    /// Questions that were answered, in the order in which they are asked.
    pub asked: Vec<AnsweredQuestion>,
    /// The question that comes next, with what to type; none when all that is needed was answered.
    pub open: Option<AnsweredQuestion>,
    /// The word for the kind, the kind for people, how to use it, and why; none as long as a question is open.
    pub choice: Option<(&'static str, String, String, String)>,
    /// A day's writes, for people; none when they were not told.
    pub day: Option<String>,
    /// How long they take on each drive.
    pub drives: Vec<WeighedDrive>,
    /// On what all of it rests, as sentences.
    pub notes: Vec<&'static str>,
}

/// A question and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnsweredQuestion {
    /// For people.
    pub question: &'static str,
    /// The answer; of an open question, what to type.
    pub answer: &'static str,
}

/// A drive and a day's writes.
#[derive(Clone, Debug, PartialEq)]
pub struct WeighedDrive {
    /// What it calls itself, or where it is.
    pub name: String,
    /// `cmr`, `smr` or `flash`; none where it is not known.
    pub kind: Option<String>,
    /// Seconds that the writes of a day take, those of the longest burst, and whether the rate falls; or why they are not known.
    pub outcome: Result<(Estimate, Estimate, bool), String>,
    /// What would make it better, as sentences.
    pub advice: Vec<String>,
}

/// The page.
pub fn choice_page(page_of: &ChoicePage, style: Style) -> String {
    let notes = page_of.notes.iter().flat_map(|note| paragraph("  ", &style.sentence(note), style.columns()));
    page([
        questions(page_of, style),
        verdict(page_of, style),
        drives(page_of, style),
        notes.map(|line| style.paint(Tone::Faint, &line)).collect(),
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
    let rows = page_of.drives.iter().map(|drive| row(drive, style)).collect();
    let header = ["drive", "kind", "a day's writes take", "longest burst", "falls"];
    let mut lines = vec![style.paint(Tone::Heading, &style.sentence(&format!("Your writes: {day}")))];
    lines.extend(Table::new(header, 3, rows, style).lines(|index| {
        let drive = &page_of.drives[index];
        let why = drive.outcome.as_ref().err().cloned();
        let sentences: Vec<String> = why.into_iter().chain(drive.advice.iter().cloned()).collect();
        if sentences.is_empty() {
            return Vec::new();
        }
        paragraph("    ", &style.sentence(&sentences.join(" ")), style.columns())
    }));
    lines
}

fn row(drive: &WeighedDrive, style: Style) -> Vec<String> {
    let name = style.name(&drive.name);
    let kind = drive.kind.clone().unwrap_or_else(|| "unknown".into());
    match &drive.outcome {
        Err(_) => vec![name, kind, "unknown".into(), "-".into(), "-".into()],
        Ok((busy_s, burst_s, falls)) => {
            vec![
                name,
                kind,
                time(busy_s, style),
                time(burst_s, style),
                if *falls { "yes" } else { "no" }.into(),
            ]
        }
    }
}

/// A time with its range, if it has one.
fn time(seconds: &Estimate, style: Style) -> String {
    let rough = |seconds: f64| rough_time(Nanos::from_secs_f64(seconds).unwrap_or_default());
    let value = rough(seconds.value);
    let (low, high) = (rough(seconds.low), rough(seconds.high));
    style.own(&if low == high { value } else { format!("{value} ({low} to {high})") })
}
