//! A block device or a regular file, open for reading.

use super::identity::Identity;
use super::system_call::{self, AlignedBuffer};
use crate::error::IoError;
use model::request::Status;
use model::target::TargetFacts;
use model::units::KIB;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

pub const SIZE_MIN: u64 = 64 * KIB;

/// A disk that has lost one of two surfaces fails at all of so many places once in 256 times; each may take half a minute.
const ANSWERING_PLACES: u64 = 8;

/// Its descriptor cannot write: the kernel refuses.
#[derive(Debug)]
pub struct Target {
    pub(super) facts: TargetFacts,
    pub(super) path: PathBuf,
    pub(super) descriptor: OwnedFd,
    pub(super) identity: Identity,
    pub(super) direct: bool,
    pub(super) memory_alignment: usize,
    pub(super) disks: Vec<PathBuf>,
    pub(super) confirmation: String,
}

impl Target {
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    pub fn identity(&self) -> Identity {
        self.identity
    }

    pub fn is_direct(&self) -> bool {
        self.direct
    }

    pub fn memory_alignment(&self) -> usize {
        self.memory_alignment
    }

    /// The folders of the whole disks under it in `/sys/block`, for their counters; none in memory or on a network.
    pub fn disks(&self) -> &[PathBuf] {
        &self.disks
    }

    /// Whether the drive has gone away since it was opened: the kernel makes the size of the device zero and takes the
    /// disk off its list. Of several disks only the first counts: a volume may do without one.
    pub fn is_gone(&self) -> bool {
        let is_device = matches!(self.identity, Identity::Device { .. });
        if is_device && !matches!(system_call::device_size(self.descriptor()), Ok(1..)) {
            return true;
        }
        matches!(self.disks.as_slice(), [disk] if !disk.exists())
    }

    /// Whether at least one of [`ANSWERING_PLACES`] places spread over it can be read: what holds a drive may go on
    /// listing it, with its size, when the drive is dead, and answers everything with the error of a bad block.
    pub(crate) fn answers_anywhere(&self) -> bool {
        let block = self.facts.logical_block.get().max(1);
        let last_block = (self.facts.capacity.get() / block).saturating_sub(1);
        let mut buffer = AlignedBuffer::new(block as usize);
        for place in 0..ANSWERING_PLACES {
            let index = u128::from(last_block) * u128::from(place) / u128::from(ANSWERING_PLACES - 1);
            let offset = index as u64 * block;
            debug_assert!(offset <= last_block * block, "a place lies in the target");
            if is_answer(system_call::read_at(self.descriptor(), &mut buffer, offset)) {
                return true;
            }
        }
        false
    }

    /// What must be typed to let it be written to: the serial number of the drive, or the path where there is none.
    pub fn confirmation(&self) -> &str {
        &self.confirmation
    }

    /// Reads whole blocks, past the page cache where the target allows that.
    ///
    /// # Errors
    /// When it cannot be read, or ends before.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), IoError> {
        let mut buffer = AlignedBuffer::new(into.len());
        let read = match system_call::read_at(self.descriptor(), &mut buffer, offset) {
            Ok(read) if read < into.len() => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        IoError::at("read", &self.path, read)?;
        into.copy_from_slice(&buffer);
        Ok(())
    }

    /// A second descriptor for reading through the page cache. Close it before you ask for a permit on a file.
    pub fn buffered_descriptor(&self) -> Result<OwnedFd, IoError> {
        match system_call::reopen(self.descriptor(), libc::O_RDONLY) {
            Ok(descriptor) => Ok(descriptor),
            Err(source) => {
                let object = format!("{} through the page cache", self.path.display());
                Err(IoError::system("open", object, source))
            }
        }
    }
}

fn is_answer(read: io::Result<usize>) -> bool {
    let error = match read {
        Ok(bytes) => return bytes > 0,
        Err(error) => error,
    };
    let Some(code) = error.raw_os_error() else { return true };
    // What the system refuses before it asks the drive says nothing of the drive.
    !matches!(
        Status::from_errno(code),
        Status::MediumError | Status::DeviceGone | Status::TimedOut | Status::Other(_)
    )
}
