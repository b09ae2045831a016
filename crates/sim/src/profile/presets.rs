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
    // Volumes of a cloud.
    "cloud-volume",
    "cloud-volume-bytes",
    // Flash.
    "x25-m",
    "sata-tlc-500gb",
    "870-qvo",
    "660p",
    "970-pro",
    "980-pro",
    "nm790",
    "consumer-nvme-1tb",
    "dc-nvme-1tb",
    "lying-stick",
];

pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

fn shipped(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn drawn(name: &str) -> Result<Profile, ProfileError> {
    match generator::named(name) {
        Some(drawn) => Ok(drawn),
        None => {
            Err(ProfileError::NoSuchDrive { name: name.to_string(), nearest: nearest(name, preset_names()) })
        }
    }
}

/// The text of a profile that ships, comments and all, or of one that is drawn: `random-flash-17`.
pub fn preset_text(name: &str) -> Result<Cow<'static, str>, ProfileError> {
    match shipped(name) {
        Some(text) => Ok(Cow::Borrowed(text)),
        None => Ok(Cow::Owned(toml::to_string(&drawn(name)?).expect("a drawn drive has a form in TOML"))),
    }
}

pub fn preset(name: &str) -> Result<Profile, ProfileError> {
    match shipped(name) {
        Some(text) => Profile::parse(text, &format!("{name}.toml")),
        None => drawn(name),
    }
}
