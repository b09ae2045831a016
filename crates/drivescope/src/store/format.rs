//! The series of a run: their names, their limits, and how each record becomes a row.
//!
//! Format version 1. Columns may be added in a later version; none is renamed or changes its unit.

use super::row::{Cell, CellKind, Column, StoredRecord};
use model::histogram::LatencyHistogram;
use model::record::{
    ErrorRecord, HistogramRecord, IntervalLatency, IntervalRecord, IoRecord, TelemetryRecord,
};
use model::request::Status;

/// The version of journals and segments that is written, and the newest that is read.
pub(super) const FORMAT_VERSION: u8 = 1;

/// The series of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SeriesKind {
    /// [`IntervalRecord`].
    Intervals,
    /// [`HistogramRecord`].
    Histograms,
    /// [`ErrorRecord`].
    Errors,
    /// [`TelemetryRecord`].
    Telemetry,
    /// [`IoRecord`].
    Trace,
}

impl SeriesKind {
    /// All of them, in the order of their numbers in journals.
    pub(super) const ALL: [SeriesKind; 5] = [
        SeriesKind::Intervals,
        SeriesKind::Histograms,
        SeriesKind::Errors,
        SeriesKind::Telemetry,
        SeriesKind::Trace,
    ];

    /// The word in file names.
    pub(super) fn name(self) -> &'static str {
        match self {
            SeriesKind::Intervals => "intervals",
            SeriesKind::Histograms => "histograms",
            SeriesKind::Errors => "errors",
            SeriesKind::Telemetry => "telemetry",
            SeriesKind::Trace => "trace",
        }
    }

    /// Records after which a journal becomes a segment. A trace of a fast drive has half a million a second, and
    /// each segment costs two syncs.
    pub(super) fn segment_records_max(self) -> u64 {
        match self {
            SeriesKind::Trace => 1 << 20,
            SeriesKind::Histograms => 1 << 12,
            SeriesKind::Intervals | SeriesKind::Errors | SeriesKind::Telemetry => 1 << 16,
        }
    }

    /// Rows of a row group: what a reader holds in memory at once. 8 MB of intervals, 15 MB of histograms.
    pub(super) fn group_rows_max(self) -> usize {
        match self {
            SeriesKind::Histograms => 1 << 8,
            _ => 1 << 16,
        }
    }

    /// The columns.
    pub(super) fn columns(self) -> &'static [Column] {
        match self {
            SeriesKind::Intervals => IntervalRecord::COLUMNS,
            SeriesKind::Histograms => HistogramRecord::COLUMNS,
            SeriesKind::Errors => ErrorRecord::COLUMNS,
            SeriesKind::Telemetry => TelemetryRecord::COLUMNS,
            SeriesKind::Trace => IoRecord::COLUMNS,
        }
    }

    /// `intervals-000001.parquet`.
    pub(super) fn segment_name(self, number: u32) -> String {
        format!("{}-{number:06}.parquet", self.name())
    }

    /// `intervals-000001.journal`.
    pub(super) fn journal_name(self, number: u32) -> String {
        format!("{}-{number:06}.journal", self.name())
    }

    /// The series, number and form that a file name says.
    pub(super) fn of_file_name(name: &str) -> Option<(SeriesKind, u32, FileForm)> {
        let (stem, ending) = name.split_once('.')?;
        let form = match ending {
            "parquet" => FileForm::Segment,
            "journal" => FileForm::Journal,
            _ => return None,
        };
        let (word, digits) = stem.split_once('-')?;
        let kind = SeriesKind::ALL.into_iter().find(|kind| kind.name() == word)?;
        let all_digits = digits.len() >= 6 && digits.bytes().all(|digit| digit.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| all_digits)?;
        Some((kind, number, form))
    }
}

/// The two forms of a part of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileForm {
    /// Parquet, complete.
    Segment,
    /// Being written, or left over.
    Journal,
}

fn latency_cell(record: &IntervalRecord, pick: impl Fn(&IntervalLatency) -> u64) -> Cell {
    Cell::integer_or_empty(record.latency.as_ref().map(pick))
}

