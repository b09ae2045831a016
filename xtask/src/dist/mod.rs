//! `cargo xtask dist`: everything that people install, made into `dist/`; `--check` installs each in a clean place and uses it.
//!
//! ```text
//! static program ──► staged tree (program, man pages, completions, units, licences, SBOM) ──► tar.gz, .deb, .rpm, image
//!        └─────────► wheel                                                                     └──► SHA256SUMS
//! ```
//! The program is linked with a static glibc: one file that runs on every Linux of its architecture, whatever its C library.
//! Everything is dated by the last commit, so that the same commit gives the same bytes.

mod check;
mod components;
mod packages;
mod stage;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::workspace::{cargo, output, root, succeeds, target_folder};

const USAGE: &str = "Usage: cargo xtask dist [--check | --reproduce]";

/// What is made, and where.
struct Release {
    version: String,
    /// `x86_64-unknown-linux-gnu`: that of the compiler.
    target: String,
    /// Seconds since 1970 of the last commit: the date of everything that is made.
    epoch: String,
    /// The static program.
    program: PathBuf,
}

/// Makes everything, or checks what was made.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    match arguments {
        [] => make(),
        [argument] if argument == "--check" => check::run(&Release::of_workspace()?),
        [argument] if argument == "--reproduce" => reproduce(),
        _ => Err(Failure::cannot(USAGE)),
    }
}

fn make() -> Result<(), Failure> {
    let release = Release::of_workspace()?;
    release.build(&target_folder())?;
    create(&folder())?;
    let staged = stage::stage(&release)?;
    let mut made = vec![packages::archive(&release, &staged)?];
    made.extend(packages::debian(&release, &staged)?);
    made.extend(packages::rpm(&release, &staged)?);
    made.extend(packages::wheel(&release)?);
    made.extend(packages::image(&release, &staged)?);
    packages::checksums(&made)?;
    for path in &made {
        let bytes = fs::metadata(path).map_or(0, |file| file.len());
        println!("{:>12} bytes  {}", bytes, path.display());
    }
    Ok(())
}

/// Builds the program a second time in another folder, and compares the bytes.
fn reproduce() -> Result<(), Failure> {
    let release = Release::of_workspace()?;
    let again = target_folder().join("again");
    release.build(&again)?;
    let second = again.join(&release.target).join("dist/drivescope");
    let (first, second) = (read(&release.program)?, read(&second)?);
    if first == second {
        println!("Both builds have the same {} bytes.", first.len());
        return Ok(());
    }
    println!("The two builds differ: {} and {} bytes.", first.len(), second.len());
    Err(Failure::checks_failed())
}

impl Release {
    fn of_workspace() -> Result<Release, Failure> {
        let target = told(Command::new("rustc").args(["--print", "host-tuple"]))?;
        let epoch = told(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()))?;
        let program = target_folder().join(&target).join("dist/drivescope");
        Ok(Release { version: components::version()?, target, epoch, program })
    }

    /// `drivescope-0.1.0-x86_64-unknown-linux-gnu`.
    fn name(&self) -> String {
        format!("drivescope-{}-{}", self.version, self.target)
    }

    /// The architecture in the words of Debian and of RPM.
    fn architecture(&self) -> (&'static str, &'static str) {
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

    fn build(&self, target: &Path) -> Result<(), Failure> {
        let mut command =
            cargo(&["build", "--locked", "--profile", "dist", "-p", "drivescope", "--target", &self.target]);
        self.environment(&mut command).env("CARGO_TARGET_DIR", target);
        if succeeds(&mut command)? {
            return Ok(());
        }
        Err(Failure::cannot("The program does not build; its reason is above."))
    }

    fn environment<'command>(&self, command: &'command mut Command) -> &'command mut Command {
        command
            .env("RUSTFLAGS", self.flags())
            .env("CARGO_INCREMENTAL", "0")
            .env("SOURCE_DATE_EPOCH", &self.epoch)
    }
}

/// Where everything is put: `dist/` of the workspace.
fn folder() -> PathBuf {
    root().join("dist")
}

/// What a program printed, without the last newline.
fn told(command: &mut Command) -> Result<String, Failure> {
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

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(Failure::to(format_args!("read {}", path.display()), error)),
    }
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    if let Some(parent) = path.parent() {
        create(parent)?;
    }
    match fs::write(path, text) {
        Ok(()) => Ok(()),
        Err(error) => Err(Failure::to(format_args!("write {}", path.display()), error)),
    }
}

fn create(folder: &Path) -> Result<(), Failure> {
    match fs::create_dir_all(folder) {
        Ok(()) => Ok(()),
        Err(error) => Err(Failure::to(format_args!("make {}", folder.display()), error)),
    }
}
