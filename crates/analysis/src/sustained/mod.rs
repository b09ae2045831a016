//! Sustained writes: phases by what had been written, levels of throughput, where it drops and why, steady state, and what idle
//! time recovers. The experiment that writes and the detectors read the same.

mod batch;
mod caching;
mod cause;
mod drop;
mod history;
mod level;
mod regained;
mod seen;
mod steady;

pub use batch::{Batch, Stream};
pub use caching::{Caching, Held, caching};
pub use cause::{Cause, cause};
pub use drop::{Further, MEMORY_BYTES_MAX, PIECES_AFTER_MIN, RateDrop, Stage, Standing, dip, standing};
pub use history::History;
pub use level::{Level, levels};
pub use regained::{Below, Regained, below, regained};
pub use seen::seen_bytes;
pub use steady::{DISK_SETTLED, Rounds, WRITTEN_OVER_MIN, rounds, steady_bytes_max};
