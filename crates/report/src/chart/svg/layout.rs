//! Where things are in a picture, in pixels.

use super::super::{Axis, Chart, Tick};
use super::text;

pub(super) const WIDTH: f64 = 1000.0;
pub(super) const HEIGHT: f64 = 560.0;
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

/// The plot area.
pub(super) struct Layout {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Layout {
    pub(super) fn of(chart: &Chart, legend_rows: usize) -> Layout {
        let ticks = chart.y.even_ticks();
        let label_width = ticks.iter().map(|tick| text::width(&tick.label, FAINT_SIZE)).fold(0.0, f64::max);
        Layout {
            left: MARGIN + label_width + 8.0,
            right: WIDTH - MARGIN,
            top: LEGEND_Y + LEGEND_ROW * legend_rows as f64 + 18.0,
            bottom: HEIGHT - 62.0,
        }
    }

    /// The pixel across at a share of the axis.
    pub(super) fn x(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }

    /// The pixel down at a share of the axis.
    pub(super) fn y(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }

    /// Ticks whose labels do not touch and do not leave the picture.
    pub(super) fn position_ticks(&self, axis: &Axis) -> Vec<(Tick, f64)> {
        let mut taken = f64::NEG_INFINITY;
        let mut ticks = Vec::new();
        for tick in axis.ticks(10) {
            let x = self.x(tick.share);
            let half = text::width(&tick.label, FAINT_SIZE) / 2.0;
            if x - half >= taken + LABEL_GAP && x + half <= WIDTH {
                taken = x + half;
                ticks.push((tick, x));
            }
        }
        ticks
    }
}
