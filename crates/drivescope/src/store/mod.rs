//! The store of runs: every record that was measured, kept while the run goes on, readable without drivescope.
//!
//! ```text
//! STORE/runs/RUN/run.json                    facts and findings, schema drivescope.run/1
//!               intervals-000001.parquet     a complete part of a series: intervals, histograms, errors,
//!               intervals-000002.journal     telemetry, trace; and the part that is being written
//!               checksums.txt                CRC-32, size and name of each segment
//!               state.json                   what had been written to the drive before and after, by its counters
//!               writer.lock                  locked while a process writes the run
//! STORE/index.sqlite                         runs, findings and ledger; made again from the runs when it is lost
//! ```
//! How a kill at any moment is survived: a record is one whole frame in a journal that is already with the kernel. A
//! full journal is rewritten as the segment of the same number under a temporary name, synced, renamed, and only then
//! removed; a reader takes the segment of a number before its journal, reads a journal up to its last whole frame, and
//! passes over temporary names. Files that must be whole (`run.json`, segments) appear by a rename.
//!
//! One process writes a run, any number read it meanwhile. A run without an end whose lock nobody holds was killed,
//! and reads as interrupted; the next writer folds its journals.
//!
//! Damage is data: a run is listed and read as far as it can be, with what is wrong with it in words.

mod drive_note;
mod error;
mod files;
mod folder;
mod follower;
mod format;
mod index;
mod journal;
mod ledger;
mod ledger_rows;
mod listing;
mod reader;
mod row;
mod segment;
mod writer;

#[cfg(test)]
mod tests;

pub use drive_note::{DriveNote, DriveSnapshot, Snapshot};
pub use error::StoreError;
pub use follower::Follower;
pub use ledger::{EventKind, LedgerEvent, LedgerRun, UNFINISHED_PURGE};
pub use listing::RunListing;
pub use reader::{LOST_PHASE, StoredRun, StoredSeries};
pub use writer::RunWriter;

