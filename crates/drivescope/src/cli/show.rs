//! `drivescope show`: a stored run, analysed anew.

use super::args::ShowArguments;
use super::stored::{analysed, store_with_runs};
use super::{output, picture};
use crate::error::{UserError, exit};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run, or it cannot be read.
pub fn run(arguments: &ShowArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let stored = analysed(&arguments.run, &store_with_runs(store)?)?;
    output::give(&stored.run, &arguments.output)?;
    if arguments.charts {
        picture::print_charts(&[stored], arguments.output.plain)?;
    }
    Ok(exit::SUCCESS)
}
