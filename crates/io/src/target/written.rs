//! What was written to the drives under a target, whoever wrote it: the kernel's counters, which begin anew with each
//! start of the machine, and those that drives keep for life.
//!
//! A drive's own counters: NVM Express Base 2.0, 5.16.1.3 (SMART log, data units written); ACS-4, 9.5.4 (device
//! statistics, logical sectors written). SMART attribute 241 is left alone: its unit differs from maker to maker.

use super::facts::drive_facts;
use super::identity::{DeviceNumber, Place};
use super::loop_device;
use super::passthrough::{ATA_BLOCK, AtaCommand, AtaData, ata, nvme_ask};
use super::stack::{FilePlace, Stack};
use super::sysfs::{BlockDevice, SystemRoots};
use super::system_call;
use crate::error::IoError;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// A sector in the kernel's block counters, whatever the drive's is: the kernel's block/stat.rst.
const COUNTER_SECTOR_BYTES: u64 = 512;
/// NVMe counts thousands of 512 bytes, rounded up.
const NVME_UNIT_BYTES: u64 = 512_000;
const NVME_GET_LOG_PAGE: u8 = 0x02;
const NVME_SMART_LOG: u32 = 0x02;
const NVME_ALL_NAMESPACES: u32 = u32::MAX;
const ATA_READ_LOG_EXT: u8 = 0x2f;
const ATA_DEVICE_STATISTICS_LOG: u64 = 0x04;
const ATA_GENERAL_STATISTICS_PAGE: u64 = 0x01;

/// What a target and the drives under it are called for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastingNames {
    /// The target: model and serial number of its drive, or file system and path.
    pub target: String,
    /// The drives under it, the target itself if it is one.
    pub drives: Vec<String>,
    /// Which part of its drive it is or through what it leads there; empty for a whole drive.
    pub through: String,
    /// Whether another drive or file could come under the same name.
    pub may_change: bool,
    disks: Vec<BlockDevice>,
}

/// What was written to one drive so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveCount {
    /// The drive's lasting name.
    pub drive: String,
    /// Since the machine was started, by the kernel.
    pub since_start_bytes: Option<u64>,
    /// In the drive's life, by itself.
    pub in_life: Option<LifeCount>,
}

/// A drive's own count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeCount {
    /// Where it was read: `nvme` or `ata`.
    pub source: &'static str,
    /// How much.
    pub bytes: u64,
    /// In steps of this.
    pub step_bytes: u64,
}

/// What was written so far to all drives under a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteCounts {
    /// Which start of the machine this is.
    pub start_of_machine: Option<String>,
    /// One for each drive.
    pub drives: Vec<DriveCount>,
}

impl LastingNames {
    /// Those of a device, a file or a folder.
    ///
    /// # Errors
    /// When there is nothing there, or it cannot be looked at.
    pub fn of(path: &Path) -> Result<LastingNames, IoError> {
        let fail = |source| IoError::system("look at", path.display().to_string(), source);
        let roots = SystemRoots::live();
        match system_call::place(path).map_err(fail)? {
            Place::Device(number) => {
                Ok(of_device(&roots, &BlockDevice::by_number(&roots, number).map_err(fail)?))
            }
            Place::File(_) => of_file(&roots, path).map_err(fail),
        }
    }

    /// What was written so far to the drives.
    pub fn counts(&self) -> WriteCounts {
        let drives = self.disks.iter().zip(&self.drives).map(|(disk, name)| DriveCount {
            drive: name.clone(),
            since_start_bytes: disk.attribute("stat").and_then(|text| written_since_start(&text)),
            in_life: written_in_life(disk),
        });
        let start = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        WriteCounts { start_of_machine: start.map(|id| id.trim().to_owned()), drives: drives.collect() }
    }
}

fn of_device(roots: &SystemRoots, device: &BlockDevice) -> LastingNames {
    let stack = Stack::of_device(roots, device);
    let disk = device.disk().unwrap_or_else(|_| device.clone());
    let through = if stack.drives.contains(device) { String::new() } else { first_layers(&stack) };
    let (target, may_change) = match loop_device::attached(roots, &disk) {
        Ok(Some(attached)) => match attached.backing {
            Place::File(_) => (name_of_file(&attached.backing_path), false),
            Place::Device(number) => name_of_number(roots, number),
        },
        _ => name_of_disk(&disk),
    };
    finish(target, may_change, through, stack)
}

fn of_file(roots: &SystemRoots, path: &Path) -> io::Result<LastingNames> {
    let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
    let status = system_call::extended_status_of_path(path, mask)?;
    let file_system = DeviceNumber { major: status.stx_dev_major, minor: status.stx_dev_minor };
    let mount_id = (status.stx_mask & libc::STATX_MNT_ID != 0).then_some(status.stx_mnt_id);
    let stack = Stack::of_file(roots, &FilePlace { mount_id, file_system });
    let through = first_layers(&stack);
    Ok(finish(name_of_file(path), false, through, stack))
}

fn finish(target: String, may_change: bool, through: String, stack: Stack) -> LastingNames {
    let drives = stack.drives.iter().map(|disk| name_of_disk(disk).0).collect();
    LastingNames { target, drives, through, may_change, disks: stack.drives }
}

/// What lies above the drives.
fn first_layers(stack: &Stack) -> String {
    let above = stack.layers.iter().filter(|layer| !layer.starts_with("disk "));
    above.cloned().collect::<Vec<_>>().join(", ")
}

