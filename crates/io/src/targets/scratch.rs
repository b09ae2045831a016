//! Scratch files: a file of our own in a folder, which may be written to without asking.
//!
//! Where the file system can, the file has no name, so that not even a killed run leaves it behind. It is reserved
//! at once: it cannot fill the file system later, while the drive is being measured.

use super::file::{self, Kind, Opened};
use super::permit::WritePermit;
use super::system_call;
use super::target::Target;
use crate::error::IoError;
use model::commit::{CommitMethod, Commits, Log};
use model::target::Caveat;
use model::units::{Bytes, MIB};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

pub const SCRATCH_SIZE_MIN: Bytes = Bytes::from_mib(16);

/// How much is reserved at once: small enough that the free room is looked at in time.
const RESERVATION_STEP: Bytes = Bytes::from_mib(64);

/// How large a scratch file may get, and what has to stay free for other files beside it.
#[derive(Clone, Copy, Debug)]
pub struct ScratchSize {
    pub max: Bytes,
    pub beside: Bytes,
}

impl From<Bytes> for ScratchSize {
    fn from(max: Bytes) -> ScratchSize {
        ScratchSize { max, beside: Bytes::ZERO }
    }
}

#[derive(Debug)]
pub struct ScratchFile {
    target: Target,
    permit: WritePermit,
    _name: Option<Name>,
}

#[derive(Debug)]
struct Name {
    directory: OwnedFd,
    name: OsString,
}

impl Drop for Name {
    fn drop(&mut self) {
        // Nobody is left to tell, and the name says what the file is.
        let _ = system_call::remove(self.directory.as_fd(), &self.name);
    }
}

impl ScratchFile {
    /// Makes and reserves one in `directory`, in whole MiB: that size, or what leaves a tenth of the room free.
    pub fn create(directory: &Path, size: impl Into<ScratchSize>) -> Result<ScratchFile, IoError> {
        ScratchFile::create_between(directory, size.into(), || {})
    }

    /// One that is only looked at, to say what would be done: nothing is reserved, and nothing may be written to it.
    pub fn planned(directory: &Path, size: ScratchSize) -> Result<Target, IoError> {
        let (folder, size) = look(directory, size)?;
        let (made, _name) = explained("make a scratch file in", directory, make(folder))?;
        set_length(made.as_fd(), directory, size)?;
        let mut target = open(directory, made.as_fd())?;
        // It would be reserved.
        target.facts.caveats.retain(|caveat| *caveat != Caveat::Sparse);
        Ok(target)
    }

