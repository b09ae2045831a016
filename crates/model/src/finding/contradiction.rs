//! The finding of contradictions: findings of one run that cannot both be true.

use super::{Conclusion, FindingCode, Value};
use crate::estimate::Estimate;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::convert::Infallible;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contradictions {
    pub contradictions: Vec<Contradiction>,
}

/// Two findings, and why they exclude each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contradiction {
    pub kind: ContradictionKind,
    pub between: [Contradicting; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContradictionKind {
    /// Flash has nothing that rotates or seeks.
    FlashMoves,
    /// A random read waits for half a revolution on average.
    FasterThanRotation,
    /// A longer seek takes no less time than a shorter one.
    SeekOrder,
    /// Offsets of a stripe do not follow the tracks of one disk.
    StripeOnOneDisk,
    /// No read rate exceeds what the link carries.
    OverLink,
    /// No lasting rate exceeds the rate limit.
    OverLimit,
    /// Behind the cliff it writes at the rate limit, so that the limit explains the drop.
    CliffAtLimit,
}

/// What one of them said; it stands nowhere else in the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradicting {
    pub code: FindingCode,
    pub value: Value,
}

impl Serialize for Contradicting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_struct("Contradicting", 4)?;
        parts.serialize_field("code", self.code.name())?;
        match &self.value {
            Value::Word(word) => parts.serialize_field("value", word)?,
            Value::Number(estimate) => {
                parts.serialize_field("value", &estimate.value)?;
                parts.serialize_field("low", &estimate.low)?;
                parts.serialize_field("high", &estimate.high)?;
            }
        }
        parts.end()
    }
}

impl Conclusion for Contradictions {
    type Unknown = Infallible;

    fn value(&self) -> Value {
        Value::Number(Estimate::exact(self.contradictions.len() as f64))
    }
}
