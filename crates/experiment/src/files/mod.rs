//! `files`: which task to do next in which folder. It decides from what was done so far alone, as every experiment does, but its
//! steps are tasks of a file system and not phases of requests, so that it has a shape of its own.
//! ```text
//! per folder: a first write that is flushed all along ──► how long the file may be
//! round 0..:  task after task, each in all folders in random order
//!             after three rounds only what is not known well enough yet, until the time is up
//! ```

mod done;
mod remaining;
mod request;
mod steps;

#[cfg(test)]
mod tests;

pub use request::{FileSizes, FilesRequest, TaskGroup};
pub use steps::{Files, FilesStep, MeasuredFolder};
