//! What a drive went through: the page of `drivescope state`.

use super::page;
use super::tables::Table;
use crate::quantity::{capacity, rough_time};
use crate::style::{Style, Tone, paragraph};
use crate::terminal::readable_moment;
use model::units::{Bytes, Nanos};

/// A table longer than this hides what happened last; all of it is in the document.
const EVENTS_SHOWN_MAX: usize = 40;

/// The state of a target.
#[derive(Clone, Debug, PartialEq)]
pub struct StatePage {
    /// As it was typed.
    pub target: String,
    /// What it and its drives are called for good.
    pub names: Vec<String>,
    /// Through what it leads to its drives; empty for a whole drive.
    pub through: String,
    /// What it went through, in words.
    pub sentences: Vec<String>,
    /// How many runs there were, writing or not.
    pub runs: usize,
    /// What drivescope wrote.
    pub own_written_bytes: u64,
    /// The same since the last purge; none when there was none.
    pub own_written_since_purge_bytes: Option<u64>,
    /// How it was purged last.
    pub purge: Option<String>,
    /// By which run.
    pub purge_run: Option<String>,
    /// What others wrote since the first run; none when that is not known for all the time.
    pub others_written_bytes: Option<u64>,
    /// When it is not known what others wrote, as clauses.
    pub others_unknown: Vec<String>,
    /// How long ago the last change was, in seconds.
    pub rest_s: Option<f64>,
    /// How long runs left it alone on purpose, in seconds.
    pub idle_s: f64,
    /// What was done, oldest first.
    pub events: Vec<StateEvent>,
}

/// Something that was done to a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct StateEvent {
    /// When it began, RFC 3339 in UTC.
    pub at: String,
    /// `write`, `discard`, `purge` or `idle`.
    pub event: &'static str,
    /// In words.
    pub what: String,
    /// The workload's word, or the method of a purge.
    pub pattern: String,
    /// How much.
    pub bytes: u64,
    /// Where, on the target of the run.
    pub first_byte: u64,
    /// Up to where from there.
    pub span_bytes: u64,
    /// In blocks of up to this.
    pub block_bytes: u64,
    /// For how long.
    pub seconds: f64,
    /// The run.
    pub run: String,
    /// The run's target.
    pub path: String,
}

/// The page.
pub fn state_page(state: &StatePage, style: Style) -> String {
    let mut head = vec![style.paint(Tone::Heading, &style.name(&state.target))];
    for name in &state.names {
        head.extend(paragraph("  kept as  ", &style.sentence(name), style.columns()));
    }
    if !state.through.is_empty() {
        head.extend(paragraph("  through  ", &style.sentence(&state.through), style.columns()));
    }
    let mut past = vec![style.paint(Tone::Heading, "What it went through")];
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
    let cells = state.events[left_out..].iter().map(|event| {
        let time = Nanos::from_secs_f64(event.seconds).map_or("-".into(), rough_time);
        let place = format!(
            "{} to {}",
            capacity(Bytes(event.first_byte)),
            capacity(Bytes(event.first_byte.saturating_add(event.span_bytes)))
        );
        vec![
            readable_moment(&style.name(&event.at)).trim_end_matches(" UTC").into(),
            style.sentence(&event.what),
            style.own(&time),
            if event.event == "idle" { "-".into() } else { place },
            style.name(&event.run),
        ]
    });
    let table = Table::new(["began (UTC)", "what", "for", "where", "run"], 3, cells.collect(), style);
    let mut lines = table.lines(|_| Vec::new());
    if left_out > 0 {
        lines.push(format!("{left_out} earlier events are left out; --json - has them all."));
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
        let page = state_page(&state, Style { width: 150, colour: false, unicode: true });
        assert!(page.contains("2026-11-22 10:00"), "{page}");
        assert!(page.contains("0 bytes to 3.00 GB"), "{page}");
        assert!(!page.contains('\u{1b}'), "{page}");
        assert!(crate::json::state_document(&state).contains("\"drivescope.state/1\""));
    }
}
