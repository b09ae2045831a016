//! The virtual drives that come with the program: one file each in `presets/`.

use crate::profile::document::Profile;
use crate::profile::error::ProfileError;
use crate::profile::parse::nearest;

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

/// The text of a profile that comes with the program, comments and all.
///
/// # Errors
/// When there is none of that name; says which is near.
pub fn preset_text(name: &str) -> Result<&'static str, ProfileError> {
    let preset = PRESETS.iter().find(|(known, _)| *known == name);
    preset.map(|(_, text)| *text).ok_or_else(|| ProfileError::NoSuchDrive {
        name: name.to_string(),
        nearest: nearest(name, preset_names()),
    })
}

/// A profile that comes with the program.
///
/// # Errors
/// When there is none of that name.
pub fn preset(name: &str) -> Result<Profile, ProfileError> {
    Profile::parse(preset_text(name)?, &format!("{name}.toml"))
}
