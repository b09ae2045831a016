//! What is inside the axes: bands, measurements, levels and marks.

use super::super::drawing::{Ink, Pen, RULES, symbol};
use super::super::layout::{Panel, Sheet};
use super::super::text::fitting;
use super::super::{Axis, Band, Beside, Chart, Layer, Mark, Place, Point, Series, Stretch, Strip, reduction};
use super::canvas::{Anchor, Canvas, px};
use maud::{PreEscaped, html};
use std::fmt::Write;

pub(super) struct Plot<'chart> {
    pub x: &'chart Axis,
    pub y: &'chart Axis,
    pub panel: Panel,
}

impl Plot<'_> {
    pub(super) fn draw(&self, canvas: &mut Canvas, series: &[Series], marks: &[Mark]) {
        let frame = Pen { width: 0.0, fill: 0.0, ..RULES.pens.band };
        canvas.rect("panel", None, self.panel, frame, Ink::Ground);
        for mark in marks {
            if let Place::Over { first, end } | Place::Pause { first, end } = mark.place {
                self.region(canvas, mark, (first, end));
            }
        }
        for (index, one) in series.iter().enumerate() {
            self.series(canvas, one, index, series.len() > 1);
        }
        for mark in marks {
            self.mark(canvas, mark, mark.series.and_then(|index| series.get(index)));
        }
    }

    pub(super) fn draw_strip(&self, canvas: &mut Canvas, chart: &Chart, strip: &Strip) {
        self.draw(canvas, &[], &strip.marks);
        for series in &strip.series {
            self.series(canvas, series, chart.index_of_run(series.run), false);
        }
    }

    pub(super) fn shows_intervals(&self, series: &[Series]) -> bool {
        for layer in series.iter().flat_map(|series| &series.layers) {
            if let Layer::Line(points) = layer {
                let places = self.places(points);
                if is_sparse(&places) && !self.whiskers(&places).is_empty() {
                    return true;
                }
            }
        }
        false
    }

    fn series(&self, canvas: &mut Canvas, series: &Series, index: usize, has_company: bool) {
        let mut group = Canvas::new(canvas.theme);
        let ink = Ink::Series(index);
        for layer in &series.layers {
            match layer {
                Layer::Measured(stretches) if stretches.len() > RULES.single_max => {
                    group.path("envelope", &self.envelope(stretches), RULES.pens.envelope, ink);
                }
                Layer::Measured(stretches) => self.measured(&mut group, stretches, index),
                Layer::Levels(levels) => {
                    let path = self.levels(levels);
                    group.path("rim", &path, RULES.pens.rim, Ink::Ground);
                    group.path("levels", &path, RULES.pens.line.dashed(symbol(index).dash), ink);
                }
                Layer::Bands(bands) => {
                    for band in bands {
                        group.rect("band", None, self.band(band), RULES.pens.band, ink);
                    }
                }
                Layer::Line(points) => self.line(&mut group, points, index, has_company),
                Layer::Trend(points) => {
                    let pen = RULES.pens.line.dashed(symbol(index).dash);
                    group.path("line", &polyline(&self.places(points)), pen, ink);
                }
            }
        }
        canvas.put(html! { g class="series" data-series=(index) { "\n" (PreEscaped(group.markup)) } });
    }

    fn across(&self, at: f64) -> f64 {
        self.panel.x(self.x.share(at))
    }

    fn up(&self, value: f64) -> f64 {
        self.panel.y(self.y.share(value))
    }

    /// A line at a value ends where the series does that it is of: it says nothing of what lies beyond.
    fn mark(&self, canvas: &mut Canvas, mark: &Mark, of: Option<&Series>) {
        let panel = &self.panel;
        let (from, to, pen) = match mark.place {
            Place::At(at) => {
                let x = self.across(at);
                ((x, panel.top), (x, panel.bottom), RULES.pens.border)
            }
            Place::Value(value) => {
                let y = self.up(value);
                ((panel.left, y), (self.across(of.map_or(f64::INFINITY, Series::end)), y), RULES.pens.limit)
            }
            Place::Point { at, value } => {
                let ring = ring(self.across(at), self.up(value), RULES.ring);
                return canvas.path("point", &ring, RULES.pens.ring, mark.ink());
            }
            Place::Over { .. } | Place::Pause { .. } => return,
        };
        let paint = canvas.paint(pen, mark.ink());
        canvas.put(html! {
            line class="mark" data-finding=[mark.finding_name()] x1=(px(from.0)) y1=(px(from.1)) x2=(px(to.0)) y2=(px(to.1))
                stroke=[paint.stroke] stroke-width=[paint.width] stroke-dasharray=[paint.dash] {}
        });
    }

    fn region(&self, canvas: &mut Canvas, mark: &Mark, (first, end): (f64, f64)) {
        let width = (self.across(end) - self.across(first)).max(RULES.region_min);
        let left = self.across(first).min(self.panel.right - width);
        let place = Panel { left, right: left + width, ..self.panel };
        canvas.rect("region", mark.finding_name(), place, RULES.pens.region, mark.ink());
    }

    fn measured(&self, canvas: &mut Canvas, stretches: &[Stretch], index: usize) {
        let symbol = symbol(index);
        let shape = if stretches.len() <= RULES.sparse_max { symbol.large } else { symbol.small };
        let (mut strokes, mut symbols) = (String::new(), String::new());
        for stretch in stretches {
            if !stretch.value.is_finite() {
                continue;
            }
            let (left, right, y) =
                (self.across(stretch.first), self.across(stretch.end), self.up(stretch.value));
            // Text in memory cannot fail to be written.
            let _ = if right - left >= RULES.stroke_min {
                write!(strokes, "M{left:.1} {y:.1}H{right:.1}")
            } else {
                let at = ((left + right) / 2.0).clamp(self.panel.left, self.panel.right);
                write!(symbols, "M{at:.1} {y:.1}{shape}")
            };
        }
        let is_crowded = stretches.len() >= RULES.crowded_min;
        let pen = if is_crowded { RULES.pens.crowded_symbol } else { RULES.pens.symbol };
        canvas.path("strokes", &strokes, RULES.pens.stroke, Ink::Series(index));
        canvas.path("symbols", &symbols, symbol.pen(pen), Ink::Series(index));
    }

    /// Points, their intervals, and the line through them. Where points are close, a few of them have the symbol of the series.
    fn line(&self, canvas: &mut Canvas, points: &[Point], index: usize, has_company: bool) {
        let places = self.places(points);
        let (symbol, ink) = (symbol(index), Ink::Series(index));
        let is_sparse = is_sparse(&places);
        let every = if is_sparse { 1 } else { (places.len() / RULES.dense_symbols).max(2) };
        let mut symbols = String::new();
        if is_sparse || has_company {
            for (x, y, _) in places.iter().skip(every / 2).step_by(every) {
                let _ = write!(symbols, "M{x:.1} {y:.1}{}", symbol.large);
            }
        }
        let pen = if is_sparse { RULES.pens.line.dashed(symbol.dash) } else { RULES.pens.dense_line };
        canvas.path("line", &polyline(&places), pen, ink);
        if is_sparse {
            canvas.path("intervals", &self.whiskers(&places), RULES.pens.interval, ink);
        }
        canvas.path("symbols", &symbols, symbol.pen(RULES.pens.symbol), ink);
    }

    fn places<'points>(&self, points: &'points [Point]) -> Vec<Placed<'points>> {
        let mut places = Vec::new();
        for point in points {
            if point.value.is_finite() {
                places.push((self.across(point.at), self.up(point.value), point));
            }
        }
        places
    }

    fn whiskers(&self, places: &[Placed<'_>]) -> String {
        let mut whiskers = String::new();
        for (x, _, point) in places {
            let Some((low, high)) = point.interval else { continue };
            let (top, bottom) = (self.up(high), self.up(low));
            if bottom - top >= RULES.interval_min {
                whiskers += &whisker(*x, (top, high <= self.y.end), (bottom, low >= self.y.start));
            }
        }
        whiskers
    }

    fn envelope(&self, stretches: &[Stretch]) -> String {
        let count = (self.panel.right - self.panel.left) as usize;
        let mut path = String::new();
        for column in reduction::columns(stretches.iter(), self.x, count) {
            let x = self.panel.left + column.index as f64 + 0.5;
            let (low, high) = (self.up(column.low) + 0.5, self.up(column.high) - 0.5);
            let _ = write!(path, "M{x:.1} {low:.1}V{high:.1}");
        }
        path
    }

    /// One line through all levels, broken where they do not touch.
    fn levels(&self, levels: &[Stretch]) -> String {
        let mut path = String::new();
        let mut reached = None;
        for level in levels {
            let (left, right, y) = (self.across(level.first), self.across(level.end), self.up(level.value));
            let _ = match reached {
                Some(end) if end == level.first => write!(path, "V{y:.1}H{right:.1}"),
                _ => write!(path, "M{left:.1} {y:.1}H{right:.1}"),
            };
            reached = Some(level.end);
        }
        path
    }

    fn band(&self, band: &Band) -> Panel {
        Panel {
            left: self.across(band.first),
            right: self.across(band.end),
            top: self.up(band.high),
            bottom: self.up(band.low),
        }
    }

    pub(super) fn beside(
        &self,
        canvas: &mut Canvas,
        beside: &Beside,
        sheet: &Sheet,
        (left, right): (f64, f64),
    ) {
        let panel = self.panel;
        canvas.line((left, panel.top), (left, panel.bottom), Ink::Axis);
        let name = fitting(&beside.label, sheet.text_size, right - left);
        canvas.text((right, panel.top - RULES.name_above), sheet.text_size, Ink::Faint, Anchor::End, &name);
        let most = beside.longest();
        if most <= 0.0 {
            return;
        }
        for (index, bars) in beside.bars.iter().enumerate() {
            let bottom = bars.first().map_or(panel.bottom, |bar| self.up(bar.low));
            let mut path = format!("M{left:.1} {bottom:.1}");
            for bar in bars {
                let x = left + bar.share / most * (right - left);
                let _ = write!(path, "H{x:.1}V{:.1}", self.up(bar.high));
            }
            canvas.path("beside", &format!("{path}H{left:.1}"), RULES.pens.beside, Ink::Series(index));
        }
    }
}

