//! The kernel's calls that mounting needs beyond the standard library. All `unsafe` of the mount is here.
#![allow(unsafe_code, reason = "scheduling and loop control have no safe form")]

use crate::targets::system_call::ioctl;
use model::units::{NANOS_PER_SECOND, Nanos};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{self, AtFlags, OFlags, StatxAttributes, StatxFlags};
use rustix::mount::UnmountFlags;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::io;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;
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
    let mut entries = descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
    let time = time.map(|time| Timespec {
        tv_sec: (time.get() / NANOS_PER_SECOND) as i64,
        tv_nsec: (time.get() % NANOS_PER_SECOND) as i64,
    });
    // Whatever it answers, the caller looks for itself.
    let _ = poll(&mut entries, time.as_ref());
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
    // One nanosecond is the least there is, and it cannot fail for the own thread.
    let _ = rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN));
}

pub(super) fn thread_time() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Nanos::new(time.tv_sec as u64 * NANOS_PER_SECOND + time.tv_nsec as u64)
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
    unsafe { ioctl(control, LOOP_CTL_GET_FREE, std::ptr::null_mut::<()>()) }
}

pub(super) fn configure_loop_device(
    device: BorrowedFd<'_>,
    configuration: &[u8; LOOP_CONFIG_BYTES],
) -> io::Result<()> {
    // SAFETY: the kernel copies exactly these bytes from the pointer, at any alignment, and keeps no pointer.
    unsafe { ioctl(device, LOOP_CONFIGURE, configuration.as_ptr().cast_mut()) }.map(drop)
}
