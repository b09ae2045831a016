//! `cargo xtask dist --check`: each package as a new user installs it, in a place that has nothing else, and the program of each used.
//!
//! Each step is a script in `packaging/check`, run in a folder of its own below the target folder. What needs a root file system makes one
//! there; what is mounted meanwhile is mounted in a namespace that ends with the script. Every script has a time limit.

use std::path::Path;
use std::process::{Command, Stdio};

use super::files::{empty, folder, told};
use super::release::Release;
use crate::failure::Failure;
use crate::workspace::{root, succeeds, target_folder};

/// The longest that a step may take: making a root file system.
const STEP_SECONDS: &str = "600";
/// Scripts in `packaging/check`, in the order in which they run.
const STEPS: [&str; 9] =
    ["checksums", "static-file", "wheel", "limits", "alerts", "lintian", "debian", "image", "rpm"];

/// Does every step to its end, and says which failed.
pub fn run(release: &Release) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for step in STEPS {
        println!("\n== {step}");
        if !is_done(release, step)? {
            failed.push(step);
        }
    }
    if failed.is_empty() {
        println!("\n{} passed, 0 failed", STEPS.len());
        return Ok(());
    }
    println!(
        "\nFAILED {}\n{} passed, {} failed",
        failed.join(", "),
        STEPS.len() - failed.len(),
        failed.len()
    );
    Err(Failure::checks_failed())
}

fn is_done(release: &Release, step: &str) -> Result<bool, Failure> {
    let place = target_folder().join("dist-check").join(step);
    clear(&place)?;
    let (debian_architecture, architecture) = release.architecture();
    let mut shell = Command::new("timeout");
    shell.args(["--kill-after=10", STEP_SECONDS, "unshare", "--mount", "sh", "-eu"]);
    shell.arg(root().join("packaging/check").join(step).with_extension("sh"));
    shell.current_dir(&place).stdin(Stdio::null());
    shell.env("SOURCE", root()).env("DIST", folder()).env("PLACE", &place).env("NAME", release.name());
    shell.env("VERSION", &release.version).env("ARCHITECTURE", architecture);
    shell.env("DEBIAN_ARCHITECTURE", debian_architecture);
    let is_done = succeeds(&mut shell)?;
    // A root file system is a quarter of a gigabyte.
    if is_done {
        clear(&place)?;
    }
    Ok(is_done)
}

/// Empties a folder, unless something is mounted in it, which would be emptied too.
fn clear(place: &Path) -> Result<(), Failure> {
    let mounts = told(Command::new("cat").arg("/proc/mounts"))?;
    if mounts
        .lines()
        .any(|line| line.split(' ').nth(1).is_some_and(|point| Path::new(point).starts_with(place)))
    {
        return Err(Failure::cannot(format!("Something is mounted below {}. Unmount it.", place.display())));
    }
    empty(place)
}
