//! The plain engine and the others' reference: one blocking call a request, one thread for each under way.
#![allow(unsafe_code, reason = "positioned reads and writes into memory shared with worker threads")]

use crate::clock::{Clock, MonotonicClock};
use crate::engine::buffer::BufferPool;
use crate::engine::{Engine, Full};
use crate::error::IoError;
use model::request::{Completion, Operation, Request, Tag};
use model::units::Instant;
use std::os::fd::RawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

/// A thread that only reads and writes needs no more; a thousand of them reserve 64 MiB and touch little of it.
const STACK_BYTES: usize = 64 << 10;

pub struct PsyncEngine {
    descriptor: RawFd,
    clock: MonotonicClock,
    buffers: BufferPool,
    depth: u32,
    queued: Vec<Request>,
    in_flight: u32,
    pool: Option<Pool>,
    finished: Vec<Completion>,
}

struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    mailboxes: Vec<(Mutex<Mailbox>, Condvar)>,
    finished: Mutex<Vec<Completion>>,
    something_finished: Condvar,
}

#[derive(Default)]
struct Mailbox {
    work: Option<(Request, BufferPointer)>,
    closed: bool,
}

struct BufferPointer(*mut u8);
// SAFETY: the engine hands a buffer to one thread at a time and touches it again only after its completion.
unsafe impl Send for BufferPointer {}

impl PsyncEngine {
    /// Opens the engine on a descriptor that outlives it.
    pub fn open(
        descriptor: RawFd,
        depth: u32,
        buffer_bytes: usize,
        clock: MonotonicClock,
    ) -> Result<PsyncEngine, IoError> {
        let room = || Vec::with_capacity(depth as usize);
        Ok(PsyncEngine {
            descriptor,
            clock,
            buffers: BufferPool::new(depth, buffer_bytes)?,
            depth,
            queued: room(),
            in_flight: 0,
            pool: if depth > 1 { Some(Pool::start(descriptor, depth, clock)?) } else { None },
            finished: Vec::with_capacity(depth as usize),
        })
    }

    fn take_finished(&mut self, into: &mut Vec<Completion>) -> u32 {
        if let Some(pool) = &self.pool {
            self.finished.append(&mut lock(&pool.shared.finished));
        }
        let taken = self.finished.len() as u32;
        into.append(&mut self.finished);
        debug_assert!(taken <= self.in_flight, "no answer without a request");
        self.in_flight -= taken;
        taken
    }
}

impl Engine for PsyncEngine {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn queue(&mut self, request: Request) -> Result<(), Full> {
        if self.queued.len() as u32 + self.in_flight >= self.depth {
            return Err(Full(request));
        }
        self.queued.push(request);
        Ok(())
    }

    fn commit(&mut self) -> Result<u32, IoError> {
        let count = self.queued.len() as u32;
        for request in self.queued.drain(..) {
            let buffer = BufferPointer(self.buffers.pointer(request.tag));
            match &self.pool {
                Some(pool) => pool.shared.post(request, buffer),
                None => {
                    let answer = call(self.descriptor, request, buffer.0);
                    self.finished.push(super::completion_of(request, answer, self.clock.now().get()));
                }
            }
        }
        self.in_flight += count;
        debug_assert!(self.in_flight <= self.depth, "the depth is kept");
        Ok(count)
    }

    fn reap(&mut self, into: &mut Vec<Completion>, min: u32, deadline: Instant) -> Result<(), IoError> {
        let mut taken = self.take_finished(into);
        while taken < min && self.in_flight > 0 {
            let left = deadline.since(self.clock.now());
            if left.get() == 0 {
                break;
            }
            if let Some(pool) = &self.pool {
                pool.shared.wait(Duration::from_nanos(left.get()));
            }
            taken += self.take_finished(into);
        }
        Ok(())
    }

    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.buffers.slot(tag)
    }
}

impl Drop for PsyncEngine {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.close();
        }
    }
}

impl Pool {
    fn start(descriptor: RawFd, depth: u32, clock: MonotonicClock) -> Result<Pool, IoError> {
        let shared = Arc::new(Shared {
            mailboxes: (0..depth).map(|_| Default::default()).collect(),
            finished: Mutex::new(Vec::with_capacity(depth as usize)),
            something_finished: Condvar::new(),
        });
        let mut pool = Pool { shared, threads: Vec::with_capacity(depth as usize) };
        for index in 0..depth as usize {
            let shared = Arc::clone(&pool.shared);
            let started = std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .name(format!("psync-{index}"))
                .spawn(move || shared.work(index, descriptor, clock));
            match started {
                Ok(thread) => pool.threads.push(thread),
                Err(source) => {
                    pool.close();
                    return Err(IoError::system("start", format!("thread {index} of {depth}"), source)
                        .with_hint("Raise `ulimit -u`, or ask for fewer threads"));
                }
            }
        }
        Ok(pool)
    }

    fn close(self) {
        for (mailbox, arrived) in &self.shared.mailboxes {
            lock(mailbox).closed = true;
            arrived.notify_one();
        }
        for thread in self.threads {
            let ended = thread.join();
            assert!(ended.is_ok(), "a psync thread only reads and writes");
        }
    }
}

impl Shared {
    fn post(&self, request: Request, buffer: BufferPointer) {
        let (mailbox, arrived) = &self.mailboxes[request.tag.0 as usize];
        lock(mailbox).work = Some((request, buffer));
        arrived.notify_one();
    }

    fn wait(&self, time: Duration) {
        let finished = lock(&self.finished);
        if finished.is_empty() {
            drop(self.something_finished.wait_timeout(finished, time));
        }
    }

    fn work(&self, index: usize, descriptor: RawFd, clock: MonotonicClock) {
        let (mailbox, arrived) = &self.mailboxes[index];
        let mut open = lock(mailbox);
        loop {
            if let Some((request, buffer)) = open.work.take() {
                drop(open);
                let answer = call(descriptor, request, buffer.0);
                let mut finished = lock(&self.finished);
                // A thread that sleeps between these two would hand in an earlier time after a later one.
                let completed_ns = clock.now().get();
                finished.push(super::completion_of(request, answer, completed_ns));
                drop(finished);
                self.something_finished.notify_one();
                open = lock(mailbox);
            } else if open.closed {
                return;
            } else {
                open = arrived.wait(open).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
        }
    }
}

/// A thread that panicked holds no half-changed state: each critical section is one assignment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// One blocking call: the bytes moved, or a negative error number. Of a commit the write. `buffer` has room for the request.
pub(super) fn call(descriptor: RawFd, request: Request, buffer: *mut u8) -> i32 {
    let length = request.length_bytes as usize;
    let offset = request.offset_bytes as libc::off_t;
    // SAFETY: the buffer is a slot of at least `length` bytes that nobody else touches until the completion; the
    // descriptor outlives the engine. The other calls take no memory of ours.
    let result = unsafe {
        match request.operation {
            Operation::Read => libc::pread(descriptor, buffer.cast(), length, offset),
            Operation::Write | Operation::Commit => libc::pwrite(descriptor, buffer.cast(), length, offset),
            Operation::Flush => libc::fdatasync(descriptor) as isize,
            Operation::Discard => {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                libc::fallocate(descriptor, mode, offset, length as libc::off_t) as isize
            }
        }
    };
    if result < 0 { last_error() } else { result as i32 }
}

pub(super) fn last_error() -> i32 {
    -std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
