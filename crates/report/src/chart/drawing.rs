//! How charts are drawn: pens, symbols and sizes in pixels. Pictures use them, and the page's script gets them as data.

use super::axis::{ROUND, UNIT_TOLERANCE};
use serde::Serialize;
use std::borrow::Cow;

/// A colour by its name in `svg/colours.json` and the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Ground,
    Text,
    Faint,
    Axis,
    Grid,
    Mark,
    Region,
    /// They begin again after the last.
    Series(usize),
}

impl Ink {
    pub(crate) fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Ink::Ground => "ground",
            Ink::Text => "text",
            Ink::Faint => "faint",
            Ink::Axis => "axis",
            Ink::Grid => "grid",
            Ink::Mark => "mark",
            Ink::Region => "region",
            Ink::Series(index) => return Cow::Owned(format!("series-{}", index % SYMBOLS.len())),
        })
    }
}

#[derive(Clone, Copy, Serialize)]
pub(crate) struct Pen {
    pub width: f64,
    pub opacity: f64,
    pub dash: &'static [f64],
    pub fill: f64,
}

impl Pen {
    const fn stroke(width: f64, opacity: f64, dash: &'static [f64]) -> Pen {
        Pen { width, opacity, dash, fill: 0.0 }
    }

    const fn fill(fill: f64) -> Pen {
        Pen { width: 0.0, opacity: 1.0, dash: &[], fill }
    }

    pub(crate) fn dashed(self, dash: &'static [f64]) -> Pen {
        Pen { dash, ..self }
    }
}

#[derive(Serialize)]
pub(crate) struct Pens {
    pub band: Pen,
    pub region: Pen,
    /// Beneath a level: a rim in the colour of the ground keeps it apart from the symbols that it crosses.
    pub rim: Pen,
    /// Levels, trends, and lines with room for a symbol at each point; in the dash of their series.
    pub line: Pen,
    pub dense_line: Pen,
    pub interval: Pen,
    pub stroke: Pen,
    pub envelope: Pen,
    pub symbol: Pen,
    pub crowded_symbol: Pen,
    pub border: Pen,
    pub limit: Pen,
    pub ring: Pen,
    pub beside: Pen,
    pub evidence: Pen,
    pub frame: Pen,
}

/// What the pictures and the page's script have in common, in pixels unless it says otherwise.
#[derive(Serialize)]
pub(crate) struct Rules {
    pub pens: Pens,
    /// More measurements of one series hide each other: then each column of pixels shows the lowest to the highest.
    pub single_max: usize,
    /// Up to so many measurements have large symbols.
    pub sparse_max: usize,
    /// From so many measurements on symbols let through what is behind them.
    pub crowded_min: usize,
    pub stroke_min: f64,
    /// Points of a line that are closer have no symbol each,
    pub spacing_min: f64,
    /// but so many of them, where there are other series to tell from.
    pub dense_symbols: usize,
    /// Half the width of the end of an interval's line.
    pub whisker: f64,
    /// A lower interval is hidden by its symbol.
    pub interval_min: f64,
    /// A narrower region would not be seen.
    pub region_min: f64,
    pub ring: f64,
    pub label_gap: f64,
    pub number_gap: f64,
    pub tick: f64,
    pub name_above: f64,
    /// Multiples of powers of ten, and how far below a unit a value may be.
    pub round: [f64; 4],
    pub unit_tolerance: f64,
}

