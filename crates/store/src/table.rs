//! Runs as four flat tables, schema `drivescope.tables/1`: what CSV and Parquet are both written from.
//!
//! Rules of the schema: columns may be added at the end; none is renamed, none changes its meaning or unit. Units end
//! the names. Whole numbers are signed (Spark widens unsigned columns): 2⁶³ or more, and what is not finite, are empty
//! cells. No column is called `op`, `count`, `schema` or `type`: those are methods of data frames.

use crate::column::{Cell, CellKind, Column, Tabular, columns};
use crate::parquet_file::ParquetFile;
use model::finding::{FindingDocument, ValueDocument};
use model::histogram::{LatencyHistogram, LatencySummary};
use model::record::IntervalRecord;
use model::run::{OperationTotals, PhaseSummary, Run, Series};
use model::target::{Caveat, Link};
use model::units::{Bytes, Nanos};
use model::words;
use model::workload::{OperationMix, Workload};
use std::io::{self, Write};

pub const SCHEMA: &str = "drivescope.tables/1";
/// Rows of a row group in Parquet: a few MB of intervals in memory.
const GROUP_ROWS: usize = 1 << 15;
const RUN_ID: Column = Column::of::<String>("run_id", "name of the run in the store");

words! {
    /// In the order in which a reader wants them; the word is the name of the file, without the ending.
    pub enum Table {
        Runs = "runs",
        Findings = "findings",
        /// One without an operation for a phase in which nothing was done.
        Phases = "phases",
        Intervals = "intervals",
    }
}

impl Table {
    pub fn about(self) -> &'static str {
        match self {
            Table::Runs => "A row for each run: which drive, where, with which settings",
            Table::Findings => "A row for each finding: value, interval, sentence",
            Table::Phases => "A row for each phase: workload, throughput, latencies",
            Table::Intervals => "A row for each interval of 40 ms",
        }
    }

    /// As they are exported: 64 bits for whole numbers, words for operations, and every cell may be empty.
    pub fn columns(self) -> Vec<Column> {
        let declared = match self {
            Table::Runs => RunRow::COLUMNS,
            Table::Findings => FindingRow::COLUMNS,
            Table::Phases => PhaseRow::COLUMNS,
            Table::Intervals => IntervalRecord::COLUMNS,
        };
        [RUN_ID].iter().chain(declared).map(exported_column).collect()
    }

    /// Hands each row of a run to `take`, one after the other, so that a run of days needs no memory.
    pub fn rows<Error>(
        self,
        run: &Run,
        findings: &[FindingDocument],
        series: &dyn Series,
        take: &mut dyn FnMut(Vec<Cell>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Table::Runs => take(row_of(&run.id, &RunRow { run })),
            Table::Findings => {
                for finding in findings {
                    take(row_of(&run.id, &FindingRow { finding }))?;
                }
                Ok(())
            }
            Table::Phases => {
                for (number, summary) in (0..).zip(&run.phases) {
                    for row in PhaseRow::all(number, summary) {
                        take(row_of(&run.id, &row))?;
                    }
                }
                Ok(())
            }
            Table::Intervals => {
                for (number, _) in (0..).zip(&run.phases) {
                    for interval in series.intervals(number) {
                        take(row_of(&run.id, &interval))?;
                    }
                }
                Ok(())
            }
        }
    }

    pub fn begin_parquet<W: Write + Send>(self, out: W) -> io::Result<ParquetFile<W>> {
        let notes = [("drivescope.schema", SCHEMA), ("drivescope.table", self.name())];
        ParquetFile::begin(out, self.name(), &self.columns(), &notes, GROUP_ROWS)
    }
}

fn exported_column(column: &Column) -> Column {
    let kind = match column.kind {
        CellKind::Small => CellKind::Integer,
        CellKind::Operation => CellKind::Text,
        kind => kind,
    };
    Column { kind, nullable: true, ..*column }
}

fn row_of(run_id: &str, record: &impl Tabular) -> Vec<Cell> {
    let mut row = vec![Cell::Text(run_id.into())];
    record.to_row(&mut row);
    for cell in &mut row {
        let exported = std::mem::replace(cell, Cell::Empty);
        *cell = match exported {
            Cell::Integer(value) if value > i64::MAX.cast_unsigned() => Cell::Empty,
            Cell::Float(value) if !value.is_finite() => Cell::Empty,
            Cell::Small(value) => Cell::Integer(value.cast_unsigned().into()),
            Cell::Operation(operation) => Cell::Text(operation.name().into()),
            cell => cell,
        };
    }
    row
}

