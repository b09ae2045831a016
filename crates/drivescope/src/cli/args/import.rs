//! Options of `import`.

use super::OutputArguments;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of `import`.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// What another program printed or wrote: several files make one run. - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// What the files do not tell.
    #[command(flatten)]
    pub telling: TellingArguments,

    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// What the files do not tell.
#[derive(Debug, Args)]
#[command(next_help_heading = "What the files do not tell")]
pub struct TellingArguments {
    /// The program whose output it is, where that is not clear: bonnie++, dd, zcav, fio, fio-bw-log, fio-iops-log, fio-lat-log, ioping,
    /// hdparm, crystaldiskmark, atto, hdtune, iometer
    #[arg(long = "as", value_name = "FORMAT")]
    pub format: Option<String>,

    /// The model of the drive
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// How much the drive holds: 3TB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub capacity: Option<String>,

    /// Where on the drive a result was measured: 0%..25%. Once for each result that does not say it, in their order
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true, conflicts_with = "partitions")]
    pub position: Vec<String>,

    /// The results are of equal partitions that fill the drive, in their order
    #[arg(long)]
    pub partitions: bool,

    /// What kind of drive it is
    #[arg(long, value_enum)]
    pub kind: Option<DriveKindArgument>,

    /// What was done, where the text does not tell: dd without its command, zcav -w
    #[arg(long, value_enum)]
    pub operation: Option<OperationArgument>,
}

/// Kinds of drives to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DriveKindArgument {
    /// It turns
    Disk,
    /// It has no moving parts
    Flash,
}

/// Operations to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OperationArgument {
    /// Reads
    Read,
    /// Writes
    Write,
}
