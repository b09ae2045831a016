//! The run from its start to its end: the chart in which every finding can show what it rests on, since evidence is a stretch
//! of time.

use crate::chart::companions::{self, Visits};
use crate::chart::{Axis, Chart, ChartedRun, Layer, Mark, Numbers, Place, Series, Stretch, chart_names};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run};

/// The word for the chart.
pub(super) const NAME: &str = "course";
/// Columns of which the lowest and the highest rate are kept, in a time that a screen shows at once.
const COLUMNS: usize = 2048;
/// More runs in one chart hide each other.
const RUNS_MAX: usize = 4;
/// Slices with fewer requests are drawn together with the next ones: one request more or less would look like another rate.
const REQUESTS_MIN: u64 = 8;

/// Rates over the time of these runs; none when nothing was moved, or they are too many for one chart.
pub(super) fn chart(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    if runs.len() > RUNS_MAX {
        return None;
    }
    let names = chart_names(&runs.iter().map(|charted| charted.run).collect::<Vec<_>>());
    let longest_s = runs.iter().map(|charted| seconds(charted.run)).fold(0.0, f64::max);
    let mut series = Vec::new();
    let mut marks = Vec::new();
    for (number, charted) in runs.iter().enumerate() {
        for (operation, word) in [(Operation::Read, "read"), (Operation::Write, "write")] {
            let points = rates(charted, operation, longest_s);
            let name = charted.letter.map_or(word.to_string(), |letter| format!("{letter}  {word}"));
            if !points.is_empty() {
                series.push(Series::new(name, vec![Layer::Measured(points)]).of_run(number));
            }
        }
        marks.extend(rests(charted.run));
    }
    let values = || series.iter().flat_map(measured).map(|point| point.value).filter(|rate| *rate > 0.0);
    let range = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    if !range.0.is_finite() {
        return None;
    }
    let x = Axis::of_duration("Time in the run", longest_s);
    let whole = |charted: &ChartedRun<'_>| ((0.0, seconds(charted.run)), (0.0, seconds(charted.run)));
    let of_run = |(number, charted)| (number, charted, Visits::new(vec![whole(charted)]));
    let strips = companions::along(&x, runs.iter().enumerate().map(of_run));
    Some(Chart {
        name: NAME,
        title: "The run from start to end".into(),
        subject: if runs.len() == 1 { names[0].clone() } else { format!("{} runs", runs.len()) },
        description: "How much was read and written at each moment, with everything that the run did, in order. Findings rest on stretches of \
            this time."
            .into(),
        source: String::new(),
        x,
        y: Axis::of_decades("Rate", range, Numbers::Rates),
        series,
        marks,
        level_name: "",
        findings: Vec::new(),
        beside: None,
        strips,
        meanwhile: Vec::new(),
    })
}

fn measured(series: &Series) -> &[Stretch] {
    match series.layers.first() {
        Some(Layer::Measured(stretches)) => stretches,
        _ => &[],
    }
}

fn seconds(run: &Run) -> f64 {
    run.phases.iter().map(PhaseSummary::end_ns).max().unwrap_or(0) as f64 / 1e9
}

fn rests(run: &Run) -> Vec<Mark> {
    let idle = run.phases.iter().filter(|phase| phase.phase.kind == PhaseKind::Idle);
    let mark = |phase: &PhaseSummary| {
        let first = phase.start_ns as f64 / 1e9;
        let end = first + phase.duration_ns as f64 / 1e9;
        Mark { name: "pause".into(), series: None, place: Place::Pause { first, end }, finding: None }
    };
    idle.map(mark).collect()
}

/// The lowest and the highest rate of each column of time.
fn rates(charted: &ChartedRun<'_>, operation: Operation, longest_s: f64) -> Vec<Stretch> {
    let mut columns: Vec<Option<(Stretch, Stretch)>> = vec![None; COLUMNS];
    let mut keep = |stretch: Stretch| {
        let index = (stretch.first / longest_s * COLUMNS as f64) as usize;
        let (low, high) = columns[index.min(COLUMNS - 1)].get_or_insert((stretch, stretch));
        if stretch.value < low.value {
            *low = stretch;
        }
        if stretch.value > high.value {
            *high = stretch;
        }
    };
    for (number, phase) in (0u32..).zip(&charted.run.phases) {
        let Some(totals) = phase.totals_of(operation).filter(|totals| totals.bytes > 0) else { continue };
        let mut open = Piece::default();
        let mut has_slices = false;
        for slice in charted.series.into_iter().flat_map(|series| series.intervals(number)) {
            if slice.operation == operation {
                has_slices |=
                    open.add(slice.start_ns, slice.duration_ns, slice.bytes, slice.operations, &mut keep);
            }
        }
        if !has_slices && phase.duration_ns > 0 {
            keep(stretch(phase.start_ns, phase.duration_ns, totals.bytes));
        }
    }
    let pair = |(low, high): (Stretch, Stretch)| if low == high { vec![low] } else { vec![low, high] };
    columns.into_iter().flatten().flat_map(pair).collect()
}

/// Slices that are drawn as one.
#[derive(Default)]
struct Piece {
    start_ns: Option<u64>,
    duration_ns: u64,
    bytes: u64,
    operations: u64,
}

impl Piece {
    /// Takes one more slice; whether that made it full, and it was kept.
    fn add(
        &mut self,
        start_ns: u64,
        duration_ns: u64,
        bytes: u64,
        operations: u64,
        keep: &mut impl FnMut(Stretch),
    ) -> bool {
        let start = *self.start_ns.get_or_insert(start_ns);
        self.duration_ns += duration_ns;
        self.bytes += bytes;
        self.operations += operations;
        let is_full = self.operations >= REQUESTS_MIN && self.duration_ns > 0;
        if is_full {
            keep(stretch(start, self.duration_ns, self.bytes));
            *self = Piece::default();
        }
        is_full
    }
}

fn stretch(start_ns: u64, duration_ns: u64, bytes: u64) -> Stretch {
    let first = start_ns as f64 / 1e9;
    let seconds = duration_ns as f64 / 1e9;
    Stretch { first, end: first + seconds, value: bytes as f64 / seconds }
}
