//! `drivescope export`: runs in the forms that other programs read.

use super::args::ExportArguments;
use super::output;
use super::output_file::{OutputFile, must_be_no_drive, writing};
use super::stored::{analysed, store_with_runs};
use super::written::{self, Written};
use crate::error::{Cannot, UserError, exit};
use crate::export::{EXPORTS, Export, ExportFile, ExportJob, Goal};
use report::hostile::harmless;
use std::cell::RefCell;
use std::io::{self, Stdout, Write};
use std::path::Path;
use store::table::Table;
use store::{Store, StoredRun};

pub fn run(arguments: &ExportArguments, store: Option<&Path>) -> Result<u8, UserError> {
    must_be_no_drive(&arguments.output)?;
    let Some(export) = arguments.format.or_else(|| Export::of_path(&arguments.output)) else {
        return Err(unclear());
    };
    written::check(arguments.json.as_deref(), &arguments.output)?;
    let store = store_with_runs(store)?;
    let names = if arguments.all { all_runs(&store)? } else { arguments.runs.clone() };
    let written = write(store, names, arguments.table, export, &arguments.output)?;
    written.give(export.name, arguments.json.as_deref())?;
    Ok(exit::SUCCESS)
}

pub fn write_file(
    names: &[String],
    store: Option<&Path>,
    export: &Export,
    path: &Path,
) -> Result<Written, UserError> {
    write(store_with_runs(store)?, names.to_vec(), Table::Findings, export, path)
}

fn write(
    store: Store,
    names: Vec<String>,
    table: Table,
    export: &Export,
    path: &Path,
) -> Result<Written, UserError> {
    let job = Job { store, names, table, goal: Goal::of(path), written: RefCell::default() };
    (export.write)(&job)?;
    Ok(job.written.into_inner())
}

fn unclear() -> UserError {
    let mut names: Vec<&str> = EXPORTS.iter().map(|export| export.name).collect();
    let last = names.pop().unwrap_or_default();
    UserError::usage(format!(
        "cannot tell what to write: say it with --format {} or {last}. Example: drivescope export last --format csv -o results",
        names.join(", ")
    ))
}

fn all_runs(store: &Store) -> Result<Vec<String>, UserError> {
    // The oldest first, as people read tables; what cannot be read is said, and the others are written.
    let mut names = Vec::new();
    for listing in store.runs()?.into_iter().rev() {
        match listing.damage {
            Some(damage) => output::say(&format!("{} is left out: {damage}", listing.id)),
            None => names.push(listing.id),
        }
    }
    if names.is_empty() {
        return Err(UserError::failure("there are no runs to export. Make one: drivescope check ."));
    }
    Ok(names)
}

struct Job {
    store: Store,
    names: Vec<String>,
    table: Table,
    goal: Goal,
    written: RefCell<Written>,
}

impl ExportJob for Job {
    fn goal(&self) -> &Goal {
        &self.goal
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn table(&self) -> Table {
        self.table
    }

    fn read(&self, name: &str) -> Result<StoredRun, UserError> {
        let stored = analysed(name, &self.store)?;
        self.written.borrow_mut().add_run(&stored.run.id);
        Ok(stored)
    }

    fn begin(&self, path: Option<&Path>, what: &'static str) -> Result<Box<dyn ExportFile>, UserError> {
        let Some(path) = path else { return Ok(Box::new(io::stdout())) };
        if let (Goal::Folder(_), Some(folder)) = (&self.goal, path.parent()) {
            let shown = harmless(&folder.to_string_lossy(), usize::MAX);
            std::fs::create_dir_all(folder).or_cannot(&format!("make the folder {shown}"))?;
        }
        let file = OutputFile::begin(path, what)?;
        self.written.borrow_mut().add_file(path);
        Ok(Box::new(file))
    }

    fn count_rows(&self, path: &Path, rows: u64) {
        self.written.borrow_mut().count_rows(path, rows);
    }

    fn failed(&self, path: Option<&Path>, what: &'static str, error: &io::Error) -> Result<(), UserError> {
        match path {
            Some(path) => Err(error).or_cannot(&writing(path, what)),
            None => output::failed_to_print(error),
        }
    }

    fn say(&self, text: &str) {
        output::say(text);
    }
}

impl ExportFile for Stdout {
    fn finish(mut self: Box<Self>) -> Result<(), UserError> {
        match self.flush() {
            Ok(()) => Ok(()),
            Err(error) => output::failed_to_print(&error),
        }
    }
}

impl ExportFile for OutputFile {
    fn finish(self: Box<Self>) -> Result<(), UserError> {
        OutputFile::finish(*self)
    }
}
