//! Estimates as JSON, schema `drivescope.estimate/1`: seconds, bytes, bytes per second.

use super::document::finite;
use crate::terminal::estimate::why_no_budget;
use crate::terminal::{EstimatePage, EstimatedBudget, EstimatedDrive, EstimatedRow, Told};
use model::estimate::Estimate;
use serde::Serialize;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.estimate/1")]
pub struct EstimateDocument<'page> {
    drives: &'page [EstimatedDrive],
    works: Vec<WorkDocument<'page>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    budgets: Vec<BudgetDocument<'page>>,
    notes: &'page [String],
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WorkDocument<'page> {
    work: &'static str,
    times: Vec<TimeDocument<'page>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TimeDocument<'page> {
    /// Its number in `drives`; of several at once, the one that takes longest.
    drive: usize,
    all_at_once: bool,
    first_byte: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'page str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<Estimate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_second: Option<Estimate>,
    writes_not_measured: bool,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct BudgetDocument<'page> {
    drive: usize,
    latency_budget_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_once: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iops: Option<Estimate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p99_s: Option<f64>,
    /// Queue depths with too few requests for a 99th percentile.
    #[serde(skip_serializing_if = "<[u64]>::is_empty")]
    without_p99: &'page [u64],
}

pub fn estimate_document(page: &EstimatePage) -> EstimateDocument<'_> {
    let mut works = Vec::new();
    for work in &page.works {
        works.push(WorkDocument { work: work.name, times: work.rows.iter().map(time).collect() });
    }
    EstimateDocument {
        drives: &page.drives,
        works,
        budgets: page.budgets.iter().map(budget).collect(),
        notes: &page.notes,
    }
}

fn budget(budget: &EstimatedBudget) -> BudgetDocument<'_> {
    let (drive, latency_budget_s) = (budget.drive, budget.budget_s);
    let (mut unknown, mut at_once, mut iops, mut p99_s) = (None, None, None, None);
    match &budget.outcome {
        Err(why) => unknown = Some(why_no_budget(*why)),
        Ok((most, estimate, p99)) => {
            (at_once, iops, p99_s) = (Some(*most), Some(*estimate), finite(*p99));
        }
    }
    BudgetDocument {
        drive,
        latency_budget_s,
        unknown,
        at_once,
        iops,
        p99_s,
        without_p99: &budget.without_p99,
    }
}

fn time(row: &EstimatedRow) -> TimeDocument<'_> {
    let (unknown, seconds, bytes_per_second) = match &row.outcome {
        Told::Unknown(why) => (Some(why.as_str()), None, None),
        Told::Known((seconds, rate)) => (None, Some(*seconds), Some(*rate)),
    };
    TimeDocument {
        drive: row.drive,
        all_at_once: row.is_of_all,
        first_byte: row.range.first().get(),
        bytes: row.range.bytes().get(),
        unknown,
        seconds,
        bytes_per_second,
        writes_not_measured: row.is_open,
    }
}
