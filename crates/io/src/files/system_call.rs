//! Calls to the system by which files are made, looked at and removed inside an open folder; and processor time.
#![allow(unsafe_code, reason = "openat, fstatat, unlinkat, flock and getrusage have no safe form")]

use model::file_work::ProcessorTime;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

fn checked(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Opens a name in a folder; a link is an error.
pub(super) fn open_at(folder: BorrowedFd<'_>, name: &CStr, flags: libc::c_int) -> io::Result<OwnedFd> {
    let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: `name` is a C string that outlives the call, and the call keeps no pointer.
    match unsafe { libc::openat(folder.as_raw_fd(), name.as_ptr(), flags, 0o600) } {
        // SAFETY: the kernel has just given us this descriptor, and nobody else has it.
        descriptor if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(super) fn make_folder_at(folder: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    // SAFETY: as in `open_at`.
    checked(unsafe { libc::mkdirat(folder.as_raw_fd(), name.as_ptr(), 0o700) })
}

pub(super) fn status_at(folder: BorrowedFd<'_>, name: &CStr) -> io::Result<libc::stat> {
    let mut status = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: as in `open_at`; the kernel fills the whole struct when it answers zero.
    let result = unsafe {
        libc::fstatat(folder.as_raw_fd(), name.as_ptr(), status.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW)
    };
    // SAFETY: as above.
    checked(result).map(|()| unsafe { status.assume_init() })
}

pub(super) fn remove_at(folder: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    // SAFETY: as in `open_at`.
    checked(unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), 0) })
}

pub(super) fn remove_folder_at(folder: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    // SAFETY: as in `open_at`.
    checked(unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), libc::AT_REMOVEDIR) })
}

pub(super) fn forget_clean(descriptor: BorrowedFd<'_>) {
    // SAFETY: the call takes integers only. It is advice: whether it was taken is looked at elsewhere.
    let _ = unsafe { libc::posix_fadvise(descriptor.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// Locks a file for this descriptor alone; whether nobody else has it.
pub(super) fn try_lock(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    // SAFETY: the call takes integers only.
    match checked(unsafe { libc::flock(descriptor.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }) {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EWOULDBLOCK) => Ok(false),
        Err(error) => Err(error),
    }
}

pub(super) fn user() -> libc::uid_t {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

pub(super) fn processor_time() -> Option<ProcessorTime> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the kernel fills the whole struct when it answers zero.
    checked(unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) }).ok()?;
    // SAFETY: as above.
    let usage = unsafe { usage.assume_init() };
    let nanos = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    Some(ProcessorTime { user_ns: nanos(usage.ru_utime), system_ns: nanos(usage.ru_stime) })
}
