//! A chart as an SVG picture: readable in a forum or a paper, and with a title and description for those who cannot see it.

mod layout;
mod legend;
mod palette;
mod plot;
mod symbol;
mod text;

pub use palette::{Palette, Theme};
pub use text::width as text_width;

use super::{Axis, Chart, Tick};
use crate::hostile::escaped;
use layout::{FAINT_SIZE, Layout, MARGIN, Panel, STRIP_TICKS_MAX, TITLE_SIZE, TITLE_Y};
use plot::Plot;
use std::fmt::{Display, Write};
use text::{FONT_FAMILY, fitting};

/// For what a picture is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// 1000 pixels across.
    #[default]
    Forum,
    /// A column of a paper, 85 mm across, with letters of 6 points.
    Paper,
}

impl Size {
    /// Width and height in pixels, the height without charts below.
    fn pixels(self) -> (f64, f64) {
        match self {
            Size::Forum => (1000.0, 560.0),
            Size::Paper => (560.0, 400.0),
        }
    }

    /// Pixels of a PNG for each of CSS, of which 96 are an inch: a paper is printed with 300 or more.
    pub fn pixels_for_each(self) -> f32 {
        match self {
            Size::Forum => 1.0,
            Size::Paper => 4.0,
        }
    }

    /// Width and height as they stand in the picture.
    fn extent(self, width: f64, height: f64) -> (String, String) {
        match self {
            Size::Forum => (format!("{width:.0}"), format!("{height:.0}")),
            Size::Paper => ("85mm".into(), format!("{:.1}mm", 85.0 * height / width)),
        }
    }
}

/// The picture for a forum. All text in it is escaped.
pub fn document(chart: &Chart, theme: Theme) -> String {
    sized(chart, theme, Size::Forum)
}

/// The picture. All text in it is escaped.
pub fn sized(chart: &Chart, theme: Theme, size: Size) -> String {
    let mut canvas = Canvas { markup: String::new(), palette: theme.palette() };
    // A page says in words of its own what was recorded meanwhile.
    let meanwhile = if theme == Theme::Page { &[] } else { chart.meanwhile.as_slice() };
    let (legend, layout) = arranged(chart, meanwhile, size);
    head(&mut canvas, chart, &layout, size);
    titles(&mut canvas, chart, &layout);
    legend.draw(&mut canvas);
    value_axis(&mut canvas, &chart.y.name(), &layout::main_ticks(chart), layout.main);
    axis_across(&mut canvas, chart, &layout);
    Plot { x: &chart.x, y: &chart.y, panel: layout.main }.draw(&mut canvas, &chart.series, &chart.marks);
    if let (Some(beside), Some(place)) = (&chart.beside, layout.beside) {
        plot::beside(&mut canvas, chart, beside, &layout, place);
    }
    for (strip, panel) in chart.strips.iter().zip(&layout.strips) {
        let unit = if strip.y.unit.is_empty() { String::new() } else { format!(", {}", strip.y.unit) };
        value_axis(&mut canvas, &format!("{}{unit}", strip.name), &strip.y.ticks(STRIP_TICKS_MAX), *panel);
        let plot = Plot { x: &chart.x, y: &strip.y, panel: *panel };
        plot.draw_coloured(&mut canvas, &strip.series, &strip.marks, |series| chart.index_of_run(series.run));
    }
    for (y, line) in &layout.meanwhile {
        canvas.text(MARGIN, *y, FAINT_SIZE, canvas.palette.faint_text, Anchor::Start, line);
    }
    canvas.put(format_args!("</svg>\n"));
    canvas.markup
}

/// The legend and where everything is. Whether intervals can be seen depends on how high the plot is, and that on the legend, which
/// explains them only if they can.
fn arranged(chart: &Chart, meanwhile: &[String], size: Size) -> (legend::Legend, Layout) {
    let with = |has_intervals: bool| {
        let legend = legend::Legend::of(chart, size.pixels().0, has_intervals);
        let layout = Layout::of(chart, legend.rows(), meanwhile, size);
        (legend, layout)
    };
    let explained = with(true);
    let plot = Plot { x: &chart.x, y: &chart.y, panel: explained.1.main };
    if plot.shows_intervals(&chart.series) { explained } else { with(false) }
}

