//! Options of `import`.

use super::OutputArguments;
use super::value::format;
use clap::{Args, ValueEnum};
use import::Format;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ImportArguments {
    /// Output files of another program, imported as one run; - is stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// What the files do not tell.
    #[command(flatten)]
    pub telling: TellingArguments,

    #[command(flatten)]
    pub output: OutputArguments,
}

/// What the files do not tell.
#[derive(Debug, Args)]
#[command(next_help_heading = "What the files do not tell")]
pub struct TellingArguments {
    /// Program that wrote the files [default: detected]: bonnie++, dd, zcav, fio, fio-text, fio-terse, fio-bw-log,
    /// fio-iops-log, fio-lat-log, ioping, hdparm, crystaldiskmark, atto, hdtune, iometer, yabs,
    /// winsat, pg_test_fsync, as-ssd, blackmagic
    #[arg(long = "as", value_name = "FORMAT", value_parser = format)]
    pub format: Option<Format>,

    /// Model of the drive, as lists and reports show it
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// Capacity of the drive, such as 3TB; turns a range in percent into bytes
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub capacity: Option<String>,

    /// Range of a result that lacks it, in order: 0%..25%
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true, conflicts_with = "partitions")]
    pub position: Vec<String>,

    /// Results are of equal partitions that fill the drive, in order
    #[arg(long)]
    pub partitions: bool,

    /// Kind of the drive; says whether it rotates
    #[arg(long, value_enum)]
    pub kind: Option<DriveKindArgument>,

    /// Operation, where the files do not tell (dd without its command, zcav -w)
    #[arg(long, value_enum)]
    pub operation: Option<OperationArgument>,
}

/// Kinds of drives to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DriveKindArgument {
    /// Hard disk: rotates and has to seek
    Disk,
    /// Solid-state drive: neither rotates nor seeks
    Flash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OperationArgument {
    /// The files are results of reads
    Read,
    /// The files are results of writes
    Write,
}
