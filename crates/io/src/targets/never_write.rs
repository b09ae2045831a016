//! The drives that an administrator excluded from writes, whatever consent is given.
//!
//! A path is followed to the device that it leads to now. Excluded with a drive are its partitions, what it is a part of or lies
//! on, other paths to it, volumes and loop devices over it and files on it. In doubt a target is excluded.

use super::facts::drive_facts;
use super::identity::{DeviceNumber, FileNumber, Identity, Place};
use super::loop_device;
use super::sysfs::{BlockDevice, SystemRoots};
use super::system_call;
use super::target::Target;
use super::usage::other_ways_to;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeverWrite(pub Vec<Exclusion>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    pub drives: DrivePattern,
    /// Where it was read, such as a file and its line.
    pub origin: String,
}

/// Which drives; a `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrivePattern {
    /// Of a device or a link to one; only the last part may have a `*`.
    Path(PathBuf),
    Serial(String),
    Model(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is neither a path such as /dev/sda or /dev/disk/by-id/ata-WDC*, nor a serial:PATTERN, nor a model:PATTERN. A * stands for any characters, and not in the name of a folder"
)]
pub struct NoDrivePattern;

const SERIAL: &str = "serial:";
const MODEL: &str = "model:";

impl FromStr for DrivePattern {
    type Err = NoDrivePattern;

    fn from_str(text: &str) -> Result<DrivePattern, NoDrivePattern> {
        let text = text.trim();
        for (prefix, pattern) in [
            (SERIAL, DrivePattern::Serial as fn(String) -> DrivePattern),
            (MODEL, DrivePattern::Model as fn(String) -> DrivePattern),
        ] {
            if let Some(rest) = text.strip_prefix(prefix) {
                return if rest.trim().is_empty() {
                    Err(NoDrivePattern)
                } else {
                    Ok(pattern(rest.trim().into()))
                };
            }
        }
        let path = Path::new(text);
        let folder = path.parent().unwrap_or(Path::new(""));
        if path.is_absolute() && path.file_name().is_some() && !folder.to_string_lossy().contains('*') {
            return Ok(DrivePattern::Path(path.into()));
        }
        Err(NoDrivePattern)
    }
}

impl fmt::Display for DrivePattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DrivePattern::Path(path) => write!(formatter, "{}", path.display()),
            DrivePattern::Serial(pattern) => write!(formatter, "{SERIAL}{pattern}"),
            DrivePattern::Model(pattern) => write!(formatter, "{MODEL}{pattern}"),
        }
    }
}

/// Why a target may not be written, whatever consent is given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Excluded {
    #[error("{origin} excludes {drives} from writes. Only who keeps that list can change it")]
    Listed { drives: DrivePattern, origin: String },
    #[error("{origin} excludes {drives} from writes, and cannot compare this drive with it: {why}")]
    InDoubt { drives: DrivePattern, origin: String, why: String },
}

impl NeverWrite {
    /// # Errors
    /// The first exclusion that holds for the target or cannot be ruled out.
    pub(super) fn check(&self, roots: &SystemRoots, target: &Target) -> Result<(), Excluded> {
        self.check_reach(|| Reach::of(roots, target))
    }

    /// The same for a whole disk, also one that may not be opened.
    pub(super) fn check_disk(&self, roots: &SystemRoots, disk: &BlockDevice) -> Result<(), Excluded> {
        self.check_reach(|| Reach::of_device(roots, disk.clone()))
    }

    fn check_reach(&self, reach: impl Fn() -> io::Result<Reach>) -> Result<(), Excluded> {
        for Exclusion { drives, origin } in &self.0 {
            let (drives, origin) = (drives.clone(), origin.clone());
            match reach().and_then(|reach| reach.has(&drives)) {
                Ok(false) => {}
                Ok(true) => return Err(Excluded::Listed { drives, origin }),
                Err(why) => return Err(Excluded::InDoubt { drives, origin, why: why.to_string() }),
            }
        }
        Ok(())
    }
}

impl Excluded {
    pub fn origin(&self) -> &str {
        match self {
            Excluded::Listed { origin, .. } | Excluded::InDoubt { origin, .. } => origin,
        }
    }
}

/// Whatever a write to a target would change.
#[derive(Default)]
struct Reach {
    devices: Vec<BlockDevice>,
    numbers: BTreeSet<DeviceNumber>,
    files: BTreeSet<FileNumber>,
}

