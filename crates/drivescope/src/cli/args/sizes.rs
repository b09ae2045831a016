//! Options of `sizes`.

use super::{ExperimentArguments, WritingArguments};
use clap::Args;

/// Options of `sizes`.
#[derive(Debug, Args)]
pub struct SizesArguments {
    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,

    /// What is varied.
    #[command(flatten)]
    pub sweep: SweepArguments,

    /// Whether and where to write.
    #[command(flatten)]
    pub writing: WritingArguments,
}

/// What `sizes` varies.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sweep")]
pub struct SweepArguments {
    /// Sizes of requests [default: 512B to 64MiB, each twice the one before]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume")]
    pub sizes: Vec<String>,

    /// Requests at a time [default: 1,4]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume",
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub depths: Vec<u32>,

    /// How often each is measured; what does not agree is measured again [default: 3]
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
}
