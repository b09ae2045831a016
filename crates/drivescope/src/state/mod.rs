//! The state of a drive: what it went through before a measurement, and what the measurement did to it. Made from the
//! ledger of the store and from the counters that system and drive keep of all writes, whoever made them.

mod note;
mod page;
mod past;
mod words;

use crate::stamp;
use crate::store::{DriveNote, Store};
use io::targets::Target;
use io::targets::written::LastingNames;
use model::request::Operation;
use model::run::{Run, moved};
use past::{Growth, OTHERS_BYTES_MIN, Past, grown};

pub use page::page_of;

pub struct Before {
    pub note: DriveNote,
    /// What the drive went through, as sentences that stay the same while nothing happens to it.
    pub sentences: Vec<String>,
}

/// Looks up what a target went through. None where that cannot be told at all: it is no reason not to measure.
pub fn before(store: &Store, target: &Target) -> Option<Before> {
    let names = LastingNames::of(target.path()).ok()?;
    let note = note::begun(&names);
    let sentences = match store.history(&note.names()) {
        Ok(runs) => words::sentences(&Past::of(&runs, &note.before), &note.through),
        Err(error) => vec![format!("Its write history cannot be read: {error}.")],
    };
    Some(Before { note, sentences })
}

/// What a run did to its drive and what others did meanwhile, as sentences; completes its note.
pub fn after(note: &mut DriveNote, target: &Target, run: &Run) -> Vec<String> {
    let Ok(names) = LastingNames::of(target.path()) else { return Vec::new() };
    let after = note::snapshot(&names.counts(), stamp::now());
    let growth = grown(&note.before, &after);
    note.after = Some(after);
    // The kernel counts discards that come from a workload as writes of zeroes, on most drives.
    let own = moved(&run.phases, &[Operation::Write, Operation::Discard, Operation::Commit]).get();
    // Several drives under a volume may each have taken the same bytes.
    let others = match growth {
        Growth::Bytes(bytes) if note.drives.len() == 1 => bytes.saturating_sub(own),
        _ => 0,
    };
    let is_seen = others >= OTHERS_BYTES_MIN && others as f64 >= words::OTHERS_SHARE_MIN * own as f64;
    if is_seen { vec![words::others_meanwhile(others)] } else { Vec::new() }
}
