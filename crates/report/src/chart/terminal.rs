//! A chart as lines of text.
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
use super::layout::strip_ticks;
use super::legend::{self, Entry, Sign};
use super::{Axis, Chart, Layer, Numbers, Place, Scale, Series, Stretch, Tick};
use crate::style::{Style, Tone, columns_of, pad_end, pad_start, wrap};
use grid::{DotGrid, SignGrid};

const PLOT_COLUMNS_MAX: usize = 96;
const SIGN_ROWS: usize = 14;
const STRIP_ROWS: usize = 3;
const TICKS_MAX: usize = 7;
const INDENT: &str = "  ";

/// In a chart of one series without braille.
const MEASURED_SIGN: char = '*';
const LEVEL_SIGN: char = '-';
const ENTRY_GAP: &str = "   ";

struct Signs {
    /// For each series; they begin again after the last.
    series: &'static [char],
    shared: char,
    border: char,
    region: char,
    limit: char,
    point: char,
    /// What measurements and levels of a single series are, in the legend.
    measured: &'static str,
    level: &'static str,
    ruler: char,
    ruler_tick: char,
    corner: char,
    axis: char,
    axis_tick: char,
}

const UNICODE_SIGNS: Signs = Signs {
    series: &['●', '○', '▲', '□', '◆', '△', '■', '◇'],
    shared: '≡',
    border: '┊',
    region: '▓',
    limit: '┄',
    point: '◎',
    measured: "dots",
    level: "lines",
    ruler: '│',
    ruler_tick: '┤',
    corner: '┼',
    axis: '─',
    axis_tick: '┬',
};
const ASCII_SIGNS: Signs = Signs {
    series: &['*', 'o', '+', 'x', '@', '%', '&', '$'],
    shared: '=',
    border: ':',
    region: '#',
    limit: '.',
    point: 'O',
    measured: "*",
    level: "-",
    ruler: '|',
    ruler_tick: '+',
    corner: '+',
    axis: '-',
    axis_tick: '+',
};

/// The chart. Its lines are no wider than the page.
pub fn draw(chart: &Chart, style: Style) -> Vec<String> {
    if !style.draws {
        return Vec::new();
    }
    let signs = if style.unicode { &UNICODE_SIGNS } else { &ASCII_SIGNS };
    let are_equal = chart.has_equal_strips();
    let labels = if are_equal { strip_labels(&chart.y, style) } else { value_labels(&chart.y, style) };
    let strips: Vec<Vec<Tick>> = chart.strips.iter().map(|strip| strip_labels(&strip.y, style)).collect();
    let widths = labels.iter().chain(strips.iter().flatten()).map(|tick| columns_of(&tick.label));
    let label_columns = widths.max().unwrap_or(1);
    let columns = (style.columns() - label_columns - "   | ".len()).min(PLOT_COLUMNS_MAX);
    let mut page =
        Page { style, label_columns, axis: AxisAcross::new(&chart.x, columns, style), lines: Vec::new() };

    let unit = if are_equal { String::new() } else { unit_of(&chart.y, &chart.title) };
    let scale = if chart.y.scale == Scale::Decades { " (log scale)" } else { "" };
    for line in wrap(&style.own(&format!("{}{unit}{scale}", chart.title)), style.columns()) {
        page.lines.push(style.paint(Tone::Heading, &line));
    }
    let grid = if are_equal {
        page.name(&chart.y.name());
        strip_plot(&chart.x, &chart.y, &chart.series, columns, style)
    } else {
        plot(chart, columns, style, signs)
    };
    page.plot(&grid, &labels, &regions(chart, &grid), signs);
    for (strip, labels) in chart.strips.iter().zip(&strips) {
        page.name(&strip.title());
        page.plot(&strip_plot(&chart.x, &strip.y, &strip.series, columns, style), labels, &[], signs);
    }
    page.lines.push(format!("{INDENT}{} {}", " ".repeat(label_columns), page.axis.labels()));
    let overlaps = grid.rows().any(|row| row.contains(signs.shared));
    page.legend(legend(chart, style, signs, overlaps));
    for text in &chart.meanwhile {
        page.wrapped(&style.own(text));
    }
    page.lines
}

struct Page {
    style: Style,
    label_columns: usize,
    axis: AxisAcross,
    lines: Vec<String>,
}

impl Page {
    fn name(&mut self, name: &str) {
        for line in wrap(&self.style.own(name), self.style.columns() - INDENT.len()) {
            self.lines.push(format!("{INDENT}{line}"));
        }
    }

    fn plot(&mut self, grid: &SignGrid, labels: &[Tick], regions: &[usize], signs: &Signs) {
        for (row, cells) in grid.rows().enumerate() {
            let here = labels.iter().find(|tick| !is_lowest(tick) && grid.row_of(tick.share) == row);
            let (label, tick) = match here {
                Some(tick) => (tick.label.as_str(), signs.ruler_tick),
                None => ("", signs.ruler),
            };
            let line = format!("{INDENT}{} {tick}{cells}", pad_start(label, self.label_columns));
            self.lines.push(line.trim_end().to_string());
        }
        let lowest = labels.iter().find(|tick| is_lowest(tick)).map_or("", |tick| &tick.label);
        let line = self.axis.line(regions, signs);
        self.lines.push(format!("{INDENT}{} {line}", pad_start(lowest, self.label_columns)));
    }

