//! Findings of how a medium is recorded.

use crate::estimate::Estimate;
use serde::Serialize;

concludes! {
    RecordingKind(it): RecordingUnknown => it.recording.name();
    BandSize(it): BandSizeUnknown => it.size;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordingKind {
    #[serde(skip)]
    pub recording: Recording,
    pub reasons: Vec<RecordingReason>,
    #[serde(skip)]
    pub times: ProbeTimes,
    /// What a write costs after the write cliff, relative to a seek and a write in place.
    #[serde(skip)]
    pub cost_after_cliff: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    Cmr,
    Smr,
    Flash,
}

impl Recording {
    pub fn name(self) -> &'static str {
        match self {
            Recording::Cmr => "cmr",
            Recording::Smr => "smr",
            Recording::Flash => "flash",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RecordingReason {
    /// After the write cliff a write rewrites more than its own sectors.
    RewritesAfterCliff,
    /// Small random writes are appended to a log.
    WritesToLog,
    /// What was written reads more slowly than its neighbours until it is cleaned, bands as a whole.
    CleansBands,
    WritesInPlace,
    /// Random reads complete sooner than an arm moves.
    TooFastForArm,
    SaysZoned,
    /// It rotates and takes TRIM, which of all disks only SMR needs.
    SaysTrim,
    SaysNotRotational,
    DataSheet,
    Rotates,
    /// Latency grows with the distance between reads.
    Seeks,
    /// Writes complete in half the time of reads and less.
    BuffersWrites,
    /// Writes take several times as long as reads.
    ProgramsCells,
    /// Written offsets take longer to read than others.
    SensesCells,
    /// Throughput dropped by garbage collection, which sequential writes ended.
    ReclaimsSpace,
}

/// Medians of the probes of small requests, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProbeTimes {
    /// A write of a burst, with its flush.
    pub write_s: Option<f64>,
    /// A read of a sweep over the range in order.
    pub sweep_read_s: Option<f64>,
    pub single_read_s: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RecordingUnknown {
    /// The range has too few places to tell writes in place from others.
    RangeTooSmall,
    /// Reads as slow as those of a disk, but rereads show no revolution, and latency does not grow with distance.
    NothingMoves(ProbeTimes),
    /// The run has no rereads, which show whether anything rotates.
    NoRereads,
    /// Writes go to their places, but these reasons speak for SMR; where there are none, throughput dropped.
    InPlaceYetShingled {
        times: ProbeTimes,
        reasons: Vec<RecordingReason>,
    },
    LogWithoutCliff(ProbeTimes),
    /// After the cliff writes are no slower than in place, as within a small part of an SMR disk.
    LogWithoutCost(ProbeTimes),
    SlowFromStart(ProbeTimes),
    Unclear(ProbeTimes),
    AnsweredByMemory,
    EqualTimes,
    /// Too fast for an arm, and yet the drive says that it rotates.
    CacheOfDisk,
    /// Too fast for an arm, and nothing tells flash from memory.
    NothingTold,
}

/// Size of the bands that an SMR disk rewrites as one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BandSize {
    #[serde(skip)]
    pub size: Estimate,
    pub first_byte: u64,
    pub borders: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandSizeUnknown {
    /// The media cache was not cleaned while the drive was idle.
    NotCleaned,
    /// Reads of one block contradict each other.
    Interference,
    UnevenBorders {
        borders: usize,
    },
}
