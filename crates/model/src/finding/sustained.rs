//! Findings of writes that go on.

use crate::estimate::Estimate;
use crate::units::Bytes;
use serde::Serialize;

concludes! {
    WriteSteadyState(it): WriteSteadyStateUnknown => it.rate;
    IdleRecovery(it): IdleRecoveryUnknown => it.rate;
    ClippingEffect(it): ClippingEffectUnknown => it.gain;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteSteadyState {
    #[serde(skip)]
    pub rate: Estimate,
    /// B/s in each fifth of the last half of what was written.
    pub rounds: Vec<f64>,
    pub range_ratio: f64,
    pub slope_ratio: f64,
    pub written_bytes: f64,
    #[serde(skip)]
    pub times_written: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteSteadyStateUnknown {
    NoTime,
    TooShort,
    /// Flash was written over fewer than two times.
    TooLittleWritten {
        times: f64,
    },
    /// A disk that may have a media cache, which is not full yet.
    CacheToFill,
    StillFalling {
        /// How much `--until steady` writes by itself, if so much was written.
        limit: Option<Bytes>,
    },
    Unsteady {
        range_ratio: f64,
        slope_ratio: f64,
        /// How much `--until steady` writes by itself, if so much was written.
        limit: Option<Bytes>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleRecovery {
    #[serde(skip)]
    pub rate: Estimate,
    pub points: Vec<IdlePoint>,
    pub delay_s: f64,
    #[serde(skip)]
    pub cache_bytes: f64,
    #[serde(skip)]
    pub cached_rate: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdlePoint {
    pub idle_s: f64,
    /// Written at full throughput after it.
    pub bytes: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IdleRecoveryUnknown {
    /// Something between host and drive may have slowed the writes.
    NotTheDrive,
    NotACache,
    NothingRecovered {
        longest_s: f64,
    },
    /// The shortest rest that won back the whole cache, and the longest that won back nothing of it.
    AllOrNothing {
        nothing_s: Option<f64>,
        all_s: f64,
    },
    /// With one partial recovery the delay is not known.
    OnePoint {
        longest_s: f64,
    },
}

/// Steady-state random writes over a part of the range, relative to all of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClippingEffect {
    #[serde(skip)]
    pub gain: Estimate,
    pub points: Vec<ClippingPoint>,
    /// The part that the value is about.
    pub share: f64,
    #[serde(skip)]
    pub takes_trim: bool,
    /// B/s over the part and over all of it.
    #[serde(skip)]
    pub rates: (f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClippingPoint {
    #[serde(rename = "span")]
    pub share: f64,
    pub bytes_per_second: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClippingEffectUnknown {
    NotSteady { share: f64, times_written: f64 },
    NoWhole,
    NoPart,
}
