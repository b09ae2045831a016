//! The permit to write: the one place where a descriptor that can write to what was there before is made.
//! ```text
//! claim (O_RDWR | O_EXCL) ──► same device as the target? ──► does anybody use it? ──► what does it hold?
//!   from here on the kernel lets nobody mount it, swap to it                          ──► is it confirmed?
//!   or build a volume on it, so nothing can come between the check and the write           ──► permit
//! ```
//! The kernel's claim does not keep away loop devices and programs that open the drive without a claim; these are
//! seen by the checks, here and again before each phase. A file cannot be claimed at all: for files the checks
//! are all there is.

use super::identity::{DeviceNumber, FileNumber, Identity, Place};
use super::never_write::{Excluded, NeverWrite};
use super::obstacle::{Obstacle, ObstacleKind};
use super::openers::have_child_before_it_runs_a_program;
use super::sysfs::{BlockDevice, SystemRoots};
use super::target::Target;
use super::usage::use_of;
use super::{signature, system_call};
use crate::error::IoError;
use model::units::MIB;
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("cannot read its identity again: {0}")]
    IdentityUnknown(io::Error),
    #[error("it is not the drive or file that was opened before: it was replaced meanwhile")]
    Replaced,
    #[error("it shrank from {size} to {found} bytes meanwhile")]
    Shrank { size: u64, found: u64 },
    #[error("the layers below it changed meanwhile")]
    LiesElsewhere,
    #[error("cannot read how much space its writes would allocate: {0}")]
    RoomUnknown(io::Error),
    #[error(
        "it is sparse: filling its holes takes {} MiB, and its file system has {} of {} MiB free, of which a tenth must stay free. Free some space, or choose a smaller file",
        missing.div_ceil(MIB), available / MIB, file_system / MIB
    )]
    NoRoom { missing: u64, available: u64, file_system: u64 },
    #[error(transparent)]
    Excluded(#[from] Excluded),
    #[error("{}", sentence(.0))]
    InTheWay(Vec<Obstacle>),
    #[error("{}. To overwrite it, add --destroy-data", sentence(.0))]
    HoldsData(Vec<Obstacle>),
    #[error("it is open in another program, or twice in this one")]
    OpenElsewhere,
    #[error(
        "cannot tell whether another program has it open: {0}. Run as root or as the file's owner, on a file system that supports leases"
    )]
    LeaseUnknown(io::Error),
    #[error(
        "it is in use by an unknown holder: a mount in another mount namespace, a ZFS pool or a program that \
         claimed it. `fuser -v` or `lsof` may tell"
    )]
    ClaimedUnseen,
    #[error("it may not be opened for writing: {0}. Run as root")]
    MayNotOpen(io::Error),
    #[error("it cannot be opened for writing: {0}")]
    CannotOpen(io::Error),
    #[error("{error}; {}", sentence(users))]
    CannotOpenInUse { error: io::Error, users: Vec<Obstacle> },
    #[error("it was not confirmed. {}", confirm_advice(expected))]
    NotConfirmed { expected: String },
    #[error("--confirm {} does not name it. {}", quoted(typed), confirm_advice(expected))]
    OtherConfirmed { typed: String, expected: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteConsent {
    pub destroy_data: bool,
    /// The serial number, or the path where there is none, as it was typed back.
    pub confirm: Option<String>,
}

/// The right to write to one target, and the only descriptor that can. The claim ends when it is dropped.
#[derive(Debug)]
pub struct WritePermit {
    path: PathBuf,
    descriptor: OwnedFd,
    identity: Identity,
    size: u64,
    /// What a volume lies on: its name and number stay when somebody lays it over another drive.
    below: BTreeSet<DeviceNumber>,
    /// A scratch file is ours, and has no name that others could open it by.
    is_ours: bool,
}

impl WritePermit {
    /// Claims the target for us alone, unless it is excluded from writes. Then looks whether anybody uses it, what it
    /// holds, and whether that was agreed to. On a file no other descriptor of this process may be open but the target's.
    /// [`IoError::WriteRefused`] with everything that stands in the way. Nothing was written.
    pub fn grant(
        target: &Target,
        consent: &WriteConsent,
        never_write: &NeverWrite,
    ) -> Result<WritePermit, IoError> {
        grant_between(&SystemRoots::live(), target, consent, never_write, || {})
    }

    /// The permit for a file that was just made and nobody else can know.
    pub(super) fn for_scratch(target: &Target, descriptor: OwnedFd, size: u64) -> WritePermit {
        WritePermit {
            path: target.path().into(),
            descriptor,
            identity: target.identity(),
            size,
            below: BTreeSet::new(),
            is_ours: true,
        }
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Looks again whether anybody has begun to use it, and whether it is still the same. Call it before each phase.
    /// [`IoError::WriteRefused`] with who uses it.
    pub fn revalidate(&self) -> Result<(), IoError> {
        self.revalidate_by(&SystemRoots::live())
    }

    pub(super) fn revalidate_by(&self, roots: &SystemRoots) -> Result<(), IoError> {
        match self.check(roots) {
            Ok(()) => Ok(()),
            Err(why) => Err(IoError::WriteRefused { target: self.path.clone(), why: why.to_string() }),
        }
    }

    fn check(&self, roots: &SystemRoots) -> Result<(), Refusal> {
        self.check_identity(self.identity, self.size)?;
        self.check_room()?;
        if self.is_ours {
            return Ok(());
        }
        if devices_below(roots, self.identity) != self.below {
            return Err(Refusal::LiesElsewhere);
        }
        let in_the_way = use_of(roots, self.identity, None);
        if in_the_way.is_empty() { Ok(()) } else { Err(Refusal::InTheWay(in_the_way)) }
    }

    /// That filling the holes of a file leaves a tenth of its file system free.
    fn check_room(&self) -> Result<(), Refusal> {
        let Identity::File(_) = self.identity else { return Ok(()) };
        let status = system_call::status(self.descriptor()).map_err(Refusal::RoomUnknown)?;
        let room = system_call::file_system_room(self.descriptor()).map_err(Refusal::RoomUnknown)?;
        // In units of 512 bytes, whatever the block size is: stat(2).
        let taken = (status.st_blocks as u64).saturating_mul(512);
        let missing = self.size.saturating_sub(taken);
        // A file system that does not tell its size has none to spare.
        let is_told = room.size > 0;
        if missing == 0 || is_told && room.available.saturating_sub(missing) >= room.size.div_ceil(10) {
            return Ok(());
        }
        Err(Refusal::NoRoom { missing, available: room.available, file_system: room.size })
    }

    fn check_identity(&self, expected: Identity, size: u64) -> Result<(), Refusal> {
        let (identity, found) = identity_of(self.descriptor()).map_err(Refusal::IdentityUnknown)?;
        if identity != expected {
            return Err(Refusal::Replaced);
        }
        if found < size {
            return Err(Refusal::Shrank { size, found });
        }
        Ok(())
    }
}

/// The members of a volume, and those of its members. Where they cannot be read, nothing is granted anyway.
fn devices_below(roots: &SystemRoots, identity: Identity) -> BTreeSet<DeviceNumber> {
    let Identity::Device { number, .. } = identity else { return BTreeSet::new() };
    let mut below = BTreeSet::new();
    let mut ahead: Vec<BlockDevice> = BlockDevice::by_number(roots, number).into_iter().collect();
    while let Some(device) = ahead.pop() {
        let disk = if device.is_partition() { device.disk().ok() } else { None };
        for member in disk.unwrap_or(device).slaves().unwrap_or_default() {
            if below.insert(member.number) {
                ahead.push(member);
            }
        }
    }
    below
}

fn identity_of(descriptor: BorrowedFd<'_>) -> io::Result<(Identity, u64)> {
    let status = system_call::status(descriptor)?;
    Ok(match status.st_mode & libc::S_IFMT {
        libc::S_IFBLK => {
            let number = DeviceNumber::from_raw(status.st_rdev);
            (system_call::device_identity(descriptor, number)?, system_call::device_size(descriptor)?)
        }
        _ => {
            let file_system = DeviceNumber::from_raw(status.st_dev);
            (Identity::File(FileNumber { file_system, inode: status.st_ino }), status.st_size as u64)
        }
    })
}

/// Grants, and calls `claimed` between the claim and the checks, so that a test can try to get in between.
pub(super) fn grant_between(
    roots: &SystemRoots,
    target: &Target,
    consent: &WriteConsent,
    never_write: &NeverWrite,
    claimed: impl FnOnce(),
) -> Result<WritePermit, IoError> {
    match claim_and_check(roots, target, consent, never_write, claimed) {
        Ok(permit) => {
            assert_eq!(permit.identity, target.identity(), "a permit is for the target it was asked for");
            Ok(permit)
        }
        Err(why) => Err(IoError::WriteRefused { target: target.path().into(), why: why.to_string() }),
    }
}

fn claim_and_check(
    roots: &SystemRoots,
    target: &Target,
    consent: &WriteConsent,
    never_write: &NeverWrite,
    claimed: impl FnOnce(),
) -> Result<WritePermit, Refusal> {
    never_write.check(roots, target)?;
    let permit = claim(roots, target)?;
    claimed();
    permit.check_identity(target.identity(), permit.size)?;
    permit.check_room()?;
    let mut in_the_way = use_of(roots, target.identity(), Some(target));
    if !in_the_way.iter().any(|obstacle| obstacle.kind == ObstacleKind::ReadOnly) {
        in_the_way.extend(device_refuses_writes(&permit));
    }
    if !in_the_way.is_empty() {
        return Err(Refusal::InTheWay(in_the_way));
    }
    if !consent.destroy_data {
        let content = signature::content_obstacles(target);
        if !content.is_empty() {
            return Err(Refusal::HoldsData(content));
        }
    }
    check_confirmation(target, consent)?;
    Ok(permit)
}

/// What the device itself says, which knows more than sysfs of a partition.
fn device_refuses_writes(permit: &WritePermit) -> Option<Obstacle> {
    if matches!(permit.identity, Identity::File(_)) {
        return None;
    }
    match system_call::is_read_only(permit.descriptor()) {
        Ok(false) => None,
        Ok(true) => Some(Obstacle::new(ObstacleKind::ReadOnly, "it is read-only")),
        Err(error) => Some(Obstacle::new(
            ObstacleKind::Unknown,
            format!("cannot read whether it is read-only: {error}"),
        )),
    }
}

fn claim(roots: &SystemRoots, target: &Target) -> Result<WritePermit, Refusal> {
    let mut flags = libc::O_RDWR;
    if target.is_direct() {
        flags |= libc::O_DIRECT;
    }
    match target.identity() {
        Identity::Device { .. } => flags |= libc::O_EXCL,
        Identity::File(_) => check_lease(roots, target)?,
    }
    let reopened = unless_a_child_is_in_the_way(
        roots,
        || system_call::reopen(target.descriptor(), flags),
        is_claimed_by_another,
    );
    let descriptor = match reopened {
        Ok(descriptor) => descriptor,
        Err(error) => return Err(why_not_claimed(roots, target, error)),
    };
    Ok(WritePermit {
        path: target.path().into(),
        descriptor,
        identity: target.identity(),
        size: target.facts().capacity.get(),
        below: devices_below(roots, target.identity()),
        is_ours: false,
    })
}

fn is_claimed_by_another(reopened: &io::Result<OwnedFd>) -> bool {
    match reopened {
        Ok(_) => false,
        Err(error) => error.raw_os_error() == Some(libc::EBUSY),
    }
}

/// A file that anybody else has open, for reading too, is in use. Unlike a search, the kernel counts exactly.
fn check_lease(roots: &SystemRoots, target: &Target) -> Result<(), Refusal> {
    let open_nowhere_else = unless_a_child_is_in_the_way(
        roots,
        || system_call::is_open_nowhere_else(target.descriptor()),
        |result| matches!(result, Ok(false)),
    );
    match open_nowhere_else {
        Ok(true) => Ok(()),
        Ok(false) => {
            let users = use_of(roots, target.identity(), Some(target));
            Err(if users.is_empty() { Refusal::OpenElsewhere } else { Refusal::InTheWay(users) })
        }
        Err(error) => Err(Refusal::LeaseUnknown(error)),
    }
}

/// Tries again while a program that a thread is starting still holds, for a moment, what a permit has closed.
fn unless_a_child_is_in_the_way<Answer>(
    roots: &SystemRoots,
    attempt: impl Fn() -> Answer,
    is_busy: impl Fn(&Answer) -> bool,
) -> Answer {
    const ROUNDS_MAX: u32 = 1000;
    for _ in 0..ROUNDS_MAX {
        let has_child = have_child_before_it_runs_a_program(roots);
        let answer = attempt();
        if !is_busy(&answer) || !has_child {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    attempt()
}

fn why_not_claimed(roots: &SystemRoots, target: &Target, error: io::Error) -> Refusal {
    let users = use_of(roots, target.identity(), Some(target));
    match error.raw_os_error() {
        Some(libc::EBUSY) if users.is_empty() => Refusal::ClaimedUnseen,
        Some(libc::EBUSY) => Refusal::InTheWay(users),
        Some(libc::EACCES | libc::EPERM) if users.is_empty() => Refusal::MayNotOpen(error),
        _ if users.is_empty() => Refusal::CannotOpen(error),
        _ => Refusal::CannotOpenInUse { error, users },
    }
}

fn check_confirmation(target: &Target, consent: &WriteConsent) -> Result<(), Refusal> {
    let expected = target.confirmation();
    match consent.confirm.as_deref().map(str::trim) {
        Some(typed) if typed == expected || is_canonical_path(target, typed) => Ok(()),
        Some(typed) => {
            Err(Refusal::OtherConfirmed { typed: typed.to_owned(), expected: expected.to_owned() })
        }
        None => Err(Refusal::NotConfirmed { expected: expected.to_owned() }),
    }
}

fn confirm_advice(expected: &str) -> String {
    format!("To write to this device, add: --confirm {}", quoted(expected))
}

/// A file has no name but its paths; the one without links is as good as the one that was typed, as long as it
/// leads to the file that was opened: a link may have been turned to another one since.
fn is_canonical_path(target: &Target, typed: &str) -> bool {
    let Identity::File(file) = target.identity() else { return false };
    let Ok(path) = target.path().canonicalize() else { return false };
    path.as_os_str() == typed && matches!(system_call::place(&path), Ok(Place::File(found)) if found == file)
}

/// As it must be typed in a shell. Control characters of a hostile drive are shown by their codes.
fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.escape_debug().to_string().replace('\'', "'\\''"))
    }
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "/._-:+,@%".contains(letter)
}

fn sentence(obstacles: &[Obstacle]) -> String {
    let statements: Vec<&str> = obstacles.iter().map(|obstacle| obstacle.statement.as_str()).collect();
    statements.join("; ")
}
