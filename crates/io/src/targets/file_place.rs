//! Where a file lies: its pieces as the file system tells them, and the place of each on a disk, through partitions and
//! volumes that are put together of straight stretches.
//!
//! A loop device counts as a disk: it is what somebody mounted. On file systems that keep places of their own (btrfs) the numbers
//! are no places on a device, and where the pieces lie is then not told.

use super::identity::FileNumber;
use super::mapped_volume::{VolumeError, straight_parts};
use super::stack::{FilePlace, mount_of};
use super::sysfs::{BlockDevice, SystemRoots};
use super::system_call;
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

#[derive(Clone, Debug, PartialEq, Eq)]
struct Stretch {
    disk: String,
    disk_bytes: u64,
    first: u64,
    length: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    #[error("cannot stat the file: {0}")]
    Status(io::Error),
    #[error("{file_system} does not report file extents")]
    Untold { file_system: String },
    #[error("cannot query the extents of the file: {0}")]
    Extents(io::Error),
}

#[derive(Debug, thiserror::Error)]
enum PlaceError {
    #[error("volumes are stacked too deep")]
    TooDeep,
    #[error("the start of the partition is unknown")]
    PartitionStart,
    #[error("cannot read the devices below {device}: {source}")]
    Below { device: String, source: io::Error },
    #[error("{device} spans several disks")]
    Spread { device: String },
    #[error(transparent)]
    Volume(#[from] VolumeError),
}

pub fn file_layout(file: BorrowedFd<'_>) -> Result<FileLayout, LayoutError> {
    let roots = SystemRoots::live();
    let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
    let status = system_call::extended_status(file, mask).map_err(LayoutError::Status)?;
    let place = FilePlace::of(&status);
    let kind = file_system_kind(&roots, &place, "this file system");
    let pieces = match pieces(file) {
        Ok(pieces) => pieces,
        Err(error) => return Err(untold(kind, error)),
    };
    let mut found = Found::default();
    for piece in &pieces {
        found.add(piece);
    }
    if !WITH_PLACES.contains(&kind.as_str()) {
        found.unplaced = Some(format!("{kind} reports its own offsets, not offsets on a disk"));
        return Ok(found.layout());
    }
    match BlockDevice::by_number(&roots, place.file_system) {
        Ok(device) => {
            for piece in &pieces {
                found.place(&roots, &device, piece);
            }
        }
        Err(error) => found.unplaced = Some(format!("cannot stat the device below: {error}")),
    }
    Ok(found.layout())
}

/// The kind of the file system that a file or folder lies in, as the system calls it, and the number of its device.
pub fn file_system_of(descriptor: BorrowedFd<'_>) -> io::Result<(String, FileNumber)> {
    let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
    let status = system_call::extended_status(descriptor, mask)?;
    let place = FilePlace::of(&status);
    let kind = file_system_kind(&SystemRoots::live(), &place, "unknown");
    Ok((kind, FileNumber { file_system: place.file_system, inode: status.stx_ino }))
}

fn file_system_kind(roots: &SystemRoots, place: &FilePlace, otherwise: &str) -> String {
    match mount_of(roots, place) {
        Some(mount) => mount.file_system,
        None => otherwise.to_owned(),
    }
}

fn untold(file_system: String, error: io::Error) -> LayoutError {
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::ENOSYS) => LayoutError::Untold { file_system },
        _ => LayoutError::Extents(error),
    }
}

struct Piece {
    length: u64,
    place: Option<u64>,
}

fn pieces(file: BorrowedFd<'_>) -> io::Result<Vec<Piece>> {
    let (mut pieces, mut position) = (Vec::new(), 0);
    while (pieces.len() as u64) < EXTENTS_MAX {
        let extents = system_call::extents(file, position)?;
        let Some(last) = extents.last() else { break };
        let (end, is_last) = (last.end, last.is_last || last.end <= position);
        for extent in &extents {
            pieces.push(Piece { length: extent.length, place: extent.place });
        }
        if is_last {
            break;
        }
        assert!(end > position, "extents go on in the file");
        position = end;
    }
    Ok(pieces)
}

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
            self.unplaced.get_or_insert("part of it has no extent of its own".into());
            return;
        };
        match stretches(roots, device, place, piece.length, 0) {
            Ok(stretches) => {
                for stretch in stretches {
                    self.on_disk(stretch);
                }
            }
            Err(why) => {
                self.unplaced.get_or_insert(why.to_string());
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
        let mut disks = Vec::new();
        for (mut share, sum) in self.disks {
            share.middle = sum / share.bytes.max(1) as f64;
            disks.push(share);
        }
        FileLayout { extents: self.extents, fragments: self.fragments, disks, unplaced: self.unplaced }
    }
}

fn stretches(
    roots: &SystemRoots,
    device: &BlockDevice,
    first: u64,
    length: u64,
    depth: u32,
) -> Result<Vec<Stretch>, PlaceError> {
    if depth > DEPTH_MAX {
        return Err(PlaceError::TooDeep);
    }
    let unreadable = |source| PlaceError::Below { device: device.name.clone(), source };
    if device.is_partition() {
        let start = device.number_attribute("start").ok_or(PlaceError::PartitionStart)?;
        let disk = device.disk().map_err(unreadable)?;
        return stretches(roots, &disk, first + start * SECTOR, length, depth + 1);
    }
    let members = device.slaves().unwrap_or_default();
    if members.is_empty() {
        let disk_bytes = device.number_attribute("size").unwrap_or(0) * SECTOR;
        return Ok(vec![Stretch { disk: device.name.clone(), disk_bytes, first, length }]);
    }
    if device.directory.join("md").exists() {
        return Err(PlaceError::Spread { device: device.name.clone() });
    }
    let mut below = Vec::new();
    for part in straight_parts(device, first, length)? {
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
