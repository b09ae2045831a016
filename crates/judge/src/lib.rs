//! What judges the rest, and is never shipped: experiments scored on virtual drives whose truth is known, benches, and comparisons
//! with peers. It sees every crate; none sees it. Its tests and its benches score by the same functions.
//! ```text
//! drives ──► truth: from the profile (sim) ───────────────────────┐
//!    └─────► drivescope, as a process ─► Document ─► scores ─► tables, bounds of tests
//! ```
#![forbid(unsafe_code)]

pub mod access;
pub mod all;
pub mod commits;
pub mod compare_peers;
pub mod coverage;
pub mod document;
pub mod engine;
pub mod failure;
pub mod files;
mod fixed_processors;
pub mod goal;
pub mod interval;
pub mod machine;
pub mod mount;
pub mod mounted_drive;
pub mod options;
pub mod place;
pub mod program;
pub mod report;
mod sim_rate;
pub mod sim_speed;
pub mod surface;
pub mod threads;
pub mod truth;
pub mod valleys;
pub mod verify;
pub mod virtual_drive;
pub mod workspace;
pub mod writes;
