//! Virtual drives drawn at random: as many as there are seeds, so that whoever looks for what is true of a drive can be
//! judged on drives that nobody tuned anything for.
//!
//! What is drawn is the mechanism, never a result, from ranges within which drives were measured or specified; each
//! range says where it comes from. Three things are not drawn one by one, since they hang together on every drive: how
//! long a track is at a density, how large caches are at a density, and how fast the link of a generation is.
//!
//! | family | what is drawn | file |
//! |---|---|---|
//! | `hard-disk` | speed, surfaces, zones, layout, skews, seeks, caches, queue, defects, standby, link | `hard_disk` |
//! | `shingled` | the same, with a media cache, bands and cleaning | `shingled` |
//! | `flash` | dies, times, spare space, SLC cache, buffer, valleys, heat, sleep, link | `flash` |
//! | `volume` | stripes and mirrors, over drives that come with the program and over drawn ones | `volume` |
//!
//! The same family and seed is the same drive, and its name says both: `random-hard-disk-17`.

mod draws;
mod flash;
mod geometry;
mod hard_disk;
mod mechanics;
mod shingled;
mod volume;

use crate::profile::{Identity, Profile, VERSION};

/// What kind of drive is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Hard disks whose tracks do not overlap.
    HardDisk,
    /// Drive-managed SMR disks.
    Shingled,
    /// Flash drives.
    Flash,
    /// Stripes and mirrors.
    Volume,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 4] = [Family::HardDisk, Family::Shingled, Family::Flash, Family::Volume];

    /// As it is written in the name of a drive: `hard-disk`.
    pub fn name(self) -> &'static str {
        match self {
            Family::HardDisk => "hard-disk",
            Family::Shingled => "shingled",
            Family::Flash => "flash",
            Family::Volume => "volume",
        }
    }

    /// What one of them is, in a word or two.
    fn noun(self) -> &'static str {
        match self {
            Family::HardDisk => "hard disk",
            Family::Shingled => "SMR disk",
            Family::Flash => "flash drive",
            Family::Volume => "volume",
        }
    }
}

/// Draws a drive. The profile passes its check.
pub fn random_profile(family: Family, seed: u64) -> Profile {
    match family {
        Family::HardDisk => hard_disk::draw(seed),
        Family::Shingled => shingled::draw(seed),
        Family::Flash => flash::draw(seed),
        Family::Volume => volume::draw(seed),
    }
}

/// The name under which a drawn drive opens: `random-hard-disk-17`.
pub fn random_name(family: Family, seed: u64) -> String {
    format!("random-{}-{seed}", family.name())
}

/// The drive of such a name; none when it is the name of something else.
pub(crate) fn named(name: &str) -> Option<Profile> {
    let of_family = |family: Family| {
        let rest = name.strip_prefix("random-")?.strip_prefix(family.name())?.strip_prefix('-')?;
        let seed: u64 = rest.parse().ok()?;
        // One drive has one name: no sign, no zeros before it.
        (random_name(family, seed) == name).then(|| random_profile(family, seed))
    };
    Family::ALL.into_iter().find_map(of_family)
}

/// What every drawn drive has; the mechanism is still missing. `ranges` are the sources of what it is drawn from.
fn frame(family: Family, seed: u64, description: String, ranges: &[&str]) -> Profile {
    let drawn = format!(
        "Drawn by the generator of drivescope: family {}, seed {seed}. No such drive was ever measured.",
        family.name()
    );
    Profile {
        version: VERSION,
        name: random_name(family, seed),
        description,
        sources: std::iter::once(drawn).chain(ranges.iter().map(ToString::to_string)).collect(),
        identity: Identity {
            model: Some(format!("Random {} {seed}", family.noun())),
            serial: Some(format!("SIM-{}", random_name(family, seed).to_uppercase())),
            firmware: Some("SIM1".into()),
            ..Identity::default()
        },
        disk: None,
        smr: None,
        flash: None,
        constant: None,
        zoned: None,
        volume: None,
        link: None,
        faults: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
