//! `drivescope show`: a stored run, analysed anew.

use super::args::ShowArguments;
use super::stored::{analysed, store_with_runs};
use super::{output, report};
use crate::error::{UserError, exit};
use analysis::phase_table::phase_rows;
use std::path::Path;

/// # Errors
/// When the run cannot be read.
pub fn run(arguments: &ShowArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let stored = analysed(&arguments.run, &store_with_runs(store)?)?;
    let phases = if arguments.verbose { phase_rows(&stored.run.view(&stored.series)) } else { Vec::new() };
    output::give_with_phases(&stored.run, &phases, &arguments.output)?;
    if arguments.charts {
        report::print_charts(&[stored], arguments.output.plain)?;
    }
    Ok(exit::SUCCESS)
}
