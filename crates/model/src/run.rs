//! A run as detectors see it: facts, phases and series, read-only and streamed: days do not fit into memory.

use crate::experiment_name::{EngineName, ExperimentName};
use crate::file_work::FileWork;
use crate::finding::{Evidence, Finding};
use crate::histogram::LatencyHistogram;
use crate::page_cache::CachedRows;
use crate::plan::{Phase, StopReason};
use crate::record::{ErrorRecord, IntervalRecord, IoRecord, TelemetryRecord};
use crate::request::Operation;
use crate::target::TargetFacts;
use crate::units::{Bytes, Nanos};
use crate::untold::Untold;
use crate::words;
use crate::workload::DataPattern;
use serde::{Deserialize, Serialize, Serializer};

/// One run, without its series: what is kept as metadata, shown and printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its name in the store: sorts by time, unique.
    pub id: String,
    /// When it began, as RFC 3339 in UTC. The only wall-clock times of a run are this and `finished`.
    pub started: String,
    /// When it ended, likewise; none while it is under way or when the program was killed in it.
    pub finished: Option<String>,
    pub status: RunStatus,
    pub version: String,
    pub command: String,
    /// None of one that another program made.
    pub asked: Option<Asked>,
    pub seed: u64,
    pub target: TargetFacts,
    pub environment: Environment,
    /// What the drive went through before, as sentences.
    pub state_before: Vec<String>,
    /// What the run did to the drive, as sentences.
    pub state_after: Vec<String>,
    /// What was done, in order. The index of a phase is its number in the series.
    pub phases: Vec<PhaseSummary>,
    pub findings: Vec<Finding>,
}

words! {
    pub enum RunStatus {
        Complete = "complete",
        /// It was stopped, or the program was killed; what was measured until then is kept.
        Interrupted = "interrupted",
        /// It could not go on; what was measured until then is kept.
        Failed = "failed",
    }
}

/// What a run was asked for, as far as it decides what is said of it. The request as a whole is kept beside the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Asked {
    pub experiment: ExperimentName,
    pub consent: Consent,
}

words! {
    /// What it may do to data that are not its own.
    pub enum Consent {
        Read = "read",
        Overwrite = "overwrite",
        /// Overwrite, and restore what was there afterwards.
        Preserve = "preserve",
    }
}

impl Run {
    pub fn view<'run>(&'run self, series: &'run dyn Series) -> RunView<'run> {
        RunView { target: &self.target, environment: &self.environment, phases: &self.phases, series }
    }

    /// The experiments whose phases it has, in the order in which they began.
    pub fn experiments(&self) -> Vec<&ExperimentName> {
        let mut experiments = Vec::new();
        for summary in &self.phases {
            if !experiments.contains(&&summary.phase.experiment) {
                experiments.push(&summary.phase.experiment);
            }
        }
        experiments
    }
}

pub struct RunView<'run> {
    pub target: &'run TargetFacts,
    pub environment: &'run Environment,
    /// What was done, in order. The index of a phase is its number in the series.
    pub phases: &'run [PhaseSummary],
    pub series: &'run dyn Series,
}

impl<'run> RunView<'run> {
    /// The time slices of one operation in a phase, in the order of time.
    pub fn slices(
        &self,
        phase: u32,
        operation: Operation,
    ) -> impl Iterator<Item = IntervalRecord> + use<'run> {
        self.series.intervals(phase).filter(move |slice| slice.operation == operation)
    }

    pub fn elapsed(&self) -> Nanos {
        match self.phases.last() {
            Some(last) => Nanos::new(last.end_ns()),
            None => Nanos::ZERO,
        }
    }
}

