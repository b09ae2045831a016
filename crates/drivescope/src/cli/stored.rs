//! Runs from the store, analysed anew: what commands begin with that measure nothing.

use super::output;
use crate::error::UserError;
use crate::lasting;
use crate::store::{self, Store, StoredRun};
use model::run::Run;
use model::target::TargetKind;
use std::io::ErrorKind;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{self, available_parallelism};

fn store_folder(folder: Option<&Path>) -> Result<PathBuf, UserError> {
    match folder {
        Some(folder) => Ok(folder.to_owned()),
        None => Ok(store::default_folder()?),
    }
}

pub(super) fn open_store(folder: Option<&Path>) -> Result<Store, UserError> {
    opened(&store_folder(folder)?)
}

fn opened(folder: &Path) -> Result<Store, UserError> {
    Ok(Store::open(folder)?.with_sync(lasting::sync).with_progress(tell_of_index))
}

/// A thousand runs take half a second. Less is not worth a word.
const RUNS_TOLD: usize = 1000;

fn tell_of_index(read: usize, stale: usize) {
    if stale >= RUNS_TOLD && read.is_multiple_of(RUNS_TOLD) {
        output::say(&format!("read {read} of {stale} runs into the index"));
    }
}

/// The store to read from. A folder without one is left as it is.
pub(super) fn existing_store(folder: Option<&Path>) -> Result<Option<Store>, UserError> {
    let folder = store_folder(folder)?;
    match folder.join("runs").symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        _ => opened(&folder).map(Some),
    }
}

pub(super) fn no_runs(folder: Option<&Path>) -> Result<String, UserError> {
    Ok(format!("no runs in {} yet. Make one: drivescope check .", store_folder(folder)?.display()))
}

pub(super) fn store_with_runs(folder: Option<&Path>) -> Result<Store, UserError> {
    match existing_store(folder)? {
        Some(store) if !store.is_empty()? => Ok(store),
        _ => Err(UserError::failure(no_runs(folder)?)),
    }
}

pub(super) fn analysed(name: &str, store: &Store) -> Result<StoredRun, UserError> {
    let mut stored = store.read(name)?;
    analyse(&mut stored);
    tell_of_damage(&stored);
    Ok(stored)
}

fn tell_of_damage(stored: &StoredRun) {
    for damage in &stored.damage {
        output::say(&damage.to_string());
    }
}

/// The search for limits goes through a run of a million intervals about as long as all detectors.
fn analyse(stored: &mut StoredRun) {
    let run = stored.run.view(&stored.series);
    let findings = thread::scope(|scope| {
        let limits = scope.spawn(|| analysis::limits(&run));
        let detected = analysis::detected(&run);
        let limits = limits.join().unwrap_or_else(|panic| resume_unwind(panic));
        analysis::concluded(&run, limits, detected)
    });
    stored.run.findings = findings;
    stored.damage.extend(stored.series.take_unread());
}

pub(super) fn all_analysed(names: &[String], folder: Option<&Path>) -> Result<Vec<StoredRun>, UserError> {
    let store = store_with_runs(folder)?;
    let mut runs = names.iter().map(|name| store.read(name)).collect::<Result<Vec<_>, _>>()?;
    let threads = available_parallelism().map_or(1, NonZero::get);
    let share = runs.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        for runs in runs.chunks_mut(share) {
            scope.spawn(|| runs.iter_mut().for_each(analyse));
        }
    });
    runs.iter().for_each(tell_of_damage);
    Ok(runs)
}

pub(super) fn drive_name(run: &Run) -> String {
    let is_scratch = run.target.kind == TargetKind::File && run.target.path == ".";
    let path = if is_scratch { "scratch file in ." } else { &run.target.path };
    said(&run.target.model).unwrap_or_else(|| path.to_owned())
}

/// The same for several drives, with the serial number where a name occurs twice.
pub(super) fn drive_names(runs: &[Run]) -> Vec<String> {
    let names: Vec<String> = runs.iter().map(drive_name).collect();
    let is_twice = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let full = runs.iter().zip(&names).map(|(run, name)| match said(&run.target.serial) {
        Some(serial) if is_twice(name) => format!("{name} ({serial})"),
        _ => name.clone(),
    });
    full.collect()
}

fn said(text: &Option<String>) -> Option<String> {
    text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}
