//! Journals: cut at every byte, with every kind of damage.

use super::records;
use crate::column::{Cell, StoredRecord};
use crate::disk::Disk;
use crate::journal::{JournalEnd, JournalReader, JournalWriter};
use crate::series_kind::SeriesKind;
use model::record::{HistogramRecord, IntervalRecord};
use model::request::Operation;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// Writes a journal; answers the length of the file after the header and after each record.
fn write<R: StoredRecord>(path: &Path, kind: SeriesKind, records: &[R]) -> Vec<u64> {
    let mut writer = JournalWriter::create(Disk::default(), path, kind).unwrap();
    let length = || fs::metadata(path).unwrap().len();
    let mut ends = vec![length()];
    for record in records {
        let mut row = Vec::new();
        record.to_row(&mut row);
        writer.push(&row);
        writer.write().unwrap();
        ends.push(length());
    }
    ends
}

fn read(path: &Path, kind: SeriesKind) -> (Vec<Vec<Cell>>, JournalEnd) {
    let mut reader = JournalReader::open(path, kind).unwrap();
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    while reader.next_row(&mut row).unwrap() {
        rows.push(row.clone());
    }
    (rows, reader.end().unwrap())
}

fn rows<R: StoredRecord>(records: &[R]) -> Vec<Vec<Cell>> {
    let row = |record: &R| {
        let mut row = Vec::new();
        record.to_row(&mut row);
        row
    };
    records.iter().map(row).collect()
}

fn interval(number: u64) -> IntervalRecord {
    IntervalRecord {
        phase: 3,
        operation: Operation::Read,
        start_ns: number,
        duration_ns: 40_000_000,
        operations: 7,
        bytes: 28_672,
        errors: 0,
        offset_first: 0,
        offset_end: 4096,
        latency: None,
    }
}

#[test]
fn a_journal_cut_at_any_byte_is_a_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    let records: Vec<_> = (0..5).map(interval).collect();
    let ends = write(&path, SeriesKind::Intervals, &records);
    let whole = fs::read(&path).unwrap();
    // A header of 12 bytes; a frame of 8, and a row of 4 + 1 + 7 * 8 + 5 bytes.
    assert_eq!(ends, [12, 86, 160, 234, 308, 382]);
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let (found, end) = read(&path, SeriesKind::Intervals);
        let expected = ends.iter().skip(1).filter(|&&end| end <= length as u64).count();
        assert_eq!(found, rows(&records[..expected]), "cut at {length}");
        let at_an_end = ends.contains(&(length as u64));
        assert_eq!(end, if at_an_end { JournalEnd::Whole } else { JournalEnd::Cut }, "cut at {length}");
    }
}

#[test]
fn records_in_another_order_or_series_are_no_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    write(&path, SeriesKind::Intervals, &[interval(0), interval(1)]);
    let whole = fs::read(&path).unwrap();
    let swapped = [&whole[..12], &whole[86..], &whole[12..86]].concat();
    fs::write(&path, swapped).unwrap();
    assert_eq!(read(&path, SeriesKind::Intervals), (vec![], JournalEnd::Damaged));
    fs::write(&path, whole).unwrap();
    assert_eq!(read(&path, SeriesKind::Trace), (vec![], JournalEnd::Damaged));
}

#[test]
fn zeroes_after_a_power_cut_are_no_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    write(&path, SeriesKind::Intervals, &[interval(0)]);
    let mut bytes = fs::read(&path).unwrap();
    bytes.resize(4096, 0);
    fs::write(&path, bytes).unwrap();
    assert_eq!(read(&path, SeriesKind::Intervals), (rows(&[interval(0)]), JournalEnd::Damaged));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read(records in prop::collection::vec(records::histogram(), 0..10)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        write(&path, SeriesKind::Histograms, &records);
        let (found, end) = read(&path, SeriesKind::Histograms);
        prop_assert_eq!(end, JournalEnd::Whole);
        let found: Vec<_> = found.iter().map(|row| HistogramRecord::from_row(row.iter().cloned()).unwrap()).collect();
        prop_assert_eq!(found, records);
    }

    #[test]
    fn an_altered_byte_never_alters_a_record(
        records in prop::collection::vec(records::io(), 1..8),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let ends = write(&path, SeriesKind::Trace, &records);
        let mut bytes = fs::read(&path).unwrap();
        let original = bytes.clone();
        for (place, change) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= change;
        }
        fs::write(&path, &bytes).unwrap();
        let (found, end) = read(&path, SeriesKind::Trace);
        match (0..bytes.len()).find(|&place| bytes[place] != original[place]) {
            None => prop_assert_eq!((found, end), (rows(&records), JournalEnd::Whole)),
            Some(first) => {
                let sound = ends.iter().skip(1).filter(|&&end| end <= first as u64).count();
                prop_assert_eq!(found, rows(&records[..sound]));
                prop_assert_ne!(end, JournalEnd::Whole);
            }
        }
    }
}
