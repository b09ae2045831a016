//! Makes lasting what was written, by a process of its own: the kernel lets nobody break off a flush, and waits with the end of a
//! program for all of its threads. So a flush that takes minutes can be told of, and left alone when somebody wants the end.
#![allow(unsafe_code, reason = "fork, and the calls that its child may make, have no safe form")]

use crate::clock::{Clock, MonotonicClock};
use model::file_work::ProcessorTime;
use model::units::{Instant, Nanos};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// How long somebody who asked for the end waits for a flush: enough for a cache of some MiB; beyond, a program seems dead.
pub const PATIENCE_AT_THE_END: Nanos = Nanos::from_secs(2);
/// How long to wait for a flush before looking around again.
pub const LOOK_EVERY: Nanos = Nanos::from_millis(40);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The data of a file or drive, and what is needed to read them.
    Data,
    /// A file with all that is known of it.
    File,
    FileSystem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flushed {
    pub took: Nanos,
    /// Of a processor; none where that is counted with the rest of this program.
    pub processor: Option<ProcessorTime>,
}

/// A flush under way. Dropping it leaves it alone: it goes on until it is done, also when this program has ended.
#[derive(Debug)]
pub struct Flushing {
    state: State,
}

#[derive(Debug)]
enum State {
    UnderWay {
        answers: File,
        process: libc::pid_t,
    },
    /// Where no process could be started, it was done at once.
    Done(Option<io::Result<Flushed>>),
}

/// What the process answers: nanoseconds, an error number or zero, nanoseconds of a processor in user and in system mode.
type Answer = [u64; 4];
const ANSWER_BYTES: usize = size_of::<Answer>();

impl Flushing {
    pub fn begin(descriptor: BorrowedFd<'_>, extent: Extent) -> Flushing {
        let descriptor = descriptor.as_raw_fd();
        let at_once = || {
            let flushed = read(flush(descriptor, extent));
            State::Done(Some(flushed.map(|flushed| Flushed { processor: None, ..flushed })))
        };
        Flushing { state: start(descriptor, extent).unwrap_or_else(|_| at_once()) }
    }

    /// What it came to; none when it goes on after so long, or when a signal came.
    pub fn wait(&mut self, patience: Nanos) -> Option<io::Result<Flushed>> {
        match &mut self.state {
            State::Done(outcome) => outcome.take(),
            State::UnderWay { answers, process } => {
                if !is_readable(answers.as_raw_fd(), patience) {
                    return None;
                }
                let mut bytes = [0; ANSWER_BYTES];
                let came = answers.read_exact(&mut bytes);
                reap(*process);
                self.state = State::Done(None);
                if came.is_err() {
                    return Some(Err(io::Error::other("the process that flushed was killed")));
                }
                let (words, _) = bytes.as_chunks::<8>();
                Some(read(std::array::from_fn(|at| u64::from_ne_bytes(words[at]))))
            }
        }
    }

    pub fn finish(mut self) -> io::Result<Flushed> {
        loop {
            if let Some(outcome) = self.wait(Nanos::from_secs(3600)) {
                return outcome;
            }
        }
    }
}

/// Waits for a flush, and no longer than [`PATIENCE_AT_THE_END`] once `is_to_end` says so: none then.
pub(crate) fn unless_ended(
    mut wait: impl FnMut(Nanos) -> Option<io::Result<Flushed>>,
    now: impl Fn() -> Instant,
    mut is_to_end: impl FnMut() -> bool,
) -> Option<io::Result<Flushed>> {
    let mut asked: Option<Instant> = None;
    loop {
        let outcome = wait(LOOK_EVERY);
        if outcome.is_some() {
            return outcome;
        }
        if is_to_end() && now().since(*asked.get_or_insert(now())) >= PATIENCE_AT_THE_END {
            return None;
        }
    }
}

fn read([took_ns, errno, user_ns, system_ns]: Answer) -> io::Result<Flushed> {
    if errno != 0 {
        return Err(io::Error::from_raw_os_error(errno as i32));
    }
    Ok(Flushed { took: Nanos::new(took_ns), processor: Some(ProcessorTime { user_ns, system_ns }) })
}

fn start(descriptor: RawFd, extent: Extent) -> io::Result<State> {
    let (answers, theirs) = io::pipe()?;
    let blocked = SignalsBlocked::all();
    // SAFETY: the child makes only calls that are allowed after a fork of one thread of many (signal-safety(7)): no allocation, no lock.
    let process = unsafe { libc::fork() };
    match process {
        0 => serve(descriptor, theirs.as_raw_fd(), extent),
        -1 => Err(io::Error::last_os_error()),
        _ => {
            drop(blocked);
            Ok(State::UnderWay { answers: File::from(OwnedFd::from(answers)), process })
        }
    }
}

/// The life of the process. It holds nothing open but what it needs, so that whoever waits for the end of our output, or for a lock of
/// ours, does not wait for it; and no signal that is meant for us reaches it.
fn serve(descriptor: RawFd, answers: RawFd, extent: Extent) -> ! {
    close_all_but(descriptor, answers);
    let answer = flush(descriptor, extent);
    // SAFETY: the array outlives the call; a pipe takes so little as a whole or not at all.
    unsafe { libc::write(answers, answer.as_ptr().cast(), ANSWER_BYTES) };
    // SAFETY: the call ends the process without running anything of it.
    unsafe { libc::_exit(0) }
}

