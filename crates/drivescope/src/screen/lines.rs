//! Where no screen can fill the terminal: one moving line, with a map above it where there is one; a line now and then
//! where nothing can move.

use crate::event::{Event, EventSink};
use crate::experiment::{Outlook, SLOW_BYTES_PER_SECOND};
use io::clock::{Clock, MonotonicClock};
use model::latency_map::LatencyMap;
use model::target::TargetFacts;
use model::units::Nanos;
use report::progress::{Progress, plain_progress, progress_line};
use report::style::Style;
use report::terminal::{PlanGroup, PlanPage, latency_map, plan_page};
use std::io::{IsTerminal, Write};
use terminal_size::terminal_size;

/// How often a line is written where nothing can move.
const PLAIN_EVERY: Nanos = Nanos::from_secs(10);
/// A virtual drive has hours in a second, and nobody reads thousands of lines.
const PLAIN_EVERY_REAL: Nanos = Nanos::from_secs(1);

/// Rows of the map, without its legend; and rows of the terminal that are left to the legend, the progress and what is
/// said in between.
const MAP_ROWS_MAX: usize = 16;
const ROWS_BESIDE_MAP: usize = 6;
/// Narrower than this a map is not worth its lines.
const MAP_COLUMNS_MIN: usize = 41;

/// Progress on standard error.
pub struct Lines {
    mode: Mode,
    columns: usize,
    line_shown: bool,
    /// The map under the moving line's control: its lines, and how many of them are on the screen.
    map: Vec<String>,
    map_lines_shown: usize,
    colour: bool,
    said: Option<(Nanos, MonotonicClock)>,
    said_every: Nanos,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Quiet,
    Plain,
    Moving,
}

impl Lines {
    /// Lines on standard error.
    pub fn new(quiet: bool, plain: bool) -> Lines {
        let mode = match (quiet, plain || !std::io::stderr().is_terminal()) {
            (true, _) => Mode::Quiet,
            (false, true) => Mode::Plain,
            (false, false) => Mode::Moving,
        };
        Lines {
            mode,
            columns: crate::cli::output::width(),
            line_shown: false,
            map: Vec::new(),
            map_lines_shown: 0,
            colour: std::env::var_os("NO_COLOR").is_none(),
            said: None,
            said_every: PLAIN_EVERY_REAL,
        }
    }

    /// The same for a replay, of which somebody wants to see all that was said.
    pub fn of_replay() -> Lines {
        Lines { said_every: Nanos::ZERO, ..Lines::new(false, true) }
    }

    fn began(&self, facts: &TargetFacts, outlook: &Outlook) {
        if self.mode != Mode::Quiet {
            let style = Style { width: self.columns, colour: false, unicode: true };
            self.write(&plan(facts, outlook, style));
            self.write("\n");
        }
    }

    fn progress(&mut self, progress: &Progress) {
        match self.mode {
            Mode::Quiet => {}
            Mode::Moving => {
                let mut text = self.back_to_the_first_line();
                for line in std::mem::take(&mut self.map) {
                    text += &format!("\x1b[K{line}\n");
                    self.map_lines_shown += 1;
                }
                text += &format!("\x1b[K{}", progress_line(progress, self.columns.saturating_sub(1)));
                self.line_shown = true;
                self.write(&text);
            }
            Mode::Plain => {
                let due = self.said.is_none_or(|(said, since)| {
                    progress.elapsed.saturating_sub(said) >= PLAIN_EVERY && since.now().0 >= self.said_every.0
                });
                if due {
                    self.said = Some((progress.elapsed, MonotonicClock::start()));
                    self.write(&format!("{}\n", plain_progress(progress)));
                }
            }
        }
    }

    /// The map is laid out for the terminal as it is now: it may have been resized.
    fn map(&mut self, map: &LatencyMap) {
        if self.mode != Mode::Moving {
            return;
        }
        let (columns, rows) = terminal_size().map_or((self.columns, MAP_ROWS_MAX), |(columns, rows)| {
            (usize::from(columns.0).max(20), usize::from(rows.0))
        });
        let room = rows.saturating_sub(ROWS_BESIDE_MAP).min(MAP_ROWS_MAX);
        self.map.clear();
        if columns != self.columns {
            // Lines of another width have wrapped, and nobody knows where they are now.
            self.columns = columns;
            self.map_lines_shown = 0;
            self.line_shown = false;
            self.write("\x1b[H\x1b[2J");
        }
        if room > 0 && columns >= MAP_COLUMNS_MIN {
            let style = Style { width: columns - 1, colour: self.colour, unicode: false };
            self.map = latency_map(map, room, style);
        }
    }

    /// What brings the cursor back to where the map begins, and clears what is there.
    fn back_to_the_first_line(&mut self) -> String {
        match std::mem::take(&mut self.map_lines_shown) {
            0 => "\r".into(),
            lines => format!("\r\x1b[{lines}A\x1b[J"),
        }
    }

    fn clear_line(&mut self) {
        if std::mem::take(&mut self.line_shown) {
            let text = self.back_to_the_first_line();
            self.write(&format!("{text}\x1b[K"));
        }
    }

    /// Progress that nobody can see any more is no reason to end a run.
    fn write(&self, text: &str) {
        let mut out = std::io::stderr().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl EventSink for Lines {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunBegan(run, outlook) => self.began(&run.target, outlook),
            Event::Progress(progress) => self.progress(progress),
            Event::Map(map) => self.map(map),
            Event::Warning(warning) => {
                self.clear_line();
                if self.mode != Mode::Quiet {
                    self.write(&format!("drivescope: {warning}\n"));
                }
            }
            Event::RunEnded(_) => self.clear_line(),
            _ => {}
        }
    }
}

/// What a run will do, as a page.
pub fn plan(facts: &TargetFacts, outlook: &Outlook, style: Style) -> String {
    let groups = outlook.steps.iter().map(|step| PlanGroup {
        what: step.what.clone(),
        phases: step.phases,
        time: Some(step.likely),
        time_max: bounded(step.time),
    });
    let page = PlanPage {
        target: facts.clone(),
        groups: groups.collect(),
        bytes_read: outlook.reads(),
        bytes_written: outlook.writes(),
        time: Some(outlook.likely_time()),
        time_slow: may_be_slow(facts).then_some((outlook.slow_time(), SLOW_BYTES_PER_SECOND)),
        time_max: bounded(outlook.time()),
        endurance_share: None,
        warnings: Vec::new(),
    };
    plan_page(&page, style)
}

/// A time that is a bound.
fn bounded(time: Nanos) -> Option<Nanos> {
    (time < Outlook::UNBOUNDED).then_some(time)
}

/// Whether it may be a stick or a card: disks and drives on faster links are not as slow as that.
fn may_be_slow(facts: &TargetFacts) -> bool {
    let by_link = |name: &str| ["USB", "SD", "MMC"].iter().any(|kind| name.starts_with(kind));
    facts.link.as_ref().map_or(facts.rotational != Some(true), |link| by_link(&link.name))
}
