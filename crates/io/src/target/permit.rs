//! The permit to write: the one place where a write becomes possible.

use super::{Target, identity::Identity};
use crate::error::IoError;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

/// What a person agreed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteConsent {
    /// What is on the target may be destroyed.
    pub destroy_data: bool,
    /// The serial number, or the path where there is none, as it was typed back.
    pub confirm: Option<String>,
}

/// The right to write to one target, and the only descriptor that can.
#[derive(Debug)]
pub struct WritePermit {
    path: PathBuf,
    descriptor: OwnedFd,
    identity: Identity,
}

impl WritePermit {
    /// Claims the target for us alone, and then looks whether anybody uses it.
    pub fn grant(target: &Target, _consent: &WriteConsent) -> Result<WritePermit, IoError> {
        Err(IoError::WriteRefused { target: target.path().into(), why: "whether it is in use is not known".into() })
    }

    /// The descriptor to write through. It can read too.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// What it is a permit for.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Looks again whether anybody has begun to use it. Call it before each phase.
    pub fn revalidate(&self) -> Result<(), IoError> {
        Err(IoError::WriteRefused { target: self.path.clone(), why: "whether it is in use is not known".into() })
    }
}
