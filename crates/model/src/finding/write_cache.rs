//! The finding of a volatile write cache: bytes that are acknowledged before they are stored.

use super::WriteKind;
use crate::estimate::Estimate;
use serde::Serialize;

concludes! {
    WriteCache(it): WriteCacheUnknown => it.bytes;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteCache {
    /// Its size; without an upper end where it was never full.
    #[serde(skip)]
    pub bytes: Estimate,
    #[serde(skip)]
    pub writes: WriteKind,
    /// Throughput without flushes until it is full, in bytes per second; none where it is full within two intervals.
    pub acknowledged: Option<f64>,
    /// Throughput with flushes, in bytes per second.
    pub drained: f64,
    pub drained_low: f64,
    pub drained_high: f64,
    /// The longest flush, and the bytes that were written before it.
    pub flush_s: f64,
    pub flush_behind_bytes: f64,
    pub is_full: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteCacheUnknown {
    /// Nothing was written; what the drive reports of its cache.
    NotTested {
        is_on: bool,
    },
    TooFewPhases,
    NoTime,
    /// Flushes had no more to store than the requests in flight.
    None {
        flush_s: f64,
        flush_behind_bytes: f64,
    },
    /// Flushes took time, and nothing shows that a cache was full.
    Unclear {
        bytes_max: f64,
        flush_s: f64,
        flush_behind_bytes: f64,
    },
}
