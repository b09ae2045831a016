//! `drivescope report`: runs as a page, a table or a picture, by the ending of the file.

use super::args::{CHART_LIST, ReportArguments, SizeArgument, WishArguments};
use super::picture::{Picture, charted, ending_of, letters};
use super::plan::{PlannedCuts, USUAL_CHART};
use super::stored::all_analysed;
use super::{export, output, report_page};
use crate::error::{UserError, exit};
use crate::export::Export;
use crate::store::StoredRun;
use ::report::chart::svg::Size;
use ::report::chart::{CHART_KINDS, Chart, chart_named, charts_of, terminal};
use std::path::Path;

pub fn run(arguments: &ReportArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if matches!(ending_of(&arguments.output).as_str(), "html" | "htm") {
        return report_page::run(arguments, store);
    }
    match Export::of_path(&arguments.output) {
        Some(form) => export::write_file(&arguments.runs, store, form, &arguments.output)?,
        None => draw(arguments, store)?,
    }
    Ok(exit::SUCCESS)
}

fn draw(arguments: &ReportArguments, store: Option<&Path>) -> Result<(), UserError> {
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
        return output::print(&list(&all_analysed(&arguments.runs, store)?));
    }
    if to_terminal {
        let chart = chart(&all_analysed(&arguments.runs, store)?, name, &arguments.wish)?;
        return output::print(&text(&chart, arguments.plain));
    }
    let mut picture = Picture::asked_for(&arguments.output, arguments.dark)?;
    picture.size = match arguments.size {
        SizeArgument::Forum => Size::Forum,
        SizeArgument::Paper => Size::Paper,
    };
    picture.write(&chart(&all_analysed(&arguments.runs, store)?, name, &arguments.wish)?)
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
