//! Key `phases`: what was asked for, and what came of it.

use super::files::FileWorkDocument;
use super::page_cache::PageCacheDocument;
use super::workload::WorkloadDocument;
use super::{DocumentError, finite, known};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::request::Operation;
use model::run::{CompletionStretch, OperationTotals, PhaseSummary};
use model::units::{Bytes, Nanos, Quantile};
use serde::{Deserialize, Serialize};

/// One entry of `phases`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseDocument {
    /// For people.
    pub name: String,
    /// The experiment that asked for it.
    pub experiment: String,
    /// `purge`, `precondition`, `warm-up`, `measure`, `idle` or `verify`.
    pub kind: String,
    /// What was done; null while idle.
    pub workload: Option<WorkloadDocument>,
    /// When it was to end.
    pub stop: StopDocument,
    /// Why it ended; null while it is under way or when the program was killed in it.
    pub stopped: Option<String>,
    /// When it began, since the run's clock began; for people and plots.
    pub start_s: f64,
    /// How long it took; for people and plots.
    pub seconds: f64,
    /// `start_s` without rounding.
    pub start_ns: u64,
    /// `seconds` without rounding.
    pub duration_ns: u64,
    /// Requests completed without an error.
    pub operations: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// `operations / seconds`; null for a phase that took no time.
    pub iops: Option<f64>,
    /// `bytes / seconds`; null for a phase that took no time.
    pub bytes_per_second: Option<f64>,
    /// Latencies of all operations together; null when there were none.
    pub latency_ns: Option<LatencyDocument>,
    /// The same for each operation that occurred.
    pub by_operation: Vec<OperationDocument>,
    /// What it did through a file system; absent for requests to a drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileWorkDocument>,
    /// What was in the system's page cache after reads through it; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCacheDocument>,
}

/// When a phase was to end: as soon as one of these holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopDocument {
    /// After this long.
    pub time_ns: Option<u64>,
    /// After this much.
    pub bytes: Option<u64>,
    /// After this many requests.
    pub operations: Option<u64>,
    /// After this many times through the range.
    pub passes: Option<u64>,
    /// When the interval of the mean rate is no wider than this share of it.
    pub precision: Option<f64>,
}

/// What one kind of operation did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationDocument {
    /// `read`, `write`, `flush` or `discard`.
    pub operation: String,
    /// Requests completed without an error.
    pub operations: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Their latencies; null when there were none.
    pub latency_ns: Option<LatencyDocument>,
    /// From the first completion to the last; absent when there were none, and in runs of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<StretchDocument>,
}

/// From the first completion to the last, in nanoseconds since the run's clock began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StretchDocument {
    /// When the first request was completed.
    pub first_ns: u64,
    /// When the last was.
    pub last_ns: u64,
    /// The bytes of the first.
    pub first_bytes: u64,
}

/// Latencies in nanoseconds. The quantiles are known to within 0.4 %, the others exactly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyDocument {
    /// Smallest.
    pub min: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Largest.
    pub max: u64,
}

impl LatencyDocument {
    fn of(histogram: &LatencyHistogram) -> Option<LatencyDocument> {
        let quantile = |quantile| histogram.quantile(quantile).map(|latency| latency.0);
        Some(LatencyDocument {
            min: histogram.min()?.0,
            mean: histogram.mean_ns()?,
            p50: quantile(Quantile::MEDIAN)?,
            p90: quantile(Quantile::P90)?,
            p99: quantile(Quantile::P99)?,
            p999: quantile(Quantile::P999)?,
            max: histogram.max()?.0,
        })
    }
}

