//! The parts of a series that are complete: Parquet files that pandas, DuckDB and Spark read without drivescope.
//!
//! Snappy, version 1 pages, signed columns only, no nesting. The file's key-value metadata hold
//! `drivescope.format` (the version), `drivescope.series`, and what the columns alone do not say.
//! Row groups are small, so that neither writer nor reader holds more than one of them.

use super::error::StoreError;
use super::files::{partial_path, rename_lasting, sync};
use super::format::{FORMAT_VERSION, SeriesKind};
use super::journal::{JournalEnd, JournalReader};
use super::row::{Cell, CellKind, Column};
use ::io::flushing::Extent;
use model::request::Operation;
use parquet::basic::Compression;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, RowGroupMetaData};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::ops::RangeInclusive;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FORMAT_KEY: &str = "drivescope.format";
const SERIES_KEY: &str = "drivescope.series";
const CELLS_KEY: &str = "drivescope.cells";
const CELLS_NOTE: &str = "Pairs of LEB128 numbers: cells further than the last, and its count. Cells 0 to 255 are one \
    nanosecond wide; cell c above begins at (128 + c % 128) * 2^(c / 128 - 1) ns and is 2^(c / 128 - 1) ns wide. \
    The sum of latencies is latency_ns_sum_high * 2^63 + latency_ns_sum_low.";

/// More rows than any version ever put into a row group: a file that claims more is not ours.
const GROUP_ROWS_CREDIBLE_MAX: i64 = 1 << 20;

/// The checksum and size of a file, as the store's list of checksums keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// CRC-32 of all its bytes.
    pub crc32: u32,
    /// Its size.
    pub bytes: u64,
}

impl Fingerprint {
    /// Reads a file and takes its fingerprint.
    pub(super) fn of(path: &Path) -> Result<Fingerprint, StoreError> {
        let mut hasher = crc32fast::Hasher::new();
        let mut buffer = vec![0; 1 << 16];
        let mut bytes = 0;
        let mut file = File::open(path).map_err(StoreError::system("read", path))?;
        loop {
            match file.read(&mut buffer).map_err(StoreError::system("read", path))? {
                0 => break,
                read => {
                    hasher.update(&buffer[..read]);
                    bytes += read as u64;
                }
            }
        }
        Ok(Fingerprint { crc32: hasher.finalize(), bytes })
    }
}

/// A file that takes its own fingerprint while it is written.
struct FingerprintedFile {
    file: File,
    hasher: crc32fast::Hasher,
    bytes: u64,
}

impl Write for FingerprintedFile {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(buffer)?;
        self.hasher.update(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Rewrites a journal as a segment, under a temporary name. The caller notes the fingerprint and then calls
/// [`publish`]. None for a journal without a record, which needs no segment.
///
/// # Errors
/// When the disk is full, or the journal is damaged: then it is kept, for what follows the damage may be rescued.
pub(super) fn write_partial(
    journal: &Path,
    segment: &Path,
    kind: SeriesKind,
) -> Result<Option<Fingerprint>, StoreError> {
    let mut reader = JournalReader::open(journal, kind)?;
    let mut columns = ColumnBuffers::new(kind.columns());
    let mut more = columns.fill(&mut reader, kind.group_rows_max())?;
    if columns.rows == 0 && reader.end() != Some(JournalEnd::Damaged) {
        return Ok(None);
    }
    let partial = partial_path(segment);
    let mut write = || -> Result<Fingerprint, StoreError> {
        let mut writer = open_writer(&partial, kind)?;
        while columns.rows > 0 {
            let mut group = writer.next_row_group().map_err(cannot_write(segment))?;
            columns.write(&mut group).map_err(cannot_write(segment))?;
            group.close().map_err(cannot_write(segment))?;
            columns.clear();
            if more {
                more = columns.fill(&mut reader, kind.group_rows_max())?;
            }
        }
        if reader.end() == Some(JournalEnd::Damaged) {
            let why = format!("{} is damaged after record {}", journal.display(), reader.records());
            return Err(StoreError::SegmentWrite { path: segment.to_owned(), why });
        }
        let file = writer.into_inner().map_err(cannot_write(segment))?;
        sync(&file.file, Extent::File).map_err(StoreError::system("sync", &partial))?;
        Ok(Fingerprint { crc32: file.hasher.finalize(), bytes: file.bytes })
    };
    let written = write();
    if written.is_err() {
        // A full disk must not also keep the half that was written; the first error is the one to report.
        let _ = fs::remove_file(&partial);
    }
    written.map(Some)
}

/// Gives a segment its name, and makes it lasting.
pub(super) fn publish(segment: &Path) -> Result<(), StoreError> {
    rename_lasting(&partial_path(segment), segment)
}

/// A full disk shows inside Parquet's error: it is reported as what it is.
fn cannot_write(path: &Path) -> impl Fn(ParquetError) -> StoreError {
    move |error| match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(source) => StoreError::system("write", path)(*source),
            Err(inner) => StoreError::SegmentWrite { path: path.to_owned(), why: inner.to_string() },
        },
        other => StoreError::SegmentWrite { path: path.to_owned(), why: other.to_string() },
    }
}

