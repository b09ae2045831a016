//! A chart as lines of text.
//!
//! ```text
//! Read rate by position, MB/s
//!  240 ┤⠛⠛⠶⠶⠶⣤⣤⣤
//!  120 ┤        ⠛⠛⠶⠶⠶⣤⣤
//!    0 ┼────┬────┬────┬──
//!      0   0.5   1   1.5 TB
//! ```
//! A single series is drawn in dots of braille; several have a sign each, so that no meaning rests on colour.

mod grid;

use super::axis::{COUNTED, tick_text};
use super::{Axis, Chart, Layer, Numbers, Place, Point, Scale, Series, Strip, Tick};
use crate::style::{Style, Tone, columns_of, pad_end, pad_start, wrap};
use grid::{DotGrid, SignGrid};

/// Wider charts show nothing more.
const PLOT_COLUMNS_MAX: usize = 96;
/// Rows of a chart of several series.
const SIGN_ROWS: usize = 14;
/// Rows of a chart below a chart.
const STRIP_ROWS: usize = 3;
/// More ticks crowd the axis.
const TICKS_MAX: usize = 7;
/// Before everything in a chart.
const INDENT: &str = "  ";

/// In a chart of one series without braille.
const MEASURED_SIGN: char = '*';
const LEVEL_SIGN: char = '-';

/// The signs of a chart.
struct Signs {
    /// For each series; they begin again after the last.
    series: &'static [char],
    /// Where more than one series is.
    shared: char,
    border: char,
    region: char,
    limit: char,
    point: char,
}

const UNICODE_SIGNS: Signs = Signs {
    series: &['●', '○', '▲', '□', '◆', '△', '■', '◇'],
    shared: '≡',
    border: '┊',
    region: '▓',
    limit: '┄',
    point: '◎',
};
const ASCII_SIGNS: Signs = Signs {
    series: &['*', 'o', '+', 'x', '@', '%', '&', '$'],
    shared: '=',
    border: ':',
    region: '#',
    limit: '.',
    point: 'O',
};

/// The chart. Its lines are no wider than the page.
pub fn draw(chart: &Chart, style: Style) -> Vec<String> {
    let signs = if style.unicode { &UNICODE_SIGNS } else { &ASCII_SIGNS };
    let are_equal = chart.strips.iter().any(|strip| strip.is_equal);
    let labels = if are_equal { strip_labels(&chart.y, style) } else { value_labels(&chart.y, style) };
    let strips: Vec<Vec<Tick>> = chart.strips.iter().map(|strip| strip_labels(&strip.y, style)).collect();
    let widths = labels.iter().chain(strips.iter().flatten()).map(|tick| columns_of(&tick.label));
    let label_columns = widths.max().unwrap_or(1);
    let columns = (style.columns() - label_columns - "   | ".len()).min(PLOT_COLUMNS_MAX);

    let grid = if are_equal {
        strip_plot(&chart.x, &chart.y, &chart.series, columns, style)
    } else {
        plot(chart, columns, style, signs)
    };
    let axis = AxisAcross::new(&chart.x, columns, style);
    let unit = if are_equal { String::new() } else { unit_of(&chart.y) };
    let heading = wrap(&style.own(&format!("{}{unit}", chart.title)), style.columns());
    let mut lines: Vec<String> = heading.iter().map(|line| style.paint(Tone::Heading, line)).collect();
    if are_equal {
        lines.extend(named(&chart.y.name(), style));
    }
    lines.extend(rows(&grid, &labels, label_columns, style));
    let regions = regions(chart, &grid);
    let line = axis.line(style.unicode, &regions, signs.region);
    lines.push(format!("{INDENT}{} {line}", pad_start(lowest_label(&labels), label_columns)));
    for (strip, labels) in chart.strips.iter().zip(&strips) {
        lines.extend(named(&strip_name(strip), style));
        let grid = strip_plot(&chart.x, &strip.y, &strip.series, columns, style);
        lines.extend(rows(&grid, labels, label_columns, style));
        let line = axis.line(style.unicode, &[], signs.region);
        lines.push(format!("{INDENT}{} {line}", pad_start(lowest_label(labels), label_columns)));
    }
    lines.push(format!("{INDENT}{} {}", " ".repeat(label_columns), axis.labels()));
    let indent = label_columns + INDENT.len() + 2;
    lines.extend(legend(chart, indent, style, signs));
    let width = style.columns().saturating_sub(indent).max(1);
    let meanwhile = chart.meanwhile.iter().flat_map(|text| wrap(&style.own(text), width));
    lines.extend(meanwhile.map(|line| format!("{}{line}", " ".repeat(indent))));
    lines
}

