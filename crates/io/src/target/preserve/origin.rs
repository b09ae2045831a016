//! Whose data a journal holds, so that they are given to no other drive, nor to one that was used since.

use super::super::Target;
use super::super::identity::{DeviceNumber, Identity};
use super::medium::Medium;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Places that are looked at to tell whether a drive was used since, so many of 4 KiB: where file systems keep what changes
/// when they are mounted, and others at equal distances.
const LOOKED_AT: [u64; 6] = [0, 4096, 65_536, 1 << 20, 64 << 20, 256 << 20];
const SPREAD: u64 = 58;
const LOOK_BYTES: u64 = 4096;
/// The longest text that is kept.
const TEXT_BYTES_MAX: usize = 4096;
/// Loop devices that lie on each other are followed so far.
const BENEATH_MAX: usize = 16;

/// Names a target, and what some places of it held when the journal began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `device` or `file`.
    pub is_device: bool,
    /// Its size.
    pub capacity: u64,
    /// Its logical block.
    pub block: u64,
    /// Where it is found: for people, and to tell files and devices without a serial number apart.
    pub path: String,
    /// What has to be typed back for it: serial number and name of the partition.
    pub confirmation: String,
    /// The serial number of its drive.
    pub serial: Option<String>,
    /// Whether all that is written over it proves itself, so that what others wrote is noticed.
    pub is_marked: bool,
    /// Places, and the checksum of what they held.
    pub looks: Vec<(u64, u32)>,
    /// What a loop device shows, and what that one shows if it is a loop device too; none in journals of older versions.
    pub beneath: Vec<String>,
}

impl Origin {
    /// That of a target.
    pub fn of(target: &Target, is_marked: bool, medium: &mut dyn Medium) -> Origin {
        let facts = target.facts();
        let path = target.path().canonicalize().unwrap_or_else(|_| target.path().into());
        let is_device = matches!(target.identity(), Identity::Device { .. });
        let path = path.to_string_lossy().into_owned();
        Origin {
            is_device,
            capacity: facts.capacity.0,
            block: facts.logical_block.0,
            // Of a file, however it was typed.
            confirmation: if is_device { target.confirmation().to_owned() } else { path.clone() },
            path,
            serial: facts.serial.clone(),
            is_marked,
            looks: looks(facts.capacity.0, medium),
            beneath: match target.identity() {
                Identity::Device { number, .. } => beneath(number),
                Identity::File(_) => Vec::new(),
            },
        }
    }

    /// The names of it alone, without a look at its data.
    pub fn names_of(target: &Target) -> Origin {
        Origin::of(target, false, &mut Unseen)
    }

    /// Whether it is the very same target.
    pub fn is_same(&self, other: &Origin) -> bool {
        self.is_device == other.is_device
            && (self.capacity, self.block) == (other.capacity, other.block)
            && self.confirmation == other.confirmation
            && self.serial == other.serial
    }

    /// Whether writing to one may change the other: the same drive, a partition of it, or a loop device and what it shows.
    pub fn is_related(&self, other: &Origin) -> bool {
        let is_same_drive = self.serial.is_some() && self.serial == other.serial;
        self.is_same(other)
            || is_same_drive
            || self.places().any(|one| other.places().any(|two| is_one(one, two)))
    }

    fn places(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.path).chain(&self.beneath).map(String::as_str)
    }

    /// In how many of the places that were not tested, as `is_tested` tells, the target holds something else than it did.
    pub fn changed(&self, medium: &mut dyn Medium, is_tested: impl Fn(u64, u64) -> bool) -> usize {
        let mut held = vec![0; LOOK_BYTES as usize];
        let mut differs = |(offset, crc): &(u64, u32)| {
            medium.read_at(*offset, &mut held).is_ok() && crc32fast::hash(&held) != *crc
        };
        let looks = self.looks.iter().filter(|(offset, _)| !is_tested(*offset, offset + LOOK_BYTES));
        looks.filter(|look| differs(look)).count()
    }

    /// As it stands in a journal.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes =
            vec![u8::from(self.is_device), u8::from(self.is_marked), u8::from(self.serial.is_some()), 0];
        bytes.extend(self.capacity.to_le_bytes());
        bytes.extend(self.block.to_le_bytes());
        for text in [&self.path, &self.confirmation, self.serial.as_deref().unwrap_or_default()] {
            put_text(&mut bytes, text);
        }
        bytes.extend((self.looks.len() as u16).to_le_bytes());
        for (offset, crc) in &self.looks {
            bytes.extend(offset.to_le_bytes());
            bytes.extend(crc.to_le_bytes());
        }
        bytes.extend((self.beneath.len() as u16).to_le_bytes());
        self.beneath.iter().for_each(|text| put_text(&mut bytes, text));
        bytes
    }

    /// Reads it back; none when it is none.
    pub fn parse(bytes: &[u8]) -> Option<Origin> {
        let mut rest = Rest(bytes);
        let [is_device, is_marked, has_serial, _] = *rest.take(4)? else { return None };
        let (capacity, block) = (rest.number()?, rest.number()?);
        let (path, confirmation, serial) = (rest.text()?, rest.text()?, rest.text()?);
        let count = rest.short()?;
        let mut looks = Vec::with_capacity(usize::from(count).min(1000));
        for _ in 0..count {
            let offset = rest.number()?;
            let crc = u32::from_le_bytes(rest.take(4)?.try_into().ok()?);
            if offset.checked_add(LOOK_BYTES).is_none_or(|end| end > capacity) {
                return None;
            }
            looks.push((offset, crc));
        }
        // Older versions end here.
        let count = if rest.0.is_empty() { 0 } else { rest.short()? };
        let beneath = (0..count).map(|_| rest.text()).collect::<Option<Vec<_>>>()?;
        let is_sound = block.is_power_of_two() && (512..=65536).contains(&block) && capacity >= block;
        is_sound.then_some(Origin {
            is_device: is_device != 0,
            is_marked: is_marked != 0,
            serial: (has_serial != 0).then_some(serial),
            capacity,
            block,
            path,
            confirmation,
            looks,
            beneath,
        })
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    let text = &text.as_bytes()[..text.len().min(TEXT_BYTES_MAX)];
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text);
}

