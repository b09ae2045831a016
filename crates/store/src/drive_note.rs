//! `state.json` of a run: what its target is called for good, and what had been written to its drives, by whomever,
//! when the run began and when it ended. With the phases in `run.json` this is what the ledger is made of.

use crate::disk::{Disk, Lasting};
use crate::error::StoreError;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

pub(crate) const STATE_FILE: &str = "state.json";
/// Keys may be added; none is renamed or changes its meaning.
const SCHEMA: &str = "drivescope.run-state/1";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveNote {
    schema: String,
    pub target: String,
    pub drives: Vec<String>,
    pub through: String,
    /// Whether another drive could come under the same name.
    pub may_change: bool,
    pub before: Snapshot,
    /// After the last; none of a run that was killed.
    pub after: Option<Snapshot>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// When it was seen: a moment by RFC 3339, in UTC.
    pub at: String,
    pub start_of_machine: Option<String>,
    pub drives: Vec<DriveSnapshot>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveSnapshot {
    pub drive: String,
    pub since_start_bytes: Option<u64>,
    pub in_life_bytes: Option<u64>,
    pub in_life_source: Option<String>,
    pub in_life_step_bytes: Option<u64>,
}

#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    model::schema::of::<DriveNote>(SCHEMA)
}

impl DriveNote {
    /// The note of a run that is about to begin on what is called `target` for good, with these drives under it.
    pub fn begin(
        target: String,
        drives: Vec<String>,
        through: String,
        may_change: bool,
        before: Snapshot,
    ) -> DriveNote {
        DriveNote { schema: SCHEMA.into(), target, drives, through, may_change, before, after: None }
    }

    /// All names under which the ledger keeps the run, each once.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![self.target.clone()];
        for drive in &self.drives {
            if *drive != self.target {
                names.push(drive.clone());
            }
        }
        names
    }

    pub(crate) fn write(&self, disk: Disk, folder: &Path) -> Result<(), StoreError> {
        let text =
            serde_json::to_string_pretty(self).expect("structs of texts and numbers have a form in JSON");
        disk.write_whole(&folder.join(STATE_FILE), (text + "\n").as_bytes(), Lasting::Kill)
    }

    pub(crate) fn read(folder: &Path) -> Option<DriveNote> {
        let text = fs::read_to_string(folder.join(STATE_FILE)).ok()?;
        let note: DriveNote = serde_json::from_str(&text).ok()?;
        if note.schema == SCHEMA { Some(note) } else { None }
    }
}
