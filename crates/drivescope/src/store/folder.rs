//! One run's folder: which parts its series have, their checksums, its lock, and the folding of journals.

use super::error::StoreError;
use super::files::{PARTIAL, partial_path, sync, sync_folder};
use super::format::{FileForm, SeriesKind};
use super::segment::{Fingerprint, publish, write_partial};
use ::io::flushing::Extent;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The facts of a run, as a document of schema `drivescope.run/1`.
pub(super) const RUN_FILE: &str = "run.json";
/// Locked (flock) by the process that writes the run; the kernel unlocks it when the process ends, however it ends.
pub(super) const LOCK_FILE: &str = "writer.lock";
/// One line for each segment: CRC-32 in hexadecimal, size in bytes, name. The last line of a name counts.
pub(super) const CHECKSUM_FILE: &str = "checksums.txt";

/// In which forms one part of a series is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// As a segment.
    pub segment: bool,
    /// As a journal.
    pub journal: bool,
}

/// The parts of each series, by number.
pub(super) type Parts = BTreeMap<(SeriesKind, u32), Part>;

/// Lists the parts of the series in a run's folder. What is no part of a series is passed over.
pub(super) fn parts(folder: &Path) -> Result<Parts, StoreError> {
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

/// The checksums that are known; a line that cannot be read is passed over, and its segment then has none.
pub(super) fn checksums(folder: &Path) -> HashMap<String, Fingerprint> {
    let text = fs::read(folder.join(CHECKSUM_FILE)).unwrap_or_default();
    let line = |line: &[u8]| {
        let mut words = str::from_utf8(line).ok()?.split(' ');
        let crc32 = u32::from_str_radix(words.next()?, 16).ok()?;
        let bytes = words.next()?.parse().ok()?;
        Some((words.next()?.to_owned(), Fingerprint { crc32, bytes }))
    };
    text.split(|&byte| byte == b'\n').filter_map(line).collect()
}

/// Rewrites one journal as the segment of its number and removes it. A kill at any moment leaves the journal, or the
/// segment, or both with the same content.
pub(super) fn fold(folder: &Path, kind: SeriesKind, number: u32) -> Result<(), StoreError> {
    let journal = folder.join(kind.journal_name(number));
    let name = kind.segment_name(number);
    let segment = folder.join(&name);
    if let Some(fingerprint) = write_partial(&journal, &segment, kind)? {
        let published = note_checksum(folder, &name, fingerprint).and_then(|()| publish(&segment));
        if let Err(error) = published {
            // A full disk must not also keep a segment that nobody reads; its journal is still there.
            let _ = fs::remove_file(partial_path(&segment));
            return Err(error);
        }
    }
    fs::remove_file(&journal).map_err(StoreError::system("remove", &journal))
}

fn note_checksum(folder: &Path, name: &str, fingerprint: Fingerprint) -> Result<(), StoreError> {
    let path = folder.join(CHECKSUM_FILE);
    let Fingerprint { crc32, bytes } = fingerprint;
    let noted = File::options().append(true).create(true).open(&path).and_then(|mut file| {
        // It begins on a new line, whatever a full disk left of the last one.
        let gap = if file.metadata()?.len() == 0 { "" } else { "\n" };
        file.write_all(format!("{gap}{crc32:08x} {bytes} {name}").as_bytes())?;
        sync(&file, Extent::Data)
    });
    noted.map_err(StoreError::system("write", &path))
}

/// Folds the journals that a killed writer left. The caller holds the lock.
pub(super) fn fold_all(folder: &Path) -> Result<(), StoreError> {
    remove_partials(folder)?;
    let checksums = checksums(folder);
    for ((kind, number), part) in parts(folder)? {
        let name = kind.segment_name(number);
        let sound = part.segment
            && checksums
                .get(&name)
                .is_some_and(|noted| Fingerprint::of(&folder.join(&name)).is_ok_and(|found| found == *noted));
        if part.journal && sound {
            let journal = folder.join(kind.journal_name(number));
            fs::remove_file(&journal).map_err(StoreError::system("remove", &journal))?;
        } else if part.journal {
            fold(folder, kind, number)?;
        }
    }
    sync_folder(folder)
}

fn remove_partials(folder: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(folder).map_err(StoreError::system("read", folder))?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == PARTIAL) {
            fs::remove_file(&path).map_err(StoreError::system("remove", &path))?;
        }
    }
    Ok(())
}

/// Whether a process writes this run now. A reader asks with a shared lock, which readers do not keep from each other.
pub(super) fn is_being_written(folder: &Path) -> bool {
    File::open(folder.join(LOCK_FILE))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Takes a lock file; none when another process has it.
pub(super) fn try_lock(path: &Path) -> Result<Option<File>, StoreError> {
    let file = open_lock(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(StoreError::system("lock", path)(source)),
    }
}

/// Takes a lock file, and waits for it if need be.
pub(super) fn wait_for_lock(path: &Path) -> Result<File, StoreError> {
    let file = open_lock(path)?;
    file.lock().map_err(StoreError::system("lock", path))?;
    Ok(file)
}

fn open_lock(path: &Path) -> Result<File, StoreError> {
    let opened = File::options().read(true).write(true).create(true).truncate(false).open(path);
    opened.map_err(StoreError::system("write", path))
}

/// The folders that may hold runs, by name. Names that begin with a dot are the store's own.
pub(super) fn run_folders(runs: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(runs).map_err(StoreError::system("read", runs))? {
        let entry = entry.map_err(StoreError::system("read", runs))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && entry.path().is_dir() {
            folders.push((name, entry.path()));
        }
    }
    folders.sort();
    Ok(folders)
}
