//! Calls to the system by which files are made, looked at and removed inside an open folder.

use rustix::fs::{self, Advice, AtFlags, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// Opens a name in a folder; a link is an error.
pub(super) fn open_at(folder: BorrowedFd<'_>, name: &CStr, flags: libc::c_int) -> io::Result<OwnedFd> {
    let flags = OFlags::from_bits_retain(flags as u32) | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?)
}

pub(super) fn make_folder_at(folder: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    Ok(fs::mkdirat(folder, name, Mode::RWXU)?)
}

pub(super) fn status_at(folder: BorrowedFd<'_>, name: &CStr) -> io::Result<Stat> {
    Ok(fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

pub(super) fn remove_at(folder: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    Ok(fs::unlinkat(folder, name, AtFlags::empty())?)
}

pub(super) fn remove_folder_at(folder: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    Ok(fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}

/// It is advice: whether it was taken is looked at elsewhere.
pub(super) fn forget_clean(descriptor: BorrowedFd<'_>) {
    let _ = fs::fadvise(descriptor, 0, None, Advice::DontNeed);
}

/// Locks a file for this descriptor alone; whether nobody else has it.
pub(super) fn try_lock(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    match fs::flock(descriptor, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
