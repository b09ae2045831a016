//! The page of an estimate: how long work will take on one drive or on several, and on what that rests.

use super::page;
use super::tables::Table;
use crate::quantity::{capacity, measured};
use crate::style::{Style, Tone, paragraph};
use model::estimate::Estimate;
use model::range::ByteRange;
use model::units::Bytes;

/// How long work will take.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatePage {
    /// The drives, in the order in which they were asked for.
    pub drives: Vec<EstimatedDrive>,
    /// The work, in the order in which it is shown.
    pub works: Vec<EstimatedWork>,
    /// On what all of it rests, as sentences.
    pub notes: Vec<String>,
}

/// A drive of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatedDrive {
    /// What it calls itself, or where it is.
    pub name: String,
    /// How much it holds.
    pub capacity: Bytes,
    /// The run that tells of it.
    pub run: String,
    /// What is known of its rates, and what to be careful about: sentences.
    pub basis: Vec<String>,
}

/// Work that somebody waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatedWork {
    /// The word in files.
    pub name: &'static str,
    /// What it is, for people: "Read all of it once".
    pub what: String,
    /// How long it takes on each drive, or on all at once.
    pub rows: Vec<EstimatedRow>,
}

/// How long it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatedRow {
    /// The number of the drive; of several at once, that of the one that takes longest.
    pub drive: usize,
    /// Whether it is the time of all drives at once.
    pub is_of_all: bool,
    /// The stretch of each drive that is read or written.
    pub range: ByteRange,
    /// Seconds and bytes per second, or why they are not known.
    pub outcome: Result<(Estimate, Estimate), String>,
    /// Whether writes are part of it and were not measured: then it has no upper end.
    pub is_open: bool,
}

/// The page.
pub fn estimate_page(page_of: &EstimatePage, style: Style) -> String {
    let mut sections = vec![drives(page_of, style)];
    if page_of.drives.len() == 1 {
        sections.push(one_drive(page_of, style));
    } else {
        sections.extend(page_of.works.iter().map(|work| several_drives(page_of, work, style)));
    }
    let notes = page_of.notes.iter().flat_map(|note| paragraph("  ", &style.sentence(note), style.columns()));
    sections.push(notes.map(|line| style.paint(Tone::Faint, &line)).collect());
    page(sections)
}

fn drives(page_of: &EstimatePage, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for drive in &page_of.drives {
        let title = format!("{}, {}", style.name(&drive.name), capacity(drive.capacity));
        lines.push(style.paint(Tone::Heading, &title));
        let basis = format!("From the run {}. {}", style.name(&drive.run), drive.basis.join(" "));
        lines.extend(paragraph("  ", &style.sentence(&basis), style.columns()));
    }
    lines
}

fn one_drive(page_of: &EstimatePage, style: Style) -> Vec<String> {
    let rows: Vec<(&str, &EstimatedRow)> =
        page_of.works.iter().flat_map(|work| work.rows.iter().map(|row| (work.what.as_str(), row))).collect();
    let cells = rows.iter().map(|(what, row)| cells(style.own(what), row, style)).collect();
    let table = Table::new(["how long it takes", "time", "range", "rate"], 3, cells, style);
    table.lines(|index| below(rows[index].1, style))
}

fn several_drives(page_of: &EstimatePage, work: &EstimatedWork, style: Style) -> Vec<String> {
    let name = |row: &EstimatedRow| {
        let name = page_of.drives.get(row.drive).map_or(String::new(), |drive| style.name(&drive.name));
        if row.is_of_all { format!("all at once, as slow as {name}") } else { name }
    };
    let cells = work.rows.iter().map(|row| cells(name(row), row, style)).collect();
    let table = Table::new([work.what.as_str(), "time", "range", "rate"], 3, cells, style);
    table.lines(|index| below(&work.rows[index], style))
}

fn cells(what: String, row: &EstimatedRow, style: Style) -> Vec<String> {
    match &row.outcome {
        Err(_) => vec![what, "unknown".into(), "-".into(), "-".into()],
        Ok((seconds, rate)) => {
            let time = measured(seconds, "s");
            let rate = measured(rate, "B/s");
            // Of a time without an end the rate says nothing.
            let rate = if row.is_open { "-".into() } else { style.own(&rate.value) };
            vec![what, style.own(&time.value), style.own(&time.interval), rate]
        }
    }
}

fn below(row: &EstimatedRow, style: Style) -> Vec<String> {
    let why = row.outcome.as_ref().err();
    why.map_or(Vec::new(), |text| paragraph("    ", &style.sentence(text), style.columns()))
}
