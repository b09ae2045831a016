//! Files that results go to. Never a drive: `--json /dev/sdb`, typed by somebody who took `--json` for a flag, must not cost
//! what is on it.

use crate::error::UserError;
use report::hostile::harmless;
use std::fs::{File, Metadata, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Refuses a drive before anything is measured for it.
///
/// # Errors
/// When the path leads to a block device.
pub fn must_be_no_drive(path: &Path) -> Result<(), UserError> {
    match std::fs::metadata(path) {
        Ok(facts) => refuse_drive(path, &facts),
        // That there is no such file yet is as it should be; what else is wrong is said when it is written.
        Err(_) => Ok(()),
    }
}

/// Writes a file anew. `what` is for people: "the run as JSON".
///
/// # Errors
/// When it cannot be written, or the path leads to a block device, which is opened but neither read nor written.
pub fn write(path: &Path, what: &str, content: &[u8]) -> Result<(), UserError> {
    let cannot = |error: std::io::Error| {
        UserError::failure(format!(
            "cannot write {what} to {}: {error}",
            harmless(&path.to_string_lossy(), usize::MAX)
        ))
    };
    must_be_no_drive(path)?;
    // Without O_TRUNC, so that nothing has happened until it is known what was opened.
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(cannot)?;
    let facts = file.metadata().map_err(cannot)?;
    refuse_drive(path, &facts)?;
    empty(&file, &facts).and_then(|()| file.write_all(content)).map_err(cannot)
}

/// A pipe or a terminal has nothing to be cut.
fn empty(file: &File, facts: &Metadata) -> std::io::Result<()> {
    if facts.file_type().is_file() { file.set_len(0) } else { Ok(()) }
}

fn refuse_drive(path: &Path, facts: &Metadata) -> Result<(), UserError> {
    if !facts.file_type().is_block_device() {
        return Ok(());
    }
    Err(UserError::usage(format!(
        "{} is a drive: no result is written over it. Name a file, or - for standard output. What is to be measured stands by itself: \
         drivescope check {}",
        harmless(&path.to_string_lossy(), usize::MAX),
        harmless(&path.to_string_lossy(), usize::MAX)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_file_is_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.json");
        std::fs::write(&path, "0123456789").expect("written");
        write(&path, "it", b"abc").expect("written");
        assert_eq!(std::fs::read(&path).expect("read"), b"abc");
        assert!(must_be_no_drive(&folder.path().join("none")).is_ok());
    }
}
