//! What a detector concludes: a value with its interval, the evidence it rests on and what to do about it; or that
//! it could not tell, and why.

use crate::estimate::Estimate;
use std::borrow::Cow;

/// A name that the program knows when it is built, or one that was read from a stored run.
pub type Name = Cow<'static, str>;

macro_rules! finding_codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $unit:expr;)*) => {
        /// What a finding is about. Names, units and meanings are the contract with every reader of our JSON.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FindingCode { $($(#[$doc])* $variant,)* }

        impl FindingCode {
            /// All of them, in the order in which they are shown.
            pub const ALL: &'static [FindingCode] = &[$(FindingCode::$variant,)*];

            /// The word in files and on screens.
            pub fn name(self) -> &'static str {
                match self { $(FindingCode::$variant => $name,)* }
            }

            /// The unit of its value; none where the value is a word.
            pub fn unit(self) -> Option<&'static str> {
                match self { $(FindingCode::$variant => $unit,)* }
            }
        }
    };
}

finding_codes! {
    /// Requests that failed: number of ranges.
    BadBlocks = "bad-blocks", Some("count");
    /// Requests of a pass over every block that took half a second or failed: number of requests.
    BlockLatency = "block-latency", Some("count");
    /// The device went away during the run: seconds after its start.
    DeviceLost = "device-lost", Some("s");
    /// How long the drive took to wake up at the start of the run, s.
    WakeUp = "wake-up", Some("s");
    /// Whether a cache or memory, rather than a drive, may have answered: number of reasons.
    CacheInfluence = "cache-influence", Some("count");
    /// How much it really holds, bytes.
    CapacityTrue = "capacity-true", Some("bytes");
    /// Blocks that did not hold what was written to them: number of blocks.
    DataIntegrity = "data-integrity", Some("count");
    /// Sequential read rate at the start, B/s.
    ReadRateOuter = "read-rate-outer", Some("B/s");
    /// Sequential read rate at the end, B/s.
    ReadRateInner = "read-rate-inner", Some("B/s");
    /// Capacity over the time of a full read pass, B/s.
    ReadRateMean = "read-rate-mean", Some("B/s");
    /// Sequential write rate at the start, B/s.
    WriteRateOuter = "write-rate-outer", Some("B/s");
    /// Sequential write rate at the end, B/s.
    WriteRateInner = "write-rate-inner", Some("B/s");
    /// Capacity over the time of a full write pass, B/s.
    WriteRateMean = "write-rate-mean", Some("B/s");
    /// Read rate at the start over read rate at the end.
    ZoneRatio = "zone-ratio", Some("ratio");
    /// Zones: stretches of one rate each.
    ZoneCount = "zone-count", Some("count");
    /// The same with a table of where each begins and how fast it is.
    ZoneTable = "zone-table", Some("count");
    /// Time of a full pass, s.
    FullPassTime = "full-pass-time", Some("s");
    /// What the link carries, where it and not the medium is the limit, B/s.
    InterfaceLimit = "interface-limit", Some("B/s");
    /// What the maker states, against what was measured: number of figures compared.
    DatasheetClaims = "datasheet-claims", Some("count");
    /// Regions that are much slower than those around them: number of regions.
    SlowRegions = "slow-regions", Some("count");
    /// Stretches of flash that were never written, or trimmed: number of stretches.
    UnmappedRanges = "unmapped-ranges", Some("count");
    /// Mean of single random reads over the whole span, s.
    AccessTime = "access-time", Some("s");
    /// Time of a turn of the platters, s.
    RotationPeriod = "rotation-period", Some("s");
    /// Seek to a neighbouring track, s.
    SeekTrackToTrack = "seek-track-to-track", Some("s");
    /// Mean seek between two random places, s.
    SeekAverage = "seek-average", Some("s");
    /// Seek from one end to the other, s.
    SeekFullStroke = "seek-full-stroke", Some("s");
    /// Zones seen in the number of sectors on a track, with skew and surfaces.
    TrackLayout = "track-layout", Some("count");
    /// Kinds of answers that single random reads get, by how long they take.
    LatencyModes = "latency-modes", Some("count");
    /// Best IOPS over IOPS of one request at a time.
    ConcurrencyGain = "concurrency-gain", Some("ratio");
    /// Threads or depth from which more brings less than it costs.
    ConcurrencyKnee = "concurrency-knee", Some("count");
    /// IOPS over 1 % of the span over IOPS over all of it.
    SpanEffect = "span-effect", Some("ratio");
    /// The drive's cache, bytes.
    DriveCache = "drive-cache", Some("bytes");
    /// How far the drive reads on after a read, bytes.
    ReadAhead = "read-ahead", Some("bytes");
    /// How far the system reads on through its page cache, beyond a row of reads, bytes.
    SystemReadAhead = "system-read-ahead", Some("bytes");
    /// Drives that share the reads of a volume, as a stripe or as a mirror; 1 is no sharing.
    StripeLayout = "stripe-layout", Some("count");
    /// How the medium is recorded: `cmr`, `smr` or `flash`.
    RecordingKind = "recording-kind", None;
    /// How much a shingled disk rewrites at a time: the size of its bands, bytes.
    BandSize = "band-size", Some("bytes");
    /// What can be written before the write rate falls for good, bytes.
    WriteCliff = "write-cliff", Some("bytes");
    /// The rate of random writes that go on for ever, B/s.
    WriteSteadyState = "write-steady-state", Some("B/s");
    /// What a write cache regains per second of idling, B/s.
    IdleRecovery = "idle-recovery", Some("B/s");
    /// Steady write rate on a part of the drive over that on all of it.
    ClippingEffect = "clipping-effect", Some("ratio");
    /// Short falls of the write rate that recur: number in the last pass.
    WriteValleys = "write-valleys", Some("count");
    /// What makes them go away: `fill`, `passes`, `erase` or `none`.
    ValleyCure = "valley-cure", None;
    /// Rates by the size of the requests: number of sizes.
    SizeProfile = "size-profile", Some("count");
    /// Sizes whose rate a valley has spoilt: number of sizes.
    SuspectPoints = "suspect-points", Some("count");
    /// A new file written in blocks, its flush counted, B/s. Of these and all that follow, one for each folder.
    FileWriteRate = "file-write-rate", Some("B/s");
    /// A file read, changed and written back block by block, its flush counted, B/s.
    FileRewriteRate = "file-rewrite-rate", Some("B/s");
    /// A file read in blocks, B/s.
    FileReadRate = "file-read-rate", Some("B/s");
    /// A new file written byte by byte through a small buffer, its flush counted, B/s.
    FilePerByteWriteRate = "file-per-byte-write-rate", Some("B/s");
    /// A file read byte by byte through a small buffer, B/s.
    FilePerByteReadRate = "file-per-byte-read-rate", Some("B/s");
    /// Reads at random places of a file by several threads, one in ten written back, 1/s.
    FileSeeks = "file-seeks", Some("1/s");
    /// Files made with names in order, the flush counted, 1/s.
    FileCreateRate = "file-create-rate", Some("1/s");
    /// Files looked at in order, 1/s.
    FileStatRate = "file-stat-rate", Some("1/s");
    /// Files opened and read in order, 1/s.
    FileOpenRate = "file-open-rate", Some("1/s");
    /// Files removed in order, the flush counted, 1/s.
    FileDeleteRate = "file-delete-rate", Some("1/s");
    /// Files made with random names, the flush counted, 1/s.
    FileRandomCreateRate = "file-random-create-rate", Some("1/s");
    /// Files looked at in random order, 1/s.
    FileRandomStatRate = "file-random-stat-rate", Some("1/s");
    /// Files opened and read in random order, 1/s.
    FileRandomOpenRate = "file-random-open-rate", Some("1/s");
    /// Files removed in random order, the flush counted, 1/s.
    FileRandomDeleteRate = "file-random-delete-rate", Some("1/s");
    /// Pieces in which a file lies, and on which disk and where: number of pieces.
    FileLayout = "file-layout", Some("count");
    /// Several folders: rate of reading in blocks in the fastest over that in the slowest; what differs and what does not.
    FilePlaceEffect = "file-place-effect", Some("ratio");
}

