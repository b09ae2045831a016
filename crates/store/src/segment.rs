//! The parts of a series that are complete: Parquet files that pandas, DuckDB and Spark read without drivescope.
//!
//! The file's key-value metadata hold `drivescope.format` (the version), `drivescope.series`, and what the columns alone do
//! not say. Row groups are small, so that neither writer nor reader holds more than one of them.

use crate::column::{Cell, CellKind, Column, StoredRecord};
use crate::disk::{Disk, SyncExtent, partial_path};
use crate::error::{SegmentFlaw, StoreError};
use crate::fingerprint::{Fingerprint, FingerprintedFile};
use crate::journal::{JournalEnd, JournalReader};
use crate::parquet_file::{ParquetFile, physical_type};
use crate::series_kind::{FORMAT_VERSION, SeriesKind};
use model::request::Operation;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescriptor;
use std::fmt;
use std::fs::{self, File};
use std::ops::RangeInclusive;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

const FORMAT_KEY: &str = "drivescope.format";
const SERIES_KEY: &str = "drivescope.series";
const CELLS_KEY: &str = "drivescope.cells";
const CELLS_NOTE: &str = "Pairs of LEB128 numbers: cells further than the last, and its count. Cells 0 to 255 are one \
    nanosecond wide; cell c above begins at (128 + c % 128) * 2^(c / 128 - 1) ns and is 2^(c / 128 - 1) ns wide. \
    The sum of latencies is latency_ns_sum_high * 2^63 + latency_ns_sum_low.";

/// More rows than any version ever put into a row group: a file that claims more is not ours.
const GROUP_ROWS_CREDIBLE_MAX: i64 = 1 << 20;
const EVERY_PHASE: RangeInclusive<u32> = 0..=u32::MAX;

/// Rewrites a journal as a segment, under a temporary name. The caller notes the fingerprint and then gives it its name.
/// None for a journal without a record, which needs no segment.
/// Fails when the disk is full, or the journal is damaged: then it is kept, for what follows the damage may be rescued.
pub(crate) fn write_partial(
    disk: Disk,
    journal: &Path,
    segment: &Path,
    kind: SeriesKind,
) -> Result<Option<Fingerprint>, StoreError> {
    let mut reader = JournalReader::open(journal, kind)?;
    let mut row = Vec::new();
    if !reader.next_row(&mut row)? && reader.end() != Some(JournalEnd::Damaged) {
        return Ok(None);
    }
    let partial = partial_path(segment);
    let written = write_rows(disk, reader, row, journal, segment, &partial);
    if written.is_err() {
        // A full disk must not also keep the half that was written; the first error is the one to report.
        let _ = fs::remove_file(&partial);
    }
    written.map(Some)
}

fn write_rows(
    disk: Disk,
    mut reader: JournalReader,
    mut row: Vec<Cell>,
    journal: &Path,
    segment: &Path,
    partial: &Path,
) -> Result<Fingerprint, StoreError> {
    let kind = reader.kind();
    let version = FORMAT_VERSION.to_string();
    let mut notes = vec![(FORMAT_KEY, version.as_str()), (SERIES_KEY, kind.name())];
    if kind == SeriesKind::Histograms {
        notes.push((CELLS_KEY, CELLS_NOTE));
    }
    let file = FingerprintedFile::create(partial).map_err(StoreError::system("write", partial))?;
    let begun = ParquetFile::begin(file, kind.name(), kind.columns(), &notes, kind.group_rows_max());
    let mut writer = begun.map_err(StoreError::system("write", partial))?;
    while reader.end().is_none() {
        writer.add(row.drain(..)).map_err(StoreError::system("write", segment))?;
        reader.next_row(&mut row)?;
    }
    if reader.end() == Some(JournalEnd::Damaged) {
        let (segment, journal) = (segment.to_owned(), journal.to_owned());
        return Err(StoreError::DamagedJournal { segment, journal, records: reader.records() });
    }
    let file = writer.finish().map_err(StoreError::system("write", segment))?;
    (disk.sync)(&file.file, SyncExtent::File).map_err(StoreError::system("sync", partial))?;
    Ok(file.fingerprint())
}

