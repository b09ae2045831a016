//! The keys that screens know, read from the terminal.
//!
//! crossterm's own events lose keys: where a key and a resize arrive together, one waits for the next key (crossterm 0.29,
//! `event/source/unix/mio.rs`).

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{Error, ErrorKind, Result, stdin};
use std::os::fd::AsFd;
use std::time::Duration;

const ESCAPE: u8 = 0x1b;
/// A lone ESC byte is the Escape key when nothing follows within this time, that of vim's `ttimeoutlen`.
const SEQUENCE_TIME: Duration = Duration::from_millis(100);
const SEQUENCE_BYTES_MAX: usize = 32;

#[derive(Debug, Default)]
pub struct Keys {
    waiting: Vec<u8>,
}

impl Keys {
    pub fn next(&mut self, patience: Duration) -> Result<Option<KeyEvent>> {
        self.next_of(stdin(), patience)
    }

    fn next_of(&mut self, terminal: impl AsFd, patience: Duration) -> Result<Option<KeyEvent>> {
        loop {
            match first(&self.waiting) {
                First::Key(key, bytes) => {
                    self.waiting.drain(..bytes);
                    if key.is_some() {
                        return Ok(key);
                    }
                }
                First::Begun if !self.more(&terminal, SEQUENCE_TIME)? => {
                    // Any other incomplete sequence is dropped.
                    let is_escape = self.waiting.first() == Some(&ESCAPE);
                    self.waiting.clear();
                    return Ok(if is_escape { Some(plain(KeyCode::Esc)) } else { None });
                }
                First::Nothing if !self.more(&terminal, patience)? => return Ok(None),
                First::Begun | First::Nothing => {}
            }
        }
    }

    /// Reads what is available; false when nothing came in time.
    fn more(&mut self, terminal: &impl AsFd, patience: Duration) -> Result<bool> {
        let patience =
            Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: i64::from(patience.subsec_nanos()) };
        let mut ready = [PollFd::new(terminal, PollFlags::IN)];
        match poll(&mut ready, Some(&patience)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(false),
            other => other?,
        };
        let mut bytes = [0; 256];
        let count = rustix::io::read(terminal, &mut bytes)?;
        if count == 0 {
            return Err(Error::from(ErrorKind::UnexpectedEof));
        }
        self.waiting.extend(&bytes[..count]);
        Ok(true)
    }
}

#[derive(Debug, PartialEq)]
enum First {
    Nothing,
    Begun,
    Key(Option<KeyEvent>, usize),
}

fn plain(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

fn first(bytes: &[u8]) -> First {
    match bytes {
        [] => First::Nothing,
        [ESCAPE] => First::Begun,
        [ESCAPE, b'[' | b'O', rest @ ..] => match rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) {
            Some(end) => First::Key(sequence(&rest[..end], rest[end]), end + 3),
            None if bytes.len() > SEQUENCE_BYTES_MAX => First::Key(None, bytes.len()),
            None => First::Begun,
        },
        [ESCAPE, ..] => First::Key(Some(plain(KeyCode::Esc)), 1),
        [b'\t', ..] => First::Key(Some(plain(KeyCode::Tab)), 1),
        [b'\r' | b'\n', ..] => First::Key(Some(plain(KeyCode::Enter)), 1),
        [control @ 1..=26, ..] => {
            let letter = char::from(control - 1 + b'a');
            First::Key(Some(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)), 1)
        }
        [byte, ..] => {
            let width = match byte.leading_ones() {
                ones @ 2..=4 => ones as usize,
                _ => 1,
            };
            let Some(letter) = bytes.get(..width) else { return First::Begun };
            match std::str::from_utf8(letter).ok().and_then(|text| text.chars().next()) {
                Some(letter) if letter.is_control() => First::Key(None, width),
                Some(letter) => First::Key(Some(plain(KeyCode::Char(letter))), width),
                None => First::Key(None, 1),
            }
        }
    }
}

/// Cursor keys as xterm sends them: "XTerm Control Sequences", PC-Style Function Keys.
fn sequence(parameters: &[u8], end: u8) -> Option<KeyEvent> {
    let code = match (end, parameters) {
        (b'A', _) => KeyCode::Up,
        (b'B', _) => KeyCode::Down,
        (b'C', _) => KeyCode::Right,
        (b'D', _) => KeyCode::Left,
        (b'H', _) | (b'~', b"1" | b"7") => KeyCode::Home,
        (b'F', _) | (b'~', b"4" | b"8") => KeyCode::End,
        (b'~', b"5") => KeyCode::PageUp,
        (b'~', b"6") => KeyCode::PageDown,
        _ => return None,
    };
    Some(plain(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Write, pipe};

    /// The keys that come of this, and what is left when it ends.
    fn keys(typed: &[u8]) -> Vec<KeyCode> {
        let (terminal, mut other) = pipe().expect("a pipe");
        other.write_all(typed).expect("a short text");
        let mut keys = Keys::default();
        let mut codes = Vec::new();
        while let Ok(Some(key)) = keys.next_of(&terminal, Duration::ZERO) {
            codes.push(key.code);
        }
        codes
    }

    #[test]
    fn every_key_that_was_typed_comes_once_and_in_order() {
        use KeyCode::{Char, Down, End, Esc, Home, Left, PageDown, PageUp, Right, Tab, Up};
        assert_eq!(keys(b"qp "), [Char('q'), Char('p'), Char(' ')]);
        assert_eq!(keys("\u{fc}\u{6771}s".as_bytes()), [Char('\u{fc}'), Char('\u{6771}'), Char('s')]);
        assert_eq!(keys(b"\x1b[A\x1b[B\x1bOC\x1b[1;5D?"), [Up, Down, Right, Left, Char('?')]);
        assert_eq!(
            keys(b"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[5~\x1b[6~"),
            [Home, End, Home, End, PageUp, PageDown]
        );
        assert_eq!(keys(b"\t\x1bs"), [Tab, Esc, Char('s')]);
        assert_eq!(keys(b"\x1b[200~\x7f\xffs"), [Char('s')], "what is no key here is passed over");
    }

    #[test]
    fn control_is_told_and_escape_alone_is_a_key() {
        let (terminal, mut other) = pipe().expect("a pipe");
        other.write_all(b"\x03\x1b").expect("a short text");
        let mut keys = Keys::default();
        let mut next = || keys.next_of(&terminal, Duration::ZERO).expect("a pipe that is open");
        assert_eq!(next(), Some(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
        assert_eq!(next(), Some(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)));
        assert_eq!(next(), None);
        drop(other);
        assert!(
            keys.next_of(&terminal, Duration::ZERO).is_err(),
            "a terminal that is gone is no terminal without keys"
        );
    }

    #[test]
    fn a_sequence_may_come_in_parts() {
        assert_eq!(first(b"\x1b"), First::Begun);
        assert_eq!(first(b"\x1b[1"), First::Begun);
        assert_eq!(first(b"\xc3"), First::Begun);
        assert_eq!(first(&[b"\x1b[".as_slice(), &[b'1'; 40]].concat()), First::Key(None, 42));
    }
}
