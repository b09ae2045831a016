//! Scratch files: a file of our own in a folder, which may be written to without asking.
//!
//! Where the file system can, the file has no name, so that not even a killed run leaves it behind. It is reserved
//! at once: it cannot fill the file system later, while the drive is being measured.

use super::file::{self, Kind, Opened};
use super::{Target, WritePermit, system_call};
use crate::error::IoError;
use model::target::Caveat;
use model::units::{Bytes, MIB};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// The smallest scratch file that is worth a measurement.
pub const SCRATCH_SIZE_MIN: Bytes = Bytes::from_mib(16);

/// A file of our own, removed when it is dropped.
#[derive(Debug)]
pub struct ScratchFile {
    target: Target,
    permit: WritePermit,
    /// Removes it; none when it never had a name.
    _name: Option<Name>,
}

/// The name of a file that is removed with it.
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
    /// Makes and reserves one in `directory`, of `size_max` or what leaves a tenth of the file system free, in whole
    /// MiB.
    ///
    /// # Errors
    /// When there is no such directory, nothing may be written there, or there is no room for [`SCRATCH_SIZE_MIN`].
    pub fn create(directory: &Path, size_max: Bytes) -> Result<ScratchFile, IoError> {
        let folder = system_call::open(directory, libc::O_RDONLY | libc::O_DIRECTORY)
            .map_err(|source| explain("open the directory", directory, source))?;
        let room = system_call::file_system_room(folder.as_fd())
            .map_err(|source| explain("ask for the room in", directory, source))?;
        let size = scratch_size(room.size, room.available, size_max)
            .map_err(|why| IoError::Unsuitable { target: directory.into(), why })?;
        let (made, name) =
            make(folder, directory).map_err(|source| explain("make a scratch file in", directory, source))?;
        let is_reserved = reserve(made.as_fd(), size)
            .map_err(|source| explain("reserve a scratch file in", directory, source))?;
        let mut target = open(directory, made.as_fd())?;
        if !is_reserved {
            if let Some(file) = target.facts.stack.first_mut() {
                *file +=
                    " (not reserved, since the file system cannot: it takes its room while it is written)";
            }
            target.facts.caveats.push(Caveat::Sparse);
        }
        let flags = libc::O_RDWR | if target.is_direct() { libc::O_DIRECT } else { 0 };
        let writable = system_call::reopen(made.as_fd(), flags)
            .map_err(|source| explain("open the scratch file in", directory, source))?;
        let permit = WritePermit::for_scratch(&target, writable, size.0);
        Ok(ScratchFile { target, permit, _name: name })
    }

    /// The file as a target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The permit to write to it.
    pub fn permit(&self) -> &WritePermit {
        &self.permit
    }
}

/// The size that leaves a tenth of the file system free, or why there is none.
fn scratch_size(file_system: u64, available: u64, size_max: Bytes) -> Result<Bytes, String> {
    if size_max < SCRATCH_SIZE_MIN {
        return Err(format!("a scratch file of {size_max} is too small; it needs {SCRATCH_SIZE_MIN}"));
    }
    let usable = Bytes(available.saturating_sub(file_system.div_ceil(10)));
    let size = size_max.min(usable).round_down_to(Bytes(MIB));
    if size < SCRATCH_SIZE_MIN {
        return Err(format!(
            "the directory has no room: {} MiB of {} MiB are free, a tenth of all must stay free, and a scratch \
             file needs {SCRATCH_SIZE_MIN}. Make room, or choose another directory",
            available / MIB,
            file_system / MIB
        ));
    }
    Ok(size)
}

/// A new file, without a name where that can be had.
fn make(folder: OwnedFd, directory: &Path) -> io::Result<(OwnedFd, Option<Name>)> {
    const OURS_ALONE: libc::mode_t = 0o600;
    // With O_EXCL nobody can give the file a name later.
    match system_call::open_with_mode(directory, libc::O_TMPFILE | libc::O_RDWR | libc::O_EXCL, OURS_ALONE) {
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

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Whether the room was reserved; where the file system cannot do that, the file only gets its size.
fn reserve(file: std::os::fd::BorrowedFd<'_>, size: Bytes) -> io::Result<bool> {
    match system_call::reserve(file, size.0) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => {
            std::fs::File::from(file.try_clone_to_owned()?).set_len(size.0)?;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// The new file, for reading only.
fn open(directory: &Path, made: std::os::fd::BorrowedFd<'_>) -> Result<Target, IoError> {
    let failed = |source| explain("open the scratch file in", directory, source);
    let (descriptor, direct) = match system_call::reopen(made, libc::O_RDONLY | libc::O_DIRECT) {
        Ok(descriptor) => (descriptor, true),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            (system_call::reopen(made, libc::O_RDONLY).map_err(failed)?, false)
        }
        Err(error) => return Err(failed(error)),
    };
    let status = system_call::status(descriptor.as_fd()).map_err(failed)?;
    file::target(directory, Opened { kind: Kind::File, descriptor, status, direct })
}

fn explain(operation: &'static str, directory: &Path, source: io::Error) -> IoError {
    let code = source.raw_os_error();
    let error = IoError::system(operation, directory.display().to_string(), source);
    match code {
        Some(libc::ENOENT) => error.with_hint("Make the directory first"),
        Some(libc::ENOTDIR) => {
            error.with_hint("Name a directory; a file or a device is named as the target itself")
        }
        Some(libc::EACCES | libc::EPERM) => error.with_hint("Choose a directory in which you may make files"),
        Some(libc::EROFS) => {
            error.with_hint("The file system is mounted read-only: choose another directory")
        }
        Some(libc::EDQUOT) => {
            error.with_hint("Your quota does not allow so much: choose a smaller --max-size")
        }
        Some(libc::ENOSPC) => {
            error.with_hint("The file system has less room than it says: choose a smaller --max-size")
        }
        Some(libc::EFBIG) => error.with_hint(
            "The file system or your limits do not allow so large a file: choose a smaller --max-size",
        ),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tenth_stays_free() {
        let gib = 1u64 << 30;
        assert_eq!(scratch_size(100 * gib, 50 * gib, Bytes::from_gib(8)), Ok(Bytes::from_gib(8)));
        assert_eq!(scratch_size(100 * gib, 50 * gib, Bytes::from_gib(80)), Ok(Bytes::from_gib(40)));
        assert!(scratch_size(100 * gib, 10 * gib, Bytes::from_gib(8)).unwrap_err().contains("no room"));
        assert!(scratch_size(100 * gib, 50 * gib, Bytes::from_mib(15)).is_err());
    }

    proptest! {
        #[test]
        fn what_is_left_is_never_less_than_a_tenth(
            all in 0u64..1 << 50, share in 0.0f64..=1.0, size_max in 0u64..1 << 50
        ) {
            let available = (all as f64 * share) as u64;
            if let Ok(size) = scratch_size(all, available, Bytes(size_max)) {
                prop_assert!(available - size.0 >= all / 10);
                prop_assert!(size.0 <= size_max && size.0 % MIB == 0 && size >= SCRATCH_SIZE_MIN);
            }
        }
    }
}
