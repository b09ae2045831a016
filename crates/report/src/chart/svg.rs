//! A chart as an SVG picture: readable in a forum or a paper, and with a title and description for those who cannot see it.

mod canvas;
mod palette;
mod plot;

pub use super::text::width as text_width;
pub use palette::Theme;

use super::drawing::{Ink, Pen, RULES, symbol};
use super::layout::{self, LEGEND_ROW, Layout, Panel, Sheet};
use super::legend::{self, Entry, Sign};
use super::text::{self, FONT_FAMILY, fitting};
use super::{Chart, Place, Tick};
use canvas::{Anchor, Canvas};
use maud::{Markup, PreEscaped, html};
use plot::{Plot, ring, whisker};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    #[default]
    Forum,
    /// A column of a paper, 85 mm across, with letters of 6 points.
    Paper,
}

impl Size {
    fn sheet(self) -> &'static Sheet {
        match self {
            Size::Forum => &layout::FORUM,
            Size::Paper => &layout::PAPER,
        }
    }

    /// Pixels of a PNG for each of CSS, of which 96 are an inch: a paper is printed with 300 or more.
    pub fn pixels_for_each(self) -> f32 {
        match self {
            Size::Forum => 1.0,
            Size::Paper => 4.0,
        }
    }

    fn extent(self, width: f64, height: f64) -> (String, String) {
        match self {
            Size::Forum => (format!("{width:.0}"), format!("{height:.0}")),
            Size::Paper => ("85mm".into(), format!("{:.1}mm", 85.0 * height / width)),
        }
    }
}

const TITLE_SIZE: f64 = 20.0;
const TITLE_Y: f64 = 38.0;
const SUBJECT_GAP: f64 = 14.0;
const SUBJECT_WIDTH_MIN: f64 = 80.0;
const LEGEND_Y: f64 = 66.0;
/// From the middle of a line of text down to its baseline, as a share of its size.
const MIDDLE: f64 = 0.36;
const SIGN_WIDTH: f64 = 30.0;
const SIGN_HEIGHT: f64 = 16.0;
const NAME_GAP: f64 = 8.0;
const ENTRY_GAP: f64 = 26.0;
const NAME_WIDTH_MAX: f64 = 620.0;

pub fn document(chart: &Chart, theme: Theme) -> String {
    sized(chart, theme, Size::Forum)
}

pub fn sized(chart: &Chart, theme: Theme, size: Size) -> String {
    let mut canvas = Canvas::new(theme);
    // A page says in words of its own what was recorded meanwhile.
    let meanwhile = if theme == Theme::Page { &[] } else { chart.meanwhile.as_slice() };
    let (legend, layout) = arranged(chart, meanwhile, size.sheet());
    let (width, height) = (layout.sheet.width, layout.height);
    canvas.put(html! { rect width=(width) height=(height) fill=(theme.colour(Ink::Ground)) {} });
    titles(&mut canvas, chart, &layout);
    for entry in &legend {
        canvas.legend_entry(entry, layout.sheet);
    }
    value_axis(&mut canvas, &chart.y.name(), &layout::main_ticks(chart), &layout, layout.main);
    axis_across(&mut canvas, chart, &layout);
    let plot = Plot { x: &chart.x, y: &chart.y, panel: layout.main };
    plot.draw(&mut canvas, &chart.series, &chart.marks);
    if let (Some(beside), Some(place)) = (&chart.beside, layout.beside) {
        plot.beside(&mut canvas, beside, layout.sheet, place);
    }
    for (strip, panel) in chart.strips.iter().zip(&layout.strips) {
        value_axis(&mut canvas, &strip.title(), &layout::strip_ticks(&strip.y), &layout, *panel);
        Plot { x: &chart.x, y: &strip.y, panel: *panel }.draw_strip(&mut canvas, chart, strip);
    }
    for (y, line) in &layout.meanwhile {
        canvas.text((layout.sheet.margin, *y), layout.sheet.text_size, Ink::Faint, Anchor::Start, line);
    }
    let (across, down) = size.extent(width, height);
    let (title_id, description_id) = (format!("{}-title", chart.name), format!("{}-description", chart.name));
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(across) height=(down) viewBox={"0 0 " (width) " " (height)} role="img"
            aria-labelledby={(title_id) " " (description_id)} font-family=(FONT_FAMILY) {
            "\n" title id=(title_id) { (chart.title) ": " (chart.subject) }
            "\n" desc id=(description_id) { (chart.description) }
            "\n" (PreEscaped(canvas.markup))
        } "\n"
    };
    picture.into_string()
}

