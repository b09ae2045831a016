//! How files of the store are made lasting: by a process of its own, which is left alone when the program is to end.

use crate::interrupt;
use io::flushing::{Extent, Flushing, LOOK_EVERY, PATIENCE_AT_THE_END};
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsFd;
use store::SyncExtent;

/// Makes a file lasting. When the program is to end, nobody waits for a busy disk: the kernel keeps what was written.
pub fn sync(file: &File, extent: SyncExtent) -> Result<()> {
    if is_too_late() {
        return Err(too_late());
    }
    let extent = match extent {
        SyncExtent::Data => Extent::Data,
        SyncExtent::File => Extent::File,
    };
    let mut flushing = Flushing::begin(file.as_fd(), extent);
    loop {
        match flushing.wait(LOOK_EVERY) {
            Some(outcome) => return outcome.map(drop),
            None if is_too_late() => return Err(too_late()),
            None => {}
        }
    }
}

fn is_too_late() -> bool {
    match interrupt::asked_for() {
        Some(asked) => asked.as_nanos() >= PATIENCE_AT_THE_END.get().into(),
        None => false,
    }
}

fn too_late() -> Error {
    Error::new(ErrorKind::TimedOut, "the disk was not done when the program was to end")
}
