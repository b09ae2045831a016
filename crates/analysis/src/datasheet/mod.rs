//! What the makers say of their drives: a table that is compiled in, and how a drive's own name finds its row.
//!
//! The table is `data/datasheets.csv`: facts only, each row with its source. An empty field means that the figure is
//! not known here, never that it is zero; nothing in it was worked out from another figure, but that a rate stated in
//! MiB/s is written in MB/s.

mod model_name;
mod table;

#[cfg(test)]
mod tests;

use model_name::{ModelPattern, normalised};
use std::sync::LazyLock;

/// The table as it stands in the repository.
const TABLE_TEXT: &str = include_str!("../../data/datasheets.csv");

static TABLE: LazyLock<Vec<Datasheet>> = LazyLock::new(|| {
    table::parse(TABLE_TEXT).expect("the table that is compiled in parses: a test reads every row")
});

/// Whether a drive turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A hard disk.
    HardDisk,
    /// A solid-state drive.
    SolidState,
}

/// How a hard disk lays its tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Side by side (CMR), also where the maker did not say so because there was nothing else yet.
    Conventional,
    /// Overlapping (SMR), managed by the drive.
    Shingled,
    /// Not known here, or no hard disk.
    Unknown,
}

/// How far the figures of a row can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Every figure was read in the source that the row names.
    Read,
    /// From memory of the document that the row names: check it there before relying on it.
    Recalled,
}

/// What a maker says of one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Datasheet {
    /// Which models are meant, as the drive reports its model; `*` stands for any text, also none.
    pub model_pattern: &'static str,
    /// The name on the drive's label.
    pub maker: &'static str,
    /// The maker's name of the product line.
    pub family: &'static str,
    /// Capacity in GB of 10^9 bytes, as sold.
    pub capacity_gb: f64,
    /// Whether it turns.
    pub kind: Kind,
    /// Turns per minute. Some makers state a class and not the speed.
    pub turns_per_minute: Option<u32>,
    /// How it lays its tracks.
    pub recording: Recording,
    /// The highest sustained rate of sequential reading in MB/s of 10^6 bytes: on a hard disk, that of the outermost
    /// tracks.
    pub rate_max_mb_per_s: Option<f64>,
    /// The sustained rate averaged over the whole drive, in MB/s of 10^6 bytes.
    pub rate_average_mb_per_s: Option<f64>,
    /// The highest rate of sequential writing of a solid-state drive in MB/s of 10^6 bytes: as a rule that of its
    /// write cache.
    pub write_rate_max_mb_per_s: Option<f64>,
    /// Average seek for reading in ms, without the rotational wait.
    pub seek_read_average_ms: Option<f64>,
    /// Seek to the next track for reading, in ms.
    pub seek_track_to_track_ms: Option<f64>,
    /// Memory on the drive in MiB, which makers write as MB.
    pub cache_mb: Option<u32>,
    /// The interface, in the maker's words.
    pub interface: Option<&'static str>,
    /// What may be written within the warranty, in TB of 10^12 bytes.
    pub endurance_tbw: Option<f64>,
    /// Where the figures stand.
    pub source: &'static str,
    /// Whether they were read there.
    pub certainty: Certainty,
    matcher: ModelPattern,
}

/// All rows, in the order of the file.
pub fn all() -> &'static [Datasheet] {
    &TABLE
}

/// The row for the model that a drive or the kernel reports; the most specific one if several fit.
///
/// Case, underscores for spaces, runs of spaces, a vendor's name in front (`ATA`, `WDC`, `SEAGATE` …) and the maker's
/// suffix (`-1CH166`) do not matter. A name that was cut short, as SCSI cuts it after 16 characters, is not completed.
pub fn find(model: &str) -> Option<&'static Datasheet> {
    let name = normalised(model);
    all().iter().filter(|sheet| sheet.matcher.matches(&name)).max_by_key(|sheet| sheet.matcher.specificity())
}
