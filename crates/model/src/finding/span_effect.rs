//! The finding of short-stroking.

use super::Interference;
use crate::estimate::Estimate;
use crate::units::Bytes;
use serde::Serialize;

concludes! {
    SpanEffect(it): SpanEffectUnknown::RateLimited => it.gain;
}

/// IOPS of random reads at queue depth 1 over the first 1 % of the range, relative to the whole range.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanEffect {
    #[serde(skip)]
    pub gain: Estimate,
    /// By the length of the span, the shortest first; the last is the whole range.
    pub points: Vec<SpanPoint>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanPoint {
    #[serde(rename = "span")]
    pub share: f64,
    pub span_bytes: Bytes,
    pub iops: f64,
    pub low: f64,
    pub high: f64,
    #[serde(skip)]
    pub gain: Estimate,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SpanEffectUnknown {
    Interference(Interference),
    RateLimited,
    NoTime,
    /// Ranges that hold nothing are read quicker, and how many of them a span has decides.
    PartlyUnmapped,
    /// Fewer than two rounds without failures over the whole range, or over 1 % of it.
    TooFewRounds,
}
