//! A drive's past in words. The sentences of a run say nothing that changes while nothing happens to the drive, so that two
//! runs differ in them only when the drive's state does.

use super::past::{OTHERS_BYTES_MIN, Past, Untold};
use crate::store::{EventKind, LedgerEvent, UNFINISHED_PURGE};
use model::units::Bytes;
use report::quantity::{documented_capacity, size};

/// Others' writes below this share of our own change nothing that we would notice; the same as for load during a run.
pub(super) const OTHERS_SHARE_MIN: f64 = 0.05;

/// What the drive went through, as sentences. What leads to a drive `through` something else shares it with others.
pub(super) fn sentences(past: &Past<'_>, through: &str) -> Vec<String> {
    let mut sentences = vec![own_writes(past, if through.is_empty() { "it" } else { "it or its drive" })];
    if let Some((run, event)) = past.purge {
        let since = match past.own_since_purge_bytes {
            0 => "drivescope wrote nothing since".into(),
            bytes => format!("drivescope wrote {} since", documented_capacity(Bytes::new(bytes))),
        };
        sentences.push(format!("It was purged by run {} ({}); {since}.", run.id, event.pattern));
    }
    if let Some((run, event)) = past.last_change {
        if event.kind != EventKind::Purge {
            sentences.push(format!("The last change was by run {}: {}.", run.id, what(event)));
        }
        sentences.push(rest(past.rest_seconds).into());
    }
    others(past, &mut sentences);
    for id in &past.backwards {
        sentences.push(format!(
            "A clock or counter went back after run {id}, so the order of writes and the volume of other writes are uncertain."
        ));
    }
    sentences
}

fn own_writes(past: &Past<'_>, place: &str) -> String {
    match (past.own_bytes, past.writing_runs) {
        (0, _) => format!("No earlier writes by drivescope to {place} are recorded."),
        (bytes, 1) => {
            format!(
                "drivescope wrote {} to {place} before, in one run.",
                documented_capacity(Bytes::new(bytes))
            )
        }
        (bytes, runs) => {
            format!(
                "drivescope wrote {} to {place} before, in {runs} runs.",
                documented_capacity(Bytes::new(bytes))
            )
        }
    }
}

/// In steps: how long exactly would differ from run to run.
fn rest(seconds: Option<f64>) -> &'static str {
    match seconds {
        None => "The idle time since is unknown: the clock was set back.",
        Some(..60.0) => "It has been idle for less than a minute since.",
        Some(..3600.0) => "It has been idle for less than an hour since.",
        Some(..86_400.0) => "It has been idle for less than a day since.",
        Some(_) => "It has been idle for more than a day since.",
    }
}

fn others(past: &Past<'_>, sentences: &mut Vec<String>) {
    let Some(others) = &past.others else {
        sentences.push("Earlier writes by other programs are unknown.".into());
        return;
    };
    if others.bytes >= OTHERS_BYTES_MIN {
        let by = if others.by_drive {
            "by the counters of the kernel and the drive"
        } else {
            "by the kernel's counters"
        };
        let bytes = documented_capacity(Bytes::new(others.bytes));
        sentences.push(format!(
            "Other programs wrote about {bytes} to its drive since drivescope first saw it, {by}."
        ));
    }
    if let Some((when, why)) = others.unknown.last() {
        let why = match why {
            Untold::NotCounted => "no counter covers its writes",
            Untold::Restarted => "the machine was restarted and the drive has no write counter",
            Untold::WentBack => "a counter went back",
        };
        sentences.push(format!("Writes by other programs {when} are unknown: {why}."));
    }
}

pub(super) fn others_meanwhile(bytes: u64) -> String {
    format!(
        "Other programs wrote about {} to the same drive meanwhile.",
        documented_capacity(Bytes::new(bytes))
    )
}

/// An event in words: "3.00 GB in order in blocks of 1 MiB, from 0 bytes on over 3.00 GB".
pub(super) fn what(event: &LedgerEvent) -> String {
    let amount = documented_capacity(Bytes::new(event.bytes));
    match event.kind {
        EventKind::Idle => "idle".into(),
        EventKind::Purge => format!("purged ({})", event.pattern),
        EventKind::Discard if event.pattern == UNFINISHED_PURGE => "unfinished purge".into(),
        EventKind::Discard => format!("discarded {amount}"),
        EventKind::Write if event.block_bytes == 0 => format!("wrote {amount} in an unknown pattern"),
        EventKind::Write => {
            format!(
                "wrote {amount} {} in blocks of {}",
                order(&event.pattern),
                size(Bytes::new(event.block_bytes))
            )
        }
    }
}

fn order(pattern: &str) -> &'static str {
    match pattern {
        "sequential" => "sequentially",
        "random-once" | "random-with-replacement" => "randomly",
        "strided" => "in strides",
        "zoned" => "randomly, some regions more often",
        "mixed" => "partly sequentially, partly randomly",
        "listed" => "at listed offsets",
        _ => "in an unknown pattern",
    }
}
