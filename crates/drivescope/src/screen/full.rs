//! A screen that fills the terminal during a run. Its own thread draws it and reads keys, so that neither a slow terminal
//! nor a person delays the measurement, which only records events.

use super::draw::draw;
use super::keys::Keys;
use super::state::ScreenState;
use super::terminal::{self, FRAME, TakenTerminal};
use super::view::{Command, View};
use crate::console::Look;
use crate::control::Controls;
use crate::event::{Event, EventSink};
use crate::interrupt::{self, LastWill};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

pub struct Shared {
    state: Mutex<ScreenState>,
    is_over: AtomicBool,
}

impl Shared {
    pub fn state(&self) -> MutexGuard<'_, ScreenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }
}

pub struct FullScreen {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    _will: LastWill,
}

impl FullScreen {
    pub fn begin(look: Look, controls: Arc<Controls>) -> Option<FullScreen> {
        let interrupt = interrupt::flag().ok()?;
        let will = interrupt::with_last_will(terminal::give_back).ok()?;
        let terminal = TakenTerminal::take().ok()?;
        let shared = Arc::new(Shared { state: Mutex::default(), is_over: AtomicBool::new(false) });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("screen".into());
        let thread = thread.spawn(move || show(terminal, look, &of_thread, &controls, interrupt)).ok()?;
        Some(FullScreen { shared, thread: Some(thread), _will: will })
    }

    pub fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    pub fn is_gone(&self) -> bool {
        match &self.thread {
            Some(thread) => thread.is_finished(),
            None => true,
        }
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
        // The thread restores the terminal, also when it panics.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

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
        let drawn = terminal.draw(|area, buffer| draw(&shared.state(), &view, look, area, buffer));
        if !matches!(drawn, Ok(true)) || !take_keys(&mut keys, &mut view, controls, interrupt) {
            return;
        }
    }
}

/// Waits for keys for as long as a frame lasts and obeys them. Returns whether the terminal is still there.
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
            Some(Command::Pause) => drop(controls.toggle_pause()),
            Some(Command::Skip) => controls.skip(),
            Some(Command::Stop) => interrupt.store(true, Ordering::SeqCst),
            Some(Command::Break) => interrupt::request(terminal::give_back),
            _ => {}
        }
    }
}