/// What is being drawn.
struct Canvas {
    markup: String,
    palette: &'static Palette,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    fn put(&mut self, markup: impl Display) {
        // Text in memory cannot fail to be written.
        let _ = writeln!(self.markup, "{markup}");
    }

    fn text(&mut self, x: f64, y: f64, size: f64, colour: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.put(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" fill="{colour}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.put(format_args!(
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{colour}"/>"#
        ));
    }
}

fn head(canvas: &mut Canvas, chart: &Chart, layout: &Layout, size: Size) {
    let name = escaped(chart.name);
    let (width, height) = (layout.width, layout.height);
    let (across, down) = size.extent(width, height);
    canvas.put(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-title {name}-description" font-family="{FONT_FAMILY}">"#
    ));
    let title = escaped(&format!("{}: {}", chart.title, chart.subject));
    canvas.put(format_args!(r#"<title id="{name}-title">{title}</title>"#));
    canvas.put(format_args!(r#"<desc id="{name}-description">{}</desc>"#, escaped(&chart.description)));
    let ground = canvas.palette.ground;
    canvas.put(format_args!(r#"<rect width="{width}" height="{height}" fill="{ground}"/>"#));
}

fn titles(canvas: &mut Canvas, chart: &Chart, layout: &Layout) {
    let width_max = layout.width - 2.0 * MARGIN;
    let palette = canvas.palette;
    let title = fitting(&chart.title, TITLE_SIZE, width_max);
    canvas.text(MARGIN, TITLE_Y, TITLE_SIZE, palette.text, Anchor::Start, &title);
    let subject_x = MARGIN + text::width(&title, TITLE_SIZE) + 14.0;
    let room = layout.width - MARGIN - subject_x;
    // A few letters of a name tell nothing.
    if room >= SUBJECT_WIDTH_MIN {
        let subject = fitting(&chart.subject, FAINT_SIZE, room);
        canvas.text(subject_x, TITLE_Y, FAINT_SIZE, palette.faint_text, Anchor::Start, &subject);
    }
}

const SUBJECT_WIDTH_MIN: f64 = 80.0;

/// Grid, ticks, numbers and name of an axis up.
fn value_axis(canvas: &mut Canvas, name: &str, ticks: &[Tick], panel: Panel) {
    let palette = canvas.palette;
    canvas.line((panel.left, panel.bottom), (panel.right, panel.bottom), palette.axis);
    for tick in ticks {
        let y = panel.y(tick.share);
        if tick.share > 0.0 {
            canvas.line((panel.left, y), (panel.right, y), palette.grid);
        }
        let (x, y) = (panel.left - 8.0, y + FAINT_SIZE * 0.36);
        canvas.text(x, y, FAINT_SIZE, palette.faint_text, Anchor::End, &tick.label);
    }
    canvas.text(MARGIN, panel.top - 12.0, FAINT_SIZE, palette.faint_text, Anchor::Start, name);
}

/// Ticks, numbers and name of the axis across, and small print.
fn axis_across(canvas: &mut Canvas, chart: &Chart, layout: &Layout) {
    let palette = canvas.palette;
    let lowest = layout.lowest();
    for (tick, x) in layout.ticks_across(&chart.x) {
        canvas.line((x, lowest.bottom), (x, lowest.bottom + 5.0), palette.axis);
        canvas.text(x, lowest.bottom + 20.0, FAINT_SIZE, palette.faint_text, Anchor::Middle, &tick.label);
    }
    let middle = (lowest.left + lowest.right) / 2.0;
    let below = lowest.bottom + 42.0;
    let name = axis_name(&chart.x, 2.0 * (middle - MARGIN));
    canvas.text(middle, below, FAINT_SIZE, palette.faint_text, Anchor::Middle, &name);
    let edge = layout.width - MARGIN;
    let room = edge - middle - text::width(&name, FAINT_SIZE) / 2.0 - 16.0;
    let source = fitting(&chart.source, FAINT_SIZE - 2.0, room);
    canvas.text(edge, below, FAINT_SIZE - 2.0, palette.faint_text, Anchor::End, &source);
}

fn axis_name(axis: &Axis, width_max: f64) -> String {
    fitting(&axis.name(), FAINT_SIZE, width_max)
}
