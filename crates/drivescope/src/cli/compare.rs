//! `drivescope compare`: runs side by side, in one table and one chart.

use super::args::CompareArguments;
use super::picture::{Picture, rate_chart};
use super::stored::all_analysed;
use super::{output, output_file};
use crate::error::{UserError, exit};
use crate::store::StoredRun;
use analysis::compare::{ComparedRun, compare};
use model::comparison::Comparison;
use model::run::Run;
use report::chart::Chart;
use report::json::comparison_document;
use report::terminal::{ComparePage, compare_page, run_letter};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run, it cannot be read, or a file cannot be written.
pub fn run(arguments: &CompareArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let picture =
        arguments.output.as_deref().map(|path| Picture::asked_for(path, arguments.dark)).transpose()?;
    let stored = all_analysed(&arguments.runs, store)?;
    let letters: Vec<String> = (0..stored.len()).map(run_letter).collect();
    let compared = |(stored, name)| -> ComparedRun<'_> {
        let (stored, name): (&StoredRun, &String) = (stored, name);
        ComparedRun { name, run: &stored.run, series: &stored.series }
    };
    let comparison = compare(&stored.iter().zip(&letters).map(compared).collect::<Vec<_>>());
    let runs: Vec<&Run> = stored.iter().map(|stored| &stored.run).collect();

    let chart = rate_chart(&stored, &letters).map(|chart| with_changes(chart, &comparison));
    if let Some(picture) = picture {
        match &chart {
            Ok(chart) => picture.write(chart)?,
            Err(error) => return Err(UserError::failure(error.text.clone())),
        }
    }
    let json = || comparison_document(&comparison, &runs);
    match arguments.json.as_deref() {
        Some(path) if path == Path::new("-") => return output::print(&json()).map(|()| exit::SUCCESS),
        Some(path) => output_file::write(path, "the comparison as JSON", json().as_bytes())?,
        None => {}
    }
    let page = ComparePage { runs: &runs, comparison: &comparison, chart: chart.as_ref().ok() };
    output::print(&compare_page(&page, output::page_style(arguments.plain)))?;
    Ok(exit::SUCCESS)
}

/// Points at where a drive became slower.
fn with_changes(chart: Chart, comparison: &Comparison) -> Chart {
    let found = comparison.changes.iter().filter_map(|change| change.outcome.as_ref().ok());
    let slower = found.flat_map(|found| &found.regions).filter(|region| region.rate_ratio.value < 1.0);
    chart.with_regions(
        "became slower",
        slower.map(|region| (region.range.first().0 as f64, region.range.end().0 as f64)),
    )
}
