//! Every option, once: what can be typed. The comment of an option is its help text. Nothing is looked up here.

mod access;
mod choose;
mod export;
mod files;
mod import;
mod purge;
mod replay;
mod restore;
mod run_plan;
mod serve;
mod sim;
mod sizes;
mod state;
mod stored;
mod surface;
mod sustain;
mod valleys;
mod verify;

pub use access::{AccessArguments, GridArguments};
pub use choose::{AnswerArguments, ChooseArguments, DayArguments, PreferenceArgument, YesOrNo};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use export::{ExportArguments, ExportFormat, TableArgument};
pub use files::{FileWorkArguments, FilesArguments, TaskArgument};
pub use import::{DriveKindArgument, ImportArguments, OperationArgument, TellingArguments};
pub use purge::{MethodArgument, PurgeArguments};
pub use replay::ReplayArguments;
pub use restore::RestoreArguments;
pub use run_plan::RunPlanArguments;
pub use serve::ServeArguments;
pub use sim::{
    SimArguments, SimCommand, SimListArguments, SimMountArguments, SimNewArguments, SimReproduceArguments,
    SimShowArguments, SimTruthArguments,
};
pub use sizes::{SizesArguments, SweepArguments};
pub use state::StateArguments;
use std::path::PathBuf;
pub use stored::{
    CHART_LIST, CompareArguments, EstimateArguments, ListArguments, PlanArguments, ReportArguments,
    RunsArguments, ShowArguments, SizeArgument, WishArguments,
};
pub use surface::{SurfaceArguments, SurfaceWayArguments};
pub use sustain::{SustainArguments, SustainLoadArguments, UntilArgument};
pub use valleys::{PassArguments, ValleysArguments, WayArgument};
pub use verify::{VerifyArguments, VerifyWayArguments};

/// Measures a storage drive and says what it found: how fast, how even, how many at once; with an interval on every
/// number, and "unknown, because …" where it cannot tell.
///
/// Without a command it checks a scratch file in the current folder.
#[derive(Debug, Parser)]
#[command(name = "drivescope", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do; `check .` when nothing is given.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// The folder where runs are kept [default: $XDG_DATA_HOME/drivescope]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub store: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure a drive, volume, partition or file in about a minute, and say what was found
    Check(CheckArguments),
    /// Map how fast each part of a drive is, and whether any part is slow or bad
    Surface(SurfaceArguments),
    /// Measure random access: by requests at a time, block size and span; caches, and whether it is several drives
    Access(AccessArguments),
    /// Tell how a hard disk turns and seeks, and where its tracks lie, by reading alone
    Geometry(GeometryArguments),
    /// Write until the rate falls: how much fits before that, how fast it is then, and what a rest gives back
    Sustain(SustainArguments),
    /// Look for short falls of the write rate that recur: what brings them, and what takes them away
    Valleys(ValleysArguments),
    /// Run the steps of a plan of your own, of Iometer's access specifications or of a fio job file
    Run(RunPlanArguments),
    /// Measure rates by the size of requests, and measure again what something spoilt
    Sizes(SizesArguments),
    /// Measure a file system: writing and reading files by bytes and blocks, seeks, small files; several folders side by side
    Files(FilesArguments),
    /// Tell whether a drive stores what it is told, all of it: lying capacity, lost, swapped and damaged data
    Verify(VerifyArguments),
    /// List the drives, who uses them, and whether they may be read and written
    List(ListArguments),
    /// List the runs that are kept, newest first
    Runs(RunsArguments),
    /// Show a run again, analysed anew
    Show(ShowArguments),
    /// Watch a run again as it was seen when it was made, faster or slower
    Replay(ReplayArguments),
    /// Take over what another program measured: bonnie++, dd, zcav, fio, ioping, hdparm, CrystalDiskMark, ATTO, HD Tune, Iometer
    Import(ImportArguments),
    /// Set runs side by side: which drive is faster where, or where one became slower
    Compare(CompareArguments),
    /// Show runs as a page with everything (.html) or as a picture (.svg, .png); several drives in one
    Report(ReportArguments),
    /// Look at the runs in a browser: reports, comparisons, and runs that go on. On this machine only, read-only
    Serve(ServeArguments),
    /// Write runs for other programs: JSON, CSV, Parquet, bonnie++, fio, OpenMetrics
    Export(ExportArguments),
    /// How long a full pass, a backup, a RAID rebuild or a surface check will take, from runs that are kept
    Estimate(EstimateArguments),
    /// Where to cut a drive into partitions by speed, from a run that is kept. Changes nothing
    Plan(PlanArguments),
    /// Empty a drive as a whole, by the most thorough way that it knows. Everything on it is lost
    Purge(PurgeArguments),
    /// Give back what a run with --preserve had overwritten when it was broken off; without a target, list what is kept
    Restore(RestoreArguments),
    /// What a drive went through: what drivescope wrote to it, what others wrote, purges and rests
    State(StateArguments),
    /// Which kind of drive to take, CMR, SMR or SSD, and how to use it, by your answers and by your writes
    Choose(ChooseArguments),
    /// Virtual drives: list them, show what they are, mount one for other tools, re-enact measurements on them
    Sim(SimArguments),
}

