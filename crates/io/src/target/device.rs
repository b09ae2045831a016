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
    let confirmation = own.serial.clone().unwrap_or_else(|| device.path().display().to_string());
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
