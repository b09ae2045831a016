//! Writes rows as a Parquet file, one row group at a time: Snappy, version 1 pages, signed columns, no nesting.

use crate::column::{Cell, CellKind, Column};
use parquet::basic::{Compression, Type};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::io::{self, Write};
use std::sync::Arc;

pub struct ParquetFile<W: Write + Send> {
    columns: Vec<ColumnBuffer>,
    rows: usize,
    group_rows_max: usize,
    writer: SerializedFileWriter<W>,
}

struct ColumnBuffer {
    column: Column,
    /// 1 where there is a value, 0 where the cell is empty.
    levels: Vec<i16>,
    integers: Vec<i64>,
    smalls: Vec<i32>,
    floats: Vec<f64>,
    flags: Vec<bool>,
    bytes: Vec<ByteArray>,
}

impl<W: Write + Send> ParquetFile<W> {
    /// Begins a file with these columns; `notes` become its metadata, and `group_rows_max` rows are held in memory.
    pub fn begin(
        out: W,
        name: &str,
        columns: &[Column],
        notes: &[(&str, &str)],
        group_rows_max: usize,
    ) -> io::Result<ParquetFile<W>> {
        assert!(group_rows_max > 0, "a row group has rows");
        let notes = notes.iter().map(|(key, value)| KeyValue::new((*key).into(), value.to_string()));
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(notes.collect()))
            .build();
        let schema = parse_message_type(&message_type(name, columns)).expect("columns form a message type");
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(as_io)?;
        let columns = columns.iter().map(ColumnBuffer::of).collect();
        Ok(ParquetFile { columns, rows: 0, group_rows_max, writer })
    }

    pub fn add(&mut self, row: impl ExactSizeIterator<Item = Cell>) -> io::Result<()> {
        assert_eq!(row.len(), self.columns.len(), "a row has a cell for each column");
        for (buffer, cell) in self.columns.iter_mut().zip(row) {
            buffer.push(cell);
        }
        self.rows += 1;
        if self.rows < self.group_rows_max { Ok(()) } else { self.write_group() }
    }

    /// Writes what is left, and gives back what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.into_inner().map_err(as_io)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut group = self.writer.next_row_group().map_err(as_io)?;
        for buffer in &mut self.columns {
            assert_eq!(buffer.levels.len(), self.rows, "every column has all rows");
            let column = group.next_column().map_err(as_io)?;
            buffer.write(column.expect("the file has as many columns as the table")).map_err(as_io)?;
            *buffer = ColumnBuffer::of(&buffer.column);
        }
        self.rows = 0;
        group.close().map(drop).map_err(as_io)
    }
}

impl ColumnBuffer {
    fn of(column: &Column) -> ColumnBuffer {
        ColumnBuffer {
            column: *column,
            levels: Vec::new(),
            integers: Vec::new(),
            smalls: Vec::new(),
            floats: Vec::new(),
            flags: Vec::new(),
            bytes: Vec::new(),
        }
    }

    fn push(&mut self, cell: Cell) {
        self.levels.push(i16::from(cell != Cell::Empty));
        match (cell, self.column.kind) {
            (Cell::Empty, _) => {
                assert!(self.column.nullable, "column {} has no empty cells", self.column.name)
            }
            (Cell::Integer(value), CellKind::Integer) => self.integers.push(value.cast_signed()),
            (Cell::Small(value), CellKind::Small) => self.smalls.push(value),
            (Cell::Float(value), CellKind::Float) => self.floats.push(value),
            (Cell::Flag(value), CellKind::Flag) => self.flags.push(value),
            (Cell::Text(text), CellKind::Text) => self.bytes.push(ByteArray::from(text.into_bytes())),
            (Cell::Operation(operation), CellKind::Operation) => {
                self.bytes.push(ByteArray::from(operation.name()));
            }
            (Cell::Bytes(bytes), CellKind::Bytes) => self.bytes.push(ByteArray::from(bytes)),
            (cell, kind) => panic!("column {} of {kind:?} got {cell:?}", self.column.name),
        }
    }

    fn write(&self, mut writer: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = if self.column.nullable { Some(self.levels.as_slice()) } else { None };
        match self.column.kind {
            CellKind::Integer => writer.typed::<Int64Type>().write_batch(&self.integers, levels, None)?,
            CellKind::Small => writer.typed::<Int32Type>().write_batch(&self.smalls, levels, None)?,
            CellKind::Float => writer.typed::<DoubleType>().write_batch(&self.floats, levels, None)?,
            CellKind::Flag => writer.typed::<BoolType>().write_batch(&self.flags, levels, None)?,
            CellKind::Text | CellKind::Operation | CellKind::Bytes => {
                writer.typed::<ByteArrayType>().write_batch(&self.bytes, levels, None)?
            }
        };
        writer.close()
    }
}

fn message_type(name: &str, columns: &[Column]) -> String {
    let mut text = format!("message {name} {{\n");
    for column in columns {
        let repetition = if column.nullable { "optional" } else { "required" };
        let is_text = matches!(column.kind, CellKind::Text | CellKind::Operation);
        let (physical, logical) = (physical_type(column.kind), if is_text { " (UTF8)" } else { "" });
        text.push_str(&format!("  {repetition} {physical} {}{logical};\n", column.name));
    }
    text.push('}');
    text
}

pub(crate) fn physical_type(kind: CellKind) -> Type {
    match kind {
        CellKind::Integer => Type::INT64,
        CellKind::Small => Type::INT32,
        CellKind::Float => Type::DOUBLE,
        CellKind::Flag => Type::BOOLEAN,
        CellKind::Text | CellKind::Operation | CellKind::Bytes => Type::BYTE_ARRAY,
    }
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
