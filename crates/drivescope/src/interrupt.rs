//! Ctrl-C and the wish to end: the first ends the run in good order, a second ends the program at once, except during what
//! must not be broken off.

use crate::error::{UserError, exit};
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

static LISTENING: OnceLock<Listening> = OnceLock::new();

/// What the signals do.
struct Listening {
    flag: Arc<AtomicBool>,
    actions: Mutex<Vec<SigId>>,
    has_will: AtomicBool,
}

/// Set by the first of these signals. May be asked for more than once.
///
/// # Errors
/// When the system does not let us listen.
pub fn flag() -> Result<&'static AtomicBool, UserError> {
    if LISTENING.get().is_none() {
        let flag = Arc::new(AtomicBool::new(false));
        let actions = end_by_the_second(&flag).map_err(cannot_listen)?;
        let _ = LISTENING.set(Listening { flag, actions: actions.into(), has_will: AtomicBool::new(false) });
    }
    Ok(&LISTENING.get().expect("the flag was just set").flag)
}

/// How long ago it was first seen that the program is to end; none when it is not.
pub fn asked_for() -> Option<Duration> {
    static SEEN: OnceLock<Instant> = OnceLock::new();
    let is_asked = LISTENING.get().is_some_and(|listening| listening.flag.load(Ordering::SeqCst));
    is_asked.then(|| SEEN.get_or_init(Instant::now).elapsed())
}

/// The wish to end: the first sets the flag, a second calls `will` and ends the program, unless something is under way that must
/// not be broken off.
pub fn wish(will: fn()) {
    let Some(listening) = LISTENING.get().filter(|listening| listening.flag.swap(true, Ordering::SeqCst))
    else {
        return;
    };
    // Who does what must not be broken off holds this; who holds it here lets nobody begin.
    match listening.actions.try_lock() {
        Err(TryLockError::WouldBlock) => {}
        Ok(_) | Err(TryLockError::Poisoned(_)) => {
            will();
            low_level::exit(i32::from(exit::INTERRUPTED));
        }
    }
}

/// While this lives, the second signal does something before it ends the program.
pub struct LastWill {
    signals: Handle,
    listener: Option<JoinHandle<()>>,
}

/// Lets a second signal call `will` before it ends the program: a terminal that was taken has to be given back, which no
/// signal handler may do. So the signals come to a thread instead.
///
/// # Errors
/// When the system does not let us listen.
pub fn with_last_will(will: fn()) -> Result<LastWill, UserError> {
    flag()?;
    let listening = LISTENING.get().expect("the flag was just asked for");
    let mut signals = Signals::new(SIGNALS).map_err(cannot_listen)?;
    let handle = signals.handle();
    let listen = move || {
        for _ in signals.forever() {
            wish(will);
        }
    };
    let listener = std::thread::Builder::new().name("signals".into()).spawn(listen).map_err(cannot_listen)?;
    listening.has_will.store(true, Ordering::SeqCst);
    listening.actions.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(forget);
    Ok(LastWill { signals: handle, listener: Some(listener) })
}

impl Drop for LastWill {
    fn drop(&mut self) {
        let listening = LISTENING.get().expect("there is no will without the flag");
        let mut actions = listening.actions.lock().unwrap_or_else(PoisonError::into_inner);
        // Without these the program can only not be ended by a second signal.
        *actions = end_by_the_second(&listening.flag).unwrap_or_default();
        listening.has_will.store(false, Ordering::SeqCst);
        self.signals.close();
        let _ = self.listener.take().map(JoinHandle::join);
    }
}

/// Does what must not be broken off: meanwhile a signal sets the flag, however many come, and never ends the program.
///
/// # Errors
/// When the system does not let us listen. Nothing was done then.
pub fn unbroken<Answer>(work: impl FnOnce() -> Answer) -> Result<Answer, UserError> {
    flag()?;
    let listening = LISTENING.get().expect("the flag was just asked for");
    let mut actions = listening.actions.lock().unwrap_or_else(PoisonError::into_inner);
    if listening.has_will.load(Ordering::SeqCst) {
        // The thread that takes the signals sees that this is held.
        return Ok(work());
    }
    let set_only = SIGNALS
        .iter()
        .map(|&signal| signal_hook::flag::register(signal, Arc::clone(&listening.flag)))
        .collect::<io::Result<Vec<SigId>>>()
        .map_err(cannot_listen)?;
    actions.drain(..).for_each(forget);
    let answer = work();
    // Before the others come: what sets the flag first would let the same signal end the program.
    set_only.into_iter().for_each(forget);
    // The work is done. Without these the program can only not be ended by a second signal.
    *actions = end_by_the_second(&listening.flag).unwrap_or_default();
    Ok(answer)
}

fn forget(action: SigId) {
    low_level::unregister(action);
}

/// In this order: the second signal finds the flag set and ends the program.
fn end_by_the_second(flag: &Arc<AtomicBool>) -> io::Result<Vec<SigId>> {
    let mut actions = Vec::new();
    for signal in SIGNALS {
        let status = i32::from(exit::INTERRUPTED);
        actions.push(signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(flag))?);
        actions.push(signal_hook::flag::register(signal, Arc::clone(flag))?);
    }
    Ok(actions)
}

fn cannot_listen(error: io::Error) -> UserError {
    UserError::failure(format!("cannot listen for signals: {error}"))
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
        // The same while a thread takes the signals: no wish to end reaches what must not be broken off.
        let will = with_last_will(|| panic!("nobody asked for that")).unwrap();
        let done = unbroken(|| {
            (0..3).for_each(|_| wish(|| panic!("what must not be broken off was")));
            flag.load(Ordering::Relaxed)
        });
        assert!(done.unwrap());
        drop(will);
        flag.store(false, Ordering::Relaxed);
    }
}
