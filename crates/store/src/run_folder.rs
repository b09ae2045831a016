//! One run's folder: which parts its series have, its lock, and the folding of journals.

use crate::disk::{Disk, PARTIAL, partial_path};
use crate::error::StoreError;
use crate::fingerprint::{Fingerprint, checksums, note_checksum};
use crate::lock;
use crate::segment::write_partial;
use crate::series_kind::{FileForm, SeriesKind};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The facts of a run, as a document of schema `drivescope.run/1`.
pub(crate) const RUN_FILE: &str = "run.json";
/// Locked by the process that writes the run; the kernel unlocks it when the process ends, however it ends.
pub(crate) const LOCK_FILE: &str = "writer.lock";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub segment: bool,
    pub journal: bool,
}

pub(crate) type Parts = BTreeMap<(SeriesKind, u32), Part>;

pub(crate) fn parts(folder: &Path) -> Result<Parts, StoreError> {
    let mut parts = Parts::new();
    for entry in fs::read_dir(folder).map_err(StoreError::system("read", folder))? {
        let name = entry.map_err(StoreError::system("read", folder))?.file_name();
        let Some((kind, number, form)) = name.to_str().and_then(SeriesKind::of_file_name) else { continue };
        let part = parts.entry((kind, number)).or_default();
        match form {
            FileForm::Segment => part.segment = true,
            FileForm::Journal => part.journal = true,
        }
    }
    Ok(parts)
}

/// Rewrites one journal as the segment of its number and removes it; killed, it leaves one of them or both alike.
pub(crate) fn fold(disk: Disk, folder: &Path, kind: SeriesKind, number: u32) -> Result<(), StoreError> {
    let journal = folder.join(kind.journal_name(number));
    let name = kind.segment_name(number);
    let segment = folder.join(&name);
    if let Some(fingerprint) = write_partial(disk, &journal, &segment, kind)? {
        let partial = partial_path(&segment);
        let mut published = note_checksum(disk, folder, &name, fingerprint);
        if published.is_ok() {
            published = disk.rename(&partial, &segment);
        }
        if let Err(error) = published {
            // A full disk must not also keep a segment that nobody reads; its journal is still there.
            let _ = fs::remove_file(&partial);
            return Err(error);
        }
    }
    fs::remove_file(&journal).map_err(StoreError::system("remove", &journal))
}

/// Folds the journals that a killed writer left. The caller holds the lock.
pub(crate) fn fold_all(disk: Disk, folder: &Path) -> Result<(), StoreError> {
    debug_assert!(lock::is_held(&folder.join(LOCK_FILE)) || cfg!(test), "who folds holds the lock");
    remove_partials(folder)?;
    let checksums = checksums(folder);
    for ((kind, number), part) in parts(folder)? {
        if !part.journal {
            continue;
        }
        if part.segment && is_sound(folder, &kind.segment_name(number), &checksums) {
            let journal = folder.join(kind.journal_name(number));
            fs::remove_file(&journal).map_err(StoreError::system("remove", &journal))?;
        } else {
            fold(disk, folder, kind, number)?;
        }
    }
    disk.sync_folder(folder)
}

fn is_sound(folder: &Path, name: &str, checksums: &HashMap<String, Fingerprint>) -> bool {
    let noted = checksums.get(name);
    noted.is_some() && noted.copied() == Fingerprint::of(&folder.join(name)).ok()
}

fn remove_partials(folder: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(folder).map_err(StoreError::system("read", folder))?.flatten() {
        let path = entry.path();
        if path.extension() == Some(OsStr::new(PARTIAL)) {
            fs::remove_file(&path).map_err(StoreError::system("remove", &path))?;
        }
    }
    Ok(())
}

pub(crate) fn is_being_written(folder: &Path) -> bool {
    lock::is_held(&folder.join(LOCK_FILE))
}

pub(crate) fn has_journals(folder: &Path) -> bool {
    match parts(folder) {
        Ok(parts) => parts.values().any(|part| part.journal),
        Err(_) => false,
    }
}

/// The folders that may hold runs, by name. Names that begin with a dot are the store's own.
pub(crate) fn run_folders(runs: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(runs).map_err(StoreError::system("read", runs))? {
        let entry = entry.map_err(StoreError::system("read", runs))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        // A link may lead to a folder; of others the folder itself says what they are.
        let is_folder = match entry.file_type() {
            Ok(kind) if !kind.is_symlink() => kind.is_dir(),
            _ => path.is_dir(),
        };
        if is_folder && !name.starts_with('.') {
            folders.push((name, path));
        }
    }
    folders.sort();
    Ok(folders)
}
