//! The checksum and size of a segment, taken while it is written and looked up before it is read.

use crate::disk::{Disk, SyncExtent};
use crate::error::StoreError;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// One line for each segment: CRC-32 in hexadecimal, size in bytes, name. The last line of a name counts.
pub(crate) const CHECKSUM_FILE: &str = "checksums.txt";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub crc32: u32,
    pub bytes: u64,
}

impl Fingerprint {
    pub(crate) fn of(path: &Path) -> Result<Fingerprint, StoreError> {
        let mut hasher = crc32fast::Hasher::new();
        let mut buffer = vec![0; 1 << 16];
        let mut bytes = 0;
        let mut file = File::open(path).map_err(StoreError::system("read", path))?;
        loop {
            let read = file.read(&mut buffer).map_err(StoreError::system("read", path))?;
            if read == 0 {
                return Ok(Fingerprint { crc32: hasher.finalize(), bytes });
            }
            hasher.update(&buffer[..read]);
            bytes += read as u64;
        }
    }

    fn of_line(line: &[u8]) -> Option<(String, Fingerprint)> {
        let mut words = str::from_utf8(line).ok()?.split(' ');
        let crc32 = u32::from_str_radix(words.next()?, 16).ok()?;
        let bytes = words.next()?.parse().ok()?;
        Some((words.next()?.to_owned(), Fingerprint { crc32, bytes }))
    }
}

/// The checksums that are known; a line that cannot be read is passed over, and its segment then has none.
pub(crate) fn checksums(folder: &Path) -> HashMap<String, Fingerprint> {
    let text = fs::read(folder.join(CHECKSUM_FILE)).unwrap_or_default();
    text.split(|&byte| byte == b'\n').filter_map(Fingerprint::of_line).collect()
}

pub(crate) fn note_checksum(
    disk: Disk,
    folder: &Path,
    name: &str,
    fingerprint: Fingerprint,
) -> Result<(), StoreError> {
    let path = folder.join(CHECKSUM_FILE);
    append_line(disk, &path, name, fingerprint).map_err(StoreError::system("write", &path))
}

fn append_line(disk: Disk, path: &Path, name: &str, fingerprint: Fingerprint) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    // It begins on a new line, whatever a full disk left of the last one.
    let gap = if file.metadata()?.len() == 0 { "" } else { "\n" };
    let Fingerprint { crc32, bytes } = fingerprint;
    file.write_all(format!("{gap}{crc32:08x} {bytes} {name}").as_bytes())?;
    (disk.sync)(&file, SyncExtent::Data)
}

pub(crate) struct FingerprintedFile {
    pub file: File,
    hasher: crc32fast::Hasher,
    bytes: u64,
}

impl FingerprintedFile {
    pub(crate) fn create(path: &Path) -> io::Result<FingerprintedFile> {
        Ok(FingerprintedFile { file: File::create(path)?, hasher: crc32fast::Hasher::new(), bytes: 0 })
    }

    pub(crate) fn fingerprint(self) -> Fingerprint {
        Fingerprint { crc32: self.hasher.finalize(), bytes: self.bytes }
    }
}

impl Write for FingerprintedFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.file.write(buffer)?;
        self.hasher.update(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
