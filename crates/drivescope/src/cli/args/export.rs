//! Options of `export`.

use crate::export::{EXPORTS, Export};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use store::table::Table;

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Runs: names, prefixes of names, or `last`
    #[arg(default_value = "last", conflicts_with = "all")]
    pub runs: Vec<String>,

    /// Export all stored runs instead of named ones
    #[arg(long)]
    pub all: bool,

    /// File format [default: by the extension of the output file]
    #[arg(long, short, value_parser = exports())]
    pub format: Option<&'static Export>,

    /// Output: a file, a folder, or - for stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    /// Table to write to a single CSV or Parquet file; a folder gets all
    #[arg(long, value_parser = tables(), default_value = Table::Findings.name())]
    pub table: Table,

    /// JSON of the files written to a file, or - for stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
}

fn exports() -> impl TypedValueParser<Value = &'static Export> {
    let words = EXPORTS.iter().map(|export| PossibleValue::new(export.name).help(export.about));
    PossibleValuesParser::new(words).try_map(export_named)
}

fn export_named(name: String) -> Result<&'static Export, &'static str> {
    Export::of_name(&name).ok_or("there is no such format")
}

fn tables() -> impl TypedValueParser<Value = Table> {
    let words = Table::ALL.map(|table| PossibleValue::new(table.name()).help(table.about()));
    PossibleValuesParser::new(words).try_map(table_named)
}

fn table_named(name: String) -> Result<Table, &'static str> {
    Table::from_name(&name).ok_or("there is no such table")
}
