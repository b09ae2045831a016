//! Options of `restore`.

use super::PageArguments;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// Device or file to restore; without it, journals are listed
    pub target: Option<String>,

    /// Serial number of the drive (its path if it has none)
    #[arg(long, value_name = "SERIAL", requires = "target")]
    pub confirm: Option<String>,

    /// Journal file, if it is not in the store
    #[arg(long, value_name = "FILE", requires = "target")]
    pub journal: Option<PathBuf>,

    /// Restore although the drive was written since; newer data at these offsets are lost
    #[arg(long, requires = "target")]
    pub although_changed: bool,

    /// Of the list of journals, and of what was restored.
    #[command(flatten)]
    pub page: PageArguments,
}
