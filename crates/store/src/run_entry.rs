//! What lists and index need of a run.

use crate::document::Facts;
use crate::error::StoreError;
use crate::run_folder::{RUN_FILE, is_being_written};
use crate::stored_run::facts;
use model::run::RunStatus;
use model::target::TargetKind;
use serde::Serialize;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunListing {
    pub id: String,
    pub folder: PathBuf,
    // RFC 3339 in UTC; none when its facts cannot be read.
    pub started: Option<String>,
    pub status: Option<RunStatus>,
    pub under_way: bool,
    #[serde(rename = "path")]
    pub target_path: Option<String>,
    #[serde(rename = "model")]
    pub target_model: Option<String>,
    #[serde(rename = "serial")]
    pub target_serial: Option<String>,
    pub experiments: Vec<String>,
    pub damage: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunEntry {
    pub stamp: Stamp,
    pub listing: RunListing,
    pub is_finished: bool,
    /// Whether `started` says when it was made: a virtual drive's clock does not.
    pub is_dated: bool,
}

/// Tells one state of a file from another: a file that is replaced gets another inode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub inode: i64,
    pub modified_ns: i64,
    pub bytes: i64,
}

impl Stamp {
    /// Of a run's facts as they are now; all zero if there are none.
    pub(crate) fn of(folder: &Path) -> Stamp {
        let Ok(file) = fs::metadata(folder.join(RUN_FILE)) else { return Stamp::default() };
        Stamp {
            inode: file.ino().cast_signed(),
            modified_ns: file.mtime().saturating_mul(1_000_000_000).saturating_add(file.mtime_nsec()),
            bytes: file.len().cast_signed(),
        }
    }
}

impl RunEntry {
    pub(crate) fn of(id: String, folder: PathBuf) -> (RunEntry, Option<Facts>) {
        let stamp = Stamp::of(&folder);
        match facts(&folder) {
            Ok(facts) => (RunEntry::of_facts(id, folder, stamp, &facts), Some(facts)),
            Err(error) => (RunEntry::of_damaged(id, folder, stamp, &error), None),
        }
    }

    fn of_facts(id: String, folder: PathBuf, stamp: Stamp, facts: &Facts) -> RunEntry {
        let run = &facts.run;
        let experiments = run.experiments().into_iter().map(ToString::to_string).collect();
        let listing = RunListing {
            id,
            folder,
            started: Some(run.started.clone()),
            status: Some(run.status),
            target_path: Some(run.target.path.clone()),
            target_model: run.target.model.clone(),
            target_serial: run.target.serial.clone(),
            experiments,
            ..RunListing::default()
        };
        let is_dated = run.target.kind != TargetKind::Sim;
        RunEntry { stamp, listing, is_finished: run.finished.is_some(), is_dated }
    }

    fn of_damaged(id: String, folder: PathBuf, stamp: Stamp, error: &StoreError) -> RunEntry {
        let damage = if error.is_not_found() {
            format!(
                "{} holds no {RUN_FILE}, so it is no run. If it is none, move it away; if it was one, restore the file from \
                 a copy.",
                folder.display()
            )
        } else {
            format!("{error}.")
        };
        let listing = RunListing { id, folder, damage: Some(damage), ..RunListing::default() };
        RunEntry { stamp, listing, is_finished: true, is_dated: false }
    }

    /// With what changes without the facts: whether a run without an end is being written or was killed.
    pub(crate) fn shown(self) -> RunListing {
        let mut listing = self.listing;
        if !self.is_finished {
            listing.under_way = is_being_written(&listing.folder);
            listing.status = Some(RunStatus::Interrupted);
        }
        listing
    }

    /// When it was made: a virtual drive has a time of its own, so then the file's.
    pub(crate) fn made_at_ns(&self) -> i128 {
        let started = self.listing.started.as_deref().filter(|_| self.is_dated);
        match started.map(str::parse::<jiff::Timestamp>) {
            Some(Ok(started)) => started.as_nanosecond(),
            _ => i128::from(self.stamp.modified_ns),
        }
    }
}
