//! Sequential throughput by offset, as a host sees it through a link, and what follows from it.

use crate::link::LinkNumbers;
use crate::truth::data::{RateZone, TruthData};
use crate::truth::value::Truth;
use model::finding::FindingCode;
use model::request::Operation;
use model::units::MIB;

/// A part of a drive with one sequential rate for reads and one for writes, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    pub first_byte: u64,
    pub bytes: u64,
    pub read: f64,
    pub write: f64,
    /// Latency of a write that the drive's cache takes, in seconds, with one command at a time.
    pub cached_write_s: f64,
}

/// Rates are those of requests of this size at this queue depth.
pub(super) const REQUEST_BYTES: u32 = MIB as u32;
pub(super) const DEPTH: u32 = 4;

pub(super) const WRITE_RATES: [FindingCode; 3] =
    [FindingCode::WriteRateOuter, FindingCode::WriteRateInner, FindingCode::WriteRateMean];

/// The same of reads, with what follows from them.
pub(super) const READ_RATES: [FindingCode; 5] = [
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ReadRateMean,
    FindingCode::FullPassTime,
    FindingCode::InterfaceLimit,
];

impl Extent {
    pub(super) fn even(first_byte: u64, bytes: u64, rate: f64) -> Extent {
        Extent { first_byte, bytes, read: rate, write: rate, cached_write_s: 0.0 }
    }

    pub(super) fn end_byte(&self) -> u64 {
        self.first_byte + self.bytes
    }

    fn read_s(&self) -> f64 {
        self.bytes as f64 / self.read
    }

    fn write_s(&self) -> f64 {
        self.bytes as f64 / self.write
    }

    pub(super) fn clipped(self, link: Option<&LinkNumbers>, bytes: u32) -> Extent {
        let Some(link) = link else { return self };
        let mut write_s = f64::from(bytes) / link.bytes_per_second(Operation::Write, bytes, DEPTH);
        if link.queue_depth_max == 1 {
            write_s += f64::from(bytes.div_ceil(link.transfer_bytes_max)) * self.cached_write_s;
        }
        let read = link.bytes_per_second(Operation::Read, bytes, DEPTH);
        Extent { read: self.read.min(read), write: self.write.min(f64::from(bytes) / write_s), ..self }
    }
}

pub(super) fn bytes_of(extents: &[Extent]) -> u64 {
    extents.iter().map(|extent| extent.bytes).sum()
}

/// Everything about rates that a drive of those extents shows through a link.
pub(super) fn rates(medium: &[Extent], link: Option<&LinkNumbers>) -> Vec<Truth> {
    let seen: Vec<Extent> = medium.iter().map(|extent| extent.clipped(link, REQUEST_BYTES)).collect();
    let (Some(first), Some(last)) = (seen.first(), seen.last()) else { return Vec::new() };
    let capacity = bytes_of(&seen) as f64;
    let read_s: f64 = seen.iter().map(Extent::read_s).sum();
    let write_s: f64 = seen.iter().map(Extent::write_s).sum();
    let mut truths = vec![
        Truth::number(FindingCode::ReadRateOuter, first.read),
        Truth::number(FindingCode::ReadRateInner, last.read),
        Truth::number(FindingCode::ReadRateMean, capacity / read_s),
        Truth::number(FindingCode::WriteRateOuter, first.write),
        Truth::number(FindingCode::WriteRateInner, last.write),
        Truth::number(FindingCode::WriteRateMean, capacity / write_s),
        Truth::number(FindingCode::FullPassTime, read_s)
            .with(TruthData::Passes { read: read_s, write: write_s }),
        Truth::number(FindingCode::ZoneRatio, first.read / last.read),
    ];
    let zones = zones(&seen);
    let count = zones.len() as f64;
    truths.push(Truth::number(FindingCode::ZoneCount, count));
    truths.push(Truth::number(FindingCode::ZoneTable, count).with(TruthData::Zones { zones }));
    truths.push(interface_limit(medium, &seen, link));
    truths
}

fn zones(seen: &[Extent]) -> Vec<RateZone> {
    let mut zones: Vec<RateZone> = Vec::new();
    for &Extent { first_byte, bytes, read, .. } in seen {
        match zones.last_mut() {
            Some(zone) if zone.bytes_per_second == read => zone.bytes += bytes,
            _ => zones.push(RateZone { first_byte, bytes, bytes_per_second: read }),
        }
    }
    zones
}

/// Of two hosts, one with payloads of 256 bytes and one of 512, the second gets 4 % more through the same PCIe link.
const AS_FAST_AS_LINK: f64 = 0.96;

fn interface_limit(medium: &[Extent], seen: &[Extent], link: Option<&LinkNumbers>) -> Truth {
    let (mut clipped_bytes, mut fastest) = (0, 0.0_f64);
    for (medium, seen) in medium.iter().zip(seen) {
        if seen.read < medium.read {
            clipped_bytes += seen.bytes;
        }
        fastest = fastest.max(medium.read);
    }
    match link {
        Some(link) if clipped_bytes == 0 && fastest > AS_FAST_AS_LINK * link.read_bytes_per_second => {
            Truth::depends(
                FindingCode::InterfaceLimit,
                "the medium is as fast as the link, within what payloads differ by",
            )
        }
        Some(link) if clipped_bytes > 0 => {
            let carried = link.bytes_per_second(Operation::Read, REQUEST_BYTES, DEPTH);
            Truth::number(FindingCode::InterfaceLimit, carried)
                .with(TruthData::Link { link: link.link.name.clone(), bytes: clipped_bytes })
        }
        _ => Truth::absent(FindingCode::InterfaceLimit),
    }
}

/// What a link adds to the latency of a single read; its data cross while the medium still delivers them.
pub(super) fn link_access_s(link: Option<&LinkNumbers>) -> f64 {
    let Some(link) = link else { return 0.0 };
    link.command_overhead_s + link.command_latency_s
}
