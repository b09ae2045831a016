//! Plays a feed on the screen at any speed, with keys to move in time; or as lines.

use super::feed::Feed;
use crate::console::Look;
use crate::error::UserError;
use crate::event::{Event, EventSink};
use crate::interrupt;
use crate::screen::state::ScreenState;
use crate::screen::terminal::{self, FRAME, TakenTerminal};
use crate::screen::view::{Command, Playing, View};
use crate::screen::{Keys, Lines, draw};
use crate::store::StoredRun;
use io::clock::{Clock, MonotonicClock};
use model::units::Nanos;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;

const SPEEDS: RangeInclusive<f64> = 1e-3..=1e6;

#[derive(Clone, Copy, Debug)]
pub struct Playback {
    pub speed: f64,
    pub from: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Left,
    Broken,
}

fn clamped(speed: f64) -> f64 {
    speed.clamp(*SPEEDS.start(), *SPEEDS.end())
}

fn unusable(error: std::io::Error) -> UserError {
    UserError::failure(format!("cannot draw on the terminal: {error}. Try --plain"))
}

pub fn on_screen(stored: &StoredRun, playback: Playback) -> Result<Ended, UserError> {
    let _will = interrupt::with_last_will(terminal::give_back)?;
    let is_asked_to_end = interrupt::flag()?;
    let mut terminal = TakenTerminal::take().map_err(unusable)?;
    let (mut player, look) = (Player::new(stored, playback), Look::of_console());
    while !is_asked_to_end.load(Ordering::Relaxed) {
        player.move_on();
        let drawn = terminal.draw(|area, buffer| draw(&player.state, &player.view, look, area, buffer));
        let is_ours = drawn.map_err(unusable)?;
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
    at_ns: f64,
    drawn_ns: u64,
    is_broken: bool,
}

impl<'run> Player<'run> {
    fn new(stored: &'run StoredRun, playback: Playback) -> Player<'run> {
        let feed = Feed::new(stored);
        let playing = Playing { speed: clamped(playback.speed), is_paused: false, total: feed.total() };
        let view = View { replay: Some(playing), ..View::default() };
        let clock = MonotonicClock::start();
        let state = ScreenState::default();
        let keys = Keys::default();
        let mut player = Player { feed, state, view, keys, clock, at_ns: 0.0, drawn_ns: 0, is_broken: false };
        player.jump_to(playback.from);
        player
    }

    fn move_on(&mut self) {
        let now_ns = self.clock.now().get();
        let passed_ns = now_ns.saturating_sub(std::mem::replace(&mut self.drawn_ns, now_ns));
        if let Some(playing) = self.view.replay
            && !playing.is_paused
            && self.state.ended.is_none()
        {
            self.at_ns = (self.at_ns + passed_ns as f64 * playing.speed).min(playing.total.as_f64());
            self.feed.advance(Nanos::new(self.at_ns as u64), &mut self.state);
        }
    }

    fn jump_to(&mut self, share: f64) {
        self.at_ns = share.clamp(0.0, 1.0) * self.feed.total().as_f64();
        self.feed.jump(Nanos::new(self.at_ns as u64), &mut self.state);
        self.drawn_ns = self.clock.now().get();
    }

    fn take_keys(&mut self) -> std::io::Result<bool> {
        let mut patience = FRAME;
        while let Some(key) = self.keys.next(patience)? {
            patience = Duration::ZERO;
            if let Some(command) = self.view.key(key)
                && self.obey(command)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether the command is to leave.
    fn obey(&mut self, command: Command) -> bool {
        let share = self.at_ns / self.feed.total().get().max(1) as f64;
        match (command, &mut self.view.replay) {
            (Command::Break, _) => {
                self.is_broken = true;
                return true;
            }
            (Command::Stop, _) => return true,
            (Command::Pause, Some(playing)) => playing.is_paused = !playing.is_paused,
            (Command::Faster(factor), Some(playing)) => {
                playing.speed = clamped(playing.speed * factor);
            }
            (Command::Jump(by), _) => self.jump_to(share + by),
            (Command::JumpTo(share), _) => self.jump_to(share),
            _ => {}
        }
        false
    }
}

/// Plays a run as lines: at the given speed if `is_paced`, else as fast as it can be read.
pub fn in_lines(stored: &StoredRun, playback: Playback, is_paced: bool) -> Result<Ended, UserError> {
    let is_asked_to_end = interrupt::flag()?;
    let mut feed = Feed::new(stored);
    let mut lines = Lines::of_replay();
    let clock = MonotonicClock::start();
    let begin_ns = playback.from.clamp(0.0, 1.0) * feed.total().as_f64();
    feed.jump(Nanos::new(begin_ns as u64), &mut Unheard);
    if !is_paced {
        feed.advance(feed.total(), &mut lines);
        return Ok(Ended::Left);
    }
    loop {
        let at_ns = begin_ns + clock.now().as_f64() * clamped(playback.speed);
        if feed.advance(Nanos::new(at_ns as u64), &mut lines) {
            return Ok(Ended::Left);
        }
        if is_asked_to_end.load(Ordering::Relaxed) {
            return Ok(Ended::Broken);
        }
        clock.pass(Nanos::new(FRAME.as_nanos() as u64));
    }
}

struct Unheard;

impl EventSink for Unheard {
    fn event(&mut self, _: &Event<'_>) {}
}
