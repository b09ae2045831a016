//! What the options of `sustain` mean.

use super::super::args::{SustainArguments, SustainLoadArguments, UntilArgument};
use super::{Resolved, experiment, list, option, quoted};
use crate::error::UserError;
use crate::experiment::sustain::{SustainWish, Until};
use model::quantity_text::{parse_duration, parse_share, parse_size};
use model::units::{Bytes, Nanos};
use model::workload::{BLOCK_BYTES_MAX, OperationMix, Pattern};

/// Reads the options of `sustain`.
///
/// # Errors
/// As [`super::check`].
pub fn sustain(arguments: &SustainArguments) -> Result<(Resolved, SustainWish), UserError> {
    let SustainArguments { experiment: typed, load, writing } = arguments;
    let wish = wish(load)?;
    Ok((experiment("sustain", &words(load), typed, Some(writing))?, wish))
}

fn wish(load: &SustainLoadArguments) -> Result<SustainWish, UserError> {
    let usual = SustainWish::default();
    let block = option("--block", load.block.as_deref(), block)?;
    let read = option("--read", load.read.as_deref(), |text| share_below_all(text, "no writes"))?;
    Ok(SustainWish {
        pattern: option("--pattern", load.pattern.as_deref(), pattern)?.unwrap_or(usual.pattern),
        block: block.unwrap_or(usual.block),
        depth: load.depth.unwrap_or(usual.depth),
        mix: read.map_or(usual.mix, |read_share| OperationMix::ReadWrite { read_share }),
        bytes: option("--bytes", load.bytes.as_deref(), |text| Ok(parse_size(text)?))?,
        endurance: option("--endurance", load.endurance.as_deref(), |text| {
            share_below_all(text, "no drive that goes on working")
        })?,
        until: match load.until {
            UntilArgument::Fall => Until::Fall,
            UntilArgument::Levels => Until::Levels,
            UntilArgument::Steady => Until::Steady,
        },
        rests: list("--idle", &load.idle, rest)?,
        clip: list("--clip", &load.clip, part)?,
        drain: load.drain,
    })
}

/// The words that ask for it again.
fn words(load: &SustainLoadArguments) -> Vec<String> {
    let mut words = Vec::new();
    let options = [
        ("--pattern", load.pattern.clone()),
        ("--block", load.block.clone()),
        ("--depth", load.depth.map(|depth| depth.to_string())),
        ("--read", load.read.clone()),
        ("--bytes", load.bytes.clone()),
        ("--endurance", load.endurance.clone()),
        ("--until", until(load.until).map(str::to_string)),
    ];
    for (name, value) in options {
        words.extend(value.into_iter().flat_map(|value| [name.to_string(), quoted(&value)]));
    }
    if !load.idle.is_empty() {
        words.push(format!("--idle={}", quoted(&load.idle.join(","))));
    }
    if !load.clip.is_empty() {
        words.push(format!("--clip={}", quoted(&load.clip.join(","))));
    }
    words.extend(load.drain.then(|| "--drain".to_string()));
    words
}

/// The word for it; none for what is usual.
fn until(until: UntilArgument) -> Option<&'static str> {
    match until {
        UntilArgument::Fall => None,
        UntilArgument::Levels => Some("levels"),
        UntilArgument::Steady => Some("steady"),
    }
}

fn pattern(text: &str) -> Result<Pattern, UserError> {
    let wrong = || UserError::usage(format!("`{text}` is none of random, sequential and mixed:30%"));
    match text {
        "random" => Ok(Pattern::RandomWithReplacement),
        "sequential" => Ok(Pattern::Sequential),
        _ => {
            let share = text.strip_prefix("mixed:").ok_or_else(wrong)?;
            Ok(Pattern::Mixed { random_share: parse_share(share)? })
        }
    }
}

fn block(text: &str) -> Result<Bytes, UserError> {
    match parse_size(text)? {
        Bytes(0) => Err(UserError::usage("a block of no bytes writes nothing; give a size such as 128KiB")),
        size if size > BLOCK_BYTES_MAX => {
            Err(UserError::usage(format!("{text} is above the largest request, {BLOCK_BYTES_MAX}")))
        }
        size => Ok(size),
    }
}

fn share_below_all(text: &str, leaves: &str) -> Result<f64, UserError> {
    match parse_share(text)? {
        share if share > 0.0 && share < 1.0 => Ok(share),
        share if share >= 1.0 => {
            Err(UserError::usage(format!("{text} leaves {leaves}; give less than 100%")))
        }
        _ => Err(UserError::usage(format!("{text} is nothing; give a share such as 30%"))),
    }
}

fn part(text: &str) -> Result<f64, UserError> {
    match parse_share(text)? {
        share if share > 0.0 => Ok(share),
        _ => Err(UserError::usage(format!("{text} leaves nothing to write to; give parts such as 100%,50%"))),
    }
}

fn rest(text: &str) -> Result<Nanos, UserError> {
    match parse_duration(text)? {
        Nanos::ZERO => {
            Err(UserError::usage("a rest of no time gives nothing back; give times such as 1s,5s"))
        }
        rest => Ok(rest),
    }
}
