//! Whose data a journal holds, so that they are given to no other drive, nor to one that was used since.

use super::super::identity::{DeviceNumber, Identity};
use super::super::target::Target;
use super::medium::Medium;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Places of 4 KiB that tell whether a drive was used since: where file systems change when mounted, and others.
const LOOKED_AT: [u64; 6] = [0, 4096, 65_536, 1 << 20, 64 << 20, 256 << 20];
const SPREAD: u64 = 58;
const LOOK_BYTES: u64 = 4096;
const TEXT_BYTES_MAX: usize = 4096;
/// Loop devices that lie on each other are followed so far.
const BENEATH_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub is_device: bool,
    pub capacity: u64,
    pub block: u64,
    /// Where it is found: for people, and to tell files and devices without a serial number apart.
    pub path: String,
    /// What has to be typed back for it: serial number and name of the partition.
    pub confirmation: String,
    pub serial: Option<String>,
    /// Whether all that is written over it proves itself, so that what others wrote is noticed.
    pub is_marked: bool,
    pub looks: Vec<(u64, u32)>,
    /// What a loop device shows, and what that one shows if it is a loop device too; none in journals of older versions.
    pub beneath: Vec<String>,
}

impl Origin {
    pub fn of(target: &Target, is_marked: bool, medium: &mut dyn Medium) -> Origin {
        let looks = looks(target.facts().capacity.get(), medium);
        Origin { is_marked, looks, ..Origin::names_of(target) }
    }

    pub fn names_of(target: &Target) -> Origin {
        let facts = target.facts();
        let path = target.path().canonicalize().unwrap_or(target.path().into());
        let is_device = matches!(target.identity(), Identity::Device { .. });
        let path = path.to_string_lossy().into_owned();
        Origin {
            is_device,
            capacity: facts.capacity.get(),
            block: facts.logical_block.get(),
            // Of a file, however it was typed.
            confirmation: if is_device { target.confirmation().to_owned() } else { path.clone() },
            path,
            serial: facts.serial.clone(),
            is_marked: false,
            looks: Vec::new(),
            beneath: match target.identity() {
                Identity::Device { number, .. } => beneath(number),
                Identity::File(_) => Vec::new(),
            },
        }
    }

    pub fn is_same(&self, other: &Origin) -> bool {
        self.is_device == other.is_device
            && (self.capacity, self.block) == (other.capacity, other.block)
            && self.confirmation == other.confirmation
            && self.serial == other.serial
    }

    /// Whether writing to one may change the other: the same drive, a partition of it, or a loop device and what it shows.
    pub fn is_related(&self, other: &Origin) -> bool {
        let is_same_drive = self.serial.is_some() && self.serial == other.serial;
        if self.is_same(other) || is_same_drive {
            return true;
        }
        for one in self.places() {
            for two in other.places() {
                if is_one(one, two) {
                    return true;
                }
            }
        }
        false
    }

    fn places(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.path).chain(&self.beneath)
    }

    /// In how many of the places that were not tested, as `is_tested` tells, the target holds something else than it did.
    pub fn changed(&self, medium: &mut dyn Medium, is_tested: impl Fn(u64, u64) -> bool) -> usize {
        let mut held = vec![0; LOOK_BYTES as usize];
        let mut changed = 0;
        for &(offset, crc) in &self.looks {
            if !is_tested(offset, offset + LOOK_BYTES) && medium.read_at(offset, &mut held).is_ok() {
                changed += usize::from(crc32fast::hash(&held) != crc);
            }
        }
        changed
    }

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
        for text in &self.beneath {
            put_text(&mut bytes, text);
        }
        bytes
    }

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
            if offset.checked_add(LOOK_BYTES)? > capacity {
                return None;
            }
            looks.push((offset, crc));
        }
        // Older versions end here.
        let count = if rest.0.is_empty() { 0 } else { rest.short()? };
        let mut beneath = Vec::new();
        for _ in 0..count {
            beneath.push(rest.text()?);
        }
        if !block.is_power_of_two() || !(512..=65536).contains(&block) || capacity < block {
            return None;
        }
        Some(Origin {
            is_device: is_device != 0,
            is_marked: is_marked != 0,
            serial: if has_serial != 0 { Some(serial) } else { None },
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
    let (mut found, mut number) = (Vec::new(), number);
    while found.len() < BENEATH_MAX {
        let Some(path) = backing_path(number) else { break };
        found.push(path.to_string_lossy().into_owned());
        match fs::metadata(&path) {
            Ok(status) if status.file_type().is_block_device() => {
                number = DeviceNumber::from_raw(status.rdev());
            }
            _ => break,
        }
    }
    found
}

fn backing_path(number: DeviceNumber) -> Option<PathBuf> {
    let device = PathBuf::from(format!("/sys/dev/block/{number}"));
    // A partition lies in the folder of its disk.
    let text = match fs::read(device.join("loop/backing_file")) {
        Ok(text) => text,
        Err(_) => fs::read(device.join("../loop/backing_file")).ok()?,
    };
    let path = Path::new(OsStr::from_bytes(text.strip_suffix(b"\n").unwrap_or(&text)));
    Some(path.canonicalize().unwrap_or(path.into()))
}

fn is_one(one: &str, two: &str) -> bool {
    one == two || is_device(one) && is_device(two) && (is_part(one, two) || is_part(two, one))
}

/// Files in memory are no devices, whatever they are called.
fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// Whether a device is named as a partition of the other: sdb1 of sdb, nvme0n1p2 of nvme0n1.
fn is_part(part: &str, whole: &str) -> bool {
    let Some(rest) = part.strip_prefix(whole) else { return false };
    let ends_in_digit = whole.ends_with(|last: char| last.is_ascii_digit());
    let number = if ends_in_digit { rest.strip_prefix('p') } else { Some(rest) };
    let number = number.unwrap_or_default();
    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

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

fn looks(capacity: u64, medium: &mut dyn Medium) -> Vec<(u64, u32)> {
    let mut places = BTreeSet::from(LOOKED_AT);
    for index in 1..=SPREAD {
        let at = capacity / SPREAD * index - LOOK_BYTES.min(capacity / SPREAD);
        places.insert(at / LOOK_BYTES * LOOK_BYTES);
    }
    let mut held = vec![0; LOOK_BYTES as usize];
    let mut looks = Vec::new();
    for offset in places {
        if offset + LOOK_BYTES <= capacity && medium.read_at(offset, &mut held).is_ok() {
            looks.push((offset, crc32fast::hash(&held)));
        }
    }
    looks
}
