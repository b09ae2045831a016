//! What is mounted and what is swapped to, as proc tells it.

use super::identity::{DeviceNumber, Place};
use super::sysfs::{SystemRoots, or_not_mounted};
use super::system_call;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Its number, which an open file tells too.
    pub id: u64,
    /// The device it lies on; the major number is zero for file systems without one device.
    pub number: DeviceNumber,
    pub point: PathBuf,
    pub file_system: String,
    pub source: PathBuf,
    /// The process in whose mount namespace it was seen, when that is not ours.
    pub seen_by: Option<u32>,
}

#[derive(Debug, thiserror::Error)]
pub enum MountsError {
    #[error("{} cannot be read: {source}", file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("a line of mountinfo cannot be understood: {0}")]
    Line(String),
    #[error("cannot stat the swap area {}: {source}", area.display())]
    Swap { area: PathBuf, source: io::Error },
}

/// The lines of mountinfo, as proc(5) describes them. One that is not understood is an error: it may be the one.
pub fn parse_mountinfo(text: &[u8], seen_by: Option<u32>) -> Result<Vec<Mount>, MountsError> {
    let mut mounts = Vec::new();
    for line in lines(text) {
        match parse_mount(line, seen_by) {
            Some(mount) => mounts.push(mount),
            None => return Err(MountsError::Line(String::from_utf8_lossy(line).into_owned())),
        }
    }
    Ok(mounts)
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

fn parse_mount(line: &[u8], seen_by: Option<u32>) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let id = text(fields.next()?)?.parse().ok()?;
    let number = DeviceNumber::parse(text(fields.nth(1)?)?)?;
    let point = unescape(fields.nth(1)?);
    // Optional fields, whose number varies, end with a lone hyphen.
    let mut fields = fields.skip_while(|&field| field != b"-").skip(1);
    let file_system = text(fields.next()?)?.to_owned();
    let source = unescape(fields.next()?);
    Some(Mount { id, number, point, file_system, source, seen_by })
}

fn text(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok()
}

