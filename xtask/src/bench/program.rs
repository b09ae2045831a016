//! The program under test, run as its users run it.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::Failure;
use crate::workspace::{cargo, target_folder};

/// The program under test.
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Where its runs are kept for a moment.
    pub folder: PathBuf,
}

impl Program {
    /// The document of one run.
    pub fn run(&self, words: &[&str]) -> Result<Value, Failure> {
        let store = self.folder.join(format!("store-{:?}", std::thread::current().id()));
        let output = Command::new(&self.path)
            .args(words)
            .args(["-q", "--json", "-", "--store"])
            .arg(&store)
            .output()
            .map_err(|error| Failure::cannot(format!("Cannot start {}: {error}.", self.path.display())))?;
        // Runs are of no use afterwards, and would fill the memory.
        let _ = std::fs::remove_dir_all(&store);
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            Failure::cannot(format!("`{}` printed no JSON ({error}): {said}", words.join(" ")))
        })
    }
}

/// The program as it is shipped.
pub fn build() -> Result<PathBuf, Failure> {
    let status = cargo(&["build", "--release", "-p", "drivescope"])
        .status()
        .map_err(|error| Failure::cannot(format!("Cannot start cargo build: {error}.")))?;
    if !status.success() {
        return Err(Failure::cannot("What is measured does not build; its reason is above."));
    }
    Ok(target_folder().join("release/drivescope"))
}
