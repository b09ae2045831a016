//! Virtual drives by what is typed: a name of one that comes with the program, or a file that ends in `.toml`.

use crate::error::UserError;
use report::hostile::harmless;
use sim::Drive;
use sim::contents::Contents;
use sim::profile::{Profile, contents, open_profile, preset, preset_text};
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
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
        let profile = Profile::parse(&text, &harmless(name, usize::MAX));
        (text, profile)
    } else {
        let profile = preset(name);
        (preset_text(name).unwrap_or_default().to_string(), profile)
    };
    let profile = profile.map_err(|error| UserError::usage(error.to_string()))?;
    Ok(VirtualDrive { profile, text, path })
}

fn read(name: &str) -> Result<String, UserError> {
    let shown = harmless(name, usize::MAX);
    let cannot = |why: &str| UserError::usage(format!("cannot read the profile {shown}: {why}"));
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => {
            cannot(&format!("there is no such file. Make one: drivescope sim new {shown}"))
        }
        ErrorKind::PermissionDenied => cannot("you may not read it. See whose it is: ls -l"),
        _ => cannot(&error.to_string()),
    };
    // A pipe would be waited for, and a device never ends.
    if !fs::metadata(name).map_err(failed)?.is_file() {
        return Err(cannot("it is not a regular file. Name the file that holds the profile"));
    }
    let mut bytes = Vec::new();
    File::open(name)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(cannot(
            "it is larger than 4 MiB, so it is no profile. Name the file that holds the profile",
        ));
    }
    String::from_utf8(bytes).map_err(|_| cannot("it is not text in UTF-8, so it is no profile"))
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
