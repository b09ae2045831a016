//! Where a file lies: its pieces as the file system tells them, and the place of each on a disk, through partitions and
//! volumes that are put together of straight stretches.
//!
//! A loop device counts as a disk: it is what somebody mounted. On file systems that keep places of their own (btrfs) the numbers
//! are no places on a device, and where the pieces lie is then not told.

use super::identity::{DeviceNumber, FileNumber};
use super::stack::{FilePlace, mount_of};
use super::sysfs::{BlockDevice, SystemRoots};
use super::{mapped_volume, system_call};
use model::file_work::{DiskShare, FileLayout};
use std::io;
use std::os::fd::BorrowedFd;

/// So many extents are looked at: a file in more pieces is in pieces, and each call to the system tells 128.
const EXTENTS_MAX: u64 = 100_000;
/// Volumes can be put on each other without end; deeper than this nobody follows.
const DEPTH_MAX: u32 = 8;
/// sysfs counts in sectors of this size, whatever those of the drive are.
const SECTOR: u64 = 512;
/// File systems whose places are places on their one device.
const WITH_PLACES: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "f2fs", "vfat"];

/// A stretch of a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stretch {
    disk: String,
    disk_bytes: u64,
    first: u64,
    length: u64,
}

/// Where a file lies whose bytes are written out.
///
/// # Errors
/// A sentence, where the file system does not tell.
pub fn file_layout(file: BorrowedFd<'_>) -> Result<FileLayout, String> {
    let roots = SystemRoots::live();
    let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
    let status = system_call::extended_status(file, mask)
        .map_err(|error| format!("the file cannot be looked at: {error}"))?;
    let file_system = DeviceNumber { major: status.stx_dev_major, minor: status.stx_dev_minor };
    let mount_id = (status.stx_mask & libc::STATX_MNT_ID != 0).then_some(status.stx_mnt_id);
    let mount = mount_of(&roots, &FilePlace { mount_id, file_system });
    let kind = mount.map_or_else(|| "this file system".to_string(), |mount| mount.file_system);
    let device = WITH_PLACES.contains(&kind.as_str()).then(|| BlockDevice::by_number(&roots, file_system));
    let mut found = Found::default();
    let pieces = pieces(file).map_err(|error| untold(&kind, &error))?;
    for piece in &pieces {
        found.add(piece);
    }
    match device {
        Some(Ok(device)) => pieces.iter().for_each(|piece| found.place(&roots, &device, piece)),
        Some(Err(error)) => found.unplaced = Some(format!("the device below cannot be looked at: {error}")),
        None => {
            found.unplaced = Some(format!("{kind} tells places of its own, which are no places on a disk"));
        }
    }
    Ok(found.layout())
}

/// The kind of the file system that a file or folder lies in, as the system calls it, and the number of its device.
pub fn file_system_of(descriptor: BorrowedFd<'_>) -> io::Result<(String, FileNumber)> {
    let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
    let status = system_call::extended_status(descriptor, mask)?;
    let file_system = DeviceNumber { major: status.stx_dev_major, minor: status.stx_dev_minor };
    let mount_id = (status.stx_mask & libc::STATX_MNT_ID != 0).then_some(status.stx_mnt_id);
    let mount = mount_of(&SystemRoots::live(), &FilePlace { mount_id, file_system });
    let kind = mount.map_or_else(|| "unknown".to_string(), |mount| mount.file_system);
    Ok((kind, FileNumber { file_system, inode: status.stx_ino }))
}

fn untold(kind: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::ENOSYS) => {
            format!("{kind} does not tell where its files lie")
        }
        _ => format!("where the file lies cannot be asked for: {error}"),
    }
}

/// A piece of a file: how long it is, and where it begins if it has a place.
struct Piece {
    length: u64,
    place: Option<u64>,
}

/// The pieces of a file, in its order; of the first [`EXTENTS_MAX`].
fn pieces(file: BorrowedFd<'_>) -> io::Result<Vec<Piece>> {
    let (mut pieces, mut position) = (Vec::new(), 0);
    while (pieces.len() as u64) < EXTENTS_MAX {
        let extents = system_call::extents(file, position)?;
        let Some(last) = extents.last() else { break };
        let (end, is_last) = (last.end, last.is_last || last.end <= position);
        pieces.extend(extents.iter().map(|extent| Piece { length: extent.length, place: extent.place }));
        position = end;
        if is_last {
            break;
        }
    }
    Ok(pieces)
}