    /// Makes one, and calls `measured` between the look at the room and the reservation, so that a test can take it.
    fn create_between(
        directory: &Path,
        size: ScratchSize,
        measured: impl FnOnce(),
    ) -> Result<ScratchFile, IoError> {
        let (folder, size) = look(directory, size)?;
        measured();
        let (made, name) = explained("make a scratch file in", directory, make(folder))?;
        let is_reserved = reserve(made.as_fd(), directory, size)?;
        let mut target = open(directory, made.as_fd())?;
        if !is_reserved {
            if let Some(file) = target.facts.stack.first_mut() {
                *file += " (not preallocated: the file system cannot)";
            }
            target.facts.caveats.push(Caveat::Sparse);
        }
        let flags = libc::O_RDWR | if target.is_direct() { libc::O_DIRECT } else { 0 };
        let writable = system_call::reopen(made.as_fd(), flags);
        let writable = explained("open the scratch file in", directory, writable)?;
        let permit = WritePermit::for_scratch(&target, writable, size.get());
        Ok(ScratchFile { target, permit, _name: name })
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    pub fn permit(&self) -> &WritePermit {
        &self.permit
    }

    /// A log of that length beside it, for commits of `write`. It is as much ours, and gone with its descriptor.
    pub fn log(&self, size: Bytes, write: Bytes, commits: Commits) -> Result<LogFile, IoError> {
        let directory = self.target.path();
        let made = make_log(directory, size, write, commits);
        explained("make a log file in", directory, made)
    }
}

/// A file of ours that commits go to, through the page cache as a database's log.
#[derive(Debug)]
pub struct LogFile {
    descriptor: OwnedFd,
    _name: Option<Name>,
}

impl LogFile {
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn make_log(directory: &Path, size: Bytes, write: Bytes, commits: Commits) -> io::Result<LogFile> {
    let (made, name) = make(system_call::open(directory, libc::O_RDONLY | libc::O_DIRECTORY)?)?;
    match commits.log {
        Log::Extend | Log::Target => {}
        Log::Preallocated => system_call::reserve(made.as_fd(), 0, size.get())?,
        Log::Overwrite | Log::OverwriteEach => {
            let mut file = std::fs::File::from(made.try_clone()?);
            // As a log that commits have filled: the page cache keeps what one call writes as one folio, and a commit
            // into a folio of 1 MiB takes 10 µs longer than into one of its own size (ext4 of Linux 6.18).
            let zeroes = vec![0; write.get() as usize];
            let mut left = size.get();
            while left > 0 {
                let part = left.min(write.get());
                io::Write::write_all(&mut file, &zeroes[..part as usize])?;
                left -= part;
            }
            file.sync_all()?;
        }
    }
    let descriptor = match commits.method {
        CommitMethod::OpenDsync => system_call::reopen(made.as_fd(), libc::O_RDWR | libc::O_DSYNC)?,
        _ => made,
    };
    Ok(LogFile { descriptor, _name: name })
}

fn look(directory: &Path, size: ScratchSize) -> Result<(OwnedFd, Bytes), IoError> {
    let folder = system_call::open(directory, libc::O_RDONLY | libc::O_DIRECTORY);
    let folder = explained("open the directory", directory, folder)?;
    let room = system_call::file_system_room(folder.as_fd());
    let room = explained("ask for the room in", directory, room)?;
    match scratch_bytes(room.size, room.available, size) {
        Ok(size) => Ok((folder, size)),
        Err(why) => Err(IoError::Unsuitable { target: directory.into(), why: why.to_string() }),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum SizeError {
    #[error("a scratch file of {0} is too small; it needs {SCRATCH_SIZE_MIN}")]
    TooSmall(Bytes),
    #[error(
        "the directory has no room: {} MiB of {} MiB are free, a tenth of all must stay free, and a scratch file needs \
         {SCRATCH_SIZE_MIN}{}. Make room, or choose another directory",
        available / MIB, file_system / MIB, and_logs(*beside)
    )]
    NoRoom { available: u64, file_system: u64, beside: Bytes },
}

fn and_logs(beside: Bytes) -> String {
    if beside == Bytes::ZERO { String::new() } else { format!(", with {beside} of log files beside it") }
}

fn scratch_bytes(file_system: u64, available: u64, wanted: ScratchSize) -> Result<Bytes, SizeError> {
    if wanted.max < SCRATCH_SIZE_MIN {
        return Err(SizeError::TooSmall(wanted.max));
    }
    let kept = file_system.div_ceil(10).saturating_add(wanted.beside.get());
    let usable = Bytes::new(available.saturating_sub(kept));
    let size = wanted.max.min(usable).round_down_to(Bytes::new(MIB));
    if size < SCRATCH_SIZE_MIN {
        return Err(SizeError::NoRoom { available, file_system, beside: wanted.beside });
    }
    assert!(size.get() <= available, "a scratch file fits into what is free");
    Ok(size)
}

fn make(folder: OwnedFd) -> io::Result<(OwnedFd, Option<Name>)> {
    const OURS_ALONE: libc::mode_t = 0o600;
    // With O_EXCL nobody can give the file a name later.
    let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_EXCL;
    match system_call::reopen_with_mode(folder.as_fd(), flags, OURS_ALONE) {
        Ok(file) => return Ok((file, None)),
        // The first is the answer of file systems that cannot, the other two that of kernels that cannot.
        Err(error)
            if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT)) => {}
        Err(error) => return Err(error),
    }
    let name = OsString::from(format!(".drivescope-scratch-{}-{:016x}", std::process::id(), random()?));
    let file = system_call::create_in(folder.as_fd(), &name, OURS_ALONE)?;
    Ok((file, Some(Name { directory: folder, name })))
}

