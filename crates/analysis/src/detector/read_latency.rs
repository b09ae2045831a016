//! Latency over time of reads at a fixed rate.
//! # What it finds
//! The 99th percentile of the latency of single random reads that were sent at a fixed rate, with the median and the longest.
//! # Why it matters
//! A mean hides stalls, and stalls are what users of a busy machine notice.
//! # How
//! Reads are sent at a rate that does not wait for the drive, and latency counts from the intended start, so that a stall counts for each read
//! that it held up. The percentile has an interval by order statistics, which assumes nothing of the distribution.
//! # Cannot tell when
//! Too few reads completed for an interval of the 99th percentile: below 368 no read is above it with a confidence of 97.5 %.
//! # Known problems
//! Rarer stalls than one in the reads made are not seen. What the host delayed is inside the percentile; the interval has only its mean.
//! # References
//! David and Nagaraja, "Order Statistics", 3rd ed., section 7.1. Tene, "How NOT to measure latency", 2013: coordinated omission.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::measured::{evidence_of_phases, host_delay_s, is_measurement};
use crate::stats::CONFIDENCE;
use crate::stats::quantile::of_histogram;
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{Finding, FindingCode, Outcome, ReadLatency, ReadLatencyUnknown};
use model::histogram::LatencyHistogram;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::{Bytes, Nanos, Quantile};

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::ReadLatency], needs: &[Need::Asked(ExperimentName::Ping)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let Some((phase, summary)) = (0u32..).zip(run.phases).find(|(_, summary)| is_ping(summary)) else {
        return Vec::new();
    };
    let evidence = evidence_of_phases(run, &[phase]);
    vec![Finding::ReadLatency(Outcome::of(read_latency(run, phase, summary), evidence))]
}

fn is_ping(summary: &PhaseSummary) -> bool {
    summary.phase.experiment == ExperimentName::Ping && is_measurement(summary)
}

fn read_latency(
    run: &RunView<'_>,
    phase: u32,
    summary: &PhaseSummary,
) -> Result<ReadLatency, ReadLatencyUnknown> {
    let Some(totals) = summary.totals_of(Operation::Read) else {
        return Err(ReadLatencyUnknown::TooFewReads { have: 0 });
    };
    let reads = &totals.histogram;
    let too_few = ReadLatencyUnknown::TooFewReads { have: reads.count() };
    let Some(p99) = of_histogram(reads, Quantile::P99, CONFIDENCE) else { return Err(too_few) };
    let Some((longest_s, longest_at_s)) = longest(run, phase) else { return Err(too_few) };
    let block_bytes = match &summary.phase.workload {
        Some(workload) => workload.block_sizes.largest(),
        None => Bytes::ZERO,
    };
    let host_s = host_delay_s(run, [summary]);
    let p99 = p99.map_monotonic(|ns| ns / 1e9);
    Ok(ReadLatency {
        p99: Estimate { low: (p99.low - host_s).max(0.0), ..p99 },
        block_bytes,
        reads: reads.count(),
        median_s: median_s(reads),
        longest_s,
        longest_at_s,
        host_s,
    })
}

fn median_s(reads: &LatencyHistogram) -> f64 {
    reads.quantile(Quantile::MEDIAN).map_or(0.0, Nanos::seconds)
}

fn longest(run: &RunView<'_>, phase: u32) -> Option<(f64, f64)> {
    let mut longest: Option<(u64, u64)> = None;
    for interval in run.series.intervals(phase) {
        let Some(latency) = interval.latency else { continue };
        if longest.is_none_or(|(max_ns, _)| latency.max_ns > max_ns) {
            longest = Some((latency.max_ns, interval.end_ns()));
        }
    }
    let (max_ns, at_ns) = longest?;
    Some((Nanos::new(max_ns).seconds(), Nanos::new(at_ns).seconds()))
}
