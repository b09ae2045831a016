//! A table as Parquet: version 1 pages, Snappy, signed columns, every column optional. The file's metadata hold
//! `drivescope.schema` and `drivescope.table`.

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use report::export::table::{Cell, Column, ColumnKind, SCHEMA, Table};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group: a few MB of intervals in memory.
const GROUP_ROWS: usize = 1 << 15;

/// A Parquet file that is being written.
pub struct ParquetTable<W: Write + Send> {
    columns: Vec<Buffer>,
    rows: usize,
    writer: SerializedFileWriter<W>,
}

/// The cells of one column in one row group.
struct Buffer {
    column: Column,
    /// 1 where there is a value, 0 where the cell is empty.
    levels: Vec<i16>,
    integers: Vec<i64>,
    floats: Vec<f64>,
    flags: Vec<bool>,
    texts: Vec<ByteArray>,
}

impl<W: Write + Send> ParquetTable<W> {
    pub(super) fn begin(table: Table, out: W) -> io::Result<ParquetTable<W>> {
        let entry = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
        let notes = vec![entry("drivescope.schema", SCHEMA), entry("drivescope.table", table.name())];
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(notes))
            .build();
        let schema = parse_message_type(&message_type(table)).expect("the columns form a message type");
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(as_io)?;
        Ok(ParquetTable { columns: table.columns().iter().map(Buffer::of).collect(), rows: 0, writer })
    }

    pub(super) fn add(&mut self, row: Vec<Cell>) -> io::Result<()> {
        for (buffer, cell) in self.columns.iter_mut().zip(row) {
            buffer.push(cell);
        }
        self.rows += 1;
        if self.rows < GROUP_ROWS { Ok(()) } else { self.write_group() }
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut group = self.writer.next_row_group().map_err(as_io)?;
        for buffer in &mut self.columns {
            let column =
                group.next_column().map_err(as_io)?.expect("the file has as many columns as the table");
            buffer.write(column).map_err(as_io)?;
            buffer.clear();
        }
        self.rows = 0;
        group.close().map(drop).map_err(as_io)
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.into_inner().map_err(as_io)
    }
}

impl Buffer {
    fn of(column: &Column) -> Buffer {
        Buffer {
            column: *column,
            levels: Vec::new(),
            integers: Vec::new(),
            floats: Vec::new(),
            flags: Vec::new(),
            texts: Vec::new(),
        }
    }

    fn push(&mut self, cell: Cell) {
        let is_there = match (cell, self.column.kind) {
            (Cell::Integer(value), ColumnKind::Integer) => {
                self.integers.push(value);
                true
            }
            (Cell::Float(value), ColumnKind::Float) => {
                self.floats.push(value);
                true
            }
            (Cell::Flag(value), ColumnKind::Flag) => {
                self.flags.push(value);
                true
            }
            (Cell::Text(value), ColumnKind::Text) => {
                self.texts.push(ByteArray::from(value.into_bytes()));
                true
            }
            _ => false,
        };
        self.levels.push(i16::from(is_there));
    }

    fn write(&self, mut writer: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = Some(self.levels.as_slice());
        match self.column.kind {
            ColumnKind::Integer => writer.typed::<Int64Type>().write_batch(&self.integers, levels, None)?,
            ColumnKind::Float => writer.typed::<DoubleType>().write_batch(&self.floats, levels, None)?,
            ColumnKind::Flag => writer.typed::<BoolType>().write_batch(&self.flags, levels, None)?,
            ColumnKind::Text => writer.typed::<ByteArrayType>().write_batch(&self.texts, levels, None)?,
        };
        writer.close()
    }

    fn clear(&mut self) {
        self.levels.clear();
        self.integers.clear();
        self.floats.clear();
        self.flags.clear();
        self.texts.clear();
    }
}

fn message_type(table: Table) -> String {
    let mut text = format!("message {} {{\n", table.name());
    for column in table.columns() {
        let (physical, logical) = match column.kind {
            ColumnKind::Integer => ("INT64", ""),
            ColumnKind::Float => ("DOUBLE", ""),
            ColumnKind::Flag => ("BOOLEAN", ""),
            ColumnKind::Text => ("BYTE_ARRAY", " (UTF8)"),
        };
        text.push_str(&format!("  optional {physical} {}{logical};\n", column.name));
    }
    text.push('}');
    text
}

/// A full disk shows inside Parquet's error: it is reported as what it is.
fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}
