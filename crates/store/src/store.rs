//! The store: begins, resumes, lists and reads runs.

use crate::disk::{Disk, SyncFile};
use crate::drive_note::DriveNote;
use crate::error::StoreError;
use crate::index::{self, Index, IndexProgress};
use crate::ledger::{LedgerRun, events_of, names_of};
use crate::lock::Lock;
use crate::places::Places;
use crate::run_entry::{RunEntry, RunListing};
use crate::run_folder::{LOCK_FILE, fold_all, has_journals, is_being_written, run_folders};
use crate::stored_run::{self, StoredRun, add_lost_phases, facts};
use crate::writer::RunWriter;
use model::run::{Run, RunStatus};
use model::target::TargetKind;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// What a run may be called: it is the name of a folder.
const ID_BYTES_MAX: usize = 128;
/// Of a run's folder before it is complete enough to be seen, or before it takes the place of the same run.
const STAGING_PREFIX: &str = ".begin-";

/// The default store: `$XDG_DATA_HOME/drivescope`, else `~/.local/share/drivescope`.
pub fn default_folder() -> Result<PathBuf, StoreError> {
    default_folder_of(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
}

/// A relative path in a variable counts as none, as the XDG base directory specification asks.
fn default_folder_of(data_home: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, StoreError> {
    if let Some(data) = absolute(data_home) {
        return Ok(data.join("drivescope"));
    }
    match absolute(home) {
        Some(home) => Ok(home.join(".local/share/drivescope")),
        None => Err(StoreError::NoFolder),
    }
}

fn absolute(path: Option<OsString>) -> Option<PathBuf> {
    let path = PathBuf::from(path?);
    if path.is_absolute() { Some(path) } else { None }
}

#[derive(Clone, Debug)]
pub struct Store {
    places: Places,
    disk: Disk,
    progress: IndexProgress,
}

impl Store {
    /// Opens a store, and makes it if it does not exist. A store that may only be read can be opened.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        let store = Store { places: Places::of(folder), disk: Disk::default(), progress: |_, _| {} };
        let runs = store.places.runs();
        if !runs.is_dir() {
            fs::create_dir_all(&runs).map_err(StoreError::system("make", &runs))?;
        }
        Ok(store)
    }

    pub fn with_sync(self, sync: SyncFile) -> Store {
        Store { disk: Disk { sync }, ..self }
    }

    /// With somebody who is told of an index that is brought up to date.
    pub fn with_progress(self, progress: IndexProgress) -> Store {
        Store { progress, ..self }
    }

    pub fn folder(&self) -> &Path {
        self.places.folder()
    }

    /// Where a run of this name is, if there is one.
    pub fn run_folder(&self, id: &str) -> PathBuf {
        self.places.run(id)
    }

    /// Whether there is no run, not even a damaged one. Fails when the folder cannot be read.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(run_folders(&self.places.runs())?.is_empty())
    }

    /// Begins to write a run. Journals that killed writers left are folded first.
    ///
    /// A run of a virtual drive may repeat one of the same name. It takes the place of the old one in one step: at
    /// once if the old one is not complete, else when it is finished, so that a complete run is never lost.
    pub fn begin(&self, run: &Run) -> Result<RunWriter, StoreError> {
        check_id(&run.id)?;
        let _others_wait = Lock::take(&self.places.runs().join(".begin.lock"))?;
        self.sweep();
        let folder = self.places.run(&run.id);
        let is_taken = folder.exists();
        if is_taken && run.target.kind != TargetKind::Sim {
            return Err(StoreError::Exists { id: run.id.clone() });
        }
        let staging = self.places.runs().join(format!("{STAGING_PREFIX}{}", run.id));
        if (is_taken && is_being_written(&folder)) || staging.exists() {
            return Err(StoreError::UnderWay { id: run.id.clone() });
        }
        fs::create_dir(&staging).map_err(StoreError::system("make", &staging))?;
        let Some(lock) = Lock::try_take(&staging.join(LOCK_FILE))? else {
            return Err(StoreError::UnderWay { id: run.id.clone() });
        };
        let mut writer = RunWriter::begin(&self.places, self.disk, run, staging.clone(), lock)?;
        if is_taken && is_complete(&folder) {
            writer.replaces(folder);
            return Ok(writer);
        }
        if is_taken {
            self.disk.exchange_folders(&staging, &folder)?;
            fs::remove_dir_all(&staging).map_err(StoreError::system("remove", &staging))?;
        } else {
            self.disk.rename(&staging, &folder)?;
        }
        writer.moved_to(folder);
        Ok(writer)
    }

    /// Goes on writing a run that did not come to its end, and answers what was kept of it. From its next phase on it
    /// reads as interrupted until it is finished again.
    pub fn resume(&self, id_or_prefix: &str) -> Result<(RunWriter, StoredRun), StoreError> {
        let id = self.resolve(id_or_prefix)?;
        let folder = self.places.run(&id);
        let Some(lock) = Lock::try_take(&folder.join(LOCK_FILE))? else {
            return Err(StoreError::UnderWay { id });
        };
        fold_all(self.disk, &folder)?;
        let mut stored = stored_run::read(&id, &folder)?;
        if stored.run.finished.is_some() && stored.run.status == RunStatus::Complete {
            drop(lock);
            let _ = fs::remove_file(folder.join(LOCK_FILE));
            return Err(StoreError::Complete { id });
        }
        add_lost_phases(&mut stored.run, &stored.series);
        stored.run.finished = None;
        stored.run.status = RunStatus::Interrupted;
        let writer = RunWriter::reopen(&self.places, self.disk, &stored.run, folder, lock)?;
        Ok((writer, stored))
    }

    /// Folds what killed writers left and removes what they had not begun to show; failures show when it is read.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(self.places.runs()) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(STAGING_PREFIX) {
                if !is_being_written(&entry.path()) {
                    let _ = fs::remove_dir_all(entry.path());
                }
            } else if !name.starts_with('.') && has_journals(&entry.path()) {
                let _ = self.recover(&name);
            }
        }
    }

    /// Folds the journals that a killed writer left in a run.
    pub fn recover(&self, id_or_prefix: &str) -> Result<(), StoreError> {
        let id = self.resolve(id_or_prefix)?;
        let folder = self.places.run(&id);
        let lock_file = folder.join(LOCK_FILE);
        let Some(_lock) = Lock::try_take(&lock_file)? else { return Err(StoreError::UnderWay { id }) };
        fold_all(self.disk, &folder)?;
        fs::remove_file(&lock_file).map_err(StoreError::system("remove", &lock_file))
    }

    /// All runs, newest first, the damaged ones too. With the help of the index if there is one, else without.
    pub fn runs(&self) -> Result<Vec<RunListing>, StoreError> {
        let mut entries = match self.indexed() {
            Ok(entries) => entries,
            Err(_) => self.scan()?,
        };
        entries.sort_by_cached_key(|entry| (entry.made_at_ns(), entry.listing.id.clone()));
        Ok(entries.into_iter().rev().map(RunEntry::shown).collect())
    }

    fn indexed(&self) -> Result<Vec<RunEntry>, StoreError> {
        Index::open(&self.places)?.telling(self.progress).refresh(&self.places)
    }

    fn scan(&self) -> Result<Vec<RunEntry>, StoreError> {
        let mut entries = Vec::new();
        for (id, folder) in run_folders(&self.places.runs())? {
            let (entry, _) = RunEntry::of(id, folder);
            entries.push(entry);
        }
        Ok(entries)
    }

    /// Reads a run by its name, the beginning of its name if no other run's begins so, or `last`. Fails when there is no such run, there are
    /// several, or its facts cannot be read. Damaged series are no error: what they lack is in [`StoredRun::damage`].
    pub fn read(&self, id_or_prefix: &str) -> Result<StoredRun, StoreError> {
        let id = self.resolve(id_or_prefix)?;
        stored_run::read(&id, &self.places.run(&id))
    }

    /// The facts of a run alone, as they were written last: of a phase that is under way they hold no totals.
    pub fn facts(&self, id_or_prefix: &str) -> Result<Run, StoreError> {
        let id = self.resolve(id_or_prefix)?;
        Ok(facts(&self.places.run(&id))?.run)
    }

    pub fn rebuild_index(&self) -> Result<(), StoreError> {
        index::rebuild(&self.places)
    }

    /// What drivescope did to the drives or files with these lasting names, oldest first by the runs' names.
    pub fn history(&self, names: &[String]) -> Result<Vec<LedgerRun>, StoreError> {
        let mut runs = match self.indexed_history(names) {
            Ok(runs) => runs,
            Err(_) => self.scan_history(names)?,
        };
        for run in &mut runs {
            // Its facts do not know what its last phase did; its records do.
            if !run.is_finished
                && let Ok(mut stored) = stored_run::read(&run.id, &self.places.run(&run.id))
            {
                add_lost_phases(&mut stored.run, &stored.series);
                run.events = events_of(&stored.run);
                run.status = stored.run.status;
            }
        }
        runs.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(runs)
    }

    fn indexed_history(&self, names: &[String]) -> Result<Vec<LedgerRun>, StoreError> {
        Index::open(&self.places)?.telling(self.progress).ledger(&self.places, names)
    }

    fn scan_history(&self, names: &[String]) -> Result<Vec<LedgerRun>, StoreError> {
        let mut runs = Vec::new();
        for (id, folder) in run_folders(&self.places.runs())? {
            let Ok(facts) = facts(&folder) else { continue };
            let run = facts.run;
            let is_named = names_of(&run, &folder).iter().any(|name| names.contains(name));
            if run.target.kind == TargetKind::Sim || !is_named {
                continue;
            }
            runs.push(LedgerRun {
                id,
                events: events_of(&run),
                started: run.started,
                status: run.status,
                is_finished: run.finished.is_some(),
                path: run.target.path,
                note: DriveNote::read(&folder),
            });
        }
        Ok(runs)
    }

    fn resolve(&self, name: &str) -> Result<String, StoreError> {
        let mut candidates = Vec::new();
        if is_run_name(name) && self.places.run(name).is_dir() {
            return Ok(name.to_owned());
        }
        if name == "last" {
            for run in self.runs()? {
                if run.damage.is_none() {
                    return Ok(run.id);
                }
            }
        } else {
            for (id, _) in run_folders(&self.places.runs())? {
                if !name.is_empty() && id.starts_with(name) {
                    candidates.push(id);
                }
            }
        }
        match candidates.len() {
            0 => Err(StoreError::NoSuchRun { name: name.into(), folder: self.folder().to_owned() }),
            1 => Ok(candidates.remove(0)),
            _ => Err(StoreError::Ambiguous { prefix: name.into(), candidates }),
        }
    }
}

