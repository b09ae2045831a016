//! What another program stated, figure by figure, as a table.

use super::tables::Table;
use crate::quantity::{capacity, rough_rate};
use crate::style::{Style, Tone};
use model::run::{PhaseSummary, Run};
use model::units::Bytes;
use model::workload::{Pattern, Workload};

/// Of more figures only the first are shown; the others are in the JSON document, and a series of places is in the chart.
const FIGURES_MAX: usize = 48;

/// All figures of a run that was imported, each as a row.
pub(super) fn figures(run: &Run, style: Style) -> Vec<String> {
    let stated: Vec<&PhaseSummary> =
        run.phases.iter().filter(|phase| phase.phase.experiment == "import").collect();
    if stated.is_empty() {
        return Vec::new();
    }
    let cells = stated.iter().take(FIGURES_MAX).map(|phase| row(phase, run, style)).collect();
    let header = ["figure", "requests", "at a time", "place", "rate", "per second"];
    let mut lines = vec![style.paint(Tone::Heading, "What was stated")];
    lines.extend(
        Table::new(header, 1, cells, style).lines(|_| Vec::new()).iter().map(|line| format!("  {line}")),
    );
    if stated.len() > FIGURES_MAX {
        lines.push(format!("  and {} more: see the JSON document", stated.len() - FIGURES_MAX));
    }
    lines
}

fn row(phase: &PhaseSummary, run: &Run, style: Style) -> Vec<String> {
    let seconds = phase.duration_ns as f64 / 1e9;
    let name = style.name(&phase.phase.name);
    let Some(workload) = &phase.phase.workload else {
        let count = phase.phase.stop.operations.unwrap_or(0) as f64;
        return vec![name, "files".into(), "-".into(), "-".into(), "-".into(), per_second(count / seconds)];
    };
    // Of what was read and written back, each counts once.
    let bytes = phase.totals.iter().map(|totals| totals.bytes).max().unwrap_or(0);
    let operations = phase.totals.iter().map(|totals| totals.operations).max().unwrap_or(0);
    let is_small = workload.block_sizes.largest().0 > 1;
    vec![
        name,
        match workload.pattern {
            Pattern::Mixed { .. } => "-".into(),
            _ if is_small => workload.block_sizes.largest().to_string(),
            _ => "bytes".into(),
        },
        workload.in_flight_max().to_string(),
        place(workload, run.target.capacity),
        rough_rate(bytes as f64 / seconds),
        if is_small { per_second(operations as f64 / seconds) } else { "-".into() },
    ]
}

fn per_second(number: f64) -> String {
    if number < 99.95 { format!("{number:.1}") } else { crate::quantity::count(number.round() as u64) }
}

/// From where on, and how much of it: "0 %, 500 GB". A dash when nobody says.
fn place(workload: &Workload, whole: Bytes) -> String {
    let range = workload.range;
    if range.is_empty() {
        return "-".into();
    }
    let size = capacity(range.bytes());
    if whole.0 == 0 {
        return format!("from {}, {size}", capacity(Bytes(range.first().0)));
    }
    format!("from {:.0} %, {size}", range.first().0 as f64 / whole.0 as f64 * 100.0)
}
