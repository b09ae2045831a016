//! All drives of the machine, and what may be done with them. Changes nothing, and one drive that cannot be read
//! hides no other.

use super::Target;
use super::device::{confirmation, with_names_of_drive};
use super::facts::drive_facts;
use super::file::{Shape, facts_of};
use super::signature::{self, kernel_partitions};
use super::stack::Stack;
use super::sysfs::{BlockDevice, SystemRoots};
use super::usage::{Obstacle, ObstacleKind, Usage};
use crate::error::IoError;
use model::target::{TargetFacts, TargetKind};
use model::units::Bytes;

/// One drive.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveListing {
    /// What is known of it.
    pub facts: TargetFacts,
    /// Its partitions.
    pub partitions: Vec<PartitionListing>,
    /// Why it cannot be read; none when it can.
    pub read_refusal: Option<String>,
    /// What stands in the way of writes: who uses it, and what it holds.
    pub obstacles: Vec<Obstacle>,
    /// What must be typed to let it be written to.
    pub confirmation: String,
}

impl DriveListing {
    /// Who uses it, as clauses.
    pub fn used_by(&self) -> impl Iterator<Item = &str> {
        self.obstacles
            .iter()
            .filter(|obstacle| obstacle.kind == ObstacleKind::InUse)
            .map(|obstacle| obstacle.statement.as_str())
    }

    /// Whether writes would be permitted after a confirmation, when what it holds may be destroyed.
    pub fn may_be_written(&self) -> bool {
        self.read_refusal.is_none()
            && self.obstacles.iter().all(|obstacle| obstacle.kind == ObstacleKind::Content)
    }
}

/// One partition of a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionListing {
    /// Its path.
    pub path: String,
    /// Where it begins, in bytes from the start of the drive.
    pub start: u64,
    /// Its size.
    pub size: Bytes,
    /// What it holds: "ext4 file system"; empty when nothing is recognised or it cannot be read.
    pub content: Vec<String>,
    /// Who uses it, as clauses.
    pub used_by: Vec<String>,
}

/// All drives, by name. Loop devices, zram and the like without a size are left out.
///
/// # Errors
/// When the list of the disks itself cannot be read.
pub fn drives() -> Result<Vec<DriveListing>, IoError> {
    let roots = SystemRoots::live();
    let disks = BlockDevice::disks(&roots)
        .map_err(|source| IoError::system("list the disks in", "/sys/block", source))?;
    let usage = Usage::read(&roots, None);
    Ok(disks
        .iter()
        .filter(|disk| disk.number_attribute("size").is_some_and(|sectors| sectors > 0))
        .map(|disk| listing(&roots, &usage, disk))
        .collect())
}

fn listing(roots: &SystemRoots, usage: &Usage, disk: &BlockDevice) -> DriveListing {
    let mut obstacles = usage.of_device(roots, disk.number);
    let opened = Target::open(&disk.path());
    let target = opened.as_ref().ok().filter(|target| is_device(target, disk));
    let read_refusal = match (&opened, target) {
        (Err(error), _) => Some(error.to_string()),
        (Ok(_), None) => Some(format!("{} leads to another device", disk.path().display())),
        (Ok(_), Some(_)) => None,
    };
    if let Some(target) = target {
        obstacles.extend(signature::content_obstacles(target));
    }
    let facts = target.map_or_else(|| facts_without_opening(roots, disk), |target| target.facts().clone());
    DriveListing {
        confirmation: confirmation(disk, disk, drive_facts(disk).serial.as_deref()),
        partitions: partitions(roots, usage, disk, target),
        facts,
        read_refusal,
        obstacles,
    }
}

fn is_device(target: &Target, disk: &BlockDevice) -> bool {
    matches!(target.identity(), super::identity::Identity::Device { number, .. } if number == disk.number)
}

fn partitions(
    roots: &SystemRoots,
    usage: &Usage,
    disk: &BlockDevice,
    target: Option<&Target>,
) -> Vec<PartitionListing> {
    let extents = kernel_partitions(disk.number).unwrap_or_default();
    let listed = extents.into_iter().map(|extent| {
        let found = target.and_then(|target| extent.signatures(target).ok()).unwrap_or_default();
        let users = usage.of_member(roots, &extent.device);
        PartitionListing {
            path: extent.device.path().display().to_string(),
            start: extent.start,
            size: Bytes(extent.size),
            content: found.into_iter().map(|signature| signature.name.to_owned()).collect(),
            used_by: users.into_iter().map(|user| user.statement).collect(),
        }
    });
    let mut listed: Vec<PartitionListing> = listed.collect();
    listed.sort_by_key(|partition| partition.start);
    listed
}

/// sysfs tells everybody what only those who may open the drive can ask it.
fn facts_without_opening(roots: &SystemRoots, disk: &BlockDevice) -> TargetFacts {
    let block = |file| disk.number_attribute(file).filter(|&size| size > 0).map_or(Bytes(512), Bytes);
    let stack = Stack::of_device(roots, disk);
    let shape = Shape {
        kind: TargetKind::Device,
        // In units of 512 bytes, whatever the block size is.
        capacity: Bytes(disk.number_attribute("size").unwrap_or(0).saturating_mul(512)),
        logical_block: block("queue/logical_block_size"),
        physical_block: block("queue/physical_block_size"),
    };
    let drive = with_names_of_drive(drive_facts(disk), &stack);
    facts_of(&disk.path(), shape, drive, stack.layers.clone(), stack.caveats.clone())
}
