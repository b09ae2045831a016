//! What `sustain` is asked for.

use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern, Workload};

/// How to write, how far to go, and what to do after the fall.
#[derive(Clone, Debug, PartialEq)]
pub struct SustainWish {
    /// Where in the range writes go.
    pub pattern: Pattern,
    /// How large they are.
    pub block: Bytes,
    /// How many are under way.
    pub depth: u32,
    /// Writes only, or reads among them.
    pub mix: OperationMix,
    /// Write no more than this.
    pub bytes: Option<Bytes>,
    /// Write no more than this share of what the maker promises the drive to endure.
    pub endurance: Option<f64>,
    /// How far to go.
    pub until: Until,
    /// Rests after the fall, to see what they give back; none for no rests.
    pub rests: Vec<Nanos>,
    /// Shares of the range to be used one after the other, each until random writes to it are steady; none for no such parts.
    pub clip: Vec<f64>,
    /// Whether to write the range in order in the end, so that an SMR disk need not clean for hours.
    pub drain: bool,
}

/// How far writes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Until the rate has fallen, or it is known that it does not. What is written stays within one and a half times a cache.
    Fall,
    /// Behind a fall as well, until as much was written as could show all falls: that is all of a flash drive, since its last cells are
    /// slow only when no others are free.
    Levels,
    /// Until the rate is steady.
    Steady,
}

impl SustainWish {
    /// Whether that is a workload that was asked for.
    pub(super) fn is_of(&self, workload: &Workload) -> bool {
        workload.pattern == self.pattern
            && workload.block_sizes.single() == Some(self.block)
            && workload.mix == self.mix
            && workload.queue_depth == self.depth
    }
}

impl Default for SustainWish {
    /// Random writes of 128 KiB, as in the measurement that showed the fall of SMR disks, as many at a time as SATA's queue takes and
    /// SNIA's tests keep under way. Of one at a time the host would be the limit of a fast cache, and its end would not be seen: a
    /// drive at 5 GB/s has done one in 26 µs.
    fn default() -> SustainWish {
        SustainWish {
            pattern: Pattern::RandomWithReplacement,
            block: Bytes::from_kib(128),
            depth: 32,
            mix: OperationMix::Write,
            bytes: None,
            endurance: None,
            until: Until::Fall,
            rests: Vec::new(),
            clip: Vec::new(),
            drain: false,
        }
    }
}
