//! What a detector concludes: a typed value with its interval and the evidence it rests on; or that it could not tell,
//! and the reason as a type. Sentences are made in `report`.
//!
//! A new finding is one line in [`findings!`] and one file here; what does not know it yet does not compile.

pub use access::{
    AccessMeasured, AccessParts, AccessTime, AccessTimeUnknown, CacheUnknown, CachedSequence,
    CompletionPairs, ConcurrencyAxis, ConcurrencyGain, ConcurrencyKnee, ConcurrencyPoint, ConcurrencyUnknown,
    DriveCache, InFlight, Interference, LatencyMode, LatencyModes, LatencyModesUnknown, MemberBegins,
    OperatingPoint, OtherKnee, PrefetchStreams, ReadAhead, Reader, ScalabilityLaw, StripeLayout,
    StripeLayoutUnknown, SystemReadAhead, SystemReadAheadUnknown, VolumeKind, WriteGain,
};
pub use bad_blocks::{BadBlocks, BadBlocksUnknown, BadRegion};
pub use block_latency::{BlockLatency, ClassCount, OperationMap};
pub use cache_influence::{CacheInfluence, CacheSign};
pub use capacity_true::{CapacityTrue, CapacityTrueUnknown, PastTheEnd};
pub use commit::{
    CommitGain, CommitInterference, CommitLatency, CommitPoint, CommitRate, CommitUnknown, CommitVerdict,
    CrowdRates, FastestCommit, Fitness, FlushEffect, FlushEvidence, FlushHonoured, FlushUnknown, GainBy,
    InterferencePoint, MethodPoint, Percentile, RatePoint, VerdictUnknown,
};
pub use contradiction::{Contradicting, Contradiction, ContradictionKind, Contradictions};
pub use data_integrity::{DataIntegrity, DataIntegrityUnknown, WrongKind, WrongRegion};
pub use datasheet_claims::{
    Certainty, Claim, ClaimName, ClaimedFigure, ClaimedRecording, DatasheetClaims, DatasheetClaimsUnknown,
};
pub use device_lost::DeviceLost;
pub use document::{EvidenceDocument, FindingDocument, ValueDocument};
pub use files::{
    FilePart, FilePlaceEffect, FilePlacement, FilePlacementUnknown, FileRate, FileRateUnknown, FolderPlace,
    PlaceLimit, ProcessorShare, TaskEffect, TooFewCommonRounds,
};
pub use geometry::{
    NoGeometry, RotationPeriod, SeekAverage, SeekFullStroke, SeekPoint, SeekTrackToTrack, TrackLayout,
    TrackZone,
};
pub use imported::Imported;
pub use rate_limit::{LimitedBy, LimitedOperations, RateLimit, RateLimitUnknown};
pub use read_latency::{ReadLatency, ReadLatencyUnknown};
pub use recording::{
    BandSize, BandSizeUnknown, ProbeTimes, Recording, RecordingKind, RecordingReason, RecordingUnknown,
};
pub use sizes::{
    NEARLY, SizePattern, SizePoint, SizeProfile, SizeRounds, SizeSaturation, SizesUnknown, SuspectPoint,
    SuspectPoints, SuspectReason,
};
pub use span_effect::{SpanEffect, SpanEffectUnknown, SpanPoint};
pub use survey::{
    FigureKind, FigureRatio, FullPassTime, ImportedRatio, InterfaceLimit, LatencyClasses, LimitReach,
    OtherLoad, PORT_DATA_SHARE, PassBasis, Quicker, RateOf, SampledSize, SequentialRate, SlowKind,
    SlowRegion, SlowRegions, Slowed, StreamSetting, Streaming, SurveyUnknown, UnmappedRanges, Zone,
    ZoneCount, ZoneRatio, ZoneTable,
};
pub use sustained::{
    ClippingEffect, ClippingEffectUnknown, ClippingPoint, IdlePoint, IdleRecovery, IdleRecoveryUnknown,
    WriteSteadyState, WriteSteadyStateUnknown,
};
pub use valleys::{
    Cure, CureArea, CureCondition, LastingFall, Narrowed, NoValleys, NoValleysKind, OffsetTest,
    OffsetValleys, RecurringValleys, RhythmTest, Treatment, ValleyCure, ValleyPass, ValleyPattern,
    ValleyTrigger, WriteValleys, WriteValleysUnknown,
};
pub use wake_up::WakeUp;
pub use write_cache::{WriteCache, WriteCacheUnknown};
pub use write_cliff::{
    CliffCause, LaterLevel, LevelBelow, NoCliff, NoCliffCourse, NoCliffLimit, WriteCliff, WriteCliffUnknown,
    WriteDrop, WriteKind, WriteLevel, WriteOrder,
};