    fn legend(&mut self, entries: Vec<String>) {
        let mut line = String::new();
        for entry in entries {
            if line.is_empty() {
                line = entry;
            } else if columns_of(&line) + ENTRY_GAP.len() + columns_of(&entry) <= self.room() {
                line = line + ENTRY_GAP + &entry;
            } else {
                let full = std::mem::replace(&mut line, entry);
                self.legend_line(&full);
            }
        }
        if !line.is_empty() {
            self.legend_line(&line);
        }
    }

    fn legend_line(&mut self, line: &str) {
        if columns_of(line) <= self.room() {
            self.lines.push(format!("{}{line}", " ".repeat(self.indent())));
        } else {
            self.wrapped(line);
        }
    }

    fn wrapped(&mut self, text: &str) {
        for line in wrap(text, self.room()) {
            self.lines.push(format!("{}{line}", " ".repeat(self.indent())));
        }
    }

    fn indent(&self) -> usize {
        self.label_columns + INDENT.len() + 2
    }

    fn room(&self) -> usize {
        self.style.columns().saturating_sub(self.indent()).max(1)
    }
}

/// Of what the numbers beside the plot are, behind the title; nothing where each has its own unit.
fn unit_of(axis: &Axis, title: &str) -> String {
    match (axis.numbers, axis.unit.as_str()) {
        (Numbers::OfAxis, "") if title.contains(&axis.label) => String::new(),
        (Numbers::OfAxis, "") => format!(", {}", axis.label.to_lowercase()),
        (Numbers::OfAxis, COUNTED) if title.contains(&axis.label) => format!(", {COUNTED}s"),
        (Numbers::OfAxis, COUNTED) => format!(", {COUNTED} {}", axis.label.to_lowercase()),
        (_, "") => String::new(),
        (_, unit) => format!(", {unit}"),
    }
}

/// The numbers beside the plot: top, middle and bottom where the axis is linear, else as many as fit.
fn value_labels(axis: &Axis, style: Style) -> Vec<Tick> {
    if axis.scale != Scale::Linear || axis.start != 0.0 {
        return strip_labels(axis, style);
    }
    let top = axis.end / axis.divisor;
    [1.0, 0.5, 0.0].map(|share| Tick { share, label: tick_text(top * share) }).into()
}

fn strip_labels(axis: &Axis, style: Style) -> Vec<Tick> {
    let mut ticks = strip_ticks(axis);
    for tick in &mut ticks {
        tick.label = style.own(&tick.label);
    }
    ticks
}

fn is_lowest(tick: &Tick) -> bool {
    tick.share < 0.01
}

fn strip_plot(x: &Axis, y: &Axis, series: &[Series], columns: usize, style: Style) -> SignGrid {
    let mut grid = DotGrid::of_rows(columns, STRIP_ROWS, style.unicode);
    for series in series {
        draw_dots(&mut grid, series, x, y, false);
    }
    grid.signs()
}

