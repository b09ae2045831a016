//! Where the workspace is, and how its cargo is called.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace: the folder above this package's.
///
/// Cargo sets the variable for `cargo run` and `cargo test`; the value from build time serves a program started by hand.
pub fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map_or_else(|| package.clone(), Path::to_path_buf)
}

/// The folder in which cargo builds.
pub fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// The cargo that started this program, run in the root of the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Whether cargo has this subcommand and it starts (`cargo NAME --version`).
pub fn has_cargo_subcommand(name: &str) -> bool {
    cargo(&[name, "--version"]).output().is_ok_and(|output| output.status.success())
}