pub(crate) fn sign(sign: &Sign) -> Markup {
    let mut canvas = Canvas::new(Theme::Page);
    canvas.sign(0.0, SIGN_HEIGHT / 2.0, sign);
    html! {
        svg width=(SIGN_WIDTH) height=(SIGN_HEIGHT) viewBox={"0 0 " (SIGN_WIDTH) " " (SIGN_HEIGHT)} aria-hidden="true" {
            (PreEscaped(canvas.markup))
        }
    }
}

pub(crate) fn shows_intervals(chart: &Chart, layout: &Layout) -> bool {
    Plot { x: &chart.x, y: &chart.y, panel: layout.main }.shows_intervals(&chart.series)
}

/// The legend and where everything is. Intervals are explained only if they can be seen, and that depends on the height of the plot.
fn arranged(chart: &Chart, meanwhile: &[String], sheet: &'static Sheet) -> (Vec<PlacedEntry>, Layout) {
    let explained = arranged_with(chart, meanwhile, sheet, true);
    if shows_intervals(chart, &explained.1) {
        explained
    } else {
        arranged_with(chart, meanwhile, sheet, false)
    }
}

fn arranged_with(
    chart: &Chart,
    meanwhile: &[String],
    sheet: &'static Sheet,
    has_intervals: bool,
) -> (Vec<PlacedEntry>, Layout) {
    let legend = placed(legend::entries(chart, has_intervals), sheet);
    let rows = legend.last().map_or(0, |entry| entry.row + 1);
    (legend, Layout::of(chart, rows, meanwhile, sheet))
}

struct PlacedEntry {
    x: f64,
    row: usize,
    entry: Entry,
}

fn placed(entries: Vec<Entry>, sheet: &Sheet) -> Vec<PlacedEntry> {
    let edge = sheet.width - sheet.margin;
    let name_max = NAME_WIDTH_MAX.min(edge - sheet.margin - SIGN_WIDTH - NAME_GAP);
    let (mut x, mut row) = (sheet.margin, 0);
    let mut placed = Vec::new();
    for mut entry in entries {
        entry.name = fitting(&entry.name, sheet.text_size, name_max);
        let width = SIGN_WIDTH + NAME_GAP + text::width(&entry.name, sheet.text_size);
        if x > sheet.margin && x + width > edge {
            (x, row) = (sheet.margin, row + 1);
        }
        placed.push(PlacedEntry { x, row, entry });
        x += width + ENTRY_GAP;
    }
    placed
}

impl Canvas {
    fn legend_entry(&mut self, placed: &PlacedEntry, sheet: &Sheet) {
        let y = LEGEND_Y + LEGEND_ROW * placed.row as f64;
        self.sign(placed.x, y - sheet.text_size * MIDDLE, &placed.entry.sign);
        let name_x = placed.x + SIGN_WIDTH + NAME_GAP;
        self.text((name_x, y), sheet.text_size, Ink::Text, Anchor::Start, &placed.entry.name);
    }

