//! `drivescope report`: runs as a page, a table or a picture, by the ending of the file.

use super::args::{CHART_LIST, ReportArguments, SizeArgument, WishArguments};
use super::picture::{Picture, charted, ending_of, letters};
use super::plan::{PlannedCuts, USUAL_CHART};
use super::stored::all_analysed;
use super::written::{self, Written};
use super::{export, output, report_page};
use crate::error::{UserError, exit};
use crate::export::Export;
use crate::store::StoredRun;
use ::report::chart::svg::Size;
use ::report::chart::{CHART_KINDS, Chart, chart_named, charts_of, terminal};
use std::path::Path;

pub fn run(arguments: &ReportArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let (output, json) = (&arguments.output, arguments.json.as_deref());
    if json.is_some() && output == Path::new("-") {
        return Err(UserError::usage(
            "--json says which file was written. Name it: drivescope report -o report.html --json -",
        ));
    }
    written::check(json, output)?;
    if let Some(form) = Export::of_path(output) {
        export::write_file(&arguments.runs, store, form, output)?.give(form.name, json)?;
        return Ok(exit::SUCCESS);
    }
    let ending = ending_of(output);
    let ids = match ending.as_str() {
        "html" | "htm" => report_page::write(arguments, store)?,
        _ => draw(arguments, store)?,
    };
    let mut written = Written::default();
    written.add_file(output);
    for id in &ids {
        written.add_run(id);
    }
    written.give(if ending == "htm" { "html" } else { &ending }, json)?;
    Ok(exit::SUCCESS)
}

/// Returns the names of the runs that it drew.
fn draw(arguments: &ReportArguments, store: Option<&Path>) -> Result<Vec<String>, UserError> {
    let to_terminal = arguments.output == Path::new("-");
    let name = match &arguments.chart {
        Some(name) => name.as_str(),
        None if to_terminal => {
            return Err(UserError::usage(
                "name the file of the report, or the chart to draw here: -o report.html, -o chart.png, --chart rate-over-position or --chart list",
            ));
        }
        None => USUAL_CHART,
    };
    if name == CHART_LIST {
        output::print(&list(&all_analysed(&arguments.runs, store)?))?;
        return Ok(Vec::new());
    }
    if to_terminal {
        let chart = chart(&all_analysed(&arguments.runs, store)?, name, &arguments.wish)?;
        output::print(&text(&chart, arguments.plain))?;
        return Ok(Vec::new());
    }
    let mut picture = Picture::asked_for(&arguments.output, arguments.dark)?;
    picture.size = match arguments.size {
        SizeArgument::Forum => Size::Forum,
        SizeArgument::Paper => Size::Paper,
    };
    let runs = all_analysed(&arguments.runs, store)?;
    picture.write(&chart(&runs, name, &arguments.wish)?)?;
    Ok(runs.iter().map(|stored| stored.run.id.clone()).collect())
}

fn chart(runs: &[StoredRun], name: &str, wish: &WishArguments) -> Result<Chart, UserError> {
    let letters = letters(runs);
    let cuts = PlannedCuts::of(wish, runs)?;
    if let Some(chart) = chart_named(name, &charted(runs, &letters)) {
        return Ok(cuts.marked(chart));
    }
    let kind = CHART_KINDS.iter().find(|kind| kind.name == name);
    let (what, how) = kind.map_or(("it", ""), |kind| (kind.shows, kind.measured_by));
    let run = if runs.len() == 1 { "this run has" } else { "these runs have" };
    Err(UserError::failure(format!(
        "there is nothing to draw: {run} not measured {what}. Measure it with: {how}"
    )))
}

pub fn print_charts(runs: &[StoredRun], plain: bool) -> Result<(), UserError> {
    let letters = letters(runs);
    for chart in charts_of(&charted(runs, &letters)) {
        output::print(&text(&chart, plain))?;
    }
    Ok(())
}

fn text(chart: &Chart, plain: bool) -> String {
    terminal::draw(chart, ::report::style::Style { draws: true, ..output::page_style(plain) }).join("\n")
        + "\n\n"
}

fn list(runs: &[StoredRun]) -> String {
    let letters = letters(runs);
    let there: Vec<&str> = charts_of(&charted(runs, &letters)).iter().map(|chart| chart.name).collect();
    let columns = CHART_KINDS.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
    let (mut measured, mut missing) = (String::new(), String::new());
    for kind in CHART_KINDS {
        if there.contains(&kind.name) {
            measured += &format!("  {:columns$}  {}\n", kind.name, kind.shows);
        } else {
            missing += &format!("  {:columns$}  {}\n", kind.name, kind.measured_by);
        }
    }
    if measured.is_empty() {
        measured = "  nothing\n".into();
    }
    if !missing.is_empty() {
        missing = format!("\nThe others have to be measured first:\n{missing}");
    }
    format!("There is data for:\n{measured}{missing}")
}
