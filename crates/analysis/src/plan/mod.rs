//! Where to cut a drive into partitions, by how fast its places are.
//!
//! Partitions begin and end on whole MiB, leave room for both copies of a GPT, and lie next to each other without gaps. A cut
//! that was asked for somewhere is moved to the nearest border between zones, if one is near: then no partition has a
//! strip of another rate at its end.

mod cuts;

use crate::estimate::{Basis, RateCurve};
use cuts::CutWish;
use model::estimate::Estimate;
use model::range::ByteRange;
use model::target::TargetFacts;
use model::units::{Bytes, MIB, Offset};

/// What partitions begin and end on: a multiple of every block and stripe there is. (The default of fdisk and parted.)
const ALIGNMENT: Bytes = Bytes(MIB);
/// The entries of a partition table take this much, after or before one block of header (UEFI specification, 5.3).
const TABLE_ENTRIES: Bytes = Bytes(16 * 1024);
/// More partitions than this are not asked for: a GPT has room for them as a rule (UEFI specification, 5.3.1).
pub const PARTS_MAX: u32 = 128;

/// What somebody wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// This share of the capacity, the fastest, as a partition; the rest as another.
    Fastest(f64),
    /// Everything that runs at this many bytes per second at least, as a partition; the rest as another.
    AtLeast(f64),
    /// So many partitions of about the same size.
    Parts(u32),
}

/// A way to cut a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionPlan {
    /// The partitions, in order, without gaps.
    pub partitions: Vec<Partition>,
    /// The cuts between them, in order: one fewer.
    pub cuts: Vec<Cut>,
    /// Whether all places are equally fast, so that speed is no reason to cut.
    pub is_even: bool,
}

/// One partition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partition {
    /// Where it lies.
    pub range: ByteRange,
    /// Whether it is the one that was asked to be fast.
    pub is_fast: bool,
    /// Its size over the time of a pass over it, in bytes per second.
    pub mean: Estimate,
    /// The rate of its fastest place, likewise.
    pub fastest: Estimate,
    /// The rate of its slowest place, likewise.
    pub slowest: Estimate,
}

/// Where one partition ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Where it is.
    pub at: Offset,
    /// Where it was asked for.
    pub asked: Offset,
    /// Whether it is the border of a zone.
    pub is_zone_border: bool,
}

/// Cuts the drive.
///
/// # Errors
/// Why that cannot be done: a sentence.
pub fn plan(curve: &RateCurve, target: &TargetFacts, wish: Wish) -> Result<PartitionPlan, String> {
    let usable = usable(target)?;
    if !curve.covered().contains(&usable) {
        return Err(format!(
            "Only bytes {} to {} of the drive were measured, so that nothing is known of the rest. Measure all of it: \
             drivescope surface TARGET.",
            curve.covered().first().0,
            curve.covered().end().0
        ));
    }
    if curve.basis() == Basis::Mean {
        return Err(
            "Only the mean rate of all of it is known, and not which part is how fast. Find that out: \
                    drivescope surface TARGET."
                .into(),
        );
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

fn partition(curve: &RateCurve, begin: Offset, end: Offset, is_fast: bool) -> Result<Partition, String> {
    let range = ByteRange::new(begin, end - begin).ok_or("A partition ends past 64 bits.")?;
    let (fastest, slowest) = curve.rates_in(range)?;
    Ok(Partition { range, is_fast, mean: curve.mean_rate(range)?, fastest, slowest })
}

/// What partitions may take up: whole MiB between both copies of the partition table.
fn usable(target: &TargetFacts) -> Result<ByteRange, String> {
    let capacity = target.capacity;
    let table_at_end = TABLE_ENTRIES + target.logical_block;
    let end = capacity.checked_sub(table_at_end).unwrap_or(Bytes::ZERO).round_down_to(ALIGNMENT);
    let range = end.checked_sub(ALIGNMENT).and_then(|bytes| ByteRange::new(Offset(ALIGNMENT.0), bytes));
    range.filter(|range| !range.is_empty()).ok_or_else(|| {
        format!("It holds {} bytes: no room for a partition table and a partition.", capacity.0)
    })
}
