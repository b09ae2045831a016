//! Ctrl-C and other signals: the first ends the run in order, the second ends the program at once, except during uninterruptible work.

use crate::error::{Cannot, UserError, exit};
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

const LISTEN: &str = "install signal handlers";

static LISTENING: OnceLock<Listening> = OnceLock::new();

struct Listening {
    flag: Arc<AtomicBool>,
    actions: Mutex<Vec<SigId>>,
    has_will: AtomicBool,
}

pub fn flag() -> Result<&'static AtomicBool, UserError> {
    Ok(&listening()?.flag)
}

fn listening() -> Result<&'static Listening, UserError> {
    if let Some(listening) = LISTENING.get() {
        return Ok(listening);
    }
    let flag = Arc::new(AtomicBool::new(false));
    let actions = end_by_the_second(&flag).or_cannot(LISTEN)?;
    let new = Listening { flag, actions: actions.into(), has_will: AtomicBool::new(false) };
    Ok(LISTENING.get_or_init(|| new))
}

pub fn asked_for() -> Option<Duration> {
    static SEEN: OnceLock<Instant> = OnceLock::new();
    match LISTENING.get() {
        Some(listening) if listening.flag.load(Ordering::SeqCst) => {
            Some(SEEN.get_or_init(Instant::now).elapsed())
        }
        _ => None,
    }
}

/// A request to end: the first sets the flag, a second calls `will` and ends the program, but not in work that must not be interrupted.
pub fn request(will: fn()) {
    let Some(listening) = LISTENING.get() else { return };
    let is_first = !listening.flag.swap(true, Ordering::SeqCst);
    if is_first {
        return;
    }
    // Work that must not be interrupted holds this lock; held here, it lets none begin.
    match listening.actions.try_lock() {
        Err(TryLockError::WouldBlock) => {}
        Ok(_) | Err(TryLockError::Poisoned(_)) => {
            will();
            low_level::exit(i32::from(exit::INTERRUPTED));
        }
    }
}

pub struct LastWill {
    signals: Handle,
    listener: Option<JoinHandle<()>>,
}

/// Lets a second signal call `will` before it ends the program, on a thread: no signal handler may restore the terminal.
pub fn with_last_will(will: fn()) -> Result<LastWill, UserError> {
    let listening = listening()?;
    let mut signals = Signals::new(SIGNALS).or_cannot(LISTEN)?;
    let handle = signals.handle();
    let listener = std::thread::Builder::new().name("signals".into()).spawn(move || {
        for _ in signals.forever() {
            request(will);
        }
    });
    let listener = listener.or_cannot(LISTEN)?;
    listening.has_will.store(true, Ordering::SeqCst);
    listening.actions.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(forget);
    Ok(LastWill { signals: handle, listener: Some(listener) })
}

impl Drop for LastWill {
    fn drop(&mut self) {
        let Some(listening) = LISTENING.get() else { return };
        let mut actions = listening.actions.lock().unwrap_or_else(PoisonError::into_inner);
        // Without these only the second signal has no effect.
        *actions = end_by_the_second(&listening.flag).unwrap_or_default();
        listening.has_will.store(false, Ordering::SeqCst);
        self.signals.close();
        let _ = self.listener.take().map(JoinHandle::join);
    }
}

/// Does work that must not be interrupted: meanwhile signals only set the flag.
/// Fails when signal handlers cannot be installed. Nothing was done then.
pub fn unbroken<Output>(work: impl FnOnce() -> Output) -> Result<Output, UserError> {
    let listening = listening()?;
    let mut actions = listening.actions.lock().unwrap_or_else(PoisonError::into_inner);
    if listening.has_will.load(Ordering::SeqCst) {
        // The thread that takes the signals sees that the lock is held.
        return Ok(work());
    }
    let mut set_only = Vec::new();
    for signal in SIGNALS {
        let action = signal_hook::flag::register(signal, Arc::clone(&listening.flag));
        set_only.push(action.or_cannot(LISTEN)?);
    }
    actions.drain(..).for_each(forget);
    let output = work();
    // First these: one that set the flag before the others run would let the same signal end the program.
    set_only.into_iter().for_each(forget);
    *actions = end_by_the_second(&listening.flag).unwrap_or_default();
    Ok(output)
}

fn forget(action: SigId) {
    low_level::unregister(action);
}

/// In this order, the second signal finds the flag set and ends the program.
fn end_by_the_second(flag: &Arc<AtomicBool>) -> io::Result<Vec<SigId>> {
    let mut actions = Vec::new();
    for signal in SIGNALS {
        let status = i32::from(exit::INTERRUPTED);
        actions.push(signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(flag))?);
        actions.push(signal_hook::flag::register(signal, Arc::clone(flag))?);
    }
    Ok(actions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_only_set_the_flag_during_what_must_not_be_broken_off() {
        let flag = flag().unwrap();
        for _ in 0..2 {
            let done = unbroken(|| {
                for _ in 0..3 {
                    low_level::raise(SIGHUP).unwrap();
                }
                flag.load(Ordering::Relaxed)
            });
            assert!(done.unwrap());
            flag.store(false, Ordering::Relaxed);
            low_level::raise(SIGHUP).unwrap();
            assert!(flag.swap(false, Ordering::Relaxed), "the first signal after it sets the flag");
        }
        // The same while a thread takes the signals.
        let will = with_last_will(|| panic!("nobody asked for that")).unwrap();
        let done = unbroken(|| {
            (0..3).for_each(|_| request(|| panic!("uninterruptible work was interrupted")));
            flag.load(Ordering::Relaxed)
        });
        assert!(done.unwrap());
        drop(will);
        flag.store(false, Ordering::Relaxed);
    }
}
