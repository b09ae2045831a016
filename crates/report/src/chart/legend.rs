//! What colours and signs mean: the entries of a legend.

use super::drawing::Ink;
use super::{Chart, Layer, Place, Series};

pub(crate) struct Entry {
    pub name: String,
    pub sign: Sign,
}

#[derive(Clone, Copy)]
pub(crate) enum Sign {
    Series { index: usize, has_line: bool, has_symbol: bool },
    Level,
    Interval,
    Mark(Place, Ink),
}

/// From here on points of a line over the whole width are closer than their symbols.
const DENSE_MIN: usize = 100;

pub(crate) fn entries(chart: &Chart, has_intervals: bool) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (index, series) in chart.series.iter().enumerate() {
        let has_symbol = chart.series.len() > 1 || !is_dense(series);
        let sign = Sign::Series { index, has_line: has_line(series), has_symbol };
        entries.push(Entry { name: series.name.clone(), sign });
    }
    if chart.series.iter().any(|series| series.levels().next().is_some()) {
        entries.push(Entry { name: format!("line: {}", chart.level_name), sign: Sign::Level });
    }
    if has_intervals {
        entries.push(Entry { name: "95 % interval".into(), sign: Sign::Interval });
    }
    for mark in chart.mark_names() {
        let name = match (mark.place, chart.only_value(&mark.name)) {
            (Place::Value(_), Some(value)) => format!("{}, {}", mark.name, chart.y.amount(value)),
            _ => mark.name.clone(),
        };
        entries.push(Entry { name, sign: Sign::Mark(mark.place, mark.ink()) });
    }
    entries
}

fn has_line(series: &Series) -> bool {
    series.layers.iter().any(|layer| match layer {
        Layer::Levels(levels) => !levels.is_empty(),
        Layer::Line(points) | Layer::Trend(points) => !points.is_empty(),
        Layer::Measured(_) | Layer::Bands(_) => false,
    })
}

fn is_dense(series: &Series) -> bool {
    series.measured().next().is_none() && series.points().count() > DENSE_MIN
}
