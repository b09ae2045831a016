//! A screen that fills the terminal while a run goes on. A thread of its own draws it and takes keys, so that neither a slow
//! terminal nor a person can hold up the measurement: whoever measures only notes what happened.

use super::draw::draw;
use super::keys::Keys;
use super::terminal::{self, TakenTerminal};
use super::view::{View, Wish};
use super::{FRAME, Look};
use crate::control::Controls;
use crate::event::{Event, EventSink};
use crate::interrupt::{self, LastWill};
use crate::screen::state::ScreenState;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// What the threads share.
pub struct Shared {
    state: Mutex<ScreenState>,
    is_over: AtomicBool,
}

impl Shared {
    /// What is known so far.
    pub fn state(&self) -> MutexGuard<'_, ScreenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the screen is closed.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }
}

/// The screen. Dropping it gives the terminal back.
pub struct FullScreen {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    _will: LastWill,
}

impl FullScreen {
    /// Takes the terminal; none when it cannot be had.
    pub fn begin(look: Look, controls: Arc<Controls>) -> Option<FullScreen> {
        let interrupt = interrupt::flag().ok()?;
        let will = interrupt::with_last_will(terminal::give_back).ok()?;
        let terminal = TakenTerminal::take().ok()?;
        let shared = Arc::new(Shared { state: Mutex::default(), is_over: AtomicBool::new(false) });
        let of_thread = Arc::clone(&shared);
        let show = move || show(terminal, look, &of_thread, &controls, interrupt);
        let thread = std::thread::Builder::new().name("screen".into()).spawn(show).ok()?;
        Some(FullScreen { shared, thread: Some(thread), _will: will })
    }

    /// What others may add to.
    pub fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Whether the terminal is not drawn to any more: it was closed, or something broke.
    pub fn is_gone(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl EventSink for FullScreen {
    fn event(&mut self, event: &Event<'_>) {
        self.shared.state().event(event);
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // The thread gives the terminal back, also when it panics.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Draws and takes keys until it is over or the terminal is gone.
fn show(
    mut terminal: TakenTerminal,
    look: Look,
    shared: &Shared,
    controls: &Controls,
    interrupt: &AtomicBool,
) {
    let (mut view, mut keys) = (View::default(), Keys::default());
    while !shared.is_over() {
        view.pausing = controls.wants_pause();
        view.stopping = interrupt.load(Ordering::Relaxed);
        view.can = (controls.can_pause(), controls.can_skip());
        let frame = |area, buffer: &mut _| draw(&shared.state(), &view, look, area, buffer);
        if !terminal.draw(frame).is_ok_and(|is_ours| is_ours) {
            return;
        }
        if !take_keys(&mut keys, &mut view, controls, interrupt) {
            return;
        }
    }
}

/// Waits for a key for as long as a frame lasts, and does what the keys say. Answers whether there are keys at all.
fn take_keys(keys: &mut Keys, view: &mut View, controls: &Controls, interrupt: &AtomicBool) -> bool {
    let mut patience = FRAME;
    loop {
        let key = match keys.next(patience) {
            Ok(Some(key)) => key,
            Ok(None) => return true,
            Err(_) => return false,
        };
        patience = std::time::Duration::ZERO;
        match view.key(key) {
            Some(Wish::Pause) => drop(controls.toggle_pause()),
            Some(Wish::Skip) => controls.skip(),
            Some(Wish::Stop) => interrupt.store(true, Ordering::SeqCst),
            Some(Wish::Break) => interrupt::wish(terminal::give_back),
            _ => {}
        }
    }
}