impl FindingCode {
    /// The code with that word.
    pub fn from_name(name: &str) -> Option<FindingCode> {
        FindingCode::ALL.iter().copied().find(|code| code.name() == name)
    }
}

/// A conclusion.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub code: FindingCode,
    /// What was found, or why nothing could be.
    pub outcome: Outcome,
}

/// What was found, or why nothing could be.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Found.
    Known(Box<Conclusion>),
    /// Looked, and could not tell.
    Unknown {
        /// The reason, and what would settle it: a sentence.
        why: String,
    },
}

/// The content of a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// The value.
    pub value: Value,
    /// One sentence for a person.
    pub statement: String,
    /// The stretches of data it rests on.
    pub evidence: Vec<Evidence>,
    /// What to do about it, if anything.
    pub advice: Option<String>,
    /// Details by name, as the contract lists them for the code.
    pub data: Vec<(Name, Datum)>,
}

/// The value of a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number with its interval, in this unit.
    Number {
        /// The number.
        estimate: Estimate,
        /// "B/s", "s", "bytes", "ratio", "count", …
        unit: Name,
    },
    /// A kind, such as "cmr".
    Text(Name),
}

/// A stretch of data that a finding rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Which phase of the run, counted from 0.
    pub phase: u32,
    /// From when in the run, in seconds.
    pub start_s: f64,
    /// For how long, in seconds.
    pub seconds: f64,
}

