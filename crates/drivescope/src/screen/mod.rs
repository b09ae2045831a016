//! What is seen while a run goes on: a screen that fills the terminal, a moving line where that cannot be, a line now and
//! then elsewhere. All draw from events alone.
//!
//! ```text
//! events ─┬► ScreenState ─► draw ─► cells of a terminal     full.rs: a thread of its own; replay draws the same
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

use crate::control::Controls;
use crate::event::{Event, EventSink};
use full::FullScreen;
use std::sync::Arc;
use std::time::Duration;

/// A frame: four a second are enough for numbers that people read.
pub const FRAME: Duration = Duration::from_millis(250);

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether colours may be used.
    pub colour: bool,
    /// Whether more than ASCII may be.
    pub unicode: bool,
}

impl Look {
    /// That of the terminal we are in.
    pub fn of_terminal() -> Look {
        let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Look { colour, unicode: crate::cli::output::speaks_unicode() }
    }

    /// Our own text, in ASCII if need be.
    fn own(self, text: &str) -> String {
        report::style::Style { width: 0, colour: false, unicode: self.unicode }.own(text)
    }
}

/// Whether a screen that fills the terminal can be had; one that is too small for it gets the moving line.
pub fn can_fill_terminal() -> bool {
    terminal::can_be_filled()
        && terminal::size()
            .is_some_and(|area| area.width >= draw::COLUMNS_MIN && area.height >= draw::ROWS_MIN)
}

/// What is seen of a run under way, on standard error.
pub struct Screen {
    lines: Lines,
    full: Option<FullScreen>,
    wants_full: bool,
    controls: Arc<Controls>,
    look_again: Option<LookAgain>,
}

impl Screen {
    /// A screen for a run that does what `controls` say; `look_again` makes its findings of what is stored so far.
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
        self.full = FullScreen::begin(Look::of_terminal(), Arc::clone(&self.controls));
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
        if self.full.as_ref().is_some_and(FullScreen::is_gone) {
            // Lines take over.
            self.full = None;
        }
        match &mut self.full {
            Some(full) => full.event(event),
            None => self.lines.event(event),
        }
        if matches!(event, Event::RunEnded(_)) {
            self.full = None;
        }
    }
}
