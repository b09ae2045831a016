//! Why the store cannot do something: the operation, the object, the cause, the next command; and damages of runs.

use crate::document::{DocumentError, READ_WITH_LATER};
use parquet::errors::ParquetError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A call to the system failed; the operation is a verb.
    #[error("cannot {operation} {}: {source}. {}", path.display(), advice(operation, source))]
    System { operation: &'static str, path: PathBuf, source: std::io::Error },
    #[error("cannot read {}: {source}. {}; `drivescope runs` lists the other runs", path.display(), source.remedy())]
    Document { path: PathBuf, source: DocumentError },
    #[error("cannot read {}: {flaw}. {}; the rest of the run can be read", path.display(), flaw.remedy())]
    Segment { path: PathBuf, flaw: SegmentFlaw },
    /// A segment cannot be made of a journal, since what follows the damage may be rescued.
    #[error("cannot write {}: {} is damaged after record {records}. Its records are kept in the journal beside it; `--store DIR` chooses another folder", segment.display(), journal.display())]
    DamagedJournal { segment: PathBuf, journal: PathBuf, records: u64 },
    #[error("no run in {} is called {name:?}; `drivescope runs` lists them", folder.display())]
    NoSuchRun { name: String, folder: PathBuf },
    #[error("{prefix:?} is the beginning of {} runs: {}; give more of the name", candidates.len(), candidates.join(", "))]
    Ambiguous { prefix: String, candidates: Vec<String> },
    /// The name of a run cannot be the name of a folder.
    #[error(
        "{id:?} cannot name a run: a name has 1 to 128 letters, digits, and '.', '_', '-' or '+', and begins with a letter or digit"
    )]
    BadId { id: String },
    /// A run of a real target is never replaced.
    #[error(
        "a run {id} is stored already, and a measurement is never overwritten; `drivescope show {id}` shows it"
    )]
    Exists { id: String },
    #[error("run {id} is being written by another drivescope; wait for it to end, or stop it with Ctrl-C")]
    UnderWay { id: String },
    #[error("run {id} is complete, so there is nothing to resume; `drivescope show {id}` shows it")]
    Complete { id: String },
    /// The index of runs failed. It can be made again from the runs.
    #[error("cannot use the index {}: {source}. Delete the file; the next `drivescope runs` makes it again", path.display())]
    Index { path: PathBuf, source: rusqlite::Error },
    #[error(
        "cannot tell where to keep runs: neither XDG_DATA_HOME nor HOME holds an absolute path. Give a folder with `--store DIR`"
    )]
    NoFolder,
}

#[derive(Debug, thiserror::Error)]
pub enum SegmentFlaw {
    #[error("it does not say its format, so drivescope did not write it")]
    NoFormat,
    #[error("a later drivescope wrote it, in format {0}")]
    LaterFormat(u8),
    #[error("its column {0} is missing or of another type")]
    Column(&'static str),
    #[error("its content was altered after it was written (checksum)")]
    Altered,
    #[error("it has {found} bytes, and {noted} were written")]
    Length { found: u64, noted: u64 },
    #[error("row group {group} claims {rows} rows")]
    Rows { group: usize, rows: i64 },
    #[error("row {row} of row group {group} makes no sense")]
    Row { group: usize, row: usize },
    #[error("its content makes no sense")]
    Content,
    #[error(transparent)]
    Parquet(#[from] ParquetError),
}

impl SegmentFlaw {
    /// What gives the file back, as the beginning of a sentence.
    fn remedy(&self) -> &'static str {
        match self {
            SegmentFlaw::LaterFormat(_) => READ_WITH_LATER,
            _ => "Restore the file from a copy",
        }
    }
}

/// What is missing of a run that can be read, and why.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error("The folder {folder} holds the run {id}; it was renamed.")]
    Renamed { folder: String, id: String },
    #[error("{first} to {last} are missing: what they held is lost, unless you restore them from a copy.")]
    Missing { first: String, last: String },
    #[error("{list} does not list {name}, so its content could not be verified.")]
    Unverified { list: &'static str, name: String },
    #[error("{0}.")]
    Unreadable(StoreError),
    #[error("{0}. Its records were read from its journal instead.")]
    ReadFromJournal(StoreError),
    #[error(
        "{name} is damaged after record {records}: the later ones are lost, unless you restore it from a copy."
    )]
    Journal { name: String, records: u64 },
    #[error(
        "{name} ends within a record, as a kill or a full disk leaves it; the {records} before it are whole."
    )]
    CutJournal { name: String, records: u64 },
}

/// Of a server that does not answer the system says the same, with a number.
pub(crate) fn is_out_of_time(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::TimedOut && error.raw_os_error().is_none()
}

impl StoreError {
    /// Whether nothing is wrong but that the program was to end before a busy disk was done.
    pub(crate) fn is_out_of_time(&self) -> bool {
        matches!(self, StoreError::System { source, .. } if is_out_of_time(source))
    }

    pub(crate) fn system(operation: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
        move |source| StoreError::System { operation, path: path.to_owned(), source }
    }

    pub(crate) fn segment(path: &Path) -> impl Fn(ParquetError) -> StoreError {
        move |error| StoreError::Segment { path: path.to_owned(), flaw: error.into() }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, StoreError::System { source, .. } if source.kind() == ErrorKind::NotFound)
    }
}

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
