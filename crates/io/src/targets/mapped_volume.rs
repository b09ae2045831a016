//! What a volume of the device mapper is put together of: the straight parts, which LVM makes by default.

use super::device_mapper::{TableLine, mapped_table};
use super::identity::DeviceNumber;
use super::sysfs::BlockDevice;
use super::system_call;
use std::io;
use std::path::Path;

/// The mapper counts in sectors of this size.
const SECTOR: u64 = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StraightPart {
    pub device: DeviceNumber,
    pub first: u64,
    pub length: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    #[error("the layout of {device} is unknown")]
    NotMapped { device: String },
    #[error("only root can read the devices below volume {name} ({source})")]
    RootOnly { name: String, source: io::Error },
    #[error("cannot read the devices below volume {name}: {source}")]
    NotTold { name: String, source: io::Error },
    #[error("volume {name} is not linear but of type {kind}")]
    NotStraight { name: String, kind: String },
}

pub(super) fn straight_parts(
    volume: &BlockDevice,
    first: u64,
    length: u64,
) -> Result<Vec<StraightPart>, VolumeError> {
    let Some(name) = volume.attribute("dm/name") else {
        return Err(VolumeError::NotMapped { device: volume.name.clone() });
    };
    let control = match system_call::open(Path::new("/dev/mapper/control"), libc::O_RDWR) {
        Ok(control) => control,
        Err(source) => return Err(VolumeError::RootOnly { name, source }),
    };
    match mapped_table(&control, &name) {
        Ok(table) => parts_of(&name, &table, first, length),
        Err(source) => Err(VolumeError::NotTold { name, source }),
    }
}

fn parts_of(
    name: &str,
    table: &[TableLine],
    first: u64,
    length: u64,
) -> Result<Vec<StraightPart>, VolumeError> {
    let end = first + length;
    let mut parts = Vec::new();
    for line in table {
        let (line_first, line_end) = (line.start * SECTOR, (line.start + line.sectors) * SECTOR);
        let (from, to) = (first.max(line_first), end.min(line_end));
        if from >= to {
            continue;
        }
        let Some((device, start)) = start_on_device(line) else {
            return Err(VolumeError::NotStraight { name: name.to_owned(), kind: line.kind.clone() });
        };
        parts.push(StraightPart { device, first: start + from - line_first, length: to - from });
    }
    Ok(parts)
}

fn start_on_device(line: &TableLine) -> Option<(DeviceNumber, u64)> {
    let words: Vec<&str> = line.parameters.split_whitespace().collect();
    let (device, start) = match (line.kind.as_str(), words.as_slice()) {
        ("linear", [device, start]) => (device, start),
        // A cipher changes the bytes, not their places.
        ("crypt", [_, _, _, device, start, ..]) => (device, start),
        _ => return None,
    };
    let start: u64 = start.parse().ok()?;
    Some((DeviceNumber::parse(device)?, start.checked_mul(SECTOR)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(start: u64, sectors: u64, kind: &str, parameters: &str) -> TableLine {
        TableLine { start, sectors, kind: kind.into(), parameters: parameters.into() }
    }

    #[test]
    fn a_stretch_over_two_parts_of_a_volume() {
        let table = [line(0, 8, "linear", "8:3 2048"), line(8, 8, "linear", "8:19 384")];
        let parts = parts_of("vg-data", &table, 6 * 512, 4 * 512).unwrap();
        let device = |minor| DeviceNumber { major: 8, minor };
        assert_eq!(
            parts,
            [
                StraightPart { device: device(3), first: 2054 * 512, length: 1024 },
                StraightPart { device: device(19), first: 384 * 512, length: 1024 },
            ]
        );
    }

    #[test]
    fn stripes_are_no_place() {
        let table = [line(0, 8, "striped", "2 128 8:3 0 8:19 0")];
        let error = parts_of("vg-data", &table, 0, 512).unwrap_err();
        assert_eq!(error.to_string(), "volume vg-data is not linear but of type striped");
    }
}
