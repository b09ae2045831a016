//! Options of `sim` and of its commands.

use super::PageArguments;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct SimArguments {
    /// What to do with virtual drives.
    #[command(subcommand)]
    pub command: SimCommand,
}

/// What to do with virtual drives. A NAME is that of a drive that comes with the program, or a file that ends in .toml.
#[derive(Debug, Subcommand)]
pub enum SimCommand {
    /// List the built-in virtual drives with what is special about each
    List(PageArguments),
    /// Show the profile of a virtual drive
    Show(SimShowArguments),
    /// Ground truth of a virtual drive, by finding code
    Truth(SimTruthArguments),
    /// Create a profile from an existing one
    New(SimNewArguments),
    /// Serve a virtual drive in real time as a file for other tools
    Mount(SimMountArguments),
    /// Reproduce a published measurement on virtual drives
    Reproduce(SimReproduceArguments),
}

#[derive(Debug, Args)]
pub struct SimShowArguments {
    /// Name from `drivescope sim list`, or a .toml file
    pub name: String,

    /// JSON to a file, or - for stdout
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SimTruthArguments {
    /// Name from `drivescope sim list`, or a .toml file
    pub name: String,

    /// JSON to a file, or - for stdout, as without FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SimNewArguments {
    /// File to create, ending in .toml; never overwritten
    pub file: PathBuf,

    /// Base: a name from `drivescope sim list`, or a .toml file
    #[arg(long, value_name = "NAME", default_value = "disk-4tb")]
    pub from: String,

    /// JSON of the file written to a file, or - for stdout
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SimMountArguments {
    /// Name from `drivescope sim list`, or a .toml file
    pub name: String,

    /// Folder to mount it at; created if missing
    #[arg(long, value_name = "FOLDER")]
    pub at: PathBuf,

    /// Also create a loop device, for tools that need a block device (root)
    #[arg(long = "loop")]
    pub loop_device: bool,

    /// Report at the end how late completions were (kill -USR1: now)
    #[arg(long)]
    pub report: bool,

    /// JSON of the file and device served, once they can be used, to a file or - for stdout
    #[arg(long, value_name = "FILE", conflicts_with = "report")]
    pub json: Option<PathBuf>,

    /// Seed of the drive's random properties
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct SimReproduceArguments {
    /// Article: A tracks, B threads, C full pass, D sustained random writes, E valleys
    #[arg(ignore_case = true, value_parser = ["A", "B", "C", "D", "E"])]
    pub article: String,

    #[command(flatten)]
    pub page: PageArguments,

    /// Print Markdown, as the pages in the documentation
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,

    /// Write its charts to this folder
    #[arg(long, value_name = "FOLDER")]
    pub pictures: Option<PathBuf>,
}