/// Whether a run can have this name. Nothing that can leads out of a folder.
pub fn is_run_name(name: &str) -> bool {
    check_id(name).is_ok()
}

/// Nobody looks again at more records while the run goes on: what left the page cache would have to be read from a drive
/// that may be the one measured. A day of intervals, and far less than any page cache.
pub const LOOK_AGAIN_BYTES_MAX: u64 = 128 << 20;

pub fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let mut bytes = 0;
    for entry in entries.flatten() {
        if let Ok(file) = entry.metadata() {
            bytes += file.len();
        }
    }
    bytes
}

/// Reads the run in a folder, which may be under way and not have its name yet.
pub fn read_folder(folder: &Path) -> Result<StoredRun, StoreError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    stored_run::read(name.trim_start_matches(STAGING_PREFIX), folder)
}

fn check_id(id: &str) -> Result<(), StoreError> {
    let begins_well = id.starts_with(|first: char| first.is_ascii_alphanumeric());
    if begins_well && id.len() <= ID_BYTES_MAX && id.bytes().all(is_of_a_name) && id != "last" {
        return Ok(());
    }
    Err(StoreError::BadId { id: id.into() })
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-+".contains(&byte)
}

fn is_complete(folder: &Path) -> bool {
    matches!(facts(folder), Ok(facts) if facts.run.status == RunStatus::Complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_folders_count() {
        let of = |data: Option<&str>, home: Option<&str>| {
            default_folder_of(data.map(Into::into), home.map(Into::into)).ok()
        };
        let is = |path: &str| Some(Path::new(path).to_owned());
        assert_eq!(of(Some("/data"), Some("/somewhere/me")), is("/data/drivescope"));
        assert_eq!(of(Some("data"), Some("/somewhere/me")), is("/somewhere/me/.local/share/drivescope"));
        assert_eq!(of(Some(""), Some("/somewhere/me")), is("/somewhere/me/.local/share/drivescope"));
        assert_eq!(of(None, None), None);
    }
}