impl PhaseDocument {
    pub(super) fn of(summary: &PhaseSummary) -> PhaseDocument {
        let seconds = Nanos(summary.duration_ns).seconds();
        let rate = |number: u64| finite(number as f64 / seconds);
        let mut together = LatencyHistogram::default();
        summary.totals.iter().for_each(|totals| together.merge(&totals.histogram));
        PhaseDocument {
            name: summary.phase.name.clone(),
            experiment: summary.phase.experiment.to_string(),
            kind: summary.phase.kind.name().into(),
            workload: summary.phase.workload.as_ref().map(WorkloadDocument::of),
            stop: StopDocument::of(&summary.phase.stop),
            stopped: summary.stopped.map(|reason| reason.name().into()),
            start_s: Nanos(summary.start_ns).seconds(),
            seconds,
            start_ns: summary.start_ns,
            duration_ns: summary.duration_ns,
            operations: summary.operations(),
            bytes: summary.bytes(),
            errors: summary.errors(),
            iops: rate(summary.operations()),
            bytes_per_second: rate(summary.bytes()),
            latency_ns: LatencyDocument::of(&together),
            by_operation: summary.totals.iter().map(OperationDocument::of).collect(),
            files: summary.files.as_deref().map(FileWorkDocument::of),
            page_cache: summary.page_cache.as_deref().map(PageCacheDocument::of),
        }
    }

    pub(super) fn into_model(self, key: &str) -> Result<PhaseSummary, DocumentError> {
        let workload =
            self.workload.map(|workload| workload.into_model(&format!("{key}.workload"))).transpose()?;
        let stopped = self
            .stopped
            .map(|reason| known(&format!("{key}.stopped"), &reason, StopReason::from_name))
            .transpose()?;
        let files = self.files.map(|files| files.into_model(&format!("{key}.files"))).transpose()?;
        let totals = self.by_operation.into_iter().enumerate();
        Ok(PhaseSummary {
            phase: Phase {
                name: self.name,
                experiment: self.experiment.into(),
                kind: known(&format!("{key}.kind"), &self.kind, PhaseKind::from_name)?,
                workload,
                stop: self.stop.into_model(),
            },
            start_ns: self.start_ns,
            duration_ns: self.duration_ns,
            stopped,
            totals: totals
                .map(|(index, totals)| totals.into_model(&format!("{key}.by_operation[{index}]")))
                .collect::<Result<_, _>>()?,
            files: files.map(Box::new),
            page_cache: self.page_cache.map(|rows| Box::new(rows.into_model())),
        })
    }
}

impl StopDocument {
    fn of(stop: &StopCondition) -> StopDocument {
        StopDocument {
            time_ns: stop.time.map(|time| time.0),
            bytes: stop.bytes.map(|bytes| bytes.0),
            operations: stop.operations,
            passes: stop.passes,
            precision: stop.precision.and_then(finite),
        }
    }

    fn into_model(self) -> StopCondition {
        StopCondition {
            time: self.time_ns.map(Nanos),
            bytes: self.bytes.map(Bytes),
            operations: self.operations,
            passes: self.passes,
            precision: self.precision,
        }
    }
}

impl OperationDocument {
    fn of(totals: &OperationTotals) -> OperationDocument {
        OperationDocument {
            operation: totals.operation.name().into(),
            operations: totals.operations,
            bytes: totals.bytes,
            errors: totals.errors,
            latency_ns: LatencyDocument::of(&totals.histogram),
            stretch: totals.stretch.map(|stretch| StretchDocument {
                first_ns: stretch.first_ns,
                last_ns: stretch.last_ns,
                first_bytes: stretch.first_bytes,
            }),
        }
    }

    fn into_model(self, key: &str) -> Result<OperationTotals, DocumentError> {
        let from_name = |name: &str| Operation::ALL.into_iter().find(|operation| operation.name() == name);
        Ok(OperationTotals {
            operation: known(&format!("{key}.operation"), &self.operation, from_name)?,
            operations: self.operations,
            bytes: self.bytes,
            errors: self.errors,
            histogram: LatencyHistogram::small(),
            stretch: self.stretch.map(|stretch| CompletionStretch {
                first_ns: stretch.first_ns,
                last_ns: stretch.last_ns,
                first_bytes: stretch.first_bytes,
            }),
        })
    }
}
