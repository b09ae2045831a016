//! From the records of a run to findings: statistics, and detectors that are pure functions of what was stored.
//!
//! Nothing here reads a clock, a file or a drive, and it cannot see what a virtual drive really is.
#![forbid(unsafe_code)]

pub mod cache;
pub mod choice;
pub mod clipping;
pub mod commit;
pub mod compare;
pub mod concurrency;
pub mod datasheet;
pub mod detector;
pub mod estimate;
mod examined;
pub mod failed_again;
pub mod file_work;
pub mod geometry;
pub mod integrity;
mod interference;
pub mod limit;
mod measured;
mod moving_parts;
pub mod phase_table;
pub mod plan;
pub mod power_cut;
pub mod recording;
mod silence;
pub mod size_profile;
pub mod stated;
pub mod stats;
pub mod streaming;
pub mod stripe;
pub mod surface;
pub mod sustained;
mod unmapped;
pub mod valley;

pub use detector::{Detected, analyse, concluded, detected};
pub use limit::limits;
pub use moving_parts::{ARM_SPREAD_MIN, are_moved};
