//! Records as rows of cells: the one form from which both the journal's frames and the Parquet columns are made, so
//! that the two cannot differ.

use model::request::Operation;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellKind {
    /// 64 bits. Parquet: INT64, signed, since Spark widens unsigned columns. A value above 2⁶³ − 1 (292 years, 8 EiB)
    /// keeps its bits and would show as negative.
    Integer,
    /// 32 bits. Parquet: INT32, signed.
    Small,
    /// Parquet: DOUBLE.
    Float,
    /// Parquet: the operation's word in a UTF-8 string; one byte in a journal.
    Operation,
    /// Parquet: BYTE_ARRAY.
    Bytes,
}

/// One column of a series.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// Its name, with its unit.
    pub name: &'static str,
    /// What it holds.
    pub kind: CellKind,
    /// Whether a cell may be empty.
    pub nullable: bool,
}

impl Column {
    /// A column whose cells are never empty.
    pub(super) const fn required(name: &'static str, kind: CellKind) -> Column {
        Column { name, kind, nullable: false }
    }

    /// A column whose cells may be empty.
    pub(super) const fn nullable(name: &'static str, kind: CellKind) -> Column {
        Column { name, kind, nullable: true }
    }
}

/// One value of a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// Nothing.
    Empty,
    /// Of [`CellKind::Integer`].
    Integer(u64),
    /// Of [`CellKind::Small`].
    Small(i32),
    /// Of [`CellKind::Float`].
    Float(f64),
    /// Of [`CellKind::Operation`].
    Operation(Operation),
    /// Of [`CellKind::Bytes`].
    Bytes(Vec<u8>),
}

/// A record that the store keeps.
pub(super) trait StoredRecord: Sized {
    /// The columns, in their order in a row.
    const COLUMNS: &'static [Column];

    /// Appends one cell for each column.
    fn to_row(&self, row: &mut Vec<Cell>);

    /// The record of a row; none when its cells contradict each other.
    fn from_row(row: &[Cell]) -> Option<Self>;
}

impl Cell {
    /// An optional integer.
    pub(super) fn integer_or_empty(value: Option<u64>) -> Cell {
        value.map_or(Cell::Empty, Cell::Integer)
    }

    /// An optional float.
    pub(super) fn float_or_empty(value: Option<f64>) -> Cell {
        value.map_or(Cell::Empty, Cell::Float)
    }

    /// The integer.
    pub(super) fn integer(&self) -> Option<u64> {
        match self {
            Cell::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// The small integer.
    pub(super) fn small(&self) -> Option<i32> {
        match self {
            Cell::Small(value) => Some(*value),
            _ => None,
        }
    }

    /// The float.
    pub(super) fn float(&self) -> Option<f64> {
        match self {
            Cell::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The operation.
    pub(super) fn operation(&self) -> Option<Operation> {
        match self {
            Cell::Operation(operation) => Some(*operation),
            _ => None,
        }
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Cell::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// Appends a row in the form of a journal: for each column a byte that says whether there is a value, if it may be
/// empty; then the value, little-endian; before bytes their number in four bytes.
pub(super) fn encode_row(columns: &[Column], row: &[Cell], out: &mut Vec<u8>) {
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
            Cell::Operation(operation) => out.push(operation.number()),
            Cell::Bytes(bytes) => {
                out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                out.extend_from_slice(bytes);
            }
        }
    }
}

/// Reads a row back. None unless the bytes are one row of these columns, and nothing else.
pub(super) fn decode_row(columns: &[Column], mut bytes: &[u8], row: &mut Vec<Cell>) -> Option<()> {
    row.clear();
    for column in columns {
        let present = !column.nullable
            || match take::<1>(&mut bytes)? {
                [0] => false,
                [1] => true,
                _ => return None,
            };
        row.push(if present { decode_cell(column.kind, &mut bytes)? } else { Cell::Empty });
    }
    bytes.is_empty().then_some(())
}

fn decode_cell(kind: CellKind, bytes: &mut &[u8]) -> Option<Cell> {
    Some(match kind {
        CellKind::Integer => Cell::Integer(u64::from_le_bytes(take(bytes)?)),
        CellKind::Small => Cell::Small(i32::from_le_bytes(take(bytes)?)),
        CellKind::Float => Cell::Float(f64::from_bits(u64::from_le_bytes(take(bytes)?))),
        CellKind::Operation => Cell::Operation(Operation::from_number(take::<1>(bytes)?[0])?),
        CellKind::Bytes => {
            let length = u32::from_le_bytes(take(bytes)?) as usize;
            let (content, rest) = bytes.split_at_checked(length)?;
            *bytes = rest;
            Cell::Bytes(content.to_vec())
        }
    })
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}
