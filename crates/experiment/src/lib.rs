//! Experiments, one file or folder each. An experiment yields one phase after the other and may choose the next by the
//! records so far: adaptive experiments, progress, the remaining time, resume and replay all follow from that shape.
//!
//! Pure: no clock, no file, no terminal. It uses `model`, and `analysis` for what decides the next phase.
#![forbid(unsafe_code)]

pub mod access;
mod bound;
pub mod check;
pub mod commit;
mod composition;
mod contract;
mod deep;
pub mod error;
pub mod files;
pub mod geometry;
pub mod pattern_file;
pub mod ping;
pub mod plan_file;
mod precision;
mod preparation;
pub mod purge;
mod rate_limit;
mod remaining;
pub mod request;
mod reread;
mod setup;
pub mod sizes;
mod streaming;
mod stripe;
pub mod surface;
pub mod sustain;
mod time_limit;
mod turn;
pub mod valleys;
pub mod verify;

pub use contract::{Conduct, Experiment};
pub(crate) use remaining::ASSUMED_BYTES_PER_SECOND;
pub use remaining::{Remaining, SLOW_BYTES_PER_SECOND, Step};
pub use setup::Setup;
pub use time_limit::plan;
