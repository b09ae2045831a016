//! Where to cut a drive into partitions, by how fast its places are.
//!
//! Partitions begin and end on whole MiB, leave room for both copies of a GPT, and lie next to each other without gaps. A cut
//! is moved to the nearest border between zones, if one is near, so that no partition has a strip of another rate at its end.

mod cut;
mod cuts;

use crate::estimate::{Basis, RateCurve, RateUnknown};
use cut::ALIGNMENT;
pub use cut::{Cut, PARTS_MAX, PlanError};
use cuts::CutWish;
use model::estimate::Estimate;
use model::range::ByteRange;
use model::target::TargetFacts;
use model::units::{Bytes, Offset};

/// The entries of a partition table take this much, after or before one block of header (UEFI specification, 5.3).
const TABLE_ENTRIES: Bytes = Bytes::new(16 * 1024);

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// This share of the capacity, the fastest, as a partition; the rest as another.
    Fastest(f64),
    /// Everything that runs at this many bytes per second at least, as a partition; the rest as another.
    AtLeast(f64),
    Parts(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct PartitionPlan {
    pub partitions: Vec<Partition>,
    /// The cuts between them, in order: one fewer.
    pub cuts: Vec<Cut>,
    /// Whether all places are equally fast, so that speed is no reason to cut.
    pub is_even: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partition {
    pub range: ByteRange,
    pub is_fast: bool,
    /// Its size over the time of a pass over it, in bytes per second.
    pub mean: Estimate,
    pub fastest: Estimate,
    pub slowest: Estimate,
}

pub fn plan(curve: &RateCurve, target: &TargetFacts, wish: Wish) -> Result<PartitionPlan, PlanError> {
    let usable = usable(target)?;
    if !curve.covered().contains(&usable) {
        return Err(PlanError::PartlyMeasured { covered: curve.covered() });
    }
    if curve.basis() == Basis::Mean {
        return Err(RateUnknown::MeanOnly.into());
    }
    let is_even = curve.basis() == Basis::Even;
    let CutWish { cuts, fast } = match wish {
        Wish::Parts(count) => cuts::parts(curve, usable, count)?,
        Wish::Fastest(_) | Wish::AtLeast(_) if is_even => CutWish { cuts: Vec::new(), fast: None },
        Wish::Fastest(share) => cuts::fastest(curve, usable, share)?,
        Wish::AtLeast(rate) => cuts::at_least(curve, usable, rate)?,
    };
    let ends: Vec<Offset> = cuts.iter().map(|cut| cut.at).chain([usable.end()]).collect();
    let mut begin = usable.first();
    let mut partitions = Vec::new();
    for (index, end) in ends.into_iter().enumerate() {
        partitions.push(partition(curve, begin, end, fast == Some(index))?);
        begin = end;
    }
    Ok(PartitionPlan { partitions, cuts, is_even })
}

fn partition(curve: &RateCurve, begin: Offset, end: Offset, is_fast: bool) -> Result<Partition, PlanError> {
    let range = ByteRange::new(begin, end - begin).ok_or(PlanError::PastAllBytes)?;
    let (fastest, slowest) = curve.rates_in(range)?;
    Ok(Partition { range, is_fast, mean: curve.mean_rate(range)?, fastest, slowest })
}

/// What partitions may take up: whole MiB between both copies of the partition table.
fn usable(target: &TargetFacts) -> Result<ByteRange, PlanError> {
    let capacity = target.capacity;
    let end = capacity.saturating_sub(TABLE_ENTRIES + target.logical_block).round_down_to(ALIGNMENT);
    match ByteRange::new(Offset::START + ALIGNMENT, end.saturating_sub(ALIGNMENT)) {
        Some(range) if !range.is_empty() => Ok(range),
        _ => Err(PlanError::NoRoom { capacity }),
    }
}
