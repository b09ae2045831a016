//! Options of `sim` and of its commands.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Options of `sim`.
#[derive(Debug, Args)]
pub struct SimArguments {
    /// What to do with virtual drives.
    #[command(subcommand)]
    pub command: SimCommand,
}

/// What to do with virtual drives. A NAME is that of a drive that comes with the program, or a file that ends in .toml.
#[derive(Debug, Subcommand)]
pub enum SimCommand {
    /// List the virtual drives that come with the program
    List(SimListArguments),
    /// Show what a virtual drive is made of
    Show(SimShowArguments),
    /// What is true of a virtual drive, by finding code
    Truth(SimTruthArguments),
    /// Write a profile of your own, beginning from one that comes with the program
    New(SimNewArguments),
    /// Serve a virtual drive in real time as a file, so that any tool can be run on it
    Mount(SimMountArguments),
    /// Repeat what an article measured on virtual drives, and set it against what was published
    Reproduce(SimReproduceArguments),
}

/// Options of `sim list`.
#[derive(Debug, Args)]
pub struct SimListArguments {
    /// Plain text without colour
    #[arg(long)]
    pub plain: bool,
}

/// Options of `sim show`.
#[derive(Debug, Args)]
pub struct SimShowArguments {
    /// A name from `drivescope sim list`, or a file of your own that ends in .toml
    pub name: String,
}

/// Options of `sim truth`.
#[derive(Debug, Args)]
pub struct SimTruthArguments {
    /// A name from `drivescope sim list`, or a file of your own that ends in .toml
    pub name: String,

    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `sim new`.
#[derive(Debug, Args)]
pub struct SimNewArguments {
    /// The file to write, which ends in .toml; it must not exist
    pub file: PathBuf,

    /// What to begin from: a name from `drivescope sim list`, or a file of your own
    #[arg(long, value_name = "NAME", default_value = "disk-4tb")]
    pub from: String,
}

/// Options of `sim mount`.
#[derive(Debug, Args)]
pub struct SimMountArguments {
    /// A name from `drivescope sim list`, or a file of your own that ends in .toml
    pub name: String,

    /// The folder to mount it in; made if it does not exist
    #[arg(long, value_name = "FOLDER")]
    pub at: PathBuf,

    /// Make a loop device of it as well
    #[arg(long = "loop")]
    pub loop_device: bool,

    /// Say at the end how late the answers were (kill -USR1 says so at any time)
    #[arg(long)]
    pub report: bool,

    /// Draws what is random in the drive: the same number gives the same drive
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Options of `sim reproduce`.
#[derive(Debug, Args)]
pub struct SimReproduceArguments {
    /// The article: A tracks, B threads, C full pass, D random writes without a pause, E valleys
    #[arg(ignore_case = true, value_parser = ["A", "B", "C", "D", "E"])]
    pub article: String,

    /// Plain text without colour
    #[arg(long)]
    pub plain: bool,

    /// As Markdown
    #[arg(long)]
    pub markdown: bool,

    /// Write its pictures into this folder, too
    #[arg(long, value_name = "FOLDER")]
    pub pictures: Option<PathBuf>,
}
