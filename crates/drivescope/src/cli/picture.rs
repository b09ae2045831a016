//! A chart as a file or in the terminal: what was asked for, and how it is written.

use super::args::{CHART_LIST, ReportArguments, SizeArgument, WishArguments};
use super::plan::PlannedCuts;
use super::stored::all_analysed;
use super::{output, output_file};
use crate::error::{UserError, exit};
use crate::store::StoredRun;
use ::report::chart::svg::{self, Size, Theme};
use ::report::chart::{CHART_KINDS, Chart, ChartedRun, chart_named, charts_of, rate_over_position, terminal};
use ::report::terminal::run_letter;
use model::request::Operation;
use std::path::{Path, PathBuf};

/// The endings of the pictures that can be made.
const ENDINGS: &str = ".svg and .png";

/// A picture that was asked for.
pub struct Picture {
    path: PathBuf,
    format: Format,
    theme: Theme,
    size: Size,
}

/// The chart of a file when none is named.
pub(super) const USUAL_CHART: &str = "rate-over-position";

/// Draws what `report` asks for.
///
/// # Errors
/// When there is no such run, it cannot be read, there is nothing to draw, or the file cannot be written.
pub fn give(arguments: &ReportArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let to_terminal = arguments.output == Path::new("-");
    if to_terminal && arguments.chart.is_none() {
        return Err(UserError::usage(
            "say where the report goes, or what to draw here: -o report.html, -o chart.png, --chart rate-over-position or --chart list",
        ));
    }
    let name = arguments.chart.as_deref().unwrap_or(USUAL_CHART);
    if name == CHART_LIST {
        let runs = all_analysed(&arguments.runs, store)?;
        output::print(&list(&runs))?;
        return Ok(exit::SUCCESS);
    }
    if to_terminal {
        let chart = chart(&all_analysed(&arguments.runs, store)?, name, &arguments.wish)?;
        output::print(&text(&chart, arguments.plain))?;
        return Ok(exit::SUCCESS);
    }
    let picture = Picture::asked_for(&arguments.output, arguments.dark)?.sized(arguments.size);
    picture.write(&chart(&all_analysed(&arguments.runs, store)?, name, &arguments.wish)?)?;
    Ok(exit::SUCCESS)
}

/// The chart with that name of these runs.
fn chart(runs: &[StoredRun], name: &str, wish: &WishArguments) -> Result<Chart, UserError> {
    let letters = letters(runs);
    let cuts = PlannedCuts::of(wish, runs)?;
    let chart = chart_named(name, &charted(runs, &letters)).ok_or_else(|| {
        let kind = CHART_KINDS.iter().find(|kind| kind.name == name);
        let (what, how) = kind.map_or(("it", ""), |kind| (kind.shows, kind.measured_by));
        let run = if runs.len() == 1 { "this run has" } else { "these runs have" };
        UserError::failure(format!(
            "there is nothing to draw: {run} not measured {what}. Measure it with: {how}"
        ))
    })?;
    Ok(cuts.marked(chart))
}

/// Every chart of these runs, as text.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_charts(runs: &[StoredRun], plain: bool) -> Result<(), UserError> {
    let letters = letters(runs);
    for chart in charts_of(&charted(runs, &letters)) {
        output::print(&text(&chart, plain))?;
    }
    Ok(())
}

fn text(chart: &Chart, plain: bool) -> String {
    terminal::draw(chart, output::page_style(plain)).join("\n") + "\n\n"
}

/// Which charts there are of these runs, and what measures the others.
fn list(runs: &[StoredRun]) -> String {
    let letters = letters(runs);
    let there: Vec<&str> = charts_of(&charted(runs, &letters)).iter().map(|chart| chart.name).collect();
    let columns = CHART_KINDS.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
    let mut page = String::from("There is data for:\n");
    for kind in CHART_KINDS.iter().filter(|kind| there.contains(&kind.name)) {
        page += &format!("  {:columns$}  {}\n", kind.name, kind.shows);
    }
    if there.is_empty() {
        page += "  nothing\n";
    }
    if there.len() < CHART_KINDS.len() {
        page += "\nThe others have to be measured first:\n";
    }
    for kind in CHART_KINDS.iter().filter(|kind| !there.contains(&kind.name)) {
        page += &format!("  {:columns$}  {}\n", kind.name, kind.measured_by);
    }
    page
}

/// Letters for the runs, where they are several.
fn letters(runs: &[StoredRun]) -> Vec<String> {
    if runs.len() > 1 { (0..runs.len()).map(run_letter).collect() } else { Vec::new() }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

impl Picture {
    /// What the name of the file asks for, before anything is read.
    ///
    /// # Errors
    /// When its ending is not one that can be made.
    pub fn asked_for(path: &Path, dark: bool) -> Result<Picture, UserError> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let format = match ending.as_deref() {
            Some("svg") => Format::Svg,
            Some("png") if cfg!(feature = "png") => Format::Png,
            Some("png") => {
                return Err(UserError::usage(
                    "this drivescope was built without PNG. Write an .svg, or build it with the feature `png`",
                ));
            }
            _ => {
                return Err(UserError::usage(format!(
                    "cannot tell what {} should become: pictures end in {ENDINGS}; of `report`, pages in .html and tables in .csv, .parquet or .json. Example: -o chart.svg",
                    path.display()
                )));
            }
        };
        let theme = if dark { Theme::Dark } else { Theme::Light };
        Ok(Picture { path: path.to_owned(), format, theme, size: Size::Forum })
    }

    /// The same for what it is made.
    fn sized(self, size: SizeArgument) -> Picture {
        let size = match size {
            SizeArgument::Forum => Size::Forum,
            SizeArgument::Paper => Size::Paper,
        };
        Picture { size, ..self }
    }

    /// Draws the chart and writes the file.
    ///
    /// # Errors
    /// When it cannot be drawn or written.
    pub fn write(&self, chart: &Chart) -> Result<(), UserError> {
        let svg = svg::sized(chart, self.theme, self.size);
        let content = match self.format {
            Format::Svg => svg.into_bytes(),
            Format::Png => png(&svg, self.size.pixels_for_each())?,
        };
        output_file::write(&self.path, "the picture", &content)
    }
}

#[cfg(feature = "png")]
fn png(svg: &str, scale: f32) -> Result<Vec<u8>, UserError> {
    ::report::chart::png::enlarged(svg, scale)
        .map_err(|error| UserError::failure(format!("cannot make a PNG: {error}")))
}

#[cfg(not(feature = "png"))]
fn png(_: &str, _: f32) -> Result<Vec<u8>, UserError> {
    Err(UserError::usage("this drivescope was built without PNG"))
}

/// The rates of these runs over the position, each called by its letter if there are letters.
///
/// # Errors
/// When no run has enough places.
pub fn rate_chart(runs: &[StoredRun], letters: &[String]) -> Result<Chart, UserError> {
    rate_over_position(&charted(runs, letters), &[Operation::Read, Operation::Write]).ok_or_else(|| {
        UserError::failure(
            "there is nothing to draw: no run measured the rate at three places or more. Measure again with: drivescope check TARGET",
        )
    })
}

fn charted<'run>(runs: &'run [StoredRun], letters: &'run [String]) -> Vec<ChartedRun<'run>> {
    let charted = |(index, stored): (usize, &'run StoredRun)| ChartedRun {
        run: &stored.run,
        series: Some(&stored.series),
        letter: letters.get(index).map(String::as_str),
    };
    runs.iter().enumerate().map(charted).collect()
}
