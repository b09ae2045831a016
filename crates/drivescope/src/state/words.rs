//! A drive's past in words. The sentences of a run say nothing that changes while nothing happens to the drive, so that two
//! runs differ in them only when the drive's state does.

use super::past::{OTHERS_BYTES_MIN, Past, Untold};
use crate::store::{EventKind, LedgerEvent, UNFINISHED_PURGE};
use model::units::Bytes;
use report::quantity::{capacity, size};

/// Others' writes below this share of our own change nothing that we would notice; the same as for load during a run.
pub(super) const OTHERS_SHARE_MIN: f64 = 0.05;

/// What the drive went through, as sentences. What leads to a drive `through` something else shares it with others.
pub(super) fn sentences(past: &Past<'_>, through: &str) -> Vec<String> {
    let mut sentences = vec![own_writes(past, if through.is_empty() { "it" } else { "it or its drive" })];
    sentences.extend(past.purge.map(|(run, event)| {
        let since = match past.own_since_purge_bytes {
            0 => "drivescope wrote nothing since".into(),
            bytes => format!("drivescope wrote {} since", capacity(Bytes(bytes))),
        };
        format!("It was purged by run {} ({}); {since}.", run.id, event.pattern)
    }));
    let last = past.last_change.filter(|(_, event)| event.kind != EventKind::Purge);
    sentences
        .extend(last.map(|(run, event)| format!("The last change was by run {}: {}.", run.id, what(event))));
    sentences.extend(past.last_change.map(|_| rest(past.rest_seconds).into()));
    sentences.extend(others(past));
    sentences.extend(past.backwards.iter().map(|id| {
        format!(
            "A clock or counter went back after run {id}, so the order of what was written, and how much others wrote, are \
             not sure."
        )
    }));
    sentences
}

fn own_writes(past: &Past<'_>, place: &str) -> String {
    match (past.own_bytes, past.writing_runs) {
        (0, _) => format!("drivescope has no record of having written to {place}."),
        (bytes, 1) => format!("drivescope wrote {} to {place} before, in one run.", capacity(Bytes(bytes))),
        (bytes, runs) => {
            format!("drivescope wrote {} to {place} before, in {runs} runs.", capacity(Bytes(bytes)))
        }
    }
}

/// In steps: how long exactly would differ from run to run.
fn rest(seconds: Option<f64>) -> &'static str {
    match seconds {
        None => "How long it has rested since is unknown: the clock was set back.",
        Some(..60.0) => "It has rested for less than a minute since.",
        Some(..3600.0) => "It has rested for less than an hour since.",
        Some(..86_400.0) => "It has rested for less than a day since.",
        Some(_) => "It has rested for more than a day since.",
    }
}

fn others(past: &Past<'_>) -> Vec<String> {
    let Some(others) = &past.others else {
        return vec!["What others wrote to it before is unknown.".into()];
    };
    let by = if others.by_drive {
        "by the counters of the system and the drive"
    } else {
        "by the system's counters"
    };
    let counted = (others.bytes >= OTHERS_BYTES_MIN).then(|| {
        format!(
            "Others wrote about {} to its drive since drivescope first met it, {by}.",
            capacity(Bytes(others.bytes))
        )
    });
    let unknown = others.unknown.last().map(|(when, why)| {
        let why = match why {
            Untold::NotCounted => "nothing counts what is written to it",
            Untold::Restarted => "the machine was restarted and the drive tells no count of its own",
            Untold::WentBack => "a counter went back",
        };
        format!("What others wrote {when} is unknown: {why}.")
    });
    counted.into_iter().chain(unknown).collect()
}

/// What others did while a run went on.
pub(super) fn others_meanwhile(bytes: u64) -> String {
    format!("Others wrote about {} to the same drive meanwhile.", capacity(Bytes(bytes)))
}

/// An event in words: "3.00 GB in order in blocks of 1 MiB, from 0 bytes on over 3.00 GB".
pub(super) fn what(event: &LedgerEvent) -> String {
    let amount = capacity(Bytes(event.bytes));
    match event.kind {
        EventKind::Idle => "left alone".into(),
        EventKind::Purge => format!("purged ({})", event.pattern),
        EventKind::Discard if event.pattern == UNFINISHED_PURGE => {
            "began to purge it, and did not finish".into()
        }
        EventKind::Discard => format!("discarded {amount}"),
        EventKind::Write if event.block_bytes == 0 => format!("wrote {amount}, how is not known"),
        EventKind::Write => {
            format!(
                "wrote {amount} {} in blocks of {}",
                order(&event.pattern),
                size(Bytes(event.block_bytes))
            )
        }
    }
}

fn order(pattern: &str) -> &'static str {
    match pattern {
        "sequential" => "in order",
        "random-once" | "random-with-replacement" => "at random places",
        "strided" => "in strides",
        "zoned" => "at random places, some parts more often",
        "mixed" => "partly in order, partly at random places",
        "listed" => "at chosen places",
        _ => "in an unknown order",
    }
}
