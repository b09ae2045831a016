//! The virtual drives that benches measure, and a folder for those of our own.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use sim::profile::{Profile, preset, preset_text};

use crate::Failure;

/// A drive to measure.
pub struct Drive {
    /// What it is called.
    pub name: String,
    /// What to measure: `sim:NAME`, `sim:FILE.toml`.
    pub target: String,
    /// What it is made of.
    pub profile: Profile,
}

/// A folder for profiles and runs, gone when dropped.
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
}

impl Folder {
    /// Makes one that nobody else has, for that purpose, in memory where there is room for that.
    pub fn make(purpose: &str) -> Result<Folder, Failure> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let shared = PathBuf::from("/dev/shm");
        let parent = if shared.is_dir() { shared } else { std::env::temp_dir() };
        let path = parent.join(format!("drivescope-bench-{purpose}-{}-{number}", std::process::id()));
        fs::create_dir(&path)
            .map_err(|error| Failure::cannot(format!("Cannot make {}: {error}.", path.display())))?;
        Ok(Folder { path })
    }

    /// A drive of this text.
    pub fn drive(&self, name: &str, text: &str) -> Result<Drive, Failure> {
        let profile =
            Profile::parse(text, name).map_err(|error| Failure::cannot(format!("No profile: {error}.")))?;
        let path = self.path.join(format!("{name}.toml"));
        fs::write(&path, text)
            .map_err(|error| Failure::cannot(format!("Cannot write {}: {error}.", path.display())))?;
        Ok(Drive { name: name.to_owned(), target: format!("sim:{}", path.display()), profile })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A drive that comes with the program, or one that is drawn.
pub fn named(name: &str) -> Result<Drive, Failure> {
    let profile = preset(name).map_err(|error| Failure::cannot(format!("{error}.")))?;
    Ok(Drive { name: name.to_owned(), target: format!("sim:{name}"), profile })
}

/// The text of a drive that comes with the program.
pub fn text(name: &str) -> Result<String, Failure> {
    preset_text(name).map(|text| text.into_owned()).map_err(|error| Failure::cannot(format!("{error}.")))
}

/// A drive that somebody else uses too.
pub fn loaded(folder: &Folder, of: &str, name: &str, load: &str) -> Result<Drive, Failure> {
    folder.drive(name, &format!("{}\n[[faults]]\nkind = \"other-load\"\n{load}\n", text(of)?))
}
