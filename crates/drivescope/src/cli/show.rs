//! `drivescope show`: a stored run, analysed anew.

use super::args::ShowArguments;
use super::{existing_store, no_runs, output, picture};
use crate::error::{UserError, exit};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run, or it cannot be read.
pub fn run(arguments: &ShowArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let none = || no_runs(store).map_or_else(|error| error, UserError::failure);
    let existing = existing_store(store)?.ok_or_else(none)?;
    if existing.runs()?.is_empty() {
        return Err(none());
    }
    let mut stored = existing.read(&arguments.run)?;
    stored.damage.iter().for_each(|damage| output::say(damage));
    stored.run.findings = analysis::analyse(&stored.run.view(&stored.series));
    output::give(&stored.run, &arguments.output)?;
    if arguments.charts {
        picture::print_charts(&[stored], arguments.output.plain)?;
    }
    Ok(exit::SUCCESS)
}
