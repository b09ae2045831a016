//! Virtual drives by what is typed: a name of one that comes with the program, or a file that ends in `.toml`.

use crate::error::UserError;
use sim::Drive;
use sim::contents::Contents;
use sim::profile::{Profile, contents, open_profile, preset, preset_text};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A profile is a page or two; what is longer is something else, a disk for instance.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// A virtual drive that can be opened.
pub struct VirtualDrive {
    /// What it is made of.
    pub profile: Profile,
    /// The same as it was written, comments and all.
    pub text: String,
    /// What it is called: `sim:zoned`, `sim:mine.toml`.
    pub path: String,
}

/// Finds the virtual drive that was typed, with `sim:` before it or without.
///
/// # Errors
/// When there is none, or its file cannot be read or is no sound profile.
pub fn find(typed: &str) -> Result<VirtualDrive, UserError> {
    let name = typed.strip_prefix("sim:").unwrap_or(typed);
    let path = format!("sim:{name}");
    let is_file = Path::new(name).extension().is_some_and(|extension| extension == "toml");
    let (text, profile) = if is_file {
        let text = read(name)?;
        let profile = Profile::parse(&text, name);
        (text, profile)
    } else {
        let profile = preset(name);
        (preset_text(name).unwrap_or_default().to_string(), profile)
    };
    let profile = profile.map_err(|error| UserError::usage(error.to_string()))?;
    Ok(VirtualDrive { profile, text, path })
}

fn read(name: &str) -> Result<String, UserError> {
    let cannot = |why: String| {
        UserError::usage(format!(
            "cannot read the profile {name}: {why}. Make one: drivescope sim new {name}"
        ))
    };
    let mut text = String::new();
    let read = File::open(name).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text));
    match read {
        Ok(bytes) if bytes as u64 > FILE_BYTES_MAX => Err(cannot("it is larger than 4 MiB".into())),
        Ok(_) => Ok(text),
        Err(error) => Err(cannot(error.to_string())),
    }
}

impl VirtualDrive {
    /// Opens it. `seed` draws all that is random in it.
    ///
    /// # Errors
    /// When such a drive cannot be.
    pub fn open(&self, seed: u64) -> Result<Box<dyn Drive + Send>, UserError> {
        open_profile(&self.profile, &self.path, seed).map_err(|error| UserError::usage(error.to_string()))
    }

    /// What it holds: nothing yet.
    ///
    /// # Errors
    /// When such a drive cannot be.
    pub fn contents(&self, seed: u64) -> Result<Contents, UserError> {
        contents(&self.profile, seed).map_err(|flaw| UserError::usage(format!("{}: {flaw}", self.path)))
    }
}
