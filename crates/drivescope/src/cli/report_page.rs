//! `drivescope report RUN… -o FILE.html`: runs as a self-contained page.

use super::args::ReportArguments;
use super::compare::comparison_of;
use super::output_file;
use super::picture::{charted, letters};
use super::plan::PlannedCuts;
use super::stored::all_analysed;
use crate::error::UserError;
use crate::store::StoredRun;
use ::report::chart::charts_of;
use ::report::html::{ReportPage, page};
use std::path::Path;

/// Returns the names of the runs on the page.
pub fn write(arguments: &ReportArguments, store: Option<&Path>) -> Result<Vec<String>, UserError> {
    output_file::must_be_no_drive(&arguments.output)?;
    let runs = all_analysed(&arguments.runs, store)?;
    let cuts = PlannedCuts::of(&arguments.wish, &runs)?;
    output_file::write(&arguments.output, "the report", with_cuts(&runs, &cuts, None).as_bytes())?;
    Ok(runs.iter().map(|stored| stored.run.id.clone()).collect())
}

pub fn document(runs: &[StoredRun], home: &str) -> String {
    with_cuts(runs, &PlannedCuts::default(), Some(home))
}

fn with_cuts(runs: &[StoredRun], cuts: &PlannedCuts, home: Option<&str>) -> String {
    let letters = letters(runs);
    let charted = charted(runs, &letters);
    let comparison = if runs.len() > 1 { Some(comparison_of(runs, &letters)) } else { None };
    let charts: Vec<_> = charts_of(&charted).into_iter().map(|chart| cuts.marked(chart)).collect();
    page(&ReportPage { runs: &charted, charts: &charts, comparison: comparison.as_ref(), home })
}
