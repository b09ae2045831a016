//! Options of `state`.

use super::PageArguments;
use clap::Args;

#[derive(Debug, Args)]
pub struct StateArguments {
    /// A device, a file, or a folder
    pub target: String,

    #[command(flatten)]
    pub page: PageArguments,
}
