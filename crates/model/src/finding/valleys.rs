//! Findings of periodic stalls.

use super::{Conclusion, Value};
use crate::estimate::Estimate;
use crate::units::Bytes;
use serde::{Serialize, Serializer};
use std::convert::Infallible;
use std::fmt;

concludes! {
    WriteValleys(it): WriteValleysUnknown => Estimate::exact(it.count as f64);
}

/// Valleys: short drops of sequential write throughput that recur.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteValleys {
    #[serde(skip)]
    pub count: u64,
    #[serde(flatten)]
    pub pattern: ValleyPattern,
    /// Drops that lasted for longer than valleys do.
    pub long_falls: u64,
    /// Only where the last pass was much slower than the first.
    #[serde(flatten)]
    pub lasting_fall: Option<LastingFall>,
    pub passes: Vec<ValleyPass>,
    /// Series of passes, by what was done before them.
    #[serde(skip)]
    pub conditions: usize,
}

/// Mean throughput of whole passes, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LastingFall {
    pub first_pass_bytes_per_second: f64,
    pub last_pass_bytes_per_second: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ValleyPattern {
    None(NoValleys),
    AtOffsets(OffsetValleys),
    Recurring(RecurringValleys),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoValleys {
    #[serde(skip)]
    pub kind: NoValleysKind,
    #[serde(skip)]
    pub passes: usize,
    #[serde(skip)]
    pub bytes: u64,
    #[serde(skip)]
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoValleysKind {
    Even,
    /// Drops come only at the start of each pass, wherever that is.
    OnlyAtStart,
    Ripple {
        per_second: f64,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffsetValleys {
    pub width_s: f64,
    pub width_s_low: f64,
    pub width_s_high: f64,
    pub depth_ratio: f64,
    pub by: ValleyTrigger,
    #[serde(rename = "places")]
    pub offsets: Vec<u64>,
    pub test: OffsetTest,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffsetTest {
    pub falls: u64,
    pub there_before: u64,
    pub by_chance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecurringValleys {
    pub interval_s: f64,
    pub interval_s_low: f64,
    pub interval_s_high: f64,
    pub interval_bytes: f64,
    pub interval_bytes_low: f64,
    pub interval_bytes_high: f64,
    pub width_s: f64,
    pub width_s_low: f64,
    pub width_s_high: f64,
    /// What is left of throughput inside a valley.
    pub depth_ratio: f64,
    pub by: ValleyTrigger,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes_to_stable: Option<usize>,
    pub test: RhythmTest,
    #[serde(skip)]
    pub is_pass_short: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RhythmTest {
    pub variation_in_time: f64,
    pub variation_in_bytes: f64,
    pub gaps: usize,
    pub t: f64,
    pub as_even_by_chance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ValleyTrigger {
    Time,
    Bytes,
    Place,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValleyPass {
    /// Passes with the same conditioning, from 1.
    pub group: usize,
    pub block_bytes: Bytes,
    pub slowed: bool,
    pub first_byte: u64,
    pub end_byte: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub bytes_per_second: f64,
    pub valleys: u64,
    pub width_s: f64,
    pub lost_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteValleysUnknown {
    NoTime,
    NothingWritten,
    /// Throughput was too uneven, for this share of the time.
    Uneven {
        share: f64,
    },
    TooFew {
        count: u64,
    },
    /// Drops per minute are as frequent while only reading.
    AlsoWhenReading {
        reading: f64,
        writing: f64,
    },
    Irregular {
        count: u64,
    },
    NotCompared,
    /// They leave that share of the rate, which neither the rate-limited pass nor, perhaps, reads can show.
    Shallow {
        depth_ratio: f64,
    },
    /// At the start of each pass: a slow region, or the return to it.
    AtStart {
        count: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValleyCure {
    #[serde(flatten)]
    pub cure: Cure,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<CureArea>,
    pub conditions: Vec<CureCondition>,
    /// Whether anything but further passes was tried.
    #[serde(skip)]
    pub is_treated: bool,
    /// The pass in which valleys are back after a fill or an erase.
    #[serde(skip)]
    pub returns_in_pass: Option<usize>,
    #[serde(skip)]
    pub narrowed: Option<Narrowed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Cure {
    Fill { block_bytes: u64 },
    Passes { block_bytes: u64, passes: usize },
    Erase {},
    None {},
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CureArea {
    #[serde(rename = "what is written")]
    Written,
    #[serde(rename = "the whole drive")]
    WholeDrive,
}

/// Widths of the valleys in passes that made them narrower.
#[derive(Clone, Debug, PartialEq)]
pub struct Narrowed {
    pub block: Bytes,
    pub widths_s: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CureCondition {
    #[serde(serialize_with = "joined")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub after: Vec<Treatment>,
    pub block_bytes: u64,
    pub first_byte: u64,
    pub end_byte: u64,
    pub passes: usize,
    pub valleys_first: u64,
    pub valleys_last: u64,
    pub width_first_s: f64,
    pub width_last_s: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Treatment {
    Discard(Bytes),
    Zeroes(Bytes),
    Sequential { bytes: Bytes, block: Bytes },
    Mixed(Bytes),
    Random(Bytes),
    Other(String),
}

impl fmt::Display for Treatment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Treatment::Discard(bytes) => write!(formatter, "{bytes} discarded"),
            Treatment::Zeroes(bytes) => write!(formatter, "{bytes} zeroes"),
            Treatment::Sequential { bytes, block } => write!(formatter, "{bytes} sequential, {block} blocks"),
            Treatment::Mixed(bytes) => write!(formatter, "{bytes} mixed"),
            Treatment::Random(bytes) => write!(formatter, "{bytes} random"),
            Treatment::Other(name) => formatter.write_str(name),
        }
    }
}

fn joined<S: Serializer>(treatments: &[Treatment], serializer: S) -> Result<S::Ok, S::Error> {
    if treatments.is_empty() {
        return serializer.serialize_str("nothing");
    }
    let names: Vec<String> = treatments.iter().map(Treatment::to_string).collect();
    serializer.serialize_str(&names.join(", then "))
}

impl Conclusion for ValleyCure {
    type Unknown = Infallible;

    fn value(&self) -> Value {
        let word = match self.cure {
            Cure::Fill { .. } => "fill",
            Cure::Passes { .. } => "passes",
            Cure::Erase {} => "erase",
            Cure::None {} => "none",
        };
        Value::Word(word.into())
    }
}
