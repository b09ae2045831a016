//! Which device or file something is, by the kernel's numbers. A path may lead to another drive after a reboot.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceNumber {
    pub major: u32,
    pub minor: u32,
}

impl DeviceNumber {
    pub fn from_raw(number: u64) -> DeviceNumber {
        DeviceNumber { major: libc::major(number), minor: libc::minor(number) }
    }

    /// From `8:1`, as sysfs and mountinfo write it.
    pub fn parse(text: &str) -> Option<DeviceNumber> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.major, self.minor)
    }
}

/// A file, whatever it is called: hard links are one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileNumber {
    pub file_system: DeviceNumber,
    pub inode: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    Device(DeviceNumber),
    /// To a file or anything else that lies in a file system.
    File(FileNumber),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopExtent {
    pub backing: Place,
    /// Where it begins there, in bytes.
    pub offset: u64,
    /// Where it ends at the latest, in bytes from there; zero without such a limit.
    pub size_limit: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    Device {
        number: DeviceNumber,
        /// The sequence number of its disk, which is never used again; none before Linux 5.15.
        disk_sequence: Option<u64>,
        /// Where a loop device leads, which a program can change under an open device; none for other devices.
        loop_extent: Option<LoopExtent>,
    },
    File(FileNumber),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_written_as_the_kernel_does() {
        let number = DeviceNumber { major: 259, minor: 3 };
        assert_eq!(DeviceNumber::parse("259:3\n"), Some(number));
        assert_eq!(number.to_string(), "259:3");
        assert_eq!(DeviceNumber::parse("259"), None);
        assert_eq!(DeviceNumber::parse("a:b"), None);
        assert_eq!(DeviceNumber::from_raw(0x801), DeviceNumber { major: 8, minor: 1 });
    }
}
