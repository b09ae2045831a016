//! The virtual drives that are measured.

use crate::Failure;
use crate::bench::virtual_drive::{Drive, Folder, loaded, named};

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

/// Those that come with the program.
pub fn known() -> Result<Vec<Drive>, Failure> {
    KNOWN.iter().map(|name| named(name)).collect()
}

/// So many random disks and volumes, with numbers from `first` on.
pub fn drawn(first: u64, count: u64) -> Result<Vec<Drive>, Failure> {
    let name = |number: u64| match number % VOLUME_EVERY {
        0 => format!("random-volume-{number}"),
        _ => format!("random-hard-disk-{number}"),
    };
    (first..first + count).map(|number| named(&name(number))).collect()
}

/// Disks that answer somebody else's random reads too: 25 a second take a disk a third of its time.
pub fn shared(folder: &Folder) -> Result<Vec<Drive>, Failure> {
    let drive = |of: &&str| loaded(folder, of, &format!("{of}, shared"), "per_second = 25");
    ["st3000dm001", "dt01aca300", "sata-160gb"].iter().map(drive).collect()
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, drawn, known, shared};
    use crate::bench::virtual_drive::Folder;

    #[test]
    fn all_drives_can_be() {
        assert_eq!(known().map_or(0, |drives| drives.len()), KNOWN.len());
        assert_eq!(drawn(5000, 6).map_or(0, |drives| drives.len()), 6);
        let folder = Folder::make("access-drives").unwrap_or_else(|failure| panic!("{}", failure.message));
        assert_eq!(shared(&folder).map_or(0, |drives| drives.len()), 3);
    }
}
