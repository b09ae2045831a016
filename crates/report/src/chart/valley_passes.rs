//! The charts of one pass of writes after the other, each in a row of its own: over the position, and over time.

use super::companions::{self, Visits};
use super::course::{Columns, Piece, each_piece};
use super::data::{Record, finding, flag, number, records_of};
use super::naming::{Names, Sketch};
use super::rate_over_position::position_axis;
use super::{Axis, Chart, ChartedRun, Series, Strip};
use model::finding::{FindingCode, Outcome};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::Bytes;
use model::workload::{Arrival, Pattern};

/// More rows are no picture any more.
const ROWS_MAX: usize = 5;

/// Passes over the position.
pub fn valleys_over_position(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let rows = rows(runs);
    let drawn: Vec<&Run> = rows.iter().map(|row| runs[row.run].run).collect();
    let x = position_axis(&drawn);
    let end = x.end;
    let covered = |_: &Row, summary: &PhaseSummary| {
        let first = summary.phase.workload.as_ref().map_or(0, |workload| workload.range.first().0) as f64;
        (first, first + summary.totals_of(Operation::Write).map_or(0.0, |totals| totals.bytes as f64))
    };
    let strips = companions::scattered(&x, visits(runs, &rows, covered).into_iter());
    let chart =
        chart(runs, rows, x, "valleys-over-position", "Write rate by position, pass by pass", |piece, _| {
            (piece.first_byte, end)
        })?;
    Some(chart.with_strips(strips))
}

/// Passes over the time since each began.
pub fn valleys_over_time(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let rows = rows(runs);
    let longest_s = rows.iter().map(|row| row.pass.end_s - row.pass.start_s).fold(0.0, f64::max);
    let x = Axis::of_duration("Time since the pass began", longest_s);
    let since_began = |row: &Row, summary: &PhaseSummary| {
        let start_s = summary.start_ns as f64 / 1e9 - row.pass.start_s;
        (start_s, start_s + summary.duration_ns as f64 / 1e9)
    };
    let strips = companions::scattered(&x, visits(runs, &rows, since_began).into_iter());
    let chart = chart(
        runs,
        rows,
        x,
        "valleys-over-time",
        "Write rate over time, pass by pass",
        move |piece, pass| (piece.start_s - pass.start_s, longest_s),
    )?;
    Some(chart.with_strips(strips))
}

/// A pass of a run, in a row.
struct Row {
    run: usize,
    name: String,
    pass: Pass,
}

/// When the phases of the passes that are drawn were, and where they stand on an axis across.
fn visits<'run>(
    runs: &'run [ChartedRun<'run>],
    rows: &[Row],
    place: impl Fn(&Row, &PhaseSummary) -> (f64, f64),
) -> Vec<(usize, &'run ChartedRun<'run>, Visits)> {
    let of_run = |(index, charted): (usize, &'run ChartedRun<'run>)| {
        let of_phase = |phase: u32, summary: &PhaseSummary| {
            let row = rows.iter().find(|row| row.run == index && row.pass.phases.contains(&phase))?;
            Some(place(row, summary))
        };
        (index, charted, Visits::of(charted.run, of_phase))
    };
    runs.iter().enumerate().map(of_run).collect()
}

/// Writes in order from the first place to the last.
#[derive(Clone)]
struct Pass {
    phases: Vec<u32>,
    block: Bytes,
    is_slowed: bool,
    last_first: u64,
    start_s: f64,
    end_s: f64,
    bytes: u64,
}

fn chart(
    runs: &[ChartedRun<'_>],
    rows: Vec<Row>,
    x: Axis,
    name: &'static str,
    title: &str,
    place: impl Fn(&Piece, &Pass) -> (f64, f64),
) -> Option<Chart> {
    let names = Names::of(runs);
    let mut lines: Vec<(String, Series)> = Vec::new();
    for row in rows {
        let charted = &runs[row.run];
        let mut columns = None;
        for &phase in &row.pass.phases {
            let summary = charted.run.phases.get(phase as usize)?;
            let mut is_first = true;
            each_piece(charted.series, phase, summary, Operation::Write, |piece| {
                let (at, end) = place(&piece, &row.pass);
                let columns = columns.get_or_insert_with(|| Columns::until(end));
                if std::mem::take(&mut is_first) {
                    columns.interrupt(at);
                }
                columns.add(at, piece.rate());
            });
        }
        let layers = columns.map_or(Vec::new(), Columns::lines);
        lines.push((row.name, Series::new(names.series(row.run, "write rate"), layers).of_run(row.run)));
    }
    let tops = lines.iter().flat_map(|(_, series)| series.points()).map(|point| point.value);
    let y = Axis::of_rates("", tops.fold(0.0, f64::max));
    let described = |(name, series): &(String, Series)| {
        let values = || series.points().map(|point| point.value);
        let ends =
            [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)].map(|end| y.amount(end));
        format!("{name}: between {} and {}.", ends[0], ends[1])
    };
    let description = lines.iter().map(described).collect::<Vec<_>>().join(" ");
    let mut lines = lines.into_iter();
    let (first, series) = lines.next()?;
    let strip = |(name, series): (String, Series)| Strip {
        name,
        y: y.clone(),
        series: vec![series],
        marks: Vec::new(),
        is_equal: true,
    };
    let strips: Vec<Strip> = lines.map(strip).collect();
    let chart = names.chart(Sketch {
        name,
        title: title.into(),
        description,
        x,
        y: Axis { label: first, ..y.clone() },
        series: vec![series],
        marks: Vec::new(),
        findings: vec![FindingCode::WriteValleys, FindingCode::ValleyCure],
    })?;
    Some(chart.with_strips(strips))
}

