//! How a phase stands in the document of its run, whose keys are not the fields of the type.

use crate::file_work::FileWork;
use crate::histogram::{LatencyHistogram, LatencySummary};
use crate::page_cache::CachedRows;
use crate::plan::{Phase, PhaseKind, StopCondition, StopReason};
use crate::run::{OperationTotals, PhaseSummary};
use crate::units::Nanos;
use crate::untold::{Untold, keys};
use crate::workload::Workload;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A phase as it is written: what was asked for, what came of it, and for people and plots the same in other units.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrittenPhase<'run> {
    #[serde(flatten)]
    phase: &'run Phase,
    stopped: Option<StopReason>,
    start_s: f64,
    seconds: f64,
    start_ns: u64,
    duration_ns: u64,
    operations: u64,
    bytes: u64,
    errors: u64,
    /// Null, as no number, for a phase that took no time.
    iops: f64,
    bytes_per_second: f64,
    latency_ns: Option<LatencySummary>,
    by_operation: &'run [OperationTotals],
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<&'run FileWork>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "keys::serialize")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<keys::Keys<CachedRows>>"))]
    page_cache: &'run Option<Result<CachedRows, Untold>>,
    #[serde(skip_serializing_if = "is_zero")]
    processor_wait_ns: u64,
    #[serde(skip_serializing_if = "is_zero")]
    spun_ns: u64,
    #[serde(skip_serializing_if = "is_zero")]
    late_bytes: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A phase as it is read: its sums follow from the rest.
#[derive(Deserialize)]
struct ReadPhase {
    name: String,
    experiment: String,
    kind: PhaseKind,
    workload: Option<Workload>,
    stop: StopCondition,
    stopped: Option<StopReason>,
    start_ns: u64,
    duration_ns: u64,
    by_operation: Vec<OperationTotals>,
    #[serde(default)]
    files: Option<Box<FileWork>>,
    #[serde(default, deserialize_with = "keys::deserialize")]
    page_cache: Option<Result<CachedRows, Untold>>,
    #[serde(default)]
    processor_wait_ns: u64,
    #[serde(default)]
    spun_ns: u64,
    #[serde(default)]
    late_bytes: u64,
}

impl Serialize for PhaseSummary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let seconds = Nanos::new(self.duration_ns).seconds();
        let mut latencies = LatencyHistogram::default();
        for totals in &self.totals {
            latencies.merge(&totals.histogram);
        }
        let written = WrittenPhase {
            phase: &self.phase,
            stopped: self.stopped,
            start_s: Nanos::new(self.start_ns).seconds(),
            seconds,
            start_ns: self.start_ns,
            duration_ns: self.duration_ns,
            operations: self.operations(),
            bytes: self.bytes(),
            errors: self.errors(),
            iops: self.operations() as f64 / seconds,
            bytes_per_second: self.bytes() as f64 / seconds,
            latency_ns: latencies.summary(),
            by_operation: &self.totals,
            files: self.files.as_deref(),
            page_cache: &self.page_cache,
            processor_wait_ns: self.processor_wait_ns,
            spun_ns: self.spun_ns,
            late_bytes: self.late_bytes,
        };
        written.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for PhaseSummary {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Phase".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        WrittenPhase::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for PhaseSummary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PhaseSummary, D::Error> {
        let read = ReadPhase::deserialize(deserializer)?;
        Ok(PhaseSummary {
            phase: Phase {
                name: read.name,
                experiment: read.experiment.into(),
                kind: read.kind,
                workload: read.workload,
                stop: read.stop,
            },
            start_ns: read.start_ns,
            duration_ns: read.duration_ns,
            stopped: read.stopped,
            totals: read.by_operation,
            files: read.files,
            page_cache: read.page_cache,
            processor_wait_ns: read.processor_wait_ns,
            spun_ns: read.spun_ns,
            late_bytes: read.late_bytes,
        })
    }
}
