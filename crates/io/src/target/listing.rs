//! All drives of the machine, and what may be done with them. Changes nothing.

use crate::error::IoError;
use model::target::TargetFacts;

/// One drive.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveListing {
    /// What is known of it.
    pub facts: TargetFacts,
    /// Who uses it, as clauses.
    pub used_by: Vec<String>,
    /// Its partitions.
    pub partitions: Vec<PartitionListing>,
    /// Why it cannot be read; none when it can.
    pub read_refusal: Option<String>,
    /// Why writes would be refused; empty when they would be permitted after confirmation.
    pub write_refusals: Vec<String>,
}

/// One partition of a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionListing {
    /// Its path.
    pub path: String,
    /// Its size.
    pub size: model::units::Bytes,
    /// What it holds: "ext4 file system"; none when nothing is recognised.
    pub content: Option<String>,
    /// Who uses it, as clauses.
    pub used_by: Vec<String>,
}

/// All drives, by name.
///
/// # Errors
/// When the list of the disks itself cannot be read.
pub fn drives() -> Result<Vec<DriveListing>, IoError> {
    Ok(Vec::new())
}
