//! The run from its start to its end: the chart in which every finding can show what it rests on, since evidence is a stretch of time.

use super::companions::{self, Samples};
use super::course::Intervals;
use super::naming::{chart_of_series, range_of};
use super::phase::{seconds, start_s};
use super::reduction::Extremes;
use super::{Across, Axis, Chart, ChartedRun, Layer, Mark, Numbers, Place, Series, Stretch, chart_names};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run};

/// Columns of which the lowest and the highest rate are kept, in a time that a screen shows at once.
const COLUMNS: usize = 2048;
/// More runs in one chart hide each other.
const RUNS_MAX: usize = 4;

pub(crate) fn timeline(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    if runs.len() > RUNS_MAX {
        return None;
    }
    let mut longest_s: f64 = 0.0;
    for charted in runs {
        longest_s = longest_s.max(end_s(charted.run));
    }
    let (mut series, mut marks, mut samples) = (Vec::new(), Vec::new(), Vec::new());
    for (number, charted) in runs.iter().enumerate() {
        for (operation, word) in [(Operation::Read, "read"), (Operation::Write, "write")] {
            let rates = rates(charted, operation, longest_s);
            if !rates.is_empty() {
                let name = match charted.letter {
                    Some(letter) => format!("{letter}  {word}"),
                    None => word.to_string(),
                };
                series.push(Series::new(name, vec![Layer::Measured(rates)]).of_run(number));
            }
        }
        marks.extend(rests(charted.run));
        let whole = (0.0, end_s(charted.run));
        samples.push((number, charted, Samples::new(vec![(whole, whole)])));
    }
    let rates = series.iter().flat_map(Series::measured).map(|stretch| stretch.value);
    let y = Axis::of_decades("Throughput", range_of(rates)?, Numbers::Rates);
    let x = Axis::of_duration("Time", longest_s);
    let strips = companions::along(&x, samples);
    let names = chart_names(&runs.iter().map(|charted| charted.run).collect::<Vec<_>>());
    let subject = if runs.len() == 1 { names[0].clone() } else { format!("{} runs", runs.len()) };
    let chart = chart_of_series("course", ("Throughput over time", &subject), (x, y), series);
    let description = "Throughput over the whole run, with its phases.";
    Some(Chart {
        across: Across::RunTime,
        description: description.into(),
        source: String::new(),
        marks,
        level_name: "",
        strips,
        ..chart
    })
}

fn end_s(run: &Run) -> f64 {
    run.phases.iter().map(PhaseSummary::end_ns).max().unwrap_or(0) as f64 / 1e9
}

fn rests(run: &Run) -> Vec<Mark> {
    let mut rests = Vec::new();
    for phase in &run.phases {
        if phase.phase.kind == PhaseKind::Idle {
            let first = start_s(phase);
            rests.push(Mark::new("pause", Place::Pause { first, end: first + seconds(phase) }));
        }
    }
    rests
}

fn rates(charted: &ChartedRun<'_>, operation: Operation, longest_s: f64) -> Vec<Stretch> {
    let mut extremes = Extremes::new(COLUMNS);
    for (number, phase) in (0u32..).zip(&charted.run.phases) {
        for interval in Intervals::of(charted.series, number, phase, operation) {
            if interval.bytes > 0.0 {
                let (first, end) = (interval.start_s, interval.start_s + interval.seconds);
                extremes.add(first / longest_s, Stretch { first, end, value: interval.rate() });
            }
        }
    }
    extremes.kept()
}
