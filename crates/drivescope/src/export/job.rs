//! What an export is, and what it works with.

use crate::error::UserError;
use model::run::Run;
use model::target::TargetKind;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use store::StoredRun;
use store::table::Table;

#[derive(Debug)]
pub struct Export {
    pub name: &'static str,
    pub ending: Option<&'static str>,
    pub about: &'static str,
    pub write: fn(&dyn ExportJob) -> Result<(), UserError>,
}

#[derive(Debug)]
pub enum Goal {
    Standard,
    File(PathBuf),
    Folder(PathBuf),
}

impl Goal {
    pub fn of(path: &Path) -> Goal {
        if path == Path::new("-") {
            Goal::Standard
        } else if path.is_dir() || (path.extension().is_none() && !path.exists()) {
            Goal::Folder(path.to_owned())
        } else {
            Goal::File(path.to_owned())
        }
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        match self {
            Goal::Standard => None,
            Goal::File(path) => Some(path.clone()),
            Goal::Folder(folder) => Some(folder.join(name)),
        }
    }
}

pub trait ExportJob {
    fn goal(&self) -> &Goal;
    fn names(&self) -> &[String];
    fn table(&self) -> Table;
    fn read(&self, name: &str) -> Result<StoredRun, UserError>;
    /// Begins a file, whose folder is made, or standard output; `what` is for people: "the table".
    fn begin(&self, path: Option<&Path>, what: &'static str) -> Result<Box<dyn ExportFile>, UserError>;
    fn count_rows(&self, path: &Path, rows: u64);
    /// The error of a failed write, for a person. A reader that has gone away, such as `head`, is no error.
    fn failed(&self, path: Option<&Path>, what: &'static str, error: &io::Error) -> Result<(), UserError>;
    fn say(&self, text: &str);
}

pub trait ExportFile: Write + Send {
    fn finish(self: Box<Self>) -> Result<(), UserError>;
}

pub fn give(job: &dyn ExportJob, text: &str, name: &str) -> Result<(), UserError> {
    write_text(job, job.goal().path(name).as_deref(), text)
}

pub fn write_text(job: &dyn ExportJob, path: Option<&Path>, text: &str) -> Result<(), UserError> {
    let what = "the export";
    let mut file = job.begin(path, what)?;
    match file.write_all(text.as_bytes()) {
        Ok(()) => file.finish(),
        Err(error) => job.failed(path, what, &error),
    }
}

pub fn all_runs(job: &dyn ExportJob) -> Result<Vec<Run>, UserError> {
    let mut runs = Vec::new();
    for name in job.names() {
        runs.push(job.read(name)?.run);
    }
    Ok(runs)
}

pub fn started_s(run: &Run) -> Option<u64> {
    if run.target.kind == TargetKind::Sim {
        return None;
    }
    let stamp: jiff::Timestamp = run.started.parse().ok()?;
    u64::try_from(stamp.as_second()).ok()
}
