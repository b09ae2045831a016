//! What is inside the axes: bands, measurements, levels and marks.

use super::super::{Band, Chart, Layer, Place, Series, Stretch, reduction};
use super::Canvas;
use super::layout::Layout;
use super::symbol::{RADIUS, symbol};
use std::fmt::Write;

/// More measurements of one series than this hide each other: then each column of pixels shows from where to where they go.
const SINGLE_MAX: usize = 3000;
/// A measurement that is wider than this many pixels is a stroke.
const STROKE_PIXELS_MIN: f64 = 2.0 * RADIUS;
/// Fewer are drawn larger.
const SPARSE_MAX: usize = 80;
const SPARSE_RADIUS: f64 = 3.8;
/// From here on signs let through what is behind them.
const CROWDED_MIN: usize = 150;
/// A region is seen when it is as wide as this many pixels.
const REGION_PIXELS_MIN: f64 = 3.0;

pub(super) fn draw(canvas: &mut Canvas, chart: &Chart, layout: &Layout) {
    for mark in &chart.marks {
        if let Place::Over { first, end } = mark.place {
            region(canvas, chart, layout, (first, end));
        }
    }
    for (index, series) in chart.series.iter().enumerate() {
        let drawing = Drawing {
            chart,
            layout,
            index,
            colour: canvas.palette.series[index % canvas.palette.series.len()],
        };
        drawing.draw(canvas, series);
    }
    let palette = canvas.palette;
    for mark in &chart.marks {
        let (from, to, dash) = match mark.place {
            Place::At(at) => {
                let x = layout.x(chart.x.share(at));
                ((x, layout.top), (x, layout.bottom), "4 3")
            }
            Place::Value(value) => {
                let y = layout.y(chart.y.share(value));
                ((layout.left, y), (layout.right, y), "8 4")
            }
            Place::Over { .. } => continue,
        };
        canvas.put(format_args!(
            r#"<line class="mark" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{}" stroke-width="1.5" stroke-dasharray="{dash}"/>"#,
            from.0, from.1, to.0, to.1, palette.mark
        ));
    }
}

fn region(canvas: &mut Canvas, chart: &Chart, layout: &Layout, (first, end): (f64, f64)) {
    let (left, right) = (layout.x(chart.x.share(first)), layout.x(chart.x.share(end)));
    let width = (right - left).max(REGION_PIXELS_MIN);
    let left = left.min(layout.right - width);
    let colour = canvas.palette.region;
    canvas.put(format_args!(
        r#"<rect class="region" x="{left:.1}" y="{:.1}" width="{width:.1}" height="{:.1}" fill="{colour}" fill-opacity="0.25"/>"#,
        layout.top,
        layout.bottom - layout.top,
    ));
}

/// The path of signs.
pub(super) fn symbols(index: usize, colour: &str, path: &str, opacity: f64) -> String {
    if symbol(index).is_filled() {
        format!(r#"<path class="symbols" d="{path}" fill="{colour}" fill-opacity="{opacity}"/>"#)
    } else {
        format!(
            r#"<path class="symbols" d="{path}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-opacity="{opacity}"/>"#
        )
    }
}

/// One series on its way into the picture.
struct Drawing<'chart> {
    chart: &'chart Chart,
    layout: &'chart Layout,
    index: usize,
    colour: &'static str,
}

