//! A rate limit around a drive: token buckets, as cloud volumes, QEMU and cgroups have them.

mod drive;
mod profile;

pub use drive::LimitedDrive;
pub use profile::LimitProfile;
pub(crate) use profile::{BucketNumbers, Counted};
