//! Why a purge did not end, and what may be tried next. Only a method refused before it began leaves all as it was.

use super::super::passthrough::is_refusal;
use crate::error::{IoError, as_sentence};
use std::io;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It was not begun, since the drive or the system refuses it. Another method may be tried.
    Refused,
    /// How far it came is not known. Nothing more may be sent to the drive unasked.
    Broken,
    /// As before, and the drive has a password, or may have one.
    PasswordLeft,
    /// A sanitize began, or may have begun, and was not seen to end well.
    SanitizeBegun,
}

#[derive(Debug, thiserror::Error)]
#[error("{error}{}", as_sentence(left))]
pub struct PurgeError {
    pub kind: FaultKind,
    pub error: IoError,
    /// What the drive is left with and what to do, in whole sentences; none where nothing is special.
    pub left: Option<String>,
}

impl PurgeError {
    /// Nothing more may be tried, and nothing special is left behind.
    pub fn broken(error: IoError) -> PurgeError {
        PurgeError { kind: FaultKind::Broken, error, left: None }
    }

    pub(super) fn refused(error: IoError) -> PurgeError {
        PurgeError { kind: FaultKind::Refused, error, left: None }
    }
}

/// The same before it is known on which drive.
#[derive(Debug)]
pub(super) struct Fault {
    pub kind: FaultKind,
    pub error: io::Error,
}

impl Fault {
    pub(super) fn refused(why: PurgeRefusal) -> Fault {
        Fault { kind: FaultKind::Refused, error: io::Error::other(why) }
    }

    pub(super) fn broken(error: io::Error) -> Fault {
        Fault { kind: FaultKind::Broken, error }
    }

    /// A drive that refuses a command has not begun it; after another answer it may have done `otherwise`.
    pub(super) fn of_command(error: io::Error, otherwise: FaultKind) -> Fault {
        let kind = if is_refusal(&error) { FaultKind::Refused } else { otherwise };
        Fault { kind, error }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum PurgeRefusal {
    #[error("the permit to write is one for another target")]
    OtherPermit,
    #[error("zero fill is a workload, not a command")]
    NoCommand,
    #[error("{0}: it would get holes, which are read without one")]
    DiscardHere(Box<PurgeRefusal>),
    #[error("the kernel reports no support of discard")]
    NoDiscard,
    #[error("it is not an NVMe drive")]
    NotNvme,
    #[error("it is not an ATA drive known to the kernel")]
    NotAta,
    #[error("it is behind USB, where adapters may lose such commands; attach it to SATA")]
    BehindUsb,
    #[error("its identify command failed: {0}. Run as root")]
    AskingFailed(io::Error),
    #[error("it is a file, not a drive")]
    IsFile,
    #[error("cannot read its sysfs entries: {0}")]
    SysfsUnread(io::Error),
    #[error("it is a partition, and the drive would erase all others too")]
    IsPartition,
    #[error("cannot read the layers below it: {0}")]
    BelowUnread(io::Error),
    #[error("it is a layer above a drive, not a drive")]
    LiesOnDrive,
    #[error("the drive does not support Format NVM")]
    NoFormat,
    #[error("the drive does not support Sanitize with block erase")]
    NoSanitize,
    #[error("it is attached over {0}, so other hosts may use it")]
    Remote(String),
    #[error("cannot read its transport and its paths")]
    TransportUnread,
    #[error("the drive has more than one controller, and what others keep on it could be erased too")]
    Shared,
    #[error("the drive does not report its namespaces")]
    NamespacesUntold,
    #[error("the drive has {0} namespaces, and others could be erased too")]
    OtherNamespaces(usize),
    #[error("the drive has, or may have, namespaces that are not attached, which could be erased too")]
    DetachedNamespaces,
    #[error("the drive has no security erase")]
    NoSecurityErase,
    #[error(
        "the drive is frozen, which firmware does at boot. Suspend and resume the machine, or power-cycle the drive while it runs, and try again"
    )]
    Frozen,
    #[error("the drive is locked by a password. {0}")]
    Locked(String),
    #[error("the drive already has a password. {0}")]
    PasswordSet(String),
    #[error("too many wrong passwords were tried. Power-cycle the drive")]
    TooManyPasswords,
}
