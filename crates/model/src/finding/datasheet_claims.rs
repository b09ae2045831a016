//! The finding of datasheet claims.

use crate::estimate::Estimate;
use serde::Serialize;

concludes! {
    DatasheetClaims(it): DatasheetClaimsUnknown => Estimate::exact(it.claims.len() as f64);
}

/// What the maker states, against what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatasheetClaims {
    #[serde(skip)]
    pub maker: &'static str,
    #[serde(skip)]
    pub family: &'static str,
    /// Whether a link limits throughput, and not the drive.
    #[serde(skip)]
    pub is_limited: bool,
    pub model_pattern: &'static str,
    pub source: &'static str,
    pub certainty: Certainty,
    pub claims: Vec<Claim>,
}

/// How far the figures of a data sheet can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Every figure was read in the source.
    Read,
    /// From memory of the source: check it there.
    Recalled,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Claim {
    Figure(ClaimedFigure),
    Recording(ClaimedRecording),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimedFigure {
    #[serde(rename = "claim")]
    pub name: ClaimName,
    pub unit: &'static str,
    pub stated: f64,
    /// With its interval, in the unit of the sheet.
    pub measured: f64,
    pub low: f64,
    pub high: f64,
    pub ratio: f64,
    /// Whether the interval leaves out the stated figure.
    pub significant: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClaimName {
    RateMax,
    RateAverage,
    WriteRateMax,
    SeekAverage,
    SeekTrackToTrack,
    TurnsPerMinute,
    Recording,
}

impl ClaimName {
    pub fn is_rate(self) -> bool {
        matches!(self, ClaimName::RateMax | ClaimName::RateAverage | ClaimName::WriteRateMax)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimedRecording {
    #[serde(rename = "claim")]
    pub name: ClaimName,
    pub stated: &'static str,
    pub measured: String,
    pub significant: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatasheetClaimsUnknown {
    /// Nothing of what is stated was measured on the drive itself, over all of it.
    NothingMeasured { maker: &'static str, family: &'static str },
}
