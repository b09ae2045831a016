//! Runs as four flat tables, schema `drivescope.tables/1`: what CSV and Parquet are written from, so that they cannot
//! differ.
//!
//! Rules of the schema: columns may be added at the end; none is renamed, and none changes its meaning or unit. Units
//! end the names. Whole numbers are signed, since Spark widens unsigned columns, and a number of 2⁶³ or more is an
//! empty cell. A number that is not finite is an empty cell too. No column is called `op`, `count`, `schema` or `type`:
//! those are methods of data frames.

use model::finding::{Finding, Outcome, Value};
use model::histogram::LatencyHistogram;
use model::record::{IntervalLatency, IntervalRecord};
use model::run::{OperationTotals, PhaseSummary, Run, Series};
use model::units::{Nanos, Quantile};
use model::workload::{Caching, OperationMix, Workload};

/// The schema of the tables.
pub const SCHEMA: &str = "drivescope.tables/1";

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// One row for each run.
    Runs,
    /// One row for each phase and operation; one without an operation for a phase in which nothing was done.
    Phases,
    /// One row for each slice of time, mostly 40 ms, and operation.
    Intervals,
    /// One row for each finding.
    Findings,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A whole number of 64 bits, signed.
    Integer,
    /// A number.
    Float,
    /// Yes or no.
    Flag,
    /// Text.
    Text,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, with its unit.
    pub name: &'static str,
    /// What it holds. Every cell may be empty.
    pub kind: ColumnKind,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Not known, or not measured.
    Empty,
    /// Of [`ColumnKind::Integer`].
    Integer(i64),
    /// Of [`ColumnKind::Float`].
    Float(f64),
    /// Of [`ColumnKind::Flag`].
    Flag(bool),
    /// Of [`ColumnKind::Text`].
    Text(String),
}

const fn integer(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Integer }
}

const fn float(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Float }
}

const fn flag(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Flag }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Text }
}

const RUN_COLUMNS: &[Column] = &[
    text("run_id"),
    text("started"),
    text("finished"),
    text("status"),
    text("version"),
    text("command"),
    text("seed"),
    text("target_kind"),
    text("target_path"),
    text("model"),
    text("serial"),
    text("firmware"),
    integer("capacity_bytes"),
    integer("logical_block_bytes"),
    integer("physical_block_bytes"),
    flag("rotational"),
    text("interface"),
    float("interface_bytes_per_second_max"),
    text("zoned"),
    text("caveats"),
    text("host"),
    text("kernel"),
    text("engine"),
    flag("direct"),
    text("scheduler"),
    text("warnings"),
];

const PHASE_COLUMNS: &[Column] = &[
    text("run_id"),
    integer("phase"),
    text("phase_name"),
    text("experiment"),
    text("kind"),
    text("operation"),
    text("pattern"),
    integer("range_first_byte"),
    integer("range_bytes"),
    integer("block_bytes"),
    float("read_share"),
    integer("queue_depth"),
    integer("threads"),
    text("caching"),
    text("stopped"),
    integer("start_ns"),
    integer("duration_ns"),
    integer("operations"),
    integer("bytes"),
    integer("errors"),
    float("operations_per_second"),
    float("bytes_per_second"),
    integer("latency_ns_min"),
    float("latency_ns_mean"),
    integer("latency_ns_p50"),
    integer("latency_ns_p90"),
    integer("latency_ns_p99"),
    integer("latency_ns_p999"),
    integer("latency_ns_max"),
];

const INTERVAL_COLUMNS: &[Column] = &[
    text("run_id"),
    integer("phase"),
    text("operation"),
    integer("start_ns"),
    integer("duration_ns"),
    integer("operations"),
    integer("bytes"),
    integer("errors"),
    integer("offset_bytes_first"),
    integer("offset_bytes_end"),
    integer("latency_ns_min"),
    float("latency_ns_mean"),
    integer("latency_ns_p50"),
    integer("latency_ns_p99"),
    integer("latency_ns_max"),
];

const FINDING_COLUMNS: &[Column] = &[
    text("run_id"),
    text("code"),
    float("value"),
    text("value_text"),
    text("unit"),
    float("low"),
    float("high"),
    float("confidence"),
    float("effective_observations"),
    text("statement"),
    text("advice"),
    text("unknown_because"),
];

impl Table {
    /// All of them, in the order in which a reader wants them.
    pub const ALL: [Table; 4] = [Table::Runs, Table::Findings, Table::Phases, Table::Intervals];