/// The series of a run. Each call starts a new pass from the beginning; several may go on at once.
pub trait Series: Sync {
    /// The time slices of one phase, in the order of time.
    fn intervals(&self, phase: u32) -> Box<dyn Iterator<Item = IntervalRecord> + '_>;
    /// The errors that were kept of one phase, in the order of time.
    fn errors(&self, phase: u32) -> Box<dyn Iterator<Item = ErrorRecord> + '_>;
    /// The single I/Os of one phase, in the order in which they were completed; none of a phase that kept no trace.
    fn ios(&self, phase: u32) -> Box<dyn Iterator<Item = IoRecord> + '_>;
    /// The facts about host and drive, in the order of time.
    fn telemetry(&self) -> Box<dyn Iterator<Item = TelemetryRecord> + '_>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSummary {
    pub phase: Phase,
    pub start_ns: u64,
    pub duration_ns: u64,
    /// Why it ended; none while it is under way or when the program was killed in it.
    pub stopped: Option<StopReason>,
    /// Totals for each operation that occurred, in the order of their numbers.
    pub totals: Vec<OperationTotals>,
    /// What it did through a file system; none for requests to a drive.
    pub files: Option<Box<FileWork>>,
    /// What was in the page cache after listed reads through it, row by row, or why that cannot be told; none where nobody looked.
    pub page_cache: Option<Result<CachedRows, Untold>>,
    /// The longest that one of its workers waited in all for a processor, as the kernel counts it. 0 in virtual time.
    pub processor_wait_ns: u64,
    /// The time that its worker spun instead of sleeping while it waited for completions.
    pub spun_ns: u64,
    /// Bytes in flight when its time was over: the drive served them, and no record counts them. 0 in runs of older versions.
    pub late_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationTotals {
    pub operation: Operation,
    pub operations: u64,
    pub bytes: u64,
    pub errors: u64,
    #[serde(
        rename = "latency_ns",
        serialize_with = "summary",
        skip_deserializing,
        default = "LatencyHistogram::small"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::histogram::LatencySummary>"))]
    pub histogram: LatencyHistogram,
    /// From the first completion without an error to the last; none when there were none, or when it was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<CompletionStretch>,
}

/// A phase from its first completion to its last. What it takes to get to a place is before it, so that the bytes over the
/// time are the rate of what follows there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompletionStretch {
    /// When the first request was completed, since the run's clock began; of several that were answered together, the last.
    pub first_ns: u64,
    pub last_ns: u64,
    /// The bytes of the first, or of all that were answered together first, which are not part of what follows.
    pub first_bytes: u64,
    /// None in runs of older versions, and where all were answered together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<SecondCompletion>,
    /// None in runs of older versions, and where all were answered together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drained: Option<Drained>,
}

/// The completion behind the first, or all answered together then. Prefetch may begin behind two requests, and the second is a revolution late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SecondCompletion {
    pub at_ns: u64,
    pub bytes: u64,
}

/// The last completion, or all that were answered together last. Kernels cut requests and send the parts of several that are in flight
/// in turns, so that each completes late by a part of the next; the last has no next, and comes early in comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drained {
    /// When the one before was completed, since the run's clock began.
    pub from_ns: u64,
    pub bytes: u64,
}

impl CompletionStretch {
    /// Seconds for each of the bytes behind a moment, without those that drain the queue.
    fn cost_from(&self, from_ns: u64, bytes: u64) -> Option<f64> {
        let drained = self.drained?;
        cost_of_a_byte(bytes.checked_sub(drained.bytes)?, from_ns, drained.from_ns)
    }

    pub fn of_one(completed_ns: u64, bytes: u64) -> CompletionStretch {
        let (first_ns, last_ns) = (completed_ns, completed_ns);
        CompletionStretch { first_ns, last_ns, first_bytes: bytes, second: None, drained: None }
    }

