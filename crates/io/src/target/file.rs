//! Regular files as targets, and the opening that files and devices share.

use super::facts::DriveFacts;
use super::identity::{DeviceNumber, FileNumber, Identity};
use super::stack::{FilePlace, Stack};
use super::sysfs::SystemRoots;
use super::{SIZE_MIN, Target, system_call};
use crate::error::IoError;
use model::target::{Caveat, TargetFacts, TargetKind};
use model::units::Bytes;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// What a target can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A block device.
    Device,
    /// A regular file.
    File,
}

/// Something that was opened for reading.
pub(super) struct Opened {
    pub kind: Kind,
    pub descriptor: OwnedFd,
    pub status: libc::stat,
    pub direct: bool,
}

/// Opens for reading, direct where that can be had.
pub(super) fn open_for_reading(path: &Path) -> Result<Opened, IoError> {
    // Without O_NONBLOCK the open of a FIFO would wait for a writer.
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY;
    let (descriptor, direct) = match system_call::open(path, flags | libc::O_DIRECT) {
        Ok(descriptor) => (descriptor, true),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            (system_call::open(path, flags).map_err(|error| explain(path, error))?, false)
        }
        // Sockets cannot be opened, not even to see what they are.
        Err(_) if std::fs::metadata(path).is_ok_and(|status| status.file_type().is_socket()) => {
            return Err(IoError::Unsuitable {
                target: path.into(),
                why: "it is a socket. Name a device or a regular file; `drivescope list` shows the drives"
                    .into(),
            });
        }
        Err(error) => return Err(explain(path, error)),
    };
    let status = system_call::status(descriptor.as_fd())
        .map_err(|source| IoError::system("look at", path.display().to_string(), source))?;
    let refuse = |why: &str| Err(IoError::Unsuitable { target: path.into(), why: why.into() });
    // It would make io_uring answer EAGAIN where it otherwise waits.
    system_call::make_blocking(descriptor.as_fd())
        .map_err(|source| IoError::system("set up", path.display().to_string(), source))?;
    let kind = match status.st_mode & libc::S_IFMT {
        libc::S_IFBLK => Kind::Device,
        libc::S_IFREG => Kind::File,
        libc::S_IFDIR => {
            return refuse("it is a directory. Name a file or a device, or let a scratch file be made in it");
        }
        libc::S_IFCHR => {
            return refuse(
                "it is a character device, which has no places to read from. `drivescope list` shows the drives",
            );
        }
        libc::S_IFIFO => {
            return refuse(
                "it is a pipe. Name a device or a regular file; `drivescope list` shows the drives",
            );
        }
        _ => return refuse("it is neither a block device nor a regular file"),
    };
    Ok(Opened { kind, descriptor, status, direct })
}

fn explain(path: &Path, source: io::Error) -> IoError {
    let code = source.raw_os_error();
    let error = IoError::system("open", path.display().to_string(), source);
    match code {
        Some(libc::ENOENT) => error.with_hint("Nothing is there; `drivescope list` shows the drives"),
        Some(libc::EACCES) => {
            error.with_hint("Run as root, or add yourself to the group disk: `sudo usermod -aG disk $USER`")
        }
        Some(libc::EPERM) => {
            error.with_hint("Run as root. If you do, a container or a security policy keeps it from you")
        }
        Some(libc::ELOOP) => error.with_hint("Its symbolic links lead in a circle"),
        Some(libc::ENXIO) => error.with_hint("No drive is behind this device"),
        Some(libc::ENOMEDIUM) => error.with_hint("No medium is in the drive"),
        _ => error,
    }
}

/// Checks that there is enough of it.
pub(super) fn check_size(path: &Path, size: u64) -> Result<(), IoError> {
    let why = match size {
        0 => "it is empty. Name a file with data, or a folder for a scratch file".to_owned(),
        size if size < SIZE_MIN => {
            format!(
                "it holds {size} bytes, and less than {} say nothing of a drive. Name a larger file, or a folder for \
                 a scratch file",
                Bytes(SIZE_MIN)
            )
        }
        _ => return Ok(()),
    };
    Err(IoError::Unsuitable { target: path.into(), why })
}

/// The target for an opened file.
pub(super) fn target(path: &Path, opened: Opened) -> Result<Target, IoError> {
    let size = opened.status.st_size as u64;
    check_size(path, size)?;
    let number =
        FileNumber { file_system: DeviceNumber::from_raw(opened.status.st_dev), inode: opened.status.st_ino };
    let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID | libc::STATX_DIOALIGN;
    let status = system_call::extended_status(opened.descriptor.as_fd(), mask)
        .map_err(|source| IoError::system("look at", path.display().to_string(), source))?;
    let tells = |field: libc::c_uint| status.stx_mask & field != 0;
    let place = FilePlace {
        mount_id: tells(libc::STATX_MNT_ID).then_some(status.stx_mnt_id),
        file_system: number.file_system,
    };
    let stack = Stack::of_file(&SystemRoots::live(), &place);
    let below = stack.drives.first();
    let told = (tells(libc::STATX_DIOALIGN) && status.stx_dio_offset_align > 0)
        .then_some((status.stx_dio_offset_align, status.stx_dio_mem_align));
    let (logical_block, memory_alignment) = match told {
        Some((offset, memory)) => (Bytes(u64::from(offset)), memory as usize),
        // tmpfs and FUSE tell nothing and take anything; 512 is the least that any drive takes.
        None if below.is_none() => (Bytes(512), 512),
        None => (Bytes(4096), 4096),
    };
    let physical_block = below
        .and_then(|disk| disk.number_attribute("queue/physical_block_size"))
        .map_or(logical_block, |size| Bytes(size).max(logical_block));
    let capacity = Bytes(size).round_down_to(logical_block);
    let mut layers = stack.layers.clone();
    if let Some(file) = layers.first_mut().filter(|_| capacity.0 != size) {
        *file += &format!(" (its last {} bytes, less than a block, are left out)", size - capacity.0);
    }
    check_size(path, capacity.0)?;
    let mut caveats = stack.caveats.clone();
    if !opened.direct {
        caveats.push(Caveat::NotDirect);
    }
    let shape = Shape { kind: TargetKind::File, capacity, logical_block, physical_block };
    let facts = facts_of(path, shape, stack.only_drive().unwrap_or_default(), layers, caveats);
    Ok(Target {
        confirmation: facts.path.clone(),
        disks: stack.drives.iter().map(|disk| Path::new("/sys/block").join(&disk.name)).collect(),
        facts,
        path: path.into(),
        descriptor: opened.descriptor,
        identity: Identity::File(number),
        direct: opened.direct,
        memory_alignment,
    })
}

/// The sizes of a target.
pub(super) struct Shape {
    pub kind: TargetKind,
    pub capacity: Bytes,
    pub logical_block: Bytes,
    pub physical_block: Bytes,
}

/// Everything that is known of a target, in one.
pub(super) fn facts_of(
    path: &Path,
    shape: Shape,
    drive: DriveFacts,
    stack: Vec<String>,
    caveats: Vec<Caveat>,
) -> TargetFacts {
    TargetFacts {
        kind: shape.kind,
        path: path.display().to_string(),
        capacity: shape.capacity,
        logical_block: shape.logical_block,
        physical_block: shape.physical_block,
        model: drive.model,
        serial: drive.serial,
        firmware: drive.firmware,
        rotational: drive.rotational,
        link: drive.link,
        scheduler: drive.scheduler,
        read_ahead: drive.read_ahead,
        write_cache: drive.write_cache,
        discard_max: drive.discard_max,
        zoned: drive.zoned,
        stack,
        caveats,
    }
}
