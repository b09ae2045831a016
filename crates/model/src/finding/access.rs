//! Findings of random access: latency, concurrency, layout of volumes, caches.

use super::{Conclusion, Imported, Value, is_zero};
use crate::estimate::Estimate;
use crate::range::ByteRange;
use crate::units::Bytes;
use serde::Serialize;

concludes! {
    AccessTime(it): AccessTimeUnknown::RateLimited => it.mean;
    LatencyModes(it): LatencyModesUnknown::RateLimited => it.count;
    ConcurrencyGain(it): ConcurrencyUnknown::RateLimited => it.gain;
    ConcurrencyKnee(it): ConcurrencyUnknown::RateLimited => it.in_flight;
    StripeLayout(it): StripeLayoutUnknown::RateLimited => it.members;
    DriveCache(it): CacheUnknown::RateLimited => it.bytes;
    SystemReadAhead(it): SystemReadAheadUnknown => it.most;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessTime {
    #[serde(skip)]
    pub mean: Estimate,
    #[serde(skip)]
    pub block: Bytes,
    #[serde(skip)]
    pub median_s: Option<f64>,
    #[serde(skip)]
    pub range: Option<ByteRange>,
    #[serde(flatten)]
    pub parts: Option<AccessParts>,
    #[serde(flatten)]
    pub measured: Option<AccessMeasured>,
    #[serde(flatten)]
    pub imported: Option<Imported>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessParts {
    pub seek_s: f64,
    pub rotation_s: f64,
    pub overhead_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessMeasured {
    pub span_bytes: Bytes,
    pub reads: u64,
    /// The share of reads that took longer than any actuator does.
    pub held_up_share: f64,
    /// Of the mean, at most, the host's.
    #[serde(skip_serializing_if = "is_zero")]
    pub host_s: f64,
}

/// What shows that something else used the drive while single reads were measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interference {
    /// Such a share of them took longer than any arm does.
    HeldUp {
        share: f64,
    },
    InBursts,
    /// By the kernel's counters of the drive, so much was moved beside them.
    Counted {
        bytes_per_second: f64,
    },
    /// Sequential reads of the same run show it.
    InSamples,
    /// Reads within a small span take as long as over all of a disk: something else moves the actuator between any two of them.
    Constant,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AccessTimeUnknown {
    RateLimited,
    NoReads,
    TooFewReads {
        have: u64,
        need: u64,
    },
    NoTime,
    /// A single short round does not show its own spread.
    OneRound,
    TooImprecise,
    /// Something else used the drive, or it retried.
    Interference {
        mean: Estimate,
        by: Interference,
    },
    /// Another program stated the rate of several reads in flight only.
    OnlySeveral {
        in_flight: u64,
        per_second: f64,
        written_back: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyModes {
    #[serde(skip)]
    pub count: Estimate,
    #[serde(skip)]
    pub block: Bytes,
    /// A second mode, twice as slow or fast, would have shown from this share of the reads on.
    #[serde(skip)]
    pub missed_share: f64,
    #[serde(skip)]
    pub rounds: usize,
    pub modes: Vec<LatencyMode>,
    pub reads: u64,
    /// Of each read on average, at most, the host's.
    #[serde(skip_serializing_if = "is_zero")]
    pub host_s: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyMode {
    pub seconds: f64,
    pub seconds_low: f64,
    pub seconds_high: f64,
    pub share: f64,
    pub share_low: f64,
    pub share_high: f64,
    pub rounds: usize,
    /// Faster than any disk, on a target that turns: memory answered.
    #[serde(skip)]
    pub is_memory: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LatencyModesUnknown {
    RateLimited,
    NoTime,
    NoReads,
    TooFewReads { have: u64 },
    Interference(Interference),
}

/// Requests in flight, and how they came to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum InFlight {
    Depth(u64),
    Threads(u64),
}

impl InFlight {
    pub fn count(self) -> u64 {
        match self {
            InFlight::Depth(count) | InFlight::Threads(count) => count,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConcurrencyPoint {
    #[serde(flatten)]
    pub in_flight: InFlight,
    pub iops: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_s: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConcurrencyGain {
    #[serde(skip)]
    pub gain: Estimate,
    /// Whether the points are of reads.
    #[serde(skip)]
    pub is_read: bool,
    #[serde(flatten)]
    pub best: InFlight,
    pub points: Vec<ConcurrencyPoint>,
    /// The engine may have been the limit, not the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_by_tool: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points_by_threads: Option<Vec<ConcurrencyPoint>>,
    /// Of writes, where both were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<WriteGain>,
    #[serde(flatten)]
    pub imported: Option<Imported>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteGain {
    pub gain: f64,
    pub low: f64,
    pub high: f64,
    #[serde(flatten)]
    pub best: InFlight,
    pub points: Vec<ConcurrencyPoint>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConcurrencyUnknown {
    RateLimited,
    NoTime,
    Interference(Interference),
    /// Fewer than two rounds without failures at depth 1 and at another depth.
    TooFewRounds,
    TooFewDepths {
        have: usize,
        need: usize,
    },
    LimitedByTool,
}

/// Requests in flight from which more bring less than they cost: the saturation point.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConcurrencyKnee {
    #[serde(skip)]
    pub in_flight: Estimate,
    /// At the knee, at one request in flight, and at the next number measured.
    #[serde(skip)]
    pub knee: OperatingPoint,
    #[serde(skip)]
    pub one: OperatingPoint,
    #[serde(skip)]
    pub next: OperatingPoint,
    /// The fewest requests in flight that nothing certainly exceeds in IOPS, if they are more than at the knee.
    #[serde(skip)]
    pub most: Option<OperatingPoint>,
    /// The most requests in flight measured, if they may be better still.
    #[serde(skip)]
    pub open_beyond: Option<u64>,
    pub axis: ConcurrencyAxis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalability_law: Option<ScalabilityLaw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kneedle: Option<f64>,
    /// Other methods that put the knee further than a step away.
    #[serde(skip)]
    pub disagreeing: Vec<OtherKnee>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ConcurrencyAxis {
    Depth,
    Threads,
}

/// Closed loop: latency follows from IOPS by Little's law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatingPoint {
    pub in_flight: u64,
    pub iops: f64,
}

impl OperatingPoint {
    pub fn latency_s(&self) -> f64 {
        self.in_flight as f64 / self.iops
    }
}

/// The universal scalability law through all points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScalabilityLaw {
    pub alpha: f64,
    pub beta: f64,
    pub error_max: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OtherKnee {
    ScalabilityLaw(f64),
    Kneedle(f64),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StripeLayout {
    #[serde(skip)]
    pub members: Estimate,
    #[serde(skip)]
    pub depth: u64,
    pub kind: VolumeKind,
    /// Of pairs of completions, those within a moment in which no actuator completes two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers_together: Option<CompletionPairs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log10_odds: Option<f64>,
    /// Of a stripe over mirrors (RAID 10), how many of the drives hold the same data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
    /// Of concatenated members, where each but the first begins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub begins: Vec<MemberBegins>,
}

/// Between which bytes of the volume.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberBegins {
    pub low: u64,
    pub high: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum VolumeKind {
    None,
    Stripe,
    Mirror,
    Concatenation,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompletionPairs {
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StripeLayoutUnknown {
    RateLimited,
    TooFewSingleReads,
    TooFewReadsInFlight,
    /// Reads complete as fast as from memory.
    Memory,
    UncertainActuators,
    /// Completions look like those of several actuators, but more reads in flight bring no more a second.
    NotParallel {
        depth: u64,
    },
    /// Reads take as long as an actuator, and nothing rotates.
    NotRotating,
    /// Fewer actuators than the most likely layout needs.
    UnknownLayout,
    /// Several actuators, but too few reads for their layout.
    LayoutOpen,
    SeveralLayouts,
    /// Both halves of the reads name different layouts.
    HalvesDiffer,
    /// Not any two reads complete together: concatenated drives, or of different size.
    Concatenated,
    UncertainMembers {
        value: f64,
        low: f64,
        high: f64,
    },
    /// No actuator: channels of one drive look like several drives.
    NoActuator {
        depth: u64,
        gain: f64,
        single_bytes: u64,
        deep_bytes: u64,
        parts: Option<(u32, u64)>,
    },
}

/// Why hits of a drive's cache are not told from its medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CacheUnknown {
    RateLimited,
    TooFewReads,
    /// All reads are as fast as memory.
    AllMemory,
    /// Rereads are as slow as first reads.
    NoHits,
    /// Rereads are faster, but by the arm that is still near, not by memory.
    NearbyRereads,
    /// The drive prefetches, but drops what it delivered.
    DeliveredDropped,
    LateHits,
    /// An SSD or a larger cache answers part of all reads.
    QuickElsewhere,
    Disorder,
    Interference,
    SeveralDrives,
    /// One stream does not show how it scatters.
    OneStream,
    /// As far as was measured everything hits.
    AtLeast(Bytes),
    /// The actuator was called away, so that nothing could be prefetched.
    CalledAway,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveCache {
    #[serde(skip)]
    pub bytes: Estimate,
    /// Members of a stripe whose caches it is the sum of.
    #[serde(skip)]
    pub drives: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadAhead {
    #[serde(skip)]
    pub bytes: Estimate,
    /// Whether the kernel's read-ahead was measured beside it.
    #[serde(skip)]
    pub system_is_measured: bool,
    pub by: Reader,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_says_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_s: Option<f64>,
    /// Whether rereads of delivered data hit; none where some do and some do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keeps_delivered: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<PrefetchStreams>,
}

/// Interleaved streams whose prefetched data stay in cache side by side, one read each, 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrefetchStreams {
    pub value: u64,
    pub low: u64,
    /// None where all that were measured stayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    Drive,
    System,
}

impl Conclusion for ReadAhead {
    type Unknown = CacheUnknown;

    fn rate_limited() -> Option<CacheUnknown> {
        Some(CacheUnknown::RateLimited)
    }

    fn value(&self) -> Value {
        Value::Number(self.bytes)
    }

    /// None is less than the first distance that was tried.
    fn is_bound(&self) -> bool {
        self.bytes.value == 0.0
    }
}

/// Kernel read-ahead through the page cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemReadAhead {
    #[serde(skip)]
    pub most: Estimate,
    pub by: Reader,
    pub after_one_bytes: u64,
    pub after_two_bytes: u64,
    pub rows: Vec<CachedSequence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_says_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CachedSequence {
    pub reads: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SystemReadAheadUnknown {
    /// A virtual drive in virtual time has no kernel above it.
    VirtualTime,
    /// The kernel does not tell what is in its page cache: its error.
    NotTold(String),
    NotMeasured,
    /// What was read did not stay in the page cache, or was there before.
    Evicted,
    AtLeast(Bytes),
}
