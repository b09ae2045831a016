//! Virtual drives as text: what a profile consists of, those that come with the program, and how one becomes a drive.
//!
//! A profile describes the mechanism; what it makes true is in [`crate::truth`]. The sections are defined where the
//! mechanisms are, and described for people in `docs/profiles.md`.
//!
//! ```text
//! text ─► parse ─► Profile ─► check ─► build ─► mechanism ─► link ─► faults
//!           │                                   (or a volume of such)
//!           └── file, line and reason of what cannot be
//! ```

mod build;
mod document;
mod error;
mod line;
mod parse;
mod presets;

pub use build::contents;
pub(crate) use build::plain_facts;
pub(crate) use document::member_profile;
pub use document::{Identity, Medium, Profile, VERSION};
pub use error::ProfileError;
pub use presets::{preset, preset_names, preset_text};

use crate::Drive;
use crate::zoned::{ZonedDrive, ZonedProfile};

/// Opens the virtual drive of that name, without the `sim:` before it. `seed` draws all that is random in it.
///
/// # Errors
/// When there is none of that name; says which is near.
pub fn open(name: &str, seed: u64) -> Result<Box<dyn Drive + Send>, ProfileError> {
    open_profile(&preset(name)?, &format!("sim:{name}"), seed)
}

/// Opens the drive of a profile, which will say that it is `path`.
///
/// # Errors
/// When such a drive cannot be.
pub fn open_profile(profile: &Profile, path: &str, seed: u64) -> Result<Box<dyn Drive + Send>, ProfileError> {
    build::build(profile, path, seed).map_err(|flaw| ProfileError::Unsound {
        file: path.to_string(),
        line: None,
        reason: flaw.to_string(),
    })
}

/// Opens a disk of the given rates.
pub fn open_zoned(profile: ZonedProfile, seed: u64) -> ZonedDrive {
    let mut facts = plain_facts("sim:zoned", profile.capacity);
    facts.rotational = Some(true);
    ZonedDrive::new(facts, profile, seed)
}

#[cfg(test)]
mod tests;
