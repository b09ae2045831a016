//! Options of `valleys`.

use super::{ExperimentArguments, WritingArguments};
use clap::{Args, ValueEnum};

/// Options of `valleys`.
#[derive(Debug, Args)]
pub struct ValleysArguments {
    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,

    /// What is done before, and how the drive is passed over.
    #[command(flatten)]
    pub passes: PassArguments,

    /// Whether and where to write.
    #[command(flatten)]
    pub writing: WritingArguments,
}

/// What is done before, and how the drive is passed over.
#[derive(Debug, Args)]
#[command(next_help_heading = "Passes")]
pub struct PassArguments {
    /// What is done before passes: none, mixed, mixed:10min, mixed:50GB, random:50GB, sequential:8MiB, erase, halves (mixed on one half,
    /// the other filled with 8 MiB), icf:FILE, plan:NAME, or plan:NAME:10min for so long each step. Of several, each with its passes: a table of what cures [default: none]
    #[arg(
        long,
        visible_alias = "conditions",
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "resume"
    )]
    pub condition: Vec<String>,

    /// Sizes of the requests of passes, 64KiB to 16MiB [default: 64KiB]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume")]
    pub blocks: Vec<String>,

    /// Passes over each area [default: until they are alike, at most 10, over small areas of a drive more up to 192 GiB in all;
    /// after each of several conditions 3]
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub passes: Option<u32>,

    /// Which areas: whole, halves (one after the other), or parts such as 0%..25%,25%..50% [default: whole, of large drives the first
    /// 128 GiB]
    #[arg(long, value_name = "AREAS", value_delimiter = ',', conflicts_with = "resume")]
    pub over: Vec<String>,

    /// Whether a pass touches a part of each stretch or writes everything [default: everything up to 64 GiB]
    #[arg(long, value_enum, conflicts_with = "resume")]
    pub way: Option<WayArgument>,
}

/// How a pass goes over its area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WayArgument {
    /// Crosses the area and touches 30 % of each of 16 stretches, at most 64 GiB in all
    Crossing,
    /// Writes everything
    Everything,
}
