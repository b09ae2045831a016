//! The virtual drives that are measured, and a folder for those of our own.

use crate::failure::{Doing, Failure};
use sim::profile::{Profile, preset, preset_text};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub struct Drive {
    pub name: String,
    pub target: String,
    pub profile: Profile,
}

pub struct Folder {
    folder: TempDir,
}

impl Folder {
    /// One that nobody else has, in memory where there is room for that.
    pub fn make() -> Result<Folder, Failure> {
        let shared = PathBuf::from("/dev/shm");
        let parent = if shared.is_dir() { shared } else { std::env::temp_dir() };
        let folder = tempfile::Builder::new().prefix("drivescope-judge-").tempdir_in(parent);
        Ok(Folder { folder: folder.doing("make a temporary folder")? })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn drive(&self, name: &str, text: &str) -> Result<Drive, Failure> {
        let profile = Profile::parse(text, name).doing(format_args!("read {name}"))?;
        let path = self.path().join(format!("{name}.toml"));
        fs::write(&path, text).doing(format_args!("write {}", path.display()))?;
        Ok(Drive { name: name.to_owned(), target: format!("sim:{}", path.display()), profile })
    }

    pub fn changed(&self, of: &str, changes: &[(&str, &str)], more: &str) -> Result<Drive, Failure> {
        let mut profile = text(of)?;
        for (old, new) in changes {
            if !profile.contains(old) {
                return Err(Failure::cannot(format!("{of} has no {old}.")));
            }
            profile = profile.replace(old, new);
        }
        self.drive(&format!("{of}-changed"), &format!("{profile}{more}"))
    }

    pub fn loaded(&self, of: &str, name: &str, load: &str) -> Result<Drive, Failure> {
        self.drive(name, &format!("{}\n[[faults]]\nkind = \"other-load\"\n{load}\n", text(of)?))
    }
}

pub fn named(name: &str) -> Result<Drive, Failure> {
    let profile = preset(name).doing(format_args!("open {name}"))?;
    Ok(Drive { name: name.to_owned(), target: format!("sim:{name}"), profile })
}

/// All of these, one after the other with a space between.
pub fn all_named(names: &str) -> Result<Vec<Drive>, Failure> {
    names.split(' ').map(named).collect()
}

pub fn drawn(families: &[&str], first: u64, count: u64) -> Result<Vec<Drive>, Failure> {
    let mut drives = Vec::new();
    for number in first..first + count {
        let family = families[(number % families.len() as u64) as usize];
        drives.push(named(&format!("{family}-{number}"))?);
    }
    Ok(drives)
}

pub fn text(name: &str) -> Result<String, Failure> {
    Ok(preset_text(name).doing(format_args!("read {name}"))?.into_owned())
}
