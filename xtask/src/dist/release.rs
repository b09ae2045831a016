//! What a release is called, and how its program is built: without dates and paths of the machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::components;
use super::files::told;
use crate::failure::Failure;
use crate::workspace::{cargo, root, succeeds, target_folder};

pub struct Release {
    pub version: String,
    /// The target of the compiler itself, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// Seconds since 1970 of the last commit: the date of everything that is made.
    pub epoch: String,
    pub program: PathBuf,
}

impl Release {
    pub fn of_workspace() -> Result<Release, Failure> {
        let target = told(Command::new("rustc").args(["--print", "host-tuple"]))?;
        let epoch = told(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()))?;
        let program = target_folder().join(&target).join("dist/drivescope");
        Ok(Release { version: components::version()?, target, epoch, program })
    }

    /// What the archive is called, and the folder in it: `drivescope-0.1.0-x86_64-unknown-linux-gnu`.
    pub fn name(&self) -> String {
        format!("drivescope-{}-{}", self.version, self.target)
    }

    /// The architecture in the words of Debian and of RPM.
    pub fn architecture(&self) -> (&'static str, &'static str) {
        if self.target.starts_with("aarch64") { ("arm64", "aarch64") } else { ("amd64", "x86_64") }
    }

    /// Without paths of this machine in it, so that another one makes the same bytes.
    fn flags(&self) -> String {
        let cargo_home = match (std::env::var_os("CARGO_HOME"), std::env::var_os("HOME")) {
            (Some(home), _) => PathBuf::from(home),
            (None, Some(home)) => PathBuf::from(home).join(".cargo"),
            (None, None) => PathBuf::new(),
        };
        format!(
            "-C target-feature=+crt-static --remap-path-prefix={}=. --remap-path-prefix={}=registry",
            root().display(),
            cargo_home.join("registry/src").display()
        )
    }

    pub fn build(&self, target: &Path) -> Result<(), Failure> {
        let mut command =
            cargo(&["build", "--locked", "--profile", "dist", "-p", "drivescope", "--target", &self.target]);
        self.environment(&mut command).env("CARGO_TARGET_DIR", target);
        if succeeds(&mut command)? {
            return Ok(());
        }
        Err(Failure::cannot("The program does not build; its reason is above."))
    }

    pub fn environment<'command>(&self, command: &'command mut Command) -> &'command mut Command {
        command
            .env("RUSTFLAGS", self.flags())
            .env("CARGO_INCREMENTAL", "0")
            .env("SOURCE_DATE_EPOCH", &self.epoch)
    }
}