/// What a loop device, or a partition of one, shows, down to what is no loop device.
fn beneath(number: DeviceNumber) -> Vec<String> {
    let mut found = Vec::new();
    let mut next = Some(number);
    while let Some(path) = next.take().and_then(backing_path).filter(|_| found.len() < BENEATH_MAX) {
        next = fs::metadata(&path)
            .ok()
            .filter(|status| status.file_type().is_block_device())
            .map(|status| DeviceNumber::from_raw(status.rdev()));
        found.push(path.to_string_lossy().into_owned());
    }
    found
}

fn backing_path(number: DeviceNumber) -> Option<PathBuf> {
    let device = PathBuf::from(format!("/sys/dev/block/{number}"));
    // A partition lies in the folder of its disk.
    let text =
        fs::read(device.join("loop/backing_file")).or_else(|_| fs::read(device.join("../loop/backing_file")));
    let text = text.ok()?;
    let path = Path::new(OsStr::from_bytes(text.strip_suffix(b"\n").unwrap_or(&text)));
    Some(path.canonicalize().unwrap_or_else(|_| path.into()))
}

/// Whether two paths name one thing, or one of them a part of the other.
fn is_one(one: &str, two: &str) -> bool {
    // Files in memory are no devices, whatever they are called.
    let is_device = |path: &str| path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
    one == two || is_device(one) && is_device(two) && (is_part(one, two) || is_part(two, one))
}

/// Whether a device is named as a partition of the other: sdb1 of sdb, nvme0n1p2 of nvme0n1.
fn is_part(part: &str, whole: &str) -> bool {
    let Some(rest) = part.strip_prefix(whole) else { return false };
    let number =
        if whole.ends_with(|last: char| last.is_ascii_digit()) { rest.strip_prefix('p') } else { Some(rest) };
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// What is left to read.
struct Rest<'bytes>(&'bytes [u8]);

impl<'bytes> Rest<'bytes> {
    fn take(&mut self, count: usize) -> Option<&'bytes [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.short()?;
        Some(String::from_utf8_lossy(self.take(usize::from(length))?).into_owned())
    }
}

/// What can be read of the places now; those that cannot are left out.
fn looks(capacity: u64, medium: &mut dyn Medium) -> Vec<(u64, u32)> {
    let spread = (1..=SPREAD).map(|index| capacity / SPREAD * index - LOOK_BYTES.min(capacity / SPREAD));
    let mut places: Vec<u64> =
        LOOKED_AT.into_iter().chain(spread).map(|at| at / LOOK_BYTES * LOOK_BYTES).collect();
    places.retain(|at| at + LOOK_BYTES <= capacity);
    places.sort_unstable();
    places.dedup();
    let mut held = vec![0; LOOK_BYTES as usize];
    let mut look = |offset: u64| {
        medium.read_at(offset, &mut held).ok()?;
        Some((offset, crc32fast::hash(&held)))
    };
    places.into_iter().filter_map(&mut look).collect()
}

/// Of which nothing can be read.
struct Unseen;

impl Medium for Unseen {
    fn read_at(&mut self, _: u64, _: &mut [u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    fn write_at(&mut self, _: u64, _: &[u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    fn capacity(&self) -> u64 {
        0
    }
    fn block(&self) -> u64 {
        1
    }
}