impl Drawing<'_> {
    fn draw(&self, canvas: &mut Canvas, series: &Series) {
        let group = format!(r#"<g class="series" data-series="{}">"#, self.index);
        canvas.put(group);
        for layer in &series.layers {
            match layer {
                Layer::Measured(stretches) if stretches.len() > SINGLE_MAX => {
                    self.envelope(canvas, stretches)
                }
                Layer::Measured(stretches) => self.measured(canvas, stretches),
                Layer::Levels(levels) => self.levels(canvas, levels),
                Layer::Bands(bands) => bands.iter().for_each(|band| self.band(canvas, band)),
            }
        }
        canvas.put("</g>");
    }

    fn x(&self, position: f64) -> f64 {
        self.layout.x(self.chart.x.share(position))
    }

    fn y(&self, value: f64) -> f64 {
        self.layout.y(self.chart.y.share(value))
    }

    /// Each measurement as what it is: a stroke if it is that long, else a sign.
    fn measured(&self, canvas: &mut Canvas, stretches: &[Stretch]) {
        let radius = if stretches.len() <= SPARSE_MAX { SPARSE_RADIUS } else { RADIUS };
        let (mut strokes, mut signs) = (String::new(), String::new());
        for stretch in stretches.iter().filter(|stretch| stretch.value.is_finite()) {
            let (left, right, y) = (self.x(stretch.first), self.x(stretch.end), self.y(stretch.value));
            if right - left >= STROKE_PIXELS_MIN {
                // Text in memory cannot fail to be written.
                let _ = write!(strokes, "M{left:.1} {y:.1}H{right:.1}");
            } else {
                let at = ((left + right) / 2.0).clamp(self.layout.left, self.layout.right);
                symbol(self.index).draw(&mut signs, at, y, radius);
            }
        }
        if !strokes.is_empty() {
            self.path(canvas, "strokes", &strokes, 3.0, "none");
        }
        if !signs.is_empty() {
            let opacity = if stretches.len() >= CROWDED_MIN { 0.55 } else { 0.9 };
            canvas.put(symbols(self.index, self.colour, &signs, opacity));
        }
    }

    /// From the lowest to the highest of each column of pixels.
    fn envelope(&self, canvas: &mut Canvas, stretches: &[Stretch]) {
        let count = (self.layout.right - self.layout.left) as usize;
        let mut path = String::new();
        for column in reduction::columns(stretches.iter(), &self.chart.x, count) {
            let x = self.layout.left + column.index as f64 + 0.5;
            // A column whose values are alike is still seen.
            let (low, high) = (self.y(column.low) + 0.5, self.y(column.high) - 0.5);
            let _ = write!(path, "M{x:.1} {low:.1}V{high:.1}");
        }
        canvas.put(format_args!(
            r#"<path class="envelope" d="{path}" fill="none" stroke="{}" stroke-width="1.2" stroke-opacity="0.75"/>"#,
            self.colour
        ));
    }

    /// One line through all levels, broken where they do not touch.
    fn levels(&self, canvas: &mut Canvas, levels: &[Stretch]) {
        let mut path = String::new();
        let mut reached = None;
        for level in levels {
            let (left, right, y) = (self.x(level.first), self.x(level.end), self.y(level.value));
            let _ = match reached {
                Some(end) if end == level.first => write!(path, "V{y:.1}H{right:.1}"),
                _ => write!(path, "M{left:.1} {y:.1}H{right:.1}"),
            };
            reached = Some(level.end);
        }
        // A rim in the colour of the ground keeps the line apart from the signs that it crosses.
        let ground = canvas.palette.ground;
        canvas.put(format_args!(
            r#"<path d="{path}" fill="none" stroke="{ground}" stroke-width="3.4" stroke-opacity="0.7"/>"#
        ));
        self.path(canvas, "levels", &path, 2.0, symbol(self.index).dash);
    }

    fn band(&self, canvas: &mut Canvas, band: &Band) {
        let (left, right) = (self.x(band.first), self.x(band.end));
        let (top, bottom) = (self.y(band.high), self.y(band.low));
        canvas.put(format_args!(
            r#"<rect class="band" x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}" fill="{}" fill-opacity="0.22"/>"#,
            (right - left).max(0.0),
            (bottom - top).max(0.0),
            self.colour
        ));
    }

    fn path(&self, canvas: &mut Canvas, class: &str, path: &str, width: f64, dash: &str) {
        canvas.put(format_args!(
            r#"<path class="{class}" d="{path}" fill="none" stroke="{}" stroke-width="{width}" stroke-dasharray="{dash}"/>"#,
            self.colour
        ));
    }
}