    /// Both together. Of two that were first at the same moment, it does not matter which is taken.
    pub fn joined(self, other: CompletionStretch) -> CompletionStretch {
        let (first, later) = if other.first_ns < self.first_ns { (other, self) } else { (self, other) };
        let behind = SecondCompletion { at_ns: later.first_ns, bytes: later.first_bytes };
        let second = first.second.filter(|second| second.at_ns <= behind.at_ns).unwrap_or(behind);
        let (before, last) = if other.last_ns < self.last_ns { (other, self) } else { (self, other) };
        let drained = match last.drained {
            Some(drained) => Drained { from_ns: drained.from_ns.max(before.last_ns), ..drained },
            None => Drained { from_ns: before.last_ns, bytes: last.first_bytes },
        };
        CompletionStretch { last_ns: last.last_ns, second: Some(second), drained: Some(drained), ..first }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    pub host: String,
    pub kernel: String,
    /// The engine that served the requests.
    pub engine: EngineName,
    /// What of the engine was in use, and what was not and why.
    #[serde(default)]
    pub engine_features: Vec<String>,
    pub direct: bool,
    pub scheduler: Option<String>,
    /// What this tool itself costs for each I/O, measured with the null engine; none in virtual time.
    pub own_cost_ns_per_io: Option<f64>,
    /// The longest time that a busy loop was kept from running before the first phase; none in virtual time.
    pub scheduling_gap_ns_max: Option<u64>,
    /// What the reader should know: other load, missing privileges, dropped records.
    pub warnings: Vec<String>,
}

impl Environment {
    /// Whether this program asked a kernel, which no virtual time and no imported run has.
    pub fn is_in_real_time(&self) -> bool {
        self.own_cost_ns_per_io.is_some()
    }
}

/// Of a histogram a document has its quantiles only: the store keeps it as a series.
fn summary<S: Serializer>(histogram: &LatencyHistogram, serializer: S) -> Result<S::Ok, S::Error> {
    histogram.summary().serialize(serializer)
}

impl OperationTotals {
    /// Nothing done yet. The histogram takes as little memory as there is in it.
    pub fn none(operation: Operation) -> OperationTotals {
        OperationTotals {
            operation,
            operations: 0,
            bytes: 0,
            errors: 0,
            histogram: LatencyHistogram::small(),
            stretch: None,
        }
    }

    /// Seconds for each byte after the first completion and before the last, or to the last; none when there was one only.
    pub fn seconds_per_byte(&self) -> Option<f64> {
        let stretch = self.stretch?;
        let bytes = self.bytes.checked_sub(stretch.first_bytes)?;
        stretch.cost_from(stretch.first_ns, bytes).or_else(|| self.seconds_per_byte_to_the_last())
    }

    /// The same after the second completion, and how much longer than that the second took, in seconds.
    pub fn seconds_per_byte_after_second(&self) -> Option<(f64, f64)> {
        let stretch = self.stretch?;
        let second = stretch.second?;
        let bytes = self.bytes.checked_sub(stretch.first_bytes)?.checked_sub(second.bytes)?;
        let cost = stretch.cost_from(second.at_ns, bytes)?;
        let second_s = second.at_ns.checked_sub(stretch.first_ns)? as f64 / 1e9;
        Some((cost, second_s - cost * second.bytes as f64))
    }

    /// The same to the last completion: of a handful of requests, what drains the queue is most of them.
    pub fn seconds_per_byte_to_the_last(&self) -> Option<f64> {
        let stretch = self.stretch?;
        cost_of_a_byte(self.bytes.checked_sub(stretch.first_bytes)?, stretch.first_ns, stretch.last_ns)
    }
}

fn cost_of_a_byte(bytes: u64, from_ns: u64, to_ns: u64) -> Option<f64> {
    let nanos = to_ns.checked_sub(from_ns)?;
    if bytes == 0 || nanos == 0 { None } else { Some(nanos as f64 / 1e9 / bytes as f64) }
}

/// The bytes of these operations in all of the phases. What stands in an altered file may be any number.
pub fn moved<'run>(phases: impl IntoIterator<Item = &'run PhaseSummary>, operations: &[Operation]) -> Bytes {
    let mut bytes = Bytes::ZERO;
    for phase in phases {
        for operation in operations {
            bytes = bytes.saturating_add(Bytes::new(phase.bytes_of(*operation)));
        }
    }
    bytes
}