use crate::estimate::Estimate;
use crate::range::ByteRange;
use serde::Serialize;
use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;

/// A name that the program knows when it is built, or one that was read from a stored run.
pub type Name = Cow<'static, str>;

/// The content of a finding that is known. Its serialised form is the key `data` of the JSON document, so that field
/// names are the contract; what stands elsewhere in the document is skipped.
pub trait Conclusion: Serialize + Clone + Debug + PartialEq + 'static {
    /// Why it may not be known.
    type Unknown: Clone + Debug + PartialEq + 'static;

    /// The value: a number in the unit of the code, or a word.
    fn value(&self) -> Value;

    /// The unit of the value where it differs from that of the code.
    fn unit(&self) -> Option<Name> {
        None
    }

    /// Whether its sentence tells bounds or what was counted, and no value: then its interval may be wide.
    fn is_bound(&self) -> bool {
        false
    }

    /// The reason where a rate limit left too little to tell.
    fn rate_limited() -> Option<Self::Unknown> {
        None
    }

    /// The extents that it is about, where it names them; else it is about those of its evidence.
    fn places(&self) -> Vec<ByteRange> {
        Vec::new()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(Estimate),
    Word(Name),
}

impl From<Estimate> for Value {
    fn from(number: Estimate) -> Value {
        Value::Number(number)
    }
}

impl From<&'static str> for Value {
    fn from(word: &'static str) -> Value {
        Value::Word(word.into())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<C: Conclusion> {
    Known(Box<Known<C>>),
    Unknown(C::Unknown),
    /// A number that is too uncertain to be stated or used (see [`Estimate::is_conclusive`]); nothing else of it is kept.
    Inconclusive(Estimate),
    /// It cannot be true together with that one, and `contradictions` tells what both said.
    Withdrawn(FindingCode),
}

/// A conclusion with what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Known<C> {
    pub conclusion: C,
    /// The extents of data it rests on.
    pub evidence: Vec<Evidence>,
    /// Signs that something other than a drive answered, by their names in the data.
    pub caveats: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    pub phase: u32,
    /// From when in the run, in seconds.
    pub start_s: f64,
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Count,
    Seconds,
    Bytes,
    BytesPerSecond,
    PerSecond,
    Ratio,
    Word,
}

impl Unit {
    /// As it stands in files; none where the value is a word.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Unit::Count => Some("count"),
            Unit::Seconds => Some("s"),
            Unit::Bytes => Some("bytes"),
            Unit::BytesPerSecond => Some("B/s"),
            Unit::PerSecond => Some("1/s"),
            Unit::Ratio => Some("ratio"),
            Unit::Word => None,
        }
    }
}

/// Conclusions of which no more is to be said than their value, why it may be unknown, and which of these reasons a rate limit is.
macro_rules! concludes {
    ($($type:ident($it:ident): $unknown:ident $(:: $limited:ident)? => $value:expr;)+) => {
        $(impl $crate::finding::Conclusion for $type {
            type Unknown = $unknown;

            $(fn rate_limited() -> Option<$unknown> {
                Some($unknown::$limited)
            })?

            fn value(&self) -> $crate::finding::Value {
                let $it = self;
                $value.into()
            }
        })+
    };
}

