//! Where results go: standard output for the result, standard error for everything on the way, files for JSON.

use super::args::{OutputArguments, PageArguments};
use super::output_file;
use crate::error::UserError;
use model::run::Run;
use report::hostile::harmless;
use report::json::document;
use report::style::Style;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Without a terminal that says how wide it is.
const WIDTH: usize = 100;

/// How pages look on standard output.
pub fn page_style(plain: bool) -> Style {
    let terminal = std::io::stdout().is_terminal();
    Style {
        width: width(),
        colour: terminal && !plain && std::env::var_os("NO_COLOR").is_none(),
        unicode: speaks_unicode(),
    }
}

/// How wide the terminal is.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(WIDTH, |(columns, _)| usize::from(columns.0)).max(20)
}

/// The locale's character set, as POSIX ranks the variables.
pub fn speaks_unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
    // A container without a locale still has a terminal that speaks UTF-8, as all have for twenty years.
    locale.is_empty() || locale == "C" || locale == "POSIX" || locale.to_ascii_uppercase().contains("UTF")
}

/// Prints a page. A reader that has gone away, such as `head`, is no error.
pub fn print(page: &str) -> Result<(), UserError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(page.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(UserError::failure(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says something on standard error. Names of files and what stands in them may be part of it, so that each line is
/// made harmless. Nobody can be told that nobody listens, so that is no failure.
pub fn say(text: &str) {
    let lines: Vec<String> = text.lines().map(|line| harmless(line, usize::MAX)).collect();
    let _ = writeln!(std::io::stderr(), "drivescope: {}", lines.join("\n"));
}

/// Refuses what results cannot be written to, before anything is measured; `sources` is what they are made from.
pub fn check(output: &OutputArguments, sources: &[&Path]) -> Result<(), UserError> {
    output.json.as_deref().map_or(Ok(()), |path| output_file::must_take_result(path, sources))
}

/// Gives the run in the ways that were asked for.
pub fn give(run: &Run, output: &OutputArguments) -> Result<(), UserError> {
    let json = || document(run).to_json_pretty();
    let path = output.json.as_deref();
    if let Some(path) = path.filter(|path| *path != Path::new("-")) {
        // Looked at again: hours may have passed since.
        output_file::must_be_no_drive(path)
            .and_then(|()| output_file::must_not_be(path, Path::new(&run.target.path)))
            .map_err(|error| kept(error, run))?;
    }
    let printed = match path {
        Some(path) if path == Path::new("-") => return print(&json()).map_err(|error| kept(error, run)),
        _ => print(&report::terminal::run_page(run, page_style(output.plain))),
    };
    if let Some(path) = path {
        output_file::write(path, "the run as JSON", json().as_bytes()).map_err(|error| kept(error, run))?;
    }
    printed.map_err(|error| kept(error, run))
}

/// Gives a page that is not a run in the ways that were asked for.
pub fn give_page(
    page: impl Fn(Style) -> String,
    json: impl Fn() -> String,
    arguments: &PageArguments,
) -> Result<(), UserError> {
    match arguments.json.as_deref() {
        Some(path) if path == Path::new("-") => return print(&json()),
        Some(path) => output_file::write(path, "JSON", json().as_bytes())?,
        None => {}
    }
    print(&page(page_style(arguments.plain)))
}

/// Whoever waited for a measurement must know that it is not lost with its output.
fn kept(error: UserError, run: &Run) -> UserError {
    let text = format!(
        "{}. The run is kept: `drivescope show {id}` shows it, `drivescope show {id} --json FILE` writes it",
        error.text,
        id = run.id
    );
    UserError { text, ..error }
}
