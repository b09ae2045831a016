//! What a drive is cut into partitions by, and why it cannot be.

use crate::estimate::RateUnknown;
use model::range::ByteRange;
use model::units::{Bytes, MIB, Offset};

/// What partitions begin and end on: a multiple of every block and stripe there is. (The default of fdisk and parted.)
pub(super) const ALIGNMENT: Bytes = Bytes::new(MIB);
/// More partitions than this are not asked for: a GPT has room for them as a rule (UEFI specification, 5.3.1).
pub const PARTS_MAX: u32 = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub at: Offset,
    pub asked: Offset,
    pub is_zone_border: bool,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Rate(#[from] RateUnknown),
    #[error(
        "Only bytes {} to {} of the drive were measured; the rest is unknown. Measure the whole drive: drivescope surface TARGET.",
        .covered.first().get(), .covered.end().get()
    )]
    PartlyMeasured { covered: ByteRange },
    #[error("It holds {} bytes: no room for a partition table and a partition.", .capacity.get())]
    NoRoom { capacity: Bytes },
    #[error("A partition ends past 64 bits.")]
    PastAllBytes,
    #[error("A drive is cut into 1 to {PARTS_MAX} parts.")]
    PartCount,
    #[error("{count} parts of it would each be smaller than {ALIGNMENT}.")]
    PartsTooSmall { count: u32 },
    #[error("{} % of it leaves no room for two partitions of {ALIGNMENT} or more.", .share * 100.0)]
    ShareTooSmall { share: f64 },
    #[error("No region reaches {:.1} MB/s; the fastest reaches {:.1} MB/s.", .rate / 1e6, .fastest / 1e6)]
    TooSlow { rate: f64, fastest: f64 },
    #[error("The region with that throughput is smaller than {ALIGNMENT}.")]
    FastPartTooSmall,
}
