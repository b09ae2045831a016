//! The fast engine: io_uring with registered buffers, file and ring, one call to the system for submitting and
//! waiting together. Each feature is tried; one that is not to be had is left out and the reason kept.
#![allow(unsafe_code, reason = "the ring shares memory with the kernel")]

use crate::clock::{Clock, MonotonicClock};
use crate::engine::buffer::BufferPool;
use crate::engine::ring_call::RingCall;
use crate::engine::waiting::{RequestShape, SPIN_MAX, Waiting, WaitingWays};
use crate::engine::{Engine, Full, completion_of};
use crate::error::IoError;
use io_uring::types::{Fd, Fixed, FsyncFlags};
use io_uring::{IoUring, opcode, squeue};
use model::request::{Completion, Operation, Request, Status, Tag};
use model::units::{Instant, Nanos};
use std::io;
use std::os::fd::{AsRawFd, RawFd};

/// The kernel registers at most this much as one buffer.
const REGISTERED_BYTES_MAX: usize = 1 << 30;
/// How long the read that tries polling may take before we call it not working.
const POLL_TRIAL: Nanos = Nanos::from_secs(1);

/// io_uring behind the engine contract. Made and used on one thread.
pub struct UringEngine {
    /// Before the ring, so that its registration is given back first.
    call: RingCall,
    ring: IoUring,
    /// After the ring, so that it is unmapped last.
    buffers: BufferPool,
    clock: MonotonicClock,
    descriptor: RawFd,
    requests: Vec<Option<Request>>,
    depth: u32,
    queued: u32,
    in_flight: u32,
    waiting: Option<Waiting>,
    /// Where to leave what was found out about waiting.
    found_out: Option<(WaitingWays, RequestShape)>,
    features: UringFeatures,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UringFeatures {
    registered_buffers: bool,
    registered_file: bool,
    polled: bool,
    pub notes: Vec<String>,
}

/// Why completions are waited for although polling was asked for.
#[derive(Debug, thiserror::Error)]
enum PollRefusal {
    #[error(transparent)]
    Engine(#[from] IoError),
    #[error("the ring is full")]
    RingFull,
    #[error("a trial read answered: {}", .0.describe())]
    Answered(Status),
    #[error("a trial read was not answered within a second")]
    NoAnswer,
}

impl UringEngine {
    /// Opens a ring on a descriptor that outlives it. With `polled` the drive is polled, if it really can.
    pub fn open(
        descriptor: RawFd,
        depth: u32,
        buffer_bytes: usize,
        polled: bool,
        clock: MonotonicClock,
    ) -> Result<UringEngine, IoError> {
        if polled {
            let refusal = match UringEngine::build(descriptor, depth, buffer_bytes, true, clock) {
                Ok(mut engine) => match engine.try_polling() {
                    Ok(()) => return Ok(engine),
                    Err(refusal) => refusal,
                },
                Err(error) => error.into(),
            };
            let mut engine = UringEngine::build(descriptor, depth, buffer_bytes, false, clock)?;
            engine.features.notes.push(format!("not polled: {refusal}"));
            return Ok(engine);
        }
        UringEngine::build(descriptor, depth, buffer_bytes, false, clock)
    }

    /// Lets it find out, or know from phases before, how to wait. `workers` is how many engines run at the same time.
    #[must_use]
    pub fn waiting(mut self, ways: &WaitingWays, shape: RequestShape, workers: u32) -> UringEngine {
        // A polled ring busy-waits anyway.
        if !self.features.polled {
            self.waiting = ways.begin(shape, workers);
            self.found_out = Some((ways.clone(), shape));
        }
        self
    }

    /// One that spins, on whatever machine.
    #[cfg(test)]
    pub(super) fn by_spinning(mut self, ways: &WaitingWays, shape: RequestShape) -> UringEngine {
        (self.waiting, self.found_out) =
            (Some(Waiting::by_spinning(shape.depth)), Some((ways.clone(), shape)));
        self
    }

    #[cfg(test)]
    pub(super) fn is_spinning(&self) -> bool {
        self.waiting.is_some_and(|waiting| waiting.is_spinning())
    }

    pub fn features(&self) -> &UringFeatures {
        &self.features
    }

    fn build(
        descriptor: RawFd,
        depth: u32,
        buffer_bytes: usize,
        polled: bool,
        clock: MonotonicClock,
    ) -> Result<UringEngine, IoError> {
        let mut features = UringFeatures { polled, ..UringFeatures::default() };
        let ring = build_ring(depth, polled, &mut features)?;
        let mut engine = UringEngine {
            call: RingCall::new(ring.as_raw_fd()),
            ring,
            buffers: BufferPool::new(depth, buffer_bytes)?,
            clock,
            descriptor,
            requests: vec![None; depth as usize],
            depth,
            queued: 0,
            in_flight: 0,
            waiting: None,
            found_out: None,
            features,
        };
        engine.register();
        Ok(engine)
    }

