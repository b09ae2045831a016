//! Progress where no screen can fill the terminal: one moving line, below the map of a full pass; else a line now and then.

use crate::console::{allows_colour, width};
use crate::event::{Event, EventSink};
use experiment::{Remaining, SLOW_BYTES_PER_SECOND};
use io::clock::{Clock, MonotonicClock};
use model::latency_map::LatencyMap;
use model::target::TargetFacts;
use model::units::Nanos;
use report::progress::{Progress, plain_progress, progress_line};
use report::style::Style;
use report::terminal::{PlanGroup, PlanPage, latency_map, plan_page};
use std::io::{IsTerminal, Write};
use terminal_size::terminal_size;

/// How often a line is written where none can move.
const PLAIN_EVERY: Nanos = Nanos::from_secs(10);
/// A virtual drive runs through hours in a second.
const PLAIN_EVERY_REAL: Nanos = Nanos::from_secs(1);
/// Rows of the map without its legend, and rows left for the legend, the progress and warnings.
const MAP_ROWS_MAX: usize = 16;
const ROWS_BESIDE_MAP: usize = 6;
const MAP_COLUMNS_MIN: usize = 41;

pub struct Lines {
    mode: Mode,
    columns: usize,
    line_shown: bool,
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
    pub fn new(quiet: bool, plain: bool) -> Lines {
        let mode = match (quiet, plain || !std::io::stderr().is_terminal()) {
            (true, _) => Mode::Quiet,
            (false, true) => Mode::Plain,
            (false, false) => Mode::Moving,
        };
        Lines {
            mode,
            columns: width(),
            line_shown: false,
            map: Vec::new(),
            map_lines_shown: 0,
            colour: allows_colour(),
            said: None,
            said_every: PLAIN_EVERY_REAL,
        }
    }

    pub fn of_replay() -> Lines {
        Lines { said_every: Nanos::ZERO, ..Lines::new(false, true) }
    }

    fn began(&self, facts: &TargetFacts, remaining: &Remaining) {
        if self.mode != Mode::Quiet {
            let style = Style { width: self.columns, colour: false, unicode: true, draws: true };
            self.write(&plan(facts, remaining, style));
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
                let is_due = match &self.said {
                    Some((said, since)) => {
                        progress.elapsed.saturating_sub(*said) >= PLAIN_EVERY
                            && since.now().get() >= self.said_every.get()
                    }
                    None => true,
                };
                if is_due {
                    self.said = Some((progress.elapsed, MonotonicClock::start()));
                    self.write(&format!("{}\n", plain_progress(progress)));
                }
            }
        }
    }

    fn map(&mut self, map: &LatencyMap) {
        if self.mode != Mode::Moving {
            return;
        }
        let (columns, rows) = match terminal_size() {
            Some((columns, rows)) => (usize::from(columns.0).max(20), usize::from(rows.0)),
            None => (self.columns, MAP_ROWS_MAX),
        };
        let room = rows.saturating_sub(ROWS_BESIDE_MAP).min(MAP_ROWS_MAX);
        self.map.clear();
        if columns != self.columns {
            // Lines of another width have wrapped: their places are unknown.
            self.columns = columns;
            self.map_lines_shown = 0;
            self.line_shown = false;
            self.write("\x1b[H\x1b[2J");
        }
        if room > 0 && columns >= MAP_COLUMNS_MIN {
            let style = Style { width: columns - 1, colour: self.colour, unicode: false, draws: true };
            self.map = latency_map(map, room, style);
        }
    }

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

    fn write(&self, text: &str) {
        let mut out = std::io::stderr().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl EventSink for Lines {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunBegan(run, remaining) => self.began(&run.target, remaining),
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

pub fn plan(facts: &TargetFacts, remaining: &Remaining, style: Style) -> String {
    let mut groups = Vec::new();
    for step in &remaining.steps {
        let (what, phases) = (step.what.clone(), step.phases);
        groups.push(PlanGroup {
            what,
            phases,
            time: Some(step.likely),
            time_max: Remaining::bounded(step.time),
        });
    }
    let time_slow = (remaining.slow_time(), SLOW_BYTES_PER_SECOND);
    let page = PlanPage {
        target: facts.clone(),
        groups,
        bytes_read: remaining.reads(),
        bytes_written: remaining.writes(),
        time: Some(remaining.likely_time()),
        time_slow: if may_be_slow(facts) { Some(time_slow) } else { None },
        time_max: Remaining::bounded(remaining.time()),
        endurance_share: None,
        warnings: Vec::new(),
    };
    plan_page(&page, style)
}

/// Whether it may be a stick or a card: disks, and drives on faster links, are faster.
fn may_be_slow(facts: &TargetFacts) -> bool {
    match &facts.link {
        Some(link) => ["USB", "SD", "MMC"].iter().any(|kind| link.name.starts_with(kind)),
        None => facts.rotational != Some(true),
    }
}