    /// The name of its file, without the ending.
    pub fn name(self) -> &'static str {
        match self {
            Table::Runs => "runs",
            Table::Phases => "phases",
            Table::Intervals => "intervals",
            Table::Findings => "findings",
        }
    }

    /// Its columns.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Table::Runs => RUN_COLUMNS,
            Table::Phases => PHASE_COLUMNS,
            Table::Intervals => INTERVAL_COLUMNS,
            Table::Findings => FINDING_COLUMNS,
        }
    }

    /// Hands each row of a run to `take`, one after the other, so that a run of days needs no memory. Each has a cell
    /// for each column.
    ///
    /// # Errors
    /// The first error of `take`.
    pub fn rows<Error>(
        self,
        run: &Run,
        series: &dyn Series,
        take: &mut dyn FnMut(Vec<Cell>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Table::Runs => take(run_row(run)),
            Table::Findings => {
                run.findings.iter().try_for_each(|finding| take(finding_row(&run.id, finding)))
            }
            Table::Phases => {
                (0i64..).zip(&run.phases).try_for_each(|(number, phase)| phase_rows(run, number, phase, take))
            }
            Table::Intervals => (0u32..).zip(&run.phases).try_for_each(|(number, _)| {
                series.intervals(number).try_for_each(|interval| take(interval_row(&run.id, &interval)))
            }),
        }
    }
}

impl Cell {
    fn text(value: impl Into<String>) -> Cell {
        Cell::Text(value.into())
    }

    fn text_or_empty(value: &Option<String>) -> Cell {
        value.clone().map_or(Cell::Empty, Cell::Text)
    }

    fn whole(value: impl TryInto<i64>) -> Cell {
        value.try_into().map_or(Cell::Empty, Cell::Integer)
    }

    fn number(value: f64) -> Cell {
        if value.is_finite() { Cell::Float(value) } else { Cell::Empty }
    }

    fn number_or_empty(value: Option<f64>) -> Cell {
        value.map_or(Cell::Empty, Cell::number)
    }

    fn nanos(value: Option<Nanos>) -> Cell {
        value.map_or(Cell::Empty, |value| Cell::whole(value.0))
    }
}

fn run_row(run: &Run) -> Vec<Cell> {
    let target = &run.target;
    let environment = &run.environment;
    let caveats: Vec<&str> = target.caveats.iter().map(|caveat| caveat.name()).collect();
    vec![
        Cell::text(&run.id),
        Cell::text(&run.started),
        Cell::text_or_empty(&run.finished),
        Cell::text(run.status.name()),
        Cell::text(&run.version),
        Cell::text(&run.command),
        Cell::text(run.seed.to_string()),
        Cell::text(target.kind.name()),
        Cell::text(&target.path),
        Cell::text_or_empty(&target.model),
        Cell::text_or_empty(&target.serial),
        Cell::text_or_empty(&target.firmware),
        Cell::whole(target.capacity.0),
        Cell::whole(target.logical_block.0),
        Cell::whole(target.physical_block.0),
        target.rotational.map_or(Cell::Empty, Cell::Flag),
        target.link.as_ref().map_or(Cell::Empty, |link| Cell::text(&link.name)),
        Cell::number_or_empty(target.link.as_ref().and_then(|link| link.bytes_per_second_max)),
        Cell::text_or_empty(&target.zoned),
        Cell::text(caveats.join(" ")),
        Cell::text(&environment.host),
        Cell::text(&environment.kernel),
        Cell::text(&environment.engine),
        Cell::Flag(environment.direct),
        Cell::text_or_empty(&environment.scheduler),
        Cell::text(environment.warnings.join(" ")),
    ]
}

fn phase_rows<Error>(
    run: &Run,
    number: i64,
    summary: &PhaseSummary,
    take: &mut dyn FnMut(Vec<Cell>) -> Result<(), Error>,
) -> Result<(), Error> {
    if summary.totals.is_empty() {
        return take(phase_row(run, number, summary, None));
    }
    summary.totals.iter().try_for_each(|totals| take(phase_row(run, number, summary, Some(totals))))
}

