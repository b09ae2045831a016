//! One description of a chart, and the ways to draw it.
//!
//! ```text
//! runs ─► catalogue: each kind of chart ─► Chart ─┬► terminal::draw   lines of text
//!                                                 └► svg::document ─► png::image
//! ```
//! A chart is numbers in base units, names and axes. It knows nothing of pixels, and a way of drawing knows nothing of
//! runs, so that a new chart is drawn everywhere, and a new way of drawing draws every chart. Names in it may come from
//! a drive: whoever makes a chart makes them harmless ([`crate::hostile`]), whoever draws one escapes them.

mod access_time;
mod axis;
mod catalogue;
mod clipping;
pub(crate) mod companions;
mod concurrency;
mod course;
mod data;
mod file_place;
mod idle_recovery;
mod naming;
mod percentiles;
#[cfg(feature = "png")]
pub mod png;
mod rate_over_position;
mod rate_over_size;
mod reduction;
mod seek_curve;
mod span;
pub mod svg;
pub mod terminal;
mod valley_passes;
mod write_course;

pub use access_time::access_time_over_position;
pub use axis::{Axis, Numbers, Scale, Tick};
pub use catalogue::{CHART_KINDS, ChartKind, chart_named, charts_of};
pub use course::reduced_line;
pub use naming::chart_of_series;
pub use rate_over_position::{ChartedRun, chart_names, rate_over_position};

use model::finding::FindingCode;

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
    /// What a level is, in the legend: "level of each zone".
    pub level_name: &'static str,
    /// The conclusions that can be seen in it.
    pub findings: Vec<FindingCode>,
    /// How often each value occurs, beside the chart.
    pub beside: Option<Beside>,
    /// What belongs to it, below, over the same axis across.
    pub strips: Vec<Strip>,
    /// What was recorded while it was measured and has no place on the axis across, as sentences.
    pub meanwhile: Vec<String>,
}

/// How often values occur, beside a chart and over the same axis up.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// What it shows: "Share of reads".
    pub label: String,
    /// For each series of the chart, in their order, from the lowest value up.
    pub bars: Vec<Vec<Bar>>,
}

/// How many of the values lie between two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// From this value on.
    pub low: f64,
    /// To below this one.
    pub high: f64,
    /// The share of all, in [0, 1].
    pub share: f64,
}

/// A chart below a chart, over the same axis across.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// What it shows: "Temperature".
    pub name: String,
    /// Up.
    pub y: Axis,
    /// What was measured.
    pub series: Vec<Series>,
    /// What is worth pointing at.
    pub marks: Vec<Mark>,
    /// Whether it is as high as the chart above, or a narrow companion of it.
    pub is_equal: bool,
}

/// One thing that was measured: a drive, or one operation on it. It has one colour and one kind of mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Which of the runs it is of, counted from 0 in the order in which they were given.
    pub run: usize,
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
    /// Points joined by a line.
    Line(Vec<Point>),
    /// A line that says what measurements follow, through corners at which nothing was measured.
    Trend(Vec<Point>),
}

/// A point of a line, in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it is.
    pub at: f64,
    /// The value.
    pub value: f64,
    /// Between what the value lies, where that is known.
    pub interval: Option<(f64, f64)>,
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
    /// The conclusion that says so.
    pub finding: Option<FindingCode>,
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
    /// A stretch in which nothing was done.
    Pause {
        /// Where it begins.
        first: f64,
        /// Where it ends.
        end: f64,
    },
    /// A line at a value: a limit.
    Value(f64),
    /// A point.
    Point {
        /// Where it is.
        at: f64,
        /// Its value.
        value: f64,
    },
}

impl Chart {
    /// The same with lines at these positions, such as where partitions meet.
    pub fn with_borders(mut self, name: &str, positions: impl IntoIterator<Item = f64>) -> Chart {
        let borders = positions.into_iter().map(|position| Mark {
            name: name.into(),
            series: None,
            place: Place::At(position),
            finding: None,
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
            finding: None,
        });
        self.marks.extend(regions);
        self
    }

    /// The same with more below it.
    fn with_strips(mut self, strips: Vec<Strip>) -> Chart {
        self.strips.extend(strips);
        self
    }

    /// The same with what was recorded meanwhile, also for those who cannot see it.
    fn with_meanwhile(mut self, sentences: Vec<String>) -> Chart {
        for sentence in &sentences {
            self.description = format!("{} {sentence}", self.description);
        }
        self.meanwhile = sentences;
        self
    }

    /// The first series of a run, which gives it its colour; the first of all if it has none.
    fn index_of_run(&self, run: usize) -> usize {
        self.series.iter().position(|series| series.run == run).unwrap_or(0)
    }

    /// The only value at which marks of that name are; none when there are several.
    fn only_value(&self, name: &str) -> Option<f64> {
        let mut values =
            self.marks.iter().filter(|mark| mark.name == name).filter_map(|mark| match mark.place {
                Place::Value(value) => Some(value),
                _ => None,
            });
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
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
    /// A series of the only run.
    pub fn new(name: impl Into<String>, layers: Vec<Layer>) -> Series {
        Series { name: name.into(), run: 0, layers }
    }

    /// The same, of another run.
    pub fn of_run(self, run: usize) -> Series {
        Series { run, ..self }
    }

    /// Single measurements in it.
    fn measured(&self) -> impl Iterator<Item = &Stretch> {
        self.layers.iter().flat_map(|layer| match layer {
            Layer::Measured(stretches) => stretches.as_slice(),
            Layer::Levels(_) | Layer::Bands(_) | Layer::Line(_) | Layer::Trend(_) => &[],
        })
    }

    /// Where it ends on the axis across.
    fn end(&self) -> f64 {
        let stretches = self.measured().chain(self.levels()).map(|stretch| stretch.end);
        stretches.chain(self.points().map(|point| point.at)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Levels in it.
    fn levels(&self) -> impl Iterator<Item = &Stretch> {
        self.layers.iter().flat_map(|layer| match layer {
            Layer::Levels(stretches) => stretches.as_slice(),
            Layer::Measured(_) | Layer::Bands(_) | Layer::Line(_) | Layer::Trend(_) => &[],
        })
    }

    /// Points of lines in it.
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.layers.iter().flat_map(|layer| match layer {
            Layer::Line(points) => points.as_slice(),
            Layer::Measured(_) | Layer::Levels(_) | Layer::Bands(_) | Layer::Trend(_) => &[],
        })
    }
}
