//! Options of `access`.

use super::{ExperimentArguments, WritingArguments};
use clap::Args;

/// Options of `access`.
#[derive(Debug, Args)]
pub struct AccessArguments {
    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,

    /// What is varied.
    #[command(flatten)]
    pub grid: GridArguments,

    /// Whether and where to write.
    #[command(flatten)]
    pub writing: WritingArguments,
}

/// What `access` varies.
#[derive(Debug, Args)]
#[command(next_help_heading = "Grid (each list separated by commas)")]
pub struct GridArguments {
    /// Requests at a time in one queue [default: 1,2,5,10,25,100,250,1000]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume",
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub depths: Vec<u32>,

    /// Threads, each with one request at a time [default: none; with --threads alone there are no --depths]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume",
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,

    /// Sizes of requests besides 4KiB, one at a time [default: 512B,16KiB,64KiB,256KiB,1MiB]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume")]
    pub blocks: Vec<String>,

    /// Parts of the drive from its start, one at a time [default: 50%,25%,10%,5%,1%,0.1%]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume")]
    pub spans: Vec<String>,

    /// Ask for any block at any time, instead of each block once
    #[arg(long, conflicts_with = "resume")]
    pub with_replacement: bool,

    /// Say how many requests a second come with 99 of 100 answers within this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub latency_budget: Option<String>,

    /// Through the page cache, as an application sees the drive. The cache is emptied before
    #[arg(long, conflicts_with = "resume")]
    pub buffered: bool,
}
