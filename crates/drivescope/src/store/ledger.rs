//! The ledger: what drivescope did to a drive, run by run, made from the phases that its runs have kept. It is never
//! written on its own, so that it cannot differ from what was done: a killed run counts with what its records hold.

use super::drive_note::DriveNote;
use super::folder::run_folders;
use super::index::Index;
use super::{Store, StoreError, listing, reader};
use jiff::{SignedDuration, Timestamp};
use model::plan::{PhaseKind, StopReason};
use model::request::Operation;
use model::run::{PhaseSummary, Run, RunStatus};
use model::target::TargetKind;
use std::path::Path;

/// From this many events of a run on, like ones are put together even where others lie between them.
const EVENTS_MANY: usize = 64;

/// The pattern of a purge that did not come to its end.
pub const UNFINISHED_PURGE: &str = "unfinished purge";

/// What a run did to its drive.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRun {
    /// Its name.
    pub id: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// How it ended.
    pub status: RunStatus,
    /// Whether its facts say when it ended: a killed run's do not.
    pub is_finished: bool,
    /// The target as it was typed.
    pub path: String,
    /// What it did, in order.
    pub events: Vec<LedgerEvent>,
    /// What it noted about its drive; none of runs made before there were such notes.
    pub note: Option<DriveNote>,
}

/// Something that was done to a drive: one phase, or several of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerEvent {
    /// What.
    pub kind: EventKind,
    /// When it began, RFC 3339 in UTC.
    pub at: String,
    /// The workload's word: `sequential`; of a purge its method; empty while idle.
    pub pattern: String,
    /// Where, on the target of the run.
    pub first_byte: u64,
    /// From there to the last place.
    pub span_bytes: u64,
    /// How much.
    pub bytes: u64,
    /// In blocks of up to this.
    pub block_bytes: u64,
    /// For how long.
    pub seconds: f64,
}

/// What was done to a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Written to.
    Write,
    /// Told that it holds nothing of use there.
    Discard,
    /// Brought into an empty state.
    Purge,
    /// Left alone, on purpose.
    Idle,
}

