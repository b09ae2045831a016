//! Findings of rates by transfer size.

use crate::estimate::Estimate;
use crate::request::Operation;
use crate::units::Bytes;
use serde::Serialize;

concludes! {
    SizeProfile(it): SizesUnknown::RateLimited => Estimate::exact(it.sizes as f64);
    SuspectPoints(it): SizesUnknown::RateLimited => Estimate::exact(it.count as f64);
}

/// Throughput by block size: how many sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeProfile {
    #[serde(skip)]
    pub sizes: usize,
    pub points: Vec<SizePoint>,
    #[serde(skip)]
    pub saturation: Vec<SizeSaturation>,
    /// One measurement of each size, made by another program.
    #[serde(skip)]
    pub is_single: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizePoint {
    pub bytes: Bytes,
    pub operation: Operation,
    pub pattern: SizePattern,
    pub depth: u64,
    pub bytes_per_second: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The largest number where there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    pub iops: f64,
    #[serde(flatten)]
    pub rounds: Option<SizeRounds>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeRounds {
    pub latency_s: f64,
    pub latency_p99_s: f64,
    pub latency_max_s: f64,
    pub rounds: usize,
    pub spoilt_rounds: usize,
    pub with_spoilt_bytes_per_second: f64,
    /// Slower than both neighbouring sizes in all rounds.
    pub dip: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SizePattern {
    Random,
    Sequential,
}

/// From which block size on throughput is at least [`NEARLY`] of the best, and which larger ones are not.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeSaturation {
    pub operation: Operation,
    pub pattern: SizePattern,
    pub depth: u64,
    /// The highest throughput at this depth, in bytes per second; at any, where no size comes near it.
    pub best: f64,
    pub from: Option<Bytes>,
    pub dips: Vec<Bytes>,
}

pub const NEARLY: f64 = 0.9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizesUnknown {
    RateLimited,
    NoTime,
    NothingFinished,
    /// Of two rounds nobody can say which is the outlier.
    TooFewRounds,
}

/// Block sizes with outlier rounds: how many.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuspectPoints {
    #[serde(skip)]
    pub count: usize,
    #[serde(skip)]
    pub all: usize,
    pub points: Vec<SuspectPoint>,
    pub dips: Vec<SuspectPoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuspectPoint {
    pub bytes: Bytes,
    pub operation: Operation,
    pub pattern: SizePattern,
    pub depth: u64,
    pub why: SuspectReason,
    pub rounds: usize,
    pub spoilt_rounds: usize,
    /// B/s with the outliers and without.
    pub before: f64,
    pub after: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SuspectReason {
    OutlierRounds,
    SlowerThanNeighbours,
}
