//! Options of `serve`.

use clap::Args;

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// The port to listen on, on this machine's own address only; 0 takes one that is free
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub port: u16,

    /// Open it in the browser
    #[arg(long)]
    pub open: bool,
}
