//! IOPS, throughput and latency of each phase, as users of fio expect them.

use super::tables::Table;
use crate::finding::numbers::{number, short_time};
use crate::quantity::{count, counted, rough_rate, rough_time, size};
use crate::style::{Style, Tone, paragraph};
use model::estimate::Estimate;
use model::phase_row::PhaseRow;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::PhaseSummary;
use model::units::Nanos;

/// Of more rows only the first are shown; exports have them all.
const ROWS_MAX: usize = 100;
const INDENT: &str = "  ";
/// A flush that takes this share of its phase makes as much of a difference to the throughput.
const LONG_SHARE: f64 = 0.1;
const FLUSHES_MAX: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Jobs,
    Phases,
    /// Their pace decides IOPS and throughput, and not the drive.
    Paced,
}

pub(super) fn table(rows: &[PhaseRow], phases: &[PhaseSummary], kind: Kind, style: Style) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let (title, name) = match kind {
        Kind::Jobs => ("Jobs", "job"),
        Kind::Phases => ("Phases", "phase"),
        Kind::Paced => ("Latency", "phase"),
    };
    let shown = &rows[..rows.len().min(ROWS_MAX)];
    let style_inside = Style { width: style.columns().saturating_sub(INDENT.len()), ..style };
    // The only phase of an experiment needs no name.
    let skipped = usize::from(kind != Kind::Jobs && rows.len() == 1);
    let header = [name, "operation", "block", "QD", "IOPS", "throughput", "errors", "CPU"];
    let has_cpu = rows.iter().any(|row| row.cpu_share.is_some());
    let header = &header[skipped..header.len() - usize::from(!has_cpu)];
    let mut table = Table::new(header, 1, style_inside);
    for row in shown {
        let cpu = row.cpu_share.map_or("-".into(), |share| format!("{} %", number(100.0 * share)));
        let mut cells = vec![
            style.name(&row.phase),
            row.operation.name().into(),
            row.block.map_or("mixed".into(), size),
            count(row.queue_depth),
            style.own(&with_spread(number(row.iops.value), &row.iops)),
            style.own(&with_spread(rough_rate(row.bytes_per_second.value), &row.bytes_per_second)),
            count(row.errors),
        ];
        if has_cpu {
            cells.push(cpu);
        }
        table.row(cells.split_off(skipped), Vec::new());
    }
    let mut lines = vec![style.paint(Tone::Heading, title)];
    if kind != Kind::Paced {
        lines.extend(indented(&table));
        lines.push(String::new());
    }
    lines.extend(indented(&latencies(shown, name, skipped, style_inside)));
    let mut notes = Vec::new();
    // Beside the findings of a paced run their intervals are explained already.
    if kind != Kind::Paced {
        notes.push("± is the 95 % confidence interval.".to_string());
    }
    if is_mixed(shown) {
        notes.push("Reads and writes of a job share its QD.".into());
    }
    if has_cpu && kind != Kind::Paced {
        notes.push("CPU is the share of all processors that drivescope used.".into());
    }
    if rows.len() > shown.len() {
        notes.push(format!("{} more: drivescope export.", count((rows.len() - shown.len()) as u64)));
    }
    if !notes.is_empty() {
        lines.extend(paragraph("  ", &style.own(&notes.join(" ")), style.columns()));
    }
    let flushes = if kind == Kind::Jobs { long_flushes(phases, style) } else { Vec::new() };
    for text in flushes {
        lines.extend(paragraph("  ", &text, style.columns()));
    }
    lines
}

