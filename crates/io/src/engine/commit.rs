//! The engine of commits: one committer, one blocking commit after the other; the load beside goes through it too.
#![allow(unsafe_code, reason = "writes from a buffer that outlives the call")]

use crate::clock::{Clock, MonotonicClock};
use crate::engine::buffer::BufferPool;
use crate::engine::psync::{call, last_error};
use crate::engine::{Engine, Full, completion_of};
use crate::error::IoError;
use io_uring::types::{Fd, FsyncFlags};
use io_uring::{IoUring, opcode, squeue};
use model::commit::CommitMethod;
use model::request::{Completion, Operation, Request, Tag};
use model::units::Instant;
use std::os::fd::RawFd;

pub struct CommitEngine {
    /// What commits go to, opened with `O_DSYNC` if that is the method.
    log: RawFd,
    target: RawFd,
    method: CommitMethod,
    ring: Option<IoUring>,
    buffers: BufferPool,
    clock: MonotonicClock,
    queued: Option<Request>,
    finished: Option<Completion>,
}

impl CommitEngine {
    /// Opens the engine on descriptors that outlive it.
    pub fn open(
        log: RawFd,
        target: RawFd,
        method: CommitMethod,
        buffer_bytes: usize,
        clock: MonotonicClock,
    ) -> Result<CommitEngine, IoError> {
        let ring = match method {
            CommitMethod::Linked => {
                Some(IoUring::new(2).map_err(|error| IoError::system("set up", "io_uring", error))?)
            }
            _ => None,
        };
        let buffers = BufferPool::new(1, buffer_bytes)?;
        Ok(CommitEngine { log, target, method, ring, buffers, clock, queued: None, finished: None })
    }

    fn commit_one(&mut self, request: Request) -> i32 {
        let buffer = self.buffers.pointer(request.tag);
        match self.method {
            CommitMethod::Linked => return self.commit_linked(request),
            CommitMethod::WriteDsync => return write_durable(self.log, request, buffer),
            CommitMethod::OpenDsync | CommitMethod::Fdatasync | CommitMethod::Fsync => {}
        }
        let written = call(self.log, request, buffer);
        if written < request.length_bytes as i32 {
            return written;
        }
        let flushed = match self.method {
            // SAFETY: the call takes an integer only.
            CommitMethod::Fdatasync => unsafe { libc::fdatasync(self.log) },
            // SAFETY: as above.
            CommitMethod::Fsync => unsafe { libc::fsync(self.log) },
            _ => 0,
        };
        if flushed < 0 { last_error() } else { written }
    }

    /// Both in one system call. Where the write fails the flush is cancelled, and the write's answer counts.
    fn commit_linked(&mut self, request: Request) -> i32 {
        let buffer = self.buffers.pointer(request.tag);
        let file = Fd(self.log);
        let write = opcode::Write::new(file, buffer, request.length_bytes).offset(request.offset_bytes);
        let write = write.build().flags(squeue::Flags::IO_LINK).user_data(0);
        let flush = opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build().user_data(1);
        let ring = self.ring.as_mut().expect("linked commits have a ring");
        // SAFETY: the buffer lives as long as the engine, which waits for both before it goes on.
        if unsafe { ring.submission().push_multiple(&[write, flush]) }.is_err() {
            return -libc::EBUSY;
        }
        let mut answers = [0; 2];
        let mut missing = 2;
        while missing > 0 {
            match ring.submit_and_wait(missing) {
                Err(error) if error.raw_os_error() != Some(libc::EINTR) => {
                    return -error.raw_os_error().unwrap_or(libc::EIO);
                }
                _ => {}
            }
            for entry in ring.completion() {
                answers[entry.user_data() as usize] = entry.result();
                missing -= 1;
            }
        }
        match answers {
            [written, _] if written < request.length_bytes as i32 => written,
            [_, flushed] if flushed < 0 => flushed,
            [written, _] => written,
        }
    }
}

fn write_durable(file: RawFd, request: Request, buffer: *mut u8) -> i32 {
    let part = libc::iovec { iov_base: buffer.cast(), iov_len: request.length_bytes as usize };
    let offset = request.offset_bytes as libc::off_t;
    // SAFETY: the buffer has room for the request and outlives the call.
    let written = unsafe { libc::pwritev2(file, &part, 1, offset, libc::RWF_DSYNC) };
    if written < 0 { last_error() } else { written as i32 }
}

impl Engine for CommitEngine {
    fn depth(&self) -> u32 {
        1
    }

    fn queue(&mut self, request: Request) -> Result<(), Full> {
        if self.queued.is_some() || self.finished.is_some() {
            return Err(Full(request));
        }
        self.queued = Some(request);
        Ok(())
    }

    fn commit(&mut self) -> Result<u32, IoError> {
        let Some(request) = self.queued.take() else { return Ok(0) };
        let answer = match request.operation {
            Operation::Commit => self.commit_one(request),
            _ => call(self.target, request, self.buffers.pointer(request.tag)),
        };
        self.finished = Some(completion_of(request, answer, self.clock.now().get()));
        Ok(1)
    }

    fn reap(&mut self, into: &mut Vec<Completion>, _min: u32, _deadline: Instant) -> Result<(), IoError> {
        into.extend(self.finished.take());
        Ok(())
    }

    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.buffers.slot(tag)
    }
}
