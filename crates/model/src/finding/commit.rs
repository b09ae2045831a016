//! Findings of commits: how long they take, how many there are in a second, and whether they last.

use super::{Conclusion, Name, Value};
use crate::commit::{Application, BesideLoad, CommitMethod, Log};
use crate::estimate::Estimate;
use crate::units::{Bytes, Quantile};
use serde::Serialize;

concludes! {
    CommitRate(it): CommitUnknown::RateLimited => it.best;
    FastestCommit(it): CommitUnknown::RateLimited => it.word();
    FlushHonoured(it): FlushUnknown => it.effect.name();
}

/// One committer, nothing beside it; the value is the 99th percentile of the first size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitLatency {
    #[serde(skip)]
    pub p99: Estimate,
    pub method: CommitMethod,
    pub log: Log,
    /// By size, the first for the value.
    pub points: Vec<CommitPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<Application>,
}

/// Percentiles with their intervals by order statistics; none where there are too few commits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitPoint {
    pub write_bytes: Bytes,
    pub commits: u64,
    pub p50: Option<Percentile>,
    pub p99: Option<Percentile>,
    pub p999: Option<Percentile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Percentile {
    pub seconds: f64,
    pub low: f64,
    pub high: f64,
}

impl From<Estimate> for Percentile {
    fn from(estimate: Estimate) -> Percentile {
        Percentile { seconds: estimate.value, low: estimate.low, high: estimate.high }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum CommitUnknown {
    TooFew {
        have: u64,
    },
    Failed {
        why: String,
    },
    NothingToCompare,
    /// In memory, where flushes are ignored, or where each method completes before the medium can have the data.
    NothingDurable,
    RateLimited,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitRate {
    #[serde(skip)]
    pub best: Estimate,
    pub best_committers: u32,
    /// Whether each of them had a log to itself.
    pub best_separate_files: bool,
    pub one_per_second: f64,
    pub points: Vec<RatePoint>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatePoint {
    pub committers: u32,
    pub separate_files: bool,
    pub per_second: f64,
    pub p99_s: Option<f64>,
}

/// The durable method with the lowest median: `fdatasync`, or `alike` where intervals do not tell which that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FastestCommit {
    /// The fastest first, and those that its interval does not tell from it.
    pub alike: Vec<CommitMethod>,
    /// That of the fastest; none where those of several are alike.
    pub log: Option<Log>,
    /// Median of the way that stands for the drive, over that of the fastest; 1 where they are alike.
    pub gain: f64,
    /// Ways that are durable here, the fastest first.
    pub points: Vec<MethodPoint>,
    /// They complete before the medium can have the data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_durable: Vec<CommitMethod>,
}

impl FastestCommit {
    fn word(&self) -> &'static str {
        match self.alike.as_slice() {
            [fastest] => fastest.name(),
            _ => "alike",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MethodPoint {
    pub method: CommitMethod,
    pub log: Log,
    pub p50_s: f64,
    pub p50_low_s: f64,
    pub p50_high_s: f64,
    pub p99_s: Option<f64>,
}

/// 99th percentile beside other load over that alone; the value is the largest ratio.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitInterference {
    #[serde(skip)]
    pub ratio: Estimate,
    pub load: BesideLoad,
    pub alone_p99_s: f64,
    pub points: Vec<InterferencePoint>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterferencePoint {
    pub load: BesideLoad,
    pub p99_s: f64,
    pub ratio: f64,
}

/// What a flush does: `honoured`, `ignored` or `protected`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlushHonoured {
    #[serde(skip)]
    pub effect: FlushEffect,
    #[serde(flatten)]
    pub seen: FlushEvidence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushEffect {
    /// What was written is on the medium when the flush completes.
    Honoured,
    /// It completes before that, though the drive says that its cache is volatile.
    Ignored,
    /// It completes before that, and the drive says that it has no volatile cache.
    Protected,
}

impl FlushEffect {
    pub fn name(self) -> &'static str {
        match self {
            FlushEffect::Honoured => "honoured",
            FlushEffect::Ignored => "ignored",
            FlushEffect::Protected => "protected",
        }
    }
}

/// Medians of single 4 KiB requests at random offsets, and what drive and stack say.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlushEvidence {
    pub read_s: f64,
    pub write_s: f64,
    pub commit_s: f64,
    pub reports_volatile_cache: Option<bool>,
    /// Each fact of the stack by its name.
    pub state: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FlushUnknown {
    /// tmpfs and the like: nothing is durable.
    InMemory,
    Network,
    /// A flush failed: what was acknowledged before may be lost.
    Failed {
        commits: u64,
    },
    TooFew {
        reads: u64,
        writes: u64,
        commits: u64,
    },
    /// Faster than a medium, on a disk that a hypervisor lends.
    Hypervisor(FlushEvidence),
    /// Faster than a medium, and nobody says whether the cache is volatile.
    Unreported(FlushEvidence),
    /// A flush adds no time, and a write is slow enough to have stored its data by itself.
    DurableByItself(FlushEvidence),
    /// Neither as slow as a medium nor as fast as a cache.
    Unclear(FlushEvidence),
}

/// Whether commits are within the limit of a program: `yes`, `no` or `edge`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitVerdict {
    #[serde(skip)]
    pub fitness: Fitness,
    pub application: Application,
    #[serde(serialize_with = "percent")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub percentile: Quantile,
    pub limit_s: f64,
    pub latency: Option<Percentile>,
    /// That the true percentile is within the limit.
    pub probability: f64,
    #[serde(flatten)]
    pub rates: CrowdRates,
    pub gains: Vec<CommitGain>,
    pub source: &'static str,
}

fn percent<S: serde::Serializer>(quantile: &Quantile, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((quantile.get() * 1e5).round() / 1e3)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitness {
    Yes,
    No,
    Edge,
}

/// What one connection commits in a second, and what the most that were measured do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CrowdRates {
    pub one_per_second: f64,
    pub crowd: u32,
    pub crowd_per_second: f64,
}

/// Something that was measured to be faster: how many times.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitGain {
    pub what: GainBy,
    /// 99th percentile as it is over that with the change.
    pub ratio: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GainBy {
    Way(CommitMethod, Log),
    /// Without the load beside it: a disk of its own.
    OwnDisk(BesideLoad),
}

#[derive(Clone, Debug, PartialEq)]
pub enum VerdictUnknown {
    NoLimit {
        application: Application,
        rates: CrowdRates,
        source: &'static str,
    },
    TooFew {
        have: u64,
    },
    /// tmpfs and the like: nothing is durable, however fast.
    InMemory,
}

impl Conclusion for CommitLatency {
    type Unknown = CommitUnknown;

    fn rate_limited() -> Option<CommitUnknown> {
        Some(CommitUnknown::RateLimited)
    }

    fn value(&self) -> Value {
        Value::Number(self.p99)
    }

    /// Its sentence tells percentiles with their intervals; of stalls these are wide.
    fn is_bound(&self) -> bool {
        true
    }
}

impl Conclusion for CommitInterference {
    type Unknown = CommitUnknown;

    fn rate_limited() -> Option<CommitUnknown> {
        Some(CommitUnknown::RateLimited)
    }

    fn value(&self) -> Value {
        Value::Number(self.ratio)
    }

    fn is_bound(&self) -> bool {
        true
    }
}

impl Conclusion for CommitVerdict {
    type Unknown = VerdictUnknown;

    fn value(&self) -> Value {
        Value::Word(Name::Borrowed(match self.fitness {
            Fitness::Yes => "yes",
            Fitness::No => "no",
            Fitness::Edge => "edge",
        }))
    }
}
