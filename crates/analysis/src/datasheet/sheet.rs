//! What a maker says of one model.

use super::model_name::ModelPattern;
use model::finding::Certainty;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    HardDisk,
    SolidState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Side by side (CMR), also where the maker did not say so because there was nothing else yet.
    Conventional,
    Shingled,
    /// Not known here, or no hard disk.
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Datasheet {
    /// Which models are meant, as the drive reports its model; `*` stands for any text, also none.
    pub model_pattern: &'static str,
    pub maker: &'static str,
    pub family: &'static str,
    /// Capacity in GB of 10^9 bytes, as sold.
    pub capacity_gb: f64,
    pub kind: Kind,
    /// Turns per minute. Some makers state a class and not the speed.
    pub turns_per_minute: Option<u32>,
    pub recording: Recording,
    /// The highest sustained rate of sequential reading in MB/s of 10^6 bytes: of a disk's outermost tracks.
    pub rate_max_mb_per_s: Option<f64>,
    /// The sustained rate averaged over the whole drive, in MB/s of 10^6 bytes.
    pub rate_average_mb_per_s: Option<f64>,
    /// The highest sequential write throughput of an SSD in MB/s of 10^6 bytes: mostly that of its write cache.
    pub write_rate_max_mb_per_s: Option<f64>,
    /// Average seek for reading in ms, without the rotational wait.
    pub seek_read_average_ms: Option<f64>,
    pub seek_track_to_track_ms: Option<f64>,
    /// Memory on the drive in MiB, which makers write as MB.
    pub cache_mb: Option<u32>,
    pub interface: Option<&'static str>,
    /// What may be written within the warranty, in TB of 10^12 bytes.
    pub endurance_tbw: Option<f64>,
    pub source: &'static str,
    pub certainty: Certainty,
    pub(super) matcher: ModelPattern,
}
