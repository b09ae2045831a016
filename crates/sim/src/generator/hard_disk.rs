//! Drawn hard disks: what is sold together is drawn together, by class.

use crate::disk::profile::DiskProfile;
use crate::generator::class::{Class, Use};
use crate::generator::draws::{Draws, Range, rounded};
use crate::generator::family::{Family, frame, size};
use crate::generator::{geometry, mechanics};
use crate::link::{LinkKind, LinkProfile};
use crate::profile::Profile;

/// OD to ID of desktop disks: 2.0 (WD's model of 4 TB) to 2.24 (DT01ACA300).
const DESKTOP_RATIO: Range = (2.0, 2.25);
/// OD to ID of disks with small platters: 1.72 (WD3000BKHG) and 1.75 (Cheetah 15K.7) (Wong 2019).
const FAST_RATIO: Range = (1.7, 1.75);
/// 22.5° (X300) to 129° (ST51270A) on the disks of Wong 2019.
const SKEW: Range = (0.06, 0.36);
/// 23.8° (15K.7) and 24.4° (WD3000BKHG) (Wong 2019); twice that is assumed to be the most.
const FAST_SKEW: Range = (0.066, 0.13);

/// 5400 and 2.5": 27 GB (MK8034GSX) to 500 GB to a surface; seeks of 19.1 ms over all (Wong) and data sheets of 12 ms.
const PORTABLE: Class = Class {
    turns_per_minute: 5400.0,
    surfaces: (2, 8),
    gb_per_surface: (42.0, 500.0),
    outer_to_inner: DESKTOP_RATIO,
    track_skew_turns: SKEW,
    average_seek_ms: (10.0, 13.0),
    sold_for: Use::Desktop,
};
/// 5400 and 3.5": WD20EARS has 6 or 8 surfaces, and seeks of 10.8 ms.
const SLOW: Class = Class { surfaces: (2, 12), gb_per_surface: (42.0, 1000.0), ..PORTABLE };
/// 5900: the ST4000DM000 has 4 platters, the ST8000AS0002 6 of 1.33 TB and seeks of 12 ms.
const MEDIUM: Class = Class { turns_per_minute: 5900.0, gb_per_surface: (160.0, 670.0), ..SLOW };
/// 7200: 42 GB (WD2500KS) to 500 GB to a surface measured, 1000 since; the longest seeks take 14.6 to 25.7 ms (Wong).
const DESKTOP: Class = Class {
    turns_per_minute: 7200.0,
    surfaces: (2, 10),
    gb_per_surface: (42.0, 1000.0),
    outer_to_inner: DESKTOP_RATIO,
    track_skew_turns: SKEW,
    average_seek_ms: (7.5, 11.0),
    sold_for: Use::Desktop,
};
/// The Exos X20 has 9 platters of 2.2 TB; 24 TB have 10. WD's model: 10 surfaces, 7.93 ms.
const NEARLINE: Class = Class {
    surfaces: (8, 20),
    gb_per_surface: (160.0, 1180.0),
    average_seek_ms: (7.5, 9.0),
    sold_for: Use::Nearline,
    ..DESKTOP
};
/// WD3000BKHG has 3 surfaces of 100 GB; mean seeks of 4.8 to 5.6 ms (DiskSim), longest of 8.1 ms (Wong).
const FAST: Class = Class {
    turns_per_minute: 10_000.0,
    surfaces: (2, 8),
    gb_per_surface: (42.0, 225.0),
    outer_to_inner: FAST_RATIO,
    track_skew_turns: FAST_SKEW,
    average_seek_ms: (3.9, 5.6),
    sold_for: Use::Serial,
};
/// The Cheetah 15K.7 has 6 surfaces of 75 GB, and its longest seek takes 7.3 ms (Wong).
const FASTEST: Class =
    Class { turns_per_minute: 15_000.0, gb_per_surface: (42.0, 75.0), average_seek_ms: (3.0, 3.9), ..FAST };

pub(super) const CLASSES: [(u64, Class); 7] =
    [(14, PORTABLE), (14, SLOW), (10, MEDIUM), (28, DESKTOP), (20, NEARLINE), (8, FAST), (6, FASTEST)];

/// Units of one model turn 0.27 % faster than another's nominal speed (DT01ACA300, Wong 2019).
const SPEED_ERROR: Range = (-0.003, 0.003);
/// 3 % is what the extracted drives scatter; how much that differs is assumed.
const SEEK_NOISE: Range = (0.02, 0.04);
/// 0.03 to 1.0 ms on seven drives (DiskSim).
const HEAD_SWITCH_MS: Range = (0.03, 1.0);
/// The reference calculation, of the same drives.
const WRITE_SETTLE_MS: Range = (0.3, 0.65);
const COMMAND_OVERHEAD_MS: Range = (0.15, 0.3);

const SOURCES: [&str; 3] = [
    "Ranges of geometry: Henry Wong, \"Hard disk geometry microbenchmarking\" (2019), 17 disks; WD's own model of a 4 TB disk",
    "Ranges of seeks and overheads: the drives extracted with DIXtrac for DiskSim 4.0; caches: data sheets of 250 GB to 20 TB disks",
    "Defects, standby, spare cylinders and the sharing of the cache are assumed",
];

pub(super) struct Drawn {
    pub(super) class: Class,
    pub(super) disk: DiskProfile,
    pub(super) platter_bytes: u64,
    pub(super) link: LinkProfile,
}

