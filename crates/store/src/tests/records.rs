//! Records of every kind, at random, for the tests of journals and segments.

use crate::column::{Cell, StoredRecord, decode_row, encode_row};
use crate::record::{decode_cells, encode_cells};
use model::histogram::LatencyHistogram;
use model::record::{
    ErrorRecord, HistogramRecord, IntervalLatency, IntervalRecord, IoRecord, TelemetryRecord,
};
use model::request::{Operation, Status};
use proptest::option;
use proptest::prelude::*;

pub(super) fn operation() -> impl Strategy<Value = Operation> {
    prop::sample::select(Operation::ALL.to_vec())
}

fn status() -> impl Strategy<Value = Status> {
    (0i32..5000).prop_map(Status::from_number)
}

pub(super) fn interval() -> impl Strategy<Value = IntervalRecord> {
    let latency =
        (any::<[u64; 4]>(), any::<f64>()).prop_map(|([min_ns, p50_ns, p99_ns, max_ns], mean_ns)| {
            IntervalLatency { min_ns, mean_ns, p50_ns, p99_ns, max_ns }
        });
    (any::<u32>(), operation(), any::<[u64; 7]>(), option::of(latency)).prop_map(
        |(phase, operation, [start_ns, duration_ns, operations, bytes, errors, first, end], latency)| {
            IntervalRecord {
                phase,
                operation,
                start_ns,
                duration_ns,
                operations,
                bytes,
                errors,
                offset_first: first,
                offset_end: end,
                latency,
            }
        },
    )
}

pub(super) fn histogram() -> impl Strategy<Value = HistogramRecord> {
    let latencies = prop::collection::vec(any::<u64>(), 0..20);
    (any::<u32>(), operation(), any::<[u64; 2]>(), latencies).prop_map(
        |(phase, operation, [start_ns, duration_ns], latencies)| {
            let mut histogram = LatencyHistogram::default();
            latencies.into_iter().for_each(|latency| histogram.record(latency));
            HistogramRecord { phase, operation, start_ns, duration_ns, histogram }
        },
    )
}

pub(super) fn error() -> impl Strategy<Value = ErrorRecord> {
    (any::<u32>(), any::<u64>(), operation(), any::<u64>(), any::<u32>(), status()).prop_map(
        |(phase, at_ns, operation, offset_bytes, length_bytes, status)| ErrorRecord {
            phase,
            at_ns,
            operation,
            offset_bytes,
            length_bytes,
            status,
        },
    )
}

pub(super) fn telemetry() -> impl Strategy<Value = TelemetryRecord> {
    (any::<[u64; 3]>(), any::<[Option<f64>; 4]>(), any::<[Option<u64>; 2]>()).prop_map(
        |([at_ns, own_read_bytes, own_write_bytes], [temperature, busy, steal, own], [read, write])| {
            TelemetryRecord {
                at_ns,
                temperature_celsius: temperature,
                cpu_busy_share: busy,
                cpu_steal_share: steal,
                own_cpu_share: own,
                device_read_bytes: read,
                device_write_bytes: write,
                own_read_bytes,
                own_write_bytes,
            }
        },
    )
}

pub(super) fn io() -> impl Strategy<Value = IoRecord> {
    (any::<[u64; 4]>(), any::<[u32; 2]>(), status(), operation()).prop_map(
        |(
            [intended_ns, submitted_ns, completed_ns, offset_bytes],
            [length_bytes, phase],
            status,
            operation,
        )| {
            IoRecord {
                intended_ns,
                submitted_ns,
                completed_ns,
                offset_bytes,
                length_bytes,
                phase,
                status,
                operation,
            }
        },
    )
}

fn through_a_row<R: StoredRecord>(record: &R) -> Option<R> {
    let (mut row, mut bytes, mut back) = (Vec::new(), Vec::new(), Vec::new());
    record.to_row(&mut row);
    encode_row(R::COLUMNS, &row, &mut bytes);
    decode_row(R::COLUMNS, &bytes, &mut back)?;
    assert_eq!(row, back);
    R::from_row(back.into_iter())
}

/// The numbers of a telemetry or interval record may not be finite here, so rows are compared, not records.
fn row_of<R: StoredRecord>(record: &R) -> Vec<Cell> {
    let mut row = Vec::new();
    record.to_row(&mut row);
    row
}

#[test]
fn no_column_has_a_name_that_readers_trip_over() {
    for kind in crate::series_kind::SeriesKind::ALL {
        let mut names: Vec<_> = kind.columns().iter().map(|column| column.name).collect();
        assert!(names.iter().all(|name| !["op", "count", "schema", "type"].contains(name)), "{names:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), kind.columns().len());
    }
}

#[test]
fn cells_are_packed_as_documented() {
    let bytes = encode_cells([(5, 1), (300, 128), (301, u64::MAX)].into_iter());
    let expected = [5, 1, 0xa7, 2, 0x80, 1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
    assert_eq!(bytes, expected);
    assert_eq!(decode_cells(&expected), Some(vec![(5, 1), (300, 128), (301, u64::MAX)]));
}

#[test]
fn half_a_pair_of_cells_is_refused() {
    for bytes in
        [&[5][..], &[0x80], &[5, 0x80], &[255; 11], &[0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2]]
    {
        assert_eq!(decode_cells(bytes), None, "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn cells_come_back(cells in prop::collection::btree_map(any::<u32>(), any::<u64>(), 0..50)) {
        let cells: Vec<_> = cells.into_iter().collect();
        let bytes = encode_cells(cells.iter().copied());
        prop_assert_eq!(decode_cells(&bytes), Some(cells));
    }

    #[test]
    fn no_bytes_panic_as_cells_or_rows(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_cells(&bytes);
        for kind in crate::series_kind::SeriesKind::ALL {
            let mut row = Vec::new();
            if decode_row(kind.columns(), &bytes, &mut row).is_some() {
                let cells = || row.iter().cloned();
                let _ = (HistogramRecord::from_row(cells()), IntervalRecord::from_row(cells()), IoRecord::from_row(cells()));
            }
        }
    }

    #[test]
    fn every_interval_comes_back(record in interval()) {
        prop_assert_eq!(through_a_row(&record).map(|back| row_of(&back)), Some(row_of(&record)));
    }

    #[test]
    fn every_histogram_comes_back(record in histogram()) {
        prop_assert_eq!(through_a_row(&record), Some(record));
    }

    #[test]
    fn every_error_comes_back(record in error()) {
        prop_assert_eq!(through_a_row(&record), Some(record));
    }

    #[test]
    fn every_telemetry_record_comes_back(record in telemetry()) {
        prop_assert_eq!(through_a_row(&record), Some(record));
    }

    #[test]
    fn every_io_comes_back(record in io()) {
        prop_assert_eq!(through_a_row(&record), Some(record));
    }
}
