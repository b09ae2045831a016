//! Locks that end with their holder, whatever it has started.
//!
//! A lock of an open file (flock) belongs to everything that has inherited the descriptor: between fork and exec a child
//! has them all, and kept such a lock. A record lock (fcntl) belongs to the process alone.
//!
//! It has two weaknesses: the kernel gives it up when its process closes *any* descriptor of the file, and does not keep
//! a process from taking its own lock twice. So the locks of this process are listed in [`HELD`]: a file on the list is
//! not opened again, and what was opened all the same is closed together with the lock.

use crate::error::StoreError;
use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use rustix::process::{Flock, FlockType, fcntl_getlk};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

type Held = BTreeMap<FileIdentity, Vec<Arc<File>>>;

static HELD: Mutex<Held> = Mutex::new(BTreeMap::new());
static RELEASED: Condvar = Condvar::new();

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

/// A lock of this process. It ends when this is dropped, or with the process.
#[derive(Debug)]
pub(crate) struct Lock {
    identity: FileIdentity,
}

impl Lock {
    /// Takes the lock of a file, which is made if need be. None when somebody else has it.
    pub(crate) fn try_take(path: &Path) -> Result<Option<Lock>, StoreError> {
        let mut held = held();
        let Some((lock, file)) = reserve(&mut held, path)? else { return Ok(None) };
        drop(held);
        match fcntl_lock(&*file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(lock)),
            Err(Errno::ACCESS | Errno::AGAIN) => Ok(None),
            Err(error) => Err(StoreError::system("lock", path)(error.into())),
        }
    }

    pub(crate) fn take(path: &Path) -> Result<Lock, StoreError> {
        let mut held = held();
        let (lock, file) = loop {
            match reserve(&mut held, path)? {
                Some(reserved) => break reserved,
                None => held = RELEASED.wait(held).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(held);
        match fcntl_lock(&*file, FlockOperation::LockExclusive) {
            Ok(()) => Ok(lock),
            Err(error) => Err(StoreError::system("lock", path)(error.into())),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let mut held = held();
        let files = held.remove(&self.identity);
        assert!(files.is_some(), "a lock is listed for as long as it lives");
        // While nobody else looks: a descriptor that is closed later could end a lock that was taken since.
        drop(files);
        drop(held);
        RELEASED.notify_all();
    }
}

pub(crate) fn is_held(path: &Path) -> bool {
    let mut held = held();
    match open_unless_held(&mut held, path, File::options().read(true)) {
        Err(_) => false,
        Ok(None) => true,
        Ok(Some((file, _))) => matches!(fcntl_getlk(&file, &Flock::from(FlockType::ReadLock)), Ok(Some(_))),
    }
}

fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lists a lock before the kernel is asked; none where this process has it. Close the file before the lock is dropped.
fn reserve(held: &mut Held, path: &Path) -> Result<Option<(Lock, Arc<File>)>, StoreError> {
    let opened =
        open_unless_held(held, path, File::options().read(true).write(true).create(true).truncate(false));
    let Some((file, identity)) = opened.map_err(StoreError::system("write", path))? else { return Ok(None) };
    let file = Arc::new(file);
    held.insert(identity, vec![Arc::clone(&file)]);
    Ok(Some((Lock { identity }, file)))
}

fn open_unless_held(
    held: &mut Held,
    path: &Path,
    options: &OpenOptions,
) -> io::Result<Option<(File, FileIdentity)>> {
    if let Ok(facts) = fs::metadata(path)
        && held.contains_key(&FileIdentity::of(&facts))
    {
        return Ok(None);
    }
    let file = options.open(path)?;
    let identity = FileIdentity::of(&file.metadata()?);
    if let Some(files) = held.get_mut(&identity) {
        files.push(Arc::new(file));
        return Ok(None);
    }
    Ok(Some((file, identity)))
}

impl FileIdentity {
    fn of(facts: &Metadata) -> FileIdentity {
        FileIdentity { device: facts.dev(), inode: facts.ino() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::{FdFlags, fcntl_setfd};
    use std::io::Read;
    use std::process::{Command, Stdio};
    use std::sync::atomic::{AtomicU32, Ordering};

    /// The child keeps the descriptor for as long as it lives, as every child does until its exec.
    #[test]
    fn a_child_that_inherits_a_lock_does_not_keep_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = Lock::try_take(&path).unwrap().expect("nobody has it");
        let file = Arc::clone(&held()[&lock.identity][0]);
        fcntl_setfd(&*file, FdFlags::empty()).unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        fcntl_setfd(&*file, FdFlags::CLOEXEC).unwrap();
        drop(file);
        assert!(is_held(&path) && Lock::try_take(&path).unwrap().is_none());
        drop(lock);
        let (is_kept, taken) = (is_held(&path), Lock::try_take(&path).unwrap());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!is_kept && taken.is_some());
    }

    #[test]
    fn one_of_many_threads_has_a_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let inside = AtomicU32::new(0);
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..50 {
                        let lock = Lock::take(&path).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        assert!(is_held(&path));
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(!is_held(&path));
    }

    /// The kernel would end the lock when any descriptor of the file is closed: another process must still find it.
    #[test]
    fn a_look_does_not_end_a_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = Lock::try_take(&path).unwrap().expect("nobody has it");
        fs::hard_link(&path, folder.path().join("other name")).unwrap();
        assert!(is_held(&folder.path().join("other name")));
        // With room for all, they are listed by one call to the system. From one call to the next the kernel counts lines, and one is
        // left out when another test has given up a lock before it.
        let mut locks = String::with_capacity(1 << 16);
        File::open("/proc/locks").unwrap().read_to_string(&mut locks).unwrap();
        let inode = format!(":{} ", lock.identity.inode);
        assert!(locks.lines().any(|line| line.contains("POSIX") && line.contains(&inode)), "{locks}");
    }
}