pub(super) fn draw(seed: u64) -> Profile {
    let drawn = draw_disk(Family::HardDisk, seed, &CLASSES);
    let bytes = drawn.platter_bytes;
    let description = format!(
        "A random hard disk: {}, {} rpm, {} surfaces, layout {:?}",
        size(bytes),
        drawn.class.turns_per_minute,
        drawn.disk.geometry.surfaces,
        drawn.disk.geometry.layout,
    );
    let mut profile = frame(Family::HardDisk, seed, description, &SOURCES);
    assemble(&mut profile, drawn, bytes, seed);
    profile
}

/// Puts a disk into its profile; `bytes` is what it shows of itself.
pub(super) fn assemble(profile: &mut Profile, mut drawn: Drawn, bytes: u64, seed: u64) {
    let family = if profile.smr.is_some() { Family::Shingled } else { Family::HardDisk };
    let mut draws = Draws::new(family, seed, b"defects_");
    drawn.disk.defects = mechanics::draw_defects(&mut draws, &drawn.disk.geometry, bytes);
    let sector_bytes = drawn.disk.geometry.sector_bytes;
    // One nearline disk in five shows its sectors as they are (4Kn).
    let shows_long = sector_bytes == 4096 && drawn.class.sold_for == Use::Nearline && draws.percent(20);
    profile.identity.capacity_bytes = Some(bytes);
    profile.identity.logical_block_bytes = if shows_long { 4096 } else { 512 };
    profile.identity.physical_block_bytes = sector_bytes;
    profile.identity.rotational = Some(true);
    profile.link = Some(drawn.link);
    profile.disk = Some(drawn.disk);
}

pub(super) fn draw_disk(family: Family, seed: u64, classes: &[(u64, Class)]) -> Drawn {
    let mut draws = Draws::new(family, seed, b"class___");
    let class = draws.weighted(classes);
    let gb_per_surface = draws.by_ratio(class.gb_per_surface);
    let surfaces = draws.count_u32(class.surfaces);
    let link = draw_link(&mut Draws::new(family, seed, b"link____"), &class, gb_per_surface);
    let geometry =
        geometry::draw(&mut Draws::new(family, seed, b"geometry"), &class, surfaces, gb_per_surface);
    let cylinders =
        geometry.zones.iter().map(|zone| zone.cylinders + geometry.spare_cylinders_per_zone).sum();
    let mut draws = Draws::new(family, seed, b"arm_____");
    let seek = mechanics::draw_seek(&mut draws, &class, geometry.track_skew_turns, cylinders);
    let mut memory = Draws::new(family, seed, b"memory__");
    let (read_ahead, write_cache) = mechanics::draw_caches(&mut memory, gb_per_surface);
    let disk = DiskProfile {
        turns_per_minute: rounded_speed(class.turns_per_minute * (1.0 + draws.even(SPEED_ERROR))),
        seek_noise: draws.even(SEEK_NOISE),
        head_switch_ms: draws.by_ratio(HEAD_SWITCH_MS),
        write_settle_ms: draws.even(WRITE_SETTLE_MS),
        command_overhead_ms: draws.even(COMMAND_OVERHEAD_MS),
        seek,
        read_ahead,
        write_cache,
        queue: mechanics::draw_queue(&mut memory, 32),
        standby: mechanics::draw_standby(&mut memory),
        defects: Vec::new(),
        geometry,
    };
    Drawn { class, platter_bytes: geometry::holds_bytes(&disk.geometry), disk, link }
}

fn rounded_speed(turns_per_minute: f64) -> f64 {
    (turns_per_minute * 10.0).round() / 10.0
}

/// The link that disks of such a density had. One desktop disk in five is an external one.
fn draw_link(draws: &mut Draws, class: &Class, gb_per_surface: f64) -> LinkProfile {
    const EXTERNAL: [(u64, LinkKind); 3] =
        [(30, LinkKind::Usb2BulkOnly), (30, LinkKind::Usb3BulkOnly), (40, LinkKind::Usb3AttachedScsi)];
    let (external, serial_nearline) = (draws.percent(20), draws.percent(30));
    match class.sold_for {
        Use::Desktop if external => LinkProfile::of(draws.weighted(&EXTERNAL)),
        Use::Nearline if serial_nearline => LinkProfile::of(LinkKind::Sas12),
        Use::Serial => draw_serial(draws),
        _ => draw_sata(draws, gb_per_surface),
    }
}

/// SATA at 1.5 Gbit/s carried up to 100 GB to a surface, at 3 up to 400, at 6 all since; first often no NCQ.
fn draw_sata(draws: &mut Draws, gb_per_surface: f64) -> LinkProfile {
    let kind = match gb_per_surface {
        gb if gb < 100.0 => draws.weighted(&[(60, LinkKind::Sata150), (40, LinkKind::Sata300)]),
        gb if gb < 400.0 => draws.weighted(&[(70, LinkKind::Sata300), (30, LinkKind::Sata600)]),
        _ => LinkKind::Sata600,
    };
    let without_queueing = draws.percent(50) && kind == LinkKind::Sata150;
    LinkProfile { native_command_queueing: without_queueing.then_some(false), ..LinkProfile::of(kind) }
}

/// SAS at 3, 6 or 12 Gbit/s, of whose frames 1024 of 1064 bytes are data.
fn draw_serial(draws: &mut Draws) -> LinkProfile {
    let gigabits = draws.weighted(&[(30, 3.0), (50, 6.0), (20, 12.0)]);
    if gigabits == 12.0 {
        return LinkProfile::of(LinkKind::Sas12);
    }
    LinkProfile {
        name: Some(format!("SAS {gigabits:.1} Gbit/s")),
        line_rate_mb_per_s: Some(gigabits * 100.0),
        rate_mb_per_s: Some(rounded(gigabits * 100.0 * 1024.0 / 1064.0)),
        ..LinkProfile::of(LinkKind::Sas12)
    }
}
