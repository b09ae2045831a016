//! The finding of a rate limit with burst credit.

use super::{Conclusion, Name, Value};
use crate::estimate::Estimate;
use crate::units::Bytes;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LimitedBy {
    Requests,
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LimitedOperations {
    Reads,
    Writes,
    /// They share one bucket, since the deficit of both together stands still.
    Both,
}

/// A token bucket between host and drive: credit that is used up at once, and the rate at which it comes back.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateLimit {
    /// Per second, in what it counts.
    #[serde(skip)]
    pub sustained: Estimate,
    pub by: LimitedBy,
    /// Of requests: a larger one counts as one for each part of so many bytes that it begins. None where all measured counted as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_bytes: Option<Bytes>,
    pub operations: LimitedOperations,
    /// The most that it held during the run, by what was used and what came back.
    pub credit: f64,
    pub credit_low: f64,
    /// Far above `credit` where larger requests than any that met the limit may have counted as several.
    pub credit_high: f64,
    /// Whether requests larger than any that met the limit may count as several: nothing that was used excludes it.
    #[serde(rename = "larger_may_count_several", skip_serializing_if = "std::ops::Not::not")]
    pub may_count_several: bool,
    /// Whether it may have been full when the run began. If not, a full one holds more.
    pub may_have_been_full: bool,
    /// The highest rate seen while credit was left, per second.
    pub burst: f64,
    /// How long an idle drive takes to win that credit back.
    pub refill_s: f64,
    /// For how long of the run the rate was the sustained one.
    pub limited_s: f64,
}

impl RateLimit {
    /// What of a request of that size one unit of what is counted pays for, in bytes.
    pub fn bytes_each(&self, block: Bytes) -> f64 {
        match (self.by, self.counted_bytes) {
            (LimitedBy::Bytes, _) => 1.0,
            (LimitedBy::Requests, None) => block.as_f64(),
            (LimitedBy::Requests, Some(part)) => block.as_f64() / block.get().div_ceil(part.get()) as f64,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateLimitUnknown {
    /// Reads dropped to a constant rate, with one block size and queue depth only and without idle time.
    OneShape { per_second: f64, block: Bytes },
    /// It was another one from then on.
    Changed { by: LimitedBy, before_per_second: f64, after_per_second: f64, at_s: f64 },
}

impl Conclusion for RateLimit {
    type Unknown = RateLimitUnknown;

    fn value(&self) -> Value {
        Value::Number(self.sustained)
    }

    fn unit(&self) -> Option<Name> {
        match self.by {
            LimitedBy::Requests => None,
            LimitedBy::Bytes => Some("B/s".into()),
        }
    }
}
