//! Tables of runs as CSV and Parquet, row by row, from the same cells.

use super::csv;
use super::job::{Export, ExportFile, ExportJob, Goal};
use crate::error::UserError;
use model::words;
use report::finding::documents;
use report::hostile::harmless;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use store::table::Table;
use store::{Cell, ParquetFile};

pub const CSV: Export =
    Export { name: "csv", ending: Some("csv"), about: "Tables for spreadsheets", write: write_csv };
pub const PARQUET: Export = Export {
    name: "parquet",
    ending: Some("parquet"),
    about: "Tables for pandas, DuckDB and Spark",
    write: write_parquet,
};

const TABLE: &str = "the table";

fn write_csv(job: &dyn ExportJob) -> Result<(), UserError> {
    write_tables(job, TableForm::Csv)
}

fn write_parquet(job: &dyn ExportJob) -> Result<(), UserError> {
    if matches!(job.goal(), Goal::Standard) && io::stdout().is_terminal() {
        return Err(UserError::usage("Parquet is binary. Name a file: -o findings.parquet"));
    }
    write_tables(job, TableForm::Parquet)
}

words! {
    enum TableForm {
        Csv = "csv",
        Parquet = "parquet",
    }
}

/// What a table is written to. It holds no more than one group of rows.
enum TableFile {
    Csv(Box<dyn ExportFile>),
    Parquet(Box<ParquetFile<Box<dyn ExportFile>>>),
}

struct OpenTable {
    table: Table,
    path: Option<PathBuf>,
    file: TableFile,
    rows: u64,
}

impl OpenTable {
    fn begin(
        job: &dyn ExportJob,
        table: Table,
        form: TableForm,
        path: Option<PathBuf>,
    ) -> Result<OpenTable, UserError> {
        let mut out = job.begin(path.as_deref(), TABLE)?;
        let begun = match form {
            TableForm::Csv => {
                out.write_all(csv::header(&table.columns()).as_bytes()).map(|()| TableFile::Csv(out))
            }
            TableForm::Parquet => table.begin_parquet(out).map(|file| TableFile::Parquet(Box::new(file))),
        };
        match begun {
            Ok(file) => Ok(OpenTable { table, path, file, rows: 0 }),
            Err(error) => Err(failure(job, path.as_deref(), &error)),
        }
    }

    fn add(&mut self, row: Vec<Cell>) -> io::Result<()> {
        self.rows += 1;
        match &mut self.file {
            TableFile::Csv(out) => out.write_all(csv::line(&row).as_bytes()),
            TableFile::Parquet(file) => file.add(row.into_iter()),
        }
    }

    fn finish(self, job: &dyn ExportJob) -> Result<(), UserError> {
        if let Some(path) = &self.path {
            job.count_rows(path, self.rows);
        }
        match self.file {
            TableFile::Csv(out) => out.finish(),
            TableFile::Parquet(file) => match file.finish() {
                Ok(out) => out.finish(),
                Err(error) => job.failed(self.path.as_deref(), TABLE, &error),
            },
        }
    }
}

/// The error of a table that could not even be begun: then a reader that has gone away is one, too.
fn failure(job: &dyn ExportJob, path: Option<&Path>, error: &io::Error) -> UserError {
    match job.failed(path, TABLE, error) {
        Err(failure) => failure,
        Ok(()) => UserError::failure(error.to_string()),
    }
}

fn write_tables(job: &dyn ExportJob, form: TableForm) -> Result<(), UserError> {
    let mut tables = Vec::new();
    match job.goal() {
        Goal::Folder(folder) => {
            for table in Table::ALL {
                let path = folder.join(format!("{}.{}", table.name(), form.name()));
                tables.push(OpenTable::begin(job, table, form, Some(path))?);
            }
        }
        Goal::File(path) => tables.push(OpenTable::begin(job, job.table(), form, Some(path.clone()))?),
        Goal::Standard => tables.push(OpenTable::begin(job, job.table(), form, None)?),
    }
    for name in job.names() {
        let stored = job.read(name)?;
        let findings = documents(&stored.run);
        for open in &mut tables {
            let table = open.table;
            let added = table.rows(&stored.run, &findings, &stored.series, &mut |row| open.add(row));
            if let Err(error) = added {
                job.failed(open.path.as_deref(), TABLE, &error)?;
            }
        }
    }
    for open in tables {
        open.finish(job)?;
    }
    if let Goal::File(path) = job.goal() {
        let path = harmless(&path.to_string_lossy(), usize::MAX);
        let table = job.table().name();
        job.say(&format!(
            "{path} holds the table of {table}. --table chooses another, and a folder gets all: -o results"
        ));
    }
    Ok(())
}
