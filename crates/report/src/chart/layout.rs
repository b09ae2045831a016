//! Where things are in a chart, in pixels: the same for pictures and for the page.

use super::drawing::RULES;
use super::text;
use super::{Axis, Chart, Tick};

#[derive(Debug)]
pub(crate) struct Sheet {
    pub width: f64,
    pub height: f64,
    pub margin: f64,
    pub text_size: f64,
    pub head: f64,
    /// A long legend makes the picture higher, so that its plot is no lower than this.
    plot_min: f64,
    /// Between a chart and the one below: its name and half a number.
    strip_gap: f64,
    companion: f64,
    equal: f64,
    /// From the lowest chart down to the baseline of its numbers, to that of the name of the axis, and to the end.
    pub numbers_below: f64,
    pub name_below: f64,
    foot: f64,
    beside: Option<f64>,
}

pub(crate) const LEGEND_ROW: f64 = 22.0;
const MEANWHILE_ROW: f64 = 18.0;
const BESIDE_GAP: f64 = 16.0;
/// More ticks crowd an axis across, and a narrow chart.
const TICKS_MAX: usize = 10;
const STRIP_TICKS_MAX: usize = 3;

/// A picture of 1000 pixels across. Forums shrink it to about two thirds; its text is then still read.
pub(crate) const FORUM: Sheet = Sheet {
    width: 1000.0,
    height: 560.0,
    margin: 24.0,
    text_size: 14.0,
    head: 84.0,
    plot_min: 240.0,
    strip_gap: 36.0,
    companion: 58.0,
    equal: 92.0,
    numbers_below: 20.0,
    name_below: 42.0,
    foot: 62.0,
    beside: Some(120.0),
};
pub(crate) const PAPER: Sheet = Sheet { width: 560.0, height: 400.0, ..FORUM };
/// The page, whose own width takes the place of this one. Its title and legend are text of the page.
pub(crate) const PAGE: Sheet = Sheet {
    width: NARROW,
    height: 416.0,
    margin: 8.0,
    text_size: 12.5,
    head: 36.0,
    companion: 70.0,
    equal: 110.0,
    strip_gap: 40.0,
    foot: 50.0,
    name_below: 41.0,
    ..FORUM
};
pub(crate) const PHONE: Sheet = Sheet { height: 336.0, beside: None, ..PAGE };
/// A page whose chart is no wider is laid out as on a telephone.
pub(crate) const NARROW: f64 = 560.0;

#[derive(Clone, Copy)]
pub(crate) struct Panel {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

pub(crate) struct Layout {
    pub sheet: &'static Sheet,
    pub height: f64,
    pub main: Panel,
    pub strips: Vec<Panel>,
    pub beside: Option<(f64, f64)>,
    pub meanwhile: Vec<(f64, String)>,
}

impl Layout {
    pub(crate) fn of(
        chart: &Chart,
        legend_rows: usize,
        meanwhile: &[String],
        sheet: &'static Sheet,
    ) -> Layout {
        let mut ticks = main_ticks(chart);
        for strip in &chart.strips {
            ticks.extend(strip_ticks(&strip.y));
        }
        let mut label_width: f64 = 0.0;
        for tick in ticks {
            label_width = label_width.max(text::width(&tick.label, sheet.text_size));
        }
        let left = sheet.margin + label_width + RULES.number_gap;
        let edge = sheet.width - sheet.margin;
        let (mut beside, mut right) = (None, edge);
        if let (Some(_), Some(width)) = (&chart.beside, sheet.beside) {
            beside = Some((edge - width, edge));
            right = edge - width - BESIDE_GAP;
        }
        let top = sheet.head + LEGEND_ROW * legend_rows as f64;
        let bottom = match chart.has_equal_strips() {
            true => top + sheet.equal,
            false => (sheet.height - sheet.foot).max(top + sheet.plot_min),
        };
        let mut reached = bottom;
        let mut strips = Vec::new();
        for strip in &chart.strips {
            let top = reached + sheet.strip_gap;
            reached = top + if strip.is_equal { sheet.equal } else { sheet.companion };
            strips.push(Panel { left, right, top, bottom: reached });
        }
        let mut height = reached + sheet.foot;
        let mut lines = Vec::new();
        for sentence in meanwhile {
            for line in text::wrapped(sentence, sheet.text_size, edge - sheet.margin) {
                lines.push((height, line));
                height += MEANWHILE_ROW;
            }
        }
        Layout { sheet, height, main: Panel { left, right, top, bottom }, strips, beside, meanwhile: lines }
    }

    pub(crate) fn panels(&self) -> impl Iterator<Item = &Panel> {
        std::iter::once(&self.main).chain(&self.strips)
    }

    /// The lowest plot, below which the numbers of the axis across stand.
    pub(crate) fn lowest(&self) -> Panel {
        self.strips.last().copied().unwrap_or(self.main)
    }

    /// As many ticks as fit: their labels do not touch and do not leave the picture.
    pub(crate) fn ticks_across(&self, axis: &Axis) -> Vec<(Tick, f64)> {
        let all = axis.fitting_ticks(TICKS_MAX, |ticks| self.apart(ticks).len() == ticks.len());
        self.apart(&all)
    }

    /// Those ticks whose labels do not touch the one before, with their places.
    fn apart(&self, ticks: &[Tick]) -> Vec<(Tick, f64)> {
        let mut taken = f64::NEG_INFINITY;
        let mut apart = Vec::new();
        for tick in ticks {
            let x = self.main.x(tick.share);
            let half = text::width(&tick.label, self.sheet.text_size) / 2.0;
            if x - half >= taken + RULES.label_gap && x + half <= self.sheet.width {
                taken = x + half;
                apart.push((tick.clone(), x));
            }
        }
        apart
    }
}

pub(crate) fn main_ticks(chart: &Chart) -> Vec<Tick> {
    if chart.has_equal_strips() { strip_ticks(&chart.y) } else { chart.y.value_ticks() }
}

pub(crate) fn strip_ticks(y: &Axis) -> Vec<Tick> {
    y.ticks(STRIP_TICKS_MAX)
}

impl Panel {
    pub(crate) fn x(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }

    pub(crate) fn y(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }
}
