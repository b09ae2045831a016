//! The virtual drives that are written to.

use crate::failure::Failure;
use crate::virtual_drive::{self, Drive, all_named};

/// Hard disks, shingled ones, links, volumes, flash, and drives that show nothing.
const KNOWN: &str = "st3250823a sata-160gb wd3000bkhg wd20ears wd20ears-usb2 wd20ears-usb3 hds723030ala640 \
    st3000dm001 dt01aca300 disk-4tb x300-hdwe150 exos-x20 failing-disk raid0-3x64k raid1-2 smr-2tb \
    st8000as0002 st8000dm004 x25-m sata-tlc-500gb 870-qvo 660p 970-pro 980-pro nm790 zoned constant \
    null";
const FAMILIES: [&str; 3] = ["random-hard-disk", "random-shingled", "random-flash"];

pub fn known() -> Result<Vec<Drive>, Failure> {
    all_named(KNOWN)
}

/// So many random drives, with numbers from `first` on.
pub fn drawn(first: u64, count: u64) -> Result<Vec<Drive>, Failure> {
    virtual_drive::drawn(&FAMILIES, first, count)
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, drawn, known};

    #[test]
    fn all_drives_can_be() {
        assert_eq!(known().map_or(0, |drives| drives.len()), KNOWN.split(' ').count());
        assert_eq!(drawn(5000, 6).map_or(0, |drives| drives.len()), 6);
    }
}
