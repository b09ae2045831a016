//! `drivescope report`: runs as a page or a picture, by the ending of the file.

use super::args::ReportArguments;
use super::{export, picture, report_page};
use crate::error::{UserError, exit};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run, it cannot be read, there is nothing to draw, or the file cannot be written.
pub fn run(arguments: &ReportArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let ending = arguments.output.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("html" | "htm") => report_page::run(arguments, store),
        _ => write_picture(arguments, store),
    }
}

fn write_picture(arguments: &ReportArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if let Some(format) = export::format_of(&arguments.output) {
        export::write_file(&arguments.runs, store, format, &arguments.output)?;
        return Ok(exit::SUCCESS);
    }
    picture::give(arguments, store)
}
