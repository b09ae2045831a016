//! `drivescope report RUN… -o FILE.html`: runs as a page that needs nothing else.

use super::args::ReportArguments;
use super::output_file;
use super::plan::PlannedCuts;
use super::stored::all_analysed;
use crate::error::{UserError, exit};
use crate::store::StoredRun;
use ::report::chart::{Chart, ChartedRun, charts_of};
use ::report::html::{ReportPage, page};
use ::report::terminal::run_letter;
use analysis::compare::{ComparedRun, compare};
use model::comparison::Comparison;
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run, it cannot be read, or the file cannot be written.
pub fn run(arguments: &ReportArguments, store: Option<&Path>) -> Result<u8, UserError> {
    output_file::must_be_no_drive(&arguments.output)?;
    let runs = all_analysed(&arguments.runs, store)?;
    let cuts = PlannedCuts::of(&arguments.wish, &runs)?;
    let page = with_charts(&runs, |chart| cuts.marked(chart));
    output_file::write(&arguments.output, "the report", page.as_bytes())?;
    Ok(exit::SUCCESS)
}

/// The page of these runs, with their comparison if they are several.
pub fn document(runs: &[StoredRun]) -> String {
    with_charts(runs, |chart| chart)
}

/// The same with something done to each chart.
fn with_charts(runs: &[StoredRun], changed: impl Fn(Chart) -> Chart) -> String {
    let letters: Vec<String> = (0..runs.len()).map(run_letter).collect();
    let is_single = runs.len() == 1;
    let charted = |(stored, letter)| -> ChartedRun<'_> {
        let (stored, letter): (&StoredRun, &String) = (stored, letter);
        ChartedRun {
            run: &stored.run,
            series: Some(&stored.series),
            letter: (!is_single).then_some(letter.as_str()),
        }
    };
    let charted: Vec<ChartedRun<'_>> = runs.iter().zip(&letters).map(charted).collect();
    let comparison = (!is_single).then(|| compared(runs, &letters));
    let charts: Vec<Chart> = charts_of(&charted).into_iter().map(changed).collect();
    page(&ReportPage { runs: &charted, charts: &charts, comparison: comparison.as_ref() })
}

fn compared(runs: &[StoredRun], letters: &[String]) -> Comparison {
    let compared = |(stored, name)| -> ComparedRun<'_> {
        let (stored, name): (&StoredRun, &String) = (stored, name);
        ComparedRun { name, run: &stored.run, series: &stored.series }
    };
    compare(&runs.iter().zip(letters).map(compared).collect::<Vec<_>>())
}