/// What was found of a file so far.
#[derive(Default)]
struct Found {
    extents: u64,
    fragments: u64,
    end_of_last: Option<u64>,
    /// With the sum of places times bytes.
    disks: Vec<(DiskShare, f64)>,
    unplaced: Option<String>,
}

impl Found {
    fn add(&mut self, piece: &Piece) {
        self.extents += 1;
        let follows = piece.place.is_some() && piece.place == self.end_of_last;
        self.fragments += u64::from(!follows);
        self.end_of_last = piece.place.map(|place| place + piece.length);
    }

    fn place(&mut self, roots: &SystemRoots, device: &BlockDevice, piece: &Piece) {
        let Some(place) = piece.place else {
            self.unplaced.get_or_insert_with(|| "a part of it has no place of its own".into());
            return;
        };
        match stretches(roots, device, place, piece.length, 0) {
            Ok(stretches) => stretches.into_iter().for_each(|stretch| self.on_disk(stretch)),
            Err(why) => {
                self.unplaced.get_or_insert(why);
            }
        }
    }

    fn on_disk(&mut self, stretch: Stretch) {
        let Stretch { disk, disk_bytes, first, length } = stretch;
        let end = first + length;
        let weight = (first as f64 + length as f64 / 2.0) * length as f64;
        match self.disks.iter_mut().find(|(share, _)| share.disk == disk) {
            Some((share, sum)) => {
                share.bytes += length;
                share.first = share.first.min(first);
                share.end = share.end.max(end);
                *sum += weight;
            }
            None => {
                let share = DiskShare { disk, disk_bytes, bytes: length, first, end, middle: 0.0 };
                self.disks.push((share, weight));
            }
        }
    }

    fn layout(self) -> FileLayout {
        let disks = self
            .disks
            .into_iter()
            .map(|(share, sum)| DiskShare { middle: sum / share.bytes.max(1) as f64, ..share });
        FileLayout {
            extents: self.extents,
            fragments: self.fragments,
            disks: disks.collect(),
            unplaced: self.unplaced,
        }
    }
}

/// On which disks a stretch of a device lies.
fn stretches(
    roots: &SystemRoots,
    device: &BlockDevice,
    first: u64,
    length: u64,
    depth: u32,
) -> Result<Vec<Stretch>, String> {
    if depth > DEPTH_MAX {
        return Err("volumes lie on volumes, deeper than anybody follows".into());
    }
    let unreadable = |error: io::Error| format!("what {} lies on cannot be read: {error}", device.name);
    if device.is_partition() {
        let start = device.number_attribute("start").ok_or("where the partition begins is not told")?;
        let disk = device.disk().map_err(unreadable)?;
        return stretches(roots, &disk, first + start * SECTOR, length, depth + 1);
    }
    let members = device.slaves().unwrap_or_default();
    if members.is_empty() {
        let disk_bytes = device.number_attribute("size").unwrap_or(0) * SECTOR;
        return Ok(vec![Stretch { disk: device.name.clone(), disk_bytes, first, length }]);
    }
    if device.directory.join("md").exists() {
        return Err(format!("{} spreads it over several disks", device.name));
    }
    let mut below = Vec::new();
    for part in mapped_volume::straight_parts(device, first, length)? {
        let member = BlockDevice::by_number(roots, part.device).map_err(unreadable)?;
        below.extend(stretches(roots, &member, part.first, part.length, depth + 1)?);
    }
    Ok(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pieces: &[(u64, Option<u64>)]) -> Found {
        let mut found = Found::default();
        pieces.iter().for_each(|&(length, place)| found.add(&Piece { length, place }));
        found
    }

    #[test]
    fn pieces_that_follow_each_other_are_one() {
        assert_eq!(found(&[(10, Some(100)), (10, Some(110)), (5, Some(120))]).fragments, 1);
        assert_eq!(found(&[(10, Some(100)), (10, Some(120)), (5, Some(90))]).fragments, 3);
        assert_eq!(found(&[(10, None), (10, None)]).fragments, 2);
    }

    #[test]
    fn the_mean_place_weighs_bytes() {
        let mut found = Found::default();
        for (first, length) in [(0, 10), (90, 30)] {
            found.on_disk(Stretch { disk: "sda".into(), disk_bytes: 1000, first, length });
        }
        let layout = found.layout();
        // 10 bytes around 5 and 30 around 105.
        assert_eq!(layout.disks[0].middle, 80.0);
        assert_eq!((layout.disks[0].first, layout.disks[0].end, layout.disks[0].bytes), (0, 120, 40));
    }
}
