//! The rate over the position on the target, drawn with dots.
//!
//! ```text
//! Read rate by position, MB/s
//!  240 ┤⠛⠛⠶⠶⠶⣤⣤⣤
//!  120 ┤        ⠛⠛⠶⠶⠶⣤⣤
//!    0 ┼────┬────┬────┬──
//!      0   0.5   1   1.5 TB
//! ```

use crate::quantity::{binary_unit, decimal_unit};
use crate::style::{Style, Tone, columns_of, pad_start};
use model::finding::{FindingCode, Outcome};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::target::TargetKind;
use model::workload::Pattern;

/// A stretch of the target, as shares of it, and the mean rate in it.
struct Stretch {
    first: f64,
    end: f64,
    bytes_per_second: f64,
}

/// Fewer places than this are no curve; the table says it better.
const STRETCHES_MIN: usize = 3;
/// Wider charts show nothing more.
const PLOT_COLUMNS_MAX: usize = 96;

/// A chart for reads and one for writes, each if at least three places were measured sequentially and the rates mean
/// something.
pub(super) fn charts(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (operation, title, code) in [
        (Operation::Read, "Read rate by position", FindingCode::ReadRateMean),
        (Operation::Write, "Write rate by position", FindingCode::WriteRateMean),
    ] {
        if is_unknown(run, code) {
            continue;
        }
        let stretches: Vec<Stretch> =
            run.phases.iter().filter_map(|phase| stretch(phase, operation, run.target.capacity.0)).collect();
        let places = distinct_places(&stretches);
        if places >= STRETCHES_MIN {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(chart(title, &stretches, run, style));
        }
    }
    lines
}

/// Whether the detectors looked at the rates and could not tell.
fn is_unknown(run: &Run, code: FindingCode) -> bool {
    let finding = run.findings.iter().find(|finding| finding.code == code);
    finding.is_some_and(|finding| matches!(finding.outcome, Outcome::Unknown { .. }))
}

/// What a sequential measurement covered; none when the phase is no such thing.
fn stretch(summary: &PhaseSummary, operation: Operation, capacity: u64) -> Option<Stretch> {
    let workload = summary.phase.workload.as_ref()?;
    let totals = summary.totals_of(operation)?;
    let is_sequential = workload.pattern == Pattern::Sequential && summary.phase.kind == PhaseKind::Measure;
    if !is_sequential || totals.bytes == 0 || summary.duration_ns == 0 || capacity == 0 {
        return None;
    }
    let range = workload.range;
    let covered = totals.bytes.min(range.bytes().0) as f64;
    let first = range.first().0 as f64;
    Some(Stretch {
        first: (first / capacity as f64).min(1.0),
        end: ((first + covered) / capacity as f64).min(1.0),
        bytes_per_second: totals.bytes as f64 / ((summary.duration_ns + summary.flush_ns()) as f64 / 1e9),
    })
}

fn distinct_places(stretches: &[Stretch]) -> usize {
    let mut places: Vec<f64> = stretches.iter().map(|stretch| stretch.first).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places.len()
}

fn chart(title: &str, stretches: &[Stretch], run: &Run, style: Style) -> Vec<String> {
    let rate_max = stretches.iter().map(|stretch| stretch.bytes_per_second).fold(0.0, f64::max);
    let (rate_divisor, rate_unit) = if rate_max >= 1e9 { (1e9, "GB/s") } else { (1e6, "MB/s") };
    let top = axis_end(rate_max / rate_divisor);
    let labels = [tick_text(top), tick_text(top / 2.0), "0".to_string()];
    let label_columns = labels.iter().map(|label| columns_of(label)).max().unwrap_or(1);
    let columns = (style.columns() - label_columns - "   | ".len()).min(PLOT_COLUMNS_MAX);

    let mut grid = Grid::new(columns, style.unicode);
    for stretch in stretches {
        grid.draw(stretch.first, stretch.end, stretch.bytes_per_second / rate_divisor / top);
    }
    let position = PositionAxis::new(run, columns);
    let mut lines = vec![style.paint(Tone::Heading, &format!("{title}, {rate_unit}"))];
    for (row, dots) in grid.rows().into_iter().enumerate() {
        let label = match row {
            0 => labels[0].as_str(),
            row if row == grid.dot_of(0.5) / grid.dots_down => labels[1].as_str(),
            _ => "",
        };
        let tick = match (label.is_empty(), style.unicode) {
            (true, true) => "│",
            (false, true) => "┤",
            (true, false) => "|",
            (false, false) => "+",
        };
        lines.push(format!("  {} {tick}{dots}", pad_start(label, label_columns)).trim_end().to_string());
    }
    lines.push(format!("  {} {}", pad_start(&labels[2], label_columns), position.line(style.unicode)));
    lines.push(format!("  {} {}", " ".repeat(label_columns), position.labels()));
    lines
}

/// The smallest round number not below `value`, so that half of it is round too.
fn axis_end(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|end| *end >= value).unwrap_or(10.0 * power)
}

