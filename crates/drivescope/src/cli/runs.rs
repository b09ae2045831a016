//! `drivescope runs`.

use super::args::RunsArguments;
use super::output;
use super::stored::{existing_store, no_runs};
use crate::error::{UserError, exit};
use crate::store::RunListing;
use model::run::RunStatus;
use report::terminal::{RunRow, runs_table};
use serde::Serialize;
use std::path::Path;

/// The newest runs, of which a terminal of 24 lines shows all.
const FIRST_SCREEN: usize = 20;

/// Schema `drivescope.run-list/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.run-list/1")]
pub(super) struct RunListDocument<'list> {
    runs: &'list [RunListing],
}

pub fn run(arguments: &RunsArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let runs = match existing_store(store)? {
        Some(store) => store.runs()?,
        None => Vec::new(),
    };
    let document = RunListDocument { runs: &runs };
    let shown = if arguments.all { &runs[..] } else { &runs[..runs.len().min(FIRST_SCREEN)] };
    let rows: Vec<RunRow> = shown.iter().map(row).collect();
    let nothing = format!("There are {}\n", no_runs(store)?);
    let page = |style| match rows.is_empty() {
        true => nothing.clone(),
        false => runs_table(&rows, runs.len() - rows.len(), style),
    };
    output::give_page(page, &document, &arguments.page)?;
    for run in shown {
        if let Some(damage) = &run.damage {
            output::say(&format!("{}: {damage}", run.id));
        }
    }
    Ok(exit::SUCCESS)
}

fn row(run: &RunListing) -> RunRow {
    let target = run.target_model.as_ref().or(run.target_path.as_ref());
    RunRow {
        started: started(run),
        id: run.id.clone(),
        target: target.cloned().unwrap_or_else(|| "unknown".into()),
        status: if run.under_way { None } else { run.status.or(Some(RunStatus::Failed)) },
        experiments: run.experiments.clone(),
    }
}

/// A virtual drive has its own time, which says nothing to a person.
fn started(run: &RunListing) -> String {
    let is_virtual = run.target_path.as_deref().is_some_and(|path| path.starts_with("sim:"));
    match &run.started {
        Some(_) if is_virtual => "virtual time".into(),
        Some(started) => started.clone(),
        None => "unknown".into(),
    }
}
