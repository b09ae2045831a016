//! The virtual drives that are measured.

use crate::failure::Failure;
use crate::virtual_drive::{self, Drive, Folder, all_named};

/// Hard disks, shingled ones, links, volumes, flash, and drives that show nothing.
const KNOWN: &str = "st3250823a sata-160gb wd3000bkhg wd20ears wd20ears-usb2 wd20ears-usb3 hds723030ala640 \
    st3000dm001 dt01aca300 disk-4tb x300-hdwe150 exos-x20 failing-disk smr-2tb st8000as0002 \
    st8000dm004 raid0-3x64k raid1-2 x25-m sata-tlc-500gb 970-pro constant null";
const FAMILIES: [&str; 3] = ["random-volume", "random-hard-disk", "random-hard-disk"];
/// 25 random reads a second take a disk a third of its time.
const LOAD: &str = "per_second = 25";
const LOADED: [&str; 3] = ["st3000dm001", "dt01aca300", "sata-160gb"];

pub fn known() -> Result<Vec<Drive>, Failure> {
    all_named(KNOWN)
}

pub fn drawn(first: u64, count: u64) -> Result<Vec<Drive>, Failure> {
    virtual_drive::drawn(&FAMILIES, first, count)
}

/// Disks that answer somebody else's random reads too.
pub fn shared(folder: &Folder) -> Result<Vec<Drive>, Failure> {
    LOADED.iter().map(|of| folder.loaded(of, &format!("{of}, shared"), LOAD)).collect()
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, drawn, known, shared};
    use crate::virtual_drive::Folder;

    #[test]
    fn all_drives_can_be() {
        assert_eq!(known().map_or(0, |drives| drives.len()), KNOWN.split(' ').count());
        assert_eq!(drawn(5000, 6).map_or(0, |drives| drives.len()), 6);
        let folder = Folder::make().expect("a folder");
        assert_eq!(shared(&folder).map_or(0, |drives| drives.len()), 3);
    }
}
