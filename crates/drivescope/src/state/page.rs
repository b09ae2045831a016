//! What `drivescope state` shows of a target.

use super::past::Past;
use super::{note, words};
use crate::error::UserError;
use crate::store::{EventKind, LedgerEvent, LedgerRun, Store};
use io::targets::written::LastingNames;
use report::terminal::{StateEvent, StatePage};
use std::path::Path;

pub fn page_of(store: Option<&Store>, target: &str) -> Result<StatePage, UserError> {
    let names = LastingNames::of(Path::new(target))?;
    let note = note::begun(&names);
    let runs = match store {
        Some(store) => store.history(&note.names())?,
        None => Vec::new(),
    };
    let past = Past::of(&runs, &note.before);
    let mut events = Vec::new();
    let mut idle_s = 0.0;
    for run in &runs {
        for event in &run.events {
            if event.kind == EventKind::Idle {
                idle_s += event.seconds;
            }
            events.push(shown(run, event));
        }
    }
    let mut sentences = words::sentences(&past, &note.through);
    for id in &past.killed {
        sentences.push(format!("Run {id} has no end: its writes count as far as they were recorded."));
    }
    if note.may_change {
        sentences
            .push("It has no serial number, so another drive at the same path would be taken for it.".into());
    }
    let (others_written_bytes, others_unknown) = match &past.others {
        Some(others) if others.unknown.is_empty() => (Some(others.bytes), Vec::new()),
        Some(others) => (None, others.unknown.iter().map(|(when, _)| when.clone()).collect()),
        None => (None, Vec::new()),
    };
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
        others_written_bytes,
        others_unknown,
        rest_s: past.rest_seconds,
        idle_s,
        events,
    })
}

fn shown(run: &LedgerRun, event: &LedgerEvent) -> StateEvent {
    StateEvent {
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
    }
}
