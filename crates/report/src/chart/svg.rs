//! A chart as an SVG picture of 1000 × 560 pixels: readable in a forum, printable, and with a title and description for
//! those who cannot see it.

mod layout;
mod legend;
mod palette;
mod plot;
mod symbol;
mod text;

pub use palette::{Palette, Theme};
pub use text::width as text_width;

use super::{Axis, Chart};
use layout::{FAINT_SIZE, HEIGHT, Layout, MARGIN, TITLE_SIZE, TITLE_Y, WIDTH};
use std::fmt::{Display, Write};
use text::{FONT_FAMILY, escaped, fitting};

/// The picture. All text in it is escaped.
pub fn document(chart: &Chart, theme: Theme) -> String {
    let mut canvas = Canvas { markup: String::new(), palette: theme.palette() };
    let legend = legend::Legend::of(chart);
    let layout = Layout::of(chart, legend.rows());
    head(&mut canvas, chart);
    titles(&mut canvas, chart);
    legend.draw(&mut canvas);
    axes(&mut canvas, chart, &layout);
    plot::draw(&mut canvas, chart, &layout);
    canvas.put(format_args!("</svg>\n"));
    canvas.markup
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

fn head(canvas: &mut Canvas, chart: &Chart) {
    let name = escaped(chart.name);
    canvas.put(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}-title {name}-description" font-family="{FONT_FAMILY}">"#
    ));
    let title = escaped(&format!("{}: {}", chart.title, chart.subject));
    canvas.put(format_args!(r#"<title id="{name}-title">{title}</title>"#));
    canvas.put(format_args!(r#"<desc id="{name}-description">{}</desc>"#, escaped(&chart.description)));
    let ground = canvas.palette.ground;
    canvas.put(format_args!(r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="{ground}"/>"#));
}

fn titles(canvas: &mut Canvas, chart: &Chart) {
    let width_max = WIDTH - 2.0 * MARGIN;
    let palette = canvas.palette;
    let title = fitting(&chart.title, TITLE_SIZE, width_max);
    canvas.text(MARGIN, TITLE_Y, TITLE_SIZE, palette.text, Anchor::Start, &title);
    let subject_x = MARGIN + text::width(&title, TITLE_SIZE) + 14.0;
    let subject = fitting(&chart.subject, FAINT_SIZE, WIDTH - MARGIN - subject_x);
    canvas.text(subject_x, TITLE_Y, FAINT_SIZE, palette.faint_text, Anchor::Start, &subject);
}

/// Grid, ticks, numbers, names of the axes and small print.
fn axes(canvas: &mut Canvas, chart: &Chart, layout: &Layout) {
    let palette = canvas.palette;
    for tick in chart.y.even_ticks() {
        let y = layout.y(tick.share);
        canvas.line(
            (layout.left, y),
            (layout.right, y),
            if tick.share == 0.0 { palette.axis } else { palette.grid },
        );
        canvas.text(
            layout.left - 8.0,
            y + FAINT_SIZE * 0.36,
            FAINT_SIZE,
            palette.faint_text,
            Anchor::End,
            &tick.label,
        );
    }
    for (tick, x) in layout.position_ticks(&chart.x) {
        canvas.line((x, layout.bottom), (x, layout.bottom + 5.0), palette.axis);
        canvas.text(x, layout.bottom + 20.0, FAINT_SIZE, palette.faint_text, Anchor::Middle, &tick.label);
    }
    let name = |axis: &Axis| format!("{}, {}", axis.label, axis.unit);
    canvas.text(MARGIN, layout.top - 12.0, FAINT_SIZE, palette.faint_text, Anchor::Start, &name(&chart.y));
    let middle = (layout.left + layout.right) / 2.0;
    let below = layout.bottom + 42.0;
    canvas.text(middle, below, FAINT_SIZE, palette.faint_text, Anchor::Middle, &name(&chart.x));
    let source = fitting(&chart.source, FAINT_SIZE - 2.0, middle - MARGIN - 80.0);
    canvas.text(layout.right, below, FAINT_SIZE - 2.0, palette.faint_text, Anchor::End, &source);
}