/// Of what the numbers beside the plot are, behind the title; nothing where each has its own unit.
fn unit_of(axis: &Axis) -> String {
    match (axis.numbers, axis.unit.as_str()) {
        (Numbers::OfAxis, "") => format!(", {}", axis.label.to_lowercase()),
        (Numbers::OfAxis, COUNTED) => format!(", {COUNTED} {}", axis.label.to_lowercase()),
        (_, "") => String::new(),
        (_, unit) => format!(", {unit}"),
    }
}

/// The numbers beside the plot: top, middle and bottom where the axis is even, else as many as fit.
fn value_labels(axis: &Axis, style: Style) -> Vec<Tick> {
    if axis.scale == Scale::Even && axis.start == 0.0 {
        let top = axis.end / axis.divisor;
        let tick = |share: f64| Tick { share, label: tick_text(top * share) };
        return [1.0, 0.5, 0.0].map(tick).into();
    }
    strip_labels(axis, style)
}

fn strip_labels(axis: &Axis, style: Style) -> Vec<Tick> {
    let own = |tick: Tick| Tick { label: style.own(&tick.label), ..tick };
    axis.ticks(3).into_iter().map(own).collect()
}

/// The number at the foot of the axis, if there is one.
fn lowest_label(labels: &[Tick]) -> &str {
    labels.iter().find(|tick| tick.share < 0.01).map_or("", |tick| &tick.label)
}

/// The name of one of several charts.
fn named(name: &str, style: Style) -> Vec<String> {
    let lines = wrap(&style.own(name), style.columns() - INDENT.len());
    lines.iter().map(|line| format!("{INDENT}{line}")).collect()
}

fn strip_name(strip: &Strip) -> String {
    if strip.y.unit.is_empty() { strip.name.clone() } else { format!("{}, {}", strip.name, strip.y.unit) }
}

/// The rows of a plot with the numbers beside them.
fn rows(grid: &SignGrid, labels: &[Tick], label_columns: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (row, cells) in grid.rows().enumerate() {
        let here = labels.iter().find(|tick| tick.share >= 0.01 && grid.row_of(tick.share) == row);
        let label = here.map_or("", |tick| tick.label.as_str());
        let tick = match (label.is_empty(), style.unicode) {
            (true, true) => '│',
            (false, true) => '┤',
            (true, false) => '|',
            (false, false) => '+',
        };
        lines.push(
            format!("{INDENT}{} {tick}{cells}", pad_start(label, label_columns)).trim_end().to_string(),
        );
    }
    lines
}

/// A low chart: dots of all its series.
fn strip_plot(x: &Axis, y: &Axis, series: &[Series], columns: usize, style: Style) -> SignGrid {
    let mut grid = DotGrid::of_rows(columns, STRIP_ROWS, style.unicode);
    series.iter().for_each(|series| draw_dots(&mut grid, series, x, y, false));
    grid.signs()
}

