//! What a release is called, and how its program is built: without dates and paths of the machine.

use std::path::PathBuf;
use std::process::Command;

use super::files::told;
use crate::failure::Failure;
use crate::workspace::{cargo, root, succeeds, target_folder};

pub struct Release {
    pub version: String,
    /// The target that it runs on, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// The target of this machine's compiler; another one's program does not run here.
    pub host: String,
    /// Seconds since 1970 of the last commit: the date of everything that is made.
    pub epoch: String,
    pub program: PathBuf,
}

impl Release {
    pub fn of_this_machine() -> Result<Release, Failure> {
        let host = host()?;
        Release::of_target(&host)
    }

    pub fn of_target(target: &str) -> Result<Release, Failure> {
        let epoch = told(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()))?;
        let program = target_folder().join(target).join("dist/drivescope");
        Ok(Release {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: target.to_owned(),
            host: host()?,
            epoch,
            program,
        })
    }

    /// The program for this machine, which writes completions and man pages for all.
    pub fn program_here(&self) -> Result<PathBuf, Failure> {
        let program = target_folder().join(&self.host).join("dist/drivescope");
        if program.is_file() {
            return Ok(program);
        }
        Err(Failure::cannot(
            "The program of this machine writes the man pages. Run 'cargo xtask dist' first.",
        ))
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

    pub fn build(&self) -> Result<(), Failure> {
        let mut command =
            cargo(&["build", "--locked", "--profile", "dist", "-p", "drivescope", "--target", &self.target]);
        self.environment(&mut command);
        if succeeds(&mut command)? {
            return Ok(());
        }
        Err(Failure::cannot("The program does not build; its reason is above."))
    }

    pub fn environment<'command>(&self, command: &'command mut Command) -> &'command mut Command {
        // As Debian calls the compilers for other machines.
        if self.host.starts_with("x86_64") {
            command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
        } else {
            command.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", "x86_64-linux-gnu-gcc");
        }
        command
            .env("RUSTFLAGS", self.flags())
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_TARGET_DIR", target_folder())
            .env("SOURCE_DATE_EPOCH", &self.epoch)
    }
}

pub fn host() -> Result<String, Failure> {
    told(Command::new("rustc").args(["--print", "host-tuple"]))
}
