//! The page of an estimate: how long work will take on one drive or on several, and on what that rests.

use super::section::{notes, page};
use super::tables::Table;
use crate::finding::access::why_no_concurrency;
use crate::quantity::{count, measured, target_size};
use crate::style::{Style, Tone, paragraph};
use model::estimate::Estimate;
use model::planning::NoBudget;
use model::range::ByteRange;
use model::units::Bytes;
use serde::Serialize;

/// What is known, or why it is not, as a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Told<Value> {
    Known(Value),
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct EstimatePage {
    pub drives: Vec<EstimatedDrive>,
    pub works: Vec<EstimatedWork>,
    /// IOPS within a latency budget, for each drive; empty without a budget.
    pub budgets: Vec<EstimatedBudget>,
    /// On what all of it rests, as sentences.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimatedDrive {
    pub name: String,
    pub run: String,
    #[serde(rename = "capacity_bytes")]
    pub capacity: Bytes,
    // What is known of its rates, and what to be careful about: sentences.
    pub basis: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EstimatedWork {
    pub name: &'static str,
    /// What it is, for people: "Read the whole drive".
    pub what: String,
    pub rows: Vec<EstimatedRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EstimatedRow {
    /// The number of the drive; of several at once, that of the one that takes longest.
    pub drive: usize,
    pub is_of_all: bool,
    pub range: ByteRange,
    /// Seconds and bytes per second, or why they are not known.
    pub outcome: Told<(Estimate, Estimate)>,
    /// Whether writes are part of it and were not measured: then it has no upper end.
    pub is_open: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EstimatedBudget {
    pub drive: usize,
    /// Largest 99th percentile of latency allowed, in seconds.
    pub budget_s: f64,
    /// Queue depth, IOPS and 99th percentile; or why there is none.
    pub outcome: Result<(u64, Estimate, f64), NoBudget>,
    /// Queue depths with too few requests for a 99th percentile.
    pub without_p99: Vec<u64>,
}

pub fn estimate_page(page_of: &EstimatePage, style: Style) -> String {
    let mut sections = vec![drives(page_of, style)];
    if page_of.drives.len() == 1 && !page_of.works.is_empty() {
        sections.push(one_drive(page_of, style));
    } else {
        for work in &page_of.works {
            sections.push(several_drives(page_of, work, style));
        }
    }
    sections.push(budgets(page_of, style));
    sections.push(notes(Tone::Faint, "  ", &page_of.notes, style));
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
    let mut table = Table::new(&["task", "time", "range", "rate"], 3, style);
    for work in &page_of.works {
        for row in &work.rows {
            table.row(cells(style.own(&work.what), row, style), below(row, style));
        }
    }
    table.lines()
}

fn several_drives(page_of: &EstimatePage, work: &EstimatedWork, style: Style) -> Vec<String> {
    let mut table = Table::new(&[work.what.as_str(), "time", "range", "rate"], 3, style);
    for row in &work.rows {
        let name = name(page_of, row.drive, style);
        let what = if row.is_of_all { format!("in parallel, limited by {name}") } else { name };
        table.row(cells(what, row, style), below(row, style));
    }
    table.lines()
}

/// The page of one run about its latency names no drive.
fn name(page_of: &EstimatePage, drive: usize, style: Style) -> String {
    match page_of.drives.get(drive) {
        Some(drive) => style.name(&drive.name),
        None => String::new(),
    }
}

/// The most IOPS of each drive within the latency budget; nothing without one.
fn budgets(page_of: &EstimatePage, style: Style) -> Vec<String> {
    let Some(first) = page_of.budgets.first() else { return Vec::new() };
    let limit = measured(&Estimate::exact(first.budget_s), "s").value;
    let title = format!("99th percentile within {}", style.own(&limit));
    let mut table = Table::new(&[title.as_str(), "queue depth", "IOPS", "95 % CI", "p99"], 3, style);
    for budget in &page_of.budgets {
        let name = name(page_of, budget.drive, style);
        match &budget.outcome {
            Err(why) => {
                let mut below = paragraph("    ", &style.sentence(&why_no_budget(*why)), style.columns());
                if *why != NoBudget::TooFewRequests {
                    below.extend(not_considered(budget, style));
                }
                table.row(vec![name, "none".into(), "-".into(), "-".into(), "-".into()], below);
            }
            Ok((at_once, iops, p99_s)) => {
                let iops = measured(iops, "1/s");
                let p99 = measured(&Estimate::exact(*p99_s), "s");
                let cells = vec![
                    name,
                    format!("QD {}", count(*at_once)),
                    style.own(&iops.value),
                    style.own(&iops.interval),
                    style.own(&p99.value),
                ];
                table.row(cells, not_considered(budget, style));
            }
        }
    }
    table.lines()
}

fn not_considered(budget: &EstimatedBudget, style: Style) -> Vec<String> {
    if budget.without_p99.is_empty() {
        return Vec::new();
    }
    let depths: Vec<String> = budget.without_p99.iter().map(|depth| format!("QD {depth}")).collect();
    let text = format!(
        "Not considered: {}. Too few requests for a 99th percentile; measure longer.",
        depths.join(", ")
    );
    paragraph("    ", &text, style.columns())
}

pub(crate) fn why_no_budget(why: NoBudget) -> String {
    match why {
        NoBudget::NotMeasured => {
            "Not measured: the run has no random requests by queue depth. drivescope access measures them."
                .into()
        }
        NoBudget::Unknown(reason) => why_no_concurrency(reason),
        NoBudget::Inconclusive => {
            "Inconclusive: the gain of concurrency is too uncertain. Measure longer.".into()
        }
        NoBudget::AllSlower { p99_s } => {
            let p99 = measured(&Estimate::exact(p99_s), "s").value;
            format!("No queue depth stays within it: the lowest 99th percentile is {p99}.")
        }
        NoBudget::TooFewRequests => {
            "Inconclusive: too few requests for a 99th percentile. Measure longer.".into()
        }
    }
}

fn cells(what: String, row: &EstimatedRow, style: Style) -> Vec<String> {
    match &row.outcome {
        Told::Unknown(_) => vec![what, "unknown".into(), "-".into(), "-".into()],
        Told::Known((seconds, rate)) => {
            let time = measured(seconds, "s");
            let rate = measured(rate, "B/s");
            // Of a time without an end the rate says nothing.
            let rate = if row.is_open { "-".into() } else { style.own(&rate.value) };
            vec![what, style.own(&time.value), style.own(&time.interval), rate]
        }
    }
}

fn below(row: &EstimatedRow, style: Style) -> Vec<String> {
    match &row.outcome {
        Told::Known(_) => Vec::new(),
        Told::Unknown(why) => paragraph("    ", &style.sentence(why), style.columns()),
    }
}
