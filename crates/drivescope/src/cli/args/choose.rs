//! Options of `choose`.

use super::PageArguments;
use super::value::daily;
use clap::{Args, ValueEnum};
use model::quantity_text::parse_share;
use model::units::Bytes;

#[derive(Debug, Args)]
pub struct ChooseArguments {
    /// Drives to compare: stored runs of `sustain` and `surface`, or sim:NAME
    #[arg(value_name = "RUN|sim:NAME")]
    pub drives: Vec<String>,

    #[command(flatten)]
    pub answers: AnswerArguments,

    #[command(flatten)]
    pub day: DayArguments,

    #[command(flatten)]
    pub page: PageArguments,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Your answers (missing ones are asked)")]
pub struct AnswerArguments {
    /// May write throughput drop for a while?
    #[arg(long, value_enum)]
    pub tolerate_fall: Option<YesOrNo>,

    /// Can you leave idle time between writes, or write sequentially in large blocks?
    #[arg(long, value_enum)]
    pub change_workload: Option<YesOrNo>,

    /// Is part of the capacity enough?
    #[arg(long, value_enum)]
    pub clip: Option<YesOrNo>,

    /// What to prefer among drives that last: capacity per price, throughput, or constant throughput
    #[arg(long, value_enum)]
    pub prefer: Option<PreferenceArgument>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Your writes (to tell how long they take on each drive)")]
pub struct DayArguments {
    /// Bytes written per day, such as 200GB; gives the duration on each drive
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = daily)]
    pub daily: Option<Bytes>,

    /// Bytes per burst [default: all writes of the day]
    #[arg(long, value_name = "SIZE", requires = "daily", allow_hyphen_values = true, value_parser = daily)]
    pub burst: Option<Bytes>,

    /// Share of random writes [default: 100%]
    #[arg(long, value_name = "PERCENT", requires = "daily", allow_hyphen_values = true, value_parser = parse_share)]
    pub random: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesOrNo {
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PreferenceArgument {
    /// Most capacity for the price, even if writes are slow
    Cost,
    /// Highest mean write throughput, even if it varies
    Performance,
    /// Write throughput that stays the same over time
    Steadiness,
}
