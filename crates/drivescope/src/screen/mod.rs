//! What is shown while a run is in progress: a screen that fills the terminal, else a moving line, else a line now and
//! then. All draw from events alone.
//! ```text
//! events ─┬► ScreenState ─► draw ─► cells of a terminal     full.rs: in its own thread; replay draws the same
//!         └► Lines                                          lines.rs
//! ```

mod bins;
mod charts;
mod draw;
mod firming;
mod full;
mod keys;
mod lines;
mod panels;
mod plot;
pub mod state;
pub mod terminal;
#[cfg(test)]
mod tests;
pub mod view;

#[cfg(test)]
pub use bins::Bin;
pub use draw::draw;
pub use firming::LookAgain;
pub use keys::Keys;
pub use lines::{Lines, plan};

use crate::console::Look;
use crate::control::Controls;
use crate::event::{Event, EventSink};
use full::FullScreen;
use std::sync::Arc;

pub fn can_fill_terminal() -> bool {
    match terminal::size() {
        Some(area) => {
            area.width >= draw::COLUMNS_MIN && area.height >= draw::ROWS_MIN && terminal::can_be_filled()
        }
        None => false,
    }
}

pub struct Screen {
    lines: Lines,
    full: Option<FullScreen>,
    wants_full: bool,
    controls: Arc<Controls>,
    look_again: Option<LookAgain>,
}

impl Screen {
    pub fn new(quiet: bool, plain: bool, controls: Arc<Controls>, look_again: LookAgain) -> Screen {
        Screen {
            lines: Lines::new(quiet, plain || !terminal::speaks_ansi()),
            full: None,
            wants_full: !quiet && !plain && can_fill_terminal(),
            controls,
            look_again: Some(look_again),
        }
    }

    fn begin_full(&mut self) {
        self.full = FullScreen::begin(Look::of_console(), Arc::clone(&self.controls));
        if let (Some(full), Some(look_again)) = (&self.full, self.look_again.take()) {
            firming::begin(full.shared(), look_again);
        }
    }
}

impl EventSink for Screen {
    fn event(&mut self, event: &Event<'_>) {
        if self.wants_full && matches!(event, Event::RunBegan(..)) {
            self.begin_full();
        }
        match &mut self.full {
            Some(full) if !full.is_gone() => full.event(event),
            _ => {
                self.full = None;
                self.lines.event(event);
            }
        }
        if matches!(event, Event::RunEnded(_)) {
            self.full = None;
        }
    }
}