fn open_writer(
    partial: &Path,
    kind: SeriesKind,
) -> Result<SerializedFileWriter<FingerprintedFile>, StoreError> {
    let file = File::create(partial).map_err(StoreError::system("write", partial))?;
    let file = FingerprintedFile { file, hasher: crc32fast::Hasher::new(), bytes: 0 };
    let entry = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
    let mut notes = vec![entry(FORMAT_KEY, &FORMAT_VERSION.to_string()), entry(SERIES_KEY, kind.name())];
    if kind == SeriesKind::Histograms {
        notes.push(entry(CELLS_KEY, CELLS_NOTE));
    }
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(notes))
        .build();
    let schema =
        parse_message_type(&message_type(kind)).expect("the columns of a series form a message type");
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).map_err(cannot_write(partial))
}

fn message_type(kind: SeriesKind) -> String {
    let mut text = format!("message {} {{\n", kind.name());
    for column in kind.columns() {
        let repetition = if column.nullable { "optional" } else { "required" };
        let (physical, logical) = match column.kind {
            CellKind::Integer => ("INT64", ""),
            CellKind::Small => ("INT32", ""),
            CellKind::Float => ("DOUBLE", ""),
            CellKind::Operation => ("BYTE_ARRAY", " (UTF8)"),
            CellKind::Bytes => ("BYTE_ARRAY", ""),
        };
        text.push_str(&format!("  {repetition} {physical} {}{logical};\n", column.name));
    }
    text.push('}');
    text
}

/// One row group, column by column.
struct ColumnBuffers {
    columns: &'static [Column],
    buffers: Vec<ColumnBuffer>,
    rows: usize,
}

#[derive(Default)]
struct ColumnBuffer {
    /// 1 where there is a value, 0 where the cell is empty; only of nullable columns.
    levels: Vec<i16>,
    integers: Vec<i64>,
    smalls: Vec<i32>,
    floats: Vec<f64>,
    bytes: Vec<ByteArray>,
}

impl ColumnBuffers {
    fn new(columns: &'static [Column]) -> ColumnBuffers {
        let buffers = columns.iter().map(|_| ColumnBuffer::default()).collect();
        ColumnBuffers { columns, buffers, rows: 0 }
    }

    fn clear(&mut self) {
        self.buffers.iter_mut().for_each(ColumnBuffer::clear);
        self.rows = 0;
    }

    /// Takes rows until there are `rows_max`; answers whether there may be more.
    fn fill(&mut self, reader: &mut JournalReader, rows_max: usize) -> Result<bool, StoreError> {
        let mut row = Vec::new();
        while self.rows < rows_max {
            if !reader.next_row(&mut row)? {
                return Ok(false);
            }
            for (buffer, cell) in self.buffers.iter_mut().zip(row.drain(..)) {
                buffer.push(cell);
            }
            self.rows += 1;
        }
        Ok(true)
    }

    fn write<W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        for (column, buffer) in self.columns.iter().zip(&self.buffers) {
            let mut writer = group.next_column()?.expect("the file has as many columns as the series");
            let levels = column.nullable.then_some(buffer.levels.as_slice());
            match column.kind {
                CellKind::Integer => {
                    writer.typed::<Int64Type>().write_batch(&buffer.integers, levels, None)?;
                }
                CellKind::Small => {
                    writer.typed::<Int32Type>().write_batch(&buffer.smalls, levels, None)?;
                }
                CellKind::Float => {
                    writer.typed::<DoubleType>().write_batch(&buffer.floats, levels, None)?;
                }
                CellKind::Operation | CellKind::Bytes => {
                    writer.typed::<ByteArrayType>().write_batch(&buffer.bytes, levels, None)?;
                }
            }
            writer.close()?;
        }
        Ok(())
    }
}

