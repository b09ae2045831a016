//! The pictures of a re-enactment: what the article drew or could have drawn, with its published figures beside.

use report::chart::svg::{self, Theme};
use report::chart::{Chart, Layer, Point, Stretch};

/// Where the pictures of the pages are, seen from these.
const FOLDER: &str = "../pictures";
/// What a page can show of a course of thousands of slices.
pub(super) const COLUMNS: usize = 400;

/// The name of the file of a picture.
pub(super) fn file_name(chart: &Chart) -> String {
    format!("reproduce-{}.svg", chart.name)
}

/// The picture as a file.
pub(super) fn document(chart: &Chart) -> String {
    svg::document(chart, Theme::Light)
}

/// The picture within a page of Markdown.
pub(super) fn markdown(chart: &Chart) -> String {
    format!("![{}: {}]({FOLDER}/{})\n", chart.title, chart.subject, file_name(chart))
}

/// A line through points.
pub(super) fn line(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<Layer> {
    let point = |(at, value)| Point { at, value, interval: None };
    vec![Layer::Line(points.into_iter().map(point).collect())]
}

/// Values over stretches, each from where to where.
pub(super) fn strokes(stretches: impl IntoIterator<Item = ((f64, f64), f64)>) -> Vec<Layer> {
    let stretch = |((first, end), value)| Stretch { first, end, value };
    vec![Layer::Measured(stretches.into_iter().map(stretch).collect())]
}
