//! Options of `replay`.

use clap::Args;

/// Options of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// The run: its name, the beginning of its name, or `last`
    pub run: String,

    /// How many times faster than it was [default: 1; in a pipe as fast as it can be read]
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true)]
    pub speed: Option<String>,

    /// Where to begin: 50%, or a time since it began such as 90s
    #[arg(long, value_name = "PERCENT|TIME", allow_hyphen_values = true)]
    pub at: Option<String>,

    /// Plain lines instead of the screen
    #[arg(long, help_heading = "Output")]
    pub plain: bool,
}
