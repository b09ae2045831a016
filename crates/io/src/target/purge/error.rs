//! Why a purge did not come to its end, and what that means for what may be tried next. Only a method that was refused before
//! it began leaves all as it was.

use crate::error::IoError;
use std::fmt;
use std::io;

/// How a method ended that did not purge.
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

/// A method that did not purge.
#[derive(Debug)]
pub struct PurgeError {
    /// What it means for what comes next.
    pub kind: FaultKind,
    /// What went wrong.
    pub error: IoError,
    /// What the drive is left with and what to do, in whole sentences; none where nothing is special.
    pub left: Option<String>,
}

impl PurgeError {
    /// Nothing more may be tried, and nothing special is left behind.
    pub fn broken(error: IoError) -> PurgeError {
        PurgeError { kind: FaultKind::Broken, error, left: None }
    }

    /// Another method may be tried.
    pub(super) fn refused(error: IoError) -> PurgeError {
        PurgeError { kind: FaultKind::Refused, error, left: None }
    }
}

impl fmt::Display for PurgeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.error)?;
        self.left.as_ref().map_or(Ok(()), |left| write!(formatter, ". {left}"))
    }
}

impl std::error::Error for PurgeError {}

/// The same before it is known on which drive.
#[derive(Debug)]
pub(super) struct Fault {
    pub kind: FaultKind,
    pub error: io::Error,
}

impl Fault {
    pub(super) fn refused(why: String) -> Fault {
        Fault { kind: FaultKind::Refused, error: io::Error::other(why) }
    }

    pub(super) fn broken(error: io::Error) -> Fault {
        Fault { kind: FaultKind::Broken, error }
    }
}