    /// Registers what the kernel will take, so that it need not look it up for each request.
    fn register(&mut self) {
        let iovec = self.buffers.as_iovec();
        let registered = if iovec.iov_len <= REGISTERED_BYTES_MAX {
            // SAFETY: the mapping lives as long as the ring; fields are dropped in the order of declaration, the ring first.
            unsafe { self.ring.submitter().register_buffers(&[iovec]) }
        } else {
            Err(io::Error::from_raw_os_error(libc::EFBIG))
        };
        self.features.registered_buffers = note(&mut self.features.notes, "registered buffers", registered);
        let registered = self.ring.submitter().register_files(&[self.descriptor]);
        self.features.registered_file = note(&mut self.features.notes, "registered file", registered);
        let registered = self.call.register();
        note(&mut self.features.notes, "registered ring", registered);
    }

    /// Reads the first block: where the driver has no queues to poll, each request is answered with EOPNOTSUPP.
    fn try_polling(&mut self) -> Result<(), PollRefusal> {
        let length_bytes = self.buffers.slot_bytes().min(4096) as u32;
        let request = Request { tag: Tag(0), operation: Operation::Read, offset_bytes: 0, length_bytes };
        let mut answers = Vec::with_capacity(1);
        if self.queue(request).is_err() {
            return Err(PollRefusal::RingFull);
        }
        let deadline = self.clock.now() + POLL_TRIAL;
        self.reap(&mut answers, 1, deadline)?;
        match answers.first() {
            Some(Completion { status: Status::Done, .. }) => {
                self.features.notes.push("polled".into());
                Ok(())
            }
            Some(answer) => Err(PollRefusal::Answered(answer.status)),
            None => Err(PollRefusal::NoAnswer),
        }
    }

    fn entry(&self, request: Request) -> squeue::Entry {
        let buffer = self.buffers.pointer(request.tag);
        debug_assert!(
            request.operation == Operation::Discard
                || request.length_bytes as usize <= self.buffers.slot_bytes(),
            "the kernel moves no more than a slot holds"
        );
        let (length, offset) = (request.length_bytes, request.offset_bytes);
        macro_rules! on_file {
            ($file:expr) => {
                match (request.operation, self.features.registered_buffers) {
                    (Operation::Read, true) => {
                        opcode::ReadFixed::new($file, buffer, length, 0).offset(offset).build()
                    }
                    (Operation::Write | Operation::Commit, true) => {
                        opcode::WriteFixed::new($file, buffer, length, 0).offset(offset).build()
                    }
                    (Operation::Read, false) => {
                        opcode::Read::new($file, buffer, length).offset(offset).build()
                    }
                    (Operation::Write | Operation::Commit, false) => {
                        opcode::Write::new($file, buffer, length).offset(offset).build()
                    }
                    (Operation::Flush, _) => opcode::Fsync::new($file).flags(FsyncFlags::DATASYNC).build(),
                    (Operation::Discard, _) => opcode::Fallocate::new($file, u64::from(length))
                        .offset(offset)
                        .mode(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE)
                        .build(),
                }
            };
        }
        let entry =
            if self.features.registered_file { on_file!(Fixed(0)) } else { on_file!(Fd(self.descriptor)) };
        entry.user_data(u64::from(request.tag.0))
    }

    fn enter(&mut self, want: u32, deadline: Instant) -> Result<(), IoError> {
        let left = match deadline {
            Instant::NEVER => None,
            _ => Some(deadline.since(self.clock.now())),
        };
        let want = if left == Some(Nanos::ZERO) { 0 } else { want };
        match self.call.enter(self.queued, want, left) {
            Ok(submitted) => self.queued -= submitted,
            // What was queued has been handed over when the wait ends for one of these reasons.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => {
                self.queued = self.ring.submission().len() as u32;
            }
            // The kernel is out of memory for requests, or of room for completions: reap, then come again.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EAGAIN)) => {
                self.queued = self.ring.submission().len() as u32;
            }
            Err(error) => return Err(IoError::system("hand requests to", "io_uring", error)),
        }
        Ok(())
    }

    /// Waits for `want` completions, or until `deadline`; returns how many there were.
    fn wait(&mut self, into: &mut Vec<Completion>, want: u32, deadline: Instant) -> Result<u32, IoError> {
        // A wait that a deadline may end says nothing of the drive.
        let is_open = want > 0 && deadline == Instant::NEVER;
        let Some(mut waiting) = self.waiting.filter(|_| is_open) else {
            self.enter(want, deadline)?;
            return Ok(self.take_ready(into));
        };
        let (began, mut taken) = (self.clock.now(), 0);
        let (mut now, mut spun) = (began, Nanos::ZERO);
        if waiting.is_spinning() {
            let until = began + SPIN_MAX;
            while taken < want && now < until {
                self.enter(0, deadline)?;
                taken += self.take_ready(into);
                now = self.clock.now();
            }
            spun = now.since(began);
        }
        if taken < want {
            self.enter(want - taken, deadline)?;
            taken += self.take_ready(into);
            now = self.clock.now();
        }
        waiting.waited(began, now, taken, spun);
        self.waiting = Some(waiting);
        Ok(taken)
    }

