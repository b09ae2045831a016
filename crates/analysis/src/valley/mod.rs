//! Short falls of the rate of sequential writing: where they are in the slices of a phase, what the passes over an area had of
//! them, and whether they recur by time, by bytes or by place. The experiment that makes the passes and the detectors both read it.
//!
//! A *fall* is a stretch of at least some 50 ms and at most some seconds in which the rate is clearly below what it is before and
//! after. *Valleys* are falls that recur at a rhythm of their own.

mod cell;
mod fall;
mod pass;
mod rhythm;
mod story;

pub use fall::Fall;
pub use pass::{Pass, PassShape, stable_from};
pub use rhythm::{Bound, Gap, Rhythm, rhythm};
pub use story::{Group, Places, Story, Verdict};

/// The experiment that asks for valleys.
pub const EXPERIMENT: &str = "valleys";