impl ColumnBuffer {
    fn clear(&mut self) {
        self.levels.clear();
        self.integers.clear();
        self.smalls.clear();
        self.floats.clear();
        self.bytes.clear();
    }

    fn push(&mut self, cell: Cell) {
        self.levels.push(i16::from(cell != Cell::Empty));
        match cell {
            Cell::Empty => {}
            Cell::Integer(value) => self.integers.push(value.cast_signed()),
            Cell::Small(value) => self.smalls.push(value),
            Cell::Float(value) => self.floats.push(value),
            Cell::Operation(operation) => self.bytes.push(ByteArray::from(operation.name())),
            Cell::Bytes(bytes) => self.bytes.push(ByteArray::from(bytes)),
        }
    }
}

/// Reads a segment that has no checksum from end to end, to see whether it can be read at all.
///
/// The Parquet library panics at some altered bytes (seen in version 60, in its bit reader). With a checksum such bytes
/// never reach it; without one this is the wall.
pub(super) fn probe(path: &Path, kind: SeriesKind) -> Result<(), StoreError> {
    let read_all = || -> Result<(), StoreError> {
        let reader = SegmentReader::open(path, kind)?;
        (0..reader.groups()).try_for_each(|group| reader.read_group(group, |_| true))
    };
    panic::catch_unwind(AssertUnwindSafe(read_all)).unwrap_or_else(|_| {
        Err(StoreError::Segment { path: path.to_owned(), why: "its content makes no sense".into() })
    })
}

/// Reads a segment, one row group at a time.
pub(super) struct SegmentReader {
    kind: SeriesKind,
    path: PathBuf,
    file: SerializedFileReader<File>,
    /// For each column of the series, its place in the file.
    places: Vec<usize>,
}

impl SegmentReader {
    /// Opens a segment and checks that it has our columns.
    pub(super) fn open(path: &Path, kind: SeriesKind) -> Result<SegmentReader, StoreError> {
        let unsound = |why: String| StoreError::Segment { path: path.to_owned(), why };
        let file = File::open(path).map_err(StoreError::system("read", path))?;
        let file = SerializedFileReader::new(file).map_err(|error| unsound(error.to_string()))?;
        let metadata = file.metadata();
        let format = metadata
            .file_metadata()
            .key_value_metadata()
            .and_then(|entries| entries.iter().find(|entry| entry.key == FORMAT_KEY))
            .and_then(|entry| entry.value.as_deref())
            .and_then(|version| version.parse::<u8>().ok());
        match format {
            None => return Err(unsound("it does not say its format, so drivescope did not write it".into())),
            Some(version) if version > FORMAT_VERSION => {
                return Err(unsound(format!("a later drivescope wrote it, in format {version}")));
            }
            Some(_) => {}
        }
        let schema = metadata.file_metadata().schema_descr();
        let place = |column: &Column| {
            let fits = |place: usize| {
                let found = schema.column(place);
                found.path().parts() == [column.name]
                    && found.physical_type() == physical_type(column.kind)
                    && found.max_def_level() == i16::from(column.nullable)
                    && found.max_rep_level() == 0
            };
            (0..schema.num_columns())
                .find(|&place| fits(place))
                .ok_or_else(|| unsound(format!("its column {} is missing or of another type", column.name)))
        };
        let places = kind.columns().iter().map(place).collect::<Result<_, _>>()?;
        Ok(SegmentReader { kind, path: path.to_owned(), file, places })
    }

    /// How many row groups there are.
    pub(super) fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> u64 {
        (0..self.groups()).map(|group| self.rows_of(group)).sum()
    }

    /// How many rows a row group has.
    pub(super) fn rows_of(&self, group: usize) -> u64 {
        self.file.metadata().row_group(group).num_rows().max(0).cast_unsigned()
    }