pub(crate) const RULES: Rules = Rules {
    pens: Pens {
        band: Pen::fill(0.22),
        region: Pen::fill(0.25),
        rim: Pen::stroke(3.4, 0.7, &[]),
        line: Pen::stroke(2.0, 1.0, &[]),
        dense_line: Pen::stroke(1.4, 1.0, &[]),
        interval: Pen::stroke(1.2, 1.0, &[]),
        stroke: Pen::stroke(3.0, 1.0, &[]),
        envelope: Pen::stroke(1.2, 0.75, &[]),
        symbol: Pen { width: 1.6, opacity: 0.9, dash: &[], fill: 0.9 },
        crowded_symbol: Pen { width: 1.6, opacity: 0.55, dash: &[], fill: 0.55 },
        border: Pen::stroke(1.5, 1.0, &[4.0, 3.0]),
        limit: Pen::stroke(1.5, 1.0, &[8.0, 4.0]),
        ring: Pen::stroke(2.0, 1.0, &[]),
        beside: Pen { width: 1.5, opacity: 1.0, dash: &[], fill: 0.18 },
        evidence: Pen::fill(0.16),
        frame: Pen::stroke(1.0, 1.0, &[]),
    },
    single_max: 3000,
    sparse_max: 80,
    crowded_min: 150,
    stroke_min: 5.2,
    spacing_min: 9.0,
    dense_symbols: 5,
    whisker: 4.0,
    interval_min: 3.0,
    region_min: 3.0,
    ring: 8.0,
    label_gap: 10.0,
    number_gap: 8.0,
    tick: 5.0,
    name_above: 12.0,
    round: ROUND,
    unit_tolerance: UNIT_TOLERANCE,
};

#[derive(Serialize)]
pub(crate) struct Symbol {
    /// As data of a path that begins at the middle: among hundreds of measurements, and where there are few.
    pub small: &'static str,
    pub large: &'static str,
    pub is_filled: bool,
    pub dash: &'static [f64],
}

impl Symbol {
    const fn new(small: &'static str, large: &'static str, is_filled: bool, dash: &'static [f64]) -> Symbol {
        Symbol { small, large, is_filled, dash }
    }

    pub(crate) fn pen(&self, pen: Pen) -> Pen {
        if self.is_filled { Pen { width: 0.0, ..pen } } else { Pen { fill: 0.0, ..pen } }
    }
}

const SMALL_DISC: &str = "m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0z";
const DISC: &str = "m-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0z";

/// Disc, triangle, square, cross, diamond, plus, triangle down and ring, all about as large.
pub(crate) const SYMBOLS: [Symbol; 8] = [
    Symbol::new(SMALL_DISC, DISC, true, &[]),
    Symbol::new("m0-3.3l3.3 5.5h-6.6z", "m0-4.8l4.8 8h-9.6z", true, &[7.0, 3.0]),
    Symbol::new("m-2.3-2.3h4.6v4.6h-4.6z", "m-3.4-3.4h6.8v6.8h-6.8z", true, &[2.0, 3.0]),
    Symbol::new(
        "m-2.6-2.6l5.2 5.2m-5.2 0l5.2-5.2",
        "m-3.8-3.8l7.6 7.6m-7.6 0l7.6-7.6",
        false,
        &[10.0, 3.0, 2.0, 3.0],
    ),
    Symbol::new(
        "m0-3.5l3.5 3.5l-3.5 3.5l-3.5-3.5z",
        "m0-5.1l5.1 5.1l-5.1 5.1l-5.1-5.1z",
        true,
        &[5.0, 2.0, 2.0, 2.0, 2.0, 2.0],
    ),
    Symbol::new("m-3.3 0h6.6m-3.3-3.3v6.6", "m-4.8 0h9.6m-4.8-4.8v9.6", false, &[12.0, 4.0]),
    Symbol::new("m0 3.3l3.3-5.5h-6.6z", "m0 4.8l4.8-8h-9.6z", true, &[4.0, 4.0]),
    Symbol::new(SMALL_DISC, DISC, false, &[1.0, 2.0]),
];

/// The number of a series' symbol. Behind the last comes the second, so that no colour has one twice before all pairs are used.
pub(crate) fn symbol_index(series: usize) -> usize {
    (series + series / SYMBOLS.len()) % SYMBOLS.len()
}

pub(crate) fn symbol(series: usize) -> &'static Symbol {
    &SYMBOLS[symbol_index(series)]
}
