//! What the user has chosen to see, and what a key does.

use super::charts::ChartKind;
use model::units::Nanos;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub chart: Option<ChartKind>,
    pub help: bool,
    pub asked: Option<Command>,
    pub pausing: bool,
    pub stopping: bool,
    pub can: (bool, bool),
    pub replay: Option<Playing>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playing {
    pub speed: f64,
    pub is_paused: bool,
    pub total: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    Pause,
    Skip,
    Stop,
    Break,
    Jump(f64),
    JumpTo(f64),
    Faster(f64),
}

impl View {
    pub fn key(&mut self, key: KeyEvent) -> Option<Command> {
        let before = self.asked.take();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            let is_break = matches!(key.code, KeyCode::Char('c' | 'C'));
            return if is_break { Some(Command::Break) } else { None };
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
            KeyCode::Char(' ' | 'p') => return Some(Command::Pause),
            KeyCode::Char('q') if is_replay => return Some(Command::Stop),
            KeyCode::Char('q') => return self.ask(Command::Stop, before),
            KeyCode::Char('s') if !is_replay && self.can.1 => return self.ask(Command::Skip, before),
            code if is_replay => return replay_key(code),
            _ => {}
        }
        None
    }

    /// What cannot be undone takes two presses.
    fn ask(&mut self, command: Command, before: Option<Command>) -> Option<Command> {
        if before == Some(command) {
            return Some(command);
        }
        self.asked = Some(command);
        None
    }

    fn next_chart(&self) -> Option<ChartKind> {
        let Some(kind) = self.chart else { return ChartKind::ALL.first().copied() };
        ChartKind::ALL.into_iter().skip_while(|other| *other != kind).nth(1)
    }
}

fn replay_key(code: KeyCode) -> Option<Command> {
    match code {
        KeyCode::Left => Some(Command::Jump(-0.05)),
        KeyCode::Right => Some(Command::Jump(0.05)),
        KeyCode::PageUp => Some(Command::Jump(-0.25)),
        KeyCode::PageDown => Some(Command::Jump(0.25)),
        KeyCode::Home => Some(Command::JumpTo(0.0)),
        KeyCode::End => Some(Command::JumpTo(1.0)),
        KeyCode::Char('+' | '=') | KeyCode::Up => Some(Command::Faster(2.0)),
        KeyCode::Char('-') | KeyCode::Down => Some(Command::Faster(0.5)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(view: &mut View, code: KeyCode) -> Option<Command> {
        view.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn what_cannot_be_taken_back_takes_two_presses() {
        let mut view = View { can: (true, true), ..View::default() };
        assert_eq!(press(&mut view, KeyCode::Char('q')), None);
        assert_eq!(press(&mut view, KeyCode::Char('s')), None);
        assert_eq!(press(&mut view, KeyCode::Char('q')), None);
        assert_eq!(press(&mut view, KeyCode::Char('q')), Some(Command::Stop));
        assert_eq!(press(&mut view, KeyCode::Char('p')), Some(Command::Pause));
        assert_eq!(view.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(Command::Break));
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
        let playing = Playing { speed: 1.0, is_paused: false, total: Nanos::new(1) };
        let mut view = View { replay: Some(playing), ..View::default() };
        assert_eq!(press(&mut view, KeyCode::Left), Some(Command::Jump(-0.05)));
        assert_eq!(press(&mut view, KeyCode::Char('+')), Some(Command::Faster(2.0)));
        assert_eq!(press(&mut view, KeyCode::Char('q')), Some(Command::Stop));
        assert_eq!(press(&mut View::default(), KeyCode::Left), None);
    }
}
