//! What a drive went through: the page of `drivescope state`.

use super::section::page;
use super::tables::Table;
use crate::quantity::{capacity, readable_moment, rough_time};
use crate::style::{Style, Tone, paragraph};
use model::units::{Bytes, Nanos};
use serde::Serialize;

/// A table longer than this hides what happened last; all of it is in the document.
const EVENTS_SHOWN_MAX: usize = 40;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.state/1")]
pub struct StatePage {
    pub target: String,
    /// What it and its drives are called for good.
    pub names: Vec<String>,
    /// Through what it leads to its drives; empty for a whole drive.
    pub through: String,
    pub sentences: Vec<String>,
    pub runs: usize,
    #[serde(rename = "written_bytes")]
    pub own_written_bytes: u64,
    /// The same since the last purge; none when there was none.
    #[serde(rename = "written_since_purge_bytes")]
    pub own_written_since_purge_bytes: Option<u64>,
    pub purge: Option<String>,
    pub purge_run: Option<String>,
    /// What others wrote since the first run; none when that is not known for all the time.
    pub others_written_bytes: Option<u64>,
    /// When it is not known what others wrote, as clauses.
    pub others_unknown: Vec<String>,
    pub rest_s: Option<f64>,
    /// How long runs left it alone on purpose, in seconds.
    pub idle_s: f64,
    pub events: Vec<StateEvent>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateEvent {
    pub at: String,
    pub event: &'static str,
    #[serde(skip)]
    pub what: String,
    /// The workload's word, or the method of a purge.
    pub pattern: String,
    pub bytes: u64,
    pub first_byte: u64,
    pub span_bytes: u64,
    pub block_bytes: u64,
    pub seconds: f64,
    pub run: String,
    pub path: String,
}

pub fn state_page(state: &StatePage, style: Style) -> String {
    let mut head = vec![style.paint(Tone::Heading, &style.name(&state.target))];
    for name in &state.names {
        head.extend(paragraph("  identity  ", &style.sentence(name), style.columns()));
    }
    if !state.through.is_empty() {
        head.extend(paragraph("  via       ", &style.sentence(&state.through), style.columns()));
    }
    let mut past = vec![style.paint(Tone::Heading, "History")];
    for sentence in &state.sentences {
        past.extend(paragraph("  - ", &style.sentence(sentence), style.columns()));
    }
    page([head, past, events(state, style)])
}

fn events(state: &StatePage, style: Style) -> Vec<String> {
    if state.events.is_empty() {
        return Vec::new();
    }
    let left_out = state.events.len().saturating_sub(EVENTS_SHOWN_MAX);
    let mut table = Table::new(&["began (UTC)", "what", "for", "where", "run"], 3, style);
    for event in &state.events[left_out..] {
        let time = Nanos::from_secs_f64(event.seconds).map_or("-".into(), rough_time);
        let place = format!(
            "{} to {}",
            capacity(Bytes::new(event.first_byte)),
            capacity(Bytes::new(event.first_byte.saturating_add(event.span_bytes)))
        );
        let cells = vec![
            readable_moment(&style.name(&event.at)).trim_end_matches(" UTC").into(),
            style.sentence(&event.what),
            style.own(&time),
            if event.event == "idle" { "-".into() } else { place },
            style.name(&event.run),
        ];
        table.row(cells, Vec::new());
    }
    let mut lines = table.lines();
    if left_out > 0 {
        lines.push(format!("{left_out} earlier events omitted; --json - lists all."));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_tells_names_sentences_and_events() {
        let event = StateEvent {
            at: "2026-11-22T10:00:00Z".into(),
            event: "write",
            what: "wrote 3.00 GB in order in blocks of 1 MiB".into(),
            pattern: "sequential".into(),
            bytes: 3_000_000_000,
            first_byte: 0,
            span_bytes: 3_000_000_000,
            block_bytes: 1 << 20,
            seconds: 30.0,
            run: "20261122-100000-check-sdz-0001".into(),
            path: "/dev/sdz".into(),
        };
        let state = StatePage {
            target: "/dev/sdz".into(),
            names: vec!["Maker\u{1b}[2J S1".into()],
            through: String::new(),
            sentences: vec!["drivescope wrote 3.00 GB to it before, in one run.".into()],
            runs: 1,
            own_written_bytes: 3_000_000_000,
            own_written_since_purge_bytes: None,
            purge: None,
            purge_run: None,
            others_written_bytes: Some(0),
            others_unknown: vec![],
            rest_s: Some(60.0),
            idle_s: 0.0,
            events: vec![event],
        };
        let page = state_page(&state, Style { width: 150, colour: false, unicode: true, draws: true });
        assert!(page.contains("2026-11-22 10:00"), "{page}");
        assert!(page.contains("0 bytes to 3.00 GB"), "{page}");
        assert!(!page.contains('\u{1b}'), "{page}");
        assert!(crate::json::text_of(&state).contains("\"drivescope.state/1\""));
    }
}
