//! Options of the commands that look at what is there, and measure nothing.

use super::{OutputArguments, PageArguments};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use report::chart::{CHART_KINDS, ChartKind};
use std::path::PathBuf;

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

    /// Draw all there is to draw of it, too
    #[arg(long)]
    pub charts: bool,

    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Options of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The runs: their names, the beginnings of their names, or `last`
    #[arg(default_value = "last")]
    pub runs: Vec<String>,

    /// The file to write; its ending says what it becomes: .html a page with everything, .svg or .png a picture, .csv, .parquet or .json what was found
    #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,

    /// Light on dark
    #[arg(long)]
    pub dark: bool,

    /// For what a picture is made
    #[arg(long, value_enum, default_value_t = SizeArgument::Forum)]
    pub size: SizeArgument,

    /// What to draw, to the terminal without -o; `list` says what there is to draw of these runs
    #[arg(long, value_name = "NAME", value_parser = chart_words())]
    pub chart: Option<String>,

    /// Marks in the rate over position where `plan` would cut the drive.
    #[command(flatten, next_help_heading = "Partitions, marked in the rate over position of one run")]
    pub wish: WishArguments,

    /// Plain text without colour
    #[arg(long)]
    pub plain: bool,
}

/// Sizes of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SizeArgument {
    /// 1000 pixels across
    Forum,
    /// A column of a paper, 85 mm across
    Paper,
}

/// Instead of a chart: what there is to draw.
pub const CHART_LIST: &str = "list";

/// The words after `--chart`.
fn chart_words() -> PossibleValuesParser {
    let chart = |kind: &'static ChartKind| PossibleValue::new(kind.name).help(kind.shows);
    let list = PossibleValue::new(CHART_LIST).help("which of these there are of these runs");
    PossibleValuesParser::new(CHART_KINDS.iter().map(chart).chain([list]))
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

    /// How to cut; without any of these the fastest tenth is one partition.
    #[command(flatten)]
    pub wish: WishArguments,

    /// A picture of the rates with the partitions, .svg or .png
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Where the result goes.
    #[command(flatten)]
    pub page: PageArguments,
}

/// How to cut a drive into partitions.
#[derive(Debug, Args)]
pub struct WishArguments {
    /// The fastest part of the drive as one partition, the rest as another, such as 10%
    #[arg(long, value_name = "PERCENT", group = "wish", allow_hyphen_values = true)]
    pub fast: Option<String>,

    /// Everything that is at least this fast as one partition, such as 150MB/s
    #[arg(long, value_name = "RATE", group = "wish", allow_hyphen_values = true)]
    pub at_least: Option<String>,

    /// So many partitions of about the same size
    #[arg(long, value_name = "NUMBER", group = "wish", allow_hyphen_values = true)]
    pub parts: Option<String>,
}