use folder::{LOCK_FILE, RUN_FILE, is_being_written, run_folders, try_lock, wait_for_lock};
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
///
/// # Errors
/// When neither variable holds an absolute path.
pub fn default_folder() -> Result<PathBuf, StoreError> {
    default_folder_of(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
}

/// A relative path in a variable counts as none, as the XDG base directory specification asks.
fn default_folder_of(data_home: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, StoreError> {
    let absolute = |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(data_home)
        .or_else(|| absolute(home).map(|home| home.join(".local/share")))
        .map(|data| data.join("drivescope"))
        .ok_or(StoreError::NoFolder)
}

/// A store of runs.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Opens a store, and makes it if it does not exist. A store that may only be read can be opened.
    ///
    /// # Errors
    /// When the folder does not exist and cannot be made.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        let store = Store { folder: folder.to_owned() };
        let runs = store.runs_folder();
        if !runs.is_dir() {
            fs::create_dir_all(&runs).map_err(StoreError::system("make", &runs))?;
        }
        Ok(store)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn runs_folder(&self) -> PathBuf {
        self.folder.join("runs")
    }

    fn run_folder(&self, id: &str) -> PathBuf {
        self.runs_folder().join(id)
    }

    /// Begins to write a run. Journals that killed writers left are folded first.
    ///
    /// A run of a virtual drive may repeat one of the same name. It takes the place of the old one in one step: at
    /// once if the old one is not complete, else when it is finished, so that a complete run is never lost.
    ///
    /// # Errors
    /// When the name is unfit or taken, another process writes the run, or the folder cannot be written.
    pub fn begin(&self, run: &Run) -> Result<RunWriter, StoreError> {
        check_id(&run.id)?;
        let _others_wait = wait_for_lock(&self.runs_folder().join(".begin.lock"))?;
        self.sweep();
        let folder = self.run_folder(&run.id);
        let taken = folder.exists();
        if taken && run.target.kind != TargetKind::Sim {
            return Err(StoreError::Exists { id: run.id.clone() });
        }
        if taken && is_being_written(&folder) {
            return Err(StoreError::UnderWay { id: run.id.clone() });
        }
        let staging = self.runs_folder().join(format!("{STAGING_PREFIX}{}", run.id));
        if staging.exists() {
            return Err(StoreError::UnderWay { id: run.id.clone() });
        }
        fs::create_dir(&staging).map_err(StoreError::system("make", &staging))?;
        let lock =
            try_lock(&staging.join(LOCK_FILE))?.ok_or_else(|| StoreError::UnderWay { id: run.id.clone() })?;
        if taken && is_complete(&folder) {
            return RunWriter::begin(self, run, staging, Some(folder), lock);
        }
        let mut writer = RunWriter::begin(self, run, staging.clone(), None, lock)?;
        if taken {
            files::exchange_folders(&staging, &folder)?;
            fs::remove_dir_all(&staging).map_err(StoreError::system("remove", &staging))?;
        } else {
            files::rename_lasting(&staging, &folder)?;
        }
        writer.moved_to(folder);
        Ok(writer)
    }

    /// Goes on writing a run that did not come to its end, and answers what was kept of it. From its next phase on it
    /// reads as interrupted until it is finished again.
    ///
    /// # Errors
    /// When there is no such run, it is complete, another process writes it, or it cannot be read or written.
    pub fn resume(&self, id_or_prefix: &str) -> Result<(RunWriter, StoredRun), StoreError> {
        let id = self.resolve(id_or_prefix)?;
        let folder = self.run_folder(&id);
        let Some(lock) = try_lock(&folder.join(LOCK_FILE))? else { return Err(StoreError::UnderWay { id }) };
        folder::fold_all(&folder)?;
        let mut stored = reader::read(&id, &folder)?;
        if stored.run.finished.is_some() && stored.run.status == RunStatus::Complete {
            drop(lock);
            let _ = fs::remove_file(folder.join(LOCK_FILE));
            return Err(StoreError::Complete { id });
        }
        reader::add_lost_phases(&mut stored.run, &stored.series);
        stored.run.finished = None;
        stored.run.status = RunStatus::Interrupted;
        let writer = RunWriter::reopen(self, &stored.run, folder, lock)?;
        Ok((writer, stored))
    }

    /// Folds what killed writers left and removes what they had not begun to show. What fails here fails again, with
    /// its reason, when somebody reads or recovers that run.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(self.runs_folder()) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let abandoned = name.starts_with(STAGING_PREFIX) && !is_being_written(&entry.path());
            if abandoned {
                let _ = fs::remove_dir_all(entry.path());
            } else if !name.starts_with('.') && has_journals(&entry.path()) {
                let _ = self.recover(&name);
            }
        }
    }

    /// Folds the journals that a killed writer left in a run.
    ///
    /// # Errors
    /// When there is no such run, it is being written, or the disk is full.
    pub fn recover(&self, id_or_prefix: &str) -> Result<(), StoreError> {
        let id = self.resolve(id_or_prefix)?;
        let folder = self.run_folder(&id);
        let lock_file = folder.join(LOCK_FILE);
        let Some(_lock) = try_lock(&lock_file)? else { return Err(StoreError::UnderWay { id }) };
        folder::fold_all(&folder)?;
        fs::remove_file(&lock_file).map_err(StoreError::system("remove", &lock_file))
    }

    /// All runs, newest first, the damaged ones too.
    ///
    /// # Errors
    /// When the store cannot be read at all.
    pub fn runs(&self) -> Result<Vec<RunListing>, StoreError> {
        listing::list(self)
    }

    /// Reads a run by its name, the beginning of its name if no other run's begins so, or `last`.
    ///
    /// # Errors
    /// When there is no such run, there are several, or its facts cannot be read. Damaged series are no error: what
    /// they lack is in [`StoredRun::damage`].
    pub fn read(&self, id_or_prefix: &str) -> Result<StoredRun, StoreError> {
        let id = self.resolve(id_or_prefix)?;
        reader::read(&id, &self.run_folder(&id))
    }

    /// The facts of a run alone, as they were written last: of a phase that is under way they hold no totals.
    ///
    /// # Errors
    /// When there is no such run, or its facts cannot be read.
    pub fn facts(&self, id_or_prefix: &str) -> Result<Run, StoreError> {
        listing::facts(&self.run_folder(&self.resolve(id_or_prefix)?).join(RUN_FILE))
    }

    /// Makes the index again from the runs.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn rebuild_index(&self) -> Result<(), StoreError> {
        index::rebuild(self)
    }

    fn resolve(&self, name: &str) -> Result<String, StoreError> {
        let none = || StoreError::NoSuchRun { name: name.into(), folder: self.folder.clone() };
        if name == "last" {
            let newest = self.runs()?.into_iter().find(|run| run.damage.is_none());
            return newest.map(|run| run.id).ok_or_else(none);
        }
        let folders = run_folders(&self.runs_folder())?;
        if folders.iter().any(|(id, _)| id == name) {
            return Ok(name.into());
        }
        let begins_so = |id: &String| !name.is_empty() && id.starts_with(name);
        let mut candidates: Vec<_> = folders.into_iter().map(|(id, _)| id).filter(begins_so).collect();
        match candidates.len() {
            0 => Err(none()),
            1 => Ok(candidates.remove(0)),
            _ => Err(StoreError::Ambiguous { prefix: name.into(), candidates }),
        }
    }
}

/// Whether a run can have this name. Nothing that can leads out of a folder.
pub fn is_run_name(name: &str) -> bool {
    check_id(name).is_ok()
}

/// Of more records nobody looks at all while the run goes on: what is not in the page cache any more would have to be read from a drive
/// that may be the one that is measured. A day of slices, and far less than the page cache of any machine that measures drives.
pub const LOOK_AGAIN_BYTES_MAX: u64 = 128 << 20;

/// How much the folder of a run holds.
pub fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).sum()
}

/// Reads the run in a folder, which may be under way and not have its name yet.
///
/// # Errors
/// When its facts cannot be read.
pub fn read_folder(folder: &Path) -> Result<StoredRun, StoreError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    reader::read(name.trim_start_matches(STAGING_PREFIX), folder)
}

fn check_id(id: &str) -> Result<(), StoreError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    let begins_well = id.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let sound = begins_well && id.len() <= ID_BYTES_MAX && id.bytes().all(fits) && id != "last";
    if sound { Ok(()) } else { Err(StoreError::BadId { id: id.into() }) }
}

fn is_complete(folder: &Path) -> bool {
    listing::facts(&folder.join(RUN_FILE)).is_ok_and(|run| run.status == RunStatus::Complete)
}

fn has_journals(folder: &Path) -> bool {
    folder::parts(folder).is_ok_and(|parts| parts.values().any(|part| part.journal))
}