fn close_all_but(one: RawFd, other: RawFd) {
    let (low, high) = (one.min(other) as libc::c_uint, one.max(other) as libc::c_uint);
    for (first, last) in
        [(0, low.wrapping_sub(1)), (low + 1, high.wrapping_sub(1)), (high + 1, libc::c_uint::MAX)]
    {
        // The first ends before it begins where the lowest is kept, and so does one between neighbours.
        let is_empty = first > last || (first == 0 && low == 0);
        if !is_empty {
            // SAFETY: the call takes integers only. Where the system does not know it, what stays open is closed at the end.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}

fn flush(descriptor: RawFd, extent: Extent) -> Answer {
    let clock = MonotonicClock::start();
    // SAFETY: the calls take an integer only.
    let result = unsafe {
        match extent {
            Extent::Data => libc::fdatasync(descriptor),
            Extent::File => libc::fsync(descriptor),
            Extent::FileSystem => libc::syncfs(descriptor),
        }
    };
    let took_ns = clock.now().get();
    // SAFETY: the call answers a pointer to the number of the last error of this thread.
    let errno = if result == 0 { 0 } else { unsafe { *libc::__errno_location() } };
    // In a process of its own this thread has done the flush, and nearly nothing else.
    let spent = processor_time(libc::RUSAGE_THREAD).unwrap_or_default();
    [took_ns, errno as u64, spent.user_ns, spent.system_ns]
}

/// What this program or thread has taken of a processor; safe after a fork.
pub(crate) fn processor_time(of: libc::c_int) -> Option<ProcessorTime> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel fills the struct or leaves it alone.
    if unsafe { libc::getrusage(of, usage.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: zeros are a valid rusage.
    let usage = unsafe { usage.assume_init() };
    let [user_ns, system_ns] = [usage.ru_utime, usage.ru_stime]
        .map(|time| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000);
    Some(ProcessorTime { user_ns, system_ns })
}

fn is_readable(descriptor: RawFd, patience: Nanos) -> bool {
    let mut looked = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    let milliseconds = i32::try_from(patience.get().div_ceil(1_000_000)).unwrap_or(i32::MAX);
    // SAFETY: the struct outlives the call.
    unsafe { libc::poll(&mut looked, 1, milliseconds) > 0 }
}

fn reap(process: libc::pid_t) {
    assert!(process > 0, "other numbers stand for any child");
    // SAFETY: the call takes no memory of ours. Where somebody else took note, there is nothing to do.
    unsafe { libc::waitpid(process, std::ptr::null_mut(), 0) };
}

/// While this lives, no signal reaches this thread, nor a process that it starts.
struct SignalsBlocked {
    before: libc::sigset_t,
}

impl SignalsBlocked {
    fn all() -> SignalsBlocked {
        let mut all = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
        let mut before = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: both sets outlive the calls, which fill them; zeros are an empty set.
        let before = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            before.assume_init()
        };
        SignalsBlocked { before }
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        // SAFETY: the set was filled by the same call and outlives this one.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::VirtualClock;
    use std::io::Write;
    use std::os::fd::AsFd;

    /// A flush that takes 30 s, and somebody who wants the end after a while: how long it is waited for.
    fn waits_for(asked_s: u64) -> (bool, f64) {
        let time = VirtualClock::default();
        let at = |seconds| Instant::new(Nanos::from_secs(seconds).get());
        let flushed = Flushed { took: Nanos::from_secs(30), processor: None };
        let wait = |patience: Nanos| {
            time.pass(patience);
            (time.now() >= at(30)).then_some(Ok(flushed))
        };
        let outcome = unless_ended(wait, || time.now(), || time.now() >= at(asked_s));
        (outcome.is_some(), time.now().since(Instant::START).seconds())
    }

    #[test]
    fn nobody_who_wants_the_end_waits_long_for_a_flush() {
        assert_eq!(waits_for(10), (false, 12.0));
        assert_eq!(waits_for(29), (true, 30.0));
        assert_eq!(waits_for(600), (true, 30.0));
    }

    #[test]
    fn a_file_is_flushed_and_an_error_is_told() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 1 << 20]).unwrap();
        for extent in [Extent::Data, Extent::File, Extent::FileSystem] {
            let flushed = Flushing::begin(file.as_fd(), extent).finish().unwrap();
            assert!(flushed.took > Nanos::ZERO && flushed.took < Nanos::from_secs(600), "{flushed:?}");
        }
        // A pipe cannot be flushed.
        let (ours, _theirs) = io::pipe().unwrap();
        let error = Flushing::begin(ours.as_fd(), Extent::Data).finish().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }

    /// What waits for the other end of a pipe does not wait for a flush.
    #[test]
    fn the_process_holds_nothing_open_but_what_it_needs() {
        let (mut ours, theirs) = io::pipe().unwrap();
        let (answers, to_us) = io::pipe().unwrap();
        let (never_read, held) = io::pipe().unwrap();
        // SAFETY: as in `start`.
        let process = unsafe { libc::fork() };
        if process == 0 {
            close_all_but(held.as_raw_fd(), to_us.as_raw_fd());
            // SAFETY: as in `serve`; the process stays until it is killed.
            unsafe {
                libc::write(to_us.as_raw_fd(), [1u8].as_ptr().cast(), 1);
                libc::pause();
                libc::_exit(0);
            }
        }
        let mut byte = [0];
        File::from(OwnedFd::from(answers)).read_exact(&mut byte).unwrap();
        drop(theirs);
        let came = ours.read(&mut byte);
        // SAFETY: the process is ours and was not waited for.
        unsafe { libc::kill(process, libc::SIGKILL) };
        reap(process);
        assert_eq!(came.unwrap(), 0, "the end of the pipe is seen while the process lives");
        drop(never_read);
    }
}
