//! The values of a chart as a table, for those who would rather read or hear it.

use super::content::table_head;
use crate::chart::{Axis, Chart, Layer, Point, Series, Stretch};
use crate::quantity::count;
use maud::{Markup, html};

const ROWS_MAX: usize = 24;

pub(super) fn tables(chart: &Chart) -> Markup {
    html! {
        @for series in &chart.series {
            @for layer in &series.layers {
                @match layer {
                    Layer::Measured(stretches) => { (table(chart, series, "measured", stretches.iter().copied())) },
                    Layer::Levels(stretches) => { (table(chart, series, "levels", stretches.iter().copied())) },
                    Layer::Line(points) => { (table(chart, series, "points", points.iter().map(as_stretch))) },
                    Layer::Bands(_) | Layer::Trend(_) => {},
                }
            }
        }
    }
}

/// A point of a line is shown as a measurement is; what lies between points is no value.
fn as_stretch(point: &Point) -> Stretch {
    Stretch::point(point.at, point.value)
}

fn table(chart: &Chart, series: &Series, what: &str, stretches: impl Iterator<Item = Stretch>) -> Markup {
    let mut stretches: Vec<Stretch> = stretches.filter(|stretch| stretch.value.is_finite()).collect();
    stretches.sort_by(|a, b| a.first.total_cmp(&b.first));
    if stretches.is_empty() {
        return Markup::default();
    }
    let chunk = stretches.len().div_ceil(ROWS_MAX);
    let name = format!("{}: {}, {what}", chart.title, series.name);
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(name) {
            table {
                caption { (name) }
                (table_head(&[&chart.x.label, "Values", if chunk == 1 { "Value" } else { "Range" }]))
                tbody {
                    @for rows in stretches.chunks(chunk) {
                        tr {
                            th scope="row" { (places(rows, &chart.x)) }
                            td { (count(rows.len() as u64)) }
                            td { (amounts(rows, &chart.y)) }
                        }
                    }
                }
            }
        }
    }
}

fn places(rows: &[Stretch], x: &Axis) -> String {
    let mut end = rows[0].first;
    for stretch in rows {
        end = end.max(stretch.end);
    }
    from_to(x.amount(rows[0].first), x.amount(end))
}

fn amounts(rows: &[Stretch], y: &Axis) -> String {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for stretch in rows {
        (low, high) = (low.min(stretch.value), high.max(stretch.value));
    }
    from_to(y.amount(low), y.amount(high))
}

fn from_to(from: String, to: String) -> String {
    if from == to { from } else { format!("{from} to {to}") }
}
