//! Files that a command wrote, for scripts: `--json` of `report`, `export` and `sim new`.

use super::{output, output_file};
use crate::error::UserError;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Schema `drivescope.written/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.written/1")]
pub(super) struct WrittenDocument {
    /// Names of the runs that the files hold.
    runs: Vec<String>,
    files: Vec<FileDocument>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FileDocument {
    path: PathBuf,
    format: String,
    /// Unknown where it went into a pipe.
    bytes: Option<u64>,
    /// Of a table, without its header.
    rows: Option<u64>,
}

/// What was written, noted as it is.
#[derive(Default)]
pub struct Written {
    runs: Vec<String>,
    files: Vec<(PathBuf, Option<u64>)>,
}

impl Written {
    pub fn add_run(&mut self, id: &str) {
        if !self.runs.iter().any(|run| run == id) {
            self.runs.push(id.to_owned());
        }
    }

    pub fn add_file(&mut self, path: &Path) {
        self.files.push((path.to_owned(), None));
    }

    pub fn count_rows(&mut self, path: &Path, rows: u64) {
        if let Some(file) = self.files.iter_mut().find(|file| file.0 == path) {
            file.1 = Some(rows);
        }
    }

    /// Writes the document, once all files are complete.
    pub fn give(self, format: &str, json: Option<&Path>) -> Result<(), UserError> {
        let Some(json) = json else { return Ok(()) };
        let mut files = Vec::new();
        for (path, rows) in self.files {
            let facts = fs::metadata(&path).ok().filter(fs::Metadata::is_file);
            let bytes = facts.map(|facts| facts.len());
            files.push(FileDocument { path, format: format.to_owned(), bytes, rows });
        }
        let document = WrittenDocument { runs: self.runs, files };
        output::write_or_print(&output::json(&document), json)
    }
}

/// Refuses a place for the document that cannot take it, before anything is written to `output`.
pub fn check(json: Option<&Path>, output: &Path) -> Result<(), UserError> {
    let Some(json) = json else { return Ok(()) };
    if json == Path::new("-") && output == Path::new("-") {
        return Err(UserError::usage(
            "--json and --output both go to standard output. Name a file for one of them",
        ));
    }
    if json == output {
        return Err(UserError::usage("--json and --output name the same file. Name two"));
    }
    output_file::must_take_result(json, &[output])
}
