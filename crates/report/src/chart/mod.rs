//! One description of a chart, and the ways to draw it.
//!
//! ```text
//! runs ─┬► rate_over_position ────────┬► Chart ─┬► terminal::draw   lines of text
//!       └► access_time_over_position ─┘         └► svg::document ─► png::image
//! ```
//! A chart is numbers in base units, names and axes. It knows nothing of pixels, and a way of drawing knows nothing of
//! runs, so that a new chart is drawn everywhere, and a new way of drawing draws every chart. Names in it may come from
//! a drive: whoever makes a chart makes them harmless ([`crate::hostile`]), whoever draws one escapes them.

mod access_time;
mod axis;
#[cfg(feature = "png")]
pub mod png;
mod rate_over_position;
mod reduction;
pub mod svg;
pub mod terminal;

pub use access_time::access_time_over_position;
pub use axis::{Axis, Tick};
pub use rate_over_position::{ChartedRun, chart_names, rate_over_position};

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The word for it in options and files: "rate-over-position".
    pub name: &'static str,
    /// What it shows: "Read rate by position".
    pub title: String,
    /// Of what: the drive, or how many.
    pub subject: String,
    /// What can be seen in it, as sentences, for those who cannot see it.
    pub description: String,
    /// Who made it of what and when: a line of small print.
    pub source: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// What was measured.
    pub series: Vec<Series>,
    /// What is worth pointing at.
    pub marks: Vec<Mark>,
}

/// One thing that was measured: a drive, or one operation on it. It has one colour and one kind of mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// What is drawn of it, the first at the bottom.
    pub layers: Vec<Layer>,
}

/// A part of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// Single measurements. One that is narrower than a dot is a dot, a wider one a stroke as long as it is.
    Measured(Vec<Stretch>),
    /// Levels that hold over a stretch, joined by steps where they touch.
    Levels(Vec<Stretch>),
    /// Between what a value lies over a stretch.
    Bands(Vec<Band>),
}

/// A value over a stretch of the axis across, in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Where it begins.
    pub first: f64,
    /// Where it ends; the same for a point.
    pub end: f64,
    /// The value.
    pub value: f64,
}

/// An interval over a stretch of the axis across, in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Where it begins.
    pub first: f64,
    /// Where it ends.
    pub end: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Something worth pointing at. Marks of one name have one entry in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Its name in the legend.
    pub name: String,
    /// To which of the series it belongs; none when to all.
    pub series: Option<usize>,
    /// Where it is.
    pub place: Place,
}

/// Where a mark is, in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// A line at a position: a boundary.
    At(f64),
    /// A stretch of positions: a region.
    Over {
        /// Where it begins.
        first: f64,
        /// Where it ends.
        end: f64,
    },
    /// A line at a value: a limit.
    Value(f64),
}

impl Chart {
    /// The same with lines at these positions, such as where partitions meet.
    pub fn with_borders(mut self, name: &str, positions: impl IntoIterator<Item = f64>) -> Chart {
        let borders = positions.into_iter().map(|position| Mark {
            name: name.into(),
            series: None,
            place: Place::At(position),
        });
        self.marks.extend(borders);
        self
    }

    /// The same with these stretches of positions pointed at.
    pub fn with_regions(mut self, name: &str, regions: impl IntoIterator<Item = (f64, f64)>) -> Chart {
        let regions = regions.into_iter().map(|(first, end)| Mark {
            name: name.into(),
            series: None,
            place: Place::Over { first, end },
        });
        self.marks.extend(regions);
        self
    }

    /// The names of the marks, each once, with the first mark that has it.
    fn mark_names(&self) -> Vec<&Mark> {
        let mut named: Vec<&Mark> = Vec::new();
        for mark in &self.marks {
            if named.iter().all(|other| other.name != mark.name) {
                named.push(mark);
            }
        }
        named
    }
}

impl Series {
    /// Single measurements in it.
    fn measured(&self) -> impl Iterator<Item = &Stretch> {
        self.layers.iter().flat_map(|layer| match layer {
            Layer::Measured(stretches) => stretches.as_slice(),
            Layer::Levels(_) | Layer::Bands(_) => &[],
        })
    }

    /// Levels in it.
    fn levels(&self) -> impl Iterator<Item = &Stretch> {
        self.layers.iter().flat_map(|layer| match layer {
            Layer::Levels(stretches) => stretches.as_slice(),
            Layer::Measured(_) | Layer::Bands(_) => &[],
        })
    }
}
