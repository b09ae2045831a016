//! Options of `restore`.

use clap::Args;
use std::path::PathBuf;

/// Options of `restore`.
#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// The device or file to give its data back to; without it, what is kept is listed
    pub target: Option<String>,

    /// The serial number of the drive (its path, if it has none), so that it is not another one
    #[arg(long, value_name = "SERIAL", requires = "target")]
    pub confirm: Option<String>,

    /// The journal, if the store does not know of it
    #[arg(long, value_name = "FILE", requires = "target")]
    pub journal: Option<PathBuf>,

    /// Although the drive was written to since. What was written to the same places is lost
    #[arg(long, requires = "target")]
    pub although_changed: bool,
}
