//! Why the store cannot do something: the operation, the object, the cause, the next command.

use report::json::DocumentError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Why the store cannot do something. What was written before stays where it is.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A call to the system failed.
    #[error("cannot {operation} {}: {source}. {}", path.display(), advice(operation, source))]
    System {
        /// What was tried, as a verb.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The facts of a run cannot be understood.
    #[error("cannot read {}: {source}. Restore the file from a copy, or delete its folder; `drivescope runs` lists the other runs", path.display())]
    Document {
        /// The `run.json`.
        path: PathBuf,
        /// What is wrong with it.
        source: DocumentError,
    },
    /// A segment of a series cannot be understood.
    #[error("cannot read {}: {why}. Restore the file from a copy; the rest of the run can be read", path.display())]
    Segment {
        /// The segment.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A segment of a series cannot be made.
    #[error("cannot write {}: {why}. Its records are kept in the journal beside it; `--store DIR` chooses another folder", path.display())]
    SegmentWrite {
        /// The segment.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// No run has that name.
    #[error("no run in {} is called {name:?}; `drivescope runs` lists them", folder.display())]
    NoSuchRun {
        /// What was asked for.
        name: String,
        /// Where.
        folder: PathBuf,
    },
    /// Several runs have names that begin so.
    #[error("{prefix:?} is the beginning of {} runs: {}; give more of the name", candidates.len(), candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Whose names begin so.
        candidates: Vec<String>,
    },
    /// The name of a run cannot be the name of a folder.
    #[error(
        "{id:?} cannot name a run: a name has 1 to 128 letters, digits, and '.', '_', '-' or '+', and begins with a letter or digit"
    )]
    BadId {
        /// The name.
        id: String,
    },
    /// A run of a real target is never replaced.
    #[error(
        "a run {id} is stored already, and a measurement is never overwritten; `drivescope show {id}` shows it"
    )]
    Exists {
        /// The name.
        id: String,
    },
    /// Another process writes it.
    #[error("run {id} is being written by another drivescope; wait for it to end, or stop it with Ctrl-C")]
    UnderWay {
        /// The name.
        id: String,
    },
    /// A complete run has nothing left to do.
    #[error("run {id} is complete, so there is nothing to resume; `drivescope show {id}` shows it")]
    Complete {
        /// The name.
        id: String,
    },
    /// The index of runs failed. It can be made again from the runs.
    #[error("cannot use the index {}: {source}. Delete the file; the next `drivescope runs` makes it again", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// There is no place for a store.
    #[error(
        "cannot tell where to keep runs: neither XDG_DATA_HOME nor HOME holds an absolute path. Give a folder with `--store DIR`"
    )]
    NoFolder,
}

/// Of a server that does not answer the system says the same, with a number.
pub(super) fn is_out_of_time(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::TimedOut && error.raw_os_error().is_none()
}

impl StoreError {
    /// Whether nothing is wrong but that the program was to end before a busy disk was done.
    pub(super) fn is_out_of_time(&self) -> bool {
        matches!(self, StoreError::System { source, .. } if is_out_of_time(source))
    }

    /// Makes the error of a failed call out of what the system said.
    pub(super) fn system(operation: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
        move |source| StoreError::System { operation, path: path.to_owned(), source }
    }

    /// Whether a file is simply not there.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, StoreError::System { source, .. } if source.kind() == ErrorKind::NotFound)
    }
}

/// The likely cause and the next step.
fn advice(operation: &str, source: &std::io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::NotFound if operation == "make" => {
            "No folder can be made there; choose another one with `--store DIR`"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "All records written before are kept. Free some space, or choose another folder with `--store DIR`"
        }
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            "Choose a folder that you may write to with `--store DIR`"
        }
        ErrorKind::NotFound => "`drivescope runs` lists what is stored",
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "A file is where a folder should be; choose another folder with `--store DIR`"
        }
        _ => "If it stays so, choose another folder with `--store DIR`",
    }
}
