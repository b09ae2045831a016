//! Options of `verify`.

use super::{ExperimentArguments, WritingArguments};
use clap::Args;

/// Options of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,

    /// How much is looked at, and when.
    #[command(flatten)]
    pub way: VerifyWayArguments,

    /// Whether and where to write.
    #[command(flatten)]
    pub writing: WritingArguments,
}

/// How much is looked at, and when.
#[derive(Debug, Args)]
#[command(next_help_heading = "Way (some hundred places, which takes a minute, if none is chosen)")]
pub struct VerifyWayArguments {
    /// Write every block and compare every block. Takes hours
    #[arg(long, conflicts_with = "resume")]
    pub full: bool,

    /// With --full: how often. From the second time on, writes that are lost are told from other damage
    #[arg(long, value_name = "N", requires = "full", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub passes: Option<u32>,

    /// Only write now; compare later, after the drive was unplugged for instance, with --read-back
    #[arg(long, conflicts_with = "resume")]
    pub write_only: bool,

    /// Only compare what that run wrote; `last` is the newest. Writes nothing
    #[arg(long, value_name = "RUN", conflicts_with_all = ["full", "write_only", "write", "resume"])]
    pub read_back: Option<String>,
}
