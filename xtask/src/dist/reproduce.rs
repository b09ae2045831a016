//! `cargo xtask dist --reproduce`: everything made a second time in a fresh clone, in another folder, and compared byte by byte.

use std::collections::BTreeMap;
use std::process::Command;

use super::files::{empty, folder, read, told};
use crate::failure::Failure;
use crate::workspace::{cargo, root, succeeds, target_folder};

/// A clone has only what was committed.
pub fn is_committed() -> Result<(), Failure> {
    if told(Command::new("git").args(["status", "--porcelain"]).current_dir(root()))?.is_empty() {
        return Ok(());
    }
    Err(Failure::cannot("Only what is committed can be made again. Commit it, or put it aside."))
}

/// Makes everything in a clone, and compares it with what was made here.
pub fn run() -> Result<(), Failure> {
    let clone = target_folder().join("again");
    empty(&clone)?;
    told(Command::new("git").args(["clone", "--quiet", "--local"]).arg(root()).arg(&clone))?;
    let mut again = cargo(&["xtask", "dist"]);
    if !succeeds(again.current_dir(&clone).env_remove("CARGO_TARGET_DIR"))? {
        return Err(Failure::cannot("It cannot be made again; the reason is above."));
    }
    let first = checksums(&read(&folder().join("SHA256SUMS"))?);
    let second = checksums(&read(&clone.join("dist/SHA256SUMS"))?);
    let mut differing = Vec::new();
    // What was made here of another target is not made again.
    for (name, sum) in &second {
        if first.get(name) == Some(sum) {
            println!("same      {name}");
        } else {
            println!("DIFFERENT {name}");
            differing.push(name.as_str());
        }
    }
    println!("{} the same, {} different", second.len() - differing.len(), differing.len());
    if differing.is_empty() && !second.is_empty() { Ok(()) } else { Err(Failure::checks_failed()) }
}

/// Checksums by the name of their file, of what `sha256sum` prints.
fn checksums(text: &[u8]) -> BTreeMap<String, String> {
    let mut sums = BTreeMap::new();
    for line in String::from_utf8_lossy(text).lines() {
        if let Some((sum, name)) = line.split_once("  ") {
            sums.insert(name.to_owned(), sum.to_owned());
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::checksums;

    #[test]
    fn a_line_of_checksums_has_the_sum_and_the_name() {
        let sums = checksums(b"0a1b  drivescope.deb\n2c3d  drivescope.rpm\n");
        assert_eq!(sums.len(), 2);
        assert_eq!(sums["drivescope.deb"], "0a1b");
    }
}
