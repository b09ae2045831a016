//! `drivescope list`.

use super::args::ListArguments;
use super::output;
use crate::error::{UserError, exit};
use io::target::listing::drives;

/// Runs the command; the exit status.
///
/// # Errors
/// When the system does not say which drives there are.
pub fn run(arguments: &ListArguments) -> Result<u8, UserError> {
    let rows: Vec<_> = drives()?.into_iter().map(crate::drive_row::of).collect();
    let page = if rows.is_empty() {
        "No drives. Inside a container they may be hidden; a folder can still be checked: drivescope check .\n".into()
    } else {
        report::terminal::drives_table(&rows, output::page_style(arguments.plain))
    };
    output::print(&page)?;
    Ok(exit::SUCCESS)
}
