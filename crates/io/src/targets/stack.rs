//! What lies under a target, from it down to the drives: partitions, volumes, RAID, loop devices, file systems.

use super::facts::{DriveFacts, drive_facts};
use super::identity::{DeviceNumber, Place};
use super::loop_device::{self, Loop};
use super::mounts::{self, Mount};
use super::sysfs::{BlockDevice, SystemRoots};
use super::system_call;
use model::target::{Caveat, StatedLayout};
use std::fs;

/// Loop devices can be put on each other without end; deeper than this nobody follows.
const DEPTH_MAX: u32 = 16;

#[derive(Clone, Debug, Default)]
pub struct Stack {
    /// For people, from the target down.
    pub layers: Vec<String>,
    pub drives: Vec<BlockDevice>,
    pub caveats: Vec<Caveat>,
    /// Whether a loop device is in between, so that the drive below is not the target's own.
    pub has_loop: bool,
    has_volume: bool,
    array: Option<StatedLayout>,
}

impl Stack {
    pub fn of_device(roots: &SystemRoots, device: &BlockDevice) -> Stack {
        let mut stack = Stack::default();
        stack.descend(roots, device, 0);
        stack
    }

    pub fn of_file(roots: &SystemRoots, file: &FilePlace) -> Stack {
        let mut stack = Stack::default();
        stack.descend_from_file(roots, file, "file", 0);
        stack
    }

    pub fn only_drive(&self) -> Option<DriveFacts> {
        match self.drives.as_slice() {
            [drive] if !self.has_loop => Some(drive_facts(drive)),
            _ => None,
        }
    }

    pub fn stated_layout(&self) -> Option<StatedLayout> {
        if self.has_volume || self.drives.len() != 1 { self.array } else { Some(StatedLayout::OneDrive) }
    }

    fn add_caveat(&mut self, caveat: Caveat) {
        if !self.caveats.contains(&caveat) {
            self.caveats.push(caveat);
        }
    }

    fn add_layer(&mut self, layer: String) {
        if !self.layers.contains(&layer) {
            self.layers.push(layer);
        }
    }

    fn descend(&mut self, roots: &SystemRoots, device: &BlockDevice, depth: u32) {
        if depth > DEPTH_MAX {
            self.add_layer("more layers, not shown".into());
            return;
        }
        if device.is_partition() {
            self.add_layer(format!("partition {}", device.name));
            match device.disk() {
                Ok(disk) => self.descend(roots, &disk, depth + 1),
                Err(error) => self.add_layer(format!("a disk that cannot be read: {error}")),
            }
            return;
        }
        match loop_device::attached(roots, device) {
            Ok(Some(attached)) => return self.descend_from_loop(roots, &attached, depth),
            Ok(None) => {}
            Err(error) => self.add_layer(format!("cannot read the layer below {}: {error}", device.name)),
        }
        let members = device.slaves().unwrap_or_default();
        if members.is_empty() {
            return self.add_drive(device);
        }
        self.add_layer(volume(device));
        self.has_volume = true;
        if self.array.is_none() {
            self.array = device.attribute("md/level").as_deref().and_then(layout_of_array);
        }
        for member in members {
            self.descend(roots, &member, depth + 1);
        }
    }

    fn add_drive(&mut self, disk: &BlockDevice) {
        let facts = drive_facts(disk);
        self.add_layer(drive(disk, &facts));
        if disk.name.starts_with("zram") || disk.name.starts_with("ram") {
            self.add_caveat(Caveat::InMemory);
        }
        if facts.is_virtual {
            self.add_caveat(Caveat::VirtualDisk);
        }
        if !self.drives.contains(disk) {
            self.drives.push(disk.clone());
        }
    }

    fn descend_from_loop(&mut self, roots: &SystemRoots, attached: &Loop, depth: u32) {
        self.has_loop = true;
        self.add_caveat(Caveat::LoopOverFile);
        let name = &attached.device.name;
        match attached.backing {
            Place::Device(number) => {
                self.add_layer(format!("loop device {name}"));
                match BlockDevice::by_number(roots, number) {
                    Ok(below) => self.descend(roots, &below, depth + 1),
                    Err(error) => self.add_layer(format!("a device that cannot be read: {error}")),
                }
            }
            Place::File(file) => {
                self.add_layer(format!("loop device {name}"));
                let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
                let mount_id = match system_call::extended_status_of_path(&attached.backing_path, mask) {
                    Ok(status) if status.stx_ino == file.inode => Some(status.stx_mnt_id),
                    _ => None,
                };
                let place = FilePlace { mount_id, file_system: file.file_system };
                let what = format!("file {}", attached.backing_path.display());
                self.descend_from_file(roots, &place, &what, depth + 1);
            }
        }
    }

