//! Options of `sustain`.

use super::{ExperimentArguments, WritingArguments};
use clap::{Args, ValueEnum};

/// Options of `sustain`.
#[derive(Debug, Args)]
pub struct SustainArguments {
    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,

    /// How to write, and how far to go.
    #[command(flatten)]
    pub load: SustainLoadArguments,

    /// Whether and where to write.
    #[command(flatten)]
    pub writing: WritingArguments,
}

/// How to write, and how far to go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct SustainLoadArguments {
    /// Where writes go: random, sequential, or mixed:30% (so many of them jump) [default: random]
    #[arg(long, value_name = "PATTERN", conflicts_with = "resume")]
    pub pattern: Option<String>,

    /// How large each is [default: 128KiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, conflicts_with = "resume")]
    pub block: Option<String>,

    /// How many are under way at a time [default: 32]
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub depth: Option<u32>,

    /// Let this share of all requests read
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, conflicts_with = "resume")]
    pub read: Option<String>,

    /// Write no more than this [default: as much as the largest caches need that are known, or all of the range once]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, conflicts_with = "resume")]
    pub bytes: Option<String>,

    /// Write no more than this share of what the drive's maker promises it to endure
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, conflicts_with = "resume")]
    pub endurance: Option<String>,

    /// How far to go
    #[arg(long, value_enum, default_value_t = UntilArgument::Fall, conflicts_with = "resume")]
    pub until: UntilArgument,

    /// Rest after the fall for each of these times, and see what that gives back [without times: 1s,5s,10s,25s,50s]
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 0..=1, require_equals = true,
          default_missing_value = "1s,5s,10s,25s,50s", conflicts_with = "resume")]
    pub idle: Vec<String>,

    /// Use these parts of it one after the other, each until random writes are steady [without parts: 100%,75%,50%,33%]
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 0..=1, require_equals = true,
          default_missing_value = "100%,75%,50%,33%", conflicts_with = "resume")]
    pub clip: Vec<String>,

    /// In the end write all of the range in order: an SMR disk then has nothing to clean for hours
    #[arg(long, conflicts_with = "resume")]
    pub drain: bool,
}

/// How far `sustain` goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UntilArgument {
    /// Until the rate has fallen, or it is known that it does not
    Fall,
    /// Until all falls are seen that may come: all of a flash drive is written once
    Levels,
    /// Until the rate is steady
    Steady,
}
