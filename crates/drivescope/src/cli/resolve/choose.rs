//! What the options of `choose` mean.

use super::option;
use crate::cli::args::{AnswerArguments, ChooseArguments, DayArguments, PreferenceArgument, YesOrNo};
use crate::error::UserError;
use analysis::choice::{Answers, DayOfWrites, Preference};
use model::quantity_text::{parse_share, parse_size};
use model::units::Bytes;

/// A virtual drive is written to in virtual time, which takes a second of ours for some ten gigabytes.
const DAILY_MAX: Bytes = Bytes::new(2_000_000_000_000);

pub struct ChooseWish {
    pub answers: Answers,
    pub day: Option<DayOfWrites>,
}

pub fn choose(arguments: &ChooseArguments) -> Result<ChooseWish, UserError> {
    let day = day(&arguments.day)?;
    if day.is_none() && !arguments.drives.is_empty() {
        return Err(UserError::usage(
            "drives are weighed by how long your writes take on them. Say what you write: --daily 60GB --burst 40GB --random 20%",
        ));
    }
    if day.is_some() && arguments.drives.is_empty() {
        return Err(UserError::usage(
            "name the drives on which these writes are to be tried: runs that are kept, or virtual drives such as sim:smr-2tb \
             sim:sata-tlc-500gb sim:wd20ears (drivescope sim list)",
        ));
    }
    Ok(ChooseWish { answers: answers(&arguments.answers), day })
}

fn answers(typed: &AnswerArguments) -> Answers {
    let says = |answer: Option<YesOrNo>| answer.map(|answer| answer == YesOrNo::Yes);
    Answers {
        tolerates_fall: says(typed.tolerate_fall),
        changes_workload: says(typed.change_workload),
        clips: says(typed.clip),
        prefers: typed.prefer.map(|preference| match preference {
            PreferenceArgument::Cost => Preference::Cost,
            PreferenceArgument::Performance => Preference::Performance,
            PreferenceArgument::Steadiness => Preference::Steadiness,
        }),
    }
}

fn day(typed: &DayArguments) -> Result<Option<DayOfWrites>, UserError> {
    let amount = |text: &str| match parse_size(text)? {
        Bytes::ZERO => Err(UserError::usage("nothing written takes no time; give a size such as 60GB")),
        size if size > DAILY_MAX => {
            Err(UserError::usage(format!("{text} is more than the 2TB that are tried; give less")))
        }
        size => Ok(size),
    };
    let Some(daily) = option("--daily", typed.daily.as_deref(), amount)? else { return Ok(None) };
    let burst = option("--burst", typed.burst.as_deref(), amount)?.unwrap_or(daily).min(daily);
    let random_share =
        option("--random", typed.random.as_deref(), |text| Ok(parse_share(text)?))?.unwrap_or(1.0);
    Ok(Some(DayOfWrites { daily, burst, random_share }))
}
