//! Options of `replay`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// Run: name, prefix of its name, or `last`
    pub run: String,

    /// Replay speed [default: 1; in a pipe unlimited]
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true)]
    pub speed: Option<String>,

    /// Start position: 50%, or a time such as 90s
    #[arg(long, value_name = "PERCENT|TIME", allow_hyphen_values = true)]
    pub at: Option<String>,

    /// Plain lines instead of the live screen
    #[arg(long, env = "DRIVESCOPE_PLAIN", help_heading = "Output")]
    pub plain: bool,

    /// JSON document of the run at the end, to a file or - for stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
}