    fn descend_from_file(&mut self, roots: &SystemRoots, file: &FilePlace, what: &str, depth: u32) {
        let Some(mount) = mount_of(roots, file) else {
            self.add_layer(format!("{what} on a file system that is not mounted here"));
            return;
        };
        self.add_layer(format!("{what} on {}, mounted at {}", mount.file_system, mount.point.display()));
        if let Some(caveat) = file_system_caveat(&mount.file_system) {
            self.add_caveat(caveat);
        }
        for member in members_of(roots, &mount) {
            self.descend(roots, &member, depth + 1);
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct FilePlace {
    /// The number of the mount it was reached through; none before Linux 5.8.
    pub mount_id: Option<u64>,
    /// The number of its file system, which btrfs makes up anew for each subvolume.
    pub file_system: DeviceNumber,
}

impl FilePlace {
    pub(super) fn of(status: &libc::statx) -> FilePlace {
        let has_mount_id = status.stx_mask & libc::STATX_MNT_ID != 0;
        FilePlace {
            mount_id: if has_mount_id { Some(status.stx_mnt_id) } else { None },
            file_system: DeviceNumber { major: status.stx_dev_major, minor: status.stx_dev_minor },
        }
    }
}

pub(super) fn mount_of(roots: &SystemRoots, file: &FilePlace) -> Option<Mount> {
    let mut by_number = None;
    for mount in mounts::own_mounts(roots).ok()? {
        if Some(mount.id) == file.mount_id {
            return Some(mount);
        }
        if by_number.is_none() && mount.number == file.file_system {
            by_number = Some(mount);
        }
    }
    by_number
}

pub(super) fn members_of(roots: &SystemRoots, mount: &Mount) -> Vec<BlockDevice> {
    let number = mounts::source_device(mount).unwrap_or(mount.number);
    let Ok(device) = BlockDevice::by_number(roots, number) else { return Vec::new() };
    if mount.file_system != "btrfs" {
        return vec![device];
    }
    for file_system in fs::read_dir(roots.sysfs.join("fs/btrfs")).into_iter().flatten().flatten() {
        let folder = file_system.path().join("devices");
        if folder.join(&device.name).exists() {
            let links = fs::read_dir(folder).into_iter().flatten().flatten();
            return links.filter_map(|link| BlockDevice::at(&link.path()).ok()).collect();
        }
    }
    vec![device]
}

pub fn file_system_caveat(kind: &str) -> Option<Caveat> {
    const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];
    const NETWORK: &str = "nfs nfs4 cifs smb3 smbfs 9p virtiofs ceph afs lustre gfs2 ocfs2 beegfs glusterfs \
                           fuse.sshfs fuse.glusterfs fuse.ceph fuse.s3fs";
    const REMAPPED: [&str; 8] = ["btrfs", "zfs", "bcachefs", "overlay", "f2fs", "ecryptfs", "nilfs2", "aufs"];
    if IN_MEMORY.contains(&kind) {
        Some(Caveat::InMemory)
    } else if NETWORK.split(' ').any(|network| network == kind) {
        Some(Caveat::Network)
    } else if REMAPPED.contains(&kind) {
        Some(Caveat::Remapped)
    } else if kind.starts_with("fuse") {
        Some(Caveat::PlacesUntold)
    } else {
        None
    }
}

/// By the name of the level, as md has it; none of a container, which holds arrays.
fn layout_of_array(level: &str) -> Option<StatedLayout> {
    match level {
        "raid0" | "raid4" | "raid5" | "raid6" => Some(StatedLayout::Stripe),
        "raid1" => Some(StatedLayout::Mirror),
        "raid10" => Some(StatedLayout::StripeOverMirrors),
        "linear" => Some(StatedLayout::Concatenation),
        _ => None,
    }
}

fn volume(device: &BlockDevice) -> String {
    if let Some(level) = device.attribute("md/level") {
        return format!("RAID {} ({level})", device.name);
    }
    // The identifier of a mapped device begins with the name of who made it: `LVM-…`, `CRYPT-LUKS2-…`.
    let identifier = device.attribute("dm/uuid").unwrap_or_default();
    match (device.attribute("dm/name"), identifier.split_once('-')) {
        (Some(name), Some((maker, _))) => format!("volume {} ({name}, {maker})", device.name),
        (Some(name), None) => format!("volume {} ({name})", device.name),
        _ => format!("volume {}", device.name),
    }
}

fn drive(disk: &BlockDevice, facts: &DriveFacts) -> String {
    let mut notes: Vec<String> = Vec::new();
    notes.extend(facts.model.clone());
    if let Some(link) = &facts.link {
        notes.push(link.name.clone());
    }
    if let Some(address) = &facts.pci_address {
        notes.push(format!("PCI {address}"));
    }
    if notes.is_empty() {
        format!("disk {}", disk.name)
    } else {
        format!("disk {} ({})", disk.name, notes.join(", "))
    }
}
