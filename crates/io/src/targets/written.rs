//! What was written to the drives under a target: the kernel's counters since its start, and those of drives' lives.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastingNames {
    /// The target: model and serial number of its drive, or file system and path.
    pub target: String,
    pub drives: Vec<String>,
    /// Which part of its drive it is or through what it leads there; empty for a whole drive.
    pub through: String,
    /// Whether another drive or file could come under the same name.
    pub may_change: bool,
    disks: Vec<BlockDevice>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveCount {
    pub drive: String,
    pub since_start_bytes: Option<u64>,
    /// In the drive's life, by itself.
    pub in_life: Option<LifeCount>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeCount {
    pub source: &'static str,
    pub bytes: u64,
    pub step_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteCounts {
    pub start_of_machine: Option<String>,
    pub drives: Vec<DriveCount>,
}

impl LastingNames {
    pub fn of(path: &Path) -> Result<LastingNames, IoError> {
        IoError::at("look at", path, look_at(path))
    }

    pub fn counts(&self) -> WriteCounts {
        assert_eq!(self.disks.len(), self.drives.len(), "each drive has a name");
        let mut drives = Vec::new();
        for (disk, name) in self.disks.iter().zip(&self.drives) {
            drives.push(DriveCount {
                drive: name.clone(),
                since_start_bytes: written_since_start(&disk.attribute("stat").unwrap_or_default()),
                in_life: written_in_life(disk),
            });
        }
        let start_of_machine = match std::fs::read_to_string("/proc/sys/kernel/random/boot_id") {
            Ok(id) => Some(id.trim().to_owned()),
            Err(_) => None,
        };
        WriteCounts { start_of_machine, drives }
    }
}

fn look_at(path: &Path) -> io::Result<LastingNames> {
    let roots = SystemRoots::live();
    match system_call::place(path)? {
        Place::Device(number) => Ok(of_device(&roots, &BlockDevice::by_number(&roots, number)?)),
        Place::File(_) => of_file(&roots, path),
    }
}

fn of_device(roots: &SystemRoots, device: &BlockDevice) -> LastingNames {
    let stack = Stack::of_device(roots, device);
    let disk = device.disk().unwrap_or(device.clone());
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
    let stack = Stack::of_file(roots, &FilePlace::of(&system_call::extended_status_of_path(path, mask)?));
    let through = first_layers(&stack);
    Ok(finish(name_of_file(path), false, through, stack))
}

fn finish(target: String, may_change: bool, through: String, stack: Stack) -> LastingNames {
    let drives = stack.drives.iter().map(|disk| name_of_disk(disk).0).collect();
    LastingNames { target, drives, through, may_change, disks: stack.drives }
}

fn first_layers(stack: &Stack) -> String {
    let above = stack.layers.iter().filter(|layer| !layer.starts_with("disk "));
    above.cloned().collect::<Vec<_>>().join(", ")
}

fn name_of_number(roots: &SystemRoots, number: DeviceNumber) -> (String, bool) {
    if let Ok(device) = BlockDevice::by_number(roots, number)
        && let Ok(disk) = device.disk()
    {
        return name_of_disk(&disk);
    }
    (format!("device {number}"), true)
}

/// Model and serial number, the identifier of a volume, or the path, under which there may be another drive tomorrow.
fn name_of_disk(disk: &BlockDevice) -> (String, bool) {
    let facts = drive_facts(disk);
    match (facts.model, facts.serial, disk.first_attribute(&["dm/uuid", "md/uuid"])) {
        (Some(model), Some(serial), _) => (format!("{model} {serial}"), false),
        (None, Some(serial), _) => (serial, false),
        (_, None, Some(identifier)) => (format!("volume {identifier}"), false),
        (_, None, None) => (disk.path().display().to_string(), true),
    }
}

fn name_of_file(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or(path.to_owned());
    match system_call::file_system_id(&path) {
        Ok(id) => format!("file system {id:x}, {}", path.display()),
        Err(_) => format!("file system unknown, {}", path.display()),
    }
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
    let units = u64::try_from(u128::from_le_bytes(log.get(48..64)?.try_into().ok()?)).ok()?;
    if units == 0 { None } else { units.checked_mul(NVME_UNIT_BYTES) }
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

/// The number of the page at byte 2; sectors written at byte 24: bits 63 and 62 say kept and valid, 48 count.
fn ata_sectors_written(page: &[u8]) -> Option<u64> {
    const KEPT_AND_VALID: u64 = 0b11 << 62;
    if u64::from(*page.get(2)?) != ATA_GENERAL_STATISTICS_PAGE {
        return None;
    }
    let statistic = u64::from_le_bytes(page.get(24..32)?.try_into().ok()?);
    if statistic & KEPT_AND_VALID != KEPT_AND_VALID {
        return None;
    }
    Some(statistic & ((1 << 48) - 1))
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
