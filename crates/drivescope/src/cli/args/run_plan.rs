//! Options of `run`.

use super::{ExperimentArguments, WritingArguments};
use clap::Args;

/// Options of `run`.
#[derive(Debug, Args)]
pub struct RunPlanArguments {
    /// A plan: its name (--list shows those that come with drivescope), or a file: .toml, Iometer's .icf, fio's .fio or .job
    #[arg(required_unless_present_any = ["list", "resume"])]
    pub plan: Option<String>,

    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,

    /// How long each step takes that has no bytes, operations or passes to end by; instead of what the plan says
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "resume")]
    pub each: Option<String>,

    /// Only list the plans that come with drivescope
    #[arg(long, conflicts_with = "resume")]
    pub list: bool,

    /// Whether and where to write.
    #[command(flatten)]
    pub writing: WritingArguments,
}
