//! Options of the commands that look at what is there, and measure nothing.

use super::value::{backup, budget, fast, parts, rate};
use super::{OutputArguments, PageArguments};
use analysis::plan::Wish;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use model::units::{Bytes, Nanos};
use report::chart::{CHART_KINDS, ChartKind};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct StateArguments {
    /// A device, a file, or a folder
    pub target: String,

    #[command(flatten)]
    pub page: PageArguments,
}

#[derive(Debug, Args)]
pub struct RunsArguments {
    /// All runs, not only the newest 20 (JSON always has all)
    #[arg(long)]
    pub all: bool,

    #[command(flatten)]
    pub page: PageArguments,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// Run: name, prefix of its name, or `last`
    #[arg(default_value = "last")]
    pub run: String,

    /// Draw all charts of the run below its findings
    #[arg(long)]
    pub charts: bool,

    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Runs: names, prefixes of names, or `last`
    #[arg(default_value = "last")]
    pub runs: Vec<String>,

    /// Output file: .html (report), .svg or .png (chart), .csv, .parquet or .json (findings)
    #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,

    /// Dark theme for the report or chart
    #[arg(long, env = "DRIVESCOPE_DARK")]
    pub dark: bool,

    /// Width of an .svg or .png chart
    #[arg(long, value_enum, default_value_t = SizeArgument::Forum)]
    pub size: SizeArgument,

    /// Chart to draw, in the terminal without -o; `list` lists the charts of these runs
    #[arg(long, value_name = "NAME", value_parser = chart_words())]
    pub chart: Option<String>,

    /// JSON of the files written to a file, or - for stdout
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Marks in the rate over position where `plan` would cut the drive.
    #[command(flatten, next_help_heading = "Partitions, marked in the rate over position of one run")]
    pub wish: WishArguments,

    /// Plain text without colour, also in a terminal
    #[arg(long, env = "DRIVESCOPE_PLAIN")]
    pub plain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SizeArgument {
    /// 1000 pixels wide, for forums and web pages
    Forum,
    /// Column of a paper, 85 mm wide
    Paper,
}

/// Instead of a chart: what there is to draw.
pub const CHART_LIST: &str = "list";

fn chart_words() -> PossibleValuesParser {
    let chart = |kind: &'static ChartKind| PossibleValue::new(kind.name).help(kind.shows);
    let list = PossibleValue::new(CHART_LIST).help("which of these there are of these runs");
    PossibleValuesParser::new(CHART_KINDS.iter().map(chart).chain([list]))
}

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Two or more runs: names, prefixes, or `last`; of one drive the earlier first
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub runs: Vec<String>,

    /// Chart of all runs: .svg or .png
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Dark theme for the chart file
    #[arg(long, requires = "output")]
    pub dark: bool,

    /// JSON of the comparison to a file, or - for stdout
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Plain text without colour, also in a terminal
    #[arg(long, env = "DRIVESCOPE_PLAIN")]
    pub plain: bool,
}

#[derive(Debug, Args)]
pub struct EstimateArguments {
    /// Runs, one for each drive: names, prefixes, or `last`
    #[arg(default_value = "last")]
    pub runs: Vec<String>,

    /// Time of one full read and one full write
    #[arg(long)]
    pub full_pass: bool,

    /// Time of a backup of this size to and from the drive
    #[arg(long, visible_alias = "image", value_name = "SIZE", allow_hyphen_values = true, value_parser = backup)]
    pub backup: Option<Bytes>,

    /// Offset of the backup on the drive [default: 0]
    #[arg(long, value_name = "OFFSET", requires = "backup", allow_hyphen_values = true)]
    pub from: Option<Bytes>,

    /// Time of a RAID rebuild (resilver) after replacing a drive
    #[arg(long)]
    pub rebuild: bool,

    /// IOPS at which p99 latency stays within this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = budget)]
    pub latency_budget: Option<Nanos>,

    /// Time of one surface scan: reading, or writing and verifying, every block
    #[arg(long)]
    pub surface_check: bool,

    #[command(flatten)]
    pub page: PageArguments,
}

#[derive(Debug, Args)]
pub struct PlanArguments {
    /// Run: name, prefix of its name, or `last`
    #[arg(default_value = "last")]
    pub run: String,

    /// How to cut; without any of these the fastest tenth is one partition.
    #[command(flatten)]
    pub wish: WishArguments,

    /// Chart of the partitions: .svg or .png
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub page: PageArguments,
}

/// How to cut a drive into partitions.
#[derive(Debug, Args)]
pub struct WishArguments {
    /// Fastest share as one partition, such as 10%
    #[arg(long, value_name = "PERCENT", group = "wish", allow_hyphen_values = true, value_parser = fast)]
    pub fast: Option<Wish>,

    /// All LBAs at least this fast as one partition, such as 150MB/s
    #[arg(long, value_name = "RATE", group = "wish", allow_hyphen_values = true, value_parser = rate)]
    pub at_least: Option<Wish>,

    /// Number of partitions of equal size
    #[arg(long, value_name = "NUMBER", group = "wish", allow_hyphen_values = true, value_parser = parts)]
    pub parts: Option<Wish>,
}

impl WishArguments {
    pub fn wish(&self) -> Option<Wish> {
        self.at_least.or(self.parts).or(self.fast)
    }
}
