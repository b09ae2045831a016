//! What is inside the axes: bands, measurements, levels and marks.

use super::super::{Axis, Band, Beside, Chart, Layer, Mark, Place, Point, Series, Stretch, reduction};
use super::layout::{FAINT_SIZE, Layout, Panel};
use super::symbol::{RADIUS, symbol};
use super::{Anchor, Canvas};
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

/// Points of a line that are closer than this many pixels have no sign each.
const SPACING_MIN: f64 = 9.0;
/// But about so many of them, where there are other series to be told from.
const DENSE_SIGNS: usize = 5;
/// Half the width of the end of an interval's line.
const WHISKER: f64 = 4.0;
/// An interval that is lower than this is hidden by its sign.
const INTERVAL_PIXELS_MIN: f64 = 3.0;
/// The radius of the ring around a point that is pointed at.
const RING: f64 = 8.0;

/// A chart's axes and place.
pub(super) struct Plot<'chart> {
    pub x: &'chart Axis,
    pub y: &'chart Axis,
    pub panel: Panel,
}

impl Plot<'_> {
    /// Each series in the colour of its number.
    pub(super) fn draw(&self, canvas: &mut Canvas, series: &[Series], marks: &[Mark]) {
        let panel = &self.panel;
        canvas.put(format_args!(
            r#"<rect class="panel" x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" fill="none"/>"#,
            panel.left,
            panel.top,
            panel.right - panel.left,
            panel.bottom - panel.top
        ));
        for mark in marks {
            match mark.place {
                Place::Over { first, end } => {
                    let colour = canvas.palette.of_mark(mark.series, canvas.palette.region);
                    self.region(canvas, mark, (first, end), colour)
                }
                Place::Pause { first, end } => self.region(canvas, mark, (first, end), canvas.palette.axis),
                _ => {}
            }
        }
        let has_company = series.len() > 1;
        for (index, series) in series.iter().enumerate() {
            self.series(canvas, series, index, has_company);
        }
        for mark in marks {
            let end = mark.series.and_then(|index| series.get(index)).map_or(f64::INFINITY, Series::end);
            self.mark(canvas, mark, end);
        }
    }

    /// Each series in the colour of the number that it is given.
    pub(super) fn draw_coloured(
        &self,
        canvas: &mut Canvas,
        series: &[Series],
        marks: &[Mark],
        index_of: impl Fn(&Series) -> usize,
    ) {
        self.draw(canvas, &[], marks);
        for series in series {
            self.series(canvas, series, index_of(series), false);
        }
    }

    /// Whether the interval of any point of these series is high enough to be seen.
    pub(super) fn shows_intervals(&self, series: &[Series]) -> bool {
        series.iter().enumerate().any(|(index, series)| {
            let drawing = Drawing { plot: self, index, colour: "", has_company: false };
            series.layers.iter().any(|layer| match layer {
                Layer::Line(points) => !drawing.whiskers(&drawing.places(points)).is_empty(),
                _ => false,
            })
        })
    }

    fn series(&self, canvas: &mut Canvas, series: &Series, index: usize, has_company: bool) {
        let colour = canvas.palette.series[index % canvas.palette.series.len()];
        Drawing { plot: self, index, colour, has_company }.draw(canvas, series);
    }

    fn at(&self, at: f64, value: f64) -> (f64, f64) {
        (self.panel.x(self.x.share(at)), self.panel.y(self.y.share(value)))
    }

    /// `end` is where the series ends that the mark is of: a line at a value says nothing of what lies beyond.
    fn mark(&self, canvas: &mut Canvas, mark: &Mark, end: f64) {
        let panel = &self.panel;
        let colour = canvas.palette.of_mark(mark.series, canvas.palette.mark);
        let (from, to, dash) = match mark.place {
            Place::At(at) => {
                let x = panel.x(self.x.share(at));
                ((x, panel.top), (x, panel.bottom), "4 3")
            }
            Place::Value(value) => {
                let y = panel.y(self.y.share(value));
                ((panel.left, y), (panel.x(self.x.share(end)), y), "8 4")
            }
            Place::Point { at, value } => {
                // It lies on the line that it is of, and would not be seen in its colour.
                let (x, y) = self.at(at, value);
                return canvas.put(ring(x, y, canvas.palette.mark));
            }
            Place::Over { .. } | Place::Pause { .. } => return,
        };
        let finding = finding(mark);
        canvas.put(format_args!(
            r#"<line class="mark"{finding} x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dash}"/>"#,
            from.0, from.1, to.0, to.1
        ));
    }

    fn region(&self, canvas: &mut Canvas, mark: &Mark, (first, end): (f64, f64), colour: &str) {
        let panel = &self.panel;
        let (left, right) = (panel.x(self.x.share(first)), panel.x(self.x.share(end)));
        let width = (right - left).max(REGION_PIXELS_MIN);
        let left = left.min(panel.right - width);
        let finding = finding(mark);
        canvas.put(format_args!(
            r#"<rect class="region"{finding} x="{left:.1}" y="{:.1}" width="{width:.1}" height="{:.1}" fill="{colour}" fill-opacity="0.25"/>"#,
            panel.top,
            panel.bottom - panel.top,
        ));
    }
}

