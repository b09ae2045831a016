//! What charts, series and sources are called.

use super::{Across, Axis, Chart, ChartedRun, Layer, Mark, Point, Series};
use crate::hostile::harmless;
use crate::quantity::{binary_capacity, readable_moment, target_size};
use model::run::Run;
use model::target::TargetKind;
use model::units::Bytes;
use std::collections::BTreeSet;

const NAME_COLUMNS_MAX: usize = 60;

const NAME_PARTS: [fn(&Run) -> Option<String>; 4] = [serial_or_path, moment, seed, id];

fn serial_or_path(run: &Run) -> Option<String> {
    let target = &run.target;
    if target.serial.is_none() && target.model.is_some() {
        Some(target.path.clone())
    } else {
        target.serial.clone()
    }
}

fn moment(run: &Run) -> Option<String> {
    if run.target.kind == TargetKind::Sim { None } else { Some(readable_moment(&run.started)) }
}

fn seed(run: &Run) -> Option<String> {
    Some(format!("seed {}", run.seed))
}

fn id(run: &Run) -> Option<String> {
    Some(run.id.clone())
}

/// A name for each run that tells it from the others: the model, else the path, and as much more as is needed.
pub fn chart_names(runs: &[&Run]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for run in runs {
        names.push(run.target.model.as_ref().unwrap_or(&run.target.path).clone());
    }
    for part in NAME_PARTS {
        let known: Vec<Option<String>> = runs.iter().map(|run| part(run)).collect();
        let before = names.clone();
        for (index, more) in known.iter().enumerate() {
            let helps = (0..runs.len()).any(|other| before[other] == before[index] && known[other] != *more);
            if let Some(more) = more
                && helps
            {
                names[index] = format!("{}, {more}", before[index]);
            }
        }
    }
    names.iter().map(|name| harmless(name, NAME_COLUMNS_MAX)).collect()
}

pub(super) struct Names<'run> {
    runs: &'run [ChartedRun<'run>],
    names: Vec<String>,
}

impl<'run> Names<'run> {
    pub(super) fn of(runs: &'run [ChartedRun<'run>]) -> Names<'run> {
        let all: Vec<&Run> = runs.iter().map(|charted| charted.run).collect();
        let mut names = chart_names(&all);
        for (name, charted) in names.iter_mut().zip(runs) {
            if let Some(letter) = charted.letter {
                *name = format!("{letter}  {name}");
            }
        }
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

    pub(super) fn line(&self, run: usize, what: &str, points: Vec<Point>) -> Series {
        Series::new(self.series(run, what), vec![Layer::Line(points)]).of_run(run)
    }

    /// A mark of one of several runs says whose it is, and has the colour of its series.
    pub(super) fn marked(&self, run: usize, series: usize, mark: Mark) -> Mark {
        match self.runs.len() {
            1 => mark,
            _ => Mark { name: format!("{}: {}", self.names[run], mark.name), series: Some(series), ..mark },
        }
    }

    pub(super) fn all(&self) -> &[String] {
        &self.names
    }

    fn subject(&self, series: &[Series]) -> String {
        let mut drawn: Vec<usize> = series.iter().map(|series| series.run).collect();
        drawn.dedup();
        match drawn.as_slice() {
            [one] => format!("{}, {}", self.names[*one], size_of(self.runs[*one].run)),
            several => format!("{} runs", several.len()),
        }
    }

    /// A chart of these series, which are lines; none of no series.
    pub(super) fn chart(
        &self,
        name: &'static str,
        title: &str,
        axes: (Axis, Axis),
        series: Vec<Series>,
    ) -> Option<Chart> {
        let version = &self.runs[series.first()?.run].run.version;
        let source = harmless(&format!("drivescope {version}, {}", self.days(&series)), NAME_COLUMNS_MAX);
        let subject = self.subject(&series);
        Some(Chart { source, ..chart_of_series(name, (title, &subject), axes, series) })
    }

    /// When it was measured; virtual drives know no day.
    fn days(&self, series: &[Series]) -> String {
        let mut days = BTreeSet::new();
        for one in series {
            let run = self.runs[one.run].run;
            if run.target.kind != TargetKind::Sim {
                days.extend(run.started.get(..10));
            }
        }
        match (days.first(), days.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
            (Some(day), _) => day.to_string(),
            (None, _) => "virtual drive".to_string(),
        }
    }
}

/// How large the target of a run is: files in binary units, as its axis of positions has them.
fn size_of(run: &Run) -> String {
    match run.target.kind {
        TargetKind::File if run.target.capacity != Bytes::ZERO => binary_capacity(run.target.capacity),
        _ => target_size(run.target.capacity),
    }
}

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
        across: Across::Other,
        source: "drivescope, virtual drives".into(),
        x,
        y,
        series,
        marks: Vec::new(),
        level_name: "plateau mean",
        findings: Vec::new(),
        beside: None,
        strips: Vec::new(),
        meanwhile: Vec::new(),
    }
}

fn lines_described(series: &[Series], x: &Axis, y: &Axis) -> String {
    let mut sentences = Vec::new();
    for series in series {
        let (Some(first), Some(last)) = (series.points().next(), series.points().last()) else { continue };
        let (low, high) = values_of(std::slice::from_ref(series)).unwrap_or((f64::NAN, f64::NAN));
        sentences.push(format!(
            "{}: {} at {}, {} at {}; lowest {}, highest {}.",
            if series.name.is_empty() { "The line" } else { &series.name },
            y.amount(first.value),
            x.amount(first.at),
            y.amount(last.value),
            x.amount(last.at),
            y.amount(low),
            y.amount(high),
        ));
    }
    sentences.join(" ")
}

/// Up to where an axis has to go for these points and their intervals. An interval that reaches further than twice the highest value
/// leaves the picture there, so that the values keep half of its height at least.
pub(super) fn top_of(series: &[Series]) -> f64 {
    let (mut values, mut ends) = (Vec::new(), Vec::new());
    for point in series.iter().flat_map(Series::points) {
        values.push(point.value);
        if let Some((_, high)) = point.interval {
            ends.push(high);
        }
    }
    let highest = highest_of(values);
    highest_of(ends).clamp(highest, 2.0 * highest)
}

pub(super) fn places_of(series: &[Series]) -> Option<(f64, f64)> {
    range_of(series.iter().flat_map(Series::points).map(|point| point.at))
}

pub(super) fn values_of(series: &[Series]) -> Option<(f64, f64)> {
    range_of(series.iter().flat_map(Series::points).map(|point| point.value))
}

pub(super) fn highest_of(values: impl IntoIterator<Item = f64>) -> f64 {
    match range_of(values) {
        Some((_, highest)) => highest.max(0.0),
        None => 0.0,
    }
}

pub(crate) fn range_of(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let mut range = None;
    for value in values {
        if value.is_finite() {
            let (low, high) = range.get_or_insert((value, value));
            (*low, *high) = (f64::min(*low, value), f64::max(*high, value));
        }
    }
    range
}
