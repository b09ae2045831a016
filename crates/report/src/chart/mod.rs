//! One description of a chart, and the ways to draw it.
//! ```text
//! runs ─► catalogue: each kind of chart ─► Chart ─┬► terminal::draw   lines of text
//!                                                 └► svg::document ─► png::image
//! ```
//! A chart is numbers in base units, names and axes. It knows nothing of pixels, and a way of drawing knows nothing of
//! runs, so that a new chart is drawn everywhere, and a new way of drawing draws every chart. Names in it may come from
//! a drive: whoever makes a chart makes them harmless ([`crate::hostile`]), whoever draws one escapes them.

pub(crate) mod axis;
mod catalogue;
pub(crate) mod companions;
pub(crate) mod course;
pub(crate) mod drawing;
pub(crate) mod layout;
pub(crate) mod legend;
pub(crate) mod naming;
pub(crate) mod phase;
#[cfg(feature = "png")]
pub mod png;
pub(crate) mod reduction;
pub mod svg;
pub mod terminal;
mod text;
pub(crate) mod timeline;

pub use axis::{Axis, Numbers, Scale, Tick};
pub use catalogue::{
    CHART_KINDS, ChartKind, access_time_over_position, chart_named, charts_of, rate_over_position,
};
pub use course::reduced_line;
pub use naming::{chart_names, chart_of_series};

use drawing::Ink;
use model::finding::FindingCode;
use model::run::{Run, Series as RunSeries};

#[derive(Clone, Copy)]
pub struct ChartedRun<'run> {
    pub run: &'run Run,
    /// Without it a long phase is one stroke.
    pub series: Option<&'run dyn RunSeries>,
    /// What it is called on the page around the chart, such as "A"; it stands before its name.
    pub letter: Option<&'run str>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    pub name: &'static str,
    pub title: String,
    pub subject: String,
    pub description: String,
    pub source: String,
    pub across: Across,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    pub marks: Vec<Mark>,
    /// What a level is, in the legend: "level of each zone".
    pub level_name: &'static str,
    pub findings: Vec<FindingCode>,
    pub beside: Option<Beside>,
    pub strips: Vec<Strip>,
    /// What was recorded while it was measured and has no place on the axis across, as sentences.
    pub meanwhile: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    Position { is_random: bool },
    RunTime,
    WriteTime,
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    pub label: String,
    pub bars: Vec<Vec<Bar>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub low: f64,
    pub high: f64,
    pub share: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    pub name: String,
    pub y: Axis,
    pub series: Vec<Series>,
    pub marks: Vec<Mark>,
    /// Whether it is as high as the chart above, or a narrow companion of it.
    pub is_equal: bool,
}

/// One thing that was measured: a drive, or one operation on it. It has one colour and one symbol.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    /// The index of its run, in the order in which they were given.
    pub run: usize,
    /// What is drawn of it, the first at the bottom.
    pub layers: Vec<Layer>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// Single measurements. One that is narrower than a dot is a dot, a wider one a stroke as long as it is.
    Measured(Vec<Stretch>),
    Levels(Vec<Stretch>),
    Bands(Vec<Band>),
    Line(Vec<Point>),
    /// A line that measurements follow, through corners at which nothing was measured.
    Trend(Vec<Point>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub at: f64,
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    pub first: f64,
    /// The same as `first` for a point.
    pub end: f64,
    pub value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    pub first: f64,
    pub end: f64,
    pub low: f64,
    pub high: f64,
}

/// Something worth pointing at. Marks of one name have one entry in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub name: String,
    pub series: Option<usize>,
    pub place: Place,
    pub finding: Option<FindingCode>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    At(f64),
    Over { first: f64, end: f64 },
    Pause { first: f64, end: f64 },
    Value(f64),
    Point { at: f64, value: f64 },
}

impl Chart {
    pub fn with_borders(mut self, name: &str, positions: impl IntoIterator<Item = f64>) -> Chart {
        for position in positions {
            self.marks.push(Mark::new(name, Place::At(position)));
        }
        self
    }