impl StoredRecord for IntervalRecord {
    const COLUMNS: &'static [Column] = &[
        Column::required("phase", CellKind::Small),
        Column::required("operation", CellKind::Operation),
        Column::required("start_ns", CellKind::Integer),
        Column::required("duration_ns", CellKind::Integer),
        Column::required("operations", CellKind::Integer),
        Column::required("bytes", CellKind::Integer),
        Column::required("errors", CellKind::Integer),
        Column::required("offset_bytes_first", CellKind::Integer),
        Column::required("offset_bytes_end", CellKind::Integer),
        Column::nullable("latency_ns_min", CellKind::Integer),
        Column::nullable("latency_ns_mean", CellKind::Float),
        Column::nullable("latency_ns_p50", CellKind::Integer),
        Column::nullable("latency_ns_p99", CellKind::Integer),
        Column::nullable("latency_ns_max", CellKind::Integer),
    ];

    fn to_row(&self, row: &mut Vec<Cell>) {
        row.extend([
            Cell::Small(self.phase.cast_signed()),
            Cell::Operation(self.operation),
            Cell::Integer(self.start_ns),
            Cell::Integer(self.duration_ns),
            Cell::Integer(self.operations),
            Cell::Integer(self.bytes),
            Cell::Integer(self.errors),
            Cell::Integer(self.offset_first),
            Cell::Integer(self.offset_end),
            latency_cell(self, |latency| latency.min_ns),
            Cell::float_or_empty(self.latency.map(|latency| latency.mean_ns)),
            latency_cell(self, |latency| latency.p50_ns),
            latency_cell(self, |latency| latency.p99_ns),
            latency_cell(self, |latency| latency.max_ns),
        ]);
    }

    fn from_row(row: &[Cell]) -> Option<IntervalRecord> {
        let [phase, operation, start, duration, operations, bytes, errors, first, end, latency @ ..] = row
        else {
            return None;
        };
        let [min, mean, p50, p99, max] = latency else { return None };
        let latency = match min {
            Cell::Empty => None,
            min => Some(IntervalLatency {
                min_ns: min.integer()?,
                mean_ns: mean.float()?,
                p50_ns: p50.integer()?,
                p99_ns: p99.integer()?,
                max_ns: max.integer()?,
            }),
        };
        Some(IntervalRecord {
            phase: phase.small()?.cast_unsigned(),
            operation: operation.operation()?,
            start_ns: start.integer()?,
            duration_ns: duration.integer()?,
            operations: operations.integer()?,
            bytes: bytes.integer()?,
            errors: errors.integer()?,
            offset_first: first.integer()?,
            offset_end: end.integer()?,
            latency,
        })
    }
}

/// The sum of latencies is 128 bits wide: `sum = high × 2⁶³ + low`, so that neither column is ever negative. It
/// holds sums below 2¹²⁶ ns, more than 2⁶² requests of 584 years each.
const SUM_LOW_BITS: u32 = 63;

impl StoredRecord for HistogramRecord {
    const COLUMNS: &'static [Column] = &[
        Column::required("phase", CellKind::Small),
        Column::required("operation", CellKind::Operation),
        Column::required("start_ns", CellKind::Integer),
        Column::required("duration_ns", CellKind::Integer),
        Column::required("operations", CellKind::Integer),
        Column::required("latency_ns_sum_high", CellKind::Integer),
        Column::required("latency_ns_sum_low", CellKind::Integer),
        Column::nullable("latency_ns_min", CellKind::Integer),
        Column::nullable("latency_ns_max", CellKind::Integer),
        Column::required("cells", CellKind::Bytes),
    ];

    fn to_row(&self, row: &mut Vec<Cell>) {
        let sum = self.histogram.sum_ns();
        let mut cells = Vec::new();
        encode_cells(self.histogram.cells(), &mut cells);
        row.extend([
            Cell::Small(self.phase.cast_signed()),
            Cell::Operation(self.operation),
            Cell::Integer(self.start_ns),
            Cell::Integer(self.duration_ns),
            Cell::Integer(self.histogram.count()),
            Cell::Integer((sum >> SUM_LOW_BITS) as u64),
            Cell::Integer((sum & ((1 << SUM_LOW_BITS) - 1)) as u64),
            Cell::integer_or_empty(self.histogram.min().map(|min| min.0)),
            Cell::integer_or_empty(self.histogram.max().map(|max| max.0)),
            Cell::Bytes(cells),
        ]);
    }

    fn from_row(row: &[Cell]) -> Option<HistogramRecord> {
        let [phase, operation, start, duration, operations, high, low, min, max, cells] = row else {
            return None;
        };
        let sum = (u128::from(high.integer()?) << SUM_LOW_BITS) + u128::from(low.integer()?);
        let cells = decode_cells(cells.bytes()?)?;
        let (min, max) = (min.integer().unwrap_or(0), max.integer().unwrap_or(0));
        let histogram = LatencyHistogram::from_parts(cells, sum, min, max)?;
        (histogram.count() == operations.integer()?).then_some(HistogramRecord {
            phase: phase.small()?.cast_unsigned(),
            operation: operation.operation()?,
            start_ns: start.integer()?,
            duration_ns: duration.integer()?,
            histogram,
        })
    }
}

/// Appends the cells of a histogram as pairs of numbers: how many cells further than the last (the first: from 0),
/// and its count; each number in groups of seven bits, lowest first, the top bit set in all bytes but the last.
pub(super) fn encode_cells(cells: impl Iterator<Item = (u32, u64)>, out: &mut Vec<u8>) {
    let mut last = 0;
    for (cell, count) in cells {
        encode_varint(u64::from(cell - last), out);
        encode_varint(count, out);
        last = cell;
    }
}

/// Reads cells back; none unless the bytes are whole pairs.
pub(super) fn decode_cells(mut bytes: &[u8]) -> Option<Vec<(u32, u64)>> {
    let mut cells = Vec::new();
    let mut last = 0u32;
    while !bytes.is_empty() {
        let step = u32::try_from(decode_varint(&mut bytes)?).ok()?;
        last = last.checked_add(step)?;
        cells.push((last, decode_varint(&mut bytes)?));
    }
    Some(cells)
}