fn phase_row(run: &Run, number: i64, summary: &PhaseSummary, totals: Option<&OperationTotals>) -> Vec<Cell> {
    let phase = &summary.phase;
    let of_workload = |cell: fn(&Workload) -> Cell| phase.workload.as_ref().map_or(Cell::Empty, cell);
    let of_totals = |pick: fn(&OperationTotals) -> u64| totals.map_or(0, pick);
    let seconds = Nanos(summary.duration_ns).seconds();
    let per_second = |number: u64| Cell::number(number as f64 / seconds);
    let mut row = vec![
        Cell::text(&run.id),
        Cell::Integer(number),
        Cell::text(&phase.name),
        Cell::text(phase.experiment.as_ref()),
        Cell::text(phase.kind.name()),
        totals.map_or(Cell::Empty, |totals| Cell::text(totals.operation.name())),
        of_workload(|workload| Cell::text(workload.pattern.name())),
        of_workload(|workload| Cell::whole(workload.range.first().0)),
        of_workload(|workload| Cell::whole(workload.range.bytes().0)),
        of_workload(|workload| workload.block_sizes.single().map_or(Cell::Empty, |size| Cell::whole(size.0))),
        of_workload(|workload| read_share(workload.mix)),
        of_workload(|workload| Cell::whole(workload.queue_depth)),
        of_workload(|workload| Cell::whole(workload.threads)),
        of_workload(|workload| Cell::text(caching_name(workload.caching))),
        summary.stopped.map_or(Cell::Empty, |reason| Cell::text(reason.name())),
        Cell::whole(summary.start_ns),
        Cell::whole(summary.duration_ns),
        Cell::whole(of_totals(|totals| totals.operations)),
        Cell::whole(of_totals(|totals| totals.bytes)),
        Cell::whole(of_totals(|totals| totals.errors)),
        per_second(of_totals(|totals| totals.operations)),
        per_second(of_totals(|totals| totals.bytes)),
    ];
    row.extend(latency_cells(totals.map(|totals| &totals.histogram)));
    row
}

fn latency_cells(histogram: Option<&LatencyHistogram>) -> [Cell; 7] {
    let quantile = |quantile| {
        Cell::nanos(histogram.and_then(|histogram: &LatencyHistogram| histogram.quantile(quantile)))
    };
    [
        Cell::nanos(histogram.and_then(LatencyHistogram::min)),
        Cell::number_or_empty(histogram.and_then(LatencyHistogram::mean_ns)),
        quantile(Quantile::MEDIAN),
        quantile(Quantile::P90),
        quantile(Quantile::P99),
        quantile(Quantile::P999),
        Cell::nanos(histogram.and_then(LatencyHistogram::max)),
    ]
}

fn caching_name(caching: Caching) -> &'static str {
    match caching {
        Caching::Direct => "direct",
        Caching::Buffered => "buffered",
    }
}

fn read_share(mix: OperationMix) -> Cell {
    match mix {
        OperationMix::Read => Cell::Float(1.0),
        OperationMix::Write => Cell::Float(0.0),
        OperationMix::ReadWrite { read_share } => Cell::number(read_share),
        OperationMix::Discard => Cell::Empty,
    }
}

fn interval_row(run_id: &str, interval: &IntervalRecord) -> Vec<Cell> {
    let latency = interval.latency.as_ref();
    let of =
        |pick: fn(&IntervalLatency) -> u64| latency.map_or(Cell::Empty, |latency| Cell::whole(pick(latency)));
    vec![
        Cell::text(run_id),
        Cell::whole(interval.phase),
        Cell::text(interval.operation.name()),
        Cell::whole(interval.start_ns),
        Cell::whole(interval.duration_ns),
        Cell::whole(interval.operations),
        Cell::whole(interval.bytes),
        Cell::whole(interval.errors),
        Cell::whole(interval.offset_first),
        Cell::whole(interval.offset_end),
        of(|latency| latency.min_ns),
        Cell::number_or_empty(latency.map(|latency| latency.mean_ns)),
        of(|latency| latency.p50_ns),
        of(|latency| latency.p99_ns),
        of(|latency| latency.max_ns),
    ]
}

fn finding_row(run_id: &str, finding: &Finding) -> Vec<Cell> {
    let mut row = vec![Cell::text(run_id), Cell::text(finding.code.name())];
    let empty = |cells: usize| std::iter::repeat_n(Cell::Empty, cells);
    match &finding.outcome {
        Outcome::Unknown { why } => {
            row.extend(empty(9));
            row.push(Cell::text(why));
        }
        Outcome::Known(known) => {
            match &known.value {
                Value::Text(kind) => {
                    row.extend([Cell::Empty, Cell::text(kind.as_ref())]);
                    row.extend(empty(5));
                }
                Value::Number { estimate, unit } => row.extend([
                    Cell::number(estimate.value),
                    Cell::Empty,
                    Cell::text(unit.as_ref()),
                    Cell::number(estimate.low),
                    Cell::number(estimate.high),
                    Cell::number(estimate.confidence),
                    Cell::number(estimate.effective_count),
                ]),
            }
            row.extend([Cell::text(&known.statement), Cell::text_or_empty(&known.advice), Cell::Empty]);
        }
    }
    row
}
