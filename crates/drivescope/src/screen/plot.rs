//! A chart in cells of a terminal: dots of braille for one curve, a sign for each of two, so that no meaning rests on colour.

use super::Look;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use report::chart::Tick;
use report::style::{columns_of, pad_end};

/// Rows of a chart beside the plot: its title, its axis and the numbers below.
pub const ROWS_BESIDE_PLOT: u16 = 3;
/// The hues of the pictures (Okabe and Ito, "Color Universal Design", 2008), as near as 256 colours come.
const HUES: [Color; 2] = [Color::Indexed(32), Color::Indexed(166)];
/// Bits of a braille cell, by row and column (Unicode, chapter 21.1).
const BRAILLE_BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// A chart.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// What it shows, and in which unit.
    pub title: String,
    /// What is drawn: at most two.
    pub curves: Vec<Curve>,
    /// Numbers up, by share of the height.
    pub up: Vec<Tick>,
    /// Numbers across, by share of the width; the last may carry the unit.
    pub across: Vec<Tick>,
    /// What is said while there is nothing to draw.
    pub nothing: &'static str,
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Curve {
    /// For the legend.
    pub name: &'static str,
    /// Its hue and sign.
    pub lane: usize,
    /// Shares of the width and of the height.
    pub points: Vec<(f64, f64)>,
    /// Whether points of one column are joined, as those of a curve are.
    pub is_line: bool,
}

/// The hue of a lane.
pub fn hue(lane: usize, look: Look) -> Style {
    if look.colour { Style::new().fg(HUES[lane % HUES.len()]) } else { Style::new() }
}

/// Draws a chart into an area.
pub fn draw(plot: &Plot, look: Look, area: Rect, buffer: &mut Buffer) {
    let drawn: Vec<&Curve> = plot.curves.iter().filter(|curve| !curve.points.is_empty()).collect();
    title(plot, &drawn, look, area, buffer);
    let margin = plot.up.iter().map(|tick| columns_of(&look.own(&tick.label))).max().unwrap_or(1) as u16 + 1;
    if area.height <= ROWS_BESIDE_PLOT || area.width < margin + 8 {
        return;
    }
    let inner = Rect {
        x: area.x + margin + 1,
        y: area.y + 1,
        width: area.width - margin - 1,
        height: area.height - ROWS_BESIDE_PLOT,
    };
    axis_up(plot, look, margin, inner, buffer);
    axis_across(plot, look, inner, buffer);
    if drawn.is_empty() {
        let y = inner.y + inner.height / 2;
        let x = inner.x + 1;
        buffer.set_stringn(x, y, plot.nothing, usize::from(inner.width - 1), faint(look));
        return;
    }
    let mut grid = Grid::new(inner.width, inner.height);
    drawn.iter().for_each(|curve| grid.draw(curve));
    grid.show(drawn.len() > 1, drawn[0].lane, look, inner, buffer);
}

/// Of less interest.
pub fn faint(look: Look) -> Style {
    if look.colour { Style::new().add_modifier(Modifier::DIM) } else { Style::new() }
}

/// A heading.
pub fn heading() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn title(plot: &Plot, drawn: &[&Curve], look: Look, area: Rect, buffer: &mut Buffer) {
    let (mut x, y) = (area.x, area.y);
    (x, _) = buffer.set_stringn(x, y, look.own(&plot.title), usize::from(area.width), heading());
    if drawn.len() < 2 {
        return;
    }
    for curve in drawn {
        let entry = format!("   {} {}", sign(1 << curve.lane, look), curve.name);
        let room = usize::from(area.right().saturating_sub(x));
        if columns_of(&entry) <= room {
            (x, _) = buffer.set_stringn(x, y, &entry, room, hue(curve.lane, look));
        }
    }
}

fn axis_up(plot: &Plot, look: Look, margin: u16, inner: Rect, buffer: &mut Buffer) {
    let (line, tick_line) = if look.unicode { ("│", "┤") } else { ("|", "+") };
    for y in inner.y..inner.bottom() {
        buffer.set_string(inner.x - 1, y, line, faint(look));
    }
    for tick in spaced(&plot.up, inner.height) {
        // The lowest number stands beside the axis across.
        let row = (tick.share.clamp(0.0, 1.0) * f64::from(inner.height)).round() as u16;
        let y = inner.bottom() - row;
        let label = look.own(&tick.label);
        let x = inner.x - 1 - margin + (margin - 1).saturating_sub(columns_of(&label) as u16);
        buffer.set_string(x, y, label, faint(look));
        if row > 0 {
            buffer.set_string(inner.x - 1, y, tick_line, faint(look));
        }
    }
}

