//! The disk of 4 TB that WD modelled, as the tests of the mechanism need it: by itself, without link and faults.

use crate::disk::profile::DiskProfile;
use crate::profile::preset;
use model::units::Bytes;

/// What [`disk_4tb`] holds: the tracks of one cylinder in each zone have 138,269 sectors on each surface.
pub const DISK_4TB_CAPACITY: Bytes = Bytes::new(5886 * 138_269 * 10 * 512);

/// The mechanism of the preset `disk-4tb`, whose file says where it was published.
pub fn disk_4tb() -> DiskProfile {
    preset("disk-4tb").expect("a drive that ships").disk.expect("a disk")
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
