//! Sustained writes: phases by what had been written, levels of throughput, where it drops and why, steady state, and what idle
//! time recovers. The experiment that writes and the detectors read the same.

mod caching;
mod cause;
mod fall;
mod history;
mod level;
mod piece;
mod regained;
mod seen;
mod steady;

pub use caching::{Caching, Held, caching};
pub use cause::{Cause, cause};
pub use fall::{Fall, Further, PIECES_AFTER_MIN, Stage, Standing, dip, standing};
pub use history::History;
pub use level::{Level, levels};
pub use piece::{Piece, Stream};
pub use regained::{Below, Regained, below, regained};
pub use seen::seen_bytes;
pub use steady::{Rounds, WRITTEN_OVER_MIN, rounds};
