//! Reading sysfs and proc. Every function takes the roots, so that tests can hand it a tree of their own.

use super::identity::DeviceNumber;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct SystemRoots {
    pub sysfs: PathBuf,
    pub proc: PathBuf,
    pub dev: PathBuf,
}

impl SystemRoots {
    pub fn live() -> SystemRoots {
        SystemRoots { sysfs: "/sys".into(), proc: "/proc".into(), dev: "/dev".into() }
    }
}

/// Why something below /proc or /sys is not there: in a container or after `chroot` often nothing is mounted at that root.
pub(crate) fn or_not_mounted(root: &Path, error: io::Error) -> io::Error {
    let is_empty = match fs::read_dir(root) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => true,
    };
    if error.kind() != io::ErrorKind::NotFound || !is_empty {
        return error;
    }
    let kind = if root.ends_with("proc") { "proc" } else { "sysfs" };
    let root = root.display();
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("nothing is mounted at {root}. Mount it as root: mount -t {kind} {kind} {root}"),
    )
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// Its name in the kernel: `sda1`. A `!` in it stands for a `/` of the path.
    pub name: String,
    pub number: DeviceNumber,
    pub directory: PathBuf,
}

impl BlockDevice {
    pub fn by_number(roots: &SystemRoots, number: DeviceNumber) -> io::Result<BlockDevice> {
        let link = roots.sysfs.join("dev/block").join(number.to_string());
        match link.canonicalize() {
            Ok(directory) => BlockDevice::at(&directory),
            Err(error) => Err(or_not_mounted(&roots.sysfs, error)),
        }
    }

    /// The device whose folder or a link to it is `directory`.
    pub fn at(directory: &Path) -> io::Result<BlockDevice> {
        let directory = directory.canonicalize()?;
        let Some(number) = DeviceNumber::parse(&fs::read_to_string(directory.join("dev"))?) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no device number in it"));
        };
        let Some(name) = directory.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a folder without a name"));
        };
        Ok(BlockDevice { name: name.to_string_lossy().into_owned(), number, directory })
    }

    /// All whole disks, by name.
    /// Fails when the list cannot be read. Disks that go away meanwhile are left out.
    pub fn disks(roots: &SystemRoots) -> io::Result<Vec<BlockDevice>> {
        let mut disks = Vec::new();
        let entries = match fs::read_dir(roots.sysfs.join("block")) {
            Ok(entries) => entries,
            Err(error) => return Err(or_not_mounted(&roots.sysfs, error)),
        };
        for entry in entries {
            match BlockDevice::at(&entry?.path()) {
                Ok(disk) => disks.push(disk),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(by_name(disks))
    }

    pub fn path(&self) -> PathBuf {
        Path::new("/dev").join(self.name.replace('!', "/"))
    }

    pub(super) fn folder_of_disk(&self) -> PathBuf {
        Path::new("/sys/block").join(&self.name)
    }

    pub fn is_partition(&self) -> bool {
        self.directory.join("partition").exists()
    }

    pub fn disk(&self) -> io::Result<BlockDevice> {
        if !self.is_partition() {
            return Ok(self.clone());
        }
        BlockDevice::at(self.directory.parent().ok_or(io::ErrorKind::NotFound)?)
    }

    pub fn partitions(&self) -> io::Result<Vec<BlockDevice>> {
        let mut partitions = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if path.join("partition").exists() {
                partitions.push(BlockDevice::at(&path)?);
            }
        }
        Ok(by_name(partitions))
    }

    /// What lies on top of it: volumes, RAID, bcache.
    pub fn holders(&self) -> io::Result<Vec<BlockDevice>> {
        self.linked("holders")
    }

    /// What it lies on: the members of a volume or RAID.
    pub fn slaves(&self) -> io::Result<Vec<BlockDevice>> {
        if self.is_partition() {
            return Ok(Vec::new());
        }
        self.linked("slaves")
    }

    fn linked(&self, folder: &str) -> io::Result<Vec<BlockDevice>> {
        let mut devices = Vec::new();
        for entry in fs::read_dir(self.directory.join(folder))? {
            devices.push(BlockDevice::at(&entry?.path())?);
        }
        Ok(by_name(devices))
    }

    pub fn attribute(&self, file: &str) -> Option<String> {
        attribute(&self.directory.join(file))
    }

    pub fn first_attribute(&self, files: &[&str]) -> Option<String> {
        files.iter().find_map(|file| self.attribute(file))
    }

    pub fn number_attribute(&self, file: &str) -> Option<u64> {
        self.attribute(file)?.parse().ok()
    }
}

fn by_name(mut devices: Vec<BlockDevice>) -> Vec<BlockDevice> {
    devices.sort_by(|a, b| a.name.cmp(&b.name));
    devices
}

/// The content of a file of sysfs without white space and zero bytes around it; none if absent or empty.
pub fn attribute(path: &Path) -> Option<String> {
    unpadded(&String::from_utf8_lossy(&fs::read(path).ok()?))
}

/// The text without white space and zero bytes around it, with which drives pad theirs; none when nothing is left.
pub(super) fn unpadded(text: &str) -> Option<String> {
    let text = text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
    if text.is_empty() { None } else { Some(text.to_owned()) }
}
