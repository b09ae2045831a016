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

/// What a drive is called on a page: what it calls itself, with its serial number; else where it was.
pub(super) fn drive_name(run: &Run) -> String {
    let said = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    match (said(&run.target.model), said(&run.target.serial)) {
        (Some(model), Some(serial)) => format!("{model} ({serial})"),
        (Some(model), None) => model,
        _ => run.target.path.clone(),
    }
}
