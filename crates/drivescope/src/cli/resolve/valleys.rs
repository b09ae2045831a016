//! What the options of `valleys` mean.

use super::super::args::{PassArguments, ValleysArguments, WayArgument};
use super::{Resolved, experiment, list, quoted};
use crate::error::UserError;
use crate::experiment::valleys::{Amount, Condition, Over, Part, ValleysWish, Way};
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
            "`{text}` is none of none, mixed, mixed:10min, mixed:50GB, random:50GB, sequential:8MiB, erase and halves"
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
        ("icf", _) => Err(UserError::usage(
            "access specifications of Iometer cannot be read yet; give mixed:10min or the like",
        )),
        _ => Err(wrong()),
    }
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
        for wrong in ["", "mix", "mixed:", "mixed:0GB", "sequential", "erase:1", "icf:boot.icf"] {
            assert!(condition(wrong).is_err(), "{wrong}");
        }
    }
}
