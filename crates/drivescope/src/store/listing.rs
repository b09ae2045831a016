//! The list of runs. Every folder is in it, also those that cannot be read, with what is wrong with them.

use super::Store;
use super::error::StoreError;
use super::folder::{RUN_FILE, is_being_written, run_folders};
use super::index::{Index, Stamp};
use model::run::{Run, RunStatus};
use model::target::TargetKind;
use report::json::Document;
use std::fs;
use std::path::{Path, PathBuf};

/// One run in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct RunListing {
    /// Its name.
    pub id: String,
    /// Where it is kept.
    pub folder: PathBuf,
    /// When it began, RFC 3339 in UTC; none when its facts cannot be read.
    pub started: Option<String>,
    /// How it ended; none when its facts cannot be read.
    pub status: Option<RunStatus>,
    /// Whether a process writes it now.
    pub under_way: bool,
    /// The target, as it was typed.
    pub target_path: Option<String>,
    /// The drive's model.
    pub target_model: Option<String>,
    /// The drive's serial number.
    pub target_serial: Option<String>,
    /// The experiments, in the order in which they first occur.
    pub experiments: Vec<String>,
    /// What is wrong with it and what to do, if anything.
    pub damage: Option<String>,
}

/// What the list needs of a run; what the index keeps of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// Of the facts' file, to tell whether the entry is up to date.
    pub stamp: Stamp,
    /// What is shown, but for what changes without the facts.
    pub listing: RunListing,
    /// Whether its facts say when it ended.
    pub is_finished: bool,
    /// Whether `started` says when it was made: a virtual drive's clock does not.
    pub is_dated: bool,
}

/// Lists all runs, newest first. With the help of the index if there is one, else without.
pub(super) fn list(store: &Store) -> Result<Vec<RunListing>, StoreError> {
    let indexed = Index::open(store).and_then(|mut index| index.refresh(store));
    let entries = indexed.or_else(|_| scan(store))?;
    let mut entries: Vec<_> = entries.into_iter().map(|entry| (made_at_ns(&entry), shown(entry))).collect();
    entries.sort_by(|(a_at, a), (b_at, b)| b_at.cmp(a_at).then_with(|| b.id.cmp(&a.id)));
    Ok(entries.into_iter().map(|(_, listing)| listing).collect())
}

/// Reads the facts of every run.
fn scan(store: &Store) -> Result<Vec<Entry>, StoreError> {
    let folders = run_folders(&store.runs_folder())?;
    Ok(folders.into_iter().map(|(id, folder)| entry(id, folder).0).collect())
}

/// The entry of one folder, and its facts if they can be read.
pub(super) fn entry(id: String, folder: PathBuf) -> (Entry, Option<Run>) {
    let path = folder.join(RUN_FILE);
    let stamp = Stamp::of(&path);
    let mut listing = RunListing {
        id,
        folder,
        started: None,
        status: None,
        under_way: false,
        target_path: None,
        target_model: None,
        target_serial: None,
        experiments: Vec::new(),
        damage: None,
    };
    let run = match facts(&path) {
        Ok(run) => run,
        Err(error) if error.is_not_found() => {
            let folder = listing.folder.display();
            listing.damage = Some(format!(
                "{folder} holds no {RUN_FILE}, so it is no run. If it is none, move it away; if it was one, restore \
                 the file from a copy."
            ));
            return (Entry { stamp, listing, is_finished: true, is_dated: false }, None);
        }
        Err(error) => {
            listing.damage = Some(format!("{error}."));
            return (Entry { stamp, listing, is_finished: true, is_dated: false }, None);
        }
    };
    listing.started = Some(run.started.clone());
    listing.status = Some(run.status);
    listing.target_path = Some(run.target.path.clone());
    listing.target_model = run.target.model.clone();
    listing.target_serial = run.target.serial.clone();
    for phase in &run.phases {
        if !listing.experiments.contains(&phase.phase.experiment.to_string()) {
            listing.experiments.push(phase.phase.experiment.to_string());
        }
    }
    let is_dated = run.target.kind != TargetKind::Sim;
    (Entry { stamp, listing, is_finished: run.finished.is_some(), is_dated }, Some(run))
}

/// Reads the facts of a run.
pub(super) fn facts(path: &Path) -> Result<Run, StoreError> {
    let unsound = |source| StoreError::Document { path: path.to_owned(), source };
    let bytes = fs::read(path).map_err(StoreError::system("read", path))?;
    // Bytes that are no text fail as JSON, with the place where they do.
    let text = String::from_utf8_lossy(&bytes);
    Document::from_json(&text).and_then(Document::into_run).map_err(unsound)
}

/// What changes without the facts: whether a run without an end is being written or was killed.
fn shown(entry: Entry) -> RunListing {
    let mut listing = entry.listing;
    if !entry.is_finished {
        listing.under_way = is_being_written(&listing.folder);
        listing.status = Some(RunStatus::Interrupted);
    }
    listing
}

fn made_at_ns(entry: &Entry) -> i128 {
    let started = entry.listing.started.as_deref().filter(|_| entry.is_dated);
    started
        .and_then(|started| started.parse::<jiff::Timestamp>().ok())
        .map_or(i128::from(entry.stamp.modified_ns), jiff::Timestamp::as_nanosecond)
}
