//! Measuring through a file system: one large file, and many small ones, in a folder of our own.
//! ```text
//! folder ──► Workspace::make: a folder of our own in it, marked and locked
//!                │
//!                ├──► run(Job): large (bytes, blocks, rewrite) │ seeks │ names (create, stat, open, delete)
//!                │        └──► Recorder ──► IntervalRecord, HistogramRecord ──► PhaseObserver
//!                └──► remove: nothing is left behind; leftovers: what a killed run left
//! ```
//! Everything goes through the page cache, as it does for programs. What was written counts when a flush is over, and what is read
//! was put out of memory first, which is looked at and not taken for granted. No path is followed after the folder was opened: all
//! names are looked up in its descriptor, links are never followed.

mod file_name;
mod job;
mod large;
mod leftovers;
mod names;
mod recorder;
mod run;
mod seeks;
mod system_call;
mod workspace;

pub use job::{Job, JobEnd};
pub use leftovers::{Leftover, leftovers};
pub use workspace::{FolderFacts, Removal, Workspace, folder_facts, memory_bytes};
