//! What another program stated, figure by figure, as a table.

use super::tables::Table;
use crate::finding::numbers::short_time;
use crate::quantity::{capacity, count, rough_rate};
use crate::style::{Style, Tone};
use model::experiment_name::ExperimentName;
use model::histogram::LatencyHistogram;
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, Quantile};
use model::workload::{Pattern, Workload};

/// Of more figures only the first are shown; the others are in the JSON document, and a series of places is in the chart.
const FIGURES_MAX: usize = 48;
const HEADER: [&str; 8] = ["figure", "requests", "QD", "offset", "rate", "per second", "p99", "p99.9"];
/// Columns of [`HEADER`] that are left out where nothing stands in them.
const OFFSET: usize = 3;
const LATENCIES: usize = 6;

pub(super) fn is_imported(run: &Run) -> bool {
    run.phases.iter().any(is_stated)
}

fn is_stated(phase: &PhaseSummary) -> bool {
    phase.phase.experiment == ExperimentName::Import
}

pub(super) fn figures(run: &Run, style: Style) -> Vec<String> {
    let phases: Vec<&PhaseSummary> = run.phases.iter().filter(|phase| is_stated(phase)).collect();
    let shown = &phases[..phases.len().min(FIGURES_MAX)];
    if shown.is_empty() {
        return Vec::new();
    }
    let has_offsets = shown.iter().any(|phase| has_place(phase));
    let has_latencies = shown.iter().any(|phase| latencies(phase).is_some());
    let columns = |cells: Vec<String>| {
        let mut kept = Vec::new();
        for (at, cell) in cells.into_iter().enumerate() {
            if (at != OFFSET || has_offsets) && (at < LATENCIES || has_latencies) {
                kept.push(cell);
            }
        }
        kept
    };
    let header = columns(HEADER.map(str::to_owned).to_vec());
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(&header, 1, style);
    for phase in shown {
        let mut cells = row(phase, run, style);
        cells.extend(percentiles(phase));
        table.row(columns(cells), Vec::new());
    }
    let mut lines = vec![style.paint(Tone::Heading, "Stated figures")];
    for line in table.lines() {
        lines.push(format!("  {line}"));
    }
    if phases.len() > FIGURES_MAX {
        lines.push(format!("  and {} more: see the JSON document", phases.len() - FIGURES_MAX));
    }
    lines
}

fn row(phase: &PhaseSummary, run: &Run, style: Style) -> Vec<String> {
    let seconds = phase.duration_ns as f64 / 1e9;
    let name = style.name(&phase.phase.name);
    let Some(workload) = &phase.phase.workload else {
        let count = phase.phase.stop.operations.unwrap_or(0) as f64;
        let what = if phase.totals.is_empty() { "files" } else { "flushes" };
        return vec![name, what.into(), "-".into(), "-".into(), "-".into(), per_second(count / seconds)];
    };
    // What was read and written back counts once; of other mixtures both sides stand here, reads first.
    let sides = match phase.totals.as_slice() {
        [reads, writes] if reads.bytes == writes.bytes => &phase.totals[..1],
        sides => sides,
    };
    let mut rates = Vec::new();
    for side in sides {
        // What fio writes between its flushes stands in a row of its own.
        rates.push(if side.bytes == 0 { "-".into() } else { rough_rate(side.bytes as f64 / seconds) });
    }
    let counts: Vec<String> = sides.iter().map(|side| per_second(side.operations as f64 / seconds)).collect();
    let is_small = workload.block_sizes.largest().get() > 1;
    vec![
        name,
        match workload.pattern {
            Pattern::Mixed { .. } => "-".into(),
            _ if is_small => workload.block_sizes.largest().to_string(),
            _ => "bytes".into(),
        },
        workload.in_flight_max().to_string(),
        place(workload, run.target.capacity),
        rates.join(" + "),
        if is_small { counts.join(" + ") } else { "-".into() },
    ]
}

fn has_place(phase: &PhaseSummary) -> bool {
    phase.phase.workload.as_ref().is_some_and(|workload| !workload.range.is_empty())
}

/// All latencies of a figure, if the program told them.
fn latencies(phase: &PhaseSummary) -> Option<&LatencyHistogram> {
    let [totals] = phase.totals.as_slice() else { return None };
    if totals.histogram.count() > 0 { Some(&totals.histogram) } else { None }
}

fn percentiles(phase: &PhaseSummary) -> [String; 2] {
    [Quantile::P99, Quantile::P999].map(|quantile| {
        let latency = latencies(phase).and_then(|latencies| latencies.quantile(quantile));
        latency.map_or("-".into(), |latency| short_time(latency.seconds()))
    })
}

fn per_second(number: f64) -> String {
    if number < 99.95 { format!("{number:.1}") } else { count(number.round() as u64) }
}

/// From where on, and how much of it: "0 %, 500 GB". A dash when nobody says.
fn place(workload: &Workload, whole: Bytes) -> String {
    let range = workload.range;
    if range.is_empty() {
        return "-".into();
    }
    let size = capacity(range.bytes());
    if whole.is_zero() {
        return format!("from {}, {size}", capacity(range.first().from_start()));
    }
    format!("from {:.0} %, {size}", range.first().as_f64() / whole.as_f64() * 100.0)
}
