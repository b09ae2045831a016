//! Folders of our own that a killed run left. One is taken for ours only if its name, its owner, its permissions and its mark say so,
//! and nobody holds its lock. Links are never followed, and in a folder for all (`/tmp`) what belongs to another user is not touched.

use super::system_call;
use super::workspace::{MARK, Mark, PREFIX, Removal, Workspace, mark_of, open_folder};
use crate::error::IoError;
use crate::targets::system_call as target_call;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

#[derive(Debug)]
pub struct Leftover {
    workspace: Workspace,
    pub name: String,
}

impl Leftover {
    pub fn remove(self, tell: &mut dyn FnMut(u64)) -> Removal {
        self.workspace.remove(tell)
    }
}

pub fn leftovers(path: &Path) -> Result<Vec<Leftover>, IoError> {
    let directory = open_folder(path)?;
    let entries = IoError::at("look for leftovers in", path, target_call::entries_of(directory.as_fd()))?;
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.as_bytes().starts_with(PREFIX.as_bytes()) {
            found.extend(take_over(directory.as_fd(), &name));
        }
    }
    Ok(found)
}

fn take_over(directory: BorrowedFd<'_>, name: &OsStr) -> Option<Leftover> {
    let text = name.to_str()?.to_string();
    let name = CString::new(name.as_bytes()).ok()?;
    let folder = system_call::open_at(directory, &name, libc::O_RDONLY | libc::O_DIRECTORY).ok()?;
    let status = target_call::status(folder.as_fd()).ok()?;
    let is_for_us_alone = status.st_uid == rustix::process::geteuid().as_raw() && status.st_mode & 0o077 == 0;
    if !is_for_us_alone {
        return None;
    }
    let mark = match mark_of(folder.as_fd()).ok()? {
        Mark::Made(mark) if system_call::try_lock(mark.as_fd()).ok()? => Some(mark),
        // Killed before its mark was whole, or after it had removed it; unless it is just about to make it.
        Mark::Unmade if !is_alive(&text) && has_no_more_than_a_mark(folder.as_fd())? => None,
        _ => return None,
    };
    let directory = directory.try_clone_to_owned().ok()?;
    Some(Leftover { workspace: Workspace::taken_over(directory, name, folder, mark), name: text })
}

fn has_no_more_than_a_mark(folder: BorrowedFd<'_>) -> Option<bool> {
    let mut entries = target_call::entries_of(folder).ok()?;
    Some(entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().as_bytes() == MARK.to_bytes())))
}

/// Whether the process that made a folder of that name may still be there: it counts only where there is no lock, as numbers recur.
fn is_alive(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let process = rest.split('-').next().unwrap_or_default();
    !process.is_empty() && Path::new("/proc").join(process).join("stat").exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const NOBODY: u32 = u32::MAX;

    fn folder_of_ours(inside: &Path, mark: &str) -> std::path::PathBuf {
        let folder = inside.join(format!("{PREFIX}{NOBODY}-0123456789abcdef"));
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(folder.join("mark"), mark).unwrap();
        folder
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_nothing_else() {
        let inside = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("f0000000001"), "somebody's").unwrap();
        let folder = folder_of_ours(inside.path(), super::super::workspace::MARK_TEXT);
        fs::create_dir(folder.join("d00000")).unwrap();
        fs::write(folder.join("d00000/f0000000001"), "ours").unwrap();
        symlink(elsewhere.path().join("f0000000001"), folder.join("d00000/f0000000002")).unwrap();
        fs::write(inside.path().join("letter"), "somebody's").unwrap();
        let mut found = leftovers(inside.path()).unwrap();
        let removal = found.pop().expect("it is found").remove(&mut |_| {});
        assert_eq!(removal, Removal { files: 2, left: Vec::new() });
        assert!(!folder.exists() && inside.path().join("letter").exists());
        assert!(elsewhere.path().join("f0000000001").exists(), "the link went away, not what it led to");
    }

    #[test]
    fn what_is_none_of_ours_stays() {
        let inside = tempfile::tempdir().unwrap();
        let folder = folder_of_ours(inside.path(), "something else\n");
        assert!(leftovers(inside.path()).unwrap().is_empty(), "without our mark");
        fs::write(folder.join("mark"), super::super::workspace::MARK_TEXT).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(leftovers(inside.path()).unwrap().is_empty(), "open to others");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(folder.join("letter"), "somebody's").unwrap();
        let removal = leftovers(inside.path()).unwrap().pop().expect("ours").remove(&mut |_| {});
        assert_eq!(removal.left, ["letter: it is none of drivescope's"]);
        assert!(folder.join("letter").exists());
    }

    #[test]
    fn what_was_killed_while_it_made_its_mark_is_removed() {
        let inside = tempfile::tempdir().unwrap();
        for begun in ["", "A folder of te"] {
            let folder = folder_of_ours(inside.path(), begun);
            fs::write(folder.join("data"), "somebody's").unwrap();
            assert!(leftovers(inside.path()).unwrap().is_empty(), "there is more in it");
            fs::remove_file(folder.join("data")).unwrap();
            let removal = leftovers(inside.path()).unwrap().pop().expect("ours").remove(&mut |_| {});
            assert_eq!(removal, Removal::default());
            assert!(!folder.exists());
        }
        let alive = inside.path().join(format!("{PREFIX}{}-0123456789abcdef", std::process::id()));
        fs::rename(folder_of_ours(inside.path(), ""), &alive).unwrap();
        assert!(leftovers(inside.path()).unwrap().is_empty(), "it may be just about to make it");
    }

    #[test]
    fn a_link_to_somewhere_else_is_not_followed() {
        let inside = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let folder = folder_of_ours(elsewhere.path(), super::super::workspace::MARK_TEXT);
        symlink(&folder, inside.path().join(folder.file_name().unwrap())).unwrap();
        assert!(leftovers(inside.path()).unwrap().is_empty());
    }

    #[test]
    fn a_folder_that_is_in_use_is_left_alone() {
        let inside = tempfile::tempdir().unwrap();
        let workspace = Workspace::make(inside.path()).unwrap();
        assert!(leftovers(inside.path()).unwrap().is_empty());
        drop(workspace);
        assert_eq!(fs::read_dir(inside.path()).unwrap().count(), 0);
    }
}
