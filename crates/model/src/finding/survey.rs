//! What sequential samples of the surface tell: throughput by offset, zones, links and regions.

use super::{Conclusion, Imported, Value};
use crate::estimate::Estimate;
use crate::range::ByteRange;
use crate::request::Operation;
use crate::units::Bytes;
use serde::{Serialize, Serializer};

/// Why throughput, zones or regions are not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SurveyUnknown {
    NothingMeasured,
    RateLimited,
    NoTime,
    /// All samples met errors, were cut short or were too short.
    NoneUsable {
        samples: usize,
    },
    QueueNotFilled,
    TooFewSamples {
        usable: usize,
    },
    TooFewAtEdge {
        start: bool,
        needed: u32,
    },
    Uncovered,
    /// The interval reaches down to no time at all.
    TooImprecise,
    OtherLoad(OtherLoad),
    /// From one rate to another, in bytes per second, wherever it was read.
    Changed {
        before: f64,
        after: f64,
    },
    /// Only the throughput beside other load was seen, in bytes per second.
    OnlyLoaded {
        rate: f64,
    },
    NotRotating,
    RotationUnknown,
    /// A file system moves or transforms the data.
    Remapped,
    OnlyPart,
    DeviceLost,
    /// Part of it answers single reads like a hard disk, the rest like flash.
    TwoMedia,
    /// All samples are alike: all mapped, all unmapped, or something else is slower than both.
    AllAlike,
    /// What was read before is read so many times as quickly: a cache keeps it, or the first read fetched it from elsewhere.
    QuickerAgain {
        times: f64,
    },
    /// That share of single random reads is fast, scattered among slow ones: unmapped blocks, or cache hits.
    Interleaved {
        share: f64,
    },
    /// What is slower than the rest is reported as slow regions.
    SlowRegions,
    /// So many samples were slow, and the time was over before they could be read again.
    NotReadAgain {
        samples: usize,
    },
    /// Samples all over the range were slow, and slow again later: weak cells, or the only ones that hold data.
    Scattered {
        samples: usize,
        of: usize,
    },
    /// Writes to scattered places take far longer than reads there, in bytes per second, as where an SMR disk rewrites what follows them.
    BurstsRewrite {
        write: f64,
        read: f64,
    },
    /// Of imported figures: where they were measured.
    NoOffsets,
    NoCapacity,
    NoneInThird {
        start: bool,
    },
    NoneAtBothEnds,
    NoRate,
    /// They cover that share of the drive and lie too far apart to interpolate.
    TooSparse {
        share: f64,
    },
    /// As fast at both ends, as a disk behind a slow link, of a drive that may be no disk.
    FlatOfUnknownKind,
}

/// How a survey shows that something else used the drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OtherLoad {
    /// So many samples were slow or late for a moment, not because of their offset.
    Late { samples: usize, of: usize },
    /// In so many samples the actuator went elsewhere for more than half a revolution.
    Paused { samples: usize, of: usize },
    /// Samples that follow each other in time are alike wherever they are.
    Alike { correlation: f64 },
    /// By that share the quickest twentieth took less than surfaces and tracks of a disk explain: other requests fell into most.
    Most { quicker: f64 },
    /// Single reads show it: see [`crate::finding::Interference`].
    InReads,
    /// The same, of what never pauses.
    Constant,
}

/// What of the bits on a SATA port after 8b/10b coding is data: see the detector of link limits.
pub const PORT_DATA_SHARE: f64 = 0.93;

/// Sequential throughput at the start, at the end, or over a pass; the code says which, and of which operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SequentialRate {
    #[serde(skip)]
    pub rate: Estimate,
    #[serde(skip)]
    pub of: RateOf,
    #[serde(skip)]
    pub slowed: Option<Slowed>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<ByteRange>,
    /// What the outer diameter of a disk asks of a port with 8b/10b coding.
    #[serde(rename = "line_gigabits_per_second", skip_serializing_if = "Option::is_none")]
    pub line_gbit: Option<f64>,
    /// The slowest SATA port that carries it, in Gbit/s.
    #[serde(skip)]
    pub port_gbit: Option<f64>,
    /// What was asked for at once, where the usual requests in flight are slower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streaming: Option<Streaming>,
    #[serde(flatten)]
    pub place: Option<ByteRange>,
    #[serde(flatten)]
    pub imported: Option<Imported>,
}

