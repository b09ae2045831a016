//! Every option, once: what can be typed. The comment of an option is its help text. Nothing is looked up here.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

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
    /// List the drives, who uses them, and whether they may be read and written
    List(ListArguments),
    /// List the runs that are kept, newest first
    Runs(RunsArguments),
    /// Show a run again, analysed anew
    Show(ShowArguments),
    /// Set runs side by side: which drive is faster where, or where one became slower
    Compare(CompareArguments),
    /// Draw runs as a picture: SVG or PNG, several drives in one chart
    Report(ReportArguments),
    /// How long a full pass, a backup, a RAID rebuild or a surface check will take, from runs that are kept
    Estimate(EstimateArguments),
    /// Where to cut a drive into partitions by speed, from a run that is kept. Changes nothing
    Plan(PlanArguments),
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

/// Options of `access`.
#[derive(Debug, Args)]
pub struct AccessArguments {
    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,

    /// What is varied.
    #[command(flatten)]
    pub grid: GridArguments,

    /// Whether and where to write.
    #[command(flatten)]
    pub writing: WritingArguments,
}

/// What `access` varies.
#[derive(Debug, Args)]
#[command(next_help_heading = "Grid (each list separated by commas)")]
pub struct GridArguments {
    /// Requests at a time in one queue [default: 1,2,5,10,25,100,250,1000]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume",
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub depths: Vec<u32>,

    /// Threads, each with one request at a time [default: none; with --threads alone there are no --depths]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume",
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,

    /// Sizes of requests besides 4KiB, one at a time [default: 512B,16KiB,64KiB,256KiB,1MiB]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume")]
    pub blocks: Vec<String>,

    /// Parts of the drive from its start, one at a time [default: 50%,25%,10%,5%,1%,0.1%]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "resume")]
    pub spans: Vec<String>,

    /// Ask for any block at any time, instead of each block once
    #[arg(long, conflicts_with = "resume")]
    pub with_replacement: bool,

    /// Say how many requests a second come with 99 of 100 answers within this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub latency_budget: Option<String>,

    /// Through the page cache, as an application sees the drive. The cache is emptied before
    #[arg(long, conflicts_with = "resume")]
    pub buffered: bool,
}

/// Options of `geometry`.
#[derive(Debug, Args)]
pub struct GeometryArguments {
    /// What every experiment is told.
    #[command(flatten)]
    pub experiment: ExperimentArguments,
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

    /// The serial number of the drive to write to (its path, if it has none), so that it is not another one
    #[arg(long, value_name = "SERIAL", requires = "write")]
    pub confirm: Option<String>,
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

/// Options of `list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Plain text without colour
    #[arg(long)]
    pub plain: bool,
}

/// Options of `runs`.
#[derive(Debug, Args)]
pub struct RunsArguments {
    /// Plain text without colour
    #[arg(long)]
    pub plain: bool,
}

/// Options of `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The run: its name, the beginning of its name, or `last`
    #[arg(default_value = "last")]
    pub run: String,

    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Options of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The runs: their names, the beginnings of their names, or `last`
    #[arg(required = true)]
    pub runs: Vec<String>,

    /// The picture to write; its ending says what it becomes: .svg or .png
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    /// Light on dark
    #[arg(long)]
    pub dark: bool,

    /// What to draw
    #[arg(long, value_enum, default_value_t = ChartArgument::RateOverPosition)]
    pub chart: ChartArgument,
}

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The runs, two or more: their names, the beginnings of their names, or `last`. Of one drive, the earlier first
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub runs: Vec<String>,

    /// Draw all of them in one picture: .svg or .png
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// The picture light on dark
    #[arg(long, requires = "output")]
    pub dark: bool,

    /// Write the comparison as JSON to a file, or to standard output with -
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Plain text without colour
    #[arg(long)]
    pub plain: bool,
}

/// Charts to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChartArgument {
    /// How fast each place is read and written
    RateOverPosition,
    /// How long single random reads take at each place, from a run of `access`
    AccessTime,
}

/// Options of `estimate`.
#[derive(Debug, Args)]
pub struct EstimateArguments {
    /// The runs, one for each drive: names, beginnings of names, or `last`
    #[arg(default_value = "last")]
    pub runs: Vec<String>,

    /// To read all of it once, and to write all of it once
    #[arg(long)]
    pub full_pass: bool,

