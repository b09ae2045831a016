//! What a volume of the device mapper is put together of: the straight parts, asked of the kernel by its own command. LVM makes
//! these unless it is told to stripe.

use super::identity::DeviceNumber;
use super::sysfs::BlockDevice;
use super::system_call;
use std::path::Path;

/// The mapper counts in sectors of this size.
const SECTOR: u64 = 512;

/// A part of a volume that is a stretch of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StraightPart {
    pub device: DeviceNumber,
    pub first: u64,
    pub length: u64,
}

/// One line of a volume's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableLine {
    /// Where it begins in the volume, in sectors.
    pub start: u64,
    /// How long it is, in sectors.
    pub sectors: u64,
    /// `linear`, `striped`, `crypt`, …
    pub kind: String,
    /// What the kind needs to know.
    pub parameters: String,
}

/// The parts that a stretch of the volume consists of, in order.
pub(super) fn straight_parts(
    volume: &BlockDevice,
    first: u64,
    length: u64,
) -> Result<Vec<StraightPart>, String> {
    let name = volume
        .attribute("dm/name")
        .ok_or_else(|| format!("{} is put together in a way that is not told", volume.name))?;
    let control = system_call::open(Path::new("/dev/mapper/control"), libc::O_RDWR)
        .map_err(|error| format!("what the volume {name} lies on is told to root only ({error})"))?;
    let table = system_call::mapped_table(&control, &name)
        .map_err(|error| format!("what the volume {name} lies on is not told: {error}"))?;
    parts_of(&table, first, length).map_err(|why| format!("the volume {name} {why}"))
}

/// The same of a table.
fn parts_of(table: &[TableLine], first: u64, length: u64) -> Result<Vec<StraightPart>, String> {
    let end = first + length;
    let mut parts = Vec::new();
    for line in table {
        let (line_first, line_end) = (line.start * SECTOR, (line.start + line.sectors) * SECTOR);
        let (from, to) = (first.max(line_first), end.min(line_end));
        if from >= to {
            continue;
        }
        // A cipher changes the bytes, not their places.
        let words: Vec<&str> = line.parameters.split_whitespace().collect();
        let target = match (line.kind.as_str(), words.as_slice()) {
            ("linear", [device, start]) => Some((*device, *start)),
            ("crypt", [_, _, _, device, start, ..]) => Some((*device, *start)),
            _ => None,
        };
        let place = target.and_then(|(device, start)| {
            Some((DeviceNumber::parse(device)?, start.parse::<u64>().ok()?.checked_mul(SECTOR)?))
        });
        let (device, start) =
            place.ok_or_else(|| format!("is not straight there, but of the kind {}", line.kind))?;
        parts.push(StraightPart { device, first: start + from - line_first, length: to - from });
    }
    Ok(parts)
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
        let parts = parts_of(&table, 6 * 512, 4 * 512).unwrap();
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
        assert_eq!(parts_of(&table, 0, 512).unwrap_err(), "is not straight there, but of the kind striped");
    }
}
