//! A folder of our own inside the folder that is measured. All work happens in it, and it goes away with all that is in it: at the
//! end, on Ctrl-C, on an error. After a kill the next run finds it by its mark: see `leftovers`.

use super::file_name::is_ours;
use super::system_call;
use crate::error::IoError;
use crate::targets::file_place::file_system_of;
use crate::targets::identity::DeviceNumber;
use crate::targets::scratch;
use crate::targets::system_call as target_call;
use model::units::{Bytes, Instant, Nanos};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What the name of our folder begins with; process and random digits follow.
pub(super) const PREFIX: &str = ".drivescope-files-";
/// The file in our folder that says what it is, and that is locked while it is used.
pub(super) const MARK: &CStr = c"mark";
pub(super) const MARK_TEXT: &str =
    "A folder of test files. It holds no user data; the next drivescope run here removes it.\n";
/// The large file of tasks in blocks, and that of tasks by bytes.
pub(super) const DATA: &CStr = c"data";
pub(super) const BYTES: &CStr = c"bytes";
/// While something is written, the room is looked at this often.
const LOOK_EVERY: Nanos = Nanos::from_millis(40);
/// How often somebody who waits for a removal hears of it, in files.
const TELL_EVERY: u64 = 10_000;
/// A removal goes over a folder again while entries come up that a file system hid because others were removed meanwhile.
const PASSES_MAX: u32 = 1000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFacts {
    pub file_system: String,
    pub device: DeviceNumber,
    pub size: Bytes,
    pub available: Bytes,
}

pub fn folder_facts(path: &Path) -> Result<FolderFacts, IoError> {
    let folder = open_folder(path)?;
    let (file_system, number) = explained("look at", path, file_system_of(folder.as_fd()))?;
    let room = explained("look at", path, target_call::file_system_room(folder.as_fd()))?;
    Ok(FolderFacts {
        file_system,
        device: number.file_system,
        size: Bytes::new(room.size),
        available: Bytes::new(room.available),
    })
}

pub fn memory_bytes() -> Option<Bytes> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(Bytes::new(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)?))
}

pub(super) fn open_folder(path: &Path) -> Result<OwnedFd, IoError> {
    explained("open the folder", path, target_call::open(path, libc::O_RDONLY | libc::O_DIRECTORY))
}

/// A folder of our own. It is removed when it is dropped.
#[derive(Debug)]
pub struct Workspace {
    directory: OwnedFd,
    name: CString,
    folder: OwnedFd,
    mark: Option<File>,
    is_removed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    pub files: u64,
    /// What was left since it is none of ours, or since it could not be removed: sentences.
    pub left: Vec<String>,
}

impl Workspace {
    pub fn make(path: &Path) -> Result<Workspace, IoError> {
        explained("make a folder in", path, Workspace::make_in(open_folder(path)?))
    }

    fn make_in(directory: OwnedFd) -> io::Result<Workspace> {
        if target_call::file_system_room(directory.as_fd())?.is_read_only {
            return Err(io::Error::from_raw_os_error(libc::EROFS));
        }
        let name = format!("{PREFIX}{}-{:016x}", std::process::id(), scratch::random()?);
        let name = CString::new(name).expect("digits have no zero byte");
        system_call::make_folder_at(directory.as_fd(), &name)?;
        let opened = system_call::open_at(directory.as_fd(), &name, libc::O_RDONLY | libc::O_DIRECTORY);
        let folder = match opened {
            Ok(folder) => folder,
            Err(error) => {
                let _ = system_call::remove_folder_at(directory.as_fd(), &name);
                return Err(error);
            }
        };
        let mut workspace = Workspace { directory, name, folder, mark: None, is_removed: false };
        workspace.mark = Some(workspace.make_mark()?);
        Ok(workspace)
    }

    /// One that a killed run left. `mark` is locked by us.
    pub(super) fn taken_over(
        directory: OwnedFd,
        name: CString,
        folder: OwnedFd,
        mark: Option<File>,
    ) -> Workspace {
        // Nothing goes away unless somebody says so.
        Workspace { directory, name, folder, mark, is_removed: true }
    }