/// What a cache took quickly and stored slowly: the rows above leave the flush out, as fio's do without `end_fsync`.
fn long_flushes(phases: &[PhaseSummary], style: Style) -> Vec<String> {
    let (mut told, mut untold) = (Vec::new(), 0);
    for summary in phases.iter().filter(|summary| summary.phase.kind == PhaseKind::Measure) {
        let (own, flush) = (Nanos::new(summary.duration_ns), Nanos::new(summary.flush_ns()));
        let written = summary.bytes_of(Operation::Write);
        if written == 0 || flush.seconds() < LONG_SHARE * own.seconds() {
            continue;
        }
        if told.len() == FLUSHES_MAX {
            untold += 1;
            continue;
        }
        let rate = style.own(&rough_rate(written as f64 / (own + flush).seconds()));
        let (name, took) = (style.name(&summary.phase.name), style.own(&rough_time(flush)));
        told.push(format!("Flush after {name}: {took}; write throughput including it: {rate}."));
    }
    if untold > 0 {
        told.push(format!("{} not shown.", counted(untold, "more long flush", "more long flushes")));
    }
    told
}

fn is_mixed(rows: &[PhaseRow]) -> bool {
    rows.windows(2).any(|pair| pair[0].phase == pair[1].phase && pair[0].operation != pair[1].operation)
}

fn latencies(rows: &[PhaseRow], name: &str, skipped: usize, style: Style) -> Table {
    // A percentile that no row has enough requests for gets no column.
    let mut percentiles = vec!["p50", "p99", "p99.9"];
    percentiles.retain(|name| rows.iter().any(|row| quantile(row, name).is_some()));
    let header = [&[name, "operation", "mean"], percentiles.as_slice(), &["max"]].concat();
    let mut table = Table::new(&header[skipped..], 1, style);
    for row in rows {
        let mut cells = vec![
            style.name(&row.phase),
            row.operation.name().into(),
            style.own(&with_spread(short_time(row.latency_mean.value), &row.latency_mean)),
        ];
        for name in &percentiles {
            cells.push(quantile(row, name).map_or("-".into(), |latency| style.own(&short_time(latency))));
        }
        cells.push(style.own(&short_time(row.latency_max)));
        table.row(cells.split_off(skipped), Vec::new());
    }
    table
}

fn quantile(row: &PhaseRow, name: &str) -> Option<f64> {
    let (_, latency) = row.latency_quantiles.iter().find(|(known, _)| *known == name)?;
    Some(latency.value)
}

fn indented(table: &Table) -> Vec<String> {
    table.lines().iter().map(|line| format!("{INDENT}{line}")).collect()
}

/// Half of the interval as a share of the value; nothing of an open one.
fn with_spread(shown: String, estimate: &Estimate) -> String {
    let percent = (estimate.high - estimate.low) / 2.0 / estimate.value * 100.0;
    if !percent.is_finite() {
        return shown;
    }
    match percent {
        ..0.05 => format!("{shown} ±<0.1 %"),
        ..10.0 => format!("{shown} ±{percent:.1} %"),
        _ => format!("{shown} ±{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::{Phase, StopCondition};
    use model::run::OperationTotals;

    /// Wrote 1 GB in ten seconds, and then flushed for so long.
    fn job(name: &str, flush_ns: u64) -> PhaseSummary {
        let phase = Phase {
            name: name.into(),
            experiment: "jobs".into(),
            kind: PhaseKind::Measure,
            workload: None,
            stop: StopCondition::one_pass(),
        };
        let mut flush = OperationTotals::none(Operation::Flush);
        flush.histogram.record(flush_ns);
        let writes = OperationTotals { bytes: 1_000_000_000, ..OperationTotals::none(Operation::Write) };
        let totals = vec![writes, flush];
        PhaseSummary { duration_ns: 10_000_000_000, totals, ..PhaseSummary::begun(phase, 0) }
    }

    #[test]
    fn flushes_of_a_tenth_of_the_phase_are_told_and_counted_from_the_sixth_on() {
        let style = Style { width: 80, colour: false, unicode: true, draws: true };
        assert_eq!(long_flushes(&[job("w", 999_000_000)], style), Vec::<String>::new());
        let told = long_flushes(&[job("w", 10_000_000_000)], style);
        assert_eq!(told, ["Flush after w: 10 s; write throughput including it: 50.0 MB/s."]);
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let told = long_flushes(&names.map(|name| job(name, 1_100_000_000)), style);
        assert_eq!(told.len(), 6);
        assert_eq!(told[5], "2 more long flushes not shown.");
    }
}