/// The kernel writes a space, tab, line feed and backslash in a path as a backslash and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'\\'
            && let Some(byte) = octal(tail)
        {
            bytes.push(byte);
            rest = &tail[3..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

fn octal(text: &[u8]) -> Option<u8> {
    let mut value = 0;
    for &digit in text.get(..3)? {
        value = value * 8 + char::from(digit).to_digit(8)?;
    }
    u8::try_from(value).ok()
}

/// All mounts of our mount namespace and of the first process's; and of every other one that we may look into, which only serve to
/// name who uses a drive. Fails when the first two cannot be read.
pub(super) fn mounts(roots: &SystemRoots) -> Result<Vec<Mount>, MountsError> {
    let mut mounts = own_mounts(roots)?;
    add_unknown(&mut mounts, read(roots, "1", Some(1))?);
    let mut seen = HashSet::new();
    seen.extend(namespace(roots, "self"));
    seen.extend(namespace(roots, "1"));
    for process in processes(roots) {
        let Some(namespace) = namespace(roots, &process.to_string()) else { continue };
        if seen.insert(namespace)
            && let Ok(found) = read(roots, &process.to_string(), Some(process))
        {
            add_unknown(&mut mounts, found);
        }
    }
    Ok(mounts)
}

fn add_unknown(mounts: &mut Vec<Mount>, found: Vec<Mount>) {
    for mount in found {
        if !mounts.iter().any(|known| known.number == mount.number && known.point == mount.point) {
            mounts.push(mount);
        }
    }
}

fn namespace(roots: &SystemRoots, process: &str) -> Option<PathBuf> {
    fs::read_link(roots.proc.join(process).join("ns/mnt")).ok()
}

pub(super) fn own_mounts(roots: &SystemRoots) -> Result<Vec<Mount>, MountsError> {
    read(roots, "self", None)
}

fn unreadable(roots: &SystemRoots, file: PathBuf, error: io::Error) -> MountsError {
    MountsError::Unreadable { file, source: or_not_mounted(&roots.proc, error) }
}

fn read(roots: &SystemRoots, process: &str, seen_by: Option<u32>) -> Result<Vec<Mount>, MountsError> {
    let file = roots.proc.join(process).join("mountinfo");
    match fs::read(&file) {
        Ok(text) => parse_mountinfo(&text, seen_by),
        Err(error) => Err(unreadable(roots, file, error)),
    }
}

pub(super) fn processes(roots: &SystemRoots) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(&roots.proc) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

pub(super) fn swaps(roots: &SystemRoots) -> Result<Vec<Place>, MountsError> {
    let mut swaps = Vec::new();
    for area in listed_swaps(roots)? {
        match system_call::place(&area) {
            Ok(place) => swaps.push(place),
            // It may have been turned off and removed since the list was read.
            Err(_) if !listed_swaps(roots)?.contains(&area) => {}
            Err(source) => return Err(MountsError::Swap { area, source }),
        }
    }
    Ok(swaps)
}

fn listed_swaps(roots: &SystemRoots) -> Result<Vec<PathBuf>, MountsError> {
    let file = roots.proc.join("swaps");
    match fs::read(&file) {
        Ok(text) => Ok(swap_paths(&text)),
        // A kernel without swap has no such file, but its proc has the others.
        Err(error) if error.kind() == io::ErrorKind::NotFound && roots.proc.join("version").exists() => {
            Ok(Vec::new())
        }
        Err(error) => Err(unreadable(roots, file, error)),
    }
}

/// The paths in `/proc/swaps`: the first line is a heading, and columns are separated by spaces and tabs.
fn swap_paths(text: &[u8]) -> Vec<PathBuf> {
    let Some(heading) = text.iter().position(|&byte| byte == b'\n') else { return Vec::new() };
    let mut paths = Vec::new();
    for line in lines(&text[heading..]) {
        paths.extend(line.split(|byte| b" \t".contains(byte)).next().map(unescape));
    }
    paths
}

/// The device that a mount names as its source, for file systems whose number is not that of a device.
pub(super) fn source_device(mount: &Mount) -> Option<DeviceNumber> {
    if mount.number.major != 0 || !mount.source.as_os_str().as_bytes().starts_with(b"/") {
        return None;
    }
    match system_call::place(&mount.source).ok()? {
        Place::Device(number) => Some(number),
        Place::File(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_mountinfo_is_taken_apart() {
        let line = b"36 35 98:0 /mnt1 /my\\040disk\\134 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue\n";
        let mounts = parse_mountinfo(line, None).unwrap();
        assert_eq!(
            mounts,
            [Mount {
                id: 36,
                number: DeviceNumber { major: 98, minor: 0 },
                point: "/my disk\\".into(),
                file_system: "ext3".into(),
                source: "/dev/root".into(),
                seen_by: None,
            }]
        );
    }

    #[test]
    fn a_line_that_cannot_be_understood_is_not_passed_over() {
        assert!(parse_mountinfo(b"36 35 98:0 / /data rw ext3 /dev/sda rw\n", None).is_err());
        assert!(parse_mountinfo(b"36 35 980 / /data rw - ext3 /dev/sda rw\n", None).is_err());
        assert!(parse_mountinfo(b"36 35\n", None).is_err());
    }

    #[test]
    fn swap_areas_are_read_with_spaces_in_their_names() {
        let text = b"Filename\t\t\t\tType\t\tSize\n/dev/sda2  partition\t1\n/swap\\040file\tfile\t2\n";
        assert_eq!(swap_paths(text), [PathBuf::from("/dev/sda2"), PathBuf::from("/swap file")]);
    }

    proptest::proptest! {
        #[test]
        fn no_mountinfo_makes_it_panic(text in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let _ = parse_mountinfo(&text, None);
            let _ = swap_paths(&text);
        }
    }
}
