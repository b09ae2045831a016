//! `drivescope show`: a stored run, analysed anew.

use super::args::ShowArguments;
use super::stored::{analysed, store_with_runs};
use super::{output, report};
use crate::error::{UserError, exit};
use std::path::Path;

pub fn run(arguments: &ShowArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let stored = analysed(&arguments.run, &store_with_runs(store)?)?;
    output::give_with_series(&stored.run, &stored.series, &arguments.output)?;
    let status = output::judged(&stored.run, &arguments.output, exit::SUCCESS);
    if arguments.charts {
        report::print_charts(&[stored], arguments.output.plain)?;
    }
    Ok(status)
}
