//! Where a journal may lie: on another drive than the target, and not in memory.

use super::super::identity::DeviceNumber;
use super::super::stack::{FilePlace, Stack};
use super::super::sysfs::{BlockDevice, SystemRoots};
use super::super::system_call;
use super::super::target::Target;
use crate::error::IoError;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalPlace {
    /// The disks below it in `/sys/block`; none where that cannot be told, and in memory.
    disks: Vec<PathBuf>,
    in_memory: bool,
    /// How much a journal may take there, so that a tenth of the file system stays free.
    pub room: u64,
}

impl JournalPlace {
    pub fn of(folder: &Path) -> Result<JournalPlace, IoError> {
        IoError::at("look at the folder", folder, look_at(folder))
    }

    pub fn objection(&self, target: &Target) -> Option<String> {
        if self.in_memory {
            return Some("it is in memory, which a power failure erases".into());
        }
        if self.disks.is_empty() {
            return Some("its drive is unknown and may be the drive under test".into());
        }
        let shared = self.disks.iter().find(|disk| target.disks().contains(disk))?;
        let name = shared.file_name().unwrap_or_default().to_string_lossy();
        Some(format!("it is on the drive under test ({name})"))
    }
}

fn look_at(folder: &Path) -> io::Result<JournalPlace> {
    let descriptor = system_call::open(folder, libc::O_RDONLY | libc::O_DIRECTORY)?;
    let status = system_call::status(descriptor.as_fd())?;
    let room = system_call::file_system_room(descriptor.as_fd())?;
    let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
    let extended = system_call::extended_status(descriptor.as_fd(), mask)?;
    let place = FilePlace { file_system: DeviceNumber::from_raw(status.st_dev), ..FilePlace::of(&extended) };
    let stack = Stack::of_file(&SystemRoots::live(), &place);
    Ok(JournalPlace {
        disks: stack.drives.iter().map(BlockDevice::folder_of_disk).collect(),
        in_memory: system_call::is_in_memory(descriptor.as_fd())?,
        room: room.available.saturating_sub(room.size.div_ceil(10)),
    })
}