/// Whether there is room for a sign at each point of a line.
fn is_sparse(places: &[(f64, f64, &Point)]) -> bool {
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return false };
    places.len() == 1 || (last.0 - first.0) / (places.len() - 1) as f64 >= SPACING_MIN
}

/// The attribute that says which conclusion a mark shows.
fn finding(mark: &Mark) -> String {
    mark.finding.map_or(String::new(), |code| format!(r#" data-finding="{}""#, code.name()))
}

/// A ring around a point that is pointed at.
pub(super) fn ring(x: f64, y: f64, colour: &str) -> String {
    format!(
        r#"<path class="point" d="M{:.1} {y:.1}a{RING} {RING} 0 1 0 {d} 0a{RING} {RING} 0 1 0 -{d} 0z" fill="none" stroke="{colour}" stroke-width="2"/>"#,
        x - RING,
        d = 2.0 * RING
    )
}

/// The line of an interval from top to bottom, each with whether the interval ends there: where it goes on beyond the picture there is no end
/// to be seen.
pub(super) fn whisker(x: f64, (top, ends_above): (f64, bool), (bottom, ends_below): (f64, bool)) -> String {
    let (left, width) = (x - WHISKER, 2.0 * WHISKER);
    let end =
        |y: f64, is_end: bool| if is_end { format!("M{left:.1} {y:.1}h{width}") } else { String::new() };
    format!("{}M{x:.1} {top:.1}V{bottom:.1}{}", end(top, ends_above), end(bottom, ends_below))
}

/// How often each value occurs, as steps beside the plot.
pub(super) fn beside(
    canvas: &mut Canvas,
    chart: &Chart,
    beside: &Beside,
    layout: &Layout,
    (left, right): (f64, f64),
) {
    let panel = layout.main;
    let most = beside.bars.iter().flatten().map(|bar| bar.share).fold(0.0, f64::max);
    let palette = canvas.palette;
    canvas.line((left, panel.top), (left, panel.bottom), palette.axis);
    let name = super::fitting(&beside.label, FAINT_SIZE, right - left);
    canvas.text(right, panel.top - 12.0, FAINT_SIZE, palette.faint_text, Anchor::End, &name);
    if most <= 0.0 {
        return;
    }
    for (index, bars) in beside.bars.iter().enumerate() {
        let colour = palette.series[index % palette.series.len()];
        let mut path = format!(
            "M{left:.1} {:.1}",
            bars.first().map_or(panel.bottom, |bar| panel.y(chart.y.share(bar.low)))
        );
        for bar in bars {
            let x = left + bar.share / most * (right - left);
            // Text in memory cannot fail to be written.
            let _ = write!(path, "H{x:.1}V{:.1}", panel.y(chart.y.share(bar.high)));
        }
        canvas.put(format_args!(
            r#"<path class="beside" d="{path}H{left:.1}" fill="{colour}" fill-opacity="0.18" stroke="{colour}" stroke-width="1.5"/>"#
        ));
    }
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
    plot: &'chart Plot<'chart>,
    /// Whether there are other series in the same chart.
    has_company: bool,
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
                Layer::Line(points) => self.line(canvas, points),
                Layer::Trend(points) => self.trend(canvas, points),
            }
        }
        canvas.put("</g>");
    }

    fn x(&self, position: f64) -> f64 {
        self.plot.panel.x(self.plot.x.share(position))
    }

    fn y(&self, value: f64) -> f64 {
        self.plot.panel.y(self.plot.y.share(value))
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
                let at = ((left + right) / 2.0).clamp(self.plot.panel.left, self.plot.panel.right);
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

    /// Points, their intervals, and the line through them. Where points are close, a few of them have the sign of the series.
    fn line(&self, canvas: &mut Canvas, points: &[Point]) {
        let places = self.places(points);
        if places.is_empty() {
            return;
        }
        let is_sparse = is_sparse(&places);
        let intervals = self.whiskers(&places);
        let (mut line, mut signs) = (String::new(), String::new());
        let every = if is_sparse { 1 } else { (places.len() / DENSE_SIGNS).max(2) };
        for (index, (x, y, _)) in places.iter().enumerate() {
            let _ = write!(line, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
            let is_signed = is_sparse || (self.has_company && index % every == every / 2);
            if is_signed {
                symbol(self.index).draw(&mut signs, *x, *y, SPARSE_RADIUS);
            }
        }
        let (width, dash) = if is_sparse { (2.0, symbol(self.index).dash) } else { (1.4, "none") };
        self.path(canvas, "line", &line, width, dash);
        if !intervals.is_empty() {
            self.path(canvas, "intervals", &intervals, 1.2, "none");
        }
        if !signs.is_empty() {
            canvas.put(symbols(self.index, self.colour, &signs, 1.0));
        }
    }

    /// Where the points of a line are.
    fn places<'points>(&self, points: &'points [Point]) -> Vec<(f64, f64, &'points Point)> {
        let finite = points.iter().filter(|point| point.value.is_finite());
        finite.map(|point| (self.x(point.at), self.y(point.value), point)).collect()
    }

    /// The lines of the intervals that can be seen.
    fn whiskers(&self, places: &[(f64, f64, &Point)]) -> String {
        let whisker_of = |(x, _, point): &(f64, f64, &Point)| {
            let (low, high) = point.interval?;
            let (top, bottom) = (self.y(high), self.y(low));
            let whisker = whisker(*x, (top, high <= self.plot.y.end), (bottom, low >= self.plot.y.start));
            (bottom - top >= INTERVAL_PIXELS_MIN).then_some(whisker)
        };
        if is_sparse(places) { places.iter().filter_map(whisker_of).collect() } else { String::new() }
    }

    /// The line alone: a sign would be taken for a measurement.
    fn trend(&self, canvas: &mut Canvas, points: &[Point]) {
        let mut line = String::new();
        for (index, point) in points.iter().enumerate() {
            let letter = if index == 0 { 'M' } else { 'L' };
            let _ = write!(line, "{letter}{:.1} {:.1}", self.x(point.at), self.y(point.value));
        }
        self.path(canvas, "line", &line, 2.0, symbol(self.index).dash);
    }

    /// From the lowest to the highest of each column of pixels.
    fn envelope(&self, canvas: &mut Canvas, stretches: &[Stretch]) {
        let panel = &self.plot.panel;
        let count = (panel.right - panel.left) as usize;
        let mut path = String::new();
        for column in reduction::columns(stretches.iter(), self.plot.x, count) {
            let x = panel.left + column.index as f64 + 0.5;
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
