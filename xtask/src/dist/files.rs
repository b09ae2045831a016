//! Files that are read, written and made by commands, with failures that name them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Doing, Failure};
use crate::workspace::{output, root};

pub fn folder() -> PathBuf {
    root().join("dist")
}

/// What a program printed, without the last newline.
pub fn told(command: &mut Command) -> Result<String, Failure> {
    let told = output(command)?;
    if told.status.success() {
        return Ok(String::from_utf8_lossy(&told.stdout).trim().to_owned());
    }
    let program = command.get_program().display();
    Err(Failure::cannot(format!(
        "{program} {}: {}",
        told.status,
        String::from_utf8_lossy(&told.stderr).trim()
    )))
}

pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).doing(format_args!("read {}", path.display()))
}

pub fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    if let Some(parent) = path.parent() {
        create(parent)?;
    }
    fs::write(path, text).doing(format_args!("write {}", path.display()))
}

pub fn create(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).doing(format_args!("make {}", folder.display()))
}

/// Removes what an earlier call has left, and makes the folder.
pub fn empty(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::to(format_args!("remove {}", folder.display()), error))
        }
        _ => create(folder),
    }
}