/// Every so many of the numbers, so that they do not stand row upon row; the highest among them if that can be.
fn spaced(ticks: &[Tick], rows: u16) -> impl Iterator<Item = &Tick> {
    let steps = ticks.len().saturating_sub(1).max(1);
    let fits = |every: &usize| steps / every * 2 <= usize::from(rows);
    let even = (1..=steps).filter(|every| steps.is_multiple_of(*every)).find(fits);
    let every = even.filter(|every| steps / every > 1 || rows < 4).or_else(|| (1..=steps).find(fits));
    ticks.iter().step_by(every.unwrap_or(steps))
}

fn axis_across(plot: &Plot, look: Look, inner: Rect, buffer: &mut Buffer) {
    let (corner, line, tick_line) = if look.unicode { ("┼", "─", "┬") } else { ("+", "-", "+") };
    let y = inner.bottom();
    buffer.set_string(inner.x - 1, y, corner, faint(look));
    (inner.x..inner.right()).for_each(|x| buffer.set_string(x, y, line, faint(look)));
    let column = |tick: &Tick| (tick.share.clamp(0.0, 1.0) * f64::from(inner.width)) as u16;
    let mut labels = String::new();
    let width = usize::from(inner.width) + 1;
    for tick in &plot.across {
        let at = column(tick).min(inner.width - 1);
        let number = tick.label.split(' ').next().map_or(0, columns_of);
        let start = (usize::from(at) + 1).saturating_sub(number / 2);
        let start = start.min(width.saturating_sub(columns_of(&tick.label)));
        if labels.is_empty() || start > columns_of(&labels) {
            labels = format!("{}{}", pad_end(&labels, start), tick.label);
            if at > 0 {
                buffer.set_string(inner.x + at, y, tick_line, faint(look));
            }
        }
    }
    buffer.set_stringn(inner.x - 1, y + 1, &labels, width, faint(look));
}

/// The sign of cells in which these lanes have points.
fn sign(lanes: u8, look: Look) -> &'static str {
    match (lanes, look.unicode) {
        (1, true) => "●",
        (2, true) => "○",
        (_, true) => "≡",
        (1, false) => "*",
        (2, false) => "o",
        (_, false) => "=",
    }
}

/// Cells of 2 × 4 dots.
struct Grid {
    columns: usize,
    rows: usize,
    /// The dots, and the lanes that they are of.
    cells: Vec<(u8, u8)>,
}

impl Grid {
    fn new(width: u16, height: u16) -> Grid {
        let (columns, rows) = (usize::from(width).max(1), usize::from(height).max(1));
        Grid { columns, rows, cells: vec![(0, 0); columns * rows] }
    }

    fn draw(&mut self, curve: &Curve) {
        let across = self.columns * 2;
        let mut stretches: Vec<Option<(usize, usize)>> = vec![None; across];
        for &(x, y) in &curve.points {
            let (x, y) = (((x.clamp(0.0, 1.0) * across as f64) as usize).min(across - 1), self.dot_at(y));
            if curve.is_line {
                let (low, high) = stretches[x].unwrap_or((y, y));
                stretches[x] = Some((low.min(y), high.max(y)));
            } else {
                self.set(x, y, curve.lane);
            }
        }
        // Few points are thick, so that they are seen.
        let are_few = stretches.iter().flatten().count() * 3 <= across;
        for (x, stretch) in stretches.into_iter().enumerate() {
            let Some((top, bottom)) = stretch else { continue };
            (top..=bottom).for_each(|y| self.set(x, y, curve.lane));
            if are_few {
                for x in [x & !1, x | 1] {
                    [top, (top + 1).min(self.rows * 4 - 1)]
                        .into_iter()
                        .for_each(|y| self.set(x, y, curve.lane));
                }
            }
        }
    }

    fn dot_at(&self, share: f64) -> usize {
        let lowest = self.rows * 4 - 1;
        lowest - (share.clamp(0.0, 1.0) * lowest as f64).round() as usize
    }

    fn set(&mut self, x: usize, y: usize, lane: usize) {
        let cell = &mut self.cells[y / 4 * self.columns + x / 2];
        cell.0 |= BRAILLE_BITS[y % 4][x % 2];
        cell.1 |= 1 << lane;
    }

    fn show(&self, by_sign: bool, lane: usize, look: Look, area: Rect, buffer: &mut Buffer) {
        for (index, &(dots, lanes)) in self.cells.iter().enumerate().filter(|(_, (dots, _))| *dots != 0) {
            let x = area.x + (index % self.columns) as u16;
            let y = area.y + (index / self.columns) as u16;
            let style = match lanes {
                1 => hue(0, look),
                2 => hue(1, look),
                _ => Style::new(),
            };
            if by_sign {
                buffer.set_string(x, y, sign(lanes, look), style);
            } else if look.unicode {
                let dots = char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ');
                buffer.set_string(x, y, dots.to_string(), hue(lane, look));
            } else {
                buffer.set_string(x, y, "*", hue(lane, look));
            }
        }
    }
}
