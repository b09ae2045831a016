//! Block devices as targets.

use super::facts::{DriveFacts, drive_facts};
use super::file::{Opened, Shape, check_size, facts_of};
use super::identity::DeviceNumber;
use super::stack::Stack;
use super::sysfs::{BlockDevice, SystemRoots};
use super::{Target, system_call};
use crate::error::IoError;
use model::target::{Caveat, TargetKind};
use model::units::Bytes;
use std::fs;
use std::os::fd::AsFd;
use std::path::Path;

/// The target for an opened block device.
pub(super) fn target(path: &Path, opened: Opened) -> Result<Target, IoError> {
    let fail = |operation| move |source| IoError::system(operation, path.display().to_string(), source);
    let descriptor = opened.descriptor.as_fd();
    let size = system_call::device_size(descriptor).map_err(fail("ask for the size of"))?;
    check_size(path, size)?;
    let logical_block = system_call::logical_block(descriptor).map_err(fail("ask for the block size of"))?;
    let physical_block =
        system_call::physical_block(descriptor).map_err(fail("ask for the block size of"))?;
    let number = DeviceNumber::from_raw(opened.status.st_rdev);
    let identity = system_call::device_identity(descriptor, number)
        .map_err(fail("ask what it is that was opened as"))?;
    let device =
        BlockDevice::by_number(&SystemRoots::live(), number).map_err(fail("find in sysfs the device of"))?;
    let disk = device.disk().map_err(fail("find in sysfs the disk of"))?;
    let stack = Stack::of_device(&SystemRoots::live(), &device);
    let shape = Shape {
        kind: TargetKind::Device,
        capacity: Bytes(size).round_down_to(Bytes(logical_block)),
        logical_block: Bytes(logical_block),
        physical_block: Bytes(physical_block),
    };
    let mut caveats = stack.caveats.clone();
    if !opened.direct {
        caveats.push(Caveat::NotDirect);
    }
    let own = drive_facts(&disk);
    let confirmation = confirmation(&device, &disk, own.serial.as_deref());
    let facts = facts_of(path, shape, with_names_of_drive(own, &stack), stack.layers.clone(), caveats);
    let disks = if stack.drives.is_empty() { vec![disk] } else { stack.drives };
    Ok(Target {
        confirmation,
        facts,
        path: path.into(),
        identity,
        descriptor: opened.descriptor,
        direct: opened.direct,
        memory_alignment: logical_block as usize,
        disks: disks.iter().map(|disk| Path::new("/sys/block").join(&disk.name)).collect(),
    })
}

/// What a person types to agree to writes to a device: the serial number, which is printed on the drive; the path where
/// there is none. A partition, and a namespace beside others, has the number of its whole drive, so that its name has to
/// follow.
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
    let is_neighbour = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Only block devices have a size.
        name != disk.name && name.starts_with(PREFIX) && entry.path().join("size").exists()
    };
    entries.into_iter().any(|entry| entry.map_or(true, is_neighbour))
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
