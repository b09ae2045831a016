//! A chart as a file: what its ending asks for, and how it is written.

use super::output_file;
use crate::error::UserError;
use crate::store::StoredRun;
use ::report::chart::svg::{self, Theme};
use ::report::chart::{Chart, ChartedRun, access_time_over_position, rate_over_position};
use model::request::Operation;
use std::path::{Path, PathBuf};

/// The endings of the pictures that can be made.
const ENDINGS: &str = ".svg and .png";

/// A picture that was asked for.
pub struct Picture {
    path: PathBuf,
    format: Format,
    theme: Theme,
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
                    "cannot tell what {} should become: the endings that can be made are {ENDINGS}. Example: -o chart.svg",
                    path.display()
                )));
            }
        };
        let theme = if dark { Theme::Dark } else { Theme::Light };
        Ok(Picture { path: path.to_owned(), format, theme })
    }

    /// Draws the chart and writes the file.
    ///
    /// # Errors
    /// When it cannot be drawn or written.
    pub fn write(&self, chart: &Chart) -> Result<(), UserError> {
        let svg = svg::document(chart, self.theme);
        let content = match self.format {
            Format::Svg => svg.into_bytes(),
            Format::Png => png(&svg)?,
        };
        output_file::write(&self.path, "the picture", &content)
    }
}

#[cfg(feature = "png")]
fn png(svg: &str) -> Result<Vec<u8>, UserError> {
    ::report::chart::png::image(svg)
        .map_err(|error| UserError::failure(format!("cannot make a PNG: {error}")))
}

#[cfg(not(feature = "png"))]
fn png(_: &str) -> Result<Vec<u8>, UserError> {
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

/// The access times of these runs over the position.
///
/// # Errors
/// When no run kept enough single requests.
pub fn access_time_chart(runs: &[StoredRun]) -> Result<Chart, UserError> {
    access_time_over_position(&charted(runs, &[])).ok_or_else(|| {
        UserError::failure(
            "there is nothing to draw: no run kept single random reads. Measure them with: drivescope access TARGET",
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
