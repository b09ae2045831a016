//! A token bucket fitted to a course.
//!
//! What was used and did not come back yet, the deficit, is 0 in a full bucket. It grows by what is used and falls by
//! the refill, never below 0 (Lindley's recursion). Where requests wait for tokens it stands at the credit, whatever is
//! asked for and whenever: that is looked for. Nothing but the refill has to be known to compute it.

use super::course::Shape;
use model::units::Bytes;

/// Windows at the sustained rate without which nothing is claimed: two seconds.
pub(super) const WINDOWS_MIN: usize = 7;
pub(super) const RUN_MIN: usize = 3;
/// Sizes of requests that are served at one number of bytes a second by a limit and by no drive, where smaller ones cost it an access each.
const SIZES_MIN: usize = 3;
const SIZES_APART: u64 = 16;

#[derive(Clone, Debug)]
pub(super) struct Bucket {
    pub per_second: f64,
    pub per_second_error: f64,
    pub credit: f64,
    pub credit_error: f64,
    /// Of the credit, what may have been merged before it was used up.
    pub credit_merged: f64,
    pub credit_if_several: Option<f64>,
    pub may_have_been_full: bool,
    pub burst: f64,
    pub burst_of_limited: f64,
    pub limited_s: Vec<f64>,
    pub has_reads: bool,
    pub has_writes: bool,
    pub blocks: Vec<Bytes>,
    pub shapes: Vec<Shape>,
    /// How many windows it explains: those in which requests wait for tokens.
    pub windows: usize,
    /// By how much the deficit misses the credit at their ends, in requests, in the root mean square.
    pub requests_off: f64,
    pub is_even: bool,
    /// Whether it is more than a drop to an even rate: of several shapes, or after a refill.
    pub is_certain: bool,
}

impl Bucket {
    pub(super) fn explains_more(&self, other: &Bucket) -> bool {
        let [explained, of_other] =
            [self, other].map(|bucket| (bucket.is_even, bucket.blocks.len(), bucket.windows));
        explained > of_other || explained == of_other && self.requests_off < other.requests_off
    }

    /// Whether requests of several sizes wait for the same number of bytes a second: what a drive takes for each does not grow with its size alone.
    pub(super) fn is_of_many_sizes(&self) -> bool {
        let (Some(smallest), Some(largest)) = (self.blocks.first(), self.blocks.last()) else { return false };
        self.blocks.len() >= SIZES_MIN && largest.get() >= SIZES_APART * smallest.get()
    }
}
