//! The terminal while a screen fills it: alternate screen and raw mode, restored whatever happens.

use ratatui_core::backend::Backend;
use ratatui_core::layout::Rect;
use ratatui_core::terminal::{Terminal, TerminalOptions, Viewport};
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::{Hide, Show};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::fs::{FileType, fstat};
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;
use std::io::{BufWriter, IsTerminal, Stderr, stderr, stdin, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use terminal_size::terminal_size_of;

/// A frame: four a second are enough for numbers that people read.
pub const FRAME: Duration = Duration::from_millis(250);
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static PANICS_GIVE_BACK: Once = Once::new();

pub fn size() -> Option<Rect> {
    let (columns, rows) = terminal_size_of(stderr())?;
    Some(Rect::new(0, 0, columns.0, rows.0))
}

pub fn can_be_filled() -> bool {
    // A pager behind a pipe wants the same keys; a background job that asks for the terminal is stopped.
    let is_piped =
        matches!(fstat(stdout()), Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Fifo);
    let is_in_front = tcgetpgrp(stderr()) == Ok(getpgrp());
    stderr().is_terminal() && stdin().is_terminal() && !is_piped && is_in_front && speaks_ansi()
}

pub fn speaks_ansi() -> bool {
    matches!(std::env::var_os("TERM"), Some(term) if term != "dumb" && !term.is_empty())
}

pub struct TakenTerminal {
    terminal: Terminal<CrosstermBackend<BufWriter<Stderr>>>,
    area: Rect,
}

impl TakenTerminal {
    /// Fails when it cannot be set up; then it is as it was.
    pub fn take() -> std::io::Result<TakenTerminal> {
        PANICS_GIVE_BACK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        let area = size().unwrap_or(Rect::new(0, 0, 80, 24));
        let backend = CrosstermBackend::new(BufWriter::new(stderr()));
        let options = TerminalOptions { viewport: Viewport::Fixed(area) };
        let terminal = Terminal::with_options(backend, options)?;
        enable_raw_mode()?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        let mut taken = TakenTerminal { terminal, area };
        execute!(stderr(), EnterAlternateScreen, Hide)?;
        taken.terminal.backend_mut().clear()?;
        Ok(taken)
    }

    /// Draws a frame of the present size if the terminal is still taken. Only changed cells are written.
    pub fn draw(
        &mut self,
        frame: impl FnOnce(Rect, &mut ratatui_core::buffer::Buffer),
    ) -> std::io::Result<bool> {
        if !IS_TAKEN.load(Ordering::SeqCst) {
            return Ok(false);
        }
        let area = match size() {
            Some(area) if !area.is_empty() => area,
            _ => self.area,
        };
        if area != self.area {
            self.area = area;
            self.terminal.resize(area)?;
        }
        self.terminal.draw(|drawn| frame(area, drawn.buffer_mut()))?;
        Ok(true)
    }
}

impl Drop for TakenTerminal {
    fn drop(&mut self) {
        give_back();
    }
}

pub fn give_back() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        // A terminal that is gone cannot be restored.
        let _ = execute!(stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, tcgetattr};
    use std::ffi::OsString;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStringExt;
    use std::process::{Command, Stdio};

    const NAME: &str = "screen::terminal::tests::a_program_that_panics_gives_the_terminal_back";
    /// Set in the program that panics.
    const PANICS: &str = "DRIVESCOPE_TEST_PANICS_IN_THE_TERMINAL";

    fn terminal() -> (OwnedFd, OwnedFd) {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("a terminal that can be used");
        let name = ptsname(&ours, Vec::new()).expect("a terminal with a name").into_bytes();
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let theirs = open(OsString::from_vec(name), flags, Mode::empty()).expect("its other end");
        (ours, theirs)
    }

    /// What was written to the terminal so far.
    fn shown(ours: &OwnedFd) -> String {
        let mut all = Vec::new();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        while poll(&mut [PollFd::new(ours, PollFlags::IN)], Some(&at_once)).expect("a terminal") > 0 {
            let mut bytes = [0; 4096];
            let count = rustix::io::read(ours, &mut bytes).expect("a terminal");
            all.extend(&bytes[..count]);
        }
        String::from_utf8(all).expect("text")
    }

    /// This test is the program that panics, too: then the variable is set.
    #[test]
    fn a_program_that_panics_gives_the_terminal_back() {
        if std::env::var_os(PANICS).is_some() {
            let _taken = TakenTerminal::take().expect("a terminal");
            // Without unwinding through what is taken: the hook alone gives it back, as with a panic in another thread.
            std::thread::spawn(|| panic!("a mistake of ours")).join().expect_err("it panicked");
            std::process::exit(7);
        }
        let (ours, theirs) = terminal();
        let end = || Stdio::from(theirs.try_clone().expect("a descriptor"));
        let program = std::env::current_exe().expect("the program of this test");
        let status = Command::new(program)
            .args(["--exact", NAME, "--nocapture"])
            .env(PANICS, "yes")
            .env("RUST_BACKTRACE", "0")
            .stdin(end())
            .stdout(Stdio::null())
            .stderr(end())
            .status()
            .expect("the program starts");
        let shown = shown(&ours);
        assert_eq!(status.code(), Some(7), "{shown}");
        let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text:?} in {shown:?}"));
        let (taken, given_back) = (place("\u{1b}[?1049h"), place("\u{1b}[?1049l"));
        assert!(taken < given_back && given_back < place("a mistake of ours"), "{shown:?}");
        assert!(shown.contains("\u{1b}[?25h"), "the cursor is seen again: {shown:?}");
        let modes = tcgetattr(&theirs).expect("a terminal").local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "keys are echoed again");
    }
}
