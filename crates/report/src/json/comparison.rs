//! Runs set side by side as JSON, schema `drivescope.compare/1`. Keys may be added; none is renamed or changes its meaning.

use super::document::finite;
use crate::terminal::compare::change_unknown;
use model::comparison::{Change, ChangedRegion, ComparedFigure, Comparison, RunContradiction};
use model::request::Operation;
use model::run::Run;
use serde::Serialize;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.compare/1")]
pub struct ComparisonDocument<'run> {
    /// Everywhere else a run is its place in this list, from 0.
    runs: Vec<RunEntry<'run>>,
    caveats: &'run [String],
    /// What runs of one drive under the same conditions say that cannot both be true.
    contradictions: &'run [RunContradiction],
    figures: &'run [ComparedFigure],
    changes: Vec<ChangeDocument<'run>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RunEntry<'run> {
    id: &'run str,
    started: &'run str,
    path: &'run str,
    model: Option<&'run str>,
    serial: Option<&'run str>,
    capacity_bytes: u64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ChangeDocument<'run> {
    earlier: usize,
    later: usize,
    operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    regions: Option<&'run [ChangedRegion]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<usize>,
    /// The share by which half of the cells must have changed at least to be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    smallest_seen: Option<f64>,
}

pub fn comparison_document<'run>(
    comparison: &'run Comparison,
    runs: &[&'run Run],
) -> ComparisonDocument<'run> {
    ComparisonDocument {
        runs: runs.iter().map(|run| run_entry(run)).collect(),
        caveats: &comparison.caveats,
        contradictions: &comparison.contradictions,
        figures: &comparison.figures,
        changes: comparison.changes.iter().map(change).collect(),
    }
}

fn run_entry(run: &Run) -> RunEntry<'_> {
    RunEntry {
        id: &run.id,
        started: &run.started,
        path: &run.target.path,
        model: run.target.model.as_deref(),
        serial: run.target.serial.as_deref(),
        capacity_bytes: run.target.capacity.get(),
    }
}

fn change(change: &Change) -> ChangeDocument<'_> {
    let mut document = ChangeDocument {
        earlier: change.earlier,
        later: change.later,
        operation: if change.operation == Operation::Write { "write" } else { "read" },
        unknown: None,
        regions: None,
        cells: None,
        smallest_seen: None,
    };
    match &change.outcome {
        Err(why) => document.unknown = Some(change_unknown(why)),
        Ok(found) => {
            document.regions = Some(&found.regions);
            document.cells = Some(found.cells);
            document.smallest_seen = finite(found.smallest_seen);
        }
    }
    document
}
