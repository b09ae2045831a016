//! Opening what a path leads to, for reading.

use super::file::Kind;
use super::target::Target;
use super::{device, file};
use crate::error::IoError;
use std::path::Path;

impl Target {
    /// Opens a block device or a regular file for reading, without the page cache where that can be had. Fails when there is nothing there,
    /// it may not be read, it is neither of the two, or it is smaller than [`super::SIZE_MIN`].
    pub fn open(path: &Path) -> Result<Target, IoError> {
        let opened = file::open_for_reading(path)?;
        match opened.kind {
            Kind::Device => device::target(path, opened),
            Kind::File => file::target(path, opened),
        }
    }
}
