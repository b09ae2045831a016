//! `drivescope replay`: a stored run as it looked when it was made.

use super::args::ReplayArguments;
use super::stored::{analysed, store_with_runs};
use super::{output, output_file};
use crate::error::{UserError, exit};
use crate::export::document;
use crate::replay::player::{self, Ended, Playback};
use crate::screen::can_fill_terminal;
use crate::store::StoredRun;
use model::quantity_text::{parse_duration, parse_share};
use std::path::Path;

pub fn run(arguments: &ReplayArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if let Some(path) = &arguments.json {
        output_file::must_take_result(path, &[])?;
    }
    let speed = arguments.speed.as_deref().map(speed).transpose()?;
    let mut stored = analysed(&arguments.run, &store_with_runs(store)?)?;
    stored.run.environment.warnings.extend(stored.damage.iter().map(ToString::to_string));
    let from = match &arguments.at {
        Some(at) => share_of(at, &stored)?,
        None => 0.0,
    };
    let playback = Playback { speed: speed.unwrap_or(1.0), from };
    let ended = match !arguments.plain && can_fill_terminal() {
        true => player::on_screen(&stored, playback)?,
        false => in_lines(&stored, playback, speed.is_some())?,
    };
    if let Some(path) = &arguments.json {
        output::write_or_print(&document(&stored.run), path)?;
    }
    Ok(if ended == Ended::Broken { exit::INTERRUPTED } else { exit::SUCCESS })
}

fn in_lines(stored: &StoredRun, playback: Playback, is_paced: bool) -> Result<Ended, UserError> {
    output::say(&format!("replay of {}: {}", stored.run.id, stored.run.command));
    let ended = player::in_lines(stored, playback, is_paced)?;
    if ended == Ended::Left {
        let status = stored.run.status.name();
        output::say(&format!("the end: {status}. Findings: drivescope show {}", stored.run.id));
    }
    Ok(ended)
}

fn speed(text: &str) -> Result<f64, UserError> {
    match text.trim().trim_end_matches(['x', '×']).parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 => Ok(speed),
        _ => Err(UserError::usage(format!("--speed: {text:?} is not a factor above 0. Example: --speed 10"))),
    }
}

fn share_of(text: &str, stored: &StoredRun) -> Result<f64, UserError> {
    let total = crate::replay::Feed::new(stored).total();
    let share = match (parse_share(text), parse_duration(text)) {
        (Ok(share), _) => share,
        (_, Ok(time)) => time.as_f64() / total.get().max(1) as f64,
        _ => f64::NAN,
    };
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(UserError::usage(format!(
        "--at: {text:?} is not a time of this run, which took {}. Examples: --at 50%, --at 90s",
        report::quantity::rough_time(total)
    )))
}
