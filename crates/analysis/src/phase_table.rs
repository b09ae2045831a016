//! IOPS, throughput and latency of each measured phase, by operation.

use crate::measured::Slice;
use crate::stats::quantile::of_histogram;
use crate::stats::ratio::{Pair, ratio_of_sums};
use crate::stats::{CONFIDENCE, bounded, scaled};
use model::estimate::Estimate;
use model::phase_row::PhaseRow;
use model::plan::PhaseKind;
use model::record::INTERVAL_NS;
use model::run::{OperationTotals, PhaseSummary, RunView};
use model::units::Quantile;

/// 10 to 30 batches suffice, and each has to be longer than what correlates in it (Schmeiser 1982).
const BATCHES_MAX: u64 = 20;
const BATCHES_MIN: usize = 10;

const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

/// The rows of all measured phases, in their order; a mixed phase has one for each operation.
pub fn phase_rows(run: &RunView<'_>) -> Vec<PhaseRow> {
    let mut rows = Vec::new();
    for (number, summary) in (0u32..).zip(run.phases) {
        if summary.phase.kind != PhaseKind::Measure {
            continue;
        }
        for totals in &summary.totals {
            rows.extend(row(run, number, summary, totals));
        }
    }
    rows
}

fn row(run: &RunView<'_>, number: u32, summary: &PhaseSummary, totals: &OperationTotals) -> Option<PhaseRow> {
    let workload = summary.phase.workload.as_ref()?;
    let batches = Batches::of(run, number, summary, totals);
    let mut latency_quantiles = Vec::new();
    for (name, share) in QUANTILES {
        if let Some(latency) = of_histogram(&totals.histogram, Quantile::new(share)?, CONFIDENCE) {
            latency_quantiles.push((name, scaled(&latency, 1e-9)));
        }
    }
    Some(PhaseRow {
        phase: summary.phase.name.clone(),
        operation: totals.operation,
        block: workload.block_sizes.single(),
        queue_depth: u64::from(workload.queue_depth) * u64::from(workload.threads),
        errors: totals.errors,
        iops: batches.per_second(totals.operations, Slice::operations_over_seconds)?,
        bytes_per_second: batches.per_second(totals.bytes, Slice::bytes_over_seconds)?,
        latency_mean: batches.latency_mean(totals)?,
        latency_quantiles,
        latency_max: totals.histogram.max()?.seconds(),
        cpu_share: cpu_share(run, summary),
    })
}

/// Mean over the telemetry of the phase. A record covers the time since the one before, so the first may begin earlier.
fn cpu_share(run: &RunView<'_>, summary: &PhaseSummary) -> Option<f64> {
    let time = summary.start_ns..=summary.end_ns();
    let (mut sum, mut records) = (0.0, 0.0);
    for record in run.series.telemetry() {
        if !(time.contains(&record.at_ns)) {
            continue;
        }
        if let Some(share) = record.own_cpu_share {
            sum += share;
            records += 1.0;
        }
    }
    if records > 0.0 { Some(sum / records) } else { None }
}

/// A phase in parts of equal time, each of whole intervals. They are all that is kept of it, however long it was.
struct Batches {
    seconds: f64,
    batches: Vec<Slice>,
}

impl Batches {
    fn of(run: &RunView<'_>, number: u32, summary: &PhaseSummary, totals: &OperationTotals) -> Batches {
        let intervals = summary.duration_ns.div_ceil(INTERVAL_NS);
        let batch_ns = intervals.div_ceil(BATCHES_MAX).max(1) * INTERVAL_NS;
        let mut batches = vec![Slice::default(); summary.duration_ns.div_ceil(batch_ns) as usize];
        let mut left_ns = summary.duration_ns;
        for batch in &mut batches {
            batch.seconds = left_ns.min(batch_ns) as f64 * 1e-9;
            left_ns = left_ns.saturating_sub(batch_ns);
        }
        for record in run.series.intervals(number) {
            let number = record.start_ns.saturating_sub(summary.start_ns) / batch_ns;
            let Some(batch) = batches.get_mut(number as usize) else { continue };
            if record.operation != totals.operation {
                continue;
            }
            batch.operations += record.operations as f64;
            batch.bytes += record.bytes as f64;
            if let Some(latency) = record.latency {
                batch.latency_s += latency.mean_ns * 1e-9 * record.operations as f64;
            }
        }
        Batches { seconds: summary.duration_ns as f64 * 1e-9, batches }
    }

    /// None where nothing completed, or in no time.
    fn per_second(&self, total: u64, of: fn(&Slice) -> Pair) -> Option<Estimate> {
        if total == 0 || self.seconds <= 0.0 {
            return None;
        }
        let pairs: Vec<Pair> = self.batches.iter().map(of).collect();
        Some(around(total as f64 / self.seconds, &pairs))
    }

    fn latency_mean(&self, totals: &OperationTotals) -> Option<Estimate> {
        let mut pairs: Vec<Pair> = self.batches.iter().map(Slice::latency_over_operations).collect();
        pairs.retain(|pair| pair.denominator > 0.0);
        Some(around(totals.histogram.mean_ns()? * 1e-9, &pairs))
    }
}

/// The interval of a ratio by its batches, around its value in all of the phase; open with too few batches.
fn around(value: f64, batches: &[Pair]) -> Estimate {
    let open = bounded(value, 0.0, f64::INFINITY, batches.len() as f64);
    if batches.len() < BATCHES_MIN {
        return open;
    }
    let Some(mean) = ratio_of_sums(batches) else { return open };
    let interval = mean.interval(CONFIDENCE);
    let shift = value - interval.value;
    Estimate { value, low: interval.low + shift, high: interval.high + shift, ..interval }
}
