//! What somebody who looks at a screen has chosen, and what a key does.

use super::charts::ChartKind;
use model::units::Nanos;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What was chosen, and what else is to be said at the edges of the screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The chart; none for the one that fits what is under way.
    pub chart: Option<ChartKind>,
    /// Whether the keys are explained.
    pub help: bool,
    /// What a second press would do.
    pub asked: Option<Wish>,
    /// Whether a pause is to come, or is.
    pub pausing: bool,
    /// Whether the end is to come.
    pub stopping: bool,
    /// Whether the run can be paused, and a phase skipped.
    pub can: (bool, bool),
    /// Of a run that is shown again.
    pub replay: Option<Playing>,
}

/// How a run is shown again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playing {
    /// How many times faster than it was.
    pub speed: f64,
    /// Whether it stands still.
    pub is_paused: bool,
    /// How long the run was.
    pub total: Nanos,
}

/// What a key asks for, beyond what is only seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// Pause, or go on.
    Pause,
    /// End the phase under way.
    Skip,
    /// End the run, or stop looking at it.
    Stop,
    /// End the program, without asking.
    Break,
    /// Go to another moment: a share of the run forward, or back.
    Jump(f64),
    /// Go to the beginning or the end.
    JumpTo(f64),
    /// Show the run this many times faster.
    Faster(f64),
}

impl View {
    /// What a key does: changes what is seen, or is a wish for whoever runs or plays the run.
    pub fn key(&mut self, key: KeyEvent) -> Option<Wish> {
        let before = self.asked.take();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return matches!(key.code, KeyCode::Char('c' | 'C')).then_some(Wish::Break);
        }
        let is_replay = self.replay.is_some();
        match key.code {
            KeyCode::Char('?' | 'h') => self.help = !self.help,
            KeyCode::Esc => self.help = false,
            KeyCode::Char('c') | KeyCode::Tab => self.chart = self.next_chart(),
            KeyCode::Char('0') => self.chart = None,
            KeyCode::Char(digit @ '1'..='5') => {
                self.chart = ChartKind::ALL.get(digit as usize - '1' as usize).copied()
            }
            KeyCode::Char(' ' | 'p') => return Some(Wish::Pause),
            KeyCode::Char('q') if is_replay => return Some(Wish::Stop),
            KeyCode::Char('q') => return self.ask(Wish::Stop, before),
            KeyCode::Char('s') if !is_replay && self.can.1 => return self.ask(Wish::Skip, before),
            code if is_replay => return replay_key(code),
            _ => {}
        }
        None
    }

    /// What cannot be taken back takes two presses.
    fn ask(&mut self, wish: Wish, before: Option<Wish>) -> Option<Wish> {
        if before == Some(wish) {
            return Some(wish);
        }
        self.asked = Some(wish);
        None
    }

    fn next_chart(&self) -> Option<ChartKind> {
        let place = self.chart.and_then(|kind| ChartKind::ALL.iter().position(|other| *other == kind));
        ChartKind::ALL.get(place.map_or(0, |place| place + 1)).copied()
    }
}

fn replay_key(code: KeyCode) -> Option<Wish> {
    match code {
        KeyCode::Left => Some(Wish::Jump(-0.05)),
        KeyCode::Right => Some(Wish::Jump(0.05)),
        KeyCode::PageUp => Some(Wish::Jump(-0.25)),
        KeyCode::PageDown => Some(Wish::Jump(0.25)),
        KeyCode::Home => Some(Wish::JumpTo(0.0)),
        KeyCode::End => Some(Wish::JumpTo(1.0)),
        KeyCode::Char('+' | '=') | KeyCode::Up => Some(Wish::Faster(2.0)),
        KeyCode::Char('-') | KeyCode::Down => Some(Wish::Faster(0.5)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(view: &mut View, code: KeyCode) -> Option<Wish> {
        view.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn what_cannot_be_taken_back_takes_two_presses() {
        let mut view = View { can: (true, true), ..View::default() };
        assert_eq!(press(&mut view, KeyCode::Char('q')), None);
        assert_eq!(press(&mut view, KeyCode::Char('s')), None);
        assert_eq!(press(&mut view, KeyCode::Char('q')), None);
        assert_eq!(press(&mut view, KeyCode::Char('q')), Some(Wish::Stop));
        assert_eq!(press(&mut view, KeyCode::Char('p')), Some(Wish::Pause));
        assert_eq!(view.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(Wish::Break));
        view.can.1 = false;
        assert_eq!((press(&mut view, KeyCode::Char('s')), view.asked), (None, None));
    }

    #[test]
    fn charts_follow_each_other_and_begin_again_with_the_fitting_one() {
        let mut view = View::default();
        let mut seen = Vec::new();
        for _ in 0..6 {
            assert_eq!(press(&mut view, KeyCode::Tab), None);
            seen.push(view.chart);
        }
        assert_eq!(seen[..5], ChartKind::ALL.map(Some));
        assert_eq!(seen[5], None);
        press(&mut view, KeyCode::Char('3'));
        assert_eq!(view.chart, Some(ChartKind::Latency));
    }

    #[test]
    fn a_replay_moves_in_time() {
        let playing = Playing { speed: 1.0, is_paused: false, total: Nanos(1) };
        let mut view = View { replay: Some(playing), ..View::default() };
        assert_eq!(press(&mut view, KeyCode::Left), Some(Wish::Jump(-0.05)));
        assert_eq!(press(&mut view, KeyCode::Char('+')), Some(Wish::Faster(2.0)));
        assert_eq!(press(&mut view, KeyCode::Char('q')), Some(Wish::Stop));
        assert_eq!(press(&mut View::default(), KeyCode::Left), None);
    }
}
