//! Segments: what Parquet's own reader sees in them, and what damage does.

use super::records;
use crate::column::{Cell, StoredRecord};
use crate::disk::Disk;
use crate::fingerprint::{Fingerprint, checksums};
use crate::journal::JournalWriter;
use crate::run_folder::{fold, fold_all, parts};
use crate::segment::{SegmentReader, probe};
use crate::series_kind::SeriesKind;
use model::histogram::LatencyHistogram;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::request::{Operation, Status};
use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;
use std::fs::{self, File};
use std::path::Path;

fn journal<R: StoredRecord>(folder: &Path, kind: SeriesKind, number: u32, records: &[R]) {
    let mut writer =
        JournalWriter::create(Disk::default(), &folder.join(kind.journal_name(number)), kind).unwrap();
    for record in records {
        let mut row = Vec::new();
        record.to_row(&mut row);
        writer.push(&row);
    }
    writer.write().unwrap();
}

fn read(path: &Path, kind: SeriesKind) -> Result<Vec<Vec<Cell>>, String> {
    let reader = SegmentReader::open(path, kind).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for group in 0..reader.groups() {
        let (mut columns, count) = reader.columns(group).map_err(|error| error.to_string())?;
        for _ in 0..count {
            rows.push(columns.iter_mut().filter_map(Iterator::next).collect());
        }
    }
    Ok(rows)
}

fn rows<R: StoredRecord>(records: &[R]) -> Vec<Vec<Cell>> {
    let row = |record: &R| {
        let mut row = Vec::new();
        record.to_row(&mut row);
        row
    };
    records.iter().map(row).collect()
}

fn io(number: u64, phase: u32) -> IoRecord {
    IoRecord {
        intended_ns: number,
        submitted_ns: number,
        completed_ns: number + 100,
        offset_bytes: number * 4096,
        length_bytes: 4096,
        phase,
        status: Status::MediumError,
        operation: Operation::Write,
    }
}

#[test]
fn a_stranger_reads_a_segment() {
    let folder = tempfile::tempdir().unwrap();
    let mut histogram = LatencyHistogram::default();
    [100, 100, 300].into_iter().for_each(|latency| histogram.record(latency));
    let record =
        HistogramRecord { phase: 2, operation: Operation::Discard, start_ns: 5, duration_ns: 6, histogram };
    journal(folder.path(), SeriesKind::Histograms, 1, &[record]);
    fold(Disk::default(), folder.path(), SeriesKind::Histograms, 1).unwrap();
    let path = folder.path().join("histograms-000001.parquet");
    let file = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let row = file.get_row_iter(None).unwrap().next().unwrap().unwrap();
    // Cell 100 twice; 300 lies in cell 256 + (300 - 256) / 2 = 278.
    assert_eq!(
        row.to_string(),
        "{phase: 2, operation: \"discard\", start_ns: 5, duration_ns: 6, operations: 3, latency_ns_sum_high: 0, \
         latency_ns_sum_low: 500, latency_ns_min: 100, latency_ns_max: 300, cells: [100, 2, 178, 1, 1]}"
    );
    let notes = file.metadata().file_metadata().key_value_metadata().unwrap();
    let note = |key: &str| notes.iter().find(|note| note.key == key).and_then(|note| note.value.clone());
    assert_eq!(note("drivescope.format").as_deref(), Some("1"));
    assert_eq!(note("drivescope.series").as_deref(), Some("histograms"));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the segment and the checksums: {left:?}");
}

#[test]
fn row_groups_are_small_and_know_their_phases() {
    let folder = tempfile::tempdir().unwrap();
    let records: Vec<_> = (0..150_000).map(|number| io(number, (number / 50_000) as u32)).collect();
    journal(folder.path(), SeriesKind::Trace, 1, &records);
    fold(Disk::default(), folder.path(), SeriesKind::Trace, 1).unwrap();
    let path = folder.path().join("trace-000001.parquet");
    let reader = SegmentReader::open(&path, SeriesKind::Trace).unwrap();
    assert_eq!(reader.groups(), 3);
    assert_eq!([0, 1, 2].map(|group| reader.phases(group)), [0..=1, 1..=2, 2..=2]);
    assert_eq!(read(&path, SeriesKind::Trace).unwrap(), rows(&records));
}

#[test]
fn an_empty_journal_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    journal::<IoRecord>(folder.path(), SeriesKind::Trace, 1, &[]);
    fold(Disk::default(), folder.path(), SeriesKind::Trace, 1).unwrap();
    assert!(parts(folder.path()).unwrap().is_empty());
}

