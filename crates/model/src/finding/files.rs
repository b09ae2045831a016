//! Findings of files and folders.

use crate::estimate::Estimate;
use crate::file_work::FileTask;
use crate::units::Bytes;
use serde::{Serialize, Serializer};

concludes! {
    FileRate(it): FileRateUnknown => it.rate;
    FilePlacement(it): FilePlacementUnknown => Estimate::exact(it.fragments as f64);
    FilePlaceEffect(it): TooFewCommonRounds => it.ratio;
}

/// How fast one task is in one folder: B/s or operations per second, by the code.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileRate {
    #[serde(skip)]
    pub rate: Estimate,
    pub folder: String,
    pub file_system: String,
    pub task: FileTask,
    pub rounds: usize,
    #[serde(flatten)]
    pub processor: Option<ProcessorShare>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p50_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p90_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p99_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_max_s: Option<f64>,
    /// The rate of the calls alone, where a flush follows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_flush: Option<f64>,
    /// The largest share of the file that was in memory before a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<Bytes>,
    /// What one call moves; of small files, the largest.
    #[serde(skip)]
    pub block: Bytes,
    #[serde(skip)]
    pub folders: u32,
    #[serde(skip)]
    pub threads: u32,
    /// Bytes or operations of all rounds.
    #[serde(skip)]
    pub amount: f64,
    #[serde(skip)]
    pub is_only_folder: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessorShare {
    #[serde(rename = "processor_percent")]
    pub percent: f64,
    #[serde(rename = "processor_program_percent")]
    pub program_percent: f64,
    #[serde(rename = "processor_kernel_percent")]
    pub kernel_percent: f64,
}

impl FileRate {
    /// From this share of one processor on it limits a task of one thread: the rest is less than rounds differ by.
    pub const PROCESSOR_PERCENT_LIMIT: f64 = 90.0;

    pub fn is_processor_bound(&self) -> bool {
        let is_busy = |share: ProcessorShare| share.percent >= FileRate::PROCESSOR_PERCENT_LIMIT;
        self.threads == 1 && self.processor.is_some_and(is_busy)
    }
}

/// Why a folder has no figure; the folder where there are several.
#[derive(Clone, Debug, PartialEq)]
pub enum FileRateUnknown {
    TooFewRounds {
        folder: Option<String>,
        rounds: usize,
    },
    /// A share of the file stayed in memory.
    Cached {
        folder: Option<String>,
        share: f64,
    },
}

/// Where a file lies: how many fragments.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilePlacement {
    pub folder: String,
    pub extents: u64,
    pub fragments: u64,
    pub is_contiguous: bool,
    pub disks: Vec<FilePart>,
    /// Why a part of it has no known place on a disk.
    #[serde(skip)]
    pub unplaced: Option<String>,
    #[serde(skip)]
    pub is_on_disk: bool,
    #[serde(skip)]
    pub is_only_folder: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilePart {
    pub disk: String,
    pub disk_bytes: u64,
    pub bytes: u64,
    pub first: u64,
    pub end: u64,
    /// Mean, from 0 for the start of the disk to 1 for its end.
    pub position: f64,
    /// Mean offset of its extents on the disk, in bytes.
    #[serde(skip)]
    pub middle: f64,
}

/// The file system does not tell, for a reason of its own; the folder where there are several.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePlacementUnknown {
    pub folder: Option<String>,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilePlaceEffect {
    #[serde(skip)]
    pub ratio: Estimate,
    pub tasks: Vec<TaskEffect>,
    pub places: Vec<FolderPlace>,
    #[serde(skip)]
    pub limit: Option<PlaceLimit>,
}

/// A task in the folder where it is fastest relative to where it is slowest.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskEffect {
    pub task: FileTask,
    pub fastest: String,
    pub slowest: String,
    #[serde(flatten, serialize_with = "ratio_interval")]
    #[cfg_attr(feature = "schema", schemars(with = "RatioInterval"))]
    pub ratio: Estimate,
    pub differs: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FolderPlace {
    pub folder: String,
    pub disk: String,
    /// From 0 for the start of the disk to 1 for its end.
    pub position: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlaceLimit {
    DifferentDisks,
    /// Reads differ by less than tracks do.
    BeforeMedium {
        is_processor: bool,
        /// What a disk reads at the outer place relative to the inner, at least.
        expected: f64,
        bytes_per_second: f64,
        /// Whether it is known to rotate.
        is_disk: bool,
    },
}

/// Fewer than three rounds in which all folders were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewCommonRounds;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RatioInterval {
    ratio: f64,
    low: f64,
    high: f64,
}

/// What is unbounded is not a number that files can hold.
fn ratio_interval<S: Serializer>(ratio: &Estimate, serializer: S) -> Result<S::Ok, S::Error> {
    let high = if ratio.high.is_finite() { ratio.high } else { f64::MAX };
    RatioInterval { ratio: ratio.value, low: ratio.low, high }.serialize(serializer)
}
