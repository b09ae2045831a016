//! Estimates as JSON, schema `drivescope.estimate/1`: seconds, bytes, bytes per second.

use super::finite;
use crate::terminal::{EstimatePage, EstimatedBudget, EstimatedRow};
use model::estimate::Estimate;
use serde::Serialize;

#[derive(Serialize)]
struct EstimateDocument<'page> {
    schema: &'static str,
    drives: Vec<DriveDocument<'page>>,
    works: Vec<WorkDocument<'page>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    budgets: Vec<BudgetDocument<'page>>,
    notes: &'page [String],
}

#[derive(Serialize)]
struct DriveDocument<'page> {
    name: &'page str,
    run: &'page str,
    capacity_bytes: u64,
    basis: &'page [String],
}

#[derive(Serialize)]
struct WorkDocument<'page> {
    work: &'static str,
    times: Vec<TimeDocument<'page>>,
}

#[derive(Serialize)]
struct TimeDocument<'page> {
    /// Its number in `drives`; of several at once, the one that takes longest.
    drive: usize,
    all_at_once: bool,
    first_byte: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'page str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<NumberDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_second: Option<NumberDocument>,
    writes_not_measured: bool,
}

#[derive(Serialize)]
struct BudgetDocument<'page> {
    drive: usize,
    /// What 99 of 100 answers may take at most.
    latency_budget_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'page str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_once: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iops: Option<NumberDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p99_s: Option<f64>,
}

/// A number with its interval. An end is null where there is none.
#[derive(Serialize)]
pub(super) struct NumberDocument {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    confidence: Option<f64>,
}

impl NumberDocument {
    pub(super) fn of(estimate: &Estimate) -> NumberDocument {
        NumberDocument {
            value: finite(estimate.value),
            low: finite(estimate.low),
            high: finite(estimate.high),
            confidence: finite(estimate.confidence),
        }
    }
}

/// The document, with a line end.
pub fn estimate_document(page: &EstimatePage) -> String {
    let drives = page.drives.iter().map(|drive| DriveDocument {
        name: &drive.name,
        run: &drive.run,
        capacity_bytes: drive.capacity.0,
        basis: &drive.basis,
    });
    let works = page
        .works
        .iter()
        .map(|work| WorkDocument { work: work.name, times: work.rows.iter().map(time).collect() });
    let document = EstimateDocument {
        schema: "drivescope.estimate/1",
        drives: drives.collect(),
        works: works.collect(),
        budgets: page.budgets.iter().map(budget).collect(),
        notes: &page.notes,
    };
    serde_json::to_string_pretty(&document).expect("numbers, words and lists have a form in JSON") + "\n"
}

fn budget(budget: &EstimatedBudget) -> BudgetDocument<'_> {
    let known = budget.outcome.as_ref().ok();
    BudgetDocument {
        drive: budget.drive,
        latency_budget_s: budget.budget_s,
        unknown: budget.outcome.as_ref().err().map(String::as_str),
        at_once: known.map(|(at_once, ..)| *at_once),
        iops: known.map(|(_, iops, _)| NumberDocument::of(iops)),
        p99_s: known.and_then(|(.., p99_s)| finite(*p99_s)),
    }
}

fn time(row: &EstimatedRow) -> TimeDocument<'_> {
    let known = row.outcome.as_ref().ok();
    TimeDocument {
        drive: row.drive,
        all_at_once: row.is_of_all,
        first_byte: row.range.first().0,
        bytes: row.range.bytes().0,
        unknown: row.outcome.as_ref().err().map(String::as_str),
        seconds: known.map(|(seconds, _)| NumberDocument::of(seconds)),
        bytes_per_second: known.map(|(_, rate)| NumberDocument::of(rate)),
        writes_not_measured: row.is_open,
    }
}
