//! What `valleys` is asked for.

use crate::request::DriveOptions;
use clap::{Args, ValueEnum, value_parser};
use model::quantity_text::{QuantityError, duration_text, parse_duration, parse_size, size_text};
use model::range_choice::RangeChoice;
use model::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What is done before, and how the drive is passed over. What is not given stands for its default.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Passes")]
#[serde(default)]
pub struct ValleysRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,

    /// Conditioning before passes: none, mixed, mixed:10min, mixed:50GB, random:50GB, sequential:8MiB, erase, halves (mixed on one half,
    /// the other filled with 8 MiB), icf:FILE, plan:ExperimentName::Valleys, or plan:ExperimentName::Valleys:10min for so long each step. Of several, each with its passes: a table of what cures [default: none]
    #[arg(long, visible_alias = "conditions", value_name = "LIST", value_delimiter = ',')]
    pub condition: Vec<Condition>,

    /// Block sizes of passes, 64KiB to 16MiB [default: 64KiB]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub blocks: Vec<Bytes>,

    /// Passes over each area [default: until stable, at most 10, more over small areas up to 192 GiB in all; 3 after each of several conditions]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub passes: Option<u32>,

    /// Areas: whole, halves (one after the other), or ranges such as 0%..25%,25%..50% [default: whole; of large drives the first 128 GiB]
    #[arg(long, value_name = "AREAS", value_delimiter = ',')]
    pub over: Vec<Area>,

    /// Coverage of a pass [default: everything up to 64 GiB]
    #[arg(long, value_enum)]
    pub way: Option<Way>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Condition {
    None,
    /// Half random, half sequential writes of 4 to 64 KiB.
    Mixed(Amount),
    /// Random writes of 16 KiB, of this amount in all.
    Random(Amount),
    /// All of it once in order, in blocks of that size.
    Sequential(Bytes),
    /// Discarded, or overwritten with zeroes where it takes no discards.
    Erase,
    /// Mixed writes on the first half, the other in order in large blocks.
    Halves,
    /// The steps of a plan or file of patterns, each for so long if it has no end of its own.
    Plan {
        name: String,
        each: Option<Nanos>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Half of what the area holds: after it, more changes little.
    HalfOfArea,
    Bytes(Bytes),
    Time(Nanos),
}

impl Amount {
    pub(super) fn part(self, share: f64) -> Amount {
        match self {
            Amount::HalfOfArea => Amount::HalfOfArea,
            Amount::Bytes(bytes) => Amount::Bytes(Bytes::new((bytes.as_f64() * share) as u64)),
            Amount::Time(time) => Amount::Time(Nanos::new((time.as_f64() * share) as u64)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Area {
    Whole,
    Halves,
    Part(RangeChoice),
}

/// How a pass goes over its area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// 30 % of each of 16 regions, at most 64 GiB in all
    // As HD Tune does.
    Crossing,
    /// Every block of the area once, in order
    // As HD Tach does.
    Everything,
}

impl FromStr for Condition {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Condition, QuantityError> {
        let (what, how) = match text.split_once(':') {
            Some((what, how)) => (what, Some(how)),
            None => (text, None),
        };
        match (what, how) {
            ("none", None) => Ok(Condition::None),
            ("erase", None) => Ok(Condition::Erase),
            ("halves", None) => Ok(Condition::Halves),
            ("mixed", how) => Ok(Condition::Mixed(amount(how)?)),
            ("random", how) => Ok(Condition::Random(amount(how)?)),
            ("sequential" | "seq", Some(block)) => Ok(Condition::Sequential(parse_size(block)?)),
            ("icf" | "plan", Some(plan)) => plan_condition(plan),
            _ => Err(QuantityError {
                text: text.to_string(),
                expected: "one of none, mixed, mixed:10min, mixed:50GB, random:50GB, sequential:8MiB, erase, halves, icf:FILE and \
                           plan:NAME",
            }),
        }
    }
}

/// A plan by name or file, and after a colon how long each step is done.
fn plan_condition(text: &str) -> Result<Condition, QuantityError> {
    if let Some((name, time)) = text.rsplit_once(':')
        && let Ok(each) = parse_duration(time)
    {
        if each == Nanos::ZERO {
            return Err(QuantityError {
                text: text.to_string(),
                expected: "a step of some time, such as 10min",
            });
        }
        return Ok(Condition::Plan { name: name.to_string(), each: Some(each) });
    }
    Ok(Condition::Plan { name: text.to_string(), each: None })
}

fn amount(text: Option<&str>) -> Result<Amount, QuantityError> {
    let Some(text) = text else { return Ok(Amount::HalfOfArea) };
    match (parse_size(text), parse_duration(text)) {
        (Ok(bytes), _) if bytes > Bytes::ZERO => Ok(Amount::Bytes(bytes)),
        (_, Ok(time)) if time > Nanos::ZERO => Ok(Amount::Time(time)),
        _ => Err(QuantityError {
            text: text.to_string(),
            expected: "a size such as 50GB or a time such as 10min, and not zero",
        }),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::None => formatter.write_str("none"),
            Condition::Mixed(amount) => write!(formatter, "mixed{amount}"),
            Condition::Random(amount) => write!(formatter, "random{amount}"),
            Condition::Sequential(block) => write!(formatter, "sequential:{}", size_text(*block)),
            Condition::Erase => formatter.write_str("erase"),
            Condition::Halves => formatter.write_str("halves"),
            Condition::Plan { name, each: None } => write!(formatter, "plan:{name}"),
            Condition::Plan { name, each: Some(each) } => {
                write!(formatter, "plan:{name}:{}", duration_text(*each))
            }
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::HalfOfArea => Ok(()),
            Amount::Bytes(bytes) => write!(formatter, ":{}", size_text(*bytes)),
            // Here `10m` is a size.
            Amount::Time(time) => match duration_text(*time).strip_suffix('m') {
                Some(minutes) => write!(formatter, ":{minutes}min"),
                None => write!(formatter, ":{}", duration_text(*time)),
            },
        }
    }
}

impl FromStr for Area {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Area, QuantityError> {
        match text {
            "whole" => Ok(Area::Whole),
            "halves" => Ok(Area::Halves),
            part => Ok(Area::Part(part.parse()?)),
        }
    }
}

impl fmt::Display for Area {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Area::Whole => formatter.write_str("whole"),
            Area::Halves => formatter.write_str("halves"),
            Area::Part(range) => range.fmt(formatter),
        }
    }
}

model::stored_as_text!(Condition);

model::stored_as_text!(Area);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let read = |text: &str| text.parse::<Condition>().unwrap();
        assert_eq!(read("mixed"), Condition::Mixed(Amount::HalfOfArea));
        assert_eq!(read("mixed:10min"), Condition::Mixed(Amount::Time(Nanos::from_secs(600))));
        assert_eq!(read("random:50GB"), Condition::Random(Amount::Bytes(Bytes::new(50_000_000_000))));
        assert_eq!(read("seq:8MiB"), Condition::Sequential(Bytes::from_mib(8)));
        let each = Some(Nanos::from_secs(600));
        assert_eq!(read("plan:mixed-writes:10min"), Condition::Plan { name: "mixed-writes".into(), each });
        for text in ["none", "mixed:10min", "random:50GB", "erase", "halves", "plan:a:b.icf", "plan:x:10m"] {
            assert_eq!(read(text).to_string(), text);
        }
        for wrong in
            ["", "mix", "mixed:", "mixed:0GB", "sequential", "erase:1", "icf", "plan:mixed-writes:0s"]
        {
            assert!(wrong.parse::<Condition>().is_err(), "{wrong}");
        }
    }
}
