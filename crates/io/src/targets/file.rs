//! Regular files as targets, and the opening that files and devices share.

use super::facts::DriveFacts;
use super::identity::{DeviceNumber, FileNumber, Identity};
use super::stack::{FilePlace, Stack};
use super::sysfs::{BlockDevice, SystemRoots};
use super::system_call;
use super::target::{SIZE_MIN, Target};
use crate::error::IoError;
use model::target::{Caveat, TargetFacts, TargetKind};
use model::units::Bytes;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Device,
    File,
}

pub(super) struct Opened {
    pub kind: Kind,
    pub descriptor: OwnedFd,
    pub status: rustix::fs::Stat,
    pub direct: bool,
}

pub(super) fn open_for_reading(path: &Path) -> Result<Opened, IoError> {
    // Without O_NONBLOCK the open of a FIFO would wait for a writer.
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY;
    let (descriptor, direct) = match system_call::open(path, flags | libc::O_DIRECT) {
        Ok(descriptor) => (descriptor, true),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => match system_call::open(path, flags) {
            Ok(descriptor) => (descriptor, false),
            Err(error) => return Err(explain(path, error)),
        },
        // Sockets cannot be opened, not even to see what they are.
        Err(_) if is_socket(path) => {
            let why = "it is a socket. Name a device or a regular file; `drivescope list` shows the drives";
            return Err(IoError::Unsuitable { target: path.into(), why: why.into() });
        }
        Err(error) => return Err(explain(path, error)),
    };
    let status = IoError::at("look at", path, system_call::status(descriptor.as_fd()))?;
    // It would make io_uring answer EAGAIN where it otherwise waits.
    IoError::at("set up", path, system_call::make_blocking(descriptor.as_fd()))?;
    let why = match status.st_mode & libc::S_IFMT {
        libc::S_IFBLK => return Ok(Opened { kind: Kind::Device, descriptor, status, direct }),
        libc::S_IFREG => return Ok(Opened { kind: Kind::File, descriptor, status, direct }),
        libc::S_IFDIR => "it is a directory. Name a file or a device, or let a scratch file be made in it",
        libc::S_IFCHR => "it is a character device, not a block device. `drivescope list` shows the drives",
        libc::S_IFIFO => "it is a pipe. Name a device or a regular file; `drivescope list` shows the drives",
        _ => "it is neither a block device nor a regular file",
    };
    Err(IoError::Unsuitable { target: path.into(), why: why.into() })
}

fn is_socket(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(status) => status.file_type().is_socket(),
        Err(_) => false,
    }
}

fn explain(path: &Path, source: io::Error) -> IoError {
    let code = source.raw_os_error();
    let error = IoError::system("open", path.display().to_string(), source);
    match code {
        Some(libc::ENOENT) if is_hidden_device(path) => {
            let path = path.display();
            error.with_hint(format!(
                "The drive is there, but not its device file: start the container with --device {path}"
            ))
        }
        Some(libc::ENOENT) => error.with_hint("No such file or device; `drivescope list` shows the drives"),
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

/// Whether the kernel has a block device of that name: a container shares its sysfs and has a /dev of its own.
fn is_hidden_device(path: &Path) -> bool {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            folder == Path::new("/dev") && Path::new("/sys/class/block").join(name).exists()
        }
        _ => false,
    }
}

pub(super) fn check_size(path: &Path, size: u64) -> Result<(), IoError> {
    let why = match size {
        0 => "it is empty. Name a file with data, or a folder for a scratch file".to_owned(),
        size if size < SIZE_MIN => {
            format!(
                "it holds {size} bytes, and less than {} say nothing of a drive. Name a larger file, or a folder for \
                 a scratch file",
                Bytes::new(SIZE_MIN)
            )
        }
        _ => return Ok(()),
    };
    Err(IoError::Unsuitable { target: path.into(), why })
}

pub(super) fn target(path: &Path, opened: Opened) -> Result<Target, IoError> {
    let size = opened.status.st_size as u64;
    check_size(path, size)?;
    let number =
        FileNumber { file_system: DeviceNumber::from_raw(opened.status.st_dev), inode: opened.status.st_ino };
    let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID | libc::STATX_DIOALIGN;
    let status = IoError::at("look at", path, system_call::extended_status(opened.descriptor.as_fd(), mask))?;
    let place = FilePlace { file_system: number.file_system, ..FilePlace::of(&status) };
    let stack = Stack::of_file(&SystemRoots::live(), &place);
    let tells_alignment = status.stx_mask & libc::STATX_DIOALIGN != 0 && status.stx_dio_offset_align > 0;
    let (logical_block, memory_alignment) = if tells_alignment {
        (Bytes::new(u64::from(status.stx_dio_offset_align)), status.stx_dio_mem_align as usize)
    } else if stack.drives.is_empty() {
        // tmpfs and FUSE tell nothing and take anything; 512 is the least that any drive takes.
        (Bytes::new(512), 512)
    } else {
        (Bytes::new(4096), 4096)
    };
    let mut physical_block = logical_block;
    if let Some(disk) = stack.drives.first()
        && let Some(size) = disk.number_attribute("queue/physical_block_size")
    {
        physical_block = Bytes::new(size).max(logical_block);
    }
    let capacity = Bytes::new(size).round_down_to(logical_block);
    check_size(path, capacity.get())?;
    let shape = Shape { kind: TargetKind::File, capacity, logical_block, physical_block };
    let mut facts = facts_of(path, shape, stack.only_drive().unwrap_or_default(), &stack);
    if let Some(file) = facts.stack.first_mut()
        && capacity.get() != size
    {
        *file += &format!(" (its last {} bytes, less than a block, are left out)", size - capacity.get());
    }
    if !opened.direct {
        facts.caveats.push(Caveat::NotDirect);
    }
    Ok(Target {
        confirmation: facts.path.clone(),
        disks: stack.drives.iter().map(BlockDevice::folder_of_disk).collect(),
        facts,
        path: path.into(),
        descriptor: opened.descriptor,
        identity: Identity::File(number),
        direct: opened.direct,
        memory_alignment,
    })
}

pub(super) struct Shape {
    pub kind: TargetKind,
    pub capacity: Bytes,
    pub logical_block: Bytes,
    pub physical_block: Bytes,
}

pub(super) fn facts_of(path: &Path, shape: Shape, drive: DriveFacts, stack: &Stack) -> TargetFacts {
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
        stack: stack.layers.clone(),
        stated_layout: stack.stated_layout(),
        caveats: stack.caveats.clone(),
    }
}