/// A detail of a finding: what JSON can hold, without a library for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// A number.
    Number(f64),
    /// A whole number: a byte offset does not fit into a float.
    Integer(u64),
    /// Yes or no.
    Flag(bool),
    /// A word or sentence.
    Text(String),
    /// Several.
    List(Vec<Datum>),
    /// Several, by name.
    Record(Vec<(Name, Datum)>),
}

impl Datum {
    /// Several details by name.
    pub fn record<N: Into<Name>>(parts: impl IntoIterator<Item = (N, Datum)>) -> Datum {
        Datum::Record(parts.into_iter().map(|(name, datum)| (name.into(), datum)).collect())
    }
}

impl Value {
    /// A kind, such as "cmr".
    pub fn text(kind: impl Into<Name>) -> Value {
        Value::Text(kind.into())
    }
}

impl Finding {
    /// A finding that could not tell.
    pub fn unknown(code: FindingCode, why: impl Into<String>) -> Finding {
        Finding { code, outcome: Outcome::Unknown { why: why.into() } }
    }

    /// A finding with a number.
    pub fn number(
        code: FindingCode,
        estimate: Estimate,
        unit: impl Into<Name>,
        statement: impl Into<String>,
        evidence: Vec<Evidence>,
    ) -> Finding {
        let conclusion = Conclusion {
            value: Value::Number { estimate, unit: unit.into() },
            statement: statement.into(),
            evidence,
            advice: None,
            data: Vec::new(),
        };
        Finding { code, outcome: Outcome::Known(Box::new(conclusion)) }
    }

    /// The same with advice. Nothing happens to an unknown.
    pub fn with_advice(mut self, advice: impl Into<String>) -> Finding {
        if let Outcome::Known(conclusion) = &mut self.outcome {
            conclusion.advice = Some(advice.into());
        }
        self
    }

    /// The same with one more detail. Nothing happens to an unknown.
    pub fn with_data(mut self, name: impl Into<Name>, datum: Datum) -> Finding {
        if let Outcome::Known(conclusion) = &mut self.outcome {
            conclusion.data.push((name.into(), datum));
        }
        self
    }

    /// The number, if it has one.
    pub fn estimate(&self) -> Option<&Estimate> {
        match &self.outcome {
            Outcome::Known(conclusion) => match &conclusion.value {
                Value::Number { estimate, .. } => Some(estimate),
                Value::Text(_) => None,
            },
            Outcome::Unknown { .. } => None,
        }
    }
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
    fn an_unknown_has_no_number() {
        let finding = Finding::unknown(FindingCode::AccessTime, "too few reads").with_advice("run longer");
        assert_eq!(finding.estimate(), None);
    }
}
