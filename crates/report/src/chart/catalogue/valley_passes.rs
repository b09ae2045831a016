//! The charts of one pass of writes after the other, each in a row of its own: over the position, and over time.

use super::rate_over_position::{position_axis, sentence_case};
use crate::chart::companions::{self, Sampled, Samples};
use crate::chart::course::{Columns, Intervals};
use crate::chart::naming::{Names, highest_of, values_of};
use crate::chart::phase::{measured, seconds, start_s};
use crate::chart::{Across, Axis, Chart, ChartedRun, Series, Strip};
use model::finding::{FindingCode, WriteValleys, known};
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::Bytes;
use model::workload::{Arrival, Pattern};
use std::collections::BTreeMap;

const ROWS_MAX: usize = 5;

pub fn valleys_over_position(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let rows = rows(runs);
    let drawn: Vec<&Run> = rows.iter().map(|row| runs[row.run].run).collect();
    let title = "Write throughput by LBA, pass by pass";
    let chart = chart(runs, &rows, Over::Position, position_axis(&drawn), "valleys-over-position", title)?;
    Some(Chart { across: Across::Position { is_random: false }, ..chart })
}

pub fn valleys_over_time(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let rows = rows(runs);
    let longest_s = highest_of(rows.iter().map(|row| row.pass.end_s - row.pass.start_s));
    let x = Axis::of_duration("Time in the pass", longest_s);
    chart(runs, &rows, Over::Time, x, "valleys-over-time", "Write throughput over time, pass by pass")
}

#[derive(Clone, Copy)]
enum Over {
    Position,
    Time,
}

struct Row {
    run: usize,
    name: String,
    pass: Pass,
}

/// Writes in order from the first place to the last.
struct Pass {
    phases: Vec<u32>,
    block: Bytes,
    is_slowed: bool,
    last_first: u64,
    start_s: f64,
    end_s: f64,
    bytes: u64,
}

fn samples<'run>(runs: &'run [ChartedRun<'run>], rows: &[Row], over: Over) -> Vec<Sampled<'run>> {
    let mut sampled = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        let mut samples = Samples::default();
        for (phase, summary) in (0u32..).zip(&charted.run.phases) {
            for row in rows {
                if row.run == index && row.pass.phases.contains(&phase) {
                    samples.add(summary, extent(summary, &row.pass, over));
                    break;
                }
            }
        }
        sampled.push((index, charted, samples));
    }
    sampled
}

fn extent(summary: &PhaseSummary, pass: &Pass, over: Over) -> (f64, f64) {
    match over {
        Over::Position => {
            let workload = summary.phase.workload.as_ref();
            let first = workload.map_or(0.0, |workload| workload.range.first().as_f64());
            (first, first + summary.bytes_of(Operation::Write) as f64)
        }
        Over::Time => {
            let start_s = start_s(summary) - pass.start_s;
            (start_s, start_s + seconds(summary))
        }
    }
}

