//! What the options of `valleys` mean.

use super::super::args::{PassArguments, ValleysArguments, WayArgument};
use super::{Resolved, experiment, list, quoted};
use crate::error::UserError;
use crate::experiment::valleys::{Amount, Condition, Over, Part, ValleysWish, Way};
use crate::pattern_file::{self, Stop};
use crate::target_choice::{RangeChoice, parse_range};
use model::quantity_text::{parse_duration, parse_size};
use model::units::{Bytes, Nanos};

/// Reads the options of `valleys`.
///
/// # Errors
/// As [`super::check`].
pub fn valleys(arguments: &ValleysArguments) -> Result<(Resolved, ValleysWish), UserError> {
    let ValleysArguments { experiment: typed, passes, writing } = arguments;
    let wish = wish(passes)?;
    Ok((experiment("valleys", &words(passes), typed, Some(writing))?, wish))
}

/// Access specifications mostly say of no time: for each then as long as drives were conditioned with them.
const SPECIFICATION: Nanos = Nanos::from_secs(600);

fn wish(passes: &PassArguments) -> Result<ValleysWish, UserError> {
    Ok(ValleysWish {
        conditions: list("--condition", &passes.condition, condition)?,
        blocks: list("--blocks", &passes.blocks, |text| Ok(parse_size(text)?))?,
        passes: passes.passes,
        over: over(&passes.over)?,
        way: passes.way.map(|way| match way {
            WayArgument::Crossing => Way::Crossing,
            WayArgument::Everything => Way::Everything,
        }),
    })
}

/// The words that ask for it again.
fn words(passes: &PassArguments) -> Vec<String> {
    let mut words = Vec::new();
    for (name, typed) in
        [("--condition", &passes.condition), ("--blocks", &passes.blocks), ("--over", &passes.over)]
    {
        if !typed.is_empty() {
            words.extend([name.to_string(), quoted(&typed.join(","))]);
        }
    }
    words.extend(passes.passes.into_iter().flat_map(|passes| ["--passes".into(), passes.to_string()]));
    let way = passes.way.map(|way| match way {
        WayArgument::Crossing => "crossing",
        WayArgument::Everything => "everything",
    });
    words.extend(way.into_iter().flat_map(|way| ["--way".to_string(), way.into()]));
    words
}

fn over(texts: &[String]) -> Result<Over, UserError> {
    match texts {
        [] => Ok(Over::Whole),
        [one] if one == "whole" => Ok(Over::Whole),
        [one] if one == "halves" => Ok(Over::Halves),
        parts => list("--over", parts, |text| {
            Ok(match parse_range(text)? {
                RangeChoice::Bytes(from, to) => Part::Bytes(from, to),
                RangeChoice::Shares(from, to) => Part::Shares(from, to),
            })
        })
        .map(Over::Parts),
    }
}

fn condition(text: &str) -> Result<Condition, UserError> {
    let wrong = || {
        UserError::usage(format!(
            "`{text}` is none of none, mixed, mixed:10min, mixed:50GB, random:50GB, sequential:8MiB, erase, halves, \
             icf:FILE and plan:NAME"
        ))
    };
    let (what, how) = text.split_once(':').map_or((text, None), |(what, how)| (what, Some(how)));
    match (what, how) {
        ("none", None) => Ok(Condition::None),
        ("erase", None) => Ok(Condition::Erase),
        ("halves", None) => Ok(Condition::Halves),
        ("mixed", how) => Ok(Condition::Mixed(amount(how)?)),
        ("random", how) => Ok(Condition::Random(amount(how)?)),
        ("sequential" | "seq", Some(block)) => Ok(Condition::Sequential(parse_size(block)?)),
        ("icf" | "plan", Some(file)) => file_condition(file),
        _ => Err(wrong()),
    }
}

/// A file of patterns or a plan by name, and after a colon how long each step is done.
fn file_condition(text: &str) -> Result<Condition, UserError> {
    let timed = text.rsplit_once(':').and_then(|(name, time)| Some((name, parse_duration(time).ok()?)));
    let (name, each) = timed.map_or((text, None), |(name, time)| (name, Some(time)));
    if each == Some(Nanos::ZERO) {
        return Err(UserError::usage("a step of no time changes nothing; give a time such as 10min"));
    }
    let file = pattern_file::find(name).map_err(|error| UserError::usage(error.to_string()))?;
    let is_endless = file.steps.iter().any(|step| step.stop == Stop::default());
    let each = each.or(is_endless.then_some(SPECIFICATION));
    Ok(Condition::File(file, each))
}

fn amount(text: Option<&str>) -> Result<Amount, UserError> {
    let Some(text) = text else { return Ok(Amount::HalfOfArea) };
    match (parse_size(text), parse_duration(text)) {
        (Ok(Bytes(0)), _) | (_, Ok(Nanos::ZERO)) => {
            Err(UserError::usage("nothing would be written; give 10min or 50GB"))
        }
        (Ok(bytes), _) => Ok(Amount::Bytes(bytes)),
        (_, Ok(time)) => Ok(Amount::Time(time)),
        (Err(_), Err(_)) => {
            Err(UserError::usage(format!("`{text}` is neither a size such as 50GB nor a time such as 10min")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let read = |text: &str| condition(text).unwrap();
        assert_eq!(read("mixed"), Condition::Mixed(Amount::HalfOfArea));
        assert_eq!(read("mixed:10min"), Condition::Mixed(Amount::Time(Nanos::from_secs(600))));
        assert_eq!(read("random:50GB"), Condition::Random(Amount::Bytes(Bytes(50_000_000_000))));
        assert_eq!(read("seq:8MiB"), Condition::Sequential(Bytes::from_mib(8)));
        let Condition::File(file, each) = read("plan:mixed-writes:10min") else {
            panic!("a plan that ships")
        };
        assert_eq!((file.name.as_str(), each), ("mixed-writes", Some(Nanos::from_secs(600))));
        for wrong in [
            "",
            "mix",
            "mixed:",
            "mixed:0GB",
            "sequential",
            "erase:1",
            "icf",
            "icf:absent.icf",
            "plan:absent",
            "plan:mixed-writes:0s",
        ] {
            assert!(condition(wrong).is_err(), "{wrong}");
        }
    }
}
