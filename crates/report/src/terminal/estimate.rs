//! The page of an estimate: how long work will take on one drive or on several, and on what that rests.

use super::page;
use super::tables::Table;
use crate::quantity::{count, measured, target_size};
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
    /// How many requests a second come within a latency, for each drive; empty when nobody asked.
    pub budgets: Vec<EstimatedBudget>,
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

/// How many requests a second one drive answers within a latency.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatedBudget {
    /// The number of the drive.
    pub drive: usize,
    /// What 99 of 100 answers may take at most, in seconds.
    pub budget_s: f64,
    /// Requests at a time, per second, and what 99 of 100 take at most; or why there is none.
    pub outcome: Result<(u64, Estimate, f64), String>,
}

/// The page.
pub fn estimate_page(page_of: &EstimatePage, style: Style) -> String {
    let mut sections = vec![drives(page_of, style)];
    if page_of.drives.len() == 1 && !page_of.works.is_empty() {
        sections.push(one_drive(page_of, style));
    } else {
        sections.extend(page_of.works.iter().map(|work| several_drives(page_of, work, style)));
    }
    sections.push(budgets(page_of, style));
    let notes = page_of.notes.iter().flat_map(|note| paragraph("  ", &style.sentence(note), style.columns()));
    sections.push(notes.map(|line| style.paint(Tone::Faint, &line)).collect());
    page(sections)
}

fn drives(page_of: &EstimatePage, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for drive in &page_of.drives {
        let title = format!("{}, {}", style.name(&drive.name), target_size(drive.capacity));
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

/// A table of the most that each drive answers within the latency; nothing when nobody asked.
fn budgets(page_of: &EstimatePage, style: Style) -> Vec<String> {
    let Some(first) = page_of.budgets.first() else { return Vec::new() };
    let name = |budget: &EstimatedBudget| {
        page_of.drives.get(budget.drive).map_or(String::new(), |drive| style.name(&drive.name))
    };
    let rows = page_of.budgets.iter().map(|budget| match &budget.outcome {
        Err(_) => vec![name(budget), "none".into(), "-".into(), "-".into(), "-".into()],
        Ok((at_once, iops, p99_s)) => {
            let iops = measured(iops, "1/s");
            let p99 = measured(&Estimate::exact(*p99_s), "s");
            vec![
                name(budget),
                format!("{} at a time", count(*at_once)),
                style.own(&iops.value),
                style.own(&iops.interval),
                style.own(&p99.value),
            ]
        }
    });
    let limit = measured(&Estimate::exact(first.budget_s), "s").value;
    let title = format!("99 of 100 answers within {}", style.own(&limit));
    let heads = [title.as_str(), "most with", "per second", "range", "99 of 100 take"];
    Table::new(heads, 3, rows.collect(), style).lines(|index| {
        let why = page_of.budgets[index].outcome.as_ref().err();
        why.map_or(Vec::new(), |text| paragraph("    ", &style.sentence(text), style.columns()))
    })
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