fn chart(
    runs: &[ChartedRun<'_>],
    rows: &[Row],
    over: Over,
    x: Axis,
    name: &'static str,
    title: &str,
) -> Option<Chart> {
    let names = Names::of(runs);
    let mut lines: Vec<Series> = Vec::new();
    for row in rows {
        let lines_of_row = line(&runs[row.run], &row.pass, over, &x).lines();
        lines.push(Series::new(names.series(row.run, "write rate"), lines_of_row).of_run(row.run));
    }
    let (_, highest) = values_of(&lines).unwrap_or((0.0, 0.0));
    let y = Axis::of_rates("", highest);
    let mut sentences = Vec::new();
    for (row, series) in rows.iter().zip(&lines) {
        let (low, high) = values_of(std::slice::from_ref(series)).unwrap_or((f64::INFINITY, 0.0));
        sentences.push(format!("{}: between {} and {}.", row.name, y.amount(low), y.amount(high)));
    }
    let mut named = rows.iter().zip(lines);
    let (first, series) = named.next()?;
    let mut strips = Vec::new();
    for (row, series) in named {
        let (name, y) = (row.name.clone(), y.clone());
        strips.push(Strip { name, y, series: vec![series], marks: Vec::new(), is_equal: true });
    }
    strips.extend(companions::scattered(&x, samples(runs, rows, over)));
    let y = Axis { label: first.name.clone(), ..y };
    let chart = names.chart(name, title, (x, y), vec![series])?;
    let findings = vec![FindingCode::WriteValleys, FindingCode::ValleyCure];
    Some(Chart { description: sentences.join(" "), findings, strips, ..chart })
}

fn line(charted: &ChartedRun<'_>, pass: &Pass, over: Over, x: &Axis) -> Columns {
    let mut columns = Columns::until(x.end);
    for &phase in &pass.phases {
        let summary = &charted.run.phases[phase as usize];
        for (index, interval) in Intervals::of(charted.series, phase, summary, Operation::Write).enumerate() {
            let at = match over {
                Over::Position => interval.first_byte,
                Over::Time => interval.start_s - pass.start_s,
            };
            if index == 0 {
                columns.interrupt(at);
            }
            columns.add(at, interval.rate());
        }
    }
    columns
}

/// The passes to be shown: the first and the last, and some between.
fn rows(runs: &[ChartedRun<'_>]) -> Vec<Row> {
    let names = Names::of(runs);
    let mut rows = Vec::new();
    for (run, charted) in runs.iter().enumerate() {
        if known::<WriteValleys>(&charted.run.findings).is_none() {
            continue;
        }
        let mut alike: BTreeMap<(Bytes, bool, u64), usize> = BTreeMap::new();
        for (number, pass) in (1..).zip(passes(charted.run)) {
            let alike_before = alike.entry((pass.block, pass.is_slowed, pass.bytes)).or_default();
            let count = match valleys(charted.run, &pass, *alike_before) {
                None => String::new(),
                Some(0) => " (no valleys)".into(),
                Some(1) => " (1 valley)".into(),
                Some(count) => format!(" ({count} valleys)"),
            };
            *alike_before += 1;
            let slowed = if pass.is_slowed { ", rate-limited" } else { "" };
            let what = format!("pass {number}, {} blocks{slowed}{count}", pass.block);
            rows.push(Row { run, name: sentence_case(&names.series(run, &what)), pass });
        }
    }
    let mut shown = Vec::new();
    let count = rows.len();
    for (index, row) in rows.into_iter().enumerate() {
        if count <= ROWS_MAX || (0..ROWS_MAX).any(|row| row * (count - 1) / (ROWS_MAX - 1) == index) {
            shown.push(row);
        }
    }
    shown
}

/// The passes of a run in the order of time: a pass goes on as long as places follow each other and nothing else changes.
fn passes(run: &Run) -> Vec<Pass> {
    let mut passes: Vec<Pass> = Vec::new();
    for (phase, summary) in (0u32..).zip(&run.phases) {
        let Some(workload) = measured(summary) else { continue };
        let Some(totals) = summary.totals_of(Operation::Write) else { continue };
        let Some(block) = workload.block_sizes.single() else { continue };
        if workload.pattern != Pattern::Sequential {
            continue;
        }
        let first = workload.range.first().get();
        let is_slowed = workload.arrival != Arrival::ClosedLoop;
        let start_s = start_s(summary);
        let end_s = start_s + seconds(summary);
        match passes.last_mut() {
            Some(pass) if pass.block == block && pass.is_slowed == is_slowed && first > pass.last_first => {
                pass.phases.push(phase);
                pass.last_first = first;
                pass.end_s = end_s;
                pass.bytes += totals.bytes;
            }
            _ => passes.push(Pass {
                phases: vec![phase],
                block,
                is_slowed,
                last_first: first,
                start_s,
                end_s,
                bytes: totals.bytes,
            }),
        }
    }
    passes
}

/// How many valleys the detector counted in the pass behind so many that were alike. Of a slowed pass more may be seen.
fn valleys(run: &Run, pass: &Pass, alike_before: usize) -> Option<u64> {
    let mut alike = Vec::new();
    for row in &known::<WriteValleys>(&run.findings)?.conclusion.passes {
        if !row.slowed && row.bytes == pass.bytes && row.block_bytes == pass.block {
            alike.push(row.valleys);
        }
    }
    if pass.is_slowed { None } else { alike.get(alike_before).copied() }
}
