//! Rates by position, as a host sees them through a link, and what follows from them.

use crate::link::LinkNumbers;
use crate::truth::Truth;
use model::finding::{Datum, FindingCode};
use model::request::Operation;
use model::units::MIB;

/// A part of a drive with one rate for reading and one for writing, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stretch {
    /// Where it begins.
    pub first_byte: u64,
    /// How long it is.
    pub bytes: u64,
    /// Reading in order.
    pub read: f64,
    /// Writing in order.
    pub write: f64,
    /// How long the drive takes to answer a write that its cache takes, in seconds: over a link that carries one command
    /// at a time that passes before the next.
    pub answer_s: f64,
}

/// A rate is what requests of this size reach, that many at a time.
pub(super) const REQUEST_BYTES: u32 = MIB as u32;
/// See [`REQUEST_BYTES`].
pub(super) const DEPTH: u32 = 4;

/// What is said of writing in order.
pub(super) const WRITE_RATES: [FindingCode; 3] =
    [FindingCode::WriteRateOuter, FindingCode::WriteRateInner, FindingCode::WriteRateMean];

impl Stretch {
    /// A part with the same rate both ways.
    pub(super) fn even(first_byte: u64, bytes: u64, rate: f64) -> Stretch {
        Stretch { first_byte, bytes, read: rate, write: rate, answer_s: 0.0 }
    }

    /// The same seen through a link.
    pub(super) fn clipped(self, link: Option<&LinkNumbers>) -> Stretch {
        let Some(link) = link else { return self };
        let carried = |operation| link.bytes_per_second(operation, REQUEST_BYTES, DEPTH);
        let request = f64::from(REQUEST_BYTES);
        let mut write_s = request / carried(Operation::Write);
        if link.queue_depth_max == 1 {
            write_s += f64::from(REQUEST_BYTES.div_ceil(link.transfer_bytes_max)) * self.answer_s;
        }
        Stretch {
            read: self.read.min(carried(Operation::Read)),
            write: self.write.min(request / write_s),
            ..self
        }
    }
}

/// Everything about rates that a drive of those stretches shows through a link.
pub(super) fn rates(medium: &[Stretch], link: Option<&LinkNumbers>) -> Vec<Truth> {
    let seen: Vec<Stretch> = medium.iter().map(|stretch| stretch.clipped(link)).collect();
    let (Some(first), Some(last)) = (seen.first(), seen.last()) else { return Vec::new() };
    let capacity: u64 = seen.iter().map(|stretch| stretch.bytes).sum();
    let pass_s = |rate: fn(&Stretch) -> f64| -> f64 {
        seen.iter().map(|stretch| stretch.bytes as f64 / rate(stretch)).sum()
    };
    let (read_s, write_s) = (pass_s(|stretch| stretch.read), pass_s(|stretch| stretch.write));
    let mut truths = vec![
        Truth::number(FindingCode::ReadRateOuter, first.read),
        Truth::number(FindingCode::ReadRateInner, last.read),
        Truth::number(FindingCode::ReadRateMean, capacity as f64 / read_s),
        Truth::number(FindingCode::WriteRateOuter, first.write),
        Truth::number(FindingCode::WriteRateInner, last.write),
        Truth::number(FindingCode::WriteRateMean, capacity as f64 / write_s),
        Truth::number(FindingCode::FullPassTime, read_s)
            .with("read", Datum::Number(read_s))
            .with("write", Datum::Number(write_s)),
        Truth::number(FindingCode::ZoneRatio, first.read / last.read),
    ];
    truths.extend(zones(&seen));
    truths.push(interface_limit(medium, &seen, link));
    truths
}

/// Neighbours with one read rate are one zone.
fn zones(seen: &[Stretch]) -> [Truth; 2] {
    let mut zones: Vec<Stretch> = Vec::new();
    for stretch in seen {
        match zones.last_mut() {
            Some(zone) if zone.read == stretch.read => zone.bytes += stretch.bytes,
            _ => zones.push(*stretch),
        }
    }
    let row = |zone: &Stretch| {
        Datum::record([
            ("first_byte", Datum::Integer(zone.first_byte)),
            ("bytes", Datum::Integer(zone.bytes)),
            ("bytes_per_second", Datum::Number(zone.read)),
        ])
    };
    let count = zones.len() as f64;
    [
        Truth::number(FindingCode::ZoneCount, count),
        Truth::number(FindingCode::ZoneTable, count)
            .with("zones", Datum::List(zones.iter().map(row).collect())),
    ]
}

/// Where the link and not the medium decides how fast is read.
fn interface_limit(medium: &[Stretch], seen: &[Stretch], link: Option<&LinkNumbers>) -> Truth {
    let clipped: u64 = medium
        .iter()
        .zip(seen)
        .filter(|(medium, seen)| seen.read < medium.read)
        .map(|(_, seen)| seen.bytes)
        .sum();
    match link {
        Some(link) if clipped > 0 => {
            let carried = link.bytes_per_second(Operation::Read, REQUEST_BYTES, DEPTH);
            Truth::number(FindingCode::InterfaceLimit, carried)
                .with("link", Datum::Text(link.link.name.clone()))
                .with("bytes", Datum::Integer(clipped))
        }
        _ => Truth::absent(FindingCode::InterfaceLimit),
    }
}

/// What a link adds to a single read, in seconds; its data cross while the medium still delivers them.
pub(super) fn link_access_s(link: Option<&LinkNumbers>) -> f64 {
    link.map_or(0.0, |link| link.command_overhead_s + link.command_latency_s)
}
