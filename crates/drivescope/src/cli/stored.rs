//! Runs from the store, analysed anew: what commands begin with that measure nothing.

use super::{existing_store, no_runs, output};
use crate::error::UserError;
use model::run::Run;
use std::path::Path;

/// The run of that name, with its findings made again. What is damaged in it is said.
///
/// # Errors
/// When there is no such run, or it cannot be read.
pub(super) fn analysed(name: &str, store: Option<&Path>) -> Result<Run, UserError> {
    let none = || no_runs(store).map_or_else(|error| error, UserError::failure);
    let existing = existing_store(store)?.ok_or_else(none)?;
    if existing.runs()?.is_empty() {
        return Err(none());
    }
    let mut stored = existing.read(name)?;
    stored.damage.iter().for_each(|damage| output::say(damage));
    stored.run.findings = analysis::analyse(&stored.run.view(&stored.series));
    Ok(stored.run)
}

/// What a drive is called on a page: what it calls itself, else where it was.
pub(super) fn drive_name(run: &Run) -> String {
    said(&run.target.model).unwrap_or_else(|| run.target.path.clone())
}

/// The same for several drives, with the serial number where a name occurs twice.
pub(super) fn drive_names(runs: &[Run]) -> Vec<String> {
    let names: Vec<String> = runs.iter().map(drive_name).collect();
    let is_twice = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let full = runs.iter().zip(&names).map(|(run, name)| match said(&run.target.serial) {
        Some(serial) if is_twice(name) => format!("{name} ({serial})"),
        _ => name.clone(),
    });
    full.collect()
}

fn said(text: &Option<String>) -> Option<String> {
    text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}