    fn take_ready(&mut self, into: &mut Vec<Completion>) -> u32 {
        let mut completed_ns = None;
        let mut taken = 0;
        for entry in self.ring.completion() {
            // One look at the clock for all that is there: whatever is in the ring is done by then.
            let completed_ns = *completed_ns.get_or_insert_with(|| self.clock.now().get());
            let tag = entry.user_data() as usize;
            let request = self.requests[tag].take().expect("the kernel answers each request once");
            into.push(completion_of(request, entry.result(), completed_ns));
            taken += 1;
        }
        debug_assert!(taken <= self.in_flight, "no answer without a request");
        self.in_flight -= taken;
        taken
    }
}

impl Engine for UringEngine {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn queue(&mut self, request: Request) -> Result<(), Full> {
        if self.in_flight >= self.depth {
            return Err(Full(request));
        }
        let entry = self.entry(request);
        // SAFETY: the buffer is the tag's slot, which lives as long as the ring and is left alone until the completion.
        if unsafe { self.ring.submission().push(&entry) }.is_err() {
            return Err(Full(request));
        }
        let slot = &mut self.requests[request.tag.0 as usize];
        assert!(slot.is_none(), "a tag is free before it is used again");
        *slot = Some(request);
        self.queued += 1;
        self.in_flight += 1;
        debug_assert!(self.queued <= self.in_flight && self.in_flight <= self.depth, "the depth is kept");
        Ok(())
    }

    /// Counts what is queued; it is handed over by the `reap` that follows, which saves every second call.
    fn commit(&mut self) -> Result<u32, IoError> {
        Ok(self.queued)
    }

    fn reap(&mut self, into: &mut Vec<Completion>, min: u32, deadline: Instant) -> Result<(), IoError> {
        let mut taken = if self.queued == 0 { self.take_ready(into) } else { 0 };
        loop {
            let missing = min.saturating_sub(taken).min(self.in_flight);
            if missing == 0 && self.queued == 0 && taken > 0 {
                return Ok(());
            }
            taken += self.wait(into, missing, deadline)?;
            if taken >= min || self.in_flight == 0 || self.clock.now() >= deadline {
                return Ok(());
            }
        }
    }

    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.buffers.slot(tag)
    }
}

impl Drop for UringEngine {
    /// Waits for what is under way: the drive still writes into the buffers.
    fn drop(&mut self) {
        if let (Some(waiting), Some((ways, shape))) = (self.waiting, &self.found_out) {
            ways.end(*shape, waiting);
        }
        let mut answers = Vec::with_capacity(self.depth as usize);
        while self.in_flight > 0 {
            let deadline = self.clock.now() + POLL_TRIAL;
            if self.reap(&mut answers, self.in_flight, deadline).is_err() {
                return;
            }
            answers.clear();
        }
    }
}

/// The best ring the kernel gives: completions run when we wait for them, not by interrupting us.
fn build_ring(depth: u32, polled: bool, features: &mut UringFeatures) -> Result<IoUring, IoError> {
    let entries = depth.next_power_of_two();
    let builder = || {
        let mut builder = IoUring::builder();
        if polled {
            builder.setup_iopoll();
        }
        builder
    };
    // A request that is refused at once does not hold up those behind it: SUBMIT_ALL, since 5.18.
    let deferred = || {
        let mut builder = builder();
        builder.setup_single_issuer().setup_defer_taskrun().setup_submit_all();
        builder
    };
    let direct = deferred().setup_no_sqarray().build(entries);
    if note_ring(features, "deferred task work without an index array", &direct) {
        return direct.map_err(no_ring);
    }
    let deferred = deferred().build(entries);
    if note_ring(features, "deferred task work", &deferred) {
        return deferred.map_err(no_ring);
    }
    let cooperative = builder().setup_coop_taskrun().setup_submit_all().build(entries);
    if note_ring(features, "cooperative task work", &cooperative) {
        return cooperative.map_err(no_ring);
    }
    builder().build(entries).map_err(no_ring)
}

fn note_ring(features: &mut UringFeatures, feature: &str, ring: &io::Result<IoUring>) -> bool {
    note(&mut features.notes, feature, ring.as_ref().map(|_| ()).map_err(clone_error))
}

fn no_ring(error: io::Error) -> IoError {
    let hint = match error.raw_os_error() {
        Some(libc::EPERM) => {
            "It is switched off; try `sysctl -w kernel.io_uring_disabled=0`, or use --engine psync"
        }
        Some(libc::ENOSYS) => "The kernel has none; use --engine psync",
        _ => "Use --engine psync, or a smaller queue depth",
    };
    IoError::system("set up", "io_uring", error).with_hint(hint)
}

fn clone_error(error: &io::Error) -> io::Error {
    io::Error::from_raw_os_error(error.raw_os_error().unwrap_or(libc::EIO))
}

fn note(notes: &mut Vec<String>, feature: &str, result: io::Result<()>) -> bool {
    match &result {
        Ok(()) => notes.push(feature.to_string()),
        Err(error) => notes.push(format!("no {feature}: {error}")),
    }
    result.is_ok()
}