    /// To back this much up to the drive, and to back it up from there or take an image of it
    #[arg(long, visible_alias = "image", value_name = "SIZE", allow_hyphen_values = true)]
    pub backup: Option<String>,

    /// Where on the drive the backup begins [default: 0]
    #[arg(long, value_name = "OFFSET", requires = "backup", allow_hyphen_values = true)]
    pub from: Option<String>,

    /// To rebuild a RAID of these drives after one was replaced
    #[arg(long)]
    pub rebuild: bool,

    /// How many random requests a second come with 99 of 100 answers within this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub latency_budget: Option<String>,

    /// To check the surface once
    #[arg(long)]
    pub surface_check: bool,

    /// Where the result goes.
    #[command(flatten)]
    pub page: PageArguments,
}

/// Options of `plan`.
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// The run: its name, the beginning of its name, or `last`
    #[arg(default_value = "last")]
    pub run: String,

    /// The fastest part of the drive as one partition, the rest as another [default: 10%]
    #[arg(long, value_name = "PERCENT", group = "wish", allow_hyphen_values = true)]
    pub fast: Option<String>,

    /// Everything that is at least this fast as one partition, such as 150MB/s
    #[arg(long, value_name = "RATE", group = "wish", allow_hyphen_values = true)]
    pub at_least: Option<String>,

    /// So many partitions of about the same size
    #[arg(long, value_name = "NUMBER", group = "wish", allow_hyphen_values = true)]
    pub parts: Option<String>,

    /// Where the result goes.
    #[command(flatten)]
    pub page: PageArguments,
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

/// Options of `sim`.
#[derive(Debug, Args)]
pub struct SimArguments {
    /// What to do with virtual drives.
    #[command(subcommand)]
    pub command: SimCommand,
}

/// What to do with virtual drives. A NAME is that of a drive that comes with the program, or a file that ends in .toml.
#[derive(Debug, Subcommand)]
pub enum SimCommand {
    /// List the virtual drives that come with the program
    List(SimListArguments),
    /// Show what a virtual drive is made of
    Show(SimShowArguments),
    /// What is true of a virtual drive, by finding code
    Truth(SimTruthArguments),
    /// Write a profile of your own, beginning from one that comes with the program
    New(SimNewArguments),
    /// Serve a virtual drive in real time as a file, so that any tool can be run on it
    Mount(SimMountArguments),
    /// Repeat what an article measured on virtual drives, and set it against what was published
    Reproduce(SimReproduceArguments),
}

/// Options of `sim list`.
#[derive(Debug, Args)]
pub struct SimListArguments {
    /// Plain text without colour
    #[arg(long)]
    pub plain: bool,
}

/// Options of `sim show`.
#[derive(Debug, Args)]
pub struct SimShowArguments {
    /// A name from `drivescope sim list`, or a file of your own that ends in .toml
    pub name: String,
}

/// Options of `sim truth`.
#[derive(Debug, Args)]
pub struct SimTruthArguments {
    /// A name from `drivescope sim list`, or a file of your own that ends in .toml
    pub name: String,

    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `sim new`.
#[derive(Debug, Args)]
pub struct SimNewArguments {
    /// The file to write, which ends in .toml; it must not exist
    pub file: PathBuf,

    /// What to begin from: a name from `drivescope sim list`, or a file of your own
    #[arg(long, value_name = "NAME", default_value = "disk-4tb")]
    pub from: String,
}

/// Options of `sim mount`.
#[derive(Debug, Args)]
pub struct SimMountArguments {
    /// A name from `drivescope sim list`, or a file of your own that ends in .toml
    pub name: String,

    /// The folder to mount it in; made if it does not exist
    #[arg(long, value_name = "FOLDER")]
    pub at: PathBuf,

    /// Make a loop device of it as well
    #[arg(long = "loop")]
    pub loop_device: bool,

    /// Say at the end how late the answers were (kill -USR1 says so at any time)
    #[arg(long)]
    pub report: bool,

    /// Draws what is random in the drive: the same number gives the same drive
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Options of `sim reproduce`.
#[derive(Debug, Args)]
pub struct SimReproduceArguments {
    /// The article: A tracks, B threads, C full pass, D random writes without a pause, E valleys
    #[arg(ignore_case = true, value_parser = ["A", "B", "C", "D", "E"])]
    pub article: String,

    /// Plain text without colour
    #[arg(long)]
    pub plain: bool,

    /// As Markdown
    #[arg(long)]
    pub markdown: bool,
}
