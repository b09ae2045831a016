//! The finding of latency over time.

use super::{Conclusion, Value, is_zero};
use crate::estimate::Estimate;
use crate::units::Bytes;
use serde::Serialize;

/// Latency of single random reads at a fixed rate; its value is the 99th percentile.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadLatency {
    #[serde(skip)]
    pub p99: Estimate,
    pub block_bytes: Bytes,
    pub reads: u64,
    pub median_s: f64,
    pub longest_s: f64,
    /// When the longest ended, since the run's clock began; within an interval of 40 ms.
    pub longest_at_s: f64,
    /// Of each read on average, at most, the host's.
    #[serde(skip_serializing_if = "is_zero")]
    pub host_s: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReadLatencyUnknown {
    TooFewReads { have: u64 },
}

impl Conclusion for ReadLatency {
    type Unknown = ReadLatencyUnknown;

    fn value(&self) -> Value {
        Value::Number(self.p99)
    }

    /// How many of the reads completed within which time was counted; of stalls the interval is wide, and they are what is looked for.
    fn is_bound(&self) -> bool {
        true
    }
}