impl Reach {
    fn of(roots: &SystemRoots, target: &Target) -> io::Result<Reach> {
        let file = match target.identity() {
            Identity::Device { number, .. } => {
                return Reach::of_device(roots, BlockDevice::by_number(roots, number)?);
            }
            Identity::File(file) => file,
        };
        let mut reach = Reach::default();
        let mut ahead = Vec::from_iter(reach.add_file(roots, file));
        for disk in target.disks() {
            ahead.push(BlockDevice::at(disk)?);
        }
        reach.follow(roots, ahead)
    }

    fn of_device(roots: &SystemRoots, device: BlockDevice) -> io::Result<Reach> {
        let mut reach = Reach::default();
        if !device.is_partition() {
            reach.numbers.extend(device.partitions()?.iter().map(|partition| partition.number));
        }
        reach.follow(roots, vec![device])
    }

    /// Adds these devices and all that lies below them.
    fn follow(mut self, roots: &SystemRoots, mut ahead: Vec<BlockDevice>) -> io::Result<Reach> {
        while let Some(device) = ahead.pop() {
            if !self.numbers.insert(device.number) {
                continue;
            }
            ahead.extend(device.slaves()?);
            ahead.extend(other_ways_to(roots, device.number)?);
            if device.is_partition() {
                ahead.push(device.disk()?);
            }
            match loop_device::attached(roots, &device)?.map(|attached| attached.backing) {
                Some(Place::Device(below)) => ahead.push(BlockDevice::by_number(roots, below)?),
                Some(Place::File(file)) => ahead.extend(self.add_file(roots, file)),
                None => {}
            }
            self.devices.push(device);
        }
        Ok(self)
    }

    /// The device of its file system, where the kernel numbers the file system by it.
    fn add_file(&mut self, roots: &SystemRoots, file: FileNumber) -> Option<BlockDevice> {
        self.files.insert(file);
        BlockDevice::by_number(roots, file.file_system).ok()
    }

    fn has(&self, drives: &DrivePattern) -> io::Result<bool> {
        match drives {
            DrivePattern::Path(path) => self.has_path(path),
            DrivePattern::Serial(pattern) => {
                self.has_name(pattern, "serial number", |disk| drive_facts(disk).serial)
            }
            DrivePattern::Model(pattern) => self.has_name(pattern, "model", |disk| drive_facts(disk).model),
        }
    }

    fn has_path(&self, pattern: &Path) -> io::Result<bool> {
        let folder = pattern.parent().unwrap_or(Path::new("/"));
        let name = pattern.file_name().unwrap_or_default().to_string_lossy();
        if !name.contains('*') {
            // A folder that is not there says nothing of what would be in it.
            fs::metadata(folder)?;
            return self.is_at(pattern);
        }
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if matches(&name, &entry.file_name().to_string_lossy()) && self.is_at(&entry.path())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        match system_call::place(path) {
            Ok(Place::Device(number)) => Ok(self.numbers.contains(&number)),
            Ok(Place::File(file)) => Ok(self.files.contains(&file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn has_name(
        &self,
        pattern: &str,
        what: &str,
        name: impl Fn(&BlockDevice) -> Option<String>,
    ) -> io::Result<bool> {
        for device in &self.devices {
            // Only what hardware is behind has a name of its own.
            if device.is_partition() || !device.directory.join("device").exists() {
                continue;
            }
            match name(device) {
                Some(name) if matches(pattern, &name) => return Ok(true),
                Some(_) => {}
                None => {
                    let why = format!("the {what} of {} cannot be read", device.path().display());
                    return Err(io::Error::other(why));
                }
            }
        }
        Ok(false)
    }
}

/// Whether the whole text is as the pattern says. Drives write their names in any case.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let end = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match text.split_once(piece) {
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, expected) in [
            ("S4EW", "S4EW", true),
            ("S4EW", "S4EWX", false),
            ("s4ew*", "S4EWX", true),
            ("*EW", "S4EW", true),
            ("S*4*W", "S44EW", true),
            ("S*44*4W", "S44W", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("Samsung SSD 970*", "Samsung SSD 970 EVO", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_is_a_path_a_serial_number_or_a_model() {
        let read = |text: &str| text.parse::<DrivePattern>();
        assert_eq!(read("/dev/disk/by-id/ata-*"), Ok(DrivePattern::Path("/dev/disk/by-id/ata-*".into())));
        assert_eq!(read("serial:S4EW*"), Ok(DrivePattern::Serial("S4EW*".into())));
        assert_eq!(read("model: WDC *"), Ok(DrivePattern::Model("WDC *".into())));
        for wrong in ["", "sda", "/", "/dev/*/sda", "serial:", "model: ", "*"] {
            assert_eq!(read(wrong), Err(NoDrivePattern), "{wrong}");
        }
        assert_eq!(read("serial:S4EW*").expect("a pattern").to_string(), "serial:S4EW*");
    }
}
