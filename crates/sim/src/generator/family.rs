//! The families of drawn drives, and what all drives of a family have.

use crate::profile::{Identity, Profile, VERSION};

model::words! {
    /// By the words that are written in the names of its drives.
    pub enum Family {
        HardDisk = "hard-disk",
        Shingled = "shingled",
        Flash = "flash",
        Volume = "volume",
        Remote = "remote",
        Cloud = "cloud",
        Cached = "cached",
        ReadPolicy = "read-policy",
        Trimmed = "trimmed",
    }
}

impl Family {
    fn noun(self) -> &'static str {
        match self {
            Family::HardDisk => "hard disk",
            Family::Shingled => "SMR disk",
            Family::Flash | Family::Trimmed => "flash drive",
            Family::Volume => "volume",
            Family::Remote => "target",
            Family::Cloud => "cloud volume",
            Family::Cached => "disk behind a write cache",
            Family::ReadPolicy => "hard disk",
        }
    }
}

/// The name under which a drawn drive opens: `random-hard-disk-17`.
pub fn random_name(family: Family, seed: u64) -> String {
    format!("random-{}-{seed}", family.name())
}

/// What every drawn drive has; the mechanism is still missing. `ranges` are the sources of what it is drawn from.
pub(super) fn frame(family: Family, seed: u64, description: String, ranges: &[&str]) -> Profile {
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
        ..Profile::default()
    }
}

pub(super) fn size(bytes: u64) -> String {
    match bytes as f64 / 1e9 {
        gb if gb < 999.5 => format!("{gb:.0} GB"),
        gb => format!("{:.2} TB", gb / 1e3),
    }
}
