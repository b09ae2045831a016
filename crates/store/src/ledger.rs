//! What drivescope did to a drive, run by run, made from the phases that its runs have kept. It is never written on its own,
//! so that it cannot differ from what was done: a killed run counts with what its records hold.

use crate::drive_note::DriveNote;
use jiff::{SignedDuration, Timestamp};
use model::plan::{PhaseKind, StopReason};
use model::request::Operation;
use model::run::{PhaseSummary, Run, RunStatus};
use model::words;
use std::path::Path;

/// From this many events of a run on, like ones are put together even where others lie between them.
const EVENTS_MANY: usize = 64;

/// The pattern of a purge that did not come to its end.
pub const UNFINISHED_PURGE: &str = "unfinished purge";

#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRun {
    pub id: String,
    /// When the run began: a moment by RFC 3339, in UTC.
    pub started: String,
    pub status: RunStatus,
    /// Whether its facts say when it ended: a killed run's do not.
    pub is_finished: bool,
    pub path: String,
    pub events: Vec<LedgerEvent>,
    /// None of runs made before there were such notes.
    pub note: Option<DriveNote>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LedgerEvent {
    pub kind: EventKind,
    /// When it began, RFC 3339 in UTC.
    pub at: String,
    /// The workload's word: `sequential`; of a purge its method; empty while idle.
    pub pattern: String,
    /// Where, on the target of the run.
    pub first_byte: u64,
    /// From there to the end of the last request.
    pub span_bytes: u64,
    pub bytes: u64,
    pub block_bytes: u64,
    pub seconds: f64,
}

words! {
    /// What was done to a drive; the word is that in the index and in documents.
    pub enum EventKind {
        Write = "write",
        /// Told that it holds nothing of use there.
        Discard = "discard",
        Purge = "purge",
        Idle = "idle",
    }
}

impl LedgerRun {
    /// What of a counter's growth may be its doing: the kernel counts discards of a workload as writes of zeroes, on most drives.
    pub fn counted_bytes(&self) -> u64 {
        self.bytes_of(EventKind::Discard).saturating_add(self.written_bytes())
    }

    pub fn written_bytes(&self) -> u64 {
        self.bytes_of(EventKind::Write)
    }

    fn bytes_of(&self, kind: EventKind) -> u64 {
        let mut bytes = 0_u64;
        for event in &self.events {
            if event.kind == kind {
                bytes = bytes.saturating_add(event.bytes);
            }
        }
        bytes
    }
}

/// The lasting names of what a run was made on. Runs without a note are known by their drive's serial number, or path.
pub(crate) fn names_of(run: &Run, folder: &Path) -> Vec<String> {
    if let Some(note) = DriveNote::read(folder) {
        return note.names();
    }
    let target = &run.target;
    match (&target.model, &target.serial) {
        (Some(model), Some(serial)) => vec![format!("{model} {serial}")],
        (None, Some(serial)) => vec![serial.clone()],
        _ => vec![target.path.clone()],
    }
}

pub(crate) fn events_of(run: &Run) -> Vec<LedgerEvent> {
    let mut events: Vec<LedgerEvent> = Vec::new();
    for phase in &run.phases {
        for event in events_of_phase(run, phase) {
            let is_many = events.len() >= EVENTS_MANY;
            let looked_at = if is_many { events.len() } else { 1 };
            let like = events.iter_mut().rev().take(looked_at).find(|known| known.is_like(&event, is_many));
            match like {
                Some(earlier) => earlier.add(&event),
                None => events.push(event),
            }
        }
    }
    events
}

impl LedgerEvent {
    /// Whether both can be told as one; where there are many, blocks of any size.
    fn is_like(&self, other: &LedgerEvent, is_many: bool) -> bool {
        self.kind == other.kind
            && self.pattern == other.pattern
            && (is_many || self.block_bytes == other.block_bytes)
    }

    fn end_byte(&self) -> u64 {
        self.first_byte.saturating_add(self.span_bytes)
    }

    fn add(&mut self, more: &LedgerEvent) {
        assert!(self.kind == more.kind, "events of a kind are put together");
        let end = self.end_byte().max(more.end_byte());
        self.first_byte = self.first_byte.min(more.first_byte);
        self.span_bytes = end - self.first_byte;
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.block_bytes = self.block_bytes.max(more.block_bytes);
        self.seconds += more.seconds;
    }
}

fn events_of_phase(run: &Run, summary: &PhaseSummary) -> Vec<LedgerEvent> {
    let phase = &summary.phase;
    let written = summary.bytes_of(Operation::Write) + summary.bytes_of(Operation::Commit);
    let discarded = summary.bytes_of(Operation::Discard);
    let pattern = match &phase.workload {
        Some(workload) => workload.pattern.name(),
        None => "unknown",
    };
    let mut events = Vec::new();
    match phase.kind {
        PhaseKind::Idle if summary.duration_ns > 0 => {
            events.push(event(run, summary, EventKind::Idle, "", 0));
        }
        PhaseKind::Purge => {
            // Zeroes are writes, and count as such before what they bring about.
            if written > 0 {
                events.push(event(run, summary, EventKind::Write, "sequential", written));
            }
            match summary.stopped {
                Some(reason) if reason.is_complete() => {
                    let mut purge = event(run, summary, EventKind::Purge, &phase.name, 0);
                    purge.bytes = purge.span_bytes;
                    events.push(purge);
                }
                // A method that the drive refused changed nothing.
                Some(StopReason::Errors) if written + discarded == 0 => {}
                _ => events.push(event(run, summary, EventKind::Discard, UNFINISHED_PURGE, discarded)),
            }
        }
        _ => {
            if written > 0 {
                events.push(event(run, summary, EventKind::Write, pattern, written));
            }
            if discarded > 0 {
                events.push(event(run, summary, EventKind::Discard, pattern, discarded));
            }
        }
    }
    events
}

fn event(run: &Run, summary: &PhaseSummary, kind: EventKind, pattern: &str, bytes: u64) -> LedgerEvent {
    let (first_byte, span_bytes, block_bytes) = match &summary.phase.workload {
        Some(workload) => {
            let range = workload.range;
            (range.first().get(), range.bytes().get(), workload.block_sizes.largest().get())
        }
        None => (0, run.target.capacity.get(), 0),
    };
    LedgerEvent {
        kind,
        at: moment(run, summary.start_ns),
        pattern: pattern.into(),
        first_byte,
        span_bytes,
        bytes,
        block_bytes,
        seconds: summary.duration_ns as f64 / 1e9,
    }
}

/// When the run's clock showed that time. A run that was resumed has stopped its clock in between.
fn moment(run: &Run, start_ns: u64) -> String {
    let after = SignedDuration::from_nanos(i64::try_from(start_ns).unwrap_or(i64::MAX));
    if let Ok(began) = run.started.parse::<Timestamp>()
        && let Ok(moment) = began.checked_add(after)
    {
        return moment.to_string();
    }
    run.started.clone()
}
