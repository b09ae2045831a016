//! Where things are in a picture, in pixels.

use super::super::{Axis, Chart, Tick};
use super::Size;
use super::text;

pub(super) const MARGIN: f64 = 24.0;
pub(super) const TITLE_SIZE: f64 = 20.0;
pub(super) const TITLE_Y: f64 = 38.0;
/// Of numbers, names and small print. Forums shrink pictures to about two thirds; this is then still read.
pub(super) const FAINT_SIZE: f64 = 14.0;
/// The baseline of the legend's first row.
pub(super) const LEGEND_Y: f64 = 66.0;
pub(super) const LEGEND_ROW: f64 = 22.0;
/// Between two labels of an axis at least.
const LABEL_GAP: f64 = 10.0;
/// Between a chart and the one below: its name and half a number.
const STRIP_GAP: f64 = 36.0;
/// The height of a narrow companion.
const COMPANION: f64 = 58.0;
/// The height of each of several equal charts.
const EQUAL: f64 = 92.0;
/// A picture with a long legend becomes higher, so that its plot is no lower than this.
const PLOT_MIN: f64 = 240.0;
/// Below the lowest chart: numbers and the name of the axis.
const FOOT: f64 = 62.0;
/// Between two lines of what was recorded meanwhile.
const MEANWHILE_ROW: f64 = 18.0;
/// What stands beside a chart, and the gap before it.
const BESIDE: f64 = 120.0;
const BESIDE_GAP: f64 = 16.0;

/// A chart's place.
#[derive(Clone, Copy)]
pub(super) struct Panel {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// Where everything is.
pub(super) struct Layout {
    pub width: f64,
    pub height: f64,
    pub main: Panel,
    pub strips: Vec<Panel>,
    /// From where to where what stands beside goes.
    pub beside: Option<(f64, f64)>,
    /// The lines of what was recorded meanwhile, with their baselines.
    pub meanwhile: Vec<(f64, String)>,
}

impl Layout {
    pub(super) fn of(chart: &Chart, legend_rows: usize, meanwhile: &[String], size: Size) -> Layout {
        let (width, height) = size.pixels();
        let strips = chart.strips.iter().flat_map(|strip| strip.y.ticks(STRIP_TICKS_MAX));
        let labels = main_ticks(chart).into_iter().chain(strips);
        let label_width = labels.map(|tick| text::width(&tick.label, FAINT_SIZE)).fold(0.0, f64::max);
        let left = MARGIN + label_width + 8.0;
        let edge = width - MARGIN;
        let beside = chart.beside.as_ref().map(|_| (edge - BESIDE, edge));
        let right = beside.map_or(edge, |(from, _)| from - BESIDE_GAP);
        let top = LEGEND_Y + LEGEND_ROW * legend_rows as f64 + 18.0;
        let are_equal = chart.strips.iter().any(|strip| strip.is_equal);
        let bottom = if are_equal { top + EQUAL } else { (height - FOOT).max(top + PLOT_MIN) };
        let mut reached = bottom;
        let strips = chart.strips.iter().map(|strip| {
            let top = reached + STRIP_GAP;
            reached = top + if strip.is_equal { EQUAL } else { COMPANION };
            Panel { left, right, top, bottom: reached }
        });
        let strips: Vec<Panel> = strips.collect();
        let foot = strips.last().map_or(bottom, |strip| strip.bottom) + FOOT;
        let lines = meanwhile.iter().flat_map(|text| text::wrapped(text, FAINT_SIZE, edge - MARGIN));
        let rows = (0u16..).zip(lines);
        let meanwhile: Vec<(f64, String)> =
            rows.map(|(row, line)| (foot + MEANWHILE_ROW * f64::from(row), line)).collect();
        let height = foot + MEANWHILE_ROW * meanwhile.len() as f64;
        Layout { width, height, main: Panel { left, right, top, bottom }, strips, beside, meanwhile }
    }

    /// The lowest chart, below which the numbers of the axis across stand.
    pub(super) fn lowest(&self) -> Panel {
        self.strips.last().copied().unwrap_or(self.main)
    }

    /// As many ticks as fit: their labels do not touch and do not leave the picture.
    pub(super) fn ticks_across(&self, axis: &Axis) -> Vec<(Tick, f64)> {
        let all = axis.fitting_ticks(TICKS_MAX, |ticks| self.apart(ticks).len() == ticks.len());
        self.apart(&all)
    }

    /// Those ticks whose labels do not touch the one before, with their places.
    fn apart(&self, ticks: &[Tick]) -> Vec<(Tick, f64)> {
        let mut taken = f64::NEG_INFINITY;
        let mut apart = Vec::new();
        for tick in ticks {
            let x = self.main.x(tick.share);
            let half = text::width(&tick.label, FAINT_SIZE) / 2.0;
            if x - half >= taken + LABEL_GAP && x + half <= self.width {
                taken = x + half;
                apart.push((tick.clone(), x));
            }
        }
        apart
    }
}

/// More ticks crowd an axis across.
const TICKS_MAX: usize = 10;

/// More ticks crowd a narrow chart.
pub(super) const STRIP_TICKS_MAX: usize = 3;

/// The ticks up of the chart itself.
pub(super) fn main_ticks(chart: &Chart) -> Vec<Tick> {
    let is_low = chart.strips.iter().any(|strip| strip.is_equal);
    if is_low { chart.y.ticks(STRIP_TICKS_MAX) } else { chart.y.value_ticks() }
}

impl Panel {
    /// The pixel across at a share of the axis.
    pub(super) fn x(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }

    /// The pixel down at a share of the axis.
    pub(super) fn y(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }
}
