//! The pictures of a re-enactment, with the published figures.

use report::chart::svg::{self, Theme};
use report::chart::{Chart, Layer, Point, Stretch};

const FOLDER: &str = "../pictures";
/// Points of a line of thousands of slices.
pub(super) const COLUMNS: usize = 400;

pub(super) fn file_name(chart: &Chart) -> String {
    format!("reproduce-{}.svg", chart.name)
}

pub(super) fn document(chart: &Chart) -> String {
    svg::document(chart, Theme::Light)
}

pub(super) fn markdown(chart: &Chart) -> String {
    format!("![{}: {}]({FOLDER}/{})\n", chart.title, chart.subject, file_name(chart))
}

pub(super) fn line(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<Layer> {
    let points = points.into_iter().map(|(at, value)| Point { at, value, interval: None });
    vec![Layer::Line(points.collect())]
}

pub(super) fn strokes(regions: impl IntoIterator<Item = ((f64, f64), f64)>) -> Vec<Layer> {
    let regions = regions.into_iter().map(|((first, end), value)| Stretch { first, end, value });
    vec![Layer::Measured(regions.collect())]
}
