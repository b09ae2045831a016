//! What `files` is asked for.

use crate::error::PlanError;
use crate::request::OutputOptions;
use crate::request::{check_precision, check_time_limit};
use clap::{Args, ValueEnum, value_parser};
use model::file_work::FileTask;
use model::quantity_text::{QuantityError, parse_size, size_text};
use model::share::Share;
use model::units::{Bytes, Nanos};
use model::workload::BLOCK_BYTES_MAX;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// With fewer rounds an interval is wider than anything that it could tell.
const ROUNDS_MIN: u32 = 3;
/// Of a comparison, where differences are told.
const ROUNDS_MIN_COMPARED: u32 = 5;
const PRECISION: f64 = 0.05;
/// The smallest file that says something: it takes a tenth of a second at 160 MB/s.
pub(super) const FILE_MIN: Bytes = Bytes::from_mib(16);
/// For the first folder, and for each further one.
const TIME_OF_ONE: Nanos = Nanos::from_secs(180);
const TIME_OF_MORE: Nanos = Nanos::from_secs(60);
/// Larger files are not small, and each is held in memory as a whole.
const SMALL_MAX: Bytes = Bytes::from_mib(16);
const SIZE_MAX: &str = "1GiB";
const BLOCK: &str = "1MiB";
const SEEKERS: u32 = 3;
const FILES: u64 = 16384;
const FILE_SIZE: FileSizes = FileSizes { min: Bytes::from_kib(4), max: Bytes::from_kib(4) };

/// Which folders, and what is done in them.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Measuring")]
#[serde(default)]
pub struct FilesRequest {
    /// Folders to measure; a temporary folder is created in each
    #[arg(default_value = ".", help_heading = "Arguments")]
    pub folders: Vec<PathBuf>,

    /// Compare the folders (such as an outer and an inner partition): more rounds, significant differences
    #[arg(long, help_heading = "Options")]
    pub compare: bool,

    /// Groups of tasks to run, separated by commas [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub tasks: Vec<TaskGroup>,

    /// Size of the large file [default: what fits the duration, 1GiB at most; dropped from the page cache before reads]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, conflicts_with = "beyond_memory")]
    pub size: Option<Bytes>,

    /// Large file of twice the RAM, as bonnie++ uses. Takes long
    #[arg(long)]
    pub beyond_memory: bool,

    /// Maximum size of the large file; 10 % of the file system stays free
    #[arg(long, env = "DRIVESCOPE_MAX_SIZE", value_name = "SIZE", default_value = SIZE_MAX, allow_hyphen_values = true)]
    pub max_size: Bytes,

    /// Bytes of one read or write call on the large file
    #[arg(long, value_name = "SIZE", default_value = BLOCK, allow_hyphen_values = true)]
    pub block: Bytes,

    /// Number of threads that seek in the large file at once
    #[arg(long, value_name = "N", default_value_t = SEEKERS, value_parser = value_parser!(u32).range(1..=1024))]
    pub seekers: u32,

    /// Number of small files; fewer if --time-limit requires
    #[arg(long, value_name = "N", default_value_t = FILES, value_parser = value_parser!(u64).range(1..=100_000_000))]
    pub files: u64,

    /// Size of small files: 0, 4KiB, or uniform in 1KiB..16KiB
    #[arg(long, value_name = "SIZE", default_value_t = FILE_SIZE, allow_hyphen_values = true)]
    pub file_size: FileSizes,

    /// Number of folders for small files
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=10_000))]
    pub folders_of_files: u32,

    /// Rounds of each task [default: until its CI is narrow, at least 3]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,

    /// Measure until confidence intervals are this narrow or time is up [default: 5%]
    #[arg(long, env = "DRIVESCOPE_PRECISION", value_name = "PERCENT", allow_hyphen_values = true)]
    pub precision: Option<Share>,

    /// Target duration [default: 3min, plus 1min for each further folder]
    #[arg(long, env = "DRIVESCOPE_TIME_LIMIT", value_name = "TIME", allow_hyphen_values = true)]
    pub time_limit: Option<Nanos>,

    /// Seed: repeats the same requests in the same order
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,

    /// Print the plan, bytes and duration (with --json as JSON); do nothing
    #[arg(long)]
    #[serde(skip)]
    pub dry_run: bool,

    #[command(flatten)]
    #[serde(skip)]
    pub output: OutputOptions,
}

/// A group of tasks that somebody can leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskGroup {
    /// Per-byte write and read through a small buffer
    Bytes,
    /// Write, rewrite and read in blocks
    Blocks,
    /// Random reads in the large file by several threads, one in ten written back
    Seeks,
    /// Create, stat, read and delete small files, sequential and random order
    Names,
}

impl TaskGroup {
    pub const ALL: [TaskGroup; 4] = [TaskGroup::Bytes, TaskGroup::Blocks, TaskGroup::Seeks, TaskGroup::Names];

    pub fn of(task: FileTask) -> TaskGroup {
        match task {
            FileTask::PerByteWrite | FileTask::PerByteRead => TaskGroup::Bytes,
            FileTask::BlockWrite | FileTask::Rewrite | FileTask::BlockRead => TaskGroup::Blocks,
            FileTask::Seeks => TaskGroup::Seeks,
            _ => TaskGroup::Names,
        }
    }
}

