//! Options of `state`.

use super::PageArguments;
use clap::Args;

/// Options of `state`.
#[derive(Debug, Args)]
pub struct StateArguments {
    /// A device, a file, or a folder
    pub target: String,

    /// Where the page goes.
    #[command(flatten)]
    pub page: PageArguments,
}
