//! What data are taken from and given back to: the target, through its permit; in tests a drive that fails.

use super::super::permit::WritePermit;
use super::super::system_call;
use super::super::target::Target;
use crate::error::IoError;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;

pub trait Medium {
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;
    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()>;
    fn flush(&mut self) -> io::Result<()>;
    fn capacity(&self) -> u64;
    /// What places and lengths are multiples of.
    fn block(&self) -> u64;
}

pub struct TargetMedium<'rig> {
    descriptor: BorrowedFd<'rig>,
    file: std::fs::File,
    capacity: u64,
    block: u64,
    buffer: system_call::AlignedBuffer,
}

impl<'rig> TargetMedium<'rig> {
    /// That of a target. Whether the permit still holds is asked once more.
    pub fn new(target: &Target, permit: &'rig WritePermit) -> Result<TargetMedium<'rig>, IoError> {
        if permit.identity() != target.identity() {
            let why = "the permit to write is one for another target".into();
            return Err(IoError::WriteRefused { target: target.path().into(), why });
        }
        permit.revalidate()?;
        let descriptor = permit.descriptor();
        let file = IoError::at("open once more", target.path(), descriptor.try_clone_to_owned())?;
        Ok(TargetMedium {
            descriptor,
            file: file.into(),
            capacity: target.facts().capacity.get(),
            block: target.facts().logical_block.get(),
            buffer: system_call::AlignedBuffer::new(super::CHUNK_BYTES),
        })
    }
}

impl Medium for TargetMedium<'_> {
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        for (index, part) in into.chunks_mut(super::CHUNK_BYTES).enumerate() {
            let at = offset + (index * super::CHUNK_BYTES) as u64;
            let buffer = &mut self.buffer[..part.len()];
            if system_call::read_at(self.descriptor, buffer, at)? < part.len() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            part.copy_from_slice(buffer);
        }
        Ok(())
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        // A file would grow.
        match offset.checked_add(data.len() as u64) {
            Some(end) if end <= self.capacity => {}
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
        for (index, part) in data.chunks(super::CHUNK_BYTES).enumerate() {
            let buffer = &mut self.buffer[..part.len()];
            buffer.copy_from_slice(part);
            self.file.write_all_at(buffer, offset + (index * super::CHUNK_BYTES) as u64)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        // What a page cache holds would be compared with itself.
        let _ = system_call::forget_written(self.descriptor.as_fd(), 0, self.capacity);
        Ok(())
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn block(&self) -> u64 {
        self.block
    }
}
