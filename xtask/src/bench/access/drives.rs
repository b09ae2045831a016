//! The virtual drives that are measured.

use std::fs;
use std::path::Path;

use sim::profile::{Profile, preset, preset_text};

use crate::Failure;

/// Hard disks, shingled ones, links, volumes, flash, and drives that show nothing.
const KNOWN: &[&str] = &[
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
    "smr-2tb",
    "st8000as0002",
    "st8000dm004",
    "raid0-3x64k",
    "raid1-2",
    "x25-m",
    "sata-tlc-500gb",
    "970-pro",
    "constant",
    "null",
];
/// Of three random drives two are disks and one is a volume.
const VOLUME_EVERY: u64 = 3;

/// A drive to measure.
pub struct Drive {
    /// What it is called.
    pub name: String,
    /// What to measure: `sim:NAME`, `sim:FILE.toml`.
    pub target: String,
    /// What it is made of.
    pub profile: Profile,
}

/// Those that come with the program.
pub fn known() -> Vec<Drive> {
    KNOWN.iter().filter_map(|name| named(name)).collect()
}

/// So many random disks and volumes, with numbers from `first` on.
pub fn drawn(first: u64, count: u64) -> Vec<Drive> {
    let name = |number: u64| match number % VOLUME_EVERY {
        0 => format!("random-volume-{number}"),
        _ => format!("random-hard-disk-{number}"),
    };
    (first..first + count).filter_map(|number| named(&name(number))).collect()
}

fn named(name: &str) -> Option<Drive> {
    let profile = preset(name).ok()?;
    Some(Drive { name: name.to_owned(), target: format!("sim:{name}"), profile })
}

/// Disks that answer somebody else's random reads too: 25 a second take a disk a third of its time.
pub fn loaded(folder: &Path) -> Result<Vec<Drive>, Failure> {
    let drive = |name: &&str| {
        let text = preset_text(name).map_err(|error| Failure::cannot(format!("{error}.")))?;
        let text = format!("{text}\n[[faults]]\nkind = \"other-load\"\nper_second = 25\n");
        let profile =
            Profile::parse(&text, name).map_err(|error| Failure::cannot(format!("No profile: {error}.")))?;
        let path = folder.join(format!("{name}-shared.toml"));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, &text))
            .map_err(|error| Failure::cannot(format!("Cannot write {}: {error}.", path.display())))?;
        Ok(Drive { name: format!("{name}, shared"), target: format!("sim:{}", path.display()), profile })
    };
    ["st3000dm001", "dt01aca300", "sata-160gb"].iter().map(drive).collect()
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, drawn, known, loaded};

    #[test]
    fn all_drives_can_be() {
        assert_eq!(known().len(), KNOWN.len());
        assert_eq!(drawn(5000, 6).len(), 6);
        let folder = std::env::temp_dir().join(format!("drivescope-bench-drives-{}", std::process::id()));
        assert_eq!(loaded(&folder).map_or(0, |drives| drives.len()), 3);
        let _ = std::fs::remove_dir_all(folder);
    }
}
