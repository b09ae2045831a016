//! What is seen while a run goes on: one moving line on a terminal, a line now and then elsewhere. Draws from events
//! alone.

use crate::event::{Event, EventSink};
use crate::experiment::Outlook;
use model::target::TargetFacts;
use model::units::Nanos;
use report::progress::{Progress, plain_progress, progress_line};
use report::style::Style;
use report::terminal::{PlanGroup, PlanPage, plan_page};
use std::io::{IsTerminal, Write};

/// How often a line is written where nothing can move.
const PLAIN_EVERY: Nanos = Nanos::from_secs(10);

/// Progress on standard error.
pub struct Screen {
    mode: Mode,
    columns: usize,
    line_shown: bool,
    said: Option<Nanos>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Quiet,
    Plain,
    Moving,
}

impl Screen {
    /// A screen on standard error.
    pub fn new(quiet: bool, plain: bool) -> Screen {
        let mode = match (quiet, plain || !std::io::stderr().is_terminal()) {
            (true, _) => Mode::Quiet,
            (false, true) => Mode::Plain,
            (false, false) => Mode::Moving,
        };
        Screen { mode, columns: crate::cli::output::width(), line_shown: false, said: None }
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
                self.line_shown = true;
                self.write(&format!("\r\x1b[K{}", progress_line(progress, self.columns.saturating_sub(1))));
            }
            Mode::Plain => {
                let due = self.said.is_none_or(|said| progress.elapsed.saturating_sub(said) >= PLAIN_EVERY);
                if due {
                    self.said = Some(progress.elapsed);
                    self.write(&format!("{}\n", plain_progress(progress)));
                }
            }
        }
    }

    fn clear_line(&mut self) {
        if std::mem::take(&mut self.line_shown) {
            self.write("\r\x1b[K");
        }
    }

    /// Progress that nobody can see any more is no reason to end a run.
    fn write(&self, text: &str) {
        let mut out = std::io::stderr().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl EventSink for Screen {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunBegan(run, outlook) => self.began(&run.target, outlook),
            Event::Progress(progress) => self.progress(progress),
            Event::Warning(warning) => {
                self.clear_line();
                if self.mode != Mode::Quiet {
                    self.write(&format!("drivescope: {warning}\n"));
                }
            }
            Event::RunEnded(_) => self.clear_line(),
        }
    }
}

/// What a run will do, as a page.
pub fn plan(facts: &TargetFacts, outlook: &Outlook, style: Style) -> String {
    let groups = outlook.steps.iter().map(|step| PlanGroup {
        what: step.what.clone(),
        phases: step.phases,
        time: Some(step.time),
    });
    let page = PlanPage {
        target: facts.clone(),
        groups: groups.collect(),
        bytes_read: outlook.reads(),
        bytes_written: outlook.writes(),
        time: Some(outlook.time()),
        endurance_share: None,
        warnings: Vec::new(),
    };
    plan_page(&page, style)
}
