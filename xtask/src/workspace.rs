//! Where the workspace is, and how its cargo and other programs are called.

use crate::failure::{Doing, Failure};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the workspace: the folder above this package's.
///
/// Cargo sets the variable for `cargo run` and `cargo test`; the value from build time serves a program started by hand.
pub fn root() -> PathBuf {
    let package = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")),
    };
    package.parent().map(Path::to_owned).unwrap_or(package)
}

pub fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// The cargo that started this program, run in the root of the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Whether cargo has this subcommand and it starts (`cargo NAME --version`).
pub fn has_cargo_subcommand(name: &str) -> bool {
    match cargo(&[name, "--version"]).output() {
        Ok(output) => output.status.success(),
        Err(_) => false,
    }
}

/// Runs a command to its end, with what it prints shown; whether it succeeded.
pub fn succeeds(command: &mut Command) -> Result<bool, Failure> {
    let status = command.status().doing(format_args!("run {}", command.get_program().display()))?;
    Ok(status.success())
}

/// Runs a command to its end, and gives what it printed.
pub fn output(command: &mut Command) -> Result<Output, Failure> {
    command.output().doing(format_args!("run {}", command.get_program().display()))
}
