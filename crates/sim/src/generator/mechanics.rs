//! How the arm of a drawn disk moves, what it keeps in memory, and what is wrong with its sectors.

use crate::disk::profile::{
    Defect, DefectKind, GeometryProfile, QueuePolicy, QueueProfile, ReadAheadProfile, SeekProfile,
    StandbyProfile, WriteCacheProfile,
};
use crate::generator::class::Class;
use crate::generator::draws::{Draws, Range, rounded};

/// The mean seek against the longest: 0.49 to 0.56 on seven drives extracted with DIXtrac (DiskSim 4.0).
const MEAN_TO_FULL: Range = (0.49, 0.56);
/// The mean seek is the one over this share of all cylinders, on the same drives.
const MEAN_SEEK_SHARE: f64 = 0.30;
/// Where the arm begins to coast, as a share of all cylinders: 0.06 to 0.25, on the same drives.
const BORDER_SHARE: Range = (0.06, 0.25);
/// A step to the next track fits into the skew that was made for it; how closely is assumed. Data sheets end at 2 ms.
const TRACK_TO_TRACK_OF_SKEW: Range = (0.75, 0.95);
const TRACK_TO_TRACK_MS_MAX: f64 = 2.0;

/// The curve that WD published of a 4 TB disk: share of the longest distance, and of what the longest seek takes longer
/// than the shortest. From 1.8 ms over one cylinder to 15.7 ms over 353,181.
const PUBLISHED_CURVE: [(f64, f64); 12] = [
    (0.0, 0.0),
    (0.000266, 0.0144),
    (0.02043, 0.1079),
    (0.07792, 0.2086),
    (0.1354, 0.2806),
    (0.1936, 0.3453),
    (0.3091, 0.4388),
    (0.425, 0.5324),
    (0.5421, 0.6259),
    (0.7209, 0.7698),
    (0.8948, 0.9065),
    (1.0, 1.0),
];

/// The mean of that curve and of the root of the distance over all pairs of cylinders, as shares of what the longest seek
/// takes longer: (7.93 − 1.8) / 13.9 as published, and 8/15. A drawn table lies between the two, where its mean does.
const PUBLISHED_MEAN: f64 = 0.441;
const ROOT_MEAN: f64 = 8.0 / 15.0;

#[derive(Clone, Copy)]
enum Curve {
    RootThenLinear,
    DataSheet,
    Table,
}

const CURVES: [(u64, Curve); 3] = [(50, Curve::RootThenLinear), (30, Curve::DataSheet), (20, Curve::Table)];

/// Memory by density, in MiB: 8 (ST3250823A, 62 GB to a surface), 64 (WD20EARS, ST3000DM001, DT01ACA300, 333 to 500),
/// 128 (ST8000AS0002, 667), 256 (ST8000DM004, Exos X20, 1000 and more), 512 (WD Gold 20 TB).
const CACHES_MIB: [(f64, &[u64]); 4] =
    [(80.0, &[8, 16]), (250.0, &[16, 32, 64]), (700.0, &[64, 128]), (f64::INFINITY, &[256, 512])];
/// 16 to 32 segments of 1 to 2 MiB are usual, 32 of 1.5 MiB in WD's model; less where the cache is small.
const SEGMENTS: [u32; 4] = [16, 20, 24, 32];
const SEGMENT_KIB: [u64; 5] = [256, 512, 1024, 1536, 2048];
/// The part of the memory that holds writes: assumed. The rest beside the segments is the firmware's.
const WRITE_CACHE_SHARE: Range = (0.2, 0.45);

/// Ageing: 0.002 to 0.05 are those computed in the reference calculation that neither starve nor throw away the sorting.
const AGE_WEIGHT: Range = (0.002, 0.05);
const POLICIES: [(u64, QueuePolicy); 3] =
    [(70, QueuePolicy::Aged), (20, QueuePolicy::ShortestPositioning), (10, QueuePolicy::FirstCome)];

/// Idle times after which external disks stop, and times to start (5 to 15 s in data sheets when cold). Assumed.
const STANDBY_AFTER_S: Range = (60.0, 1800.0);
const WAKE_UP_S: Range = (3.0, 12.0);

/// A disk in use has some: assumed. One in two has none that can be seen.
const DEFECTS: (u64, u64) = (1, 12);
const DEFECT_KINDS: [(u64, DefectKind); 3] =
    [(60, DefectKind::Remapped), (25, DefectKind::Slow), (15, DefectKind::Unreadable)];
/// Sectors of a stretch that is remapped, and of one that is slow or unreadable: a scratch, and a weak spot. Assumed.
const REMAPPED_SECTORS: Range = (1.0, 256.0);
const WEAK_SECTORS: Range = (1.0, 32.0);
/// Turns until a slow sector is read after all, and until it is given up: 7 s (disks for RAID) are 840 turns.
const SLOW_TURNS: (u32, u32) = (1, 20);
const GIVE_UP_TURNS: (u32, u32) = (20, 840);

pub(super) fn draw_seek(
    draws: &mut Draws,
    class: &Class,
    track_skew_turns: f64,
    cylinders: u64,
) -> SeekProfile {
    let skew_ms = track_skew_turns * 60_000.0 / class.turns_per_minute;
    let first_ms = rounded(skew_ms * draws.even(TRACK_TO_TRACK_OF_SKEW)).min(TRACK_TO_TRACK_MS_MAX);
    let mean_ms = draws.even(class.average_seek_ms);
    let full_ms = rounded(mean_ms / draws.even(MEAN_TO_FULL));
    let border = (draws.even(BORDER_SHARE) * cylinders as f64).round();
    match draws.weighted(&CURVES) {
        Curve::DataSheet => SeekProfile::DataSheet {
            track_to_track_ms: first_ms,
            average_ms: mean_ms,
            full_stroke_ms: full_ms,
        },
        Curve::Table => table(first_ms, mean_ms, full_ms, (cylinders - 1) as f64),
        Curve::RootThenLinear => root_then_linear(first_ms, mean_ms, full_ms, border, cylinders as f64),
    }
}

