//! `state.json` of a run: what its target is called for good, and what had been written to its drives, by whomever,
//! when the run began and when it ended. With the phases in `run.json` this is what the ledger is made of.

use super::error::StoreError;
use super::files::{Lasting, write_whole};
use io::target::written::{LastingNames, WriteCounts};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The name of the file in the folder of a run.
pub(super) const STATE_FILE: &str = "state.json";
/// Keys may be added; none is renamed or changes its meaning.
const SCHEMA: &str = "drivescope.run-state/1";

/// What a run notes about its drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveNote {
    schema: String,
    /// What the target is called for good.
    pub target: String,
    /// The same of the drives under it.
    pub drives: Vec<String>,
    /// Through what it leads to its drives; empty for a whole drive.
    pub through: String,
    /// Whether another drive could come under the same name.
    pub may_change: bool,
    /// Before the first phase.
    pub before: Snapshot,
    /// After the last; none of a run that was killed.
    pub after: Option<Snapshot>,
}

/// What had been written to the drives at a moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// RFC 3339 in UTC.
    pub at: String,
    /// Which start of the machine it was.
    pub start_of_machine: Option<String>,
    /// One for each drive that could be looked at.
    pub drives: Vec<DriveSnapshot>,
}

/// What had been written to one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveSnapshot {
    /// Its lasting name.
    pub drive: String,
    /// Since the machine was started, by the kernel.
    pub since_start_bytes: Option<u64>,
    /// In its life, by the drive.
    pub in_life_bytes: Option<u64>,
    /// Where the drive was asked: `nvme` or `ata`.
    pub in_life_source: Option<String>,
    /// The steps in which it counts.
    pub in_life_step_bytes: Option<u64>,
}

impl DriveNote {
    /// The note of a run that is about to begin.
    pub fn begin(names: &LastingNames, before: Snapshot) -> DriveNote {
        DriveNote {
            schema: SCHEMA.into(),
            target: names.target.clone(),
            drives: names.drives.clone(),
            through: names.through.clone(),
            may_change: names.may_change,
            before,
            after: None,
        }
    }

    /// All names under which the ledger keeps the run, each once.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![self.target.clone()];
        names.extend(self.drives.iter().filter(|drive| **drive != self.target).cloned());
        names
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), StoreError> {
        let text =
            serde_json::to_string_pretty(self).expect("structs of texts and numbers have a form in JSON");
        write_whole(&folder.join(STATE_FILE), (text + "\n").as_bytes(), Lasting::Kill)
    }

    /// That of the run in a folder; none where there is none or it cannot be understood.
    pub(super) fn read(folder: &Path) -> Option<DriveNote> {
        let text = fs::read_to_string(folder.join(STATE_FILE)).ok()?;
        serde_json::from_str::<DriveNote>(&text).ok().filter(|note| note.schema == SCHEMA)
    }
}

impl Snapshot {
    /// What the counters showed then.
    pub fn of(counts: &WriteCounts, at: String) -> Snapshot {
        let drives = counts.drives.iter().map(|count| DriveSnapshot {
            drive: count.drive.clone(),
            since_start_bytes: count.since_start_bytes,
            in_life_bytes: count.in_life.map(|life| life.bytes),
            in_life_source: count.in_life.map(|life| life.source.into()),
            in_life_step_bytes: count.in_life.map(|life| life.step_bytes),
        });
        Snapshot { at, start_of_machine: counts.start_of_machine.clone(), drives: drives.collect() }
    }
}
