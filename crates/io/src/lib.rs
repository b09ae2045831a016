//! The only crate that touches a drive.
//!
//! The path of one I/O:
//! ```text
//! Workload ──► load::generate ──► load::issue ──► Engine::queue, commit ──► drive
//!                                     ▲                                      │
//!            load::frame ◄────────────┴──────────── Engine::reap ◄───────────┘
//!                 │ frames, 25 a second
//!                 ▼
//!            load::collect ──► IntervalRecord, HistogramRecord, ErrorRecord ──► PhaseObserver
//! ```
//! A write needs a [`targets::permit::WritePermit`], and only the permit holds a descriptor that can write.

pub mod clock;
pub mod engine;
pub mod error;
pub mod files;
pub mod flushing;
pub mod load;
pub mod mount;
mod permit_watch;
pub mod rig;
pub mod targets;
pub mod telemetry;
