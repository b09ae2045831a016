//! Targets: what can be measured, what is known of it, and who may write to it.
//! ```text
//! path ──► Target::open ──► Target: facts, and a descriptor that can only READ
//!              │                │
//!            stack, facts       ├──► survey: who uses it, what it holds ──► listing
//!            (sysfs, mountinfo) │
//!                               └──► WritePermit::grant(consent): the one place where a descriptor
//!                                    that can WRITE is made; it checks while it holds the drive
//! ```
//! Absent: nothing here names a drive by its path. A path is opened once; from then on the numbers of the kernel
//! say what it is.

pub mod content;
mod device;
mod device_mapper;
pub mod facts;
mod file;
pub mod file_place;
pub mod identity;
pub mod listing;
mod loop_device;
mod mapped_volume;
pub mod mounts;
mod never_write;
mod obstacle;
mod open;
mod openers;
pub(crate) mod page_cache;
mod passthrough;
pub mod permit;
pub mod preserve;
pub mod purge;
pub mod scratch;
pub mod signature;
pub mod stack;
pub mod sysfs;
pub(crate) mod system_call;
mod target;
mod unsplit;
pub mod usage;
pub mod written;

#[cfg(test)]
#[path = "../../tests/loopdev/mod.rs"]
mod loopdev;
#[cfg(test)]
mod permit_tests;

pub use content::{ContentProbe, probe_content};
pub use never_write::{DrivePattern, Excluded, Exclusion, NeverWrite, NoDrivePattern};
pub use obstacle::{Obstacle, ObstacleKind};
pub use page_cache::{CachedStretch, cached_stretches, drop_page_cache};
pub use permit::{WriteConsent, WritePermit};
pub use scratch::{LogFile, SCRATCH_SIZE_MIN, ScratchFile, ScratchSize};
pub use target::{SIZE_MIN, Target};
pub use unsplit::unsplit_bytes_max;
pub use usage::survey;
