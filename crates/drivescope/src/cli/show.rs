//! `drivescope show`: a stored run, analysed anew.

use super::args::ShowArguments;
use super::{open_store, output};
use crate::error::{UserError, exit};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run, or it cannot be read.
pub fn run(arguments: &ShowArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let mut stored = open_store(store)?.read(&arguments.run)?;
    stored.damage.iter().for_each(|damage| eprintln!("drivescope: {damage}"));
    stored.run.findings = analysis::analyse(&stored.run.view(&stored.series));
    output::give(&stored.run, &arguments.output)?;
    Ok(exit::SUCCESS)
}
