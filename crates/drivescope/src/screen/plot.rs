//! A chart in cells of a terminal: braille dots for one curve, a sign for each of two, so that colour carries no meaning.

use crate::console::Look;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use report::chart::Tick;
use report::style::{columns_of, pad_end};

pub const ROWS_BESIDE_PLOT: u16 = 3;
/// The hues of the pictures (Okabe and Ito, "Color Universal Design", 2008), as near as 256 colours come.
const HUES: [Color; 2] = [Color::Indexed(32), Color::Indexed(166)];
/// Bits of a braille cell, by row and column (Unicode, chapter 21.1).
const BRAILLE_BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

#[derive(Clone, Debug, Default)]
pub struct Plot {
    pub title: String,
    pub curves: Vec<Curve>,
    pub up: Vec<Tick>,
    pub across: Vec<Tick>,
    pub nothing: &'static str,
}

#[derive(Clone, Debug)]
pub struct Curve {
    pub name: &'static str,
    pub lane: usize,
    pub points: Vec<(f64, f64)>,
    pub is_line: bool,
}

fn hue(lane: usize, look: Look) -> Style {
    if look.colour { Style::new().fg(HUES[lane % HUES.len()]) } else { Style::new() }
}

pub fn draw(plot: &Plot, look: Look, area: Rect, buffer: &mut Buffer) {
    let drawn: Vec<&Curve> = plot.curves.iter().filter(|curve| !curve.points.is_empty()).collect();
    title(plot, &drawn, look, area, buffer);
    let mut margin = 0;
    for tick in &plot.up {
        margin = margin.max(columns_of(&look.own(&tick.label)) as u16);
    }
    let margin = margin.max(1) + 1;
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
    for curve in &drawn {
        grid.draw(curve);
    }
    grid.show(drawn.len() > 1, drawn[0].lane, look, inner, buffer);
}

pub fn faint(look: Look) -> Style {
    if look.colour { Style::new().add_modifier(Modifier::DIM) } else { Style::new() }
}

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

/// Every n-th tick, so that their rows do not touch; the highest among them if that is possible.
fn spaced(ticks: &[Tick], rows: u16) -> impl Iterator<Item = &Tick> {
    let steps = ticks.len().saturating_sub(1).max(1);
    let mut first_to_fit = None;
    for every in 1..=steps {
        if steps / every * 2 > usize::from(rows) {
            continue;
        }
        first_to_fit = first_to_fit.or(Some(every));
        if steps.is_multiple_of(every) {
            // With one step only the two ends are left, which is too few where there is room.
            if steps / every > 1 || rows < 4 {
                first_to_fit = Some(every);
            }
            break;
        }
    }
    ticks.iter().step_by(first_to_fit.unwrap_or(steps))
}

fn axis_across(plot: &Plot, look: Look, inner: Rect, buffer: &mut Buffer) {
    let (corner, line, tick_line) = if look.unicode { ("┼", "─", "┬") } else { ("+", "-", "+") };
    let y = inner.bottom();
    buffer.set_string(inner.x - 1, y, corner, faint(look));
    for x in inner.x..inner.right() {
        buffer.set_string(x, y, line, faint(look));
    }
    let mut labels = String::new();
    let width = usize::from(inner.width) + 1;
    for tick in &plot.across {
        let at = ((tick.share.clamp(0.0, 1.0) * f64::from(inner.width)) as u16).min(inner.width - 1);
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

struct Grid {
    columns: usize,
    rows: usize,
    cells: Vec<(u8, u8)>,
}

impl Grid {
    fn new(width: u16, height: u16) -> Grid {
        let (columns, rows) = (usize::from(width).max(1), usize::from(height).max(1));
        Grid { columns, rows, cells: vec![(0, 0); columns * rows] }
    }

    fn draw(&mut self, curve: &Curve) {
        let across = self.columns * 2;
        let mut joined: Vec<Option<(usize, usize)>> = vec![None; across];
        for &(x, y) in &curve.points {
            let (x, y) = (((x.clamp(0.0, 1.0) * across as f64) as usize).min(across - 1), self.dot_at(y));
            if curve.is_line {
                let (low, high) = joined[x].unwrap_or((y, y));
                joined[x] = Some((low.min(y), high.max(y)));
            } else {
                self.set(x, y, curve.lane);
            }
        }
        // Few points are drawn thick, to be visible.
        let are_few = joined.iter().flatten().count() * 3 <= across;
        for (x, column) in joined.into_iter().enumerate() {
            let Some((top, bottom)) = column else { continue };
            for y in top..=bottom {
                self.set(x, y, curve.lane);
            }
            if are_few {
                let below = (top + 1).min(self.rows * 4 - 1);
                for (x, y) in [(x & !1, top), (x & !1, below), (x | 1, top), (x | 1, below)] {
                    self.set(x, y, curve.lane);
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
        for (index, &(dots, lanes)) in self.cells.iter().enumerate() {
            if dots == 0 {
                continue;
            }
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