impl PhaseSummary {
    pub fn begun(phase: Phase, start_ns: u64) -> PhaseSummary {
        PhaseSummary {
            phase,
            start_ns,
            duration_ns: 0,
            stopped: None,
            totals: Vec::new(),
            files: None,
            page_cache: None,
            processor_wait_ns: 0,
            spun_ns: 0,
            late_bytes: 0,
        }
    }

    /// All of it as what a finding rests on; `phase` is its number in the run.
    pub fn evidence(&self, phase: u32) -> Evidence {
        let (start, duration) = (Nanos::new(self.start_ns), Nanos::new(self.duration_ns));
        Evidence { phase, start_s: start.seconds(), seconds: duration.seconds() }
    }

    /// As far as it has come, since the run's clock began.
    pub fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns)
    }

    pub fn ended_ns(&self) -> Option<u64> {
        if self.stopped.is_some() { Some(self.end_ns()) } else { None }
    }

    pub fn totals_of(&self, operation: Operation) -> Option<&OperationTotals> {
        self.totals.iter().find(|totals| totals.operation == operation)
    }

    /// How many of these completed; none where none were asked for.
    pub fn operations_of(&self, operation: Operation) -> u64 {
        match self.totals_of(operation) {
            Some(totals) => totals.operations,
            None => 0,
        }
    }

    pub fn bytes_of(&self, operation: Operation) -> u64 {
        match self.totals_of(operation) {
            Some(totals) => totals.bytes,
            None => 0,
        }
    }

    /// How long the flushes took that made lasting what the phase wrote. They come after its duration.
    pub fn flush_ns(&self) -> u64 {
        match self.totals_of(Operation::Flush) {
            Some(flushes) => u64::try_from(flushes.histogram.sum_ns()).unwrap_or(u64::MAX),
            None => 0,
        }
    }

    /// How long it took until what it wrote was lasting. What stands in an altered file may be any number.
    pub fn lasting_ns(&self) -> u64 {
        self.duration_ns.saturating_add(self.flush_ns())
    }

    pub fn operations(&self) -> u64 {
        self.totals.iter().map(|totals| totals.operations).sum()
    }

    pub fn bytes(&self) -> u64 {
        self.totals.iter().map(|totals| totals.bytes).sum()
    }

    /// Whether nothing but errors came, or nothing was moved for errors: a flush may succeed where nothing can be written.
    pub fn has_all_failed(&self) -> bool {
        self.stopped == Some(StopReason::Errors) || self.bytes() == 0 && self.errors() > 0
    }

    /// Requests that failed, of all operations. Where data are compared, reads that found other data count too.
    pub fn errors(&self) -> u64 {
        self.totals.iter().map(|totals| totals.errors).sum()
    }

    pub fn compares_data(&self) -> bool {
        let Some(workload) = &self.phase.workload else { return false };
        workload.mix.operations().contains(&Operation::Read)
            && matches!(workload.data, DataPattern::Marked(_))
    }
}

/// Series kept in memory: for virtual drives, tests and small runs.
#[derive(Clone, Debug, Default)]
pub struct MemorySeries {
    pub intervals: Vec<IntervalRecord>,
    pub errors: Vec<ErrorRecord>,
    /// All single I/Os that were traced, in the order in which they were completed.
    pub ios: Vec<IoRecord>,
    pub telemetry: Vec<TelemetryRecord>,
}

impl Series for MemorySeries {
    fn intervals(&self, phase: u32) -> Box<dyn Iterator<Item = IntervalRecord> + '_> {
        Box::new(self.intervals.iter().copied().filter(move |record| record.phase == phase))
    }

    fn errors(&self, phase: u32) -> Box<dyn Iterator<Item = ErrorRecord> + '_> {
        Box::new(self.errors.iter().copied().filter(move |record| record.phase == phase))
    }

    fn ios(&self, phase: u32) -> Box<dyn Iterator<Item = IoRecord> + '_> {
        Box::new(self.ios.iter().copied().filter(move |record| record.phase == phase))
    }

    fn telemetry(&self) -> Box<dyn Iterator<Item = TelemetryRecord> + '_> {
        Box::new(self.telemetry.iter().copied())
    }
}