struct RunRow<'run> {
    run: &'run Run,
}

impl RunRow<'_> {
    fn link(&self) -> Option<&Link> {
        self.run.target.link.as_ref()
    }

    fn caveats(&self) -> String {
        let names: Vec<&str> = self.run.target.caveats.iter().copied().map(Caveat::name).collect();
        names.join(" ")
    }
}

columns! { RunRow<'_>: row {
    "started": String = row.run.started.clone(), "RFC 3339, UTC; a virtual drive begins in 1970";
    "finished": Option<String> = row.run.finished.clone(), "RFC 3339, UTC; empty for an unfinished run";
    "status": String = row.run.status.name().into(), "`complete`, `interrupted` or `failed`";
    "version": String = row.run.version.clone(), "drivescope version";
    "command": String = row.run.command.clone(), "command that repeats the run";
    "seed": String = row.run.seed.to_string(), "seed as text (64 bits, unsigned)";
    "target_kind": String = row.run.target.kind.name().into(), "`device`, `file`, `folder` (of `files`, with the capacity of its file system) or `sim`";
    "target_path": String = row.run.target.path.clone(), "as typed";
    "model": Option<String> = row.run.target.model.clone(), "as the drive reports it";
    "serial": Option<String> = row.run.target.serial.clone(), "likewise";
    "firmware": Option<String> = row.run.target.firmware.clone(), "likewise";
    "capacity_bytes": u64 = row.run.target.capacity.get(), "capacity of the target";
    "logical_block_bytes": u64 = row.run.target.logical_block.get(), "logical block size";
    "physical_block_bytes": u64 = row.run.target.physical_block.get(), "physical block size";
    "rotational": Option<bool> = row.run.target.rotational, "whether it reports rotation";
    "interface": Option<String> = Some(row.link()?.name.clone()), "interface";
    "interface_bytes_per_second_max": Option<f64> = row.link()?.bytes_per_second_max, "interface throughput after line coding";
    "zoned": Option<String> = row.run.target.zoned.clone(), "`none`, `host-aware` or `host-managed`";
    "caveats": String = row.caveats(), "codes of other layers that may have served requests, separated by spaces";
    "host": String = row.run.environment.host.clone(), "host name";
    "kernel": String = row.run.environment.kernel.clone(), "kernel release";
    "engine": String = row.run.environment.engine.to_string(), "`uring`, `psync`, `null` or `sim`";
    "direct": bool = row.run.environment.direct, "whether requests bypassed the page cache";
    "scheduler": Option<String> = row.run.environment.scheduler.clone(), "I/O scheduler";
    "warnings": String = row.run.environment.warnings.join(" "), "caveats of the measurement";
} }

struct FindingRow<'run> {
    finding: &'run FindingDocument,
}

impl FindingRow<'_> {
    fn number(&self) -> Option<f64> {
        match self.finding.value {
            Some(ValueDocument::Number(number)) => Some(number),
            _ => None,
        }
    }

    fn word(&self) -> Option<String> {
        match &self.finding.value {
            Some(ValueDocument::Text(word)) => Some(word.clone()),
            _ => None,
        }
    }
}

columns! { FindingRow<'_>: row {
    "code": String = row.finding.code.clone(), "finding code";
    "value": Option<f64> = row.number(), "value in its base unit";
    "value_text": Option<String> = row.word(), "value of findings that are a word, such as `smr`";
    "unit": Option<String> = row.finding.unit.clone(), "`B/s`, `s`, `bytes`, `ratio`, `1/s` or `count`";
    "low": Option<f64> = row.finding.low, "lower end of the CI";
    "high": Option<f64> = row.finding.high, "upper end of the CI";
    "confidence": Option<f64> = row.finding.confidence, "confidence level of the CI";
    "effective_observations": Option<f64> = row.finding.effective_count, "effective sample size; empty for an exact number";
    "statement": Option<String> = row.finding.statement.clone(), "statement on the page";
    "advice": Option<String> = row.finding.advice.clone(), "advice on the page";
    "unknown_because": Option<String> = row.finding.unknown.clone(), "reason, if inconclusive";
} }

/// One operation of a phase; none where nothing was done.
struct PhaseRow<'run> {
    number: u32,
    summary: &'run PhaseSummary,
    totals: Option<&'run OperationTotals>,
    latency: Option<LatencySummary>,
}