/// At most three decimals: ticks are round numbers.
fn tick_text(tick: f64) -> String {
    let text = format!("{tick:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The plot area: braille cells of 2 × 4 dots, or ASCII cells of one.
struct Grid {
    columns: usize,
    row_count: usize,
    dots_across: usize,
    dots_down: usize,
    /// One byte a cell, a bit for each dot in the order of the braille block of Unicode.
    cells: Vec<u8>,
}

/// Bits of a braille cell, by row and column. Unicode chapter 21.1: the dots are numbered down the left column,
/// then down the right, with the lowest row added last.
const BRAILLE_BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl Grid {
    fn new(columns: usize, unicode: bool) -> Grid {
        let (row_count, dots_across, dots_down) = if unicode { (8, 2, 4) } else { (12, 1, 1) };
        Grid { columns, row_count, dots_across, dots_down, cells: vec![0; columns * row_count] }
    }

    /// A level line over shares of the width, at a share of the height. In braille it is two dots thick, since one
    /// is hard to see, and a stretch narrower than a cell fills the cell's width.
    fn draw(&mut self, first: f64, end: f64, height: f64) {
        let (across, down) = (self.columns * self.dots_across, self.row_count * self.dots_down);
        let from = ((first * across as f64) as usize).min(across - 1);
        let from = from / self.dots_across * self.dots_across;
        let to = ((end * across as f64).ceil() as usize).clamp(from + self.dots_across, across);
        let top = self.dot_of(height);
        let thickness = self.dots_across;
        for y in top..(top + thickness).min(down) {
            for x in from..to {
                let cell = y / self.dots_down * self.columns + x / self.dots_across;
                self.cells[cell] |= BRAILLE_BITS[y % self.dots_down][x % self.dots_across];
            }
        }
    }

    /// The line of dots, counted from the top, at a share of the height.
    fn dot_of(&self, height: f64) -> usize {
        let lowest = self.row_count * self.dots_down - 1;
        lowest - (height.clamp(0.0, 1.0) * lowest as f64).round() as usize
    }

    fn rows(&self) -> Vec<String> {
        let is_braille = self.dots_across == 2;
        let character = |cell: &u8| match (cell, is_braille) {
            (0, _) => ' ',
            (_, false) => '*',
            (bits, true) => char::from_u32(0x2800 + u32::from(*bits)).unwrap_or(' '),
        };
        self.cells.chunks(self.columns).map(|row| row.iter().map(character).collect()).collect()
    }
}

/// The axis of positions: ticks at round sizes.
struct PositionAxis {
    columns: usize,
    /// Column and label of each tick, left to right.
    ticks: Vec<(usize, String)>,
}

/// More ticks crowd the axis.
const TICKS_MAX: f64 = 7.0;

impl PositionAxis {
    fn new(run: &Run, columns: usize) -> PositionAxis {
        let capacity = run.target.capacity.0 as f64;
        let is_file = run.target.kind == TargetKind::File;
        let (divisor, unit) = if is_file { binary_unit(capacity) } else { decimal_unit(capacity) };
        let whole = capacity / divisor;
        let power = 10f64.powf((whole / TICKS_MAX).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| whole / step <= TICKS_MAX).unwrap_or(whole);
        let count = (whole / step + 1e-9).floor() as usize;
        let ticks = (0..=count).map(|index| {
            let at = index as f64 * step;
            let column = ((at / whole * columns as f64) as usize).min(columns - 1);
            let is_last = index == count;
            (column, if is_last { format!("{} {unit}", tick_text(at)) } else { tick_text(at) })
        });
        PositionAxis { columns, ticks: ticks.collect() }
    }

    fn line(&self, unicode: bool) -> String {
        let (corner, line, tick) = if unicode { ('┼', '─', '┬') } else { ('+', '-', '+') };
        let cells = (0..self.columns).map(|column| {
            let is_tick = column > 0 && self.ticks.iter().any(|(at, _)| *at == column);
            if is_tick { tick } else { line }
        });
        std::iter::once(corner).chain(cells).collect()
    }

    /// Labels centred under their ticks. One that would touch its neighbour is left out; the last always stays,
    /// for it carries the unit.
    fn labels(&self) -> String {
        let width = self.columns + 1;
        let place = |(column, label): &(usize, String)| {
            let number = label.split(' ').next().map_or(0, columns_of);
            (column + 1).saturating_sub(number / 2).min(width.saturating_sub(columns_of(label)))
        };
        let last_start = self.ticks.last().map_or(width, place);
        let mut line = String::new();
        for (index, tick) in self.ticks.iter().enumerate() {
            let start = place(tick);
            let is_last = index + 1 == self.ticks.len();
            let touches_before = !line.is_empty() && start < columns_of(&line) + 1;
            let touches_last = !is_last && start + columns_of(&tick.1) + 1 > last_start;
            if !touches_before && !touches_last {
                line = format!("{}{}", crate::style::pad_end(&line, start), tick.1);
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, end) in
            [(211.0, 240.0), (240.0, 240.0), (99.0, 100.0), (3.51, 4.0), (0.0, 1.0), (0.45, 0.5)]
        {
            assert!((axis_end(value) - end).abs() < 1e-9, "{value}: {}", axis_end(value));
        }
    }

    #[test]
    fn a_dot_lands_where_it_belongs() {
        let mut grid = Grid::new(4, false);
        grid.draw(0.5, 0.5, 1.0);
        grid.draw(0.0, 0.25, 0.0);
        grid.draw(1.0, 1.0, 7.0);
        assert_eq!(grid.rows()[0], "  **");
        assert_eq!(grid.rows()[11], "*   ");
        let mut grid = Grid::new(2, true);
        grid.draw(0.0, 1.0, 1.0);
        assert_eq!(grid.rows()[0], "⠛⠛");
    }
}