/// The passes to be shown: the first and the last, and some between.
fn rows(runs: &[ChartedRun<'_>]) -> Vec<Row> {
    let names = Names::of(runs);
    let mut rows = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let told = finding(charted.run, FindingCode::WriteValleys);
        if !told.is_some_and(|finding| matches!(finding.outcome, Outcome::Known(_))) {
            continue;
        }
        let passes = passes(charted.run);
        for (number, pass) in (1..).zip(&passes) {
            let is_alike = |other: &&Pass| {
                (other.block, other.is_slowed, other.bytes) == (pass.block, pass.is_slowed, pass.bytes)
            };
            let alike_before = passes[..number - 1].iter().filter(is_alike).count();
            let count = valleys(charted.run, pass, alike_before).map_or(String::new(), |count| match count {
                1 => ": 1 valley".into(),
                count => format!(": {count} valleys"),
            });
            let slowed = if pass.is_slowed { ", slowed" } else { "" };
            let what = format!("pass {number} in blocks of {}{slowed}{count}", pass.block);
            rows.push(Row { run: index, name: sentence(&names.series(index, &what)), pass: pass.clone() });
        }
    }
    let count = rows.len();
    let is_shown = |index: usize| {
        count <= ROWS_MAX || (0..ROWS_MAX).any(|row| row * (count - 1) / (ROWS_MAX - 1) == index)
    };
    rows.into_iter().enumerate().filter(|(index, _)| is_shown(*index)).map(|(_, row)| row).collect()
}

fn sentence(text: &str) -> String {
    super::rate_over_position::sentence_case(text)
}

/// The passes of a run in the order of time: a pass goes on as long as places follow each other and nothing else changes.
fn passes(run: &Run) -> Vec<Pass> {
    let mut passes: Vec<Pass> = Vec::new();
    for (phase, summary) in (0u32..).zip(&run.phases) {
        let Some(workload) = summary.phase.workload.as_ref() else { continue };
        let Some(totals) = summary.totals_of(Operation::Write) else { continue };
        let Some(block) = workload.block_sizes.single() else { continue };
        if summary.phase.kind != PhaseKind::Measure || workload.pattern != Pattern::Sequential {
            continue;
        }
        let first = workload.range.first().0;
        let is_slowed = workload.arrival != Arrival::ClosedLoop;
        let start_s = summary.start_ns as f64 / 1e9;
        let seconds = summary.duration_ns as f64 / 1e9;
        let open = passes
            .last_mut()
            .filter(|pass| pass.block == block && pass.is_slowed == is_slowed && first > pass.last_first);
        match open {
            Some(pass) => {
                pass.phases.push(phase);
                pass.last_first = first;
                pass.end_s = start_s + seconds;
                pass.bytes += totals.bytes;
            }
            None => passes.push(Pass {
                phases: vec![phase],
                block,
                is_slowed,
                last_first: first,
                start_s,
                end_s: start_s + seconds,
                bytes: totals.bytes,
            }),
        }
    }
    passes
}

/// How many valleys the detector counted in the pass that comes after so many that were alike. Of slowed passes it counts less than can
/// be seen: what they catch up after a valley hides the next.
fn valleys(run: &Run, pass: &Pass, alike_before: usize) -> Option<u64> {
    let rows = records_of(run, FindingCode::WriteValleys, "passes");
    let is_alike = |row: &&Record<'_>| {
        let is = |name: &str, value: f64| number(row, name) == Some(value);
        !flag(row, "slowed") && is("bytes", pass.bytes as f64) && is("block_bytes", pass.block.0 as f64)
    };
    let row = rows.iter().filter(is_alike).nth(alike_before)?;
    number(row, "valleys").filter(|_| !pass.is_slowed).map(|count| count as u64)
}
