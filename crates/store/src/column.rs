//! Columns, declared once: the name with its unit, what it means, and how a cell comes from a record. Journals, segments,
//! exported tables and their documentation are made from these declarations.

use model::request::{Operation, Status};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// 64 bits. Parquet: INT64, signed, since Spark widens unsigned columns: more than 2⁶³ − 1 shows as negative.
    Integer,
    /// 32 bits. Parquet: INT32, signed, for numbers below 2³¹.
    Small,
    Float,
    Flag,
    /// Parquet: a byte array marked as UTF-8.
    Text,
    /// Parquet: the operation's word in a UTF-8 string; one byte in a journal.
    Operation,
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    /// What is said of it in `docs/reference/exports.md`.
    pub meaning: &'static str,
    pub kind: CellKind,
    pub nullable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Empty,
    Integer(u64),
    Small(i32),
    Float(f64),
    Flag(bool),
    Text(String),
    Operation(Operation),
    Bytes(Vec<u8>),
}

pub(crate) trait CellValue: Sized {
    const KIND: CellKind;
    const NULLABLE: bool = false;

    fn into_cell(self) -> Cell;
    /// None when the cell holds something else.
    fn from_cell(cell: Cell) -> Option<Self>;
}

pub(crate) trait Tabular {
    const COLUMNS: &'static [Column];

    fn to_row(&self, row: &mut Vec<Cell>);
}

pub(crate) trait StoredRecord: Tabular + Sized {
    /// Takes the cells of a record; None when they contradict each other.
    fn take(row: &mut impl Iterator<Item = Cell>) -> Option<Self>;

    /// None, too, where there are not as many cells as columns.
    fn from_row(mut row: impl Iterator<Item = Cell>) -> Option<Self> {
        let record = Self::take(&mut row)?;
        if row.next().is_none() { Some(record) } else { None }
    }
}

/// The next cell of a row, which has to hold such a value.
pub(crate) fn next_value<T: CellValue>(row: &mut impl Iterator<Item = Cell>) -> Option<T> {
    T::from_cell(row.next()?)
}

impl Column {
    pub(crate) const fn of<T: CellValue>(name: &'static str, meaning: &'static str) -> Column {
        Column { name, meaning, kind: T::KIND, nullable: T::NULLABLE }
    }
}

macro_rules! columns {
    ($row:ty: $this:ident { $($name:literal: $type:ty = $value:expr, $meaning:literal;)+ }) => {
        impl $crate::column::Tabular for $row {
            const COLUMNS: &'static [$crate::column::Column] =
                &[$($crate::column::Column::of::<$type>($name, $meaning)),+];

            fn to_row(&self, row: &mut Vec<$crate::column::Cell>) {
                $(row.push({
                    fn value($this: &$row) -> $type {
                        $value
                    }
                    <$type as $crate::column::CellValue>::into_cell(value(self))
                });)+
            }
        }
    };
}

/// Declares a stored record whose columns are its fields; a type other than the field's converts into it and back.
macro_rules! stored_record {
    ($record:ident { $($field:ident: $type:ty = $name:literal, $meaning:literal;)+ }) => {
        columns! { $record: record { $($name: $type = <$type>::from(record.$field), $meaning;)+ } }

        impl $crate::column::StoredRecord for $record {
            fn take(row: &mut impl Iterator<Item = $crate::column::Cell>) -> Option<$record> {
                Some($record { $($field: $crate::column::next_value::<$type>(row)?.into(),)+ })
            }
        }
    };
}

pub(crate) use {columns, stored_record};

/// 32 bits in a column of 64, for what is summed with others.
pub(crate) struct Wide(u32);

impl From<u32> for Wide {
    fn from(value: u32) -> Wide {
        Wide(value)
    }
}

impl From<Wide> for u32 {
    fn from(wide: Wide) -> u32 {
        wide.0
    }
}

macro_rules! cell_values {
    ($($type:ty = $kind:ident;)+) => {
        $(impl CellValue for $type {
            const KIND: CellKind = CellKind::$kind;

            fn into_cell(self) -> Cell {
                Cell::$kind(self)
            }

            fn from_cell(cell: Cell) -> Option<$type> {
                match cell {
                    Cell::$kind(value) => Some(value),
                    _ => None,
                }
            }
        })+
    };
}

