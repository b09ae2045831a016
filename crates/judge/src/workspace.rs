//! Where the workspace is, and how its cargo is called.

use crate::failure::Failure;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace, two folders above this package.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds an example of crate `io`, which is run as a process of its own, like its peers; where it is.
pub fn build_example(name: &str) -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["build", "--release", "-p", "io", "--example", name];
    let status = Command::new(cargo).args(words).current_dir(root()).status();
    if !matches!(status, Ok(status) if status.success()) {
        return Err(Failure::cannot("What is measured does not build; its reason is above."));
    }
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    };
    Ok(target.join("release/examples").join(name))
}
