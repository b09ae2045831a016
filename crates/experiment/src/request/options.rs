//! The options that all requests to a drive have.

use crate::error::PlanError;
use clap::{Args, ValueEnum};
use model::criterion::{Criterion, Template};
use model::range_choice::RangeChoice;
use model::share::Share;
use model::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const SCRATCH_SIZE: &str = "4GiB";
const SCRATCH_BYTES_MIN: Bytes = Bytes::from_mib(16);
const TIME_LIMIT_MIN: Nanos = Nanos::from_secs(5);
const PRECISION_MIN: f64 = 1e-4;

/// Which drive, and how it is measured.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Measuring")]
#[serde(default)]
pub struct DriveOptions {
    /// Device, file, folder (for a temporary scratch file), sim:NAME or sim:FILE.toml (virtual drive)
    #[arg(default_value = ".", help_heading = "Arguments")]
    pub target: String,

    /// Maximum size of the scratch file
    #[arg(long, env = "DRIVESCOPE_MAX_SIZE", value_name = "SIZE", default_value = SCRATCH_SIZE, allow_hyphen_values = true)]
    pub max_size: Bytes,

    /// Restrict I/O to this range: 10%..20% or 0..100GiB
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub range: Option<RangeChoice>,

    /// Duration to aim at, such as 10min [default: the experiment's own]
    #[arg(long, env = "DRIVESCOPE_TIME_LIMIT", value_name = "TIME", allow_hyphen_values = true)]
    pub time_limit: Option<Nanos>,

    /// Measure until confidence intervals are this narrow or time is up
    #[arg(long, env = "DRIVESCOPE_PRECISION", value_name = "PERCENT", allow_hyphen_values = true)]
    pub precision: Option<Share>,

    /// Seed: repeats the same requests in the same order
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,

    /// How requests are given to the kernel
    #[arg(long, env = "DRIVESCOPE_ENGINE", value_enum, default_value_t)]
    pub engine: EngineChoice,

    /// Poll for completions (needs a polled queue of the drive)
    #[arg(long)]
    pub polled: bool,

    /// Record every request (30 bytes each)
    #[arg(long)]
    pub trace: bool,

    /// Resume an interrupted or killed run; consents to write are given again
    #[arg(long, value_name = "RUN")]
    #[serde(skip)]
    pub resume: Option<String>,

    /// Print the plan, bytes and duration (with --json as JSON); do nothing
    #[arg(long)]
    #[serde(skip)]
    pub dry_run: bool,

    #[command(flatten)]
    #[serde(skip)]
    pub output: OutputOptions,

    #[command(flatten)]
    #[serde(flatten)]
    pub writing: WritingOptions,
}

#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Writing (a scratch file needs none of these)")]
#[serde(default)]
pub struct WritingOptions {
    /// Allow writes; destroys the data in the range
    #[arg(long)]
    pub write: bool,

    /// Allow overwriting a partition table, file system or other data
    #[arg(long, requires = "write")]
    pub destroy_data: bool,

    /// Serial number of the drive to write to (its path if it has none); for a
    /// partition or one of several namespaces with its name: S4EW:nvme0n1p3
    #[arg(long, value_name = "SERIAL", requires = "write")]
    pub confirm: Option<String>,

    /// Save overwritten data to a journal on another drive and restore it afterwards; replaces --destroy-data
    #[arg(long, requires = "write", conflicts_with = "destroy_data")]
    pub preserve: bool,

    /// Journal folder [default: in the store]
    #[arg(long, value_name = "DIR", requires = "preserve")]
    pub journal: Option<PathBuf>,

    /// Allow a journal that would be lost with the drive or at power loss
    #[arg(long, requires = "preserve")]
    pub journal_anyway: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// JSON document of the run to a file, or - for stdout
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Exit with status 3 if a finding is like this: 'write-cliff < 20GB'. Repeatable
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Criterion>,

    /// Print only this line: '{read-rate-mean} {read-rate-mean.low}'
    #[arg(long = "format", value_name = "LINE", conflicts_with_all = ["json", "post", "verbose"])]
    pub line: Option<Template>,

    /// Print only the result: no progress and no hints
    #[arg(long, short, env = "DRIVESCOPE_QUIET")]
    pub quiet: bool,

    /// Print a forum post: verdict and key figures in a code block
    #[arg(long)]
    pub post: bool,

    /// Explain every finding; show all phases and the method
    #[arg(long, short, env = "DRIVESCOPE_VERBOSE")]
    pub verbose: bool,

    /// Plain lines: no live screen, no colour, no charts
    #[arg(long, env = "DRIVESCOPE_PLAIN")]
    pub plain: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineChoice {
    /// uring if the kernel allows it, otherwise psync
    #[default]
    Auto,
    /// io_uring: many requests in one system call
    Uring,
    /// Blocking pread and pwrite on threads
    Psync,
}

impl Default for DriveOptions {
    fn default() -> DriveOptions {
        DriveOptions {
            target: ".".into(),
            max_size: SCRATCH_SIZE.parse().expect("the default is a size"),
            range: None,
            time_limit: None,
            precision: None,
            seed: None,
            engine: EngineChoice::Auto,
            polled: false,
            trace: false,
            resume: None,
            dry_run: false,
            output: OutputOptions::default(),
            writing: WritingOptions::default(),
        }
    }
}

impl DriveOptions {
    /// Whether the options are within their bounds; what depends on the drive is checked when the experiment is planned.
    pub fn check(&self) -> Result<(), PlanError> {
        if self.target.is_empty() {
            return Err(PlanError::NoTarget);
        }
        check_scratch_size(self.max_size)?;
        if let Some(limit) = self.time_limit {
            check_time_limit(limit)?;
        }
        match self.precision {
            Some(precision) => check_precision(precision),
            None => Ok(()),
        }
    }
}

fn check_scratch_size(size: Bytes) -> Result<(), PlanError> {
    if size < SCRATCH_BYTES_MIN {
        return Err(PlanError::ScratchTooSmall { size, needs: SCRATCH_BYTES_MIN });
    }
    Ok(())
}

pub(crate) fn check_time_limit(limit: Nanos) -> Result<(), PlanError> {
    if limit < TIME_LIMIT_MIN { Err(PlanError::TimeLimitTooShort(limit)) } else { Ok(()) }
}

pub(crate) fn check_precision(precision: Share) -> Result<(), PlanError> {
    if precision.get() < PRECISION_MIN { Err(PlanError::PrecisionTooFine(precision)) } else { Ok(()) }
}
