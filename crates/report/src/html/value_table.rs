//! The values of a chart as a table, for those who would rather read or hear it.

use super::markup::Markup;
use crate::chart::{Axis, Chart, Layer, Point, Series, Stretch};
use crate::hostile::escaped;
use crate::quantity::count;

/// More rows are not read.
const ROWS_MAX: usize = 24;

/// A table of each series that has measurements.
pub(super) fn tables(page: &mut Markup, chart: &Chart) {
    for series in &chart.series {
        for layer in &series.layers {
            match layer {
                Layer::Measured(stretches) => of_stretches(page, chart, series, "measured", stretches),
                Layer::Levels(stretches) => of_stretches(page, chart, series, "levels", stretches),
                Layer::Line(points) => of_points(page, chart, series, points),
                Layer::Bands(_) | Layer::Trend(_) => {}
            }
        }
    }
}

/// Points of a line are shown as measurements are; what lies between them is no value.
fn of_points(page: &mut Markup, chart: &Chart, series: &Series, points: &[Point]) {
    let stretch = |point: &Point| Stretch { first: point.at, end: point.at, value: point.value };
    of_stretches(page, chart, series, "points", &points.iter().map(stretch).collect::<Vec<_>>());
}

fn of_stretches(page: &mut Markup, chart: &Chart, series: &Series, what: &str, stretches: &[Stretch]) {
    let mut stretches: Vec<&Stretch> = stretches.iter().filter(|stretch| stretch.value.is_finite()).collect();
    stretches.sort_by(|a, b| a.first.total_cmp(&b.first));
    if stretches.is_empty() {
        return;
    }
    let chunk = stretches.len().div_ceil(ROWS_MAX);
    let last = if chunk == 1 { "Value" } else { "Lowest to highest" };
    page.put(format_args!(
        r#"<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table><caption>{name}</caption><thead><tr><th scope="col">{}</th><th scope="col">Values</th><th scope="col">{last}</th></tr></thead><tbody>"#,
        escaped(&chart.x.label),
        name = escaped(&format!("{}: {}, {what}", chart.title, series.name)),
    ));
    for rows in stretches.chunks(chunk) {
        page.put(format_args!(
            r#"<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>"#,
            escaped(&places(rows, &chart.x)),
            count(rows.len() as u64),
            escaped(&amounts(rows, &chart.y)),
        ));
    }
    page.put("</tbody></table></div>");
}

fn places(rows: &[&Stretch], x: &Axis) -> String {
    let first = x.amount(rows[0].first);
    let end = x.amount(rows.iter().map(|stretch| stretch.end).fold(rows[0].first, f64::max));
    if first == end { first } else { format!("{first} to {end}") }
}

fn amounts(rows: &[&Stretch], y: &Axis) -> String {
    let low = y.amount(rows.iter().map(|stretch| stretch.value).fold(f64::INFINITY, f64::min));
    let high = y.amount(rows.iter().map(|stretch| stretch.value).fold(f64::NEG_INFINITY, f64::max));
    if low == high { low } else { format!("{low} to {high}") }
}
