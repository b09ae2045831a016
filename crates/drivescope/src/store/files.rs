//! Files that are there as a whole or not at all.

use super::error::{StoreError, is_out_of_time};
use crate::interrupt;
use ::io::flushing::{Extent, Flushing, LOOK_EVERY, PATIENCE_AT_THE_END};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The ending of a file that is being made. Readers pass over it.
pub(super) const PARTIAL: &str = "partial";

/// The name under which a file is made before it gets its own.
pub(super) fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(PARTIAL);
    name.into()
}

/// Whether a file must outlive a power cut, or only the end of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasting {
    /// Synced to the drive.
    PowerCut,
    /// With the kernel: nothing is sent to a drive that may be the one that is measured.
    Kill,
}

/// Makes a file lasting. When the program is to end, nobody is kept waiting for a busy disk: what was written is then with the kernel,
/// where it outlives the program.
///
/// # Errors
/// What the system says; `TimedOut` when the program is to end and the disk is not done.
pub(super) fn sync(file: &File, extent: Extent) -> io::Result<()> {
    let is_too_late =
        || interrupt::asked_for().is_some_and(|asked| asked.as_nanos() >= PATIENCE_AT_THE_END.0.into());
    let too_late =
        || io::Error::new(io::ErrorKind::TimedOut, "the disk was not done when the program was to end");
    if is_too_late() {
        return Err(too_late());
    }
    let mut flushing = Flushing::begin(file.as_fd(), extent);
    loop {
        match flushing.wait(LOOK_EVERY) {
            Some(outcome) => return outcome.map(|_| ()),
            None if is_too_late() => return Err(too_late()),
            None => {}
        }
    }
}

/// What was not lasting in time is written all the same.
pub(super) fn unless_out_of_time(synced: io::Result<()>) -> io::Result<()> {
    synced.or_else(|error| if is_out_of_time(&error) { Ok(()) } else { Err(error) })
}

/// Writes a file so that a reader finds the old content or the new, and nothing between; so does a power cut, if the
/// file must outlive one.
pub(super) fn write_whole(path: &Path, content: &[u8], lasting: Lasting) -> Result<(), StoreError> {
    let partial = partial_path(path);
    let written = File::create(&partial).and_then(|mut file| {
        file.write_all(content)?;
        if lasting == Lasting::PowerCut { unless_out_of_time(sync(&file, Extent::File)) } else { Ok(()) }
    });
    if let Err(source) = written {
        // A full disk must not also keep the half that was written; the first error is the one to report.
        let _ = fs::remove_file(&partial);
        return Err(StoreError::system("write", path)(source));
    }
    match lasting {
        Lasting::PowerCut => rename_lasting(&partial, path),
        Lasting::Kill => fs::rename(&partial, path).map_err(StoreError::system("write", path)),
    }
}

/// Renames, and makes the new name lasting.
pub(super) fn rename_lasting(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to).map_err(StoreError::system("write", to))?;
    sync_folder(to.parent().unwrap_or(Path::new(".")))
}

/// Makes the names in a folder lasting.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let synced = File::open(folder).and_then(|folder| unless_out_of_time(sync(&folder, Extent::File)));
    synced.map_err(StoreError::system("sync", folder))
}

/// Puts `new` in the place of `old` in one step; `old` is then at `new`.
///
/// Where the file system cannot exchange two folders (NFS, some FUSE), there are two steps, and after a power cut
/// between them the old folder is found under its name with the ending `.old`.
pub(super) fn exchange_folders(new: &Path, old: &Path) -> Result<(), StoreError> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let parent = old.parent().unwrap_or(Path::new("."));
    if renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).is_ok() {
        return sync_folder(parent);
    }
    // Not a name of the store's own, which the next writer would sweep away.
    let mut aside = old.as_os_str().to_owned();
    aside.push(".old");
    let aside = PathBuf::from(aside);
    fs::rename(old, &aside).map_err(StoreError::system("replace", old))?;
    if let Err(source) = fs::rename(new, old) {
        fs::rename(&aside, old).map_err(StoreError::system("put back", old))?;
        return Err(StoreError::system("replace", old)(source));
    }
    fs::rename(&aside, new).map_err(StoreError::system("move away", &aside))?;
    sync_folder(parent)
}
