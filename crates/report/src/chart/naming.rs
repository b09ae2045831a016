//! What charts, series and sources are called.

use super::rate_over_position::chart_names;
use super::{Axis, Chart, ChartedRun, Mark, Point, Series};
use crate::hostile::harmless;
use crate::quantity::{binary_capacity, target_size};
use model::finding::FindingCode;
use model::run::Run;
use model::target::TargetKind;
use model::units::Bytes;

/// Columns of a drive's name.
const NAME_COLUMNS_MAX: usize = 60;

/// The names of the runs of a chart.
pub(super) struct Names<'run> {
    runs: &'run [ChartedRun<'run>],
    names: Vec<String>,
}

impl<'run> Names<'run> {
    pub(super) fn of(runs: &'run [ChartedRun<'run>]) -> Names<'run> {
        let all: Vec<&Run> = runs.iter().map(|charted| charted.run).collect();
        let lettered = |(name, charted): (String, &ChartedRun<'_>)| match charted.letter {
            Some(letter) => format!("{letter}  {name}"),
            None => name,
        };
        let names = chart_names(&all).into_iter().zip(runs).map(lettered).collect();
        Names { runs, names }
    }

    /// What a series of that run is called: what it shows, after the name of the drive where there are several.
    pub(super) fn series(&self, run: usize, what: &str) -> String {
        match (self.runs.len(), what.is_empty()) {
            (1, _) => what.into(),
            (_, true) => self.names[run].clone(),
            (_, false) => format!("{}, {what}", self.names[run]),
        }
    }

    /// What a mark of that run is called: whose it is stands before it where there are several.
    pub(super) fn mark(&self, run: usize, what: &str) -> String {
        if self.runs.len() == 1 { what.into() } else { format!("{}: {what}", self.names[run]) }
    }

    /// The names of the runs, in the order in which they were given.
    pub(super) fn all(&self) -> &[String] {
        &self.names
    }

    /// Of what a chart is: the only drive that is in it, or how many.
    pub(super) fn subject(&self, series: &[Series]) -> String {
        let mut drawn: Vec<usize> = series.iter().map(|series| series.run).collect();
        drawn.dedup();
        match drawn.as_slice() {
            [one] => format!("{}, {}", self.names[*one], size_of(self.runs[*one].run)),
            several => format!("{} runs", several.len()),
        }
    }

    /// A chart of these series.
    pub(super) fn chart(&self, sketch: Sketch) -> Option<Chart> {
        let Sketch { name, title, description, x, y, series, marks, findings } = sketch;
        if series.is_empty() {
            return None;
        }
        let drawn: Vec<&Run> = series.iter().map(|series| self.runs[series.run].run).collect();
        Some(Chart {
            name,
            title,
            subject: self.subject(&series),
            description,
            source: source(&drawn),
            x,
            y,
            series,
            marks,
            level_name: "level",
            findings,
            beside: None,
            strips: Vec::new(),
            meanwhile: Vec::new(),
        })
    }
}

/// How large the target of a run is: files in binary units, as its axis of positions has them.
pub(super) fn size_of(run: &Run) -> String {
    match run.target.kind {
        TargetKind::File if run.target.capacity != Bytes::ZERO => binary_capacity(run.target.capacity),
        _ => target_size(run.target.capacity),
    }
}

/// What a chart needs besides names.
pub(super) struct Sketch {
    pub name: &'static str,
    pub title: String,
    pub description: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    pub marks: Vec<Mark>,
    pub findings: Vec<FindingCode>,
}

/// A chart of series that somebody put together: what its lines do is described as they go.
pub fn chart_of_series(
    name: &'static str,
    (title, subject): (&str, &str),
    (x, y): (Axis, Axis),
    series: Vec<Series>,
) -> Chart {
    Chart {
        name,
        title: title.into(),
        subject: subject.into(),
        description: lines_described(&series, &x, &y),
        source: "drivescope, virtual drives".into(),
        x,
        y,
        series,
        marks: Vec::new(),
        level_name: "level",
        findings: Vec::new(),
        beside: None,
        strips: Vec::new(),
        meanwhile: Vec::new(),
    }
}

/// The tool and, where there is one, the day.
pub(super) fn source(runs: &[&Run]) -> String {
    let version = runs.first().map_or("", |run| run.version.as_str());
    let days = runs.iter().filter(|run| run.target.kind != TargetKind::Sim);
    let mut days: Vec<&str> = days.filter_map(|run| run.started.get(..10)).collect();
    days.sort_unstable();
    days.dedup();
    let days = match days.as_slice() {
        [] => "virtual drive".to_string(),
        [day] => day.to_string(),
        [first, .., last] => format!("{first} to {last}"),
    };
    harmless(&format!("drivescope {version}, {days}"), NAME_COLUMNS_MAX)
}

/// What the lines of a chart do, as sentences: where each begins and ends, and between what it lies.
pub(super) fn lines_described(series: &[Series], x: &Axis, y: &Axis) -> String {
    let sentence = |series: &Series| {
        let (first, last) = (series.points().next()?, series.points().last()?);
        let values = || series.points().map(|point| point.value);
        Some(format!(
            "{}: {} at {}, {} at {}; lowest {}, highest {}.",
            if series.name.is_empty() { "The line" } else { &series.name },
            y.amount(first.value),
            x.amount(first.at),
            y.amount(last.value),
            x.amount(last.at),
            y.amount(values().fold(f64::INFINITY, f64::min)),
            y.amount(values().fold(f64::NEG_INFINITY, f64::max)),
        ))
    };
    series.iter().filter_map(sentence).collect::<Vec<_>>().join(" ")
}

/// Up to where an axis has to go for these points and their intervals. An interval that reaches further than twice the highest value leaves
/// the picture there, so that the values keep half of its height at least.
pub(super) fn top_of<'series>(series: impl IntoIterator<Item = &'series Series>) -> f64 {
    let points: Vec<&Point> = series.into_iter().flat_map(Series::points).collect();
    let most =
        |values: &mut dyn Iterator<Item = f64>| values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    let highest = most(&mut points.iter().map(|point| point.value));
    let reached = most(&mut points.iter().filter_map(|point| point.interval.map(|of| of.1)));
    reached.clamp(highest, 2.0 * highest)
}

/// The lowest and the highest of some values; nothing of none.
pub(super) fn range_of(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.filter(|value| value.is_finite());
    finite.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
    })
}