fn encode_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn decode_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit.
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

impl StoredRecord for ErrorRecord {
    const COLUMNS: &'static [Column] = &[
        Column::required("phase", CellKind::Small),
        Column::required("at_ns", CellKind::Integer),
        Column::required("operation", CellKind::Operation),
        Column::required("offset_bytes", CellKind::Integer),
        Column::required("length_bytes", CellKind::Integer),
        Column::required("status", CellKind::Small),
    ];

    fn to_row(&self, row: &mut Vec<Cell>) {
        row.extend([
            Cell::Small(self.phase.cast_signed()),
            Cell::Integer(self.at_ns),
            Cell::Operation(self.operation),
            Cell::Integer(self.offset_bytes),
            Cell::Integer(u64::from(self.length_bytes)),
            Cell::Small(self.status.number()),
        ]);
    }

    fn from_row(row: &[Cell]) -> Option<ErrorRecord> {
        let [phase, at, operation, offset, length, status] = row else { return None };
        Some(ErrorRecord {
            phase: phase.small()?.cast_unsigned(),
            at_ns: at.integer()?,
            operation: operation.operation()?,
            offset_bytes: offset.integer()?,
            length_bytes: u32::try_from(length.integer()?).ok()?,
            status: Status::from_number(status.small()?),
        })
    }
}

impl StoredRecord for TelemetryRecord {
    const COLUMNS: &'static [Column] = &[
        Column::required("at_ns", CellKind::Integer),
        Column::nullable("temperature_celsius", CellKind::Float),
        Column::nullable("cpu_busy_share", CellKind::Float),
        Column::nullable("cpu_steal_share", CellKind::Float),
        Column::nullable("own_cpu_share", CellKind::Float),
        Column::nullable("device_read_bytes", CellKind::Integer),
        Column::nullable("device_write_bytes", CellKind::Integer),
        Column::required("own_read_bytes", CellKind::Integer),
        Column::required("own_write_bytes", CellKind::Integer),
    ];

    fn to_row(&self, row: &mut Vec<Cell>) {
        row.extend([
            Cell::Integer(self.at_ns),
            Cell::float_or_empty(self.temperature_celsius),
            Cell::float_or_empty(self.cpu_busy_share),
            Cell::float_or_empty(self.cpu_steal_share),
            Cell::float_or_empty(self.own_cpu_share),
            Cell::integer_or_empty(self.device_read_bytes),
            Cell::integer_or_empty(self.device_write_bytes),
            Cell::Integer(self.own_read_bytes),
            Cell::Integer(self.own_write_bytes),
        ]);
    }

    fn from_row(row: &[Cell]) -> Option<TelemetryRecord> {
        let [at, temperature, busy, steal, own_cpu, device_read, device_write, own_read, own_write] = row
        else {
            return None;
        };
        Some(TelemetryRecord {
            at_ns: at.integer()?,
            temperature_celsius: temperature.float(),
            cpu_busy_share: busy.float(),
            cpu_steal_share: steal.float(),
            own_cpu_share: own_cpu.float(),
            device_read_bytes: device_read.integer(),
            device_write_bytes: device_write.integer(),
            own_read_bytes: own_read.integer()?,
            own_write_bytes: own_write.integer()?,
        })
    }
}

impl StoredRecord for IoRecord {
    const COLUMNS: &'static [Column] = &[
        Column::required("phase", CellKind::Small),
        Column::required("operation", CellKind::Operation),
        Column::required("intended_ns", CellKind::Integer),
        Column::required("submitted_ns", CellKind::Integer),
        Column::required("completed_ns", CellKind::Integer),
        Column::required("offset_bytes", CellKind::Integer),
        Column::required("length_bytes", CellKind::Integer),
        Column::required("status", CellKind::Small),
    ];

    fn to_row(&self, row: &mut Vec<Cell>) {
        row.extend([
            Cell::Small(self.phase.cast_signed()),
            Cell::Operation(self.operation),
            Cell::Integer(self.intended_ns),
            Cell::Integer(self.submitted_ns),
            Cell::Integer(self.completed_ns),
            Cell::Integer(self.offset_bytes),
            Cell::Integer(u64::from(self.length_bytes)),
            Cell::Small(self.status.number()),
        ]);
    }

    fn from_row(row: &[Cell]) -> Option<IoRecord> {
        let [phase, operation, intended, submitted, completed, offset, length, status] = row else {
            return None;
        };
        Some(IoRecord {
            phase: phase.small()?.cast_unsigned(),
            operation: operation.operation()?,
            intended_ns: intended.integer()?,
            submitted_ns: submitted.integer()?,
            completed_ns: completed.integer()?,
            offset_bytes: offset.integer()?,
            length_bytes: u32::try_from(length.integer()?).ok()?,
            status: Status::from_number(status.small()?),
        })
    }
}
