//! Options of `serve`.

use clap::Args;

#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Port on localhost; 0 picks a free one
    #[arg(long, env = "DRIVESCOPE_PORT", value_name = "NUMBER", default_value_t = 0)]
    pub port: u16,

    /// Open the page in the default browser
    #[arg(long)]
    pub open: bool,

    /// Address as JSON on stdout, once it listens; to no file, since the address gives access
    #[arg(long, value_name = "-", value_parser = ["-"])]
    pub json: Option<String>,
}
