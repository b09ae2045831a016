//! All drives of the machine, and what may be done with them. One that cannot be read hides no other.

use super::device::{confirmation, with_names_of_drive};
use super::facts::drive_facts;
use super::file::{Shape, facts_of};
use super::identity::Identity;
use super::never_write::{Excluded, NeverWrite};
use super::obstacle::{Obstacle, ObstacleKind};
use super::signature::{self, kernel_partitions};
use super::stack::Stack;
use super::sysfs::{BlockDevice, SystemRoots};
use super::target::Target;
use super::usage::Usage;
use crate::error::IoError;
use model::target::{TargetFacts, TargetKind};
use model::units::Bytes;

#[derive(Clone, Debug, PartialEq)]
pub struct DriveListing {
    pub facts: TargetFacts,
    pub partitions: Vec<PartitionListing>,
    pub read_refusal: Option<String>,
    pub obstacles: Vec<Obstacle>,
    /// By a list of drives that are never written, whatever consent is given.
    pub excluded: Option<Excluded>,
    pub confirmation: String,
}

impl DriveListing {
    pub fn used_by(&self) -> impl Iterator<Item = &str> {
        let users = self.obstacles.iter().filter(|obstacle| obstacle.kind == ObstacleKind::InUse);
        users.map(|obstacle| obstacle.statement.as_str())
    }

    pub fn may_be_written(&self) -> bool {
        let is_free = self.obstacles.iter().all(|obstacle| obstacle.kind == ObstacleKind::Content);
        self.read_refusal.is_none() && self.excluded.is_none() && is_free
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionListing {
    pub path: String,
    pub start: u64,
    pub size: Bytes,
    pub content: Vec<String>,
    pub used_by: Vec<String>,
}

/// All drives, by name. Loop devices, zram and the like without a size are left out.
pub fn drives(never_write: &NeverWrite) -> Result<Vec<DriveListing>, IoError> {
    let roots = SystemRoots::live();
    let disks = match BlockDevice::disks(&roots) {
        Ok(disks) => disks,
        Err(source) => return Err(IoError::system("list the disks in", "/sys/block", source)),
    };
    let usage = Usage::read(&roots, None);
    let mut listed = Vec::new();
    for disk in &disks {
        if let Some(1..) = disk.number_attribute("size") {
            let excluded = never_write.check_disk(&roots, disk).err();
            listed.push(DriveListing { excluded, ..listing(&roots, &usage, disk) });
        }
    }
    Ok(listed)
}

fn listing(roots: &SystemRoots, usage: &Usage, disk: &BlockDevice) -> DriveListing {
    let mut obstacles = usage.of_device(roots, disk.number);
    let (target, read_refusal) = match Target::open(&disk.path()) {
        Ok(target) if is_device(&target, disk) => (Some(target), None),
        Ok(_) => (None, Some(format!("{} leads to another device", disk.path().display()))),
        Err(error) => (None, Some(error.to_string())),
    };
    let facts = match &target {
        Some(target) => {
            obstacles.extend(signature::content_obstacles(target));
            target.facts().clone()
        }
        None => facts_without_opening(roots, disk),
    };
    DriveListing {
        confirmation: confirmation(disk, disk, drive_facts(disk).serial.as_deref()),
        partitions: partitions(roots, usage, disk, target.as_ref()),
        facts,
        read_refusal,
        obstacles,
        excluded: None,
    }
}

fn is_device(target: &Target, disk: &BlockDevice) -> bool {
    matches!(target.identity(), Identity::Device { number, .. } if number == disk.number)
}

fn partitions(
    roots: &SystemRoots,
    usage: &Usage,
    disk: &BlockDevice,
    target: Option<&Target>,
) -> Vec<PartitionListing> {
    let mut listed = Vec::new();
    for extent in kernel_partitions(disk.number).unwrap_or_default() {
        let found = match target {
            Some(target) => extent.signatures(target).unwrap_or_default(),
            None => Vec::new(),
        };
        let users = usage.of_member(roots, &extent.device);
        listed.push(PartitionListing {
            path: extent.device.path().display().to_string(),
            start: extent.start,
            size: Bytes::new(extent.size),
            content: found.into_iter().map(|signature| signature.name.to_owned()).collect(),
            used_by: users.into_iter().map(|user| user.statement).collect(),
        });
    }
    listed.sort_by_key(|partition| partition.start);
    listed
}

/// sysfs tells everybody what only those who may open the drive can ask it.
fn facts_without_opening(roots: &SystemRoots, disk: &BlockDevice) -> TargetFacts {
    let stack = Stack::of_device(roots, disk);
    let shape = Shape {
        kind: TargetKind::Device,
        // In units of 512 bytes, whatever the block size is.
        capacity: Bytes::new(disk.number_attribute("size").unwrap_or(0).saturating_mul(512)),
        logical_block: block_size(disk, "queue/logical_block_size"),
        physical_block: block_size(disk, "queue/physical_block_size"),
    };
    let drive = with_names_of_drive(drive_facts(disk), &stack);
    facts_of(&disk.path(), shape, drive, &stack)
}

fn block_size(disk: &BlockDevice, file: &str) -> Bytes {
    match disk.number_attribute(file) {
        Some(size) if size > 0 => Bytes::new(size),
        _ => Bytes::new(512),
    }
}
