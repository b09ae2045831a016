//! What loop devices lie on, by the numbers the kernel gives and not by the path it remembers.

use super::identity::{DeviceNumber, Place};
use super::sysfs::{BlockDevice, SystemRoots};
use super::system_call;
use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub device: BlockDevice,
    pub backing: Place,
    /// The path the kernel remembers; for people, and to follow it when facts are collected.
    pub backing_path: PathBuf,
}

pub(super) fn loops(roots: &SystemRoots) -> io::Result<(Vec<Loop>, Vec<String>)> {
    let mut loops = Vec::new();
    let mut unknown = Vec::new();
    for device in BlockDevice::disks(roots)? {
        match attached(roots, &device) {
            Ok(Some(attached)) => loops.push(attached),
            Ok(None) => {}
            Err(error) => {
                unknown.push(format!("cannot read the layer below {}: {error}", device.path().display()));
            }
        }
    }
    Ok((loops, unknown))
}

/// What the device lies on, when it is a loop device and attached, and not detached since we looked.
pub(super) fn attached(roots: &SystemRoots, device: &BlockDevice) -> io::Result<Option<Loop>> {
    let path = std::fs::read(device.directory.join("loop/backing_file"));
    if path.is_err() && !device.directory.join("loop").exists() {
        return Ok(None);
    }
    // While a device is detached, the kernel takes its path away before the folder that it stands in: what counts is what the device says.
    let by_number = by_number(roots, device);
    if let Err(error) = &by_number
        && error.raw_os_error() == Some(libc::ENXIO)
    {
        return Ok(None);
    }
    let backing_path = PathBuf::from(OsStr::from_bytes(path?.trim_ascii_end()));
    let backing = match by_number {
        Ok(backing) => backing,
        // For those who may not open the loop device. A file deleted or in another mount namespace is an error.
        Err(_) => system_call::place(&backing_path)?,
    };
    Ok(Some(Loop { device: device.clone(), backing, backing_path }))
}

fn by_number(roots: &SystemRoots, device: &BlockDevice) -> io::Result<Place> {
    let node = system_call::open(&roots.dev.join(&device.name), libc::O_RDONLY | libc::O_NONBLOCK)?;
    let status = system_call::status(node.as_fd())?;
    let is_it = status.st_mode & libc::S_IFMT == libc::S_IFBLK
        && DeviceNumber::from_raw(status.st_rdev) == device.number;
    if !is_it {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "its node is another device"));
    }
    Ok(system_call::loop_extent(node.as_fd())?.backing)
}
