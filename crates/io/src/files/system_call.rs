//! Calls to the system by which files are made, looked at and removed inside an open folder; and processor time.
#![allow(unsafe_code, reason = "getrusage has no safe form")]

use model::file_work::ProcessorTime;
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

pub(super) fn processor_time() -> Option<ProcessorTime> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the kernel fills the whole struct when it answers zero.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: as above.
    let usage = unsafe { usage.assume_init() };
    let nanos = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    Some(ProcessorTime { user_ns: nanos(usage.ru_utime), system_ns: nanos(usage.ru_stime) })
}
