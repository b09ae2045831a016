//! What is asked of a folder, and what came of it.

use model::file_work::{FileLayout, FileTask, ProcessorTime};
use model::plan::StopReason;
use model::run::OperationTotals;
use model::units::{Bytes, Instant, Nanos};
use std::io;

/// One task in one folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What.
    pub task: FileTask,
    /// The number of the phase, for its records.
    pub phase: u32,
    /// What one call of a task on the large file moves; of seeks, what each reads.
    pub block: Bytes,
    /// How long the large file is to be, or how much of it is to be read.
    pub file_bytes: Bytes,
    /// Write out what was written each time that much has been; none only at the end.
    pub flush_every: Option<Bytes>,
    /// How many small files.
    pub files: u64,
    /// What small files hold: each between these, drawn.
    pub file_sizes: (Bytes, Bytes),
    /// Over how many folders they are spread.
    pub folders: u32,
    /// How many threads seek.
    pub threads: u32,
    /// Of all randomness.
    pub seed: u64,
    /// The task ends after this long even if it is not done.
    pub time_max: Option<Nanos>,
}

/// What came of a task.
#[derive(Debug)]
pub struct JobEnd {
    /// When its first call began.
    pub began: Instant,
    /// When its last call was over; the flush comes after it.
    pub ended: Instant,
    /// Why it ended.
    pub reason: StopReason,
    /// What was done, by operation: files made and looked at count as writes and reads.
    pub totals: Vec<OperationTotals>,
    /// How many files were made or gone through, or how long the file is now.
    pub done: u64,
    /// What it cost; the flush included.
    pub processor: Option<ProcessorTime>,
    /// Of a task that reads: the share of the file that was in memory when it began.
    pub cached_share: Option<f64>,
    /// Where the file lies, if it has just been written.
    pub layout: Option<Result<FileLayout, String>>,
    /// What the system said when a call failed; the task ended there.
    pub failure: Option<io::Error>,
    /// Whether the system still flushes what was written, since somebody wanted the end. Whatever is removed then waits for it.
    pub is_flushing: bool,
}
