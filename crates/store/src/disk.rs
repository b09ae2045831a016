//! Files that are there as a whole or not at all, and how they are made lasting.

use crate::error::{StoreError, is_out_of_time};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The ending of a file that is being made. Readers pass over it.
pub(crate) const PARTIAL: &str = "partial";

/// The name under which a file is made before it gets its own.
pub(crate) fn partial_path(path: &Path) -> PathBuf {
    with_more_ending(path, ".partial")
}

fn with_more_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Whether a file must outlive a power cut, or only the end of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    PowerCut,
    /// With the kernel: nothing is sent to a drive that may be the one that is measured.
    Kill,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncExtent {
    /// The data, and what is needed to read them.
    Data,
    File,
}

/// Makes a file lasting. It may give up with an error of kind `TimedOut` and no number when the program is to end: what
/// was written is then with the kernel, where it outlives the program, and nobody is kept waiting for a busy disk.
pub type SyncFile = fn(&File, SyncExtent) -> io::Result<()>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Disk {
    pub sync: SyncFile,
}

impl Default for Disk {
    fn default() -> Disk {
        Disk { sync: sync_and_wait }
    }
}

fn sync_and_wait(file: &File, extent: SyncExtent) -> io::Result<()> {
    match extent {
        SyncExtent::Data => file.sync_data(),
        SyncExtent::File => file.sync_all(),
    }
}

impl Disk {
    /// What was not lasting in time is written all the same.
    pub(crate) fn sync_in_time(self, file: &File, extent: SyncExtent) -> io::Result<()> {
        match (self.sync)(file, extent) {
            Err(error) if is_out_of_time(&error) => Ok(()),
            synced => synced,
        }
    }

    /// Writes a file so that a reader, or a power cut if it must outlive one, finds the old content or the new.
    pub(crate) fn write_whole(self, path: &Path, content: &[u8], lasting: Lasting) -> Result<(), StoreError> {
        let partial = partial_path(path);
        if let Err(source) = self.write_partial(&partial, content, lasting) {
            // A full disk must not also keep the half that was written; the first error is the one to report.
            let _ = fs::remove_file(&partial);
            return Err(StoreError::system("write", path)(source));
        }
        match lasting {
            Lasting::PowerCut => self.rename(&partial, path),
            Lasting::Kill => fs::rename(&partial, path).map_err(StoreError::system("write", path)),
        }
    }

    fn write_partial(self, path: &Path, content: &[u8], lasting: Lasting) -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(content)?;
        match lasting {
            Lasting::PowerCut => self.sync_in_time(&file, SyncExtent::File),
            Lasting::Kill => Ok(()),
        }
    }

    pub(crate) fn rename(self, from: &Path, to: &Path) -> Result<(), StoreError> {
        fs::rename(from, to).map_err(StoreError::system("write", to))?;
        self.sync_folder(to.parent().unwrap_or(Path::new(".")))
    }

    pub(crate) fn sync_folder(self, folder: &Path) -> Result<(), StoreError> {
        let opened = File::open(folder).map_err(StoreError::system("sync", folder))?;
        self.sync_in_time(&opened, SyncExtent::File).map_err(StoreError::system("sync", folder))
    }

    /// Puts `new` in the place of `old` in one step; `old` is then at `new`.
    ///
    /// Where the file system cannot exchange two folders (NFS, some FUSE), there are two steps, and after a power cut
    /// between them the old folder is found under its name with the ending `.old`.
    pub(crate) fn exchange_folders(self, new: &Path, old: &Path) -> Result<(), StoreError> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        let parent = old.parent().unwrap_or(Path::new("."));
        if renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).is_ok() {
            return self.sync_folder(parent);
        }
        // Not a name of the store's own, which the next writer would sweep away.
        let aside = with_more_ending(old, ".old");
        fs::rename(old, &aside).map_err(StoreError::system("replace", old))?;
        if let Err(source) = fs::rename(new, old) {
            fs::rename(&aside, old).map_err(StoreError::system("put back", old))?;
            return Err(StoreError::system("replace", old)(source));
        }
        fs::rename(&aside, new).map_err(StoreError::system("move away", &aside))?;
        self.sync_folder(parent)
    }
}
