//! What colours and signs mean: rows of entries above the plot.

use super::super::{Chart, Layer, Place, Series};
use super::layout::{FAINT_SIZE, LEGEND_ROW, LEGEND_Y, MARGIN};
use super::symbol::{RADIUS, symbol};
use super::text::{fitting, width};
use super::{Anchor, Canvas};

/// The width of a sign.
const SIGN: f64 = 30.0;
/// Between a sign and its name, and after the name.
const GAP: f64 = 8.0;
const ENTRY_GAP: f64 = 26.0;
/// Longer names are cut.
const NAME_WIDTH_MAX: f64 = 620.0;

/// Entries with their places.
pub(super) struct Legend {
    entries: Vec<(f64, usize, Entry)>,
}

struct Entry {
    name: String,
    sign: Sign,
}

enum Sign {
    Series {
        index: usize,
        has_lines: bool,
        has_signs: bool,
    },
    Level,
    Interval,
    Point,
    /// In the colour of the series that the mark is of.
    Border(Option<usize>),
    Region(Option<usize>),
    Pause,
    Limit(Option<usize>),
}

impl Legend {
    /// `has_intervals` says whether intervals can be seen in the plot.
    pub(super) fn of(chart: &Chart, page_width: f64, has_intervals: bool) -> Legend {
        let series = chart.series.iter().enumerate().map(|(index, series)| Entry {
            name: series.name.clone(),
            sign: Sign::Series {
                index,
                has_lines: has_lines(series),
                has_signs: chart.series.len() > 1 || !is_dense(series),
            },
        });
        let marks = chart.mark_names().into_iter().map(|mark| match mark.place {
            Place::At(_) => Entry { name: mark.name.clone(), sign: Sign::Border(mark.series) },
            Place::Over { .. } => Entry { name: mark.name.clone(), sign: Sign::Region(mark.series) },
            Place::Pause { .. } => Entry { name: mark.name.clone(), sign: Sign::Pause },
            Place::Value(_) => Entry { name: limit_name(chart, &mark.name), sign: Sign::Limit(mark.series) },
            Place::Point { .. } => Entry { name: mark.name.clone(), sign: Sign::Point },
        });
        let zones = chart.series.iter().any(has_levels);
        let zones = zones.then(|| Entry { name: format!("line: {}", chart.level_name), sign: Sign::Level });
        let intervals = has_intervals.then(|| Entry { name: "95 % interval".into(), sign: Sign::Interval });
        let (mut x, mut row) = (MARGIN, 0);
        let mut entries = Vec::new();
        for mut entry in series.chain(zones).chain(intervals).chain(marks) {
            entry.name =
                fitting(&entry.name, FAINT_SIZE, NAME_WIDTH_MAX.min(page_width - 2.0 * MARGIN - SIGN - GAP));
            let entry_width = SIGN + GAP + width(&entry.name, FAINT_SIZE);
            if x > MARGIN && x + entry_width > page_width - MARGIN {
                (x, row) = (MARGIN, row + 1);
            }
            entries.push((x, row, entry));
            x += entry_width + ENTRY_GAP;
        }
        Legend { entries }
    }

    pub(super) fn rows(&self) -> usize {
        self.entries.last().map_or(0, |(_, row, _)| row + 1)
    }

    pub(super) fn draw(&self, canvas: &mut Canvas) {
        for (x, row, entry) in &self.entries {
            let y = LEGEND_Y + LEGEND_ROW * *row as f64;
            sign(canvas, *x, y - FAINT_SIZE * 0.36, &entry.sign);
            let colour = canvas.palette.text;
            canvas.text(x + SIGN + GAP, y, FAINT_SIZE, colour, Anchor::Start, &entry.name);
        }
    }
}

/// With its value, unless there are several.
fn limit_name(chart: &Chart, name: &str) -> String {
    let value = chart.only_value(name).map(|value| format!(", {}", chart.y.amount(value)));
    format!("{name}{}", value.unwrap_or_default())
}

fn has_levels(series: &Series) -> bool {
    series.layers.iter().any(|layer| matches!(layer, Layer::Levels(levels) if !levels.is_empty()))
}

fn has_lines(series: &Series) -> bool {
    has_levels(series)
        || series.points().next().is_some()
        || series.layers.iter().any(|layer| matches!(layer, Layer::Trend(_)))
}

/// Whether it is a line of so many points that none of them has a sign.
fn is_dense(series: &Series) -> bool {
    series.measured().next().is_none() && series.points().count() > DENSE_MIN
}

/// From here on points of a line over the whole width are closer than their signs.
const DENSE_MIN: usize = 100;

fn sign(canvas: &mut Canvas, x: f64, y: f64, sign: &Sign) {
    let palette = canvas.palette;
    let end = x + SIGN;
    match sign {
        Sign::Series { index, has_lines, has_signs } => {
            let colour = palette.series[index % palette.series.len()];
            if *has_lines {
                let dash = symbol(*index).dash;
                canvas.put(format_args!(
                    r#"<line x1="{x:.1}" y1="{y:.1}" x2="{end:.1}" y2="{y:.1}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>"#
                ));
            }
            if *has_signs {
                let mut path = String::new();
                symbol(*index).draw(&mut path, x + SIGN / 2.0, y, RADIUS * 1.7);
                canvas.put(super::plot::symbols(*index, colour, &path, 1.0));
            }
        }
        Sign::Interval => canvas.put(format_args!(
            r#"<path d="{}" fill="none" stroke="{}" stroke-width="1.5"/>"#,
            super::plot::whisker(x + SIGN / 2.0, (y - 7.0, true), (y + 7.0, true)),
            palette.faint_text,
        )),
        Sign::Point => canvas.put(super::plot::ring(x + SIGN / 2.0, y, palette.mark)),
        Sign::Level => canvas.put(format_args!(
            r#"<path d="M{x:.1} {:.1}h{half:.1}v8h{half:.1}" fill="none" stroke="{}" stroke-width="2"/>"#,
            y - 4.0,
            palette.faint_text,
            half = SIGN / 2.0,
        )),
        Sign::Border(series) => canvas.put(format_args!(
            r#"<line x1="{m:.1}" y1="{:.1}" x2="{m:.1}" y2="{:.1}" stroke="{}" stroke-width="1.5" stroke-dasharray="4 3"/>"#,
            y - 8.0,
            y + 8.0,
            palette.of_mark(*series, palette.mark),
            m = x + SIGN / 2.0,
        )),
        Sign::Region(series) => swatch(canvas, x, y, palette.of_mark(*series, palette.region)),
        Sign::Pause => swatch(canvas, x, y, palette.axis),
        Sign::Limit(series) => canvas.put(format_args!(
            r#"<line x1="{x:.1}" y1="{y:.1}" x2="{end:.1}" y2="{y:.1}" stroke="{}" stroke-width="2" stroke-dasharray="8 4"/>"#,
            palette.of_mark(*series, palette.mark)
        )),
    }
}

fn swatch(canvas: &mut Canvas, x: f64, y: f64, colour: &str) {
    canvas.put(format_args!(
        r#"<rect x="{x:.1}" y="{:.1}" width="{SIGN}" height="12" fill="{colour}" fill-opacity="0.25" stroke="{colour}"/>"#,
        y - 6.0,
    ));
}
