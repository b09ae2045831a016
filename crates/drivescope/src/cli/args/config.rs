//! Options of `config`.

use super::PageArguments;
use clap::Args;

#[derive(Debug, Args)]
pub struct ConfigArguments {
    #[command(flatten)]
    pub page: PageArguments,
}