    /// The phases that can be in a row group.
    pub(super) fn phases(&self, group: usize) -> RangeInclusive<u32> {
        let everything = 0..=u32::MAX;
        let metadata: &RowGroupMetaData = self.file.metadata().row_group(group);
        let Some(column) = self.kind.columns().iter().position(|column| column.name == "phase") else {
            return everything;
        };
        match metadata.column(self.places[column]).statistics() {
            Some(Statistics::Int32(statistics)) => match (statistics.min_opt(), statistics.max_opt()) {
                (Some(&min), Some(&max)) if 0 <= min && min <= max => {
                    min.cast_unsigned()..=max.cast_unsigned()
                }
                _ => everything,
            },
            _ => everything,
        }
    }

    /// All rows of a row group, each handed to `take`, which answers whether it could use it.
    pub(super) fn read_group(
        &self,
        group: usize,
        mut take: impl FnMut(&[Cell]) -> bool,
    ) -> Result<(), StoreError> {
        let unsound = |why: String| StoreError::Segment { path: self.path.clone(), why };
        let reader = self.file.get_row_group(group).map_err(|error| unsound(error.to_string()))?;
        let rows = reader.metadata().num_rows();
        if !(0..=GROUP_ROWS_CREDIBLE_MAX).contains(&rows) {
            return Err(unsound(format!("row group {group} claims {rows} rows")));
        }
        let columns = self
            .kind
            .columns()
            .iter()
            .zip(&self.places)
            .map(|(column, &place)| read_column(reader.as_ref(), column, place, rows as usize))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| unsound(error.to_string()))?;
        let mut cells: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        let mut row = Vec::new();
        for number in 0..rows {
            row.clear();
            row.extend(cells.iter_mut().filter_map(Iterator::next));
            if row.len() < cells.len() || !take(&row) {
                return Err(unsound(format!("row {number} of row group {group} makes no sense")));
            }
        }
        Ok(())
    }
}

fn physical_type(kind: CellKind) -> parquet::basic::Type {
    match kind {
        CellKind::Integer => parquet::basic::Type::INT64,
        CellKind::Small => parquet::basic::Type::INT32,
        CellKind::Float => parquet::basic::Type::DOUBLE,
        CellKind::Operation | CellKind::Bytes => parquet::basic::Type::BYTE_ARRAY,
    }
}

fn read_column(
    group: &dyn RowGroupReader,
    column: &Column,
    place: usize,
    rows: usize,
) -> Result<Vec<Cell>, ParquetError> {
    let operation = |word: ByteArray| {
        let named = |operation: &Operation| operation.name().as_bytes() == word.data();
        Operation::ALL.into_iter().find(named).map_or(Cell::Empty, Cell::Operation)
    };
    match (group.get_column_reader(place)?, column.kind) {
        (ColumnReader::Int64ColumnReader(mut reader), CellKind::Integer) => {
            read_cells(&mut reader, column, rows, |value| Cell::Integer(value.cast_unsigned()))
        }
        (ColumnReader::Int32ColumnReader(mut reader), CellKind::Small) => {
            read_cells(&mut reader, column, rows, Cell::Small)
        }
        (ColumnReader::DoubleColumnReader(mut reader), CellKind::Float) => {
            read_cells(&mut reader, column, rows, Cell::Float)
        }
        (ColumnReader::ByteArrayColumnReader(mut reader), CellKind::Operation) => {
            read_cells(&mut reader, column, rows, operation)
        }
        (ColumnReader::ByteArrayColumnReader(mut reader), CellKind::Bytes) => {
            read_cells(&mut reader, column, rows, |value| Cell::Bytes(value.data().to_vec()))
        }
        _ => Err(ParquetError::General(format!("column {} is of another type", column.name))),
    }
}

fn read_cells<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    column: &Column,
    rows: usize,
    cell: impl Fn(T::T) -> Cell,
) -> Result<Vec<Cell>, ParquetError> {
    let mut levels = Vec::new();
    let mut values = Vec::new();
    let mut found = 0;
    while found < rows {
        let levels = column.nullable.then_some(&mut levels);
        let (records, _, _) = reader.read_records(rows - found, levels, None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::General(format!("column {} ends after row {found}", column.name)));
        }
        found += records;
    }
    let mut values = values.into_iter();
    if !column.nullable {
        return Ok(values.map(cell).collect());
    }
    levels
        .into_iter()
        .map(|level| match level {
            0 => Some(Cell::Empty),
            _ => values.next().map(&cell),
        })
        .collect::<Option<_>>()
        .ok_or_else(|| ParquetError::General(format!("column {} has too few values", column.name)))
}
