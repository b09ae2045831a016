//! What is asked of a folder, and what came of it.

use crate::targets::file_place::LayoutError;
use model::file_work::{FileLayout, FileTask, ProcessorTime};
use model::plan::StopReason;
use model::run::OperationTotals;
use model::units::{Bytes, Instant, Nanos};
use std::io;

#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub task: FileTask,
    pub phase: u32,
    /// What one call of a task on the large file moves; of seeks, what each reads.
    pub block: Bytes,
    /// How long the large file is to be, or how much of it is to be read.
    pub file_bytes: Bytes,
    /// Write out what was written each time that much has been; none only at the end.
    pub flush_every: Option<Bytes>,
    pub files: u64,
    /// What small files hold: each between these, drawn.
    pub file_sizes: (Bytes, Bytes),
    pub folders: u32,
    pub threads: u32,
    pub seed: u64,
    /// The task ends after this long even if it is not done.
    pub time_max: Option<Nanos>,
}

#[cfg(test)]
impl Job {
    pub(super) fn of_test(task: FileTask) -> Job {
        Job {
            task,
            phase: 0,
            block: Bytes::from_mib(1),
            file_bytes: Bytes::ZERO,
            flush_every: None,
            files: 100,
            file_sizes: (Bytes::new(10), Bytes::new(20)),
            folders: 1,
            threads: 1,
            seed: 7,
            time_max: None,
        }
    }
}

#[derive(Debug)]
pub struct JobEnd {
    pub began: Instant,
    pub ended: Instant,
    pub reason: StopReason,
    /// What was done, by operation: files made and looked at count as writes and reads.
    pub totals: Vec<OperationTotals>,
    pub done: u64,
    pub processor: Option<ProcessorTime>,
    /// Of a task that reads: the share of the file that was in memory when it began.
    pub cached_share: Option<f64>,
    pub layout: Option<Result<FileLayout, LayoutError>>,
    pub failure: Option<io::Error>,
    /// Whether the system still flushes what was written, since somebody wanted the end. Whatever is removed then waits for it.
    pub is_flushing: bool,
}
