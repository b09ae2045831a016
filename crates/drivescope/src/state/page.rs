//! What `drivescope state` shows of a target.

use super::past::Past;
use super::words;
use crate::error::UserError;
use crate::stamp;
use crate::store::{DriveNote, EventKind, Snapshot, Store};
use io::target::written::LastingNames;
use report::terminal::{StateEvent, StatePage};
use std::path::Path;

/// The state of a device, file or folder, as far as this store knows it.
///
/// # Errors
/// When there is nothing there, or the store cannot be read.
pub fn page_of(store: Option<&Store>, target: &str) -> Result<StatePage, UserError> {
    let names = LastingNames::of(Path::new(target))?;
    let now = Snapshot::of(&names.counts(), stamp::now());
    let note = DriveNote::begin(&names, now);
    let runs = store.map_or_else(|| Ok(Vec::new()), |store| store.history(&note.names()))?;
    let past = Past::of(&runs, &note.before);
    let events = runs.iter().flat_map(|run| run.events.iter().map(move |event| (run, event)));
    let events = events.map(|(run, event)| StateEvent {
        at: event.at.clone(),
        event: event.kind.name(),
        what: words::what(event),
        pattern: event.pattern.clone(),
        bytes: event.bytes,
        first_byte: event.first_byte,
        span_bytes: event.span_bytes,
        block_bytes: event.block_bytes,
        seconds: event.seconds,
        run: run.id.clone(),
        path: run.path.clone(),
    });
    let mut sentences = words::sentences(&past, &note.through);
    sentences.extend(
        past.killed
            .iter()
            .map(|id| format!("Run {id} has no end: what it wrote counts as far as its records go.")),
    );
    if note.may_change {
        sentences
            .push("It has no serial number, so another drive at the same path would be taken for it.".into());
    }
    Ok(StatePage {
        target: target.into(),
        names: note.names(),
        through: note.through.clone(),
        sentences,
        runs: runs.len(),
        own_written_bytes: past.own_bytes,
        own_written_since_purge_bytes: past.purge.map(|_| past.own_since_purge_bytes),
        purge: past.purge.map(|(_, event)| event.pattern.clone()),
        purge_run: past.purge.map(|(run, _)| run.id.clone()),
        others_written_bytes: past
            .others
            .as_ref()
            .filter(|others| others.unknown.is_empty())
            .map(|others| others.bytes),
        others_unknown: past
            .others
            .iter()
            .flat_map(|others| &others.unknown)
            .map(|(when, _)| when.clone())
            .collect(),
        rest_s: past.rest_seconds,
        idle_s: runs
            .iter()
            .flat_map(|run| &run.events)
            .filter(|event| event.kind == EventKind::Idle)
            .map(|event| event.seconds)
            .sum(),
        events: events.collect(),
    })
}
