//! The virtual drives that come with the program: one file each in `presets/`.

use crate::generator;
use crate::profile::document::Profile;
use crate::profile::error::ProfileError;
use crate::profile::parse::nearest;
use std::borrow::Cow;

/// Names and texts, from one list of names.
macro_rules! presets {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../presets/", $name, ".toml"))),)*]
    };
}

/// By kind, and among these by age: the order in which they are listed.
const PRESETS: &[(&str, &str)] = presets![
    // Drives to try a program on.
    "null",
    "constant",
    "zoned",
    "faulty",
    // Hard disks.
    "st3250823a",
    "sata-160gb",
    "wd3000bkhg",
    "wd20ears",
    "wd20ears-usb2",
    "wd20ears-usb3",
    "hds723030ala640",
    "st3000dm001",
    "dt01aca300",
    "disk-4tb",
    "x300-hdwe150",
    "exos-x20",
    "failing-disk",
    // Shingled disks.
    "smr-2tb",
    "st8000as0002",
    "st8000dm004",
    // Volumes.
    "raid0-3x64k",
    "raid1-2",
    // Flash.
    "x25-m",
    "sata-tlc-500gb",
    "870-qvo",
    "660p",
    "970-pro",
    "980-pro",
    "nm790",
    "lying-stick",
];

/// The names of the drives that come with the program.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The text of a profile that comes with the program, comments and all, or of one that is drawn: `random-flash-17`.
///
/// # Errors
/// When there is none of that name; says which is near.
pub fn preset_text(name: &str) -> Result<Cow<'static, str>, ProfileError> {
    if let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) {
        return Ok(Cow::Borrowed(text));
    }
    let no_such_drive =
        || ProfileError::NoSuchDrive { name: name.to_string(), nearest: nearest(name, preset_names()) };
    let drawn = generator::named(name).ok_or_else(no_such_drive)?;
    toml::to_string(&drawn).map(Cow::Owned).map_err(|error| ProfileError::Unsound {
        file: name.to_string(),
        line: None,
        reason: error.to_string(),
    })
}

/// A profile that comes with the program, or one that is drawn.
///
/// # Errors
/// When there is none of that name.
pub fn preset(name: &str) -> Result<Profile, ProfileError> {
    match generator::named(name) {
        Some(drawn) => Ok(drawn),
        None => Profile::parse(&preset_text(name)?, &format!("{name}.toml")),
    }
}
