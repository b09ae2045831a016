//! The folder to mount in: fit for it before, and left as it was found.

use super::error::MountError;
use super::system_call;
use rustix::mount::UnmountFlags;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// A folder in which nothing is, made if it was not there.
#[derive(Debug)]
pub(super) struct MountPlace {
    /// Absolute, without links, so that it can be unmounted wherever the program then is.
    pub path: PathBuf,
    made: bool,
}

impl MountPlace {
    pub(super) fn prepare(folder: &Path) -> Result<MountPlace, MountError> {
        let made = match fs::create_dir(folder) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) if error.raw_os_error() == Some(libc::ENOTCONN) => {
                return Err(MountError::Stale(folder.to_owned()));
            }
            Err(error) => {
                let hint = "Name a folder whose parent exists and may be written to";
                return Err(MountError::system("make the folder", folder, error, hint));
            }
        };
        if !made {
            require_fit(folder)?;
        }
        let hint = "Name another folder";
        let path = folder.canonicalize();
        let path = path.map_err(|error| MountError::system("find the folder", folder, error, hint))?;
        Ok(MountPlace { path, made })
    }

    /// Takes the folder away if it was made for the mount, and what is left of a mount that nobody serves.
    pub(super) fn leave(&mut self) {
        let metadata = fs::metadata(&self.path);
        if metadata.is_err_and(|error| error.raw_os_error() == Some(libc::ENOTCONN)) {
            // Where that is not allowed, the next mount there says what to do.
            let _ = system_call::unmount(&self.path, UnmountFlags::DETACH);
        }
        if self.made {
            // Somebody who has put something there since may keep it.
            let _ = fs::remove_dir(&self.path);
            self.made = false;
        }
    }
}

fn require_fit(folder: &Path) -> Result<(), MountError> {
    let seen = |error: io::Error| match error.raw_os_error() {
        Some(libc::ENOTCONN) => MountError::Stale(folder.to_owned()),
        Some(libc::ENOTDIR) => MountError::NotAFolder(folder.to_owned()),
        _ => MountError::system("open the folder", folder, error, "Name another folder"),
    };
    if !fs::metadata(folder).map_err(seen)?.is_dir() {
        return Err(MountError::NotAFolder(folder.to_owned()));
    }
    let open = File::open(folder).map_err(seen)?;
    if system_call::is_mount_point(open.as_fd()).map_err(seen)? {
        return Err(MountError::MountPoint(folder.to_owned()));
    }
    match fs::read_dir(folder).map_err(seen)?.next() {
        Some(_) => Err(MountError::NotEmpty(folder.to_owned())),
        None => Ok(()),
    }
}

impl Drop for MountPlace {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_made_goes_again_and_one_that_was_there_stays() {
        let outer = tempfile::tempdir().unwrap();
        let (new, old) = (outer.path().join("new"), outer.path().join("old"));
        fs::create_dir(&old).unwrap();
        drop(MountPlace::prepare(&new).unwrap());
        drop(MountPlace::prepare(&old).unwrap());
        assert_eq!((new.exists(), old.exists()), (false, true));
    }

    #[test]
    fn what_is_no_empty_folder_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        let file = outer.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(matches!(MountPlace::prepare(outer.path()), Err(MountError::NotEmpty(_))));
        assert!(matches!(MountPlace::prepare(&file), Err(MountError::NotAFolder(_))));
        assert!(matches!(MountPlace::prepare(Path::new("/proc")), Err(MountError::MountPoint(_))));
        let nowhere = outer.path().join("a/b");
        assert!(matches!(MountPlace::prepare(&nowhere), Err(MountError::System { .. })));
    }
}
