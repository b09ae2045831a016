//! Block devices as targets.

use super::facts::{DriveFacts, drive_facts};
use super::file::{Opened, Shape, check_size, facts_of};
use super::identity::DeviceNumber;
use super::stack::Stack;
use super::sysfs::{BlockDevice, SystemRoots};
use super::system_call;
use super::target::Target;
use crate::error::IoError;
use model::target::{Caveat, TargetKind};
use model::units::Bytes;
use std::fs;
use std::os::fd::AsFd;
use std::path::Path;

pub(super) fn target(path: &Path, opened: Opened) -> Result<Target, IoError> {
    let roots = SystemRoots::live();
    let descriptor = opened.descriptor.as_fd();
    let size = IoError::at("ask for the size of", path, system_call::device_size(descriptor))?;
    check_size(path, size)?;
    let block_size = "ask for the block size of";
    let logical_block = IoError::at(block_size, path, system_call::logical_block(descriptor))?;
    let physical_block = IoError::at(block_size, path, system_call::physical_block(descriptor))?;
    let number = DeviceNumber::from_raw(opened.status.st_rdev);
    let identity = system_call::device_identity(descriptor, number);
    let identity = IoError::at("ask what it is that was opened as", path, identity)?;
    let device = BlockDevice::by_number(&roots, number);
    let device = IoError::at("find in sysfs the device of", path, device)?;
    let disk = IoError::at("find in sysfs the disk of", path, device.disk())?;
    let stack = Stack::of_device(&roots, &device);
    let shape = Shape {
        kind: TargetKind::Device,
        capacity: Bytes::new(size).round_down_to(Bytes::new(logical_block)),
        logical_block: Bytes::new(logical_block),
        physical_block: Bytes::new(physical_block),
    };
    let own = drive_facts(&disk);
    let confirmation = confirmation(&device, &disk, own.serial.as_deref());
    let mut facts = facts_of(path, shape, with_names_of_drive(own, &stack), &stack);
    if !opened.direct {
        facts.caveats.push(Caveat::NotDirect);
    }
    let disks = if stack.drives.is_empty() { vec![disk] } else { stack.drives };
    Ok(Target {
        confirmation,
        facts,
        path: path.into(),
        identity,
        descriptor: opened.descriptor,
        direct: opened.direct,
        memory_alignment: logical_block as usize,
        disks: disks.iter().map(BlockDevice::folder_of_disk).collect(),
    })
}

/// What a person types to agree to writes to a device: the serial number printed on the drive; the path where there is
/// none. A partition or a namespace beside others adds its name to its drive's number.
pub(super) fn confirmation(device: &BlockDevice, disk: &BlockDevice, serial: Option<&str>) -> String {
    match serial {
        None => device.path().display().to_string(),
        Some(serial) if device != disk || has_neighbours(disk) => format!("{serial}:{}", device.name),
        Some(serial) => serial.to_owned(),
    }
}

/// Whether there are other namespaces below the controller or subsystem of an NVMe disk, as far as can be seen.
fn has_neighbours(disk: &BlockDevice) -> bool {
    const PREFIX: &str = "nvme";
    if !disk.name.starts_with(PREFIX) {
        return false;
    }
    let Ok(entries) = fs::read_dir(disk.directory.join("device")) else { return true };
    for entry in entries {
        let Ok(entry) = entry else { return true };
        let name = entry.file_name().to_string_lossy().into_owned();
        // Only block devices have a size.
        if name != disk.name && name.starts_with(PREFIX) && entry.path().join("size").exists() {
            return true;
        }
    }
    false
}

/// A volume over one drive has settings of its own, but the model, serial number and link of that drive.
pub(super) fn with_names_of_drive(own: DriveFacts, stack: &Stack) -> DriveFacts {
    let drive = stack.only_drive().unwrap_or_default();
    DriveFacts {
        model: own.model.or(drive.model),
        serial: own.serial.or(drive.serial),
        firmware: own.firmware.or(drive.firmware),
        link: own.link.or(drive.link),
        ..own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(directory: std::path::PathBuf, minor: u32) -> BlockDevice {
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("size"), "8").unwrap();
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        BlockDevice { name, number: DeviceNumber { major: 259, minor }, directory }
    }

    #[test]
    fn a_serial_number_that_stands_for_more_than_the_target_needs_its_name_too() {
        let system = tempfile::tempdir().unwrap();
        let controller = system.path().join("nvme0");
        let disk = device(controller.join("nvme0n1"), 0);
        let partition = device(controller.join("nvme0n1/nvme0n1p3"), 1);
        assert_eq!(confirmation(&disk, &disk, Some("S4EW")), "S4EW:nvme0n1", "its neighbours cannot be read");
        std::os::unix::fs::symlink("..", disk.directory.join("device")).unwrap();
        fs::create_dir(controller.join("hwmon1")).unwrap();
        assert_eq!(confirmation(&disk, &disk, Some("S4EW")), "S4EW");
        assert_eq!(confirmation(&partition, &disk, Some("S4EW")), "S4EW:nvme0n1p3");
        assert_eq!(confirmation(&partition, &disk, None), "/dev/nvme0n1p3");
        let other = device(controller.join("nvme0n2"), 2);
        assert_eq!(confirmation(&disk, &disk, Some("S4EW")), "S4EW:nvme0n1");
        std::os::unix::fs::symlink("..", other.directory.join("device")).unwrap();
        assert_eq!(confirmation(&other, &other, Some("S4EW")), "S4EW:nvme0n2");
        let hard_disk = device(system.path().join("sda"), 3);
        assert_eq!(confirmation(&hard_disk, &hard_disk, Some("WD-1")), "WD-1");
    }
}
