//! Targets: what can be measured, what is known of it, and who may write to it.
//!
//! ```text
//! path ──► Target::open ──► Target: facts, and a descriptor that can only READ
//!              │                │
//!            stack, facts       ├──► survey: who uses it, what it holds ──► listing
//!            (sysfs, mountinfo) │
//!                               └──► WritePermit::grant(consent): the one place where a descriptor
//!                                    that can WRITE is made; it checks while it holds the drive
//! ```
//! Absent: nothing here names a drive by its path. A path is opened once; from then on the numbers of the kernel
//! say what it is.

pub mod content;
mod device;
pub mod facts;
mod file;
pub mod file_place;
pub mod identity;
pub mod listing;
mod loop_device;
mod mapped_volume;
pub mod mounts;
mod openers;
pub(crate) mod page_cache;
mod passthrough;
pub mod permit;
pub mod preserve;
pub mod purge;
pub mod scratch;
pub mod signature;
pub mod stack;
pub mod sysfs;
pub(crate) mod system_call;
mod unsplit;
pub mod usage;
pub mod written;

#[cfg(test)]
#[path = "../../tests/loopdev/mod.rs"]
mod loopdev;
#[cfg(test)]
mod permit_tests;

use crate::error::IoError;
use identity::Identity;
use model::request::Status;
use model::target::TargetFacts;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

pub use content::{ContentProbe, probe_content};
pub use page_cache::{CachedStretch, cached_stretches, drop_page_cache};
pub use permit::{WriteConsent, WritePermit};
pub use scratch::{SCRATCH_SIZE_MIN, ScratchFile};
pub use unsplit::unsplit_bytes_max;
pub use usage::{Obstacle, survey};

/// The smallest target that is worth a question.
pub const SIZE_MIN: u64 = 64 * model::units::KIB;

/// A disk that has lost one of its two surfaces fails at all of so many places once in 256 times; each may take the system
/// half a minute where nothing answers (its usual time limit of a command).
const ANSWERING_PLACES: u64 = 8;

/// A block device or a regular file, open for reading. Its descriptor cannot write: the kernel refuses.
#[derive(Debug)]
pub struct Target {
    facts: TargetFacts,
    path: PathBuf,
    descriptor: OwnedFd,
    identity: Identity,
    direct: bool,
    memory_alignment: usize,
    disks: Vec<PathBuf>,
    confirmation: String,
}

impl Target {
    /// Opens a block device or a regular file for reading, without the page cache where that can be had.
    ///
    /// # Errors
    /// When there is nothing there, it may not be read, it is neither a block device nor a regular file, or it is
    /// smaller than [`SIZE_MIN`].
    pub fn open(path: &Path) -> Result<Target, IoError> {
        let opened = file::open_for_reading(path)?;
        match opened.kind {
            file::Kind::Device => device::target(path, opened),
            file::Kind::File => file::target(path, opened),
        }
    }

    /// What is known of it.
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The descriptor to read through.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Which device or file it is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Whether reads go past the page cache.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// What the address of a buffer must be a multiple of, in bytes.
    pub fn memory_alignment(&self) -> usize {
        self.memory_alignment
    }

    /// The folders of the whole disks under it in `/sys/block`, for their counters; none where it lies in memory or
    /// on a network.
    pub fn disks(&self) -> &[PathBuf] {
        &self.disks
    }

    /// Whether the drive has gone away since it was opened: the descriptor stays, but the kernel makes the size of the
    /// device zero and takes the disk off its list. On several disks only the first of these tells, since a volume
    /// may do without one of them.
    pub fn is_gone(&self) -> bool {
        let is_device = matches!(self.identity, Identity::Device { .. });
        let is_emptied =
            is_device && system_call::device_size(self.descriptor()).map_or(true, |size| size == 0);
        is_emptied || matches!(self.disks.as_slice(), [disk] if !disk.exists())
    }

    /// Whether at least one of [`ANSWERING_PLACES`] places spread over it can be read: whatever holds a drive may go on being
    /// listed, with its size, when the drive behind it is dead, and then answers everything with the error of a bad block.
    pub(crate) fn answers_anywhere(&self) -> bool {
        let block = self.facts.logical_block.0.max(1);
        let blocks = self.facts.capacity.0 / block;
        let mut buffer = system_call::AlignedBuffer::new(block as usize);
        (0..ANSWERING_PLACES).any(|place| {
            let index =
                u128::from(blocks.saturating_sub(1)) * u128::from(place) / u128::from(ANSWERING_PLACES - 1);
            let read = system_call::read_at(self.descriptor(), &mut buffer, index as u64 * block);
            match read.map_err(|error| error.raw_os_error().map(Status::from_errno)) {
                Ok(bytes) => bytes > 0,
                // What the system refuses before it asks the drive says nothing of the drive.
                Err(why) => !matches!(
                    why,
                    Some(Status::MediumError | Status::DeviceGone | Status::TimedOut | Status::Other(_))
                ),
            }
        })
    }

    /// What must be typed to let it be written to: the serial number of the drive, or the path where there is none.
    pub fn confirmation(&self) -> &str {
        &self.confirmation
    }

    /// A second descriptor on the same device or file, for reading through the page cache. Close it before you ask
    /// for a permit on a file: it counts as use.
    pub fn buffered_descriptor(&self) -> Result<OwnedFd, IoError> {
        system_call::reopen(self.descriptor(), libc::O_RDONLY).map_err(|source| {
            IoError::system("open", format!("{} through the page cache", self.path.display()), source)
        })
    }
}