pub(crate) fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Whether the room was reserved; where the file system cannot do that, the file only gets its size. It is taken in
/// steps, and after each there must be a tenth left: other programs take room too.
fn reserve(file: BorrowedFd<'_>, directory: &Path, size: Bytes) -> Result<bool, IoError> {
    let mut reserved = Bytes::ZERO;
    while reserved < size {
        let step = RESERVATION_STEP.min(size - reserved);
        match system_call::reserve(file, reserved.get(), step.get()) {
            Ok(()) => reserved += step,
            Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => {
                set_length(file, directory, size)?;
                return Ok(false);
            }
            Err(error) => return explained("reserve a scratch file in", directory, Err(error)),
        }
        assert!(reserved <= size, "no more is reserved than was asked for");
        let room = explained("reserve a scratch file in", directory, system_call::file_system_room(file))?;
        if room.available < room.size / 10 {
            let why = "another program took space during preallocation, and less than a tenth was left. The scratch file was removed; try again, or choose a smaller --max-size";
            return Err(IoError::Unsuitable { target: directory.into(), why: why.into() });
        }
    }
    Ok(true)
}

fn set_length(file: BorrowedFd<'_>, directory: &Path, size: Bytes) -> Result<(), IoError> {
    let file = explained("reserve a scratch file in", directory, file.try_clone_to_owned())?;
    explained("reserve a scratch file in", directory, std::fs::File::from(file).set_len(size.get()))
}

fn open(directory: &Path, made: BorrowedFd<'_>) -> Result<Target, IoError> {
    let opened = explained("open the scratch file in", directory, open_direct_if_possible(made));
    file::target(directory, opened?)
}

fn open_direct_if_possible(made: BorrowedFd<'_>) -> io::Result<Opened> {
    let (descriptor, direct) = match system_call::reopen(made, libc::O_RDONLY | libc::O_DIRECT) {
        Ok(descriptor) => (descriptor, true),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            (system_call::reopen(made, libc::O_RDONLY)?, false)
        }
        Err(error) => return Err(error),
    };
    let status = system_call::status(descriptor.as_fd())?;
    Ok(Opened { kind: Kind::File, descriptor, status, direct })
}

fn explained<Given>(
    operation: &'static str,
    directory: &Path,
    result: io::Result<Given>,
) -> Result<Given, IoError> {
    IoError::explained(operation, directory, result, hint_of)
}

