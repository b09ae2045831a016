//! `drivescope replay`: a stored run as it was seen when it was made.

use super::args::ReplayArguments;
use super::output;
use super::stored::{analysed, store_with_runs};
use crate::error::{UserError, exit};
use crate::replay::player::{self, Ended, Wanted};
use crate::screen::can_fill_terminal;
use crate::store::StoredRun;
use model::quantity_text::{parse_duration, parse_share};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run, it cannot be read, or an option makes no sense.
pub fn run(arguments: &ReplayArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let speed = arguments.speed.as_deref().map(speed).transpose()?;
    let mut stored = analysed(&arguments.run, &store_with_runs(store)?)?;
    stored.run.environment.warnings.extend(stored.damage.iter().cloned());
    let from = arguments.at.as_deref().map_or(Ok(0.0), |at| share_of(at, &stored))?;
    let wanted = Wanted { speed: speed.unwrap_or(1.0), from };
    let ended = match !arguments.plain && can_fill_terminal() {
        true => player::on_screen(&stored, wanted)?,
        false => in_lines(&stored, wanted, speed.is_some())?,
    };
    Ok(if ended == Ended::Broken { exit::INTERRUPTED } else { exit::SUCCESS })
}

fn in_lines(stored: &StoredRun, wanted: Wanted, is_paced: bool) -> Result<Ended, UserError> {
    output::say(&format!("replay of {}: {}", stored.run.id, stored.run.command));
    let ended = player::in_lines(stored, wanted, is_paced)?;
    if ended == Ended::Left {
        let status = stored.run.status.name();
        output::say(&format!("the end: {status}. What was found: drivescope show {}", stored.run.id));
    }
    Ok(ended)
}

fn speed(text: &str) -> Result<f64, UserError> {
    let number = text.trim().trim_end_matches(['x', '×']).parse::<f64>().ok();
    number.filter(|speed| speed.is_finite() && *speed > 0.0).ok_or_else(|| {
        UserError::usage(format!("--speed: {text:?} is no factor above 0. Example: --speed 10"))
    })
}

/// A share of the run, or a time in it as such.
fn share_of(text: &str, stored: &StoredRun) -> Result<f64, UserError> {
    let total = crate::replay::Feed::new(stored).total();
    let share = parse_share(text).ok();
    let by_time = || parse_duration(text).ok().map(|time| time.0 as f64 / total.0.max(1) as f64);
    share.or_else(by_time).filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        UserError::usage(format!(
            "--at: {text:?} is no moment of this run, which took {}. Examples: --at 50%, --at 90s",
            report::quantity::rough_time(total)
        ))
    })
}