/// What every experiment is told.
#[derive(Debug, Args)]
pub struct ExperimentArguments {
    /// A device, a file, a folder (a scratch file is made in it and removed afterwards), or sim:NAME or sim:FILE.toml for a virtual drive
    #[arg(default_value = ".")]
    pub target: String,

    /// What is measured, and how.
    #[command(flatten)]
    pub measuring: MeasuringArguments,

    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,

    /// Whether and where to write.
    #[command(flatten)]
    pub writing: WritingArguments,
}

/// Options of `geometry`.
#[derive(Debug, Args)]
pub struct GeometryArguments {
    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,
}

/// Whether and where to write.
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing (a scratch file needs none of these)")]
pub struct WritingArguments {
    /// Write to the target too. What is on it is lost
    #[arg(long)]
    pub write: bool,

    /// Write although a partition table, a file system or other data is on it
    #[arg(long, requires = "write")]
    pub destroy_data: bool,

    /// The serial number of the drive to write to (its path, if it has none), so that it is not another one; for a
    /// partition or one of several namespaces with its name: S4EW:nvme0n1p3
    #[arg(long, value_name = "SERIAL", requires = "write")]
    pub confirm: Option<String>,

    /// Keep what is overwritten in a journal on another drive, and give it back afterwards; takes the place of --destroy-data
    #[arg(long, requires = "write", conflicts_with = "destroy_data")]
    pub preserve: bool,

    /// The folder of that journal [default: in the store]
    #[arg(long, value_name = "DIR", requires = "preserve")]
    pub journal: Option<PathBuf>,

    /// Also where a power cut or a failing drive would take the journal too
    #[arg(long, requires = "preserve")]
    pub journal_anyway: bool,
}

/// What is measured, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Measuring")]
pub struct MeasuringArguments {
    /// The largest scratch file, where the target is a folder
    #[arg(long, value_name = "SIZE", default_value = "4GiB", allow_hyphen_values = true)]
    pub max_size: String,

    /// Only this part: 10%..20% or 0..100GiB. Nothing outside it is touched
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub range: Option<String>,

    /// Take about this long
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub time_limit: Option<String>,

    /// Go on until the intervals are this narrow, or the time is up
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub precision: Option<String>,

    /// Repeat a run exactly: the same places in the same order
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,

    /// What carries the requests
    #[arg(long, value_enum, default_value_t = EngineArgument::Auto)]
    pub engine: EngineArgument,

    /// Look for completions instead of waiting for them, where the drive can
    #[arg(long)]
    pub polled: bool,

    /// Keep every single request. Takes 30 bytes of disk for each
    #[arg(long)]
    pub trace: bool,

    /// Go on with a run that was interrupted or killed, as its own command says. Consents to write are given again
    #[arg(long, value_name = "RUN", conflicts_with_all = [
        "target", "range", "time_limit", "precision", "seed", "engine", "polled", "trace", "max_size",
    ])]
    pub resume: Option<String>,

    /// Only say what would be done, how much would be read and written, and how long it would take
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
}

/// Engines to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineArgument {
    /// io_uring where there is one, else blocking calls
    Auto,
    /// io_uring
    Uring,
    /// Blocking calls on threads
    Psync,
}

/// Where the result goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Write the run as JSON to a file, or to standard output with -
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Say nothing but the result
    #[arg(long, short)]
    pub quiet: bool,

    /// Plain lines, no moving progress, no colour
    #[arg(long)]
    pub plain: bool,
}

/// Where a page goes that is not a run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct PageArguments {
    /// As JSON to a file, or to standard output with -
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Plain text without colour
    #[arg(long)]
    pub plain: bool,
}
