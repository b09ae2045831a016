//! Options of `files`.

use super::OutputArguments;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of `files`.
#[derive(Debug, Args)]
pub struct FilesArguments {
    /// Folders, on one or several file systems. A folder of its own is made in each, and removed afterwards
    #[arg(default_value = ".")]
    pub folders: Vec<PathBuf>,

    /// Set the folders against each other, such as those on an outer and an inner partition: more rounds, and what differs
    #[arg(long)]
    pub compare: bool,

    /// What is done, and how much.
    #[command(flatten)]
    pub work: FileWorkArguments,

    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// What is done with files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Measuring")]
pub struct FileWorkArguments {
    /// Only these tasks: byte by byte; write, rewrite and read in blocks; random seeks; small files
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub tasks: Vec<TaskArgument>,

    /// How long the large file is [default: what can be written in the time, 1GiB at most; it is put out of memory before it is read]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, conflicts_with = "beyond_memory")]
    pub size: Option<String>,

    /// The large file is twice as long as the memory, as bonnie++ has it. Takes long
    #[arg(long)]
    pub beyond_memory: bool,

    /// The longest large file. A tenth of the file system stays free in any case
    #[arg(long, value_name = "SIZE", default_value = "1GiB", allow_hyphen_values = true)]
    pub max_size: String,

    /// What one call reads or writes
    #[arg(long, value_name = "SIZE", default_value = "1MiB", allow_hyphen_values = true)]
    pub block: String,

    /// How many threads seek
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub seekers: u32,

    /// How many small files; fewer where the time does not suffice, see --time-limit
    #[arg(long, value_name = "N", default_value_t = 16384, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub files: u64,

    /// What small files hold: 0, 4KiB, or 1KiB..16KiB drawn for each
    #[arg(long, value_name = "SIZE", default_value = "4KiB", allow_hyphen_values = true)]
    pub file_size: String,

    /// Over how many folders they are spread
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub folders_of_files: u32,

    /// How often each task is done [default: until its interval is narrow, 3 times at least]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,

    /// Go on until the intervals are this narrow, or the time is up [default: 5%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub precision: Option<String>,

    /// Take about this long [default: 3min, and 1min more for each further folder]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub time_limit: Option<String>,

    /// Repeat a run exactly: the same places in the same order
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,

    /// Only say what would be done, how much would be read and written, and how long it would take
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
}

/// Groups of tasks to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TaskArgument {
    /// Write and read byte by byte through a small buffer
    Bytes,
    /// Write, rewrite and read in blocks
    Blocks,
    /// Random seeks by several threads
    Seeks,
    /// Create, look at, read and delete small files, in order and at random
    Names,
}