#[test]
fn folding_is_finished_wherever_it_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let records: Vec<_> = (0..10).map(|number| io(number, 0)).collect();
    let name = "trace-000001.parquet";
    let segment = folder.path().join(name);
    journal(folder.path(), SeriesKind::Trace, 1, &records);
    let journal_bytes = fs::read(folder.path().join("trace-000001.journal")).unwrap();
    fold(Disk::default(), folder.path(), SeriesKind::Trace, 1).unwrap();
    let segment_bytes = fs::read(&segment).unwrap();
    type Bytes<'a> = Option<&'a [u8]>;
    let kill_points: [(&str, Bytes<'_>, Bytes<'_>); 3] = [
        ("while the temporary file was written", None, Some(&segment_bytes[..100])),
        ("before the rename", None, Some(&segment_bytes)),
        ("before the journal was removed", Some(&segment_bytes), None),
    ];
    for (moment, renamed, partial) in kill_points {
        for entry in fs::read_dir(folder.path()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        fs::write(folder.path().join("trace-000001.journal"), &journal_bytes).unwrap();
        if let Some(bytes) = renamed {
            fs::write(&segment, bytes).unwrap();
        }
        if let Some(bytes) = partial {
            fs::write(folder.path().join(format!("{name}.partial")), bytes).unwrap();
        }
        fold_all(Disk::default(), folder.path()).unwrap();
        assert_eq!(read(&segment, SeriesKind::Trace).unwrap(), rows(&records), "{moment}");
        assert_eq!(checksums(folder.path()).get(name), Some(&Fingerprint::of(&segment).unwrap()), "{moment}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "{moment}");
    }
}

#[test]
fn a_damaged_journal_is_not_folded_away() {
    let folder = tempfile::tempdir().unwrap();
    journal(folder.path(), SeriesKind::Trace, 1, &[io(0, 0), io(1, 0)]);
    let path = folder.path().join("trace-000001.journal");
    let mut bytes = fs::read(&path).unwrap();
    bytes[30] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let error = fold(Disk::default(), folder.path(), SeriesKind::Trace, 1).unwrap_err().to_string();
    assert!(error.contains("is damaged after record 0"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn names_of_parts_are_told_from_others() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "intervals-000001.parquet",
        "intervals-1234567.journal",
        "intervals-000002.parquet.partial",
        "intervals-1.parquet",
        "intervals-00000+.parquet",
        "latencies-000001.parquet",
        "intervals-99999999999.parquet",
        "run.json",
    ] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let found: Vec<_> = parts(folder.path()).unwrap().into_keys().collect();
    assert_eq!(found, [(SeriesKind::Intervals, 1), (SeriesKind::Intervals, 1_234_567)]);
}

#[test]
fn a_file_of_a_later_format_or_without_a_column_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    journal(folder.path(), SeriesKind::Trace, 1, &[io(0, 0)]);
    fold(Disk::default(), folder.path(), SeriesKind::Trace, 1).unwrap();
    let path = folder.path().join("trace-000001.parquet");
    let error = read(&path, SeriesKind::Intervals).unwrap_err();
    assert!(error.contains("its column start_ns is missing or of another type"), "{error}");
    let mut bytes = fs::read(&path).unwrap();
    let key = b"drivescope.format";
    let place = bytes.windows(key.len()).position(|window| window == key).unwrap();
    let version = (place..).find(|&at| bytes[at] == b'1').unwrap();
    bytes[version] = b'2';
    fs::write(&path, &bytes).unwrap();
    let error = read(&path, SeriesKind::Trace).unwrap_err();
    assert!(error.contains("a later drivescope wrote it, in format 2"), "{error}");
}

fn comes_back<R: StoredRecord>(kind: SeriesKind, records: &[R]) {
    let folder = tempfile::tempdir().unwrap();
    journal(folder.path(), kind, 7, records);
    fold(Disk::default(), folder.path(), kind, 7).unwrap();
    assert_eq!(read(&folder.path().join(kind.segment_name(7)), kind).unwrap(), rows(records));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn records_of_every_kind_come_back(
        intervals in prop::collection::vec(records::interval(), 1..30),
        histograms in prop::collection::vec(records::histogram(), 1..10),
        errors in prop::collection::vec(records::error(), 1..30),
        telemetry in prop::collection::vec(records::telemetry(), 1..30),
        trace in prop::collection::vec(records::io(), 1..30),
    ) {
        comes_back::<IntervalRecord>(SeriesKind::Intervals, &intervals);
        comes_back::<HistogramRecord>(SeriesKind::Histograms, &histograms);
        comes_back::<ErrorRecord>(SeriesKind::Errors, &errors);
        comes_back::<TelemetryRecord>(SeriesKind::Telemetry, &telemetry);
        comes_back::<IoRecord>(SeriesKind::Trace, &trace);
    }

    /// The store compares checksums first; this is for a segment that has none.
    #[test]
    fn no_altered_byte_and_no_cut_ends_the_program(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let records: Vec<_> = (0..200).map(|number| io(number, 0)).collect();
        journal(folder.path(), SeriesKind::Trace, 1, &records);
        fold(Disk::default(), folder.path(), SeriesKind::Trace, 1).unwrap();
        let path = folder.path().join("trace-000001.parquet");
        let mut bytes = fs::read(&path).unwrap();
        for (place, change) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= change;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        fs::write(&path, &bytes).unwrap();
        let _ = probe(&path, SeriesKind::Trace);
    }
}
