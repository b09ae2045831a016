//! Key `files` of a phase: what it did through a file system.

use super::{DocumentError, finite, known};
use model::file_work::{DiskShare, FileLayout, FileTask, FileWork, ProcessorTime};
use model::units::Bytes;
use serde::{Deserialize, Serialize};

/// What a phase did through a file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileWorkDocument {
    /// The folder, as it was typed.
    pub folder: String,
    /// The kind of its file system.
    pub file_system: String,
    /// `block-write`, `create-in-order`, …
    pub task: String,
    /// Counted from 0.
    pub round: u32,
    /// What one call moves; of small files, what the largest holds.
    pub block_bytes: u64,
    /// The length of the one large file; null where there are many small ones.
    pub file_bytes: Option<u64>,
    /// How many files there are.
    pub files: u64,
    /// Over how many folders they are spread.
    pub folders: u32,
    /// How many threads did it.
    pub threads: u32,
    /// Processor time in the program; null where the system did not tell.
    pub processor_user_ns: Option<u64>,
    /// Processor time in the kernel on behalf of the program; likewise.
    pub processor_system_ns: Option<u64>,
    /// Of a task that reads: the share of the file that was still in memory when it began; null where nobody looked.
    pub cached_share: Option<f64>,
    /// Where the file lies; null where nobody looked.
    pub layout: Option<LayoutDocument>,
}

/// Where a file lies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayoutDocument {
    /// Why that cannot be told at all; null where it can.
    pub unknown: Option<String>,
    /// Pieces that the file system keeps apart.
    pub extents: u64,
    /// Pieces that do not follow each other on the device either.
    pub fragments: u64,
    /// On which disks.
    pub disks: Vec<DiskShareDocument>,
    /// Why the place on a disk cannot be told, for all of the file or a part of it.
    pub unplaced: Option<String>,
}

/// The part of a file on one disk, in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskShareDocument {
    /// The disk.
    pub disk: String,
    /// What the disk holds.
    pub disk_bytes: u64,
    /// How much of the file is on it.
    pub bytes: u64,
    /// Its first byte on the disk.
    pub first: u64,
    /// The end of its last byte.
    pub end: u64,
    /// The mean place of its bytes.
    pub middle: Option<f64>,
}

impl FileWorkDocument {
    pub(super) fn of(work: &FileWork) -> FileWorkDocument {
        FileWorkDocument {
            folder: work.folder.clone(),
            file_system: work.file_system.clone(),
            task: work.task.name().into(),
            round: work.round,
            block_bytes: work.block.0,
            file_bytes: work.file_bytes.map(|bytes| bytes.0),
            files: work.files,
            folders: work.folders,
            threads: work.threads,
            processor_user_ns: work.processor.map(|time| time.user_ns),
            processor_system_ns: work.processor.map(|time| time.system_ns),
            cached_share: work.cached_share.and_then(finite),
            layout: work.layout.as_ref().map(LayoutDocument::of),
        }
    }

    pub(super) fn into_model(self, key: &str) -> Result<FileWork, DocumentError> {
        let processor = self
            .processor_user_ns
            .zip(self.processor_system_ns)
            .map(|(user_ns, system_ns)| ProcessorTime { user_ns, system_ns });
        Ok(FileWork {
            folder: self.folder,
            file_system: self.file_system,
            task: known(&format!("{key}.task"), &self.task, FileTask::from_name)?,
            round: self.round,
            block: Bytes(self.block_bytes),
            file_bytes: self.file_bytes.map(Bytes),
            files: self.files,
            folders: self.folders,
            threads: self.threads,
            processor,
            cached_share: self.cached_share,
            layout: self.layout.map(LayoutDocument::into_model),
        })
    }
}

impl LayoutDocument {
    fn of(layout: &Result<FileLayout, String>) -> LayoutDocument {
        let (known, unknown) = match layout {
            Ok(layout) => (layout.clone(), None),
            Err(why) => (FileLayout::default(), Some(why.clone())),
        };
        LayoutDocument {
            unknown,
            extents: known.extents,
            fragments: known.fragments,
            disks: known.disks.iter().map(DiskShareDocument::of).collect(),
            unplaced: known.unplaced,
        }
    }

    fn into_model(self) -> Result<FileLayout, String> {
        match self.unknown {
            Some(why) => Err(why),
            None => Ok(FileLayout {
                extents: self.extents,
                fragments: self.fragments,
                disks: self.disks.into_iter().map(DiskShareDocument::into_model).collect(),
                unplaced: self.unplaced,
            }),
        }
    }
}

impl DiskShareDocument {
    fn of(share: &DiskShare) -> DiskShareDocument {
        DiskShareDocument {
            disk: share.disk.clone(),
            disk_bytes: share.disk_bytes,
            bytes: share.bytes,
            first: share.first,
            end: share.end,
            middle: finite(share.middle),
        }
    }

    fn into_model(self) -> DiskShare {
        DiskShare {
            disk: self.disk,
            disk_bytes: self.disk_bytes,
            bytes: self.bytes,
            first: self.first,
            end: self.end,
            middle: self.middle.unwrap_or(0.0),
        }
    }
}
