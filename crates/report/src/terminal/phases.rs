//! IOPS, throughput and latency of each phase, as users of fio expect them.

use super::tables::Table;
use crate::finding::numbers::{number, short_time};
use crate::quantity::{count, rough_rate};
use crate::style::{Style, Tone};
use model::estimate::Estimate;
use model::phase_row::PhaseRow;

/// Of more rows only the first are shown; exports have them all.
const ROWS_MAX: usize = 100;

pub(super) fn table(rows: &[PhaseRow], style: Style) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let shown = &rows[..rows.len().min(ROWS_MAX)];
    let header = ["phase", "operation", "IOPS", "throughput", "latency"];
    let mut table = Table::new(header, 4, style);
    for row in shown {
        let cells = vec![
            style.name(&row.phase),
            row.operation.name().into(),
            with_spread(number(row.iops.value), &row.iops),
            with_spread(rough_rate(row.bytes_per_second.value), &row.bytes_per_second),
            latencies(row),
        ];
        table.row(cells, Vec::new());
    }
    let mut lines = vec![style.paint(Tone::Heading, "Phases")];
    for line in table.lines() {
        lines.push(format!("  {line}"));
    }
    if rows.len() > shown.len() {
        lines.push(format!("  {} more: drivescope export", count((rows.len() - shown.len()) as u64)));
    }
    lines.push("  ± is the 95 % confidence interval.".into());
    lines
}

/// "mean 12.7 ms ±1 %, p50 12.6 ms, p99 20.8 ms, max 24.1 ms"
fn latencies(row: &PhaseRow) -> String {
    let mut parts =
        vec![format!("mean {}", with_spread(short_time(row.latency_mean.value), &row.latency_mean))];
    for (name, latency) in &row.latency_quantiles {
        parts.push(format!("{name} {}", short_time(latency.value)));
    }
    parts.push(format!("max {}", short_time(row.latency_max)));
    if row.errors > 0 {
        parts.push(format!("{} errors", count(row.errors)));
    }
    parts.join(", ")
}

/// Half of the interval as a share of the value; nothing of an open one.
fn with_spread(shown: String, estimate: &Estimate) -> String {
    let percent = (estimate.high - estimate.low) / 2.0 / estimate.value * 100.0;
    if !percent.is_finite() {
        return shown;
    }
    if percent < 10.0 { format!("{shown} ±{percent:.1} %") } else { format!("{shown} ±{percent:.0} %") }
}
