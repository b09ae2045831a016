//! Short drops of sequential write throughput: where they are in a phase, how many each pass over an area had, and whether they
//! recur by time, by bytes or by offset. The experiment that makes the passes and the detectors both read it.
//!
//! A *dip* lasts for 50 ms to some seconds. *Valleys* are dips that recur at a rhythm of their own.

mod cell;
mod dip;
mod pass;
mod rhythm;
mod story;

pub(crate) use dip::DROP_SHARE;
pub use dip::Dip;
pub use pass::{Pass, PassShape, stable_from};
pub use rhythm::{Gap, Rhythm, rhythm};
pub use story::{Group, Places, Story, Verdict};

pub const EXPERIMENT: model::experiment_name::ExperimentName =
    model::experiment_name::ExperimentName::Valleys;