/// The published curve, bent towards a root until its mean is the one that was drawn.
fn table(first_ms: f64, mean_ms: f64, full_ms: f64, last: f64) -> SeekProfile {
    let mean = (mean_ms - first_ms) / (full_ms - first_ms);
    let root_share = (mean - PUBLISHED_MEAN) / (ROOT_MEAN - PUBLISHED_MEAN);
    let point = |&(distance, published): &(f64, f64)| {
        let of_time = published + root_share * (distance.sqrt() - published);
        ((1.0 + (last - 1.0) * distance).round(), rounded(first_ms + (full_ms - first_ms) * of_time))
    };
    SeekProfile::Table { points: PUBLISHED_CURVE.iter().map(point).collect() }
}

/// The curve of Ruemmler and Wilkes through four points: the next track, the border, the mean and the longest seek.
fn root_then_linear(first_ms: f64, mean_ms: f64, full_ms: f64, border: f64, cylinders: f64) -> SeekProfile {
    let linear_ms = (full_ms - mean_ms) / ((1.0 - MEAN_SEEK_SHARE) * cylinders);
    let long_constant_ms = full_ms - linear_ms * cylinders;
    let root_ms = (long_constant_ms + linear_ms * border - first_ms) / (border.sqrt() - 1.0);
    SeekProfile::RootThenLinear {
        constant_ms: rounded(first_ms - root_ms),
        root_ms: rounded(root_ms),
        long_constant_ms: rounded(long_constant_ms),
        linear_ms: rounded(linear_ms),
        border_cylinders: border,
    }
}

/// Segments and write cache, out of the memory of a disk of that density.
pub(super) fn draw_caches(draws: &mut Draws, gb_per_surface: f64) -> (ReadAheadProfile, WriteCacheProfile) {
    let sizes = CACHES_MIB.iter().find(|(up_to_gb, _)| gb_per_surface < *up_to_gb);
    let memory_kib = draws.one_of(sizes.map_or(&[256][..], |(_, sizes)| sizes)) << 10;
    let segments = draws.one_of(&SEGMENTS);
    let most_kib = memory_kib / 2 / u64::from(segments);
    let fitting: Vec<u64> = SEGMENT_KIB.into_iter().filter(|&kib| kib <= most_kib).collect();
    let segment_kib = if fitting.is_empty() { most_kib } else { draws.one_of(&fitting) };
    let ahead_kib =
        draws.weighted(&[(70, None), (15, Some(segment_kib / 2)), (10, Some(segment_kib / 4)), (5, Some(0))]);
    let held_kib = (memory_kib as f64 * draws.even(WRITE_CACHE_SHARE)) as u64;
    let capacity_kib = if draws.percent(90) { held_kib } else { 0 };
    (
        ReadAheadProfile {
            segments,
            segment_kib,
            ahead_kib,
            drops_delivered: false,
            on_arrival: false,
            sequential_only: false,
        },
        WriteCacheProfile { capacity_kib, ..WriteCacheProfile::default() },
    )
}

pub(super) fn draw_queue(draws: &mut Draws, depth: u32) -> QueueProfile {
    QueueProfile {
        policy: draws.weighted(&POLICIES),
        depth,
        age_weight: draws.by_ratio(AGE_WEIGHT),
        breaks_streams: false,
    }
}

pub(super) fn draw_standby(draws: &mut Draws) -> Option<StandbyProfile> {
    let standby = StandbyProfile {
        after_idle_s: draws.by_ratio(STANDBY_AFTER_S),
        wake_up_s: draws.even(WAKE_UP_S),
        asleep: false,
    };
    draws.percent(15).then_some(standby)
}

pub(super) fn draw_defects(draws: &mut Draws, geometry: &GeometryProfile, bytes: u64) -> Vec<Defect> {
    if draws.percent(50) {
        return Vec::new();
    }
    let sectors = bytes / geometry.sector_bytes;
    let mut drawn: Vec<Defect> = (0..draws.count(DEFECTS))
        .map(|_| draw_defect(draws, geometry, sectors))
        .filter(|defect| defect.kind != DefectKind::Remapped || geometry.spare_cylinders_per_zone > 0)
        .collect();
    drawn.sort_by_key(|defect| defect.first_byte);
    let mut end_before = 0;
    drawn.retain(|defect| {
        let is_apart = defect.first_byte >= end_before;
        end_before = end_before.max(defect.first_byte + defect.bytes);
        is_apart
    });
    drawn
}

fn draw_defect(draws: &mut Draws, geometry: &GeometryProfile, sectors: u64) -> Defect {
    let kind = draws.weighted(&DEFECT_KINDS);
    let (length, retry_turns) = match kind {
        DefectKind::Remapped => (draws.by_ratio(REMAPPED_SECTORS), 0),
        DefectKind::Slow => (draws.by_ratio(WEAK_SECTORS), draws.count_u32(SLOW_TURNS)),
        DefectKind::Unreadable => (draws.by_ratio(WEAK_SECTORS), draws.count_u32(GIVE_UP_TURNS)),
    };
    let length = length.round() as u64;
    let first = draws.count((0, sectors - length));
    let bytes_of = |count: u64| count * geometry.sector_bytes;
    Defect { kind, first_byte: bytes_of(first), bytes: bytes_of(length), retry_turns }
}