    pub fn with_regions(mut self, name: &str, regions: impl IntoIterator<Item = (f64, f64)>) -> Chart {
        for (first, end) in regions {
            self.marks.push(Mark::new(name, Place::Over { first, end }));
        }
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
    pub(crate) fn index_of_run(&self, run: usize) -> usize {
        self.series.iter().position(|series| series.run == run).unwrap_or(0)
    }

    pub(crate) fn has_equal_strips(&self) -> bool {
        self.strips.iter().any(|strip| strip.is_equal)
    }

    fn only_value(&self, name: &str) -> Option<f64> {
        let mut only = None;
        for mark in &self.marks {
            if let Place::Value(value) = mark.place
                && mark.name == name
                && only.replace(value).is_some_and(|other| other != value)
            {
                return None;
            }
        }
        only
    }

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

impl Beside {
    pub(crate) fn longest(&self) -> f64 {
        let mut longest: f64 = 0.0;
        for bar in self.bars.iter().flatten() {
            longest = longest.max(bar.share);
        }
        longest
    }
}

impl Strip {
    pub(crate) fn title(&self) -> String {
        if self.y.unit.is_empty() { self.name.clone() } else { format!("{}, {}", self.name, self.y.unit) }
    }
}

impl Mark {
    fn of(finding: FindingCode, name: impl Into<String>, place: Place) -> Mark {
        Mark { finding: Some(finding), ..Mark::new(name, place) }
    }

    pub(crate) fn new(name: impl Into<String>, place: Place) -> Mark {
        Mark { name: name.into(), series: None, place, finding: None }
    }

    /// The colour of the series that it belongs to, if of one. A point lies on its line, and would not be seen in that colour.
    pub(crate) fn ink(&self) -> Ink {
        match (self.place, self.series) {
            (Place::Pause { .. }, _) => Ink::Axis,
            (Place::Point { .. }, _) => Ink::Mark,
            (_, Some(series)) => Ink::Series(series),
            (Place::Over { .. }, None) => Ink::Region,
            (Place::At(_) | Place::Value(_), None) => Ink::Mark,
        }
    }

    fn value(&self) -> Option<f64> {
        if let Place::Value(value) = self.place { Some(value) } else { None }
    }

    pub(crate) fn finding_name(&self) -> Option<&'static str> {
        self.finding.map(FindingCode::name)
    }
}

impl Series {
    pub fn new(name: impl Into<String>, layers: Vec<Layer>) -> Series {
        Series { name: name.into(), run: 0, layers }
    }

    pub fn of_run(self, run: usize) -> Series {
        Series { run, ..self }
    }

    pub(crate) fn measured(&self) -> impl Iterator<Item = &Stretch> {
        self.layers.iter().flat_map(Layer::measured)
    }

    fn levels(&self) -> impl Iterator<Item = &Stretch> {
        self.layers.iter().flat_map(Layer::levels)
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.layers.iter().flat_map(Layer::points)
    }

    pub(crate) fn end(&self) -> f64 {
        let mut end = f64::NEG_INFINITY;
        for at in self.layers.iter().flat_map(Layer::ends) {
            if at.is_finite() {
                end = end.max(at);
            }
        }
        end
    }
}

impl Layer {
    fn ends(&self) -> Vec<f64> {
        match self {
            Layer::Measured(stretches) | Layer::Levels(stretches) => {
                stretches.iter().map(|one| one.end).collect()
            }
            Layer::Bands(bands) => bands.iter().map(|band| band.end).collect(),
            Layer::Line(points) | Layer::Trend(points) => points.iter().map(|point| point.at).collect(),
        }
    }
    fn measured(&self) -> &[Stretch] {
        if let Layer::Measured(stretches) = self { stretches } else { &[] }
    }

    fn levels(&self) -> &[Stretch] {
        if let Layer::Levels(stretches) = self { stretches } else { &[] }
    }

    fn points(&self) -> &[Point] {
        if let Layer::Line(points) = self { points } else { &[] }
    }
}

impl Stretch {
    pub(crate) fn point(at: f64, value: f64) -> Stretch {
        Stretch { first: at, end: at, value }
    }
}