macro_rules! findings {
    ($($(#[$doc:meta])* $variant:ident: $conclusion:ident = $name:literal, $unit:expr;)*) => {
        /// What a finding is about. Names, units and meanings are the contract with every reader of our JSON.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
        pub enum FindingCode { $($(#[$doc])* #[serde(rename = $name)] $variant,)* }

        impl FindingCode {
            /// All of them, in the order in which they are shown.
            pub const ALL: &'static [FindingCode] = &[$(FindingCode::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $(FindingCode::$variant => $name,)* }
            }

            /// The unit of its value; none where the value is a word.
            pub fn unit(self) -> Option<&'static str> {
                let unit: Unit = match self { $(FindingCode::$variant => $unit,)* };
                unit.name()
            }
        }

        #[derive(Clone, Debug, PartialEq)]
        pub enum Finding { $($(#[$doc])* $variant(Outcome<$conclusion>),)* }

        impl Finding {
            pub fn code(&self) -> FindingCode {
                match self { $(Finding::$variant(_) => FindingCode::$variant,)* }
            }

            /// The finding of that code whose number is too uncertain to be stated.
            pub fn inconclusive(code: FindingCode, estimate: Estimate) -> Finding {
                match code { $(FindingCode::$variant => Finding::$variant(Outcome::Inconclusive(estimate)),)* }
            }

            /// That it is not known since a rate limit was met; none of a code that has no such reason.
            pub fn rate_limited(code: FindingCode) -> Option<Finding> {
                match code {
                    $(FindingCode::$variant => {
                        let reason = <$conclusion as Conclusion>::rate_limited()?;
                        Some(Finding::$variant(Outcome::Unknown(reason)))
                    })*
                }
            }
        }

        /// Runs an expression with the type of the conclusion of a code: `with_conclusion!(code, C => expression)`.
        #[macro_export]
        macro_rules! with_conclusion {
            ($code:expr, $type:ident => $expression:expr) => {
                match $code { $($crate::finding::FindingCode::$variant => {
                    type $type = $crate::finding::$conclusion;
                    $expression
                })* }
            };
        }

        /// Runs an expression on the outcome of whatever finding it is: `with_outcome!(finding, outcome => expression)`.
        #[macro_export]
        macro_rules! with_outcome {
            ($finding:expr, $outcome:ident => $expression:expr) => {
                match $finding { $($crate::finding::Finding::$variant($outcome) => $expression,)* }
            };
        }
    };
}

findings! {
    /// Requests that failed: number of ranges.
    BadBlocks: BadBlocks = "bad-blocks", Unit::Count;
    /// Requests of a pass over every block that took half a second or failed: number of requests.
    BlockLatency: BlockLatency = "block-latency", Unit::Count;
    /// The device went away during the run: seconds after its start.
    DeviceLost: DeviceLost = "device-lost", Unit::Seconds;
    /// How long the drive took to wake up at the start of the run, s.
    WakeUp: WakeUp = "wake-up", Unit::Seconds;
    /// Whether a cache or memory, rather than a drive, may have answered: number of reasons.
    CacheInfluence: CacheInfluence = "cache-influence", Unit::Count;
    /// Findings that cannot both be true: number of pairs, each of which is withdrawn.
    Contradictions: Contradictions = "contradictions", Unit::Count;
    /// How much it really holds, bytes.
    CapacityTrue: CapacityTrue = "capacity-true", Unit::Bytes;
    /// Blocks that did not hold what was written to them: number of blocks.
    DataIntegrity: DataIntegrity = "data-integrity", Unit::Count;
    ReadRateOuter: SequentialRate = "read-rate-outer", Unit::BytesPerSecond;
    ReadRateInner: SequentialRate = "read-rate-inner", Unit::BytesPerSecond;
    /// Capacity over the time of a full read pass, B/s.
    ReadRateMean: SequentialRate = "read-rate-mean", Unit::BytesPerSecond;
    WriteRateOuter: SequentialRate = "write-rate-outer", Unit::BytesPerSecond;
    WriteRateInner: SequentialRate = "write-rate-inner", Unit::BytesPerSecond;
    /// Capacity over the time of a full write pass, B/s.
    WriteRateMean: SequentialRate = "write-rate-mean", Unit::BytesPerSecond;
    /// Read rate at the start over read rate at the end.
    ZoneRatio: ZoneRatio = "zone-ratio", Unit::Ratio;
    /// Zones: stretches of one rate each.
    ZoneCount: ZoneCount = "zone-count", Unit::Count;
    /// The same with a table of where each begins and how fast it is.
    ZoneTable: ZoneTable = "zone-table", Unit::Count;
    FullPassTime: FullPassTime = "full-pass-time", Unit::Seconds;
    /// What the link carries, where it and not the medium is the limit, B/s.
    InterfaceLimit: InterfaceLimit = "interface-limit", Unit::BytesPerSecond;
    /// A rate limit with burst credit: what it allows for ever, 1/s; B/s where it counts bytes.
    RateLimit: RateLimit = "rate-limit", Unit::PerSecond;
    /// What the maker states, against what was measured: number of figures compared.
    DatasheetClaims: DatasheetClaims = "datasheet-claims", Unit::Count;
    /// Regions that are much slower than those around them: number of regions.
    SlowRegions: SlowRegions = "slow-regions", Unit::Count;
    /// Stretches of flash that were never written, or trimmed: number of stretches.
    UnmappedRanges: UnmappedRanges = "unmapped-ranges", Unit::Count;
    /// Mean of single random reads over the whole span, s.
    AccessTime: AccessTime = "access-time", Unit::Seconds;
    RotationPeriod: RotationPeriod = "rotation-period", Unit::Seconds;
    SeekTrackToTrack: SeekTrackToTrack = "seek-track-to-track", Unit::Seconds;
    SeekAverage: SeekAverage = "seek-average", Unit::Seconds;
    SeekFullStroke: SeekFullStroke = "seek-full-stroke", Unit::Seconds;
    /// Zones seen in the number of sectors on a track, with skew and surfaces.
    TrackLayout: TrackLayout = "track-layout", Unit::Count;
    /// Latency of single random reads at a fixed rate, 99th percentile, s.
    ReadLatency: ReadLatency = "read-latency", Unit::Seconds;
    /// Kinds of answers that single random reads get, by how long they take.
    LatencyModes: LatencyModes = "latency-modes", Unit::Count;
    /// Best IOPS over IOPS of one request at a time.
    ConcurrencyGain: ConcurrencyGain = "concurrency-gain", Unit::Ratio;
    /// Threads or depth from which more brings less than it costs.
    ConcurrencyKnee: ConcurrencyKnee = "concurrency-knee", Unit::Count;
    /// IOPS over 1 % of the span over IOPS over all of it.
    SpanEffect: SpanEffect = "span-effect", Unit::Ratio;
    /// Bytes of the drive's cache that hold recent reads.
    DriveCache: DriveCache = "drive-cache", Unit::Bytes;
    /// How far the drive reads on after a read, bytes.
    ReadAhead: ReadAhead = "read-ahead", Unit::Bytes;
    /// How far the system reads on through its page cache, beyond a row of reads, bytes.
    SystemReadAhead: SystemReadAhead = "system-read-ahead", Unit::Bytes;
    /// Drives that share the reads of a volume, as a stripe or as a mirror; 1 is no sharing.
    StripeLayout: StripeLayout = "stripe-layout", Unit::Count;
    /// How the medium is recorded: `cmr`, `smr` or `flash`.
    RecordingKind: RecordingKind = "recording-kind", Unit::Word;
    /// How much a shingled disk rewrites at a time: the size of its bands, bytes.
    BandSize: BandSize = "band-size", Unit::Bytes;
    /// What is acknowledged before it is stored, bytes.
    WriteCache: WriteCache = "write-cache", Unit::Bytes;
    /// Whether commits are within the published limit of a program: `yes`, `no` or `edge`.
    CommitVerdict: CommitVerdict = "commit-verdict", Unit::Word;
    /// What a flush does: `honoured`, `ignored` or `protected`.
    FlushHonoured: FlushHonoured = "flush-honoured", Unit::Word;
    /// Write made durable by one committer, 99th percentile, s.
    CommitLatency: CommitLatency = "commit-latency", Unit::Seconds;
    /// Writes made durable per second, by the best number of committers, 1/s.
    CommitRate: CommitRate = "commit-rate", Unit::PerSecond;
    /// The fastest way to make a write durable: `fdatasync`, `o_dsync`.
    CommitMethod: FastestCommit = "commit-method", Unit::Word;
    /// 99th percentile of commits beside other load over that alone.
    CommitInterference: CommitInterference = "commit-interference", Unit::Ratio;
    /// What can be written before the write rate falls for good, bytes.
    WriteCliff: WriteCliff = "write-cliff", Unit::Bytes;
    /// The rate of random writes that go on for ever, B/s.
    WriteSteadyState: WriteSteadyState = "write-steady-state", Unit::BytesPerSecond;
    /// What a write cache regains per second of idling, B/s.
    IdleRecovery: IdleRecovery = "idle-recovery", Unit::BytesPerSecond;
    /// Steady write rate on a part of the drive over that on all of it.
    ClippingEffect: ClippingEffect = "clipping-effect", Unit::Ratio;
    /// Short falls of the write rate that recur: number in the last pass.
    WriteValleys: WriteValleys = "write-valleys", Unit::Count;
    /// What makes them go away: `fill`, `passes`, `erase` or `none`.
    ValleyCure: ValleyCure = "valley-cure", Unit::Word;
    /// Rates by the size of the requests: number of sizes.
    SizeProfile: SizeProfile = "size-profile", Unit::Count;
    /// Sizes whose rate a valley has spoilt: number of sizes.
    SuspectPoints: SuspectPoints = "suspect-points", Unit::Count;
    /// A new file written in blocks, its flush counted, B/s. Of these and all that follow, one for each folder.
    FileWriteRate: FileRate = "file-write-rate", Unit::BytesPerSecond;
    /// A file read, changed and written back block by block, its flush counted, B/s.
    FileRewriteRate: FileRate = "file-rewrite-rate", Unit::BytesPerSecond;
    FileReadRate: FileRate = "file-read-rate", Unit::BytesPerSecond;
    /// A new file written byte by byte through a small buffer, its flush counted, B/s.
    FilePerByteWriteRate: FileRate = "file-per-byte-write-rate", Unit::BytesPerSecond;
    FilePerByteReadRate: FileRate = "file-per-byte-read-rate", Unit::BytesPerSecond;
    /// Reads at random places of a file by several threads, one in ten written back, 1/s.
    FileSeeks: FileRate = "file-seeks", Unit::PerSecond;
    /// Files made with names in order, the flush counted, 1/s.
    FileCreateRate: FileRate = "file-create-rate", Unit::PerSecond;
    /// Files looked at in order, 1/s.
    FileStatRate: FileRate = "file-stat-rate", Unit::PerSecond;
    /// Files opened and read in order, 1/s.
    FileOpenRate: FileRate = "file-open-rate", Unit::PerSecond;
    /// Files removed in order, the flush counted, 1/s.
    FileDeleteRate: FileRate = "file-delete-rate", Unit::PerSecond;
    /// Files made with random names, the flush counted, 1/s.
    FileRandomCreateRate: FileRate = "file-random-create-rate", Unit::PerSecond;
    FileRandomStatRate: FileRate = "file-random-stat-rate", Unit::PerSecond;
    FileRandomOpenRate: FileRate = "file-random-open-rate", Unit::PerSecond;
    /// Files removed in random order, the flush counted, 1/s.
    FileRandomDeleteRate: FileRate = "file-random-delete-rate", Unit::PerSecond;
    /// Pieces in which a file lies, and on which disk and where: number of pieces.
    FileLayout: FilePlacement = "file-layout", Unit::Count;
    /// Several folders: rate of reading in blocks in the fastest over that in the slowest; what differs and what does not.
    FilePlaceEffect: FilePlaceEffect = "file-place-effect", Unit::Ratio;
}

// After the macro, which they use.
mod access;
mod bad_blocks;
mod block_latency;
mod cache_influence;
mod capacity_true;
mod commit;
mod contradiction;
mod data_integrity;
mod datasheet_claims;
mod device_lost;
mod document;
mod files;
mod geometry;
mod imported;
mod rate_limit;
mod read_latency;
mod recording;
mod sizes;
mod span_effect;
mod survey;
mod sustained;
mod valleys;
mod wake_up;
mod write_cache;
mod write_cliff;

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl FindingCode {
    pub fn from_name(name: &str) -> Option<FindingCode> {
        FindingCode::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl<C: Conclusion> Outcome<C> {
    /// The conclusion, if it is certain enough: here is decided for all that is said or computed from it.
    pub fn known(conclusion: C, evidence: Vec<Evidence>) -> Outcome<C> {
        match conclusion.value() {
            Value::Number(estimate) if !estimate.is_conclusive() && !conclusion.is_bound() => {
                Outcome::Inconclusive(estimate)
            }
            _ => Outcome::Known(Box::new(Known { conclusion, evidence, caveats: Vec::new() })),
        }
    }

    pub fn of(result: Result<C, C::Unknown>, evidence: Vec<Evidence>) -> Outcome<C> {
        match result {
            Ok(conclusion) => Outcome::known(conclusion, evidence),
            Err(reason) => Outcome::Unknown(reason),
        }
    }

    pub fn as_known(&self) -> Option<&Known<C>> {
        match self {
            Outcome::Known(known) => Some(known),
            Outcome::Unknown(_) | Outcome::Inconclusive(_) | Outcome::Withdrawn(_) => None,
        }
    }
}

impl Finding {
    pub fn is_known(&self) -> bool {
        with_outcome!(self, outcome => outcome.as_known().is_some())
    }

    pub fn value(&self) -> Option<Value> {
        with_outcome!(self, outcome => Some(outcome.as_known()?.conclusion.value()))
    }

    pub fn estimate(&self) -> Option<Estimate> {
        match self.value()? {
            Value::Number(estimate) => Some(estimate),
            Value::Word(_) => None,
        }
    }

    /// The unit of the value; none where the value is a word or is not known.
    pub fn unit(&self) -> Option<Name> {
        let special = with_outcome!(self, outcome => outcome.as_known()?.conclusion.unit());
        special.or_else(|| self.code().unit().map(Name::from))
    }

    pub fn word(&self) -> Option<Name> {
        match self.value()? {
            Value::Number(_) => None,
            Value::Word(word) => Some(word),
        }
    }

    /// Signs that something other than a drive answered; none when it is not known.
    pub fn caveats(&self) -> &[&'static str] {
        with_outcome!(self, outcome => match outcome.as_known() {
            Some(known) => &known.caveats,
            None => &[],
        })
    }

    /// The same with signs that something other than a drive answered. Nothing happens to an unknown.
    pub fn with_caveats(mut self, caveats: &[&'static str]) -> Finding {
        with_outcome!(&mut self, outcome => if let Outcome::Known(known) = outcome {
            known.caveats = caveats.to_vec();
        });
        self
    }

    /// Takes it back, since it contradicts another one.
    pub fn withdraw(&mut self, by: FindingCode) {
        with_outcome!(self, outcome => *outcome = Outcome::Withdrawn(by));
    }

    /// What it rests on; nothing when it is not known.
    pub fn evidence(&self) -> &[Evidence] {
        with_outcome!(self, outcome => match outcome.as_known() {
            Some(known) => &known.evidence,
            None => &[],
        })
    }

    /// The extents that it names; none when it is not known.
    pub fn places(&self) -> Vec<ByteRange> {
        with_outcome!(self, outcome => match outcome.as_known() {
            Some(known) => known.conclusion.places(),
            None => Vec::new(),
        })
    }

    /// Its outcome; none when it is of another type.
    pub fn as_outcome<C: Conclusion>(&self) -> Option<&Outcome<C>> {
        with_outcome!(self, outcome => (outcome as &dyn Any).downcast_ref())
    }

    /// Its content as that type; none when it is not known or of another type.
    pub fn as_known<C: Conclusion>(&self) -> Option<&Known<C>> {
        with_outcome!(self, outcome => (outcome.as_known()? as &dyn Any).downcast_ref::<Known<C>>())
    }
}

/// The first of the findings with that content, if it is known: for content that only one code has.
pub fn known<C: Conclusion>(findings: &[Finding]) -> Option<&Known<C>> {
    findings.iter().find_map(Finding::as_known)
}

pub fn of_code(findings: &[Finding], code: FindingCode) -> Option<&Finding> {
    findings.iter().find(|finding| finding.code() == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_come_back() {
        for (index, code) in FindingCode::ALL.iter().enumerate() {
            assert_eq!(FindingCode::from_name(code.name()), Some(*code), "{index}");
        }
    }

    #[test]
    fn units_are_those_of_the_contract() {
        assert_eq!(FindingCode::WriteCliff.unit(), Some("bytes"));
        assert_eq!(FindingCode::RecordingKind.unit(), None);
        assert_eq!(FindingCode::InterfaceLimit.unit(), Some("B/s"));
    }

    #[test]
    fn a_number_that_may_be_another_one_is_none() {
        let ratio = |low: f64, high: f64| {
            let ratio = Estimate { low, high, confidence: 0.95, ..Estimate::exact(1.0) };
            let ratio = ZoneRatio { ratio, places: Vec::new(), imported: None };
            Finding::ZoneRatio(Outcome::known(ratio, Vec::new()))
        };
        assert!(ratio(0.9, 1.1).is_known() && ratio(0.9, 1.1).estimate().is_some());
        for finding in [ratio(0.5, 1.6), ratio(0.0, 1.1)] {
            assert!(!finding.is_known() && finding.estimate().is_none(), "{finding:?}");
        }
    }

    #[test]
    fn an_unknown_has_no_number() {
        let finding = Finding::ZoneRatio(Outcome::Unknown(SurveyUnknown::NoTime));
        assert_eq!(finding.estimate(), None);
    }
}
