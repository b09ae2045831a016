//! Output: results to standard output or files, everything else to standard error.

use super::args::{OutputArguments, PageArguments};
use super::output_file;
use crate::error::{Cannot, UserError, exit};
use crate::export::document;
use analysis::phase_table::phase_rows;
use model::criterion::Judgement;
use model::finding::{self, Finding};
use model::run::Run;
use report::chart::ChartedRun;
use report::finding::Text;
use report::hostile::harmless;
use report::style::Style;
use report::terminal::{PageOptions, lists_phases, needs_series, post, run_page_with};
use serde::Serialize;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use store::StoredSeries;

pub use crate::console::{page_style, width};
pub use report::json::text_of as json;

pub fn print(page: &str) -> Result<(), UserError> {
    let mut out = io::stdout().lock();
    match out.write_all(page.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) => failed_to_print(&error),
    }
}

/// A reader of standard output that has gone away, such as `head`, is no error.
pub fn failed_to_print(error: &io::Error) -> Result<(), UserError> {
    match error.kind() {
        ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error).or_cannot("write to standard output"),
    }
}

/// Writes a message to standard error. It may contain names and contents of files, so each line is made harmless.
pub fn say(text: &str) {
    let lines: Vec<String> = text.lines().map(|line| harmless(line, usize::MAX)).collect();
    let _ = writeln!(io::stderr(), "drivescope: {}", lines.join("\n"));
}

/// Refuses a file that cannot take the result, before anything is measured; `sources` is what the result is made from.
pub fn check(output: &OutputArguments, sources: &[&Path]) -> Result<(), UserError> {
    match &output.json {
        Some(path) => output_file::must_take_result(path, sources),
        None => Ok(()),
    }
}

pub fn give(run: &Run, output: &OutputArguments) -> Result<(), UserError> {
    write_run(run, PageOptions::default(), output).map_err(|error| with_run_kept(error, run))
}

/// The same of a run just measured, whose series are in its folder.
pub fn give_measured(run: &Run, folder: &Path, output: &OutputArguments) -> Result<(), UserError> {
    if (output.verbose || needs_series(run))
        && let Ok(stored) = store::read_folder(folder)
    {
        return give_with_series(run, &stored.series, output);
    }
    give(run, output)
}

pub fn give_with_series(run: &Run, series: &StoredSeries, output: &OutputArguments) -> Result<(), UserError> {
    let phases = if output.verbose || lists_phases(run) { phase_rows(&run.view(series)) } else { Vec::new() };
    let charted = ChartedRun { run, series: Some(series), letter: None };
    let options = PageOptions { phases: &phases, charted: Some(charted), ..PageOptions::default() };
    write_run(run, options, output).map_err(|error| with_run_kept(error, run))
}

fn write_run(run: &Run, options: PageOptions<'_>, output: &OutputArguments) -> Result<(), UserError> {
    let options = PageOptions { is_full: output.verbose, ..options };
    if let Some(line) = &output.line {
        return print(&format!("{}\n", line.fill(&run.findings)));
    }
    let page = || match output.post {
        true => post(run),
        false => run_page_with(run, options, page_style(output.plain)),
    };
    let Some(path) = &output.json else {
        return print(&page());
    };
    let json = document(run);
    if path == Path::new("-") {
        return print(&json);
    }
    // Checked again: hours may have passed since.
    output_file::must_be_no_drive(path)?;
    output_file::must_not_be(path, Path::new(&run.target.path))?;
    let printed = print(&page());
    output_file::write(path, "the run as JSON", json.as_bytes())?;
    printed
}

/// The exit status of a run that may be held against limits: says which it misses. A run that failed or was interrupted keeps its own.
pub fn judged(run: &Run, output: &OutputArguments, status: u8) -> u8 {
    let mut judged = status;
    for criterion in &output.fail_if {
        let condition = &criterion.text;
        let of_code = finding::of_code(&run.findings, criterion.field.code);
        match criterion.judge(&run.findings) {
            Judgement::Passed => {}
            Judgement::Failed => {
                say(&format!("failed --fail-if '{condition}': {}", why(of_code, run)));
                if status == exit::SUCCESS {
                    judged = exit::WORSE;
                }
            }
            Judgement::Undecided => {
                say(&format!("cannot decide --fail-if '{condition}': {}", why(of_code, run)));
                if judged == exit::SUCCESS {
                    judged = exit::FAILURE;
                }
            }
        }
    }
    judged
}

fn why(finding: Option<&Finding>, run: &Run) -> String {
    match finding.map(|finding| report::finding::text(finding, &run.target)) {
        Some(Text::Known { statement, .. }) => statement,
        Some(Text::Unknown { why, .. } | Text::TooWide { why, .. }) => why,
        None => "this run did not look for it. Measure with the command that does: drivescope --help".into(),
    }
}

/// A document without a page: to a file, or `-` for standard output.
pub fn write_or_print(text: &str, file: &Path) -> Result<(), UserError> {
    if file == Path::new("-") {
        return print(text);
    }
    output_file::write(file, "JSON", text.as_bytes())
}

pub fn give_page(
    page: impl Fn(Style) -> String,
    document: &impl Serialize,
    arguments: &PageArguments,
) -> Result<(), UserError> {
    if let Some(path) = arguments.json.as_deref() {
        write_or_print(&json(document), path)?;
        if path == Path::new("-") {
            return Ok(());
        }
    }
    print(&page(page_style(arguments.plain)))
}

/// The same for a page that is text as it is.
pub fn give_text(page: &str, document: &impl Serialize, file: Option<&Path>) -> Result<(), UserError> {
    let arguments = PageArguments { json: file.map(Path::to_owned), plain: true };
    give_page(|_| page.to_owned(), document, &arguments)
}

/// A measurement is not lost with its output, and the error says so.
fn with_run_kept(error: UserError, run: &Run) -> UserError {
    let text = format!(
        "{}. The run is kept: `drivescope show {id}` shows it, `drivescope show {id} --json FILE` writes it",
        error.text,
        id = run.id
    );
    UserError { text, ..error }
}
