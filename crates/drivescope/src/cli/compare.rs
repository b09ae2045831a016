//! `drivescope compare`: runs side by side, in one table and one chart.

use super::args::CompareArguments;
use super::picture::{Picture, drawn, rate_chart};
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
use std::collections::BTreeSet;
use std::path::Path;

pub fn run(arguments: &CompareArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let picture =
        arguments.output.as_deref().map(|path| Picture::asked_for(path, arguments.dark)).transpose()?;
    let stored = all_analysed(&arguments.runs, store)?;
    let ids: BTreeSet<&str> = stored.iter().map(|stored| stored.run.id.as_str()).collect();
    if ids.len() < stored.len() {
        return Err(UserError::usage("a run cannot be compared with itself. List the runs: drivescope runs"));
    }
    let letters: Vec<String> = (0..stored.len()).map(run_letter).collect();
    let comparison = comparison_of(&stored, &letters);
    let runs: Vec<&Run> = stored.iter().map(|stored| &stored.run).collect();

    let chart = rate_chart(&stored, &letters).map(|chart| with_changes(chart, &comparison));
    let chart = drawn(chart, picture)?;
    if let Some(path) = &arguments.json {
        let json = output::json(&comparison_document(&comparison, &runs));
        if path == Path::new("-") {
            output::print(&json)?;
            return Ok(exit::SUCCESS);
        }
        output_file::write(path, "the comparison as JSON", json.as_bytes())?;
    }
    let page = ComparePage { runs: &runs, comparison: &comparison, chart: chart.as_ref() };
    output::print(&compare_page(&page, output::page_style(arguments.plain)))?;
    Ok(exit::SUCCESS)
}

pub fn comparison_of(runs: &[StoredRun], names: &[String]) -> Comparison {
    let mut compared = Vec::new();
    for (stored, name) in runs.iter().zip(names) {
        compared.push(ComparedRun { name, run: &stored.run, series: &stored.series });
    }
    compare(&compared)
}

fn with_changes(chart: Chart, comparison: &Comparison) -> Chart {
    let found = comparison.changes.iter().filter_map(|change| change.outcome.as_ref().ok());
    let slower = found.flat_map(|found| &found.regions).filter(|region| region.rate_ratio.value < 1.0);
    chart.with_regions(
        "became slower",
        slower.map(|region| (region.range.first().as_f64(), region.range.end().as_f64())),
    )
}
