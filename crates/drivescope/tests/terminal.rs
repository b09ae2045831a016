//! The screen on a real terminal: it is taken, resized, answers keys, and is given back as it was, however the run ends.

mod program;

use program::{Home, PROGRAM, signal, skip};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::read;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::process::{Child, Command, Stdio};

/// Long enough for any machine; it passes only when a test fails.
const PATIENCE_S: i64 = 60;
const TAKEN: &str = "\u{1b}[?1049h";
const GIVEN_BACK: &str = "\u{1b}[?1049l";

/// A terminal with a program in it.
struct Terminal {
    ours: OwnedFd,
    theirs: OwnedFd,
    child: Child,
    shown: String,
    cells: Cells,
    read: Vec<u8>,
}

impl Terminal {
    /// Starts the program with a terminal of its own; none where util-linux's setsid is missing.
    fn start(
        home: &Home,
        arguments: &[&str],
        environment: &[(&str, &str)],
        size: (u16, u16),
    ) -> Option<Terminal> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("a terminal that can be used");
        let name = ptsname(&ours, Vec::new()).expect("a terminal with a name").into_bytes();
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let theirs = open(OsString::from_vec(name), flags, Mode::empty()).expect("its other end");
        tcsetwinsize(&ours, window(size)).expect("a size");
        let end = || Stdio::from(theirs.try_clone().expect("a descriptor"));
        let child = Command::new("setsid")
            .args(["--ctty", PROGRAM])
            .args(arguments)
            .env("XDG_DATA_HOME", home.folder.path())
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("NO_COLOR")
            .envs(environment.iter().copied())
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn();
        let Ok(child) = child else {
            skip("terminal", "setsid of util-linux is not there");
            return None;
        };
        Some(Terminal {
            ours,
            theirs,
            child,
            shown: String::new(),
            cells: Cells::default(),
            read: Vec::new(),
        })
    }

    /// Reads until that is there, and forgets what came before it. Answers what did.
    fn until(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.shown.find(text) {
                let before = self.shown[..at].to_string();
                self.shown.drain(..at + text.len());
                return before;
            }
            assert!(self.more(text), "{text:?} never came; the end was {:?}", self.shown);
        }
    }

    /// Reads until the screen shows that.
    fn sees(&mut self, text: &str) {
        while !self.cells.shows(text) {
            assert!(self.more(text), "{text:?} was never shown; the end was {:?}", self.shown);
        }
    }

    /// Reads what there is, while that is waited for; false at the end.
    fn more(&mut self, awaited: &str) -> bool {
        let mut ready = [PollFd::new(&self.ours, PollFlags::IN)];
        let patience = Timespec { tv_sec: PATIENCE_S, tv_nsec: 0 };
        let count = poll(&mut ready, Some(&patience)).expect("a terminal");
        assert_ne!(
            count, 0,
            "nothing came for a minute, and no {awaited:?} before; the end was {:?}",
            self.shown
        );
        let mut bytes = [0; 4096];
        // The other end is ours too, so that there is no end of file: whoever waits for the end asks the child.
        let count = read(&self.ours, &mut bytes).unwrap_or(0);
        self.read.extend(&bytes[..count]);
        let taken = self.cells.take(&self.read, &mut self.shown);
        self.read.drain(..taken);
        count > 0
    }

    fn press(&mut self, keys: &str) {
        let mut terminal = std::fs::File::from(self.ours.try_clone().expect("a descriptor"));
        terminal.write_all(keys.as_bytes()).expect("a terminal");
    }

    /// Another size. The program clears the screen once it has seen it, and it may see only the last of several.
    fn resize(&mut self, size: (u16, u16)) {
        tcsetwinsize(&self.ours, window(size)).expect("a size");
    }

    /// Whether keys come one by one, without what the terminal makes of them.
    fn is_raw(&self) -> bool {
        !tcgetattr(&self.theirs).expect("a terminal").local_modes.contains(LocalModes::ICANON)
    }

    fn status(&mut self) -> Option<i32> {
        self.child.wait().expect("a child").code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a terminal shows: as much of one as ratatui needs, which moves the cursor, clears and writes only cells that changed.
#[derive(Default)]
struct Cells {
    cells: BTreeMap<(usize, usize), char>,
    row: usize,
    column: usize,
}

impl Cells {
    fn shows(&self, text: &str) -> bool {
        let last = self.cells.keys().map(|(row, _)| *row).max().unwrap_or(0);
        (0..=last).any(|row| {
            let columns = self.cells.range((row, 0)..(row + 1, 0)).map(|((_, column), _)| *column).max();
            let cell = |column| self.cells.get(&(row, column)).copied().unwrap_or(' ');
            (0..=columns.unwrap_or(0)).map(cell).collect::<String>().contains(text)
        })
    }

    /// Takes what is whole of this; answers how many bytes that was.
    fn take(&mut self, bytes: &[u8], text: &mut String) -> usize {
        let mut taken = 0;
        while taken < bytes.len() {
            let rest = &bytes[taken..];
            if rest[0] == 0x1b {
                let Some(end) = rest.iter().skip(2).position(u8::is_ascii_alphabetic) else { break };
                let sequence = String::from_utf8_lossy(&rest[..end + 3]).into_owned();
                self.obey(&sequence);
                *text += &sequence;
                taken += end + 3;
                continue;
            }
            let width = rest[0].leading_ones().max(1) as usize;
            let Some(Ok(character)) = rest.get(..width).map(std::str::from_utf8) else { break };
            *text += character;
            self.cells.insert((self.row, self.column), character.chars().next().expect("a character"));
            self.column += 1;
            taken += width;
        }
        taken
    }

    fn obey(&mut self, sequence: &str) {
        let numbers =
            sequence.trim_start_matches("\u{1b}[").trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let mut numbers = numbers.split(';').map(|number| number.parse::<usize>().unwrap_or(1));
        match sequence.chars().last() {
            Some('H') => {
                self.row = numbers.next().unwrap_or(1);
                self.column = numbers.next().unwrap_or(1);
            }
            Some('J') => self.cells.clear(),
            _ => {}
        }
    }
}

fn window((columns, rows): (u16, u16)) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// A check of a scratch file that is long enough to be watched.
fn long_check(home: &Home) -> Vec<String> {
    let folder = home.folder.path().to_str().expect("a name").to_string();
    ["check", &folder, "--max-size", "64MiB", "--time-limit", "120s", "--seed", "1"]
        .map(String::from)
        .to_vec()
}

#[test]
fn keys_and_sizes_are_answered_and_ctrl_c_gives_the_terminal_back() {
    let home = Home::new();
    let arguments = long_check(&home);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some(mut terminal) = Terminal::start(&home, &arguments, &[], (80, 24)) else { return };
    terminal.until(TAKEN);
    terminal.sees("p pause   s skip   q stop   c chart   ? help");
    assert!(terminal.is_raw());
    terminal.press("?");
    terminal.sees("end this phase early; it counts as skipped");
    terminal.press("?3");
    terminal.sees("Latency over time");
    // Keys that come together with another size do not wait for the next key.
    for (key, shown) in
        [("1", "Sequential throughput by LBA"), ("2", "Throughput over time"), ("3", "Latency over time")]
    {
        terminal.press(key);
        terminal.resize((90, 30));
        terminal.press("??");
        terminal.sees(shown);
        terminal.resize((80, 24));
    }
    // Wide enough for the side column, which names what the drive and the machine do.
    terminal.resize((120, 40));
    terminal.sees("Drive and host");
    terminal.resize((30, 5));
    terminal.sees(" left");
    terminal.resize((80, 24));
    terminal.sees("Latency over time");
    // One q asks; Ctrl-C does not.
    terminal.press("q");
    terminal.sees("Stop the run? What was measured is kept.");
    terminal.press("\u{3}");
    terminal.until(GIVEN_BACK);
    terminal.until("\u{1b}[?25h");
    terminal.until("INTERRUPTED");
    assert_eq!(terminal.status(), Some(130));
    assert!(!terminal.is_raw());
}

/// A pause begins when a phase is over and lasts until it is not wanted any more; a phase is skipped by the second press, and so is the
/// run ended in order. The run says all of it.
#[test]
fn keys_pause_skip_and_stop_a_run() {
    let home = Home::new();
    let step = |name: &str| {
        format!(
            "[[step]]\nname = \"{name}\"\ndo = \"read\"\npattern = \"random\"\nblocks = \"4KiB\"\ntime = \"100s\"\n"
        )
    };
    let plan = home.folder.path().join("plan.toml");
    std::fs::write(&plan, format!("version = 1\n{}{}", step("the first"), step("the second")))
        .expect("a file");
    let folder = home.folder.path().to_str().expect("a name").to_string();
    let plan = plan.to_str().expect("a name");
    let arguments = ["run", plan, &folder, "--max-size", "64MiB", "--seed", "1"];
    let Some(mut terminal) = Terminal::start(&home, &arguments, &[], (100, 30)) else { return };
    terminal.until(TAKEN);
    terminal.sees("p pause   s skip   q stop");
    terminal.sees("\u{25b6} the first");
    terminal.press("p");
    terminal.sees("pause after this phase");
    terminal.press("s");
    terminal.sees("s again: yes");
    terminal.press("s");
    terminal.sees(" paused ");
    terminal.press("p");
    terminal.sees("\u{25b6} the second");
    terminal.press("q");
    terminal.sees("Stop the run? What was measured is kept.");
    terminal.press("q");
    terminal.until(GIVEN_BACK);
    terminal.until("INTERRUPTED");
    assert_eq!(terminal.status(), Some(130));
    assert!(!terminal.is_raw());
    let run: serde_json::Value =
        serde_json::from_str(&home.print(&["show", "last", "--json", "-"])).expect("a document");
    let phases = run["phases"].as_array().expect("phases");
    let stopped = |name: &str| {
        let phase = phases.iter().find(|phase| phase["name"] == name).expect("it was begun");
        phase["stopped"].as_str().expect("it ended").to_string()
    };
    assert_eq!((stopped("the first"), stopped("the second")), ("skipped".into(), "interrupted".into()));
    assert_eq!(run["run"]["status"], "interrupted");
    let warnings = run["environment"]["warnings"].to_string();
    assert!(warnings.contains("paused"), "{warnings}");
}

#[test]
fn the_first_sigterm_ends_the_run_in_order_and_the_second_at_once() {
    let home = Home::new();
    let arguments = long_check(&home);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some(mut terminal) = Terminal::start(&home, &arguments, &[], (80, 24)) else { return };
    terminal.until(TAKEN);
    terminal.sees("q stop");
    signal("TERM", terminal.child.id());
    signal("TERM", terminal.child.id());
    terminal.until(GIVEN_BACK);
    assert_eq!(terminal.status(), Some(130));
    assert!(!terminal.is_raw());
}

#[test]
fn the_result_follows_when_a_run_is_over() {
    let home = Home::new();
    let arguments = ["check", "sim:zoned", "--time-limit", "10s", "--seed", "1"];
    let Some(mut terminal) = Terminal::start(&home, &arguments, &[], (100, 30)) else { return };
    terminal.until(TAKEN);
    terminal.until(GIVEN_BACK);
    terminal.until("Read throughput by LBA");
    assert_eq!(terminal.status(), Some(0));
    assert!(!terminal.is_raw());

    let Some(mut replay) = Terminal::start(&home, &["replay", "last", "--at", "50%"], &[], (100, 30)) else {
        return;
    };
    replay.sees("replay x1");
    replay.press(" ");
    replay.sees("replay: paused");
    replay.press("\u{1b}[F");
    replay.sees("replay: the end, complete");
    replay.press("q");
    replay.until(GIVEN_BACK);
    assert_eq!(replay.status(), Some(0));
    assert!(!replay.is_raw());
}

#[test]
fn who_asks_for_lines_and_who_has_no_room_gets_them() {
    let home = Home::new();
    let plain = ["check", "sim:zoned", "--time-limit", "10s", "--seed", "1", "--plain"];
    let usual = &plain[..6];
    let (own, dumb) = (("TERM", "xterm-256color"), ("TERM", "dumb"));
    let cases = [(&plain[..], own, (80, 24)), (usual, dumb, (80, 24)), (usual, own, (39, 24))];
    for (arguments, environment, size) in cases {
        let Some(mut terminal) = Terminal::start(&home, arguments, &[environment], size) else { return };
        let shown = terminal.until("Method");
        assert!(!shown.contains(TAKEN), "{arguments:?} {environment:?} {size:?}");
        assert_eq!(terminal.status(), Some(0));
    }
}

#[test]
fn a_replay_in_a_pipe_is_lines() {
    let home = Home::new();
    home.print(&["check", "sim:zoned", "--time-limit", "30s", "--seed", "1"]);
    let outcome = home.run(&["replay", "last"]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let lines: Vec<&str> = outcome.err.lines().collect();
    assert!(lines[0].ends_with(": drivescope check sim:zoned --time-limit 30s --seed 1"), "{}", outcome.err);
    assert!(lines.len() > 3 && lines[1].contains("% done"), "{}", outcome.err);
    assert!(lines.last().is_some_and(|last| last.contains("the end: complete")), "{}", outcome.err);
    let late = home.run(&["replay", "last", "--at", "90%"]).err;
    assert!(late.lines().count() < lines.len(), "{late}");
    for wrong in [["--at", "101%"], ["--at", "1h"], ["--speed", "0"], ["--speed", "fast"]] {
        let outcome = home.run(&[&["replay", "last"][..], &wrong].concat());
        assert_eq!(outcome.status, Some(2), "{wrong:?}: {}", outcome.err);
    }
}
