//! Every option, once: what can be typed. The comment of an option is its help text. Nothing is looked up here.

mod choose;
mod export;
mod import;
mod packaging;
mod purge;
mod replay;
mod restore;
mod serve;
mod sim;
mod stored;
mod value;

use crate::console::Colour;
pub use choose::{AnswerArguments, ChooseArguments, DayArguments, PreferenceArgument, YesOrNo};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use experiment::request::OutputOptions as OutputArguments;
use experiment::request::Request;
pub use export::ExportArguments;
pub use import::{DriveKindArgument, ImportArguments, OperationArgument, TellingArguments};
pub use packaging::{CompletionsArguments, ManArguments};
pub use purge::{MethodArgument, PurgeArguments};
pub use replay::ReplayArguments;
use report::units::Units;
pub use restore::RestoreArguments;
pub use serve::ServeArguments;
pub use sim::{
    SimArguments, SimCommand, SimMountArguments, SimNewArguments, SimReproduceArguments, SimShowArguments,
    SimTruthArguments,
};
use std::path::PathBuf;
pub use stored::{
    CHART_LIST, CompareArguments, EstimateArguments, PlanArguments, ReportArguments, RunsArguments,
    ShowArguments, SizeArgument, StateArguments, WishArguments,
};

/// Measures a storage drive and concludes. Without a command: drivescope check
#[derive(Debug, Parser)]
#[command(name = "drivescope", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Arguments {
    /// What to do; `check .` when nothing is given.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Folder of stored runs [default: $XDG_DATA_HOME/drivescope]
    #[arg(long, global = true, env = "DRIVESCOPE_STORE", value_name = "FOLDER")]
    pub store: Option<PathBuf>,

    /// Colour of pages and of the live screen; auto: in a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        env = "DRIVESCOPE_COLOR",
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true
    )]
    pub color: Colour,

    /// Units of throughput and capacity on pages: MB/s and GB, or MiB/s and GiB
    #[arg(
        long,
        global = true,
        env = "DRIVESCOPE_UNITS",
        value_enum,
        default_value_t,
        value_name = "UNITS",
        hide_possible_values = true
    )]
    pub units: UnitsArgument,

    /// Print commands, options, defaults and values as JSON, and do nothing else
    // It is looked for before the rest is read, as --help is.
    #[arg(long, global = true)]
    pub help_json: bool,
}

/// Of pages; documents are in bytes and bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum UnitsArgument {
    #[default]
    Decimal,
    Binary,
}

impl UnitsArgument {
    pub fn units(self) -> Units {
        match self {
            UnitsArgument::Decimal => Units::Decimal,
            UnitsArgument::Binary => Units::Binary,
        }
    }
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one is made in the life of the program")]
pub enum Command {
    #[command(flatten)]
    Measure(Request),
    /// List drives, what uses them, and whether writes are allowed
    List(PageArguments),
    /// List the stored runs, newest first
    Runs(RunsArguments),
    /// Show a stored run, analysed again
    Show(ShowArguments),
    /// Replay a stored run on the live screen
    Replay(ReplayArguments),
    /// Import results of fio, bonnie++, CrystalDiskMark, HD Tune, …
    Import(ImportArguments),
    /// Compare runs: which drive is faster, or what became slower
    Compare(CompareArguments),
    /// Report runs as an HTML page or a chart (.svg, .png)
    Report(ReportArguments),
    /// Browse runs on localhost, live ones included (read-only)
    Serve(ServeArguments),
    /// Export runs as JSON, CSV, Parquet, fio, bonnie++, OpenMetrics
    Export(ExportArguments),
    /// Estimate the time of a backup, RAID rebuild (resilver) or scan
    Estimate(EstimateArguments),
    /// Plan partitions by throughput (prints, changes nothing)
    Plan(PlanArguments),
    /// Erase a drive: format, sanitize, secure erase, discard or zeroes
    Purge(PurgeArguments),
    /// Restore data that an interrupted --preserve run had saved
    Restore(RestoreArguments),
    /// Write history of a drive: writes, erases, idle times
    State(StateArguments),
    /// Choose CMR, SMR or SSD for a workload
    Choose(ChooseArguments),
    /// Virtual drives with known truth: list, show, mount, reproduce
    Sim(SimArguments),
    /// Show options set by configuration files and environment
    Config(PageArguments),
    /// Print completions of bash, zsh, fish and other shells
    Completions(CompletionsArguments),
    /// Write man pages to a folder
    // Only packagers need it.
    #[command(hide = true)]
    Man(ManArguments),
    /// Explain a command or a term: drivescope help queue depth
    Help(HelpArguments),
}

#[derive(Debug, Args)]
pub struct HelpArguments {
    /// Command or term of the glossary
    #[arg(value_name = "TOPIC")]
    pub topic: Vec<String>,

    /// JSON to a file, or - for stdout
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Where a page goes that is not a run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct PageArguments {
    /// JSON to a file, or - for stdout
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Plain text without colour, also in a terminal
    #[arg(long, env = "DRIVESCOPE_PLAIN")]
    pub plain: bool,
}
