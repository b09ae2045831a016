//! How fast a drive takes writes that go on: pieces of writing by what had been written, levels of rate, where it falls and why, when
//! it is steady, and what a rest gives back.
//!
//! The experiment that writes and the detectors read the same: the one to know when to stop, the others to conclude.

mod cause;
mod fall;
mod history;
mod level;
mod regained;
mod seen;
mod steady;

pub use cause::{Cause, cause};
pub use fall::{Fall, Further, Stage, Standing, dip, memory_bytes, standing};
pub use history::{History, Piece, Stream};
pub use level::{Level, levels};
pub use regained::{Below, Regained, below, regained};
pub use seen::seen_bytes;
pub use steady::{Rounds, WRITTEN_OVER_MIN, rounds};
