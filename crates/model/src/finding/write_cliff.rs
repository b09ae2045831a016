//! Findings of the write cliff.

use crate::estimate::Estimate;
use crate::units::Bytes;
use serde::Serialize;

concludes! {
    WriteCliff(it): WriteCliffUnknown => it.bytes;
}

/// Bytes written before throughput drops for good. Rates are in B/s.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteCliff {
    #[serde(skip)]
    pub bytes: Estimate,
    #[serde(skip_serializing_if = "is_false")]
    pub comes_back: bool,
    pub before: f64,
    pub before_low: f64,
    pub before_high: f64,
    pub after: f64,
    pub after_low: f64,
    pub after_high: f64,
    pub ratio: f64,
    /// All levels, the first from byte 0 on.
    pub levels: Vec<WriteLevel>,
    pub further: Vec<LaterLevel>,
    pub after_from_bytes: f64,
    pub after_over_bytes: f64,
    /// In the drive's own memory whenever the writes of a phase ended.
    pub in_memory_bytes: f64,
    pub cause: CliffCause,
    pub looked_until_bytes: f64,
    #[serde(skip)]
    pub writes: WriteKind,
    #[serde(skip)]
    pub below: Option<LevelBelow>,
    #[serde(skip)]
    pub is_whole: bool,
    /// Whether the writes went on after the cliff was certain.
    #[serde(skip)]
    pub went_on: bool,
    #[serde(skip)]
    pub has_rests: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CliffCause {
    /// Each write behind it rewrites a band.
    MediaCache,
    /// No more than a memory holds that keeps its data over a flush.
    Buffer,
    /// The drive shows cells, of which some are written faster.
    CellCache,
    /// Writes behind it come at the rate of a limit.
    RateLimit,
    /// Nothing shows whether a cache was full or a limit came.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteLevel {
    pub from_bytes: f64,
    pub from_bytes_low: f64,
    pub from_bytes_high: f64,
    pub bytes_per_second: f64,
    pub low: f64,
    pub high: f64,
    pub comes_back: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaterLevel {
    pub bytes: f64,
    pub bytes_low: f64,
    pub bytes_high: f64,
    pub bytes_per_second: f64,
    pub low: f64,
    pub high: f64,
}

/// A further drop between two amounts written, while idle times were tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelBelow {
    pub from_bytes: f64,
    pub to_bytes: f64,
    pub bytes_per_second: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteKind {
    pub order: WriteOrder,
    pub block: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteOrder {
    Sequential,
    Mixed { random_share: f64 },
    Random,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WriteCliffUnknown {
    NothingWritten,
    NoTime,
    None(NoCliff),
    /// Throughput dropped towards the end of what was written.
    StillFalling {
        writes: WriteKind,
        written_bytes: f64,
    },
    /// Other offsets may be slower: the first were not written again.
    OfPlace(WriteDrop),
    /// Something between host and drive may have done it.
    NotTheDrive(WriteDrop),
    /// It came back while little was written: heat.
    Heat(WriteDrop),
    /// Free space had to be reclaimed.
    GarbageCollection(WriteDrop),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteDrop {
    pub writes: WriteKind,
    pub before: f64,
    pub after: f64,
    pub bytes: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NoCliff {
    pub writes: WriteKind,
    pub written_bytes: f64,
    pub mean: f64,
    pub acknowledged: f64,
    pub course: NoCliffCourse,
    pub limit: Option<NoCliffLimit>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoCliffCourse {
    Even,
    CameBack {
        from_bytes: f64,
        bytes: f64,
        slow: f64,
        last: f64,
    },
    /// Slower for good, but up and down.
    Swings {
        first_bytes: f64,
        first: f64,
        slowest: f64,
    },
    /// Faster only for as much as the drive's own memory may hold.
    FastStart {
        first_bytes: f64,
        first: f64,
    },
    Declines {
        quickest: f64,
        last: f64,
    },
}

/// Why more than was written may be needed, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoCliffLimit {
    /// Small writes go in place: there is no media cache.
    InPlace,
    /// A media cache need not fill within so small a range.
    SmallRange { bytes: u64 },
    /// A write cache may hold more than was written.
    NotWholeRange,
}

fn is_false(flag: &bool) -> bool {
    !flag
}
