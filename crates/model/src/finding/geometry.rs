//! Findings of disk geometry: rotation, seeks, tracks.

use crate::estimate::Estimate;
use crate::units::Bytes;
use serde::Serialize;

concludes! {
    RotationPeriod(it): NoGeometry => it.period;
    SeekTrackToTrack(it): NoGeometry => it.seek;
    SeekAverage(it): NoGeometry => it.seek;
    SeekFullStroke(it): NoGeometry => it.seek;
    TrackLayout(it): NoGeometry => it.zones;
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoGeometry {
    /// The run was resumed, and how far the platters turned meanwhile is not known.
    Resumed,
    TooFewRepeatedReads,
    NoTime,
    /// Repeated reads of one place are not whole revolutions apart.
    NoRevolution,
    /// Places turn at different speeds: several drives.
    SeveralSpeeds {
        rpm: f64,
        other_rpm: f64,
    },
    /// Random reads differ by less than the fraction of a revolution that they do on a disk.
    EqualLatency,
    /// At most probes no number of sectors fits the angles of neighbouring sectors.
    NoTracks {
        unfit: usize,
        probes: usize,
        rpm: f64,
    },
    NoSingleReads,
    TooFewSeeks,
    /// Latency does not grow with distance: no single actuator answers.
    NoSingleActuator,
    /// Reads at a higher QD are answered by several actuators.
    SeveralActuators,
    /// Reads were delayed by something else; the share of them.
    Interference {
        share: f64,
    },
    NoProbes,
    /// Completion times scatter too much to count the sectors of a track.
    CoarseTiming,
    /// Only a part of the drive was measured. Its tracks hold so many sectors, where they were counted.
    OnlyPart {
        sectors: Option<(u32, u32)>,
        sector: Bytes,
    },
    /// Too few pairs of sectors on one track were read, so command overhead is not separated from the seek; the bounds of both together, in seconds.
    OverheadUnknown {
        bounds_s: Option<(f64, f64)>,
    },
    /// The next track may be on another surface.
    OtherSurface,
    /// Skews scatter too much, or are too few, to tell whether the next track is on another surface.
    SurfaceOpen,
    /// The next track is reached too soon to tell from the same one.
    TooNear,
    /// The reads leave the seek open.
    TooImprecise,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RotationPeriod {
    #[serde(skip)]
    pub period: Estimate,
    pub rpm: f64,
    pub phase_scatter_turns: f64,
    pub repeated_reads: usize,
    pub repeated_reads_in_phase: usize,
}

/// Seek to a neighbouring track, without command overhead.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeekTrackToTrack {
    #[serde(skip)]
    pub seek: Estimate,
    pub overhead_s: f64,
    pub pairs: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeekAverage {
    #[serde(skip)]
    pub seek: Estimate,
    /// Whether the interval holds the command overhead too, since it could not be separated.
    #[serde(skip)]
    pub is_bounded: bool,
    pub hops: usize,
    /// Of a hop, as a share of a revolution.
    pub noise: f64,
    /// The share of reads that something else delayed.
    pub held_up: f64,
}

/// Seek from the first cylinder to the last, and the curve below it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeekFullStroke {
    #[serde(skip)]
    pub seek: Estimate,
    #[serde(skip)]
    pub is_bounded: bool,
    pub curve: Vec<SeekPoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeekPoint {
    pub share_of_cylinders: f64,
    pub seconds: f64,
    pub low: f64,
    pub high: f64,
}

/// Zones seen in the number of sectors per track.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrackLayout {
    #[serde(skip)]
    pub zones: Estimate,
    #[serde(skip)]
    pub sector: Bytes,
    pub sectors_per_track: Vec<TrackZone>,
    pub surfaces_at_least: usize,
    pub tracks_counted: usize,
    /// Of those counted, the ones whose number is certain.
    pub tracks_exact: usize,
    pub same_skew_share: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surfaces: Option<usize>,
    /// From one track to the next, in revolutions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrackZone {
    pub first_byte: u64,
    pub last_byte: u64,
    pub sectors: Vec<u32>,
    pub probes: usize,
}