impl<'run> PhaseRow<'run> {
    fn all(number: u32, summary: &'run PhaseSummary) -> Vec<PhaseRow<'run>> {
        if summary.totals.is_empty() {
            return vec![PhaseRow { number, summary, totals: None, latency: None }];
        }
        let mut rows = Vec::new();
        for totals in &summary.totals {
            let latency = LatencyHistogram::summary(&totals.histogram);
            rows.push(PhaseRow { number, summary, totals: Some(totals), latency });
        }
        rows
    }

    fn workload(&self) -> Option<&Workload> {
        self.summary.phase.workload.as_ref()
    }

    fn operations(&self) -> u64 {
        match self.totals {
            Some(totals) => totals.operations,
            None => 0,
        }
    }

    fn bytes(&self) -> u64 {
        match self.totals {
            Some(totals) => totals.bytes,
            None => 0,
        }
    }

    /// No number for a phase that took no time.
    fn per_second(&self, count: u64) -> f64 {
        count as f64 / Nanos::new(self.summary.duration_ns).seconds()
    }

    fn read_share(&self) -> Option<f64> {
        match self.workload()?.mix {
            OperationMix::Read => Some(1.0),
            OperationMix::Write => Some(0.0),
            OperationMix::ReadWrite { read_share } => Some(read_share),
            OperationMix::Discard | OperationMix::Commit(_) => None,
        }
    }

    fn block(&self) -> Option<Bytes> {
        self.workload()?.block_sizes.single()
    }
}

columns! { PhaseRow<'_>: row {
    "phase": u32 = row.number, "number of the phase, from 0";
    "phase_name": String = row.summary.phase.name.clone(), "its name";
    "experiment": String = row.summary.phase.experiment.to_string(), "experiment";
    "kind": String = row.summary.phase.kind.name().into(), "`purge`, `precondition`, `warm-up`, `measure`, `idle`, `verify` or `reread`";
    "operation": Option<String> = Some(row.totals?.operation.name().into()), "`read`, `write`, `flush`, `discard` or `commit`; empty if idle";
    "pattern": Option<String> = Some(row.workload()?.pattern.name().into()), "access pattern";
    "range_first_byte": Option<u64> = Some(row.workload()?.range.first().get()), "start of the range";
    "range_bytes": Option<u64> = Some(row.workload()?.range.bytes().get()), "length of the range";
    "block_bytes": Option<u64> = row.block().map(Bytes::get), "block size; empty for a mix of sizes";
    "read_share": Option<f64> = row.read_share(), "share of reads, 0 to 1";
    "queue_depth": Option<u64> = Some(row.workload()?.queue_depth.into()), "queue depth per thread";
    "threads": Option<u64> = Some(row.workload()?.threads.into()), "threads";
    "caching": Option<String> = Some(row.workload()?.caching.name().into()), "`direct` or `buffered`";
    "stopped": Option<String> = Some(row.summary.stopped?.name().into()), "stop reason: `time`, `bytes`, `operations`, `passes`, `precision`, `interrupted`, `skipped`, `device-gone` or `errors`";
    "start_ns": u64 = row.summary.start_ns, "start, since the run's clock began";
    "duration_ns": u64 = row.summary.duration_ns, "duration without the final flush";
    "operations": u64 = row.operations(), "requests completed without an error";
    "bytes": u64 = row.bytes(), "bytes transferred";
    "errors": u64 = row.totals.map_or(0, |totals| totals.errors), "failed requests";
    "operations_per_second": f64 = row.per_second(row.operations()), "IOPS over `duration_ns`";
    "bytes_per_second": f64 = row.per_second(row.bytes()), "throughput over `duration_ns`";
    "latency_ns_min": Option<u64> = Some(row.latency.as_ref()?.min.get()), "minimum";
    "latency_ns_mean": Option<f64> = Some(row.latency.as_ref()?.mean), "arithmetic mean";
    "latency_ns_p50": Option<u64> = Some(row.latency.as_ref()?.p50.get()), "median; percentiles have an error of at most 0.4 %";
    "latency_ns_p90": Option<u64> = Some(row.latency.as_ref()?.p90.get()), "90th percentile";
    "latency_ns_p99": Option<u64> = Some(row.latency.as_ref()?.p99.get()), "99th percentile";
    "latency_ns_p999": Option<u64> = Some(row.latency.as_ref()?.p999.get()), "99.9th percentile";
    "latency_ns_max": Option<u64> = Some(row.latency.as_ref()?.max.get()), "maximum";
} }