/// What small files hold: `4KiB`, or `1KiB..16KiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FileSizes {
    pub min: Bytes,
    pub max: Bytes,
}

impl Default for FilesRequest {
    fn default() -> FilesRequest {
        FilesRequest {
            folders: vec![".".into()],
            compare: false,
            tasks: Vec::new(),
            size: None,
            beyond_memory: false,
            max_size: SIZE_MAX.parse().expect("the default is a size"),
            block: BLOCK.parse().expect("the default is a size"),
            seekers: SEEKERS,
            files: FILES,
            file_size: FILE_SIZE,
            folders_of_files: 1,
            rounds: None,
            precision: None,
            time_limit: None,
            seed: None,
            dry_run: false,
            output: OutputOptions::default(),
        }
    }
}

impl FilesRequest {
    /// What one seek reads, as bonnie++.
    pub const SEEK_BLOCK: Bytes = Bytes::from_kib(8);

    pub fn groups(&self) -> &[TaskGroup] {
        if self.tasks.is_empty() { &TaskGroup::ALL } else { &self.tasks }
    }

    pub fn rounds_min(&self) -> u32 {
        if self.compare { ROUNDS_MIN_COMPARED } else { ROUNDS_MIN }
    }

    /// The rounds that were asked for, else those that there are at least.
    pub(super) fn rounds_planned(&self) -> u32 {
        self.rounds.unwrap_or(self.rounds_min())
    }

    pub fn time(&self) -> Nanos {
        let further = (self.folders.len() as u64).saturating_sub(1);
        self.time_limit.unwrap_or(Nanos::new(TIME_OF_ONE.get() + TIME_OF_MORE.get() * further))
    }

    pub(super) fn precision(&self) -> f64 {
        self.precision.map_or(PRECISION, Share::get)
    }

    /// The length of the large file, if it is given; `memory` is that of the machine.
    pub fn file_length(&self, memory: Option<Bytes>) -> Result<Option<Bytes>, PlanError> {
        if !self.beyond_memory {
            return Ok(self.size.map(|size| size.round_down_to(Bytes::from_mib(1))));
        }
        let memory = memory.ok_or(PlanError::MemoryUnknown)?;
        Ok(Some(Bytes::new(memory.get() * 2).round_down_to(Bytes::from_mib(1))))
    }

    pub fn check(&self) -> Result<(), PlanError> {
        if self.compare && self.folders.len() < 2 {
            return Err(PlanError::OneFolder);
        }
        if let Some(twice) =
            (1..self.folders.len()).find(|&at| self.folders[..at].contains(&self.folders[at]))
        {
            return Err(PlanError::FolderTwice(self.folders[twice].display().to_string()));
        }
        for (option, size) in [("--size", self.size), ("--max-size", Some(self.max_size))] {
            if let Some(size) = size
                && size < FILE_MIN
            {
                return Err(PlanError::FileTooShort { option, size, needs: FILE_MIN });
            }
        }
        if self.block == Bytes::ZERO || self.block > BLOCK_BYTES_MAX {
            return Err(PlanError::FileBlock { most: BLOCK_BYTES_MAX });
        }
        if self.file_size.min > self.file_size.max || self.file_size.max > SMALL_MAX {
            return Err(PlanError::SmallFileSize { text: self.file_size.to_string(), most: SMALL_MAX });
        }
        if let Some(limit) = self.time_limit {
            check_time_limit(limit)?;
        }
        match self.precision {
            Some(precision) => check_precision(precision),
            None => Ok(()),
        }
    }
}

impl FromStr for FileSizes {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<FileSizes, QuantityError> {
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        Ok(FileSizes { min: parse_size(min)?, max: parse_size(max)? })
    }
}

impl fmt::Display for FileSizes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max {
            return formatter.write_str(&size_text(self.min));
        }
        write!(formatter, "{}..{}", size_text(self.min), size_text(self.max))
    }
}

model::stored_as_text!(FileSizes);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_named() {
        let named = |change: fn(&mut FilesRequest)| {
            let mut request = FilesRequest::default();
            change(&mut request);
            request.check().unwrap_err().to_string()
        };
        assert!(named(|r| r.compare = true).contains("one folder cannot be set against others"));
        assert!(
            named(|r| r.folders = vec!["/a".into(), "/b".into(), "/a".into()]).contains("/a is named twice")
        );
        assert!(
            named(|r| r.size = Some(Bytes::from_mib(1))).contains("--size: a file of 1 MiB is too short")
        );
        assert!(
            named(|r| r.max_size = Bytes::from_mib(1)).contains("--max-size: a file of 1 MiB is too short")
        );
        assert!(named(|r| r.block = Bytes::ZERO).contains("--block: give a size"));
        assert!(named(|r| r.file_size = "4KiB..1KiB".parse().unwrap()).contains("`4KiB..1KiB` are no sizes"));
        assert!(named(|r| r.file_size = "1GiB".parse().unwrap()).contains("up to 16 MiB"));
        assert_eq!(FilesRequest::default().check(), Ok(()));
    }
}
