//! The finding of capacity true.

use super::{Conclusion, Value};
use crate::estimate::Estimate;
use crate::units::Bytes;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityTrue {
    #[serde(skip)]
    pub capacity: Estimate,
    pub claimed_bytes: Bytes,
    pub past_the_end: PastTheEnd,
    /// How many offsets were probed; none where every block was written and compared.
    #[serde(skip)]
    pub probes: Option<usize>,
}

/// What happens to writes past the real end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PastTheEnd {
    Wraps,
    Lost,
    /// There is none: the capacity is as claimed.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityTrueUnknown {
    NothingCompared,
    OnlyPart { held_to: Bytes },
    TooFewLost { lost: usize, held_to: Bytes },
    NothingHeld,
    Redirected { first_byte: u64 },
}

impl Conclusion for CapacityTrue {
    type Unknown = CapacityTrueUnknown;

    fn value(&self) -> Value {
        Value::Number(self.capacity)
    }

    /// Between the last byte that was held and the first that was lost.
    fn is_bound(&self) -> bool {
        self.past_the_end != PastTheEnd::All
    }
}
