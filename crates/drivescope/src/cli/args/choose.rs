//! Options of `choose`.

use super::PageArguments;
use clap::{Args, ValueEnum};

/// Options of `choose`.
#[derive(Debug, Args)]
pub struct ChooseArguments {
    /// Drives to weigh: runs of `sustain` and `surface` that are kept, by name, and virtual drives as sim:NAME
    #[arg(value_name = "RUN|sim:NAME")]
    pub drives: Vec<String>,

    /// What is asked of you.
    #[command(flatten)]
    pub answers: AnswerArguments,

    /// What you write.
    #[command(flatten)]
    pub day: DayArguments,

    /// Where the result goes.
    #[command(flatten)]
    pub page: PageArguments,
}

/// What is asked of you.
#[derive(Debug, Args)]
#[command(next_help_heading = "Your answers (what is missing is asked)")]
pub struct AnswerArguments {
    /// Whether the write rate may fall for a while
    #[arg(long, value_enum)]
    pub tolerate_fall: Option<YesOrNo>,

    /// Whether you can leave time between writes, or write in order and in large pieces
    #[arg(long, value_enum)]
    pub change_workload: Option<YesOrNo>,

    /// Whether a part of the capacity will do
    #[arg(long, value_enum)]
    pub clip: Option<YesOrNo>,

    /// What counts most
    #[arg(long, value_enum)]
    pub prefer: Option<PreferenceArgument>,
}

/// What you write.
#[derive(Debug, Args)]
#[command(next_help_heading = "Your writes (to tell how long they take on each drive)")]
pub struct DayArguments {
    /// What is written in a day
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub daily: Option<String>,

    /// What is written at once [default: all of a day's writes]
    #[arg(long, value_name = "SIZE", requires = "daily", allow_hyphen_values = true)]
    pub burst: Option<String>,

    /// How much of it goes to random places [default: 100%]
    #[arg(long, value_name = "PERCENT", requires = "daily", allow_hyphen_values = true)]
    pub random: Option<String>,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesOrNo {
    /// Yes
    Yes,
    /// No
    No,
}

/// What counts most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PreferenceArgument {
    /// Bytes for the money
    Cost,
    /// Speed
    Performance,
    /// The same speed at all times
    Steadiness,
}
