//! A rate limit around a drive: token buckets, as cloud volumes, QEMU and cgroups have them.

mod drive;
mod profile;

pub use drive::LimitedDrive;
pub(crate) use profile::Counted;
pub use profile::LimitProfile;
