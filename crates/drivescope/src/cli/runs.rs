//! `drivescope runs`.

use super::args::RunsArguments;
use super::{existing_store, no_runs, output};
use crate::error::{UserError, exit};
use crate::store::RunListing;
use model::run::RunStatus;
use report::terminal::{RunRow, runs_table};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When the store cannot be read.
pub fn run(arguments: &RunsArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let runs = existing_store(store)?.map_or_else(|| Ok(Vec::new()), |store| store.runs())?;
    if runs.is_empty() {
        output::print(&format!("There are {}\n", no_runs(store)?))?;
        return Ok(exit::SUCCESS);
    }
    let mut damaged = Vec::new();
    let mut rows = Vec::new();
    for run in runs {
        damaged.extend(run.damage.iter().map(|damage| format!("{}: {damage}", run.id)));
        rows.push(RunRow {
            started: started(&run),
            id: run.id,
            target: run.target_model.or(run.target_path).unwrap_or_else(|| "unknown".into()),
            status: if run.under_way { None } else { run.status.or(Some(RunStatus::Failed)) },
            experiments: run.experiments,
        });
    }
    output::print(&runs_table(&rows, output::page_style(arguments.plain)))?;
    damaged.iter().for_each(|damage| output::say(damage));
    Ok(exit::SUCCESS)
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