/// Series and marks in the plot area.
fn plot(chart: &Chart, columns: usize, style: Style, signs: &Signs) -> SignGrid {
    let mut grid = match chart.series.as_slice() {
        [series] if style.unicode || series.levels().next().is_none() => {
            dots(series, chart, columns, style).signs()
        }
        [series] => plain_zones(series, chart, columns),
        several => {
            let mut grid = SignGrid::new(columns, SIGN_ROWS);
            for (index, series) in several.iter().enumerate() {
                let sign = sign_of(index, signs);
                for stretch in series.measured().chain(series.levels()) {
                    let (first, end) = (chart.x.share(stretch.first), chart.x.share(stretch.end));
                    grid.stroke(first, end, chart.y.share(stretch.value), sign, signs.shared);
                }
                for point in series.points() {
                    let at = chart.x.share(point.at);
                    grid.stroke(at, at, chart.y.share(point.value), sign, signs.shared);
                }
            }
            grid
        }
    };
    for mark in &chart.marks {
        match mark.place {
            Place::At(at) => grid.line_up(chart.x.share(at), signs.border),
            Place::Value(value) => grid.line_across(chart.y.share(value), signs.limit),
            Place::Point { at, value } => grid.point(chart.x.share(at), chart.y.share(value), signs.point),
            Place::Over { .. } | Place::Pause { .. } => {}
        }
    }
    grid
}

fn sign_of(index: usize, signs: &Signs) -> char {
    signs.series[index % signs.series.len()]
}

/// A single series. Few measurements are thick strokes, which are easy to see; many are dots as small as they come, so that
/// their spread is seen.
fn dots(series: &Series, chart: &Chart, columns: usize, style: Style) -> DotGrid {
    let mut grid = DotGrid::new(columns, style.unicode);
    let are_few = series.measured().count() <= columns && series.levels().next().is_none();
    draw_dots(&mut grid, series, &chart.x, &chart.y, are_few);
    grid
}

fn draw_dots(grid: &mut DotGrid, series: &Series, x: &Axis, y: &Axis, are_few: bool) {
    for layer in &series.layers {
        let (stretches, is_thick) = match layer {
            Layer::Measured(stretches) => (stretches, are_few),
            Layer::Levels(stretches) => (stretches, false),
            Layer::Line(points) | Layer::Trend(points) => {
                let place = |point: &Point| (x.share(point.at), y.share(point.value));
                grid.polyline(points.iter().map(place));
                continue;
            }
            Layer::Bands(_) => continue,
        };
        for stretch in stretches {
            let (first, end) = (x.share(stretch.first), x.share(stretch.end));
            let height = y.share(stretch.value);
            if is_thick { grid.stroke(first, end, height) } else { grid.line(first, end, height) }
        }
    }
}

/// Measurements and levels without braille: a level is seen where both are.
fn plain_zones(series: &Series, chart: &Chart, columns: usize) -> SignGrid {
    let mut grid = SignGrid::new(columns, SIGN_ROWS);
    let measured = series.measured().map(|stretch| (stretch, MEASURED_SIGN));
    for (stretch, sign) in measured.chain(series.levels().map(|level| (level, LEVEL_SIGN))) {
        let (first, end) = (chart.x.share(stretch.first), chart.x.share(stretch.end));
        grid.stroke(first, end, chart.y.share(stretch.value), sign, sign);
    }
    grid
}

/// Which columns lie in a region that is marked.
fn regions(chart: &Chart, grid: &SignGrid) -> Vec<usize> {
    let places = chart.marks.iter().filter_map(|mark| match mark.place {
        Place::Over { first, end } | Place::Pause { first, end } => Some((first, end)),
        _ => None,
    });
    places.flat_map(|(first, end)| grid.columns_over(chart.x.share(first), chart.x.share(end))).collect()
}

