//! Options of `export`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of `export`.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// The runs: their names, the beginnings of their names, or `last`
    #[arg(default_value = "last", conflicts_with = "all")]
    pub runs: Vec<String>,

    /// All runs that are kept
    #[arg(long)]
    pub all: bool,

    /// What to write [default: what the ending of the file says]
    #[arg(long, short, value_enum)]
    pub format: Option<ExportFormat>,

    /// Where to: a file, a folder (a name without an ending, or one that exists), or - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    /// Which table, where CSV or Parquet go into one file; a folder gets all of them
    #[arg(long, value_enum, default_value_t = TableArgument::Findings)]
    pub table: TableArgument,
}

/// Formats to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Everything but the series, as drivescope itself keeps it
    Json,
    /// Tables for spreadsheets
    Csv,
    /// Tables for pandas, DuckDB and Spark
    Parquet,
    /// A line for each run as bonnie++ 1.03 writes it
    #[value(name = "bonnie-1.03")]
    Bonnie103,
    /// A line for each run as bonnie++ 1.98 and 2.00 write it
    #[value(name = "bonnie-1.98")]
    Bonnie198,
    /// What fio would have written, for fio-plot and others
    Fio,
    /// Metrics for Prometheus: the textfile collector of node_exporter
    Openmetrics,
}

/// Tables to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableArgument {
    /// A row for each run: which drive, where, with which settings
    Runs,
    /// A row for each finding: value, interval, sentence
    Findings,
    /// A row for each phase: workload, rates, latencies
    Phases,
    /// A row for each slice of 40 ms
    Intervals,
}
