//! The kernel's calls that mounting needs beyond the standard library. All `unsafe` of the mount is here.
#![allow(unsafe_code, reason = "polling a time, scheduling and loop control have no safe form")]

use model::units::Nanos;
use rustix::fs::{self, AtFlags, OFlags, StatxAttributes, StatxFlags};
use rustix::mount::UnmountFlags;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;

/// `linux/loop.h`: the number of a loop device that is free, or was made.
const LOOP_CTL_GET_FREE: libc::c_ulong = 0x4c82;
/// `linux/loop.h`: sets a loop device up in one step.
const LOOP_CONFIGURE: libc::c_ulong = 0x4c0a;
pub(super) const LOOP_CONFIG_BYTES: usize = 304;

/// Reads of the descriptor answer at once, also when there is nothing.
pub(super) fn make_non_blocking(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    Ok(fs::fcntl_setfl(descriptor, fs::fcntl_getfl(descriptor)? | OFlags::NONBLOCK)?)
}

/// Waits until one of two descriptors can be read or has failed, for `time` (none is for ever), or a signal.
pub(super) fn wait_for(descriptors: [BorrowedFd<'_>; 2], time: Option<Nanos>) {
    let entry = |descriptor: BorrowedFd<'_>| libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut entries = descriptors.map(entry);
    let time = time.map(|time| libc::timespec {
        tv_sec: (time.get() / 1_000_000_000) as libc::time_t,
        tv_nsec: (time.get() % 1_000_000_000) as libc::c_long,
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the array holds two entries, the time is null or valid, and no pointer outlives the call. Whatever it
    // answers, the caller looks for itself.
    unsafe { libc::ppoll(entries.as_mut_ptr(), 2, time, std::ptr::null()) };
}

pub(super) fn schedule_first(priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the struct is valid for the call; 0 is this thread.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Asks that this thread's timers are not put together with others: ordinary threads are up to 50 µs late by that.
pub(super) fn make_timers_exact() {
    // SAFETY: takes integers only; one nanosecond is the least there is, and it cannot fail for the own thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

pub(super) fn thread_time() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills the struct; this clock exists for every thread.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Nanos::new(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

pub(super) fn user_and_group() -> (u32, u32) {
    (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}

pub(super) fn unmount(path: &Path, flags: UnmountFlags) -> io::Result<()> {
    Ok(rustix::mount::unmount(path, flags)?)
}

pub(super) fn is_mount_point(folder: BorrowedFd<'_>) -> io::Result<bool> {
    let status = fs::statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::TYPE)?;
    Ok(status.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// The number of a free loop device. Another program may take it before we do.
pub(super) fn free_loop_device(control: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: the request takes no argument.
    match unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) } {
        number if number >= 0 => Ok(number as u32),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(super) fn configure_loop_device(
    device: BorrowedFd<'_>,
    configuration: &[u8; LOOP_CONFIG_BYTES],
) -> io::Result<()> {
    // SAFETY: the kernel copies exactly these bytes from the pointer, at any alignment, and keeps no pointer.
    match unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, configuration.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
