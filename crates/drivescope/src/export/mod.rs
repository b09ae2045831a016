//! Tables of runs as files, row by row: CSV and Parquet from the same cells.

mod parquet_table;

use parquet_table::ParquetTable;
use report::export::csv;
use report::export::table::{Cell, Table};
use std::io::{self, Write};

/// The forms of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// Text for spreadsheets and everything else.
    Csv,
    /// Columns with types, for pandas, DuckDB and Spark.
    Parquet,
}

impl TableForm {
    /// How its files end.
    pub fn ending(self) -> &'static str {
        match self {
            TableForm::Csv => "csv",
            TableForm::Parquet => "parquet",
        }
    }
}

/// A table that is being written. It holds no more than one group of rows.
pub enum TableWriter<W: Write + Send> {
    /// As CSV.
    Csv(W),
    /// As Parquet.
    Parquet(Box<ParquetTable<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(table: Table, form: TableForm, mut out: W) -> io::Result<TableWriter<W>> {
        match form {
            TableForm::Csv => {
                out.write_all(csv::header(table).as_bytes())?;
                Ok(TableWriter::Csv(out))
            }
            TableForm::Parquet => Ok(TableWriter::Parquet(Box::new(ParquetTable::begin(table, out)?))),
        }
    }

    /// Adds a row with a cell for each column.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, row: Vec<Cell>) -> io::Result<()> {
        match self {
            TableWriter::Csv(out) => out.write_all(csv::line(&row).as_bytes()),
            TableWriter::Parquet(table) => table.add(row),
        }
    }

    /// Ends the table, and gives back what it was written to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> io::Result<W> {
        match self {
            TableWriter::Csv(out) => Ok(out),
            TableWriter::Parquet(table) => table.finish(),
        }
    }
}