fn hint_of(code: i32) -> Option<&'static str> {
    Some(match code {
        libc::ENOENT => "Make the directory first",
        libc::ENOTDIR => "Name a directory; a file or a device is named as the target itself",
        libc::EACCES | libc::EPERM => "Choose a directory in which you may make files",
        libc::EROFS => "The file system is mounted read-only: choose another directory",
        libc::EDQUOT => "Your quota is too small: choose a smaller --max-size, or another directory",
        libc::ENOSPC => "The file system has less free space than it reports: choose a smaller --max-size",
        libc::EFBIG => {
            "The file system or your limits do not allow so large a file: choose a smaller --max-size"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::loopdev::{Image, LoopDevice, Mounted, alone_with_loop_devices, make_ext4};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tenth_stays_free() {
        let gib = 1u64 << 30;
        let size = |available, max| scratch_bytes(100 * gib, available, Bytes::from_gib(max).into());
        assert_eq!(size(50 * gib, 8), Ok(Bytes::from_gib(8)));
        assert_eq!(size(50 * gib, 80), Ok(Bytes::from_gib(40)));
        let why = size(10 * gib, 8).unwrap_err();
        assert!(why.to_string().contains("no room"));
        assert!(scratch_bytes(100 * gib, 50 * gib, Bytes::from_mib(15).into()).is_err());
    }

    #[test]
    fn room_for_logs_stays_free_beside_it() {
        let with_logs = ScratchSize { max: Bytes::from_gib(8), beside: Bytes::from_mib(128) };
        assert_eq!(scratch_bytes(480 * MIB, 440 * MIB, with_logs), Ok(Bytes::from_mib(264)));
        let why = scratch_bytes(160 * MIB, 150 * MIB, with_logs).unwrap_err().to_string();
        assert!(why.contains("needs 16 MiB, with 128 MiB of log files beside it"), "{why}");
    }

    #[test]
    fn what_is_only_planned_takes_no_room() {
        let folder = tempfile::tempdir().unwrap();
        let size = Bytes::from_mib(64);
        let blocks = |target: &Target| system_call::status(target.descriptor()).unwrap().st_blocks;
        let planned = ScratchFile::planned(folder.path(), size.into()).unwrap();
        assert_eq!((planned.facts().capacity, blocks(&planned)), (size, 0));
        assert!(!planned.facts().caveats.contains(&Caveat::Sparse));
        let made = ScratchFile::create(folder.path(), size).unwrap();
        assert!(
            made.target().facts().caveats.contains(&Caveat::Sparse)
                || blocks(made.target()) >= (64 * MIB / 512) as i64
        );
    }

    #[test]
    fn room_that_is_taken_meanwhile_is_not_taken_twice() {
        let name = "room_that_is_taken_meanwhile_is_not_taken_twice";
        let Some(_alone) = alone_with_loop_devices(name) else { return };
        let image = Image::new(192);
        let device = LoopDevice::over(&image.path);
        make_ext4(&device.path);
        let mounted = Mounted::new(&device.path, "rw");
        let room = || {
            let folder = system_call::open(mounted.place(), libc::O_RDONLY).unwrap();
            system_call::file_system_room(folder.as_fd()).unwrap()
        };
        let size_max = Bytes::from_mib(128);
        let other = system_call::create_in(
            system_call::open(mounted.place(), libc::O_RDONLY).unwrap().as_fd(),
            "other".as_ref(),
            0o600,
        )
        .unwrap();
        let made = ScratchFile::create_between(mounted.place(), size_max.into(), || {
            system_call::reserve(other.as_fd(), 0, 32 * MIB).unwrap();
        });
        let why = made.map(drop).unwrap_err().to_string();
        assert!(why.contains("took space"), "{why}");
        assert!(room().available >= 100 * MIB, "nothing was kept");
    }

    #[test]
    fn a_folder_that_is_exchanged_meanwhile_stays_the_one_that_was_looked_at() {
        let _alone = super::super::loopdev::alone();
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let (folder, moved) = (directory.path().join("folder"), directory.path().join("moved"));
        std::fs::create_dir(&folder).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let made = ScratchFile::create_between(&folder, Bytes::from_mib(16).into(), || {
            std::fs::rename(&folder, &moved).unwrap();
            std::os::unix::fs::symlink(elsewhere.path(), &folder).unwrap();
        });
        let system = |path: &Path| {
            let status = system_call::extended_status_of_path(path, libc::STATX_BASIC_STATS).unwrap();
            (status.stx_dev_major, status.stx_dev_minor)
        };
        let file = system_call::extended_status(made.unwrap().target().descriptor(), libc::STATX_BASIC_STATS);
        let file = file.map(|status| (status.stx_dev_major, status.stx_dev_minor)).unwrap();
        assert_eq!(file, system(&moved), "its room was looked at there");
    }

    proptest! {
        #[test]
        fn what_is_left_is_never_less_than_a_tenth(
            all in 0u64..1 << 50, share in 0.0f64..=1.0, size_max in 0u64..1 << 50
        ) {
            let available = (all as f64 * share) as u64;
            if let Ok(size) = scratch_bytes(all, available, Bytes::new(size_max).into()) {
                prop_assert!(available - size.get() >= all / 10);
                prop_assert!(size.get() <= size_max && size.get() % MIB == 0 && size >= SCRATCH_SIZE_MIN);
            }
        }
    }
}