fn plot(chart: &Chart, columns: usize, style: Style, signs: &Signs) -> SignGrid {
    let mut grid = match chart.series.as_slice() {
        [series] if style.unicode || series.levels().next().is_none() => {
            // Few measurements are thick strokes, which are easy to see; many are small dots, so that their spread is seen.
            let are_few = series.measured().count() <= columns && series.levels().next().is_none();
            let mut grid = DotGrid::new(columns, style.unicode);
            draw_dots(&mut grid, series, &chart.x, &chart.y, are_few);
            grid.signs()
        }
        // Measurements and levels without braille: a level is seen where both are.
        [series] => {
            let mut grid = SignGrid::new(columns, SIGN_ROWS);
            for (stretches, sign) in
                [(series.measured().collect(), MEASURED_SIGN), (series.levels().collect(), LEVEL_SIGN)]
            {
                draw_strokes(&mut grid, chart, stretches, (sign, sign));
            }
            grid
        }
        several => {
            let mut grid = SignGrid::new(columns, SIGN_ROWS);
            for (index, series) in several.iter().enumerate() {
                let both = (sign_of(index, signs), signs.shared);
                draw_strokes(&mut grid, chart, series.measured().chain(series.levels()).collect(), both);
                for point in series.points() {
                    let at = chart.x.share(point.at);
                    grid.stroke(at, at, chart.y.share(point.value), both.0, both.1);
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

/// The second sign is for where another series already is.
fn draw_strokes(grid: &mut SignGrid, chart: &Chart, stretches: Vec<&Stretch>, (sign, shared): (char, char)) {
    for stretch in stretches {
        let (first, end) = (chart.x.share(stretch.first), chart.x.share(stretch.end));
        grid.stroke(first, end, chart.y.share(stretch.value), sign, shared);
    }
}

fn draw_dots(grid: &mut DotGrid, series: &Series, x: &Axis, y: &Axis, are_few: bool) {
    for layer in &series.layers {
        match layer {
            Layer::Measured(stretches) | Layer::Levels(stretches) => {
                let is_thick = are_few && matches!(layer, Layer::Measured(_));
                for stretch in stretches {
                    let (first, end) = (x.share(stretch.first), x.share(stretch.end));
                    let height = y.share(stretch.value);
                    if is_thick { grid.stroke(first, end, height) } else { grid.line(first, end, height) }
                }
            }
            Layer::Line(points) | Layer::Trend(points) => {
                grid.polyline(points.iter().map(|point| (x.share(point.at), y.share(point.value))));
            }
            Layer::Bands(_) => {}
        }
    }
}

fn regions(chart: &Chart, grid: &SignGrid) -> Vec<usize> {
    let mut columns = Vec::new();
    for mark in &chart.marks {
        if let Place::Over { first, end } | Place::Pause { first, end } = mark.place {
            columns.extend(grid.columns_over(chart.x.share(first), chart.x.share(end)));
        }
    }
    columns
}

fn legend(chart: &Chart, style: Style, signs: &Signs, overlaps: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let is_alone = chart.series.len() == 1;
    for Entry { name, sign } in legend::entries(chart, false) {
        let name = style.name(&name);
        let sign = match sign {
            Sign::Series { .. } | Sign::Interval if is_alone => continue,
            Sign::Level if is_alone => {
                lines.push(format!("{}: measurements", signs.measured));
                lines.push(format!("{}: {}s", signs.level, chart.level_name));
                continue;
            }
            Sign::Level | Sign::Interval => continue,
            Sign::Series { index, .. } => sign_of(index, signs),
            Sign::Mark(Place::At(_), _) => signs.border,
            Sign::Mark(Place::Over { .. } | Place::Pause { .. }, _) => signs.region,
            Sign::Mark(Place::Value(_), _) => signs.limit,
            Sign::Mark(Place::Point { .. }, _) => signs.point,
        };
        lines.push(format!("{sign} {name}"));
    }
    if overlaps {
        lines.insert(chart.series.len(), format!("{} more than one of these", signs.shared));
    }
    lines
}

struct AxisAcross {
    columns: usize,
    has_unit: bool,
    ticks: Vec<(usize, String)>,
}

impl AxisAcross {
    fn new(axis: &Axis, columns: usize, style: Style) -> AxisAcross {
        let has_all =
            |ticks: &[Tick]| AxisAcross::with(axis, ticks, columns, style).labelled().len() == ticks.len();
        AxisAcross::with(axis, &axis.fitting_ticks(TICKS_MAX, has_all), columns, style)
    }

    fn with(axis: &Axis, ticks: &[Tick], columns: usize, style: Style) -> AxisAcross {
        let mut placed = Vec::new();
        for tick in ticks {
            let column = ((tick.share * columns as f64) as usize).min(columns - 1);
            placed.push((column, style.own(&tick.label)));
        }
        let has_unit = !axis.unit.is_empty();
        if let Some((_, label)) = placed.last_mut().filter(|_| has_unit) {
            *label = format!("{label} {}", style.own(&axis.unit));
        }
        AxisAcross { columns, has_unit, ticks: placed }
    }

    fn line(&self, regions: &[usize], signs: &Signs) -> String {
        let mut line = String::from(signs.corner);
        for column in 0..self.columns {
            let is_tick = column > 0 && self.ticks.iter().any(|(at, _)| *at == column);
            line.push(match is_tick {
                _ if regions.contains(&column) => signs.region,
                true => signs.axis_tick,
                false => signs.axis,
            });
        }
        line
    }

    fn labels(&self) -> String {
        let mut line = String::new();
        for (start, label) in self.labelled() {
            line = pad_end(&line, start) + label;
        }
        line
    }

    fn start_of(&self, (column, label): &(usize, String)) -> usize {
        let width = self.columns + 1;
        let number =
            if self.has_unit { label.split(' ').next().map_or(0, columns_of) } else { columns_of(label) };
        (column + 1).saturating_sub(number / 2).min(width.saturating_sub(columns_of(label)))
    }

    /// The labels with where they begin. One that would touch its neighbour is left out; the last always stays, for it carries the unit.
    fn labelled(&self) -> Vec<(usize, &str)> {
        let Some((last, others)) = self.ticks.split_last() else { return Vec::new() };
        let (mut labelled, mut taken) = (Vec::new(), 0);
        for tick in others {
            let start = self.start_of(tick);
            let end = start + columns_of(&tick.1) + 1;
            if start >= taken && end <= self.start_of(last) {
                labelled.push((start, tick.1.as_str()));
                taken = end;
            }
        }
        labelled.push((self.start_of(last), last.1.as_str()));
        labelled
    }
}
