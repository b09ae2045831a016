//! Options of `surface`.

use super::{ExperimentArguments, WritingArguments};
use clap::Args;

/// Options of `surface`.
#[derive(Debug, Args)]
pub struct SurfaceArguments {
    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,

    /// How the drive is gone over.
    #[command(flatten)]
    pub way: SurfaceWayArguments,

    /// Whether and where to write.
    #[command(flatten)]
    pub writing: WritingArguments,
}

/// How the drive is gone over: one of these.
#[derive(Debug, Args)]
#[command(next_help_heading = "Way (short visits to random places, as many as it takes, if none is chosen)")]
pub struct SurfaceWayArguments {
    /// Short visits to random places, as many as it takes
    #[arg(long, conflicts_with_all = ["areas", "full", "resume"])]
    pub adaptive: bool,

    /// So many long areas at equal distances, each from its start to its end
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with_all = ["full", "resume"])]
    pub areas: Option<u64>,

    /// How long each area is [default: 1GiB]
    #[arg(long, value_name = "SIZE", requires = "areas", allow_hyphen_values = true)]
    pub area_size: Option<String>,

    /// Every block once. Takes hours
    #[arg(long, conflicts_with = "resume")]
    pub full: bool,

    /// Read back what was written and compare it
    #[arg(long, requires = "full", requires = "write")]
    pub verify: bool,
}
