//! Scratch files: a file of our own in a folder, which may be written to without asking.

use super::{Target, WritePermit};
use crate::error::IoError;
use model::units::Bytes;
use std::path::Path;

/// A file of our own, removed when it is dropped.
#[derive(Debug)]
pub struct ScratchFile {
    target: Target,
    permit: WritePermit,
}

impl ScratchFile {
    /// Makes and reserves one in `directory`, of `size_max` or what leaves a tenth of the file system free.
    pub fn create(directory: &Path, _size_max: Bytes) -> Result<ScratchFile, IoError> {
        Err(IoError::Unsuitable { target: directory.into(), why: "scratch files cannot be made yet".into() })
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