    /// A sign of the legend; its left end is at `x`, its middle at `y`.
    fn sign(&mut self, x: f64, y: f64, sign: &Sign) {
        let pens = &RULES.pens;
        let middle = x + SIGN_WIDTH / 2.0;
        let across = format!("M{x:.1} {y:.1}h{SIGN_WIDTH}");
        match *sign {
            Sign::Series { index, has_line, has_symbol } => {
                let symbol = symbol(index);
                if has_line {
                    self.path("sign", &across, pens.line.dashed(symbol.dash), Ink::Series(index));
                }
                if has_symbol {
                    let pen = symbol.pen(Pen { opacity: 1.0, fill: 1.0, ..pens.symbol });
                    self.path(
                        "sign",
                        &format!("M{middle:.1} {y:.1}{}", symbol.large),
                        pen,
                        Ink::Series(index),
                    );
                }
            }
            Sign::Level => {
                let half = SIGN_WIDTH / 2.0;
                self.path("sign", &format!("M{x:.1} {:.1}h{half}v8h{half}", y - 4.0), pens.line, Ink::Faint);
            }
            Sign::Interval => {
                let (top, bottom) = (y - 7.0, y + 7.0);
                self.path("sign", &whisker(middle, (top, true), (bottom, true)), pens.interval, Ink::Faint);
            }
            Sign::Mark(Place::At(_), ink) => {
                self.path(
                    "sign",
                    &format!("M{middle:.1} {:.1}v{SIGN_HEIGHT}", y - SIGN_HEIGHT / 2.0),
                    pens.border,
                    ink,
                );
            }
            Sign::Mark(Place::Value(_), ink) => self.path("sign", &across, pens.limit, ink),
            Sign::Mark(Place::Point { .. }, ink) => {
                self.path("sign", &ring(middle, y, SIGN_HEIGHT / 2.0 - 1.0), pens.ring, ink);
            }
            Sign::Mark(Place::Over { .. } | Place::Pause { .. }, ink) => {
                let swatch = Panel { left: x, right: x + SIGN_WIDTH, top: y - 6.0, bottom: y + 6.0 };
                self.rect("sign", None, swatch, Pen { width: 1.0, ..pens.region }, ink);
            }
        }
    }
}

fn titles(canvas: &mut Canvas, chart: &Chart, layout: &Layout) {
    let Sheet { width, margin, text_size, .. } = *layout.sheet;
    let title = fitting(&chart.title, TITLE_SIZE, width - 2.0 * margin);
    canvas.text((margin, TITLE_Y), TITLE_SIZE, Ink::Text, Anchor::Start, &title);
    let subject_x = margin + text::width(&title, TITLE_SIZE) + SUBJECT_GAP;
    let room = width - margin - subject_x;
    if room >= SUBJECT_WIDTH_MIN {
        let subject = fitting(&chart.subject, text_size, room);
        canvas.text((subject_x, TITLE_Y), text_size, Ink::Faint, Anchor::Start, &subject);
    }
}

fn value_axis(canvas: &mut Canvas, name: &str, ticks: &[Tick], layout: &Layout, panel: Panel) {
    let Sheet { margin, text_size, .. } = *layout.sheet;
    canvas.line((panel.left, panel.bottom), (panel.right, panel.bottom), Ink::Axis);
    for tick in ticks {
        let y = panel.y(tick.share);
        if tick.share > 0.0 {
            canvas.line((panel.left, y), (panel.right, y), Ink::Grid);
        }
        let place = (panel.left - RULES.number_gap, y + text_size * MIDDLE);
        canvas.text(place, text_size, Ink::Faint, Anchor::End, &tick.label);
    }
    canvas.text((margin, panel.top - RULES.name_above), text_size, Ink::Faint, Anchor::Start, name);
}

fn axis_across(canvas: &mut Canvas, chart: &Chart, layout: &Layout) {
    let Sheet { width, margin, text_size, numbers_below, name_below, .. } = *layout.sheet;
    let Panel { left, right, bottom, .. } = layout.lowest();
    for (tick, x) in layout.ticks_across(&chart.x) {
        canvas.line((x, bottom), (x, bottom + RULES.tick), Ink::Axis);
        canvas.text((x, bottom + numbers_below), text_size, Ink::Faint, Anchor::Middle, &tick.label);
    }
    let middle = (left + right) / 2.0;
    let name = fitting(&chart.x.name(), text_size, 2.0 * (middle - margin));
    canvas.text((middle, bottom + name_below), text_size, Ink::Faint, Anchor::Middle, &name);
    let edge = width - margin;
    let room = edge - middle - text::width(&name, text_size) / 2.0 - 16.0;
    let source = fitting(&chart.source, text_size - 2.0, room);
    canvas.text((edge, bottom + name_below), text_size - 2.0, Ink::Faint, Anchor::End, &source);
}