cell_values! {
    u64 = Integer;
    i32 = Small;
    f64 = Float;
    bool = Flag;
    String = Text;
    Operation = Operation;
    Vec<u8> = Bytes;
}

impl CellValue for Wide {
    const KIND: CellKind = CellKind::Integer;

    fn into_cell(self) -> Cell {
        Cell::Integer(self.0.into())
    }

    fn from_cell(cell: Cell) -> Option<Wide> {
        u32::try_from(u64::from_cell(cell)?).ok().map(Wide)
    }
}

impl CellValue for u32 {
    const KIND: CellKind = CellKind::Small;

    fn into_cell(self) -> Cell {
        Cell::Small(self.cast_signed())
    }

    fn from_cell(cell: Cell) -> Option<u32> {
        i32::from_cell(cell).map(i32::cast_unsigned)
    }
}

impl CellValue for Status {
    const KIND: CellKind = CellKind::Small;

    fn into_cell(self) -> Cell {
        Cell::Small(self.number())
    }

    fn from_cell(cell: Cell) -> Option<Status> {
        i32::from_cell(cell).map(Status::from_number)
    }
}

impl<T: CellValue> CellValue for Option<T> {
    const KIND: CellKind = T::KIND;
    const NULLABLE: bool = true;

    fn into_cell(self) -> Cell {
        match self {
            Some(value) => value.into_cell(),
            None => Cell::Empty,
        }
    }

    fn from_cell(cell: Cell) -> Option<Option<T>> {
        match cell {
            Cell::Empty => Some(None),
            cell => T::from_cell(cell).map(Some),
        }
    }
}

/// Appends a row in the form of a journal: for each column a byte that says whether there is a value, if it may be
/// empty; then the value, little-endian; before bytes and text their number in four bytes.
pub(crate) fn encode_row(columns: &[Column], row: &[Cell], out: &mut Vec<u8>) {
    assert_eq!(columns.len(), row.len(), "a row has a cell for each column");
    for (column, cell) in columns.iter().zip(row) {
        if column.nullable {
            out.push(u8::from(*cell != Cell::Empty));
        }
        match cell {
            Cell::Empty => assert!(column.nullable, "only a nullable column has empty cells"),
            Cell::Integer(value) => out.extend_from_slice(&value.to_le_bytes()),
            Cell::Small(value) => out.extend_from_slice(&value.to_le_bytes()),
            Cell::Float(value) => out.extend_from_slice(&value.to_bits().to_le_bytes()),
            Cell::Flag(value) => out.push(u8::from(*value)),
            Cell::Operation(operation) => out.push(operation.number()),
            Cell::Text(text) => encode_bytes(text.as_bytes(), out),
            Cell::Bytes(bytes) => encode_bytes(bytes, out),
        }
    }
}

fn encode_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(bytes.len()).expect("a cell is far smaller than 4 GiB");
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(bytes);
}

pub(crate) fn decode_row(columns: &[Column], mut bytes: &[u8], row: &mut Vec<Cell>) -> Option<()> {
    row.clear();
    for column in columns {
        let is_there = !column.nullable || decode_flag(&mut bytes)?;
        row.push(if is_there { decode_cell(column.kind, &mut bytes)? } else { Cell::Empty });
    }
    if bytes.is_empty() { Some(()) } else { None }
}

fn decode_cell(kind: CellKind, bytes: &mut &[u8]) -> Option<Cell> {
    Some(match kind {
        CellKind::Integer => Cell::Integer(u64::from_le_bytes(take(bytes)?)),
        CellKind::Small => Cell::Small(i32::from_le_bytes(take(bytes)?)),
        CellKind::Float => Cell::Float(f64::from_bits(u64::from_le_bytes(take(bytes)?))),
        CellKind::Flag => Cell::Flag(decode_flag(bytes)?),
        CellKind::Operation => Cell::Operation(Operation::from_number(take::<1>(bytes)?[0])?),
        CellKind::Text => Cell::Text(String::from_utf8(decode_bytes(bytes)?).ok()?),
        CellKind::Bytes => Cell::Bytes(decode_bytes(bytes)?),
    })
}

fn decode_flag(bytes: &mut &[u8]) -> Option<bool> {
    match take::<1>(bytes)? {
        [0] => Some(false),
        [1] => Some(true),
        _ => None,
    }
}

fn decode_bytes(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let length = u32::from_le_bytes(take(bytes)?) as usize;
    let (content, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(content.to_vec())
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}
