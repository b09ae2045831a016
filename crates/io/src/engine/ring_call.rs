//! The call that hands requests to a ring and waits for completions, made by hand: the crate for rings forgets the
//! registration of the ring's own descriptor after each call, and then the kernel looks the descriptor up each time.
#![allow(unsafe_code, reason = "the crate for rings has no such call")]

use model::units::{NANOS_PER_SECOND, Nanos};
use std::io;
use std::marker::PhantomData;
use std::os::fd::RawFd;

// Numbers of the kernel's include/uapi/linux/io_uring.h.
const ENTER_GETEVENTS: libc::c_uint = 1;
const ENTER_EXT_ARG: libc::c_uint = 1 << 3;
const ENTER_REGISTERED_RING: libc::c_uint = 1 << 4;
const REGISTER_RING_FDS: libc::c_uint = 20;
const UNREGISTER_RING_FDS: libc::c_uint = 21;
const ANY_INDEX: u32 = u32::MAX;

/// How a ring is called: by a number that the kernel gave this thread, or else by its descriptor.
pub struct RingCall {
    descriptor: RawFd,
    index: Option<u32>,
    /// The number holds for the thread that asked for it, so this does not move to another.
    on_one_thread: PhantomData<*const ()>,
}

#[repr(C)]
struct ResourceUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

#[repr(C)]
struct WaitArgument {
    signal_mask: u64,
    signal_mask_bytes: u32,
    minimum_wait_us: u32,
    timeout: u64,
}

#[repr(C)]
struct Timeout {
    seconds: i64,
    nanoseconds: i64,
}

impl RingCall {
    /// Calls of the ring with this descriptor, which outlives them; not registered yet.
    pub fn new(descriptor: RawFd) -> RingCall {
        RingCall { descriptor, index: None, on_one_thread: PhantomData }
    }

    /// Registers the ring for this thread, once.
    /// Fails when the kernel is older than 5.18, or this thread has 16 rings already.
    pub fn register(&mut self) -> io::Result<()> {
        let mut update = ResourceUpdate { offset: ANY_INDEX, reserved: 0, data: self.descriptor as u64 };
        self.update(REGISTER_RING_FDS, &mut update)?;
        self.index = Some(update.offset);
        Ok(())
    }

    /// Hands over `to_submit` requests and waits for `want` completions, or for `timeout` if there is one; with `want` zero it only lets the
    /// kernel finish what is ready. Returns how many requests were taken. ETIME and EINTR when the wait ended before there were enough; EBUSY
    /// and EAGAIN when the kernel has no room.
    #[inline]
    pub fn enter(&self, to_submit: u32, want: u32, timeout: Option<Nanos>) -> io::Result<u32> {
        let has_timeout = timeout.is_some() && want > 0;
        let nanos = timeout.unwrap_or_default().get();
        let timeout = Timeout {
            seconds: (nanos / NANOS_PER_SECOND) as i64,
            nanoseconds: (nanos % NANOS_PER_SECOND) as i64,
        };
        let argument = WaitArgument {
            signal_mask: 0,
            signal_mask_bytes: 0,
            minimum_wait_us: 0,
            timeout: std::ptr::from_ref(&timeout) as u64,
        };
        // Deferred completions are finished only by a call that asks for them.
        let (flags, argument, argument_bytes) = match has_timeout {
            false => (ENTER_GETEVENTS, std::ptr::null(), 0),
            true => {
                (ENTER_GETEVENTS | ENTER_EXT_ARG, std::ptr::from_ref(&argument), size_of::<WaitArgument>())
            }
        };
        let (ring, flags) = match self.index {
            Some(index) => (i64::from(index), flags | ENTER_REGISTERED_RING),
            None => (i64::from(self.descriptor), flags),
        };
        // SAFETY: argument and timeout live until the call returns. The requests it hands over were vouched for
        // when they were put into the ring.
        let answer = unsafe {
            libc::syscall(libc::SYS_io_uring_enter, ring, to_submit, want, flags, argument, argument_bytes)
        };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer as u32) }
    }

    fn update(&self, operation: libc::c_uint, update: &mut ResourceUpdate) -> io::Result<()> {
        // SAFETY: the call reads and writes one update, which is ours.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_io_uring_register,
                self.descriptor,
                operation,
                std::ptr::from_mut(update),
                1,
            )
        };
        match answer {
            1 => Ok(()),
            0 => Err(io::Error::from_raw_os_error(libc::EINVAL)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for RingCall {
    /// The registration keeps the ring in memory until the thread ends, if it is not given back.
    fn drop(&mut self) {
        if let Some(index) = self.index {
            let mut update = ResourceUpdate { offset: index, reserved: 0, data: 0 };
            let given_back = self.update(UNREGISTER_RING_FDS, &mut update);
            debug_assert!(given_back.is_ok(), "the number was this thread's: {given_back:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use io_uring::IoUring;
    use std::os::fd::AsRawFd;

    /// A thread has room for 16 registered rings, so the 17th of those that come and go tells whether one stayed.
    #[test]
    fn a_registration_is_given_back() {
        for number in 0..40 {
            let ring = IoUring::new(1).unwrap();
            let mut call = RingCall::new(ring.as_raw_fd());
            call.register().unwrap_or_else(|error| panic!("ring {number}: {error}"));
            assert_eq!(call.enter(0, 0, None).unwrap(), 0);
        }
    }

    #[test]
    fn a_wait_in_vain_ends_with_its_timeout() {
        let ring = IoUring::new(1).unwrap();
        let mut call = RingCall::new(ring.as_raw_fd());
        let waits_in_vain = |call: &RingCall| {
            let error = call.enter(0, 1, Some(Nanos::new(1_000_000))).expect_err("nothing was asked for");
            assert_eq!(error.raw_os_error(), Some(libc::ETIME));
        };
        waits_in_vain(&call);
        call.register().unwrap();
        waits_in_vain(&call);
    }
}
