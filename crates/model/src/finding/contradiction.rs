//! The finding of contradictions: findings of one run that cannot both be true.

use super::{Conclusion, FindingCode, Value, ValueDocument};
use crate::estimate::Estimate;
use serde::Serialize;
use std::convert::Infallible;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contradictions {
    pub contradictions: Vec<Contradiction>,
}

/// Two findings, and why they exclude each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contradiction {
    pub kind: ContradictionKind,
    pub between: [Contradicting; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
}

/// What one of them said; it stands nowhere else in the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "ContradictingDocument")]
pub struct Contradicting {
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub code: FindingCode,
    #[cfg_attr(feature = "schema", schemars(with = "ValueDocument"))]
    pub value: Value,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ContradictingDocument {
    code: &'static str,
    value: ValueDocument,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
}

impl From<Contradicting> for ContradictingDocument {
    fn from(said: Contradicting) -> ContradictingDocument {
        let (value, low, high) = match said.value {
            Value::Word(word) => (ValueDocument::Text(word.into_owned()), None, None),
            Value::Number(estimate) => {
                (ValueDocument::Number(estimate.value), Some(estimate.low), Some(estimate.high))
            }
        };
        ContradictingDocument { code: said.code.name(), value, low, high }
    }
}

impl Conclusion for Contradictions {
    type Unknown = Infallible;

    fn value(&self) -> Value {
        Value::Number(Estimate::exact(self.contradictions.len() as f64))
    }
}