    fn make_mark(&self) -> io::Result<File> {
        let mut mark = File::from(self.create(MARK)?);
        // Where nobody can lock, nobody takes the folder for one that was left either.
        let _ = system_call::try_lock(mark.as_fd());
        mark.write_all(MARK_TEXT.as_bytes())?;
        Ok(mark)
    }

    fn create(&self, name: &CStr) -> io::Result<OwnedFd> {
        system_call::open_at(self.folder(), name, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)
    }

    pub(super) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// A file that is large enough to show what lies below the folder. The next task that writes removes it.
    pub fn probe_path(&self, bytes: Bytes) -> io::Result<std::path::PathBuf> {
        self.remove_file(DATA)?;
        let mut file = File::from(self.create(DATA)?);
        file.write_all(&vec![0x5a; bytes.get() as usize])?;
        file.sync_data()?;
        Ok(format!("/proc/self/fd/{}/data", self.folder.as_raw_fd()).into())
    }

    pub(super) fn room(&self) -> Room<'_> {
        Room { folder: self.folder(), next: Instant::START }
    }

    pub(super) fn open_folders(&self, count: u32) -> io::Result<Vec<OwnedFd>> {
        let mut folders = Vec::new();
        for number in 0..count.max(1) {
            let flags = libc::O_RDONLY | libc::O_DIRECTORY;
            folders.push(system_call::open_at(self.folder(), &folder_name(number), flags)?);
        }
        Ok(folders)
    }

    pub(super) fn fresh(&self, name: &CStr) -> io::Result<File> {
        self.remove_file(name)?;
        self.create(name).map(File::from)
    }

    /// Empty folders for small files. Files that were left there, since there was no time to remove them all, go away.
    pub(super) fn fresh_folders(&self, count: u32) -> io::Result<()> {
        for number in 0..count.max(1) {
            let name = folder_name(number);
            match self.remove_folder(&name, &mut Removal::default(), &mut |_| {}) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => system_call::make_folder_at(self.folder(), &name)?,
            }
        }
        Ok(())
    }

    fn remove_file(&self, name: &CStr) -> io::Result<()> {
        match system_call::remove_at(self.folder(), name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes it with all that is in it; `tell` hears now and then how many files are gone.
    pub fn remove(mut self, tell: &mut dyn FnMut(u64)) -> Removal {
        self.is_removed = false;
        self.remove_all(tell)
    }

    fn remove_all(&mut self, tell: &mut dyn FnMut(u64)) -> Removal {
        let mut removal = Removal::default();
        if std::mem::replace(&mut self.is_removed, true) {
            return removal;
        }
        for _ in 0..PASSES_MAX {
            let gone = self.remove_once(&mut removal, tell);
            if gone == 0 {
                break;
            }
        }
        if removal.left.is_empty()
            && let Err(error) = self.remove_emptied()
        {
            removal.left.push(format!("the folder itself: {error}"));
        }
        self.mark = None;
        removal
    }

    fn remove_emptied(&self) -> io::Result<()> {
        self.remove_file(MARK)?;
        system_call::remove_folder_at(self.directory.as_fd(), &self.name)
    }

    fn remove_once(&self, removal: &mut Removal, tell: &mut dyn FnMut(u64)) -> u64 {
        let before = removal.files;
        let mut folders_gone = 0;
        removal.left.clear();
        let entries = match target_call::entries_of(self.folder()) {
            Ok(entries) => entries,
            Err(error) => {
                removal.left.push(format!("what is in it cannot be listed: {error}"));
                return 0;
            }
        };
        for name in entries.flatten() {
            let name = name.file_name();
            let bytes = name.as_bytes();
            let Ok(text) = CString::new(bytes) else { continue };
            let outcome = if bytes == MARK.to_bytes() {
                Ok(())
            } else if bytes == DATA.to_bytes() || bytes == BYTES.to_bytes() {
                let removed = self.remove_file(&text);
                removal.files += u64::from(removed.is_ok());
                removed
            } else if is_folder_name(bytes) {
                let removed = self.remove_folder(&text, removal, tell);
                folders_gone += u64::from(removed.is_ok());
                removed
            } else {
                Err(io::Error::other("it is none of drivescope's"))
            };
            if let Err(error) = outcome {
                removal.left.push(format!("{}: {error}", name.display()));
            }
        }
        assert!(removal.files >= before, "what is gone does not come back");
        removal.files - before + folders_gone
    }

    /// Removes a folder of small files. It must lie on the same file system: something that was mounted there is none of ours.
    fn remove_folder(&self, name: &CStr, removal: &mut Removal, tell: &mut dyn FnMut(u64)) -> io::Result<()> {
        let folder = system_call::open_at(self.folder(), name, libc::O_RDONLY | libc::O_DIRECTORY)?;
        let is_same =
            target_call::status(folder.as_fd())?.st_dev == target_call::status(self.folder())?.st_dev;
        if !is_same {
            return Err(io::Error::other("something else was mounted there"));
        }
        for entry in target_call::entries_of(folder.as_fd())? {
            let entry = entry?.file_name();
            if !is_ours(entry.as_bytes()) {
                return Err(io::Error::other(format!("{} in it is none of drivescope's", entry.display())));
            }
            system_call::remove_at(folder.as_fd(), &CString::new(entry.as_bytes())?)?;
            removal.files += 1;
            if removal.files.is_multiple_of(TELL_EVERY) {
                tell(removal.files);
            }
        }
        system_call::remove_folder_at(self.folder(), name)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.remove_all(&mut |_| {});
    }
}

#[derive(Debug)]
pub(super) enum Mark {
    Made(File),
    /// There is none, or its text is not whole.
    Unmade,
}

/// The mark of a folder: a regular file with the text that only we write. What is something else is an error.
pub(super) fn mark_of(folder: BorrowedFd<'_>) -> io::Result<Mark> {
    let mut file = match system_call::open_at(folder, MARK, libc::O_RDONLY | libc::O_NONBLOCK) {
        Ok(opened) => File::from(opened),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Mark::Unmade),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    if file.metadata()?.is_file() {
        (&mut file).take(MARK_TEXT.len() as u64 + 1).read_to_string(&mut text)?;
        match MARK_TEXT.strip_prefix(&text) {
            Some("") => return Ok(Mark::Made(file)),
            Some(_) => return Ok(Mark::Unmade),
            None => {}
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

pub(super) fn folder_name(number: u32) -> CString {
    CString::new(format!("d{number:05}")).expect("digits have no zero byte")
}

fn is_folder_name(name: &[u8]) -> bool {
    matches!(name.split_first(), Some((b'd', digits)) if digits.len() >= 5 && digits.iter().all(u8::is_ascii_digit))
}

pub(super) struct Room<'folder> {
    folder: BorrowedFd<'folder>,
    next: Instant,
}

impl Room<'_> {
    pub(super) fn check(&mut self, now: Instant) -> io::Result<()> {
        if now < self.next {
            return Ok(());
        }
        self.next = now + LOOK_EVERY;
        let room = target_call::file_system_room(self.folder)?;
        if room.size > 0 && room.available < room.size / 10 {
            let why = "less than a tenth of the file system is free, and that much must stay free";
            return Err(io::Error::new(io::ErrorKind::StorageFull, why));
        }
        Ok(())
    }
}

fn explained<Given>(
    operation: &'static str,
    path: &Path,
    result: io::Result<Given>,
) -> Result<Given, IoError> {
    IoError::explained(operation, path, result, hint_of)
}

fn hint_of(code: i32) -> Option<&'static str> {
    Some(match code {
        libc::ENOENT => "There is no such folder: make it, or name another one",
        libc::ENOTDIR => "`files` measures in folders: name one, such as the one it is in",
        libc::EACCES | libc::EPERM => "Choose a folder in which you may make files",
        libc::EROFS => "The file system is mounted read-only: choose another folder",
        libc::EDQUOT => "Your quota is used up: remove something, or choose another folder",
        libc::ENOSPC => "The file system is full: make room, or choose another folder",
        libc::ESTALE | libc::ENOTCONN | libc::EIO => {
            "The file system no longer responds: check that it is still mounted"
        }
        _ => return None,
    })
}