fn name_of_number(roots: &SystemRoots, number: DeviceNumber) -> (String, bool) {
    let disk = BlockDevice::by_number(roots, number).and_then(|device| device.disk());
    disk.map_or_else(|_| (format!("device {number}"), true), |disk| name_of_disk(&disk))
}

/// Model and serial number, the identifier of a volume, or the path, under which there may be another drive tomorrow.
fn name_of_disk(disk: &BlockDevice) -> (String, bool) {
    let facts = drive_facts(disk);
    if let Some(serial) = facts.serial {
        return (facts.model.map_or_else(|| serial.clone(), |model| format!("{model} {serial}")), false);
    }
    match disk.attribute("dm/uuid").or_else(|| disk.attribute("md/uuid")) {
        Some(identifier) => (format!("volume {identifier}"), false),
        None => (disk.path().display().to_string(), true),
    }
}

/// The identifier of the file system, and the path without links.
fn name_of_file(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let id = system_call::file_system_id(&path).map_or_else(|_| "unknown".into(), |id| format!("{id:x}"));
    format!("file system {id}, {}", path.display())
}

/// /sys/block/…/stat: field 7 is sectors written.
fn written_since_start(text: &str) -> Option<u64> {
    text.split_whitespace().nth(6)?.parse::<u64>().ok()?.checked_mul(COUNTER_SECTOR_BYTES)
}

/// Asks the drive. Only drives that are known to have such a count are asked.
fn written_in_life(disk: &BlockDevice) -> Option<LifeCount> {
    let is_nvme = disk.name.starts_with("nvme");
    let is_ata = disk.directory.join("device/vpd_pg89").exists();
    if !is_nvme && !is_ata {
        return None;
    }
    let descriptor = system_call::open(&disk.path(), libc::O_RDONLY | libc::O_NONBLOCK).ok()?;
    if is_nvme { nvme_count(descriptor.as_fd()) } else { ata_count(descriptor.as_fd()) }
}

fn nvme_count(descriptor: BorrowedFd<'_>) -> Option<LifeCount> {
    let mut log = [0u8; 512];
    let dwords = log.len() as u32 / 4 - 1;
    let words = [dwords << 16 | NVME_SMART_LOG, 0, 0, 0, 0, 0];
    nvme_ask(descriptor, NVME_GET_LOG_PAGE, NVME_ALL_NAMESPACES, words, &mut log).ok()?;
    Some(LifeCount { source: "nvme", bytes: nvme_written(&log)?, step_bytes: NVME_UNIT_BYTES })
}

/// Bytes 48 to 63 of the SMART log. A drive that does not count shows zero.
fn nvme_written(log: &[u8]) -> Option<u64> {
    let units = u128::from_le_bytes(log.get(48..64)?.try_into().ok()?);
    u64::try_from(units).ok()?.checked_mul(NVME_UNIT_BYTES).filter(|bytes| *bytes > 0)
}

fn ata_count(descriptor: BorrowedFd<'_>) -> Option<LifeCount> {
    let mut page = [0u8; ATA_BLOCK];
    let command = AtaCommand {
        command: ATA_READ_LOG_EXT,
        features: 0,
        count: 1,
        position: ATA_DEVICE_STATISTICS_LOG | ATA_GENERAL_STATISTICS_PAGE << 8,
        is_extended: true,
    };
    ata(descriptor, command, AtaData::In(&mut page), None).ok()?;
    let sector = system_call::logical_block(descriptor).ok()?;
    let bytes = ata_sectors_written(&page)?.checked_mul(sector)?;
    Some(LifeCount { source: "ata", bytes, step_bytes: sector })
}

/// The number of the page at byte 2; sectors written at byte 24, of which bits 63 and 62 say whether it is kept and
/// valid, and the lower 48 are the number.
fn ata_sectors_written(page: &[u8]) -> Option<u64> {
    const KEPT_AND_VALID: u64 = 0b11 << 62;
    if u64::from(*page.get(2)?) != ATA_GENERAL_STATISTICS_PAGE {
        return None;
    }
    let statistic = u64::from_le_bytes(page.get(24..32)?.try_into().ok()?);
    (statistic & KEPT_AND_VALID == KEPT_AND_VALID).then_some(statistic & ((1 << 48) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_are_read_where_the_standards_put_them() {
        assert_eq!(written_since_start("100 5 2048 30 50 2 1024 40 0 60 70 0 0 0 0 0 0"), Some(524_288));
        let mut log = [0u8; 512];
        assert_eq!(nvme_written(&log), None);
        log[48..50].copy_from_slice(&1000u16.to_le_bytes());
        assert_eq!(nvme_written(&log), Some(512_000_000));
        let mut page = [0u8; 512];
        page[2] = 1;
        page[24..32].copy_from_slice(&(0b11 << 62 | 4096u64).to_le_bytes());
        assert_eq!(ata_sectors_written(&page), Some(4096));
        page[31] = 0x80;
        assert_eq!(ata_sectors_written(&page), None);
    }

    #[test]
    fn a_file_is_called_by_its_file_system_and_path_and_counts_what_its_drive_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = LastingNames::of(folder.path()).expect("it is there");
        let path = folder.path().canonicalize().unwrap();
        assert!(names.target.ends_with(&format!(", {}", path.display())), "{names:?}");
        assert_eq!(names.counts().drives.len(), names.drives.len());
        assert!(LastingNames::of(&folder.path().join("nothing")).is_err());
    }

    proptest! {
        #[test]
        fn no_answer_of_a_drive_panics(bytes in prop::collection::vec(any::<u8>(), 0..600), text in "\\PC*") {
            let _ = (nvme_written(&bytes), ata_sectors_written(&bytes), written_since_start(&text));
        }
    }
}
