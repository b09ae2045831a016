//! Where a journal may lie: on another drive than the target, and not in memory.

use super::super::identity::DeviceNumber;
use super::super::stack::{FilePlace, Stack};
use super::super::sysfs::SystemRoots;
use super::super::{Target, system_call};
use crate::error::IoError;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// A folder that a journal could lie in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalPlace {
    /// The disks below it in `/sys/block`; none where that cannot be told, and in memory.
    disks: Vec<PathBuf>,
    in_memory: bool,
    /// How much a journal may take there, so that a tenth of the file system stays free.
    pub room: u64,
}

impl JournalPlace {
    /// Looks at a folder.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn of(folder: &Path) -> Result<JournalPlace, IoError> {
        let fail = |source| IoError::system("look at the folder", folder.display().to_string(), source);
        let descriptor = system_call::open(folder, libc::O_RDONLY | libc::O_DIRECTORY).map_err(fail)?;
        let status = system_call::status(descriptor.as_fd()).map_err(fail)?;
        let room = system_call::file_system_room(descriptor.as_fd()).map_err(fail)?;
        let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
        let extended = system_call::extended_status(descriptor.as_fd(), mask).map_err(fail)?;
        let tells = extended.stx_mask & libc::STATX_MNT_ID != 0;
        let place = FilePlace {
            mount_id: tells.then_some(extended.stx_mnt_id),
            file_system: DeviceNumber::from_raw(status.st_dev),
        };
        let stack = Stack::of_file(&SystemRoots::live(), &place);
        Ok(JournalPlace {
            disks: stack.drives.iter().map(|disk| Path::new("/sys/block").join(&disk.name)).collect(),
            in_memory: system_call::is_in_memory(descriptor.as_fd()).map_err(fail)?,
            room: room.available.saturating_sub(room.size.div_ceil(10)),
        })
    }

    /// Why a journal for that target had better not lie there; none when nothing speaks against it.
    pub fn objection(&self, target: &Target) -> Option<String> {
        if self.in_memory {
            return Some("it lies in memory, and a power cut would take it".into());
        }
        if self.disks.is_empty() {
            return Some(
                "on which drive it lies cannot be told, so that it may be the one that is tested".into(),
            );
        }
        let shared = self.disks.iter().find(|disk| target.disks().contains(disk))?;
        let name = shared.file_name().unwrap_or_default().to_string_lossy();
        Some(format!("it lies on the drive that is tested ({name})"))
    }
}