type Placed<'point> = (f64, f64, &'point Point);

/// Whether there is room for a symbol at each point of a line.
fn is_sparse(places: &[Placed<'_>]) -> bool {
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return false };
    places.len() == 1 || (last.0 - first.0) / (places.len() - 1) as f64 >= RULES.spacing_min
}

fn polyline(places: &[Placed<'_>]) -> String {
    let mut path = String::new();
    for (x, y, _) in places {
        let letter = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{x:.1} {y:.1}");
    }
    path
}

pub(super) fn ring(x: f64, y: f64, radius: f64) -> String {
    let d = 2.0 * radius;
    format!("M{:.1} {y:.1}a{radius} {radius} 0 1 0 {d} 0a{radius} {radius} 0 1 0 -{d} 0z", x - radius)
}

/// The line of an interval from top to bottom, each with whether the interval ends there or goes on beyond the picture.
pub(super) fn whisker(x: f64, top: (f64, bool), bottom: (f64, bool)) -> String {
    let (left, width) = (x - RULES.whisker, 2.0 * RULES.whisker);
    let mut path = format!("M{x:.1} {:.1}V{:.1}", top.0, bottom.0);
    for (y, is_end) in [top, bottom] {
        if is_end {
            let _ = write!(path, "M{left:.1} {y:.1}h{width}");
        }
    }
    path
}
