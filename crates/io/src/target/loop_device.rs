//! What loop devices lie on, by the numbers the kernel gives and not by the path it remembers.

use super::identity::{DeviceNumber, Place};
use super::sysfs::{BlockDevice, SystemRoots};
use super::system_call;
use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A loop device that is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub device: BlockDevice,
    pub backing: Place,
    /// The path the kernel remembers; for people, and to follow it when facts are collected.
    pub backing_path: PathBuf,
}

/// All loop devices that are attached, and sentences about those that could not be looked at.
pub(super) fn loops(roots: &SystemRoots) -> io::Result<(Vec<Loop>, Vec<String>)> {
    let mut loops = Vec::new();
    let mut unknown = Vec::new();
    for device in BlockDevice::disks(roots)? {
        match attached(roots, &device) {
            Ok(Some(attached)) => loops.push(attached),
            Ok(None) => {}
            Err(error) => {
                unknown.push(format!("what {} lies on cannot be read: {error}", device.path().display()));
            }
        }
    }
    Ok((loops, unknown))
}

/// What the device lies on, when it is a loop device and attached.
pub(super) fn attached(roots: &SystemRoots, device: &BlockDevice) -> io::Result<Option<Loop>> {
    let backing_path = match std::fs::read(device.directory.join("loop/backing_file")) {
        Ok(path) => PathBuf::from(OsStr::from_bytes(path.trim_ascii_end())),
        // Never attached, or detached since we looked.
        Err(_) if !device.directory.join("loop").exists() => return Ok(None),
        // The kernel takes away what is in this folder before the folder itself: while a device is detached the path
        // is gone and the folder is not. The device answers then that nothing is attached.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if is_detached(&by_number(roots, device)) { Ok(None) } else { Err(error) };
        }
        Err(error) => return Err(error),
    };
    let by_number = by_number(roots, device);
    if is_detached(&by_number) {
        return Ok(None);
    }
    let backing = match by_number {
        Ok(backing) => backing,
        // For those who may not open the loop device. A file that was deleted or lies in another mount namespace is
        // not found by its path, which is an error here.
        Err(_) => system_call::place(&backing_path)?,
    };
    Ok(Some(Loop { device: device.clone(), backing, backing_path }))
}

/// What a loop device answers that is attached to nothing, or is being detached.
fn is_detached(answer: &io::Result<Place>) -> bool {
    answer.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::ENXIO))
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