/// Why a drive may be faster than it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slowed {
    ByOtherLoad,
    /// More than one sample in twenty lost a revolution: to other I/O, or to requests that arrived too late, as over USB.
    ByLostRevolutions,
}

/// Sequential requests of one size, so many in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamSetting {
    pub queue_depth: u32,
    pub block_bytes: Bytes,
}

/// A drive that streams better with other requests in flight than the usual ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Streaming {
    pub best: StreamSetting,
    pub usual: StreamSetting,
    /// The share of throughput that the usual requests lose.
    pub usual_loss: f64,
    pub usual_loss_low: f64,
    pub usual_loss_high: f64,
}

impl SequentialRate {
    pub fn new(rate: Estimate, of: RateOf) -> SequentialRate {
        SequentialRate {
            rate,
            of,
            slowed: None,
            places: Vec::new(),
            line_gbit: None,
            port_gbit: None,
            streaming: None,
            place: None,
            imported: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateOf {
    /// An edge of the range, which is the whole target or a part.
    Edge {
        is_whole: bool,
        /// Whether it may be a diameter: not of a drive that reports rotation and shows none, as sticks do.
        may_rotate: bool,
    },
    /// So many bytes at an edge, where a hundredth holds too few samples.
    EdgeBytes(Bytes),
    /// A pass over that range, by samples of at most so many bytes.
    Pass {
        range: ByteRange,
        sample: Bytes,
        is_rate_limited: bool,
    },
    ImportedEdge(ByteRange),
    ImportedPass(PassBasis),
}

/// How a full pass is known from imported figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassBasis {
    Measured,
    /// Each figure stands for its extent.
    Summed {
        figures: usize,
    },
    Interpolated {
        figures: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FullPassTime {
    #[serde(skip)]
    pub time: Estimate,
    #[serde(skip)]
    pub operation: Operation,
    #[serde(skip)]
    pub range: ByteRange,
    #[serde(skip)]
    pub slowed: Option<Slowed>,
    #[serde(skip)]
    pub is_rate_limited: bool,
    pub covers_bytes: Bytes,
    pub covers_capacity: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_as_a_whole: Option<bool>,
    /// A full pass of reads, in seconds; likewise of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<f64>,
    #[serde(flatten)]
    pub imported: Option<Imported>,
    #[serde(skip)]
    pub basis: Option<PassBasis>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ZoneRatio {
    #[serde(skip)]
    pub ratio: Estimate,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<ByteRange>,
    #[serde(flatten)]
    pub imported: Option<ImportedRatio>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedRatio {
    #[serde(skip)]
    pub operation: Operation,
    #[serde(skip)]
    pub start: ByteRange,
    #[serde(skip)]
    pub end: ByteRange,
    /// Everything that was stated in one way at both ends.
    pub by_figure: Vec<FigureRatio>,
    #[serde(flatten)]
    pub imported: Imported,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureRatio {
    #[serde(rename = "name", serialize_with = "figure_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: FigureKind,
    /// Of the rates that are compared: "B/s" or "1/s".
    pub unit: &'static str,
    pub block_bytes: Bytes,
    pub start: f64,
    pub end: f64,
    pub ratio: f64,
    pub does_not_differ: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_share: Option<f64>,
    /// Whether it is of other requests than the ratio.
    #[serde(skip)]
    pub is_other: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureKind {
    pub sequential: bool,
    pub reads: bool,
    pub writes: bool,
    pub by_byte: bool,
}

impl FigureKind {
    /// The word in files: "writes", "reads byte by byte", "random reads with some written back".
    pub fn name(self) -> String {
        let verbs = match (self.reads, self.writes) {
            (true, true) if !self.sequential => return "random reads with some written back".into(),
            (true, true) => "reads that are written back",
            (false, true) => "writes",
            _ => "reads",
        };
        match (self.sequential, self.by_byte) {
            (true, true) => format!("{verbs} byte by byte"),
            (true, false) => verbs.into(),
            (false, _) => format!("random {verbs}"),
        }
    }
}

fn figure_name<S: Serializer>(kind: &FigureKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&kind.name())
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ZoneCount {
    #[serde(skip)]
    pub zones: usize,
    /// Smaller steps may have been missed, as a share of the rate.
    pub step_missed: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ZoneTable {
    pub zones: Vec<Zone>,
    pub step_missed: f64,
    /// Of single samples around their zone: a robust standard deviation, as a share.
    pub noise: f64,
    /// By how much surfaces differ from their mean, as a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_spread: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Zone {
    pub first_byte: u64,
    pub bytes: u64,
    pub bytes_per_second: f64,
    pub low: f64,
    pub high: f64,
    /// The earliest and the latest that it begins.
    pub border_low_byte: u64,
    pub border_high_byte: u64,
    pub visits: usize,
}

/// What the link carries, where it and not the medium is the limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterfaceLimit {
    #[serde(skip)]
    pub rate: Estimate,
    /// Its name; "unknown" where no link of that speed is known.
    pub link: String,
    #[serde(flatten)]
    pub reach: Option<LimitReach>,
    #[serde(flatten)]
    pub imported: Option<Imported>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitReach {
    pub bytes: u64,
    pub share: f64,
    pub places: Vec<ByteRange>,
    #[serde(skip)]
    pub is_everywhere: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowRegions {
    #[serde(skip)]
    pub count: usize,
    pub regions: Vec<SlowRegion>,
    /// With what probability a region of a size was sampled.
    pub would_have_been_met: Vec<SampledSize>,
    /// The share of the range that may be slow besides, at 95 %; none where all of it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_max: Option<f64>,
    pub disturbed_visits: usize,
    /// Offsets that were slow and not sampled again.
    pub not_settled: usize,
    pub latency_classes: LatencyClasses,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowRegion {
    pub first_byte: u64,
    pub bytes: u64,
    /// The most that it may extend.
    pub within_first_byte: u64,
    pub within_end_byte: u64,
    pub times_slower: f64,
    pub kind: SlowKind,
    pub longest_s: f64,
    pub visits: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SlowKind {
    /// Single requests took long: sectors that are read again and again.
    WeakSectors,
    Slow,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampledSize {
    pub bytes: Bytes,
    pub probability: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyClasses {
    pub below_10_ms: u64,
    #[serde(rename = "10_to_50_ms")]
    pub to_50_ms: u64,
    #[serde(rename = "50_to_200_ms")]
    pub to_200_ms: u64,
    #[serde(rename = "200_to_500_ms")]
    pub to_500_ms: u64,
    #[serde(rename = "500_ms_and_more")]
    pub from_500_ms: u64,
}

/// Ranges of flash that hold nothing: never written, or discarded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnmappedRanges {
    pub ranges: Vec<ByteRange>,
    pub share: f64,
    #[serde(flatten)]
    pub quicker: Quicker,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Quicker {
    Streams { mapped_bytes_per_second: f64, unmapped_bytes_per_second: f64 },
    SingleReads { mapped_read_s: f64, unmapped_read_s: f64 },
}

macro_rules! conclusions {
    ($($type:ident($it:ident) => $value:expr, $places:expr;)*) => {
        $(impl Conclusion for $type {
            type Unknown = SurveyUnknown;

            fn rate_limited() -> Option<SurveyUnknown> {
                Some(SurveyUnknown::RateLimited)
            }

            fn value(&self) -> Value {
                let $it = self;
                Value::Number($value)
            }

            fn places(&self) -> Vec<ByteRange> {
                let $it = self;
                let _ = $it;
                $places
            }
        })*
    };
}

conclusions! {
    SequentialRate(it) => it.rate, it.places.clone();
    FullPassTime(it) => it.time, Vec::new();
    ZoneRatio(it) => it.ratio, it.places.clone();
    ZoneCount(it) => at_least(it.zones), Vec::new();
    ZoneTable(it) => at_least(it.zones.len()), extents(it.zones.iter().map(|zone| (zone.first_byte, zone.bytes)));
    InterfaceLimit(it) => it.rate, match &it.reach { Some(reach) => reach.places.clone(), None => Vec::new() };
    SlowRegions(it) => if it.share_max.is_some() { at_least(it.count) } else { Estimate::exact(it.count as f64) }, extents(it.regions.iter().map(|region| (region.first_byte, region.bytes)));
    UnmappedRanges(it) => Estimate::exact(it.ranges.len() as f64), it.ranges.clone();
}

/// What can be told apart, or was met, is a lower bound of what there is.
pub(super) fn at_least(count: usize) -> Estimate {
    Estimate { high: f64::INFINITY, confidence: 0.95, ..Estimate::exact(count as f64) }
}

fn extents(places: impl Iterator<Item = (u64, u64)>) -> Vec<ByteRange> {
    places.filter_map(|(first, bytes)| ByteRange::from_bytes(first, bytes)).collect()
}