/// Reads a segment that has no checksum from end to end, to see whether it can be read at all.
///
/// The Parquet library panics at some altered bytes (seen in version 60). With a checksum such bytes never reach it.
pub(crate) fn probe(path: &Path, kind: SeriesKind) -> Result<(), StoreError> {
    match panic::catch_unwind(AssertUnwindSafe(|| read_to_end(path, kind))) {
        Ok(read) => read,
        Err(_) => Err(StoreError::Segment { path: path.to_owned(), flaw: SegmentFlaw::Content }),
    }
}

fn read_to_end(path: &Path, kind: SeriesKind) -> Result<(), StoreError> {
    let reader = SegmentReader::open(path, kind)?;
    for group in 0..reader.groups() {
        reader.columns(group)?;
    }
    Ok(())
}

impl fmt::Debug for SegmentReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SegmentReader").field(&self.path).finish()
    }
}

pub(crate) struct SegmentReader {
    kind: SeriesKind,
    path: PathBuf,
    file: SerializedFileReader<File>,
    numbers: Vec<usize>,
}

impl SegmentReader {
    pub(crate) fn open(path: &Path, kind: SeriesKind) -> Result<SegmentReader, StoreError> {
        let file = File::open(path).map_err(StoreError::system("read", path))?;
        let file = SerializedFileReader::new(file).map_err(StoreError::segment(path))?;
        match check(file.metadata().file_metadata(), kind) {
            Ok(numbers) => Ok(SegmentReader { kind, path: path.to_owned(), file, numbers }),
            Err(flaw) => Err(StoreError::Segment { path: path.to_owned(), flaw }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    pub(crate) fn rows(&self) -> u64 {
        (0..self.groups()).map(|group| self.rows_of(group)).sum()
    }

    pub(crate) fn rows_of(&self, group: usize) -> u64 {
        self.file.metadata().row_group(group).num_rows().max(0).cast_unsigned()
    }

    pub(crate) fn phases(&self, group: usize) -> RangeInclusive<u32> {
        let metadata = self.file.metadata().row_group(group);
        let Some(column) = self.kind.columns().iter().position(|column| column.name == "phase") else {
            return EVERY_PHASE;
        };
        let Some(Statistics::Int32(statistics)) = metadata.column(self.numbers[column]).statistics() else {
            return EVERY_PHASE;
        };
        match (statistics.min_opt(), statistics.max_opt()) {
            (Some(&min), Some(&max)) if 0 <= min && min <= max => min.cast_unsigned()..=max.cast_unsigned(),
            _ => EVERY_PHASE,
        }
    }

    pub(crate) fn records<R: StoredRecord>(&self, group: usize) -> Result<Vec<R>, StoreError> {
        let (mut columns, rows) = self.columns(group)?;
        let mut records = Vec::with_capacity(rows);
        for row in 0..rows {
            let cells = columns.iter_mut().filter_map(Iterator::next);
            let record = R::from_row(cells).ok_or_else(|| self.unsound(SegmentFlaw::Row { group, row }))?;
            records.push(record);
        }
        Ok(records)
    }

    /// The cells of a row group, as many in each column as there are rows, and that number.
    pub(crate) fn columns(&self, group: usize) -> Result<(Vec<ColumnCells>, usize), StoreError> {
        let reader = self.file.get_row_group(group).map_err(StoreError::segment(&self.path))?;
        let rows = reader.metadata().num_rows();
        if !(0..=GROUP_ROWS_CREDIBLE_MAX).contains(&rows) {
            return Err(self.unsound(SegmentFlaw::Rows { group, rows }));
        }
        let rows = rows as usize;
        let mut columns = Vec::with_capacity(self.numbers.len());
        for (column, &number) in self.kind.columns().iter().zip(&self.numbers) {
            let cells = ColumnCells::read(reader.as_ref(), column, number, rows);
            columns.push(cells.map_err(StoreError::segment(&self.path))?);
        }
        Ok((columns, rows))
    }

    fn unsound(&self, flaw: SegmentFlaw) -> StoreError {
        StoreError::Segment { path: self.path.clone(), flaw }
    }
}

fn check(metadata: &FileMetaData, kind: SeriesKind) -> Result<Vec<usize>, SegmentFlaw> {
    match format_of(metadata) {
        None => return Err(SegmentFlaw::NoFormat),
        Some(version) if version > FORMAT_VERSION => return Err(SegmentFlaw::LaterFormat(version)),
        Some(_) => {}
    }
    let schema = metadata.schema_descr();
    let mut numbers = Vec::new();
    for column in kind.columns() {
        let number = (0..schema.num_columns()).find(|&number| is_column(schema, number, column));
        numbers.push(number.ok_or(SegmentFlaw::Column(column.name))?);
    }
    Ok(numbers)
}

fn format_of(metadata: &FileMetaData) -> Option<u8> {
    let entry = metadata.key_value_metadata()?.iter().find(|entry| entry.key == FORMAT_KEY)?;
    entry.value.as_deref()?.parse().ok()
}

fn is_column(schema: &SchemaDescriptor, number: usize, column: &Column) -> bool {
    let found = schema.column(number);
    found.path().parts() == [column.name]
        && found.physical_type() == physical_type(column.kind)
        && found.max_def_level() == i16::from(column.nullable)
        && found.max_rep_level() == 0
}

/// The cells of a column in a row group, made one by one: as cells they take four times the memory.
pub(crate) struct ColumnCells {
    /// Of a nullable column: 0 where a cell is empty.
    levels: Option<IntoIter<i16>>,
    values: Values,
}

enum Values {
    Integers(IntoIter<i64>),
    Smalls(IntoIter<i32>),
    Floats(IntoIter<f64>),
    Operations(IntoIter<ByteArray>),
    Bytes(IntoIter<ByteArray>),
}

impl ColumnCells {
    fn read(
        group: &dyn RowGroupReader,
        column: &Column,
        number: usize,
        rows: usize,
    ) -> Result<ColumnCells, ParquetError> {
        let mut levels = if column.nullable { Some(Vec::new()) } else { None };
        let given = levels.as_mut();
        let values = match (group.get_column_reader(number)?, column.kind) {
            (ColumnReader::Int64ColumnReader(mut reader), CellKind::Integer) => {
                Values::Integers(read_values(&mut reader, column, rows, given)?)
            }
            (ColumnReader::Int32ColumnReader(mut reader), CellKind::Small) => {
                Values::Smalls(read_values(&mut reader, column, rows, given)?)
            }
            (ColumnReader::DoubleColumnReader(mut reader), CellKind::Float) => {
                Values::Floats(read_values(&mut reader, column, rows, given)?)
            }
            (ColumnReader::ByteArrayColumnReader(mut reader), CellKind::Operation) => {
                Values::Operations(read_values(&mut reader, column, rows, given)?)
            }
            (ColumnReader::ByteArrayColumnReader(mut reader), CellKind::Bytes) => {
                Values::Bytes(read_values(&mut reader, column, rows, given)?)
            }
            _ => return Err(ParquetError::General(format!("column {} is of another type", column.name))),
        };
        Ok(ColumnCells { levels: levels.map(Vec::into_iter), values })
    }
}

impl Iterator for ColumnCells {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        if let Some(levels) = &mut self.levels
            && levels.next()? == 0
        {
            return Some(Cell::Empty);
        }
        match &mut self.values {
            Values::Integers(values) => Some(Cell::Integer(values.next()?.cast_unsigned())),
            Values::Smalls(values) => Some(Cell::Small(values.next()?)),
            Values::Floats(values) => Some(Cell::Float(values.next()?)),
            Values::Operations(values) => Some(operation(&values.next()?)),
            Values::Bytes(values) => Some(Cell::Bytes(values.next()?.data().to_vec())),
        }
    }
}

fn operation(word: &ByteArray) -> Cell {
    match str::from_utf8(word.data()).ok().and_then(Operation::from_name) {
        Some(operation) => Cell::Operation(operation),
        None => Cell::Empty,
    }
}

fn read_values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    column: &Column,
    rows: usize,
    mut levels: Option<&mut Vec<i16>>,
) -> Result<IntoIter<T::T>, ParquetError> {
    let mut values = Vec::new();
    let mut found = 0;
    while found < rows {
        let (records, _, _) = reader.read_records(rows - found, levels.as_deref_mut(), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::General(format!("column {} ends after row {found}", column.name)));
        }
        found += records;
    }
    let cells = levels.map_or(rows, |levels| levels.iter().filter(|&&level| level != 0).count());
    if values.len() != cells {
        let flaw = format!("column {} has {} of {cells} values", column.name, values.len());
        return Err(ParquetError::General(flaw));
    }
    Ok(values.into_iter())
}
