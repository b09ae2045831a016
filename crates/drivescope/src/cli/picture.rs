//! A chart as a file.

use super::output_file;
use crate::error::{Cannot, UserError};
use crate::store::StoredRun;
use ::report::chart::svg::{self, Size, Theme};
use ::report::chart::{Chart, ChartedRun, rate_over_position};
use ::report::terminal::run_letter;
use model::request::Operation;
use std::path::{Path, PathBuf};

pub struct Picture {
    path: PathBuf,
    format: Format,
    theme: Theme,
    pub size: Size,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

impl Picture {
    /// By the name of the file, before anything is read.
    pub fn asked_for(path: &Path, dark: bool) -> Result<Picture, UserError> {
        let format = match ending_of(path).as_str() {
            "svg" => Format::Svg,
            "png" if cfg!(feature = "png") => Format::Png,
            "png" => return Err(without_png()),
            _ => {
                return Err(UserError::usage(format!(
                    "unknown format of {}: pictures end in .svg or .png; of `report`, pages in .html and tables in .csv, .parquet or .json. Example: -o chart.svg",
                    path.display()
                )));
            }
        };
        let theme = if dark { Theme::Dark } else { Theme::Light };
        Ok(Picture { path: path.to_owned(), format, theme, size: Size::Forum })
    }

    pub fn write(&self, chart: &Chart) -> Result<(), UserError> {
        let svg = svg::sized(chart, self.theme, self.size);
        let content = match self.format {
            Format::Svg => svg.into_bytes(),
            Format::Png => png(&svg, self.size.pixels_for_each())?,
        };
        output_file::write(&self.path, "the picture", &content)
    }
}

pub fn ending_of(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

#[cfg(feature = "png")]
fn png(svg: &str, scale: f32) -> Result<Vec<u8>, UserError> {
    ::report::chart::png::enlarged(svg, scale).or_cannot("make a PNG")
}

#[cfg(not(feature = "png"))]
fn png(_: &str, _: f32) -> Result<Vec<u8>, UserError> {
    Err(without_png())
}

fn without_png() -> UserError {
    UserError::usage(
        "this drivescope was built without PNG. Write an .svg, or build it with the feature `png`",
    )
}

pub fn rate_chart(runs: &[StoredRun], letters: &[String]) -> Result<Chart, UserError> {
    match rate_over_position(&charted(runs, letters), &[Operation::Read, Operation::Write]) {
        Some(chart) => Ok(chart),
        None => Err(UserError::failure(
            "there is nothing to draw: no run measured throughput in three regions or more. Measure again with: drivescope check TARGET",
        )),
    }
}

/// Writes the picture if one was asked for, which then needs a chart.
pub fn drawn(chart: Result<Chart, UserError>, picture: Option<Picture>) -> Result<Option<Chart>, UserError> {
    match (chart, picture) {
        (Ok(chart), Some(picture)) => {
            picture.write(&chart)?;
            Ok(Some(chart))
        }
        (Err(error), Some(_)) => Err(error),
        (chart, None) => Ok(chart.ok()),
    }
}

pub fn letters(runs: &[StoredRun]) -> Vec<String> {
    if runs.len() > 1 { (0..runs.len()).map(run_letter).collect() } else { Vec::new() }
}

pub fn charted<'run>(runs: &'run [StoredRun], letters: &'run [String]) -> Vec<ChartedRun<'run>> {
    let mut charted = Vec::new();
    for (index, stored) in runs.iter().enumerate() {
        let letter = letters.get(index).map(String::as_str);
        charted.push(ChartedRun { run: &stored.run, series: Some(&stored.series), letter });
    }
    charted
}
