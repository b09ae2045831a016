//! Drawn targets without a mechanism: sticks, cards and network volumes. Their latency knows no place: they have no arms or tracks.

use crate::constant::ConstantProfile;
use crate::generator::draws::{Draws, Range, rounded};
use crate::generator::family::{Family, frame, size};
use crate::link::{LinkKind, LinkProfile};
use crate::profile::Profile;

/// Cards and sticks read in 0.2 to 2 ms, volumes behind a network in 0.3 to 9 ms (recalled: fio runs that were published of such).
const LATENCY_US: Range = (200.0, 9000.0);
/// A write to several copies takes longer than a read of one; a volume with a journal near the host takes it sooner.
const WRITE_TO_READ: Range = (0.6, 3.0);
const SERVERS: [u32; 2] = [1, 4];
/// From a wire to a network in which packets are repeated.
const JITTERS: Range = (0.01, 0.6);
const CAPACITY_GB: (u64, u64) = (8, 500);
const LINKS: [LinkKind; 6] = [
    LinkKind::Usb2BulkOnly,
    LinkKind::Usb3BulkOnly,
    LinkKind::Usb3AttachedScsi,
    LinkKind::Sata300,
    LinkKind::Sata600,
    LinkKind::Nvme,
];

const SOURCES: [&str; 1] = ["Latency of sticks, cards and network volumes: published fio runs (recalled)"];

pub(super) fn draw(seed: u64) -> Profile {
    let mut draws = Draws::new(Family::Remote, seed, b"remote__");
    let bytes = draws.count(CAPACITY_GB) * 1_000_000_000;
    let latency_us = draws.by_ratio(LATENCY_US);
    let write_to_read = draws.by_ratio(WRITE_TO_READ);
    let jitter = draws.by_ratio(JITTERS);
    let constant = ConstantProfile {
        latency_us,
        servers: draws.one_of(&SERVERS),
        write_latency_us: draws.percent(60).then_some(rounded(latency_us * write_to_read)),
        jitter: if draws.percent(60) { jitter } else { 0.0 },
    };
    let kind = draws.one_of(&LINKS);
    let has_link = draws.percent(60);
    // Bridges and virtual disks report either of drives that do not rotate.
    let rotational = draws.one_of(&[None, Some(false), Some(true)]);
    let description = format!("A random target without a mechanism: {}, {latency_us} µs", size(bytes));
    let mut profile = frame(Family::Remote, seed, description, &SOURCES);
    profile.identity.capacity_bytes = Some(bytes);
    profile.identity.rotational = rotational;
    profile.constant = Some(constant);
    profile.link =
        if has_link { Some(LinkProfile { kind: Some(kind), ..LinkProfile::default() }) } else { None };
    profile
}