impl EventKind {
    /// The word in the index and in documents.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Write => "write",
            EventKind::Discard => "discard",
            EventKind::Purge => "purge",
            EventKind::Idle => "idle",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<EventKind> {
        [EventKind::Write, EventKind::Discard, EventKind::Purge, EventKind::Idle]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

impl LedgerRun {
    /// What of a counter's growth may be its doing: the kernel counts discards of a workload as writes of zeroes, on most
    /// drives.
    pub fn counted_bytes(&self) -> u64 {
        let discards = self.events.iter().filter(|event| event.kind == EventKind::Discard);
        discards.fold(self.written_bytes(), |sum, event| sum.saturating_add(event.bytes))
    }

    /// What it wrote.
    pub fn written_bytes(&self) -> u64 {
        let writes = self.events.iter().filter(|event| event.kind == EventKind::Write);
        writes.fold(0, |sum, event| sum.saturating_add(event.bytes))
    }
}

impl Store {
    /// What drivescope did to the drives or files with these lasting names, oldest first: in the order of the runs'
    /// names, which begin with their time.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn history(&self, names: &[String]) -> Result<Vec<LedgerRun>, StoreError> {
        let indexed = Index::open(self).and_then(|mut index| index.ledger(self, names));
        let mut runs = indexed.or_else(|_| scan(self, names))?;
        for run in runs.iter_mut().filter(|run| !run.is_finished) {
            // Its facts do not know what its last phase did; its records do.
            if let Ok(mut stored) = reader::read(&run.id, &self.run_folder(&run.id)) {
                reader::add_lost_phases(&mut stored.run, &stored.series);
                run.events = events_of(&stored.run);
                run.status = stored.run.status;
            }
        }
        runs.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(runs)
    }
}

/// Without the index: the facts of every run.
fn scan(store: &Store, names: &[String]) -> Result<Vec<LedgerRun>, StoreError> {
    let mut runs = Vec::new();
    for (id, folder) in run_folders(&store.runs_folder())? {
        let (entry, run) = listing::entry(id, folder.clone());
        let Some(run) = run.filter(|run| run.target.kind != TargetKind::Sim) else { continue };
        if names_of(&run, &folder).iter().any(|name| names.contains(name)) {
            runs.push(LedgerRun {
                events: events_of(&run),
                id: entry.listing.id,
                started: run.started,
                status: run.status,
                is_finished: entry.is_finished,
                path: run.target.path,
                note: DriveNote::read(&folder),
            });
        }
    }
    Ok(runs)
}

/// The lasting names of what a run was made on. Runs without a note are known by their drive's serial number, or path.
pub(super) fn names_of(run: &Run, folder: &Path) -> Vec<String> {
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

/// What a run did to its drive.
pub(super) fn events_of(run: &Run) -> Vec<LedgerEvent> {
    let mut events: Vec<LedgerEvent> = Vec::new();
    for phase in &run.phases {
        for event in events_of_phase(run, phase) {
            let is_many = events.len() >= EVENTS_MANY;
            let like = |earlier: &&mut LedgerEvent| {
                let alike = earlier.kind == event.kind && earlier.pattern == event.pattern;
                alike && (is_many || earlier.block_bytes == event.block_bytes)
            };
            let looked_at = if is_many { events.len() } else { 1 };
            match events.iter_mut().rev().take(looked_at).find(like) {
                Some(earlier) => earlier.add(&event),
                None => events.push(event),
            }
        }
    }
    events
}

impl LedgerEvent {
    fn add(&mut self, more: &LedgerEvent) {
        let end = |event: &LedgerEvent| event.first_byte.saturating_add(event.span_bytes);
        let end = end(self).max(end(more));
        self.first_byte = self.first_byte.min(more.first_byte);
        self.span_bytes = end - self.first_byte;
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.block_bytes = self.block_bytes.max(more.block_bytes);
        self.seconds += more.seconds;
    }
}

fn events_of_phase(run: &Run, summary: &PhaseSummary) -> Vec<LedgerEvent> {
    let phase = &summary.phase;
    let workload = phase.workload.as_ref();
    let whole = (0, run.target.capacity.0);
    let (first_byte, span_bytes) =
        workload.map_or(whole, |workload| (workload.range.first().0, workload.range.bytes().0));
    let event = |kind, pattern: &str, bytes| LedgerEvent {
        kind,
        at: moment(run, summary.start_ns),
        pattern: pattern.into(),
        first_byte,
        span_bytes,
        bytes,
        block_bytes: workload.map_or(0, |workload| workload.block_sizes.largest().0),
        seconds: summary.duration_ns as f64 / 1e9,
    };
    let moved = |operation| summary.totals_of(operation).map_or(0, |totals| totals.bytes);
    let (written, discarded) = (moved(Operation::Write), moved(Operation::Discard));
    match phase.kind {
        PhaseKind::Idle if summary.duration_ns > 0 => vec![event(EventKind::Idle, "", 0)],
        PhaseKind::Purge => {
            // Zeroes are writes, and count as such before what they bring about.
            let writes = (written > 0).then(|| event(EventKind::Write, "sequential", written));
            let end = match summary.stopped {
                Some(reason) if reason.is_complete() => {
                    Some(event(EventKind::Purge, &phase.name, span_bytes))
                }
                // A method that the drive refused changed nothing.
                Some(StopReason::Errors) if written + discarded == 0 => None,
                _ => Some(event(EventKind::Discard, UNFINISHED_PURGE, discarded)),
            };
            writes.into_iter().chain(end).collect()
        }
        _ => {
            let pattern = workload.map_or("unknown", |workload| workload.pattern.name());
            let writes = (written > 0).then(|| event(EventKind::Write, pattern, written));
            let discards = (discarded > 0).then(|| event(EventKind::Discard, pattern, discarded));
            writes.into_iter().chain(discards).collect()
        }
    }
}

/// When the run's clock showed that time. A run that was resumed has stopped its clock in between.
fn moment(run: &Run, start_ns: u64) -> String {
    let began = run.started.parse::<Timestamp>();
    let after = SignedDuration::from_nanos(i64::try_from(start_ns).unwrap_or(i64::MAX));
    began
        .ok()
        .and_then(|began| began.checked_add(after).ok())
        .map_or_else(|| run.started.clone(), |moment| moment.to_string())
}
