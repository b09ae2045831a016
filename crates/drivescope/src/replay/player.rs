//! Plays a feed on the screen at a speed, with keys to move in time; or as lines.

use super::Feed;
use crate::error::UserError;
use crate::event::EventSink;
use crate::interrupt;
use crate::screen::state::ScreenState;
use crate::screen::terminal::{self, TakenTerminal};
use crate::screen::view::{Playing, View, Wish};
use crate::screen::{FRAME, Keys, Lines, Look, draw};
use crate::store::StoredRun;
use io::clock::{Clock, MonotonicClock};
use model::units::Nanos;

use std::sync::atomic::Ordering;
use std::time::Duration;

/// From a frame a minute of run time to days.
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-3..=1e6;

/// How a run is to be played.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// How many times faster than it was.
    pub speed: f64,
    /// From where on, as a share of the run.
    pub from: f64,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Whoever looked had seen enough, or all.
    Left,
    /// Ctrl-C.
    Broken,
}

/// Plays a run on the screen until somebody leaves.
///
/// # Errors
/// When the terminal cannot be taken or drawn to.
pub fn on_screen(stored: &StoredRun, wanted: Wanted) -> Result<Ended, UserError> {
    let _will = interrupt::with_last_will(terminal::give_back)?;
    let is_asked_to_end = interrupt::flag()?;
    let unusable = |error: std::io::Error| {
        UserError::failure(format!("cannot draw on the terminal: {error}. Try --plain"))
    };
    let mut terminal = TakenTerminal::take().map_err(unusable)?;
    let (mut player, look) = (Player::new(stored, wanted), Look::of_terminal());
    while !is_asked_to_end.load(Ordering::Relaxed) {
        player.move_on();
        let is_ours = terminal
            .draw(|area, buffer| draw(&player.state, &player.view, look, area, buffer))
            .map_err(unusable)?;
        if !is_ours || player.take_keys().map_err(unusable)? {
            return Ok(if player.is_broken { Ended::Broken } else { Ended::Left });
        }
    }
    Ok(Ended::Broken)
}

struct Player<'run> {
    feed: Feed<'run>,
    state: ScreenState,
    view: View,
    keys: Keys,
    clock: MonotonicClock,
    /// Where it stands, in nanoseconds of the run's clock; and when that was.
    at_ns: f64,
    drawn_ns: u64,
    is_broken: bool,
}

impl<'run> Player<'run> {
    fn new(stored: &'run StoredRun, wanted: Wanted) -> Player<'run> {
        let feed = Feed::new(stored);
        let speed = wanted.speed.clamp(*SPEEDS.start(), *SPEEDS.end());
        let playing = Playing { speed, is_paused: false, total: feed.total() };
        let view = View { replay: Some(playing), ..View::default() };
        let clock = MonotonicClock::start();
        let state = ScreenState::default();
        let keys = Keys::default();
        let mut player = Player { feed, state, view, keys, clock, at_ns: 0.0, drawn_ns: 0, is_broken: false };
        player.jump_to(wanted.from);
        player
    }

    /// Lets the time pass that has passed since the last frame.
    fn move_on(&mut self) {
        let now_ns = self.clock.now().0;
        let passed_ns = now_ns.saturating_sub(std::mem::replace(&mut self.drawn_ns, now_ns));
        let Some(playing) = self.view.replay.filter(|playing| !playing.is_paused) else { return };
        if self.state.ended.is_none() {
            self.at_ns = (self.at_ns + passed_ns as f64 * playing.speed).min(playing.total.0 as f64);
            self.feed.advance(Nanos(self.at_ns as u64), &mut self.state);
        }
    }

    fn jump_to(&mut self, share: f64) {
        self.at_ns = share.clamp(0.0, 1.0) * self.feed.total().0 as f64;
        self.feed.jump(Nanos(self.at_ns as u64), &mut self.state);
        self.drawn_ns = self.clock.now().0;
    }

    /// Waits for a key for as long as a frame lasts. Answers whether somebody wants to leave.
    fn take_keys(&mut self) -> std::io::Result<bool> {
        let mut patience = FRAME;
        while let Some(key) = self.keys.next(patience)? {
            patience = Duration::ZERO;
            if self.view.key(key).is_some_and(|wish| self.grant(wish)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Answers whether the wish is to leave.
    fn grant(&mut self, wish: Wish) -> bool {
        let share = self.at_ns / self.feed.total().0.max(1) as f64;
        match (wish, &mut self.view.replay) {
            (Wish::Break, _) => {
                self.is_broken = true;
                return true;
            }
            (Wish::Stop, _) => return true,
            (Wish::Pause, Some(playing)) => playing.is_paused = !playing.is_paused,
            (Wish::Faster(factor), Some(playing)) => {
                playing.speed = (playing.speed * factor).clamp(*SPEEDS.start(), *SPEEDS.end());
            }
            (Wish::Jump(by), _) => self.jump_to(share + by),
            (Wish::JumpTo(share), _) => self.jump_to(share),
            _ => {}
        }
        false
    }
}

/// Tells a run in lines: at that speed if one was asked for, else as fast as it can be read.
///
/// # Errors
/// When the system does not let us listen for signals.
pub fn in_lines(stored: &StoredRun, wanted: Wanted, is_paced: bool) -> Result<Ended, UserError> {
    let is_asked_to_end = interrupt::flag()?;
    let mut feed = Feed::new(stored);
    let mut lines = Lines::of_replay();
    let clock = MonotonicClock::start();
    let begin_ns = wanted.from.clamp(0.0, 1.0) * feed.total().0 as f64;
    feed.jump(Nanos(begin_ns as u64), &mut Unheard);
    if !is_paced {
        feed.advance(feed.total(), &mut lines);
        return Ok(Ended::Left);
    }
    loop {
        let at_ns = begin_ns + clock.now().0 as f64 * wanted.speed.clamp(*SPEEDS.start(), *SPEEDS.end());
        if feed.advance(Nanos(at_ns as u64), &mut lines) {
            return Ok(Ended::Left);
        }
        if is_asked_to_end.load(Ordering::Relaxed) {
            return Ok(Ended::Broken);
        }
        clock.pass(Nanos(FRAME.as_nanos() as u64));
    }
}

/// Hears nothing: what lies before the first line.
struct Unheard;

impl EventSink for Unheard {
    fn event(&mut self, _: &crate::event::Event<'_>) {}
}
