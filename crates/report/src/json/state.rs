//! What a drive went through as JSON, schema `drivescope.state/1`.

use crate::terminal::{StateEvent, StatePage};
use serde::Serialize;

#[derive(Serialize)]
struct StateDocument<'state> {
    schema: &'static str,
    target: &'state str,
    /// What it and its drives are called for good.
    names: &'state [String],
    through: &'state str,
    sentences: &'state [String],
    runs: usize,
    written_bytes: u64,
    written_since_purge_bytes: Option<u64>,
    purge: Option<&'state str>,
    purge_run: Option<&'state str>,
    /// Null when that is not known for all the time since the first run.
    others_written_bytes: Option<u64>,
    others_unknown: &'state [String],
    rest_s: Option<f64>,
    idle_s: f64,
    events: Vec<EventDocument<'state>>,
}

#[derive(Serialize)]
struct EventDocument<'state> {
    at: &'state str,
    event: &'static str,
    pattern: &'state str,
    bytes: u64,
    first_byte: u64,
    span_bytes: u64,
    block_bytes: u64,
    seconds: f64,
    run: &'state str,
    path: &'state str,
}

/// The document, with a line end.
pub fn state_document(state: &StatePage) -> String {
    let document = StateDocument {
        schema: "drivescope.state/1",
        target: &state.target,
        names: &state.names,
        through: &state.through,
        sentences: &state.sentences,
        runs: state.runs,
        written_bytes: state.own_written_bytes,
        written_since_purge_bytes: state.own_written_since_purge_bytes,
        purge: state.purge.as_deref(),
        purge_run: state.purge_run.as_deref(),
        others_written_bytes: state.others_written_bytes,
        others_unknown: &state.others_unknown,
        rest_s: state.rest_s,
        idle_s: state.idle_s,
        events: state.events.iter().map(event).collect(),
    };
    let text = serde_json::to_string_pretty(&document).expect("numbers, words and lists have a form in JSON");
    text + "\n"
}

fn event(event: &StateEvent) -> EventDocument<'_> {
    EventDocument {
        at: &event.at,
        event: event.event,
        pattern: &event.pattern,
        bytes: event.bytes,
        first_byte: event.first_byte,
        span_bytes: event.span_bytes,
        block_bytes: event.block_bytes,
        seconds: event.seconds,
        run: &event.run,
        path: &event.path,
    }
}