/// What the signs mean, if there is more than one.
fn legend(chart: &Chart, indent: usize, style: Style, signs: &Signs) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    match chart.series.as_slice() {
        [series] if series.levels().next().is_some() => {
            entries.push(if style.unicode { "dots: measurements" } else { "*: measurements" }.into());
            let sign = if style.unicode { "lines" } else { "-" };
            entries.push(format!("{sign}: the {}", chart.level_name));
        }
        [] | [_] => {}
        several => {
            let name = |(index, series): (usize, &Series)| {
                format!("{} {}", sign_of(index, signs), style.name(&series.name))
            };
            entries.extend(several.iter().enumerate().map(name));
            entries.push(format!("{} several", signs.shared));
        }
    }
    for mark in chart.mark_names() {
        let (sign, value) = match mark.place {
            Place::At(_) => (signs.border, None),
            Place::Over { .. } | Place::Pause { .. } => (signs.region, None),
            Place::Value(_) => (signs.limit, chart.only_value(&mark.name)),
            Place::Point { .. } => (signs.point, None),
        };
        let value = value.map_or(String::new(), |value| style.own(&format!(", {}", chart.y.amount(value))));
        entries.push(format!("{sign} {}{value}", style.name(&mark.name)));
    }
    let width = style.columns().saturating_sub(indent).max(1);
    let lines = entries.iter().fold(Vec::<String>::new(), |mut lines, entry| {
        match lines.last_mut() {
            Some(line) if columns_of(line) + 3 + columns_of(entry) <= width => {
                line.push_str("   ");
                line.push_str(entry);
            }
            _ => lines.push(entry.clone()),
        }
        lines
    });
    let fitting = lines
        .iter()
        .flat_map(|line| if columns_of(line) <= width { vec![line.clone()] } else { wrap(line, width) });
    fitting.map(|line| format!("{}{line}", " ".repeat(indent))).collect()
}

/// The axis across: ticks at round numbers.
struct AxisAcross {
    columns: usize,
    /// Whether the last label carries the unit of all.
    has_unit: bool,
    /// Column and label of each tick, left to right.
    ticks: Vec<(usize, String)>,
}

impl AxisAcross {
    fn new(axis: &Axis, columns: usize, style: Style) -> AxisAcross {
        let placed = |ticks: &[Tick]| -> Vec<(usize, String)> {
            let last = ticks.len().saturating_sub(1);
            let place = |(index, tick): (usize, &Tick)| {
                let column = ((tick.share * columns as f64) as usize).min(columns - 1);
                let label = style.own(&tick.label);
                let with_unit = index == last && !axis.unit.is_empty();
                (column, if with_unit { format!("{label} {}", style.own(&axis.unit)) } else { label })
            };
            ticks.iter().enumerate().map(place).collect()
        };
        let of =
            |ticks: &[Tick]| AxisAcross { columns, has_unit: !axis.unit.is_empty(), ticks: placed(ticks) };
        let has_all = |ticks: &[Tick]| of(ticks).labelled().len() == ticks.len();
        of(&axis.fitting_ticks(TICKS_MAX, has_all))
    }

    fn line(&self, unicode: bool, regions: &[usize], region: char) -> String {
        let (corner, line, tick) = if unicode { ('┼', '─', '┬') } else { ('+', '-', '+') };
        let cells = (0..self.columns).map(|column| {
            let is_tick = column > 0 && self.ticks.iter().any(|(at, _)| *at == column);
            match (regions.contains(&column), is_tick) {
                (true, _) => region,
                (false, true) => tick,
                (false, false) => line,
            }
        });
        std::iter::once(corner).chain(cells).collect()
    }

    /// Labels centred under their ticks.
    fn labels(&self) -> String {
        let add = |line: String, (start, label): (usize, &str)| format!("{}{label}", pad_end(&line, start));
        self.labelled().into_iter().fold(String::new(), add)
    }

    /// The labels with where they begin. One that would touch its neighbour is left out; the last always stays, for it carries the
    /// unit.
    fn labelled(&self) -> Vec<(usize, &str)> {
        let width = self.columns + 1;
        let place = |(column, label): &(usize, String)| {
            let number =
                if self.has_unit { label.split(' ').next().map_or(0, columns_of) } else { columns_of(label) };
            (column + 1).saturating_sub(number / 2).min(width.saturating_sub(columns_of(label)))
        };
        let last_start = self.ticks.last().map_or(width, place);
        let (mut labelled, mut taken) = (Vec::new(), 0);
        for (index, tick) in self.ticks.iter().enumerate() {
            let start = place(tick);
            let end = start + columns_of(&tick.1);
            let is_last = index + 1 == self.ticks.len();
            let touches_before = index > 0 && start < taken;
            let touches_last = !is_last && end + 1 > last_start;
            if !touches_before && !touches_last {
                labelled.push((start, tick.1.as_str()));
                taken = end + 1;
            }
        }
        labelled
    }
}
