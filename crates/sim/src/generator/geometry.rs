//! Where the sectors of a drawn disk are.

use crate::disk::profile::{GeometryProfile, TrackLayout, ZoneProfile};
use crate::generator::class::Class;
use crate::generator::draws::{Draws, Range, rounded};

/// 15 to 60 zones: zone tables from Wong 2019, and WD's own model of a 4 TB disk (60).
const ZONES: (u64, u64) = (15, 60);
/// A zone against the mean one: up to 8 equal ones (WD's model); DiskSim's drives differ by a factor of two and more.
const ZONE_WIDTH: Range = (0.5, 1.5);
/// How much more the middle holds than a straight line: 0.6 to 7.3 % on seven disks (Wong 2019), 0 in WD's model.
const BULGE: Range = (0.0, 0.07);
/// Surfaces differ by up to ±3 %, as their heads do: 6 % from the slowest to the fastest on a 5K1000 (8thway 2013).
const SURFACE_SPREAD: Range = (0.0, 0.03);
/// Bytes that lie on a surface before the next comes: 95 MB (5K500.B), 167 MB (5K1000), 201 MB (WD's model).
const SERPENTINE_BYTES: Range = (80e6, 200e6);
/// The same in tracks: 115 (MK8034GSX), 140 (DT01ACA300), 315 (X300) (Wong 2019).
const SERPENTINE_TRACKS: (u64, u64) = (100, 320);
/// What a change of surfaces takes longer than one of tracks: re-acquiring the position, 1 to 1.5 ms.
const SURFACE_CHANGE_MS: Range = (1.0, 1.5);
/// A step to the next cylinder against one to the next surface: 1.2 (Cheetah 9LP) to 1.8 (Atlas 10K) (DiskSim).
const CYLINDER_SKEW: Range = (1.1, 1.8);
/// Spare cylinders at the end of a zone: assumed.
const SPARES: (u64, u64) = (0, 40);

/// The outermost track of a disk with 250 GB to a surface. This and the exponent are fitted to the twelve disks of
/// Wong's table of 27 to 500 GB to a surface, and the Exos X20 with 1110 GB; the scatter is what is left.
const TRACK_BYTES_AT_250_GB: f64 = 1.42e6;
const TRACK_BYTES_EXPONENT: f64 = 0.45;
const TRACK_BYTES_SCATTER: Range = (0.85, 1.18);

/// Disks had physical sectors of 512 bytes until 2010, and of 4096 from some 300 GB to a surface on.
const LONG_SECTORS_FROM_GB: f64 = 300.0;
/// Until about 2004 all surfaces of a cylinder came before the next one, up to some 100 GB to a surface (Wong 2019).
const BY_CYLINDER_UP_TO_GB: f64 = 100.0;

/// The layouts that Wong found, about as often.
const LAYOUTS: [(u64, TrackLayout); 4] =
    [(30, TrackLayout::FF), (35, TrackLayout::AF), (20, TrackLayout::AA), (15, TrackLayout::FA)];
const EARLY_LAYOUTS: [(u64, TrackLayout); 3] =
    [(20, TrackLayout::F), (30, TrackLayout::A), (50, TrackLayout::AF)];

#[derive(Clone, Copy)]
enum SurfaceSkew {
    AsTracks,
    HalfTurn,
    Longer,
}

/// As with tracks on most disks of Wong's table, half a turn on two of Toshiba's, else longer.
const SURFACE_SKEWS: [(u64, SurfaceSkew); 3] =
    [(30, SurfaceSkew::AsTracks), (25, SurfaceSkew::HalfTurn), (45, SurfaceSkew::Longer)];

/// A geometry of `surfaces` that hold about `gb_per_surface` each; exactly as much as all its zones hold together.
pub(super) fn draw(draws: &mut Draws, class: &Class, surfaces: u32, gb_per_surface: f64) -> GeometryProfile {
    let sector_bytes = if gb_per_surface < LONG_SECTORS_FROM_GB { 512 } else { 4096 };
    let layout = match draws.percent(60) && gb_per_surface < BY_CYLINDER_UP_TO_GB {
        true => draws.weighted(&EARLY_LAYOUTS),
        false => draws.weighted(&LAYOUTS),
    };
    let by_cylinder = matches!(layout, TrackLayout::F | TrackLayout::A);
    let track_bytes = TRACK_BYTES_AT_250_GB
        * (gb_per_surface / 250.0).powf(TRACK_BYTES_EXPONENT)
        * draws.even(TRACK_BYTES_SCATTER);
    let serpentine_tracks = match (draws.percent(50), draws.by_ratio(SERPENTINE_BYTES)) {
        _ if by_cylinder => 1,
        (true, bytes) => (bytes / track_bytes).round() as u64,
        (false, _) => draws.count(SERPENTINE_TRACKS),
    };
    let track_skew_turns = draws.by_ratio(class.track_skew_turns);
    let (surface_skew_turns, group_skew_turns) = draw_skews(draws, class, by_cylinder, track_skew_turns);
    let outer = track_bytes / sector_bytes as f64;
    let inner = outer / draws.even(class.outer_to_inner);
    let per_track = draw_zones(draws, surfaces, outer, inner);
    let sectors = f64::from(surfaces) * gb_per_surface * 1e9 / sector_bytes as f64;
    // Where zones end in the middle of a serpentine, as in WD's model, the last one of a zone is narrower.
    let whole = if draws.percent(70) { serpentine_tracks } else { 1 };
    GeometryProfile {
        sector_bytes,
        surfaces,
        layout,
        serpentine_tracks,
        track_skew_turns,
        surface_skew_turns,
        group_skew_turns,
        spare_cylinders_per_zone: draws.count(SPARES),
        zones: with_cylinders(per_track, sectors, whole),
        generated_zones: None,
    }
}

fn draw_skews(
    draws: &mut Draws,
    class: &Class,
    by_cylinder: bool,
    track_skew_turns: f64,
) -> (Option<f64>, Option<f64>) {
    if by_cylinder {
        return (None, Some(rounded(track_skew_turns * draws.even(CYLINDER_SKEW))));
    }
    let turn_ms = 60_000.0 / class.turns_per_minute;
    let mut longer = || Some(rounded(track_skew_turns + draws.even(SURFACE_CHANGE_MS) / turn_ms));
    let (surface, group) = (longer(), longer());
    match draws.weighted(&SURFACE_SKEWS) {
        SurfaceSkew::AsTracks => (None, None),
        SurfaceSkew::HalfTurn => (Some(0.5), None),
        SurfaceSkew::Longer => (surface, if draws.percent(50) { group } else { None }),
    }
}

/// Zones by their share of the cylinders, with the sectors on a track of each surface.
fn draw_zones(draws: &mut Draws, surfaces: u32, outer: f64, inner: f64) -> Vec<(f64, Vec<u32>)> {
    let widths: Vec<f64> = (0..draws.count(ZONES)).map(|_| draws.even(ZONE_WIDTH)).collect();
    let spread = draws.even(SURFACE_SPREAD);
    let densities: Vec<f64> = (0..surfaces).map(|_| 1.0 + spread * draws.even((-1.0, 1.0))).collect();
    let bulge = draws.even(BULGE) * (outer + inner) / 2.0;
    // The first zone begins at the outer edge and the last one has the tracks of the inner edge.
    let until_last: f64 = widths[..widths.len() - 1].iter().sum();
    let mut before = 0.0;
    let mut zones = Vec::with_capacity(widths.len());
    for width in widths {
        let depth = before / until_last;
        let sectors = outer + (inner - outer) * depth + bulge * 4.0 * depth * (1.0 - depth);
        zones.push((width, densities.iter().map(|density| (sectors * density).round() as u32).collect()));
        before += width;
    }
    zones
}

/// As many cylinders as hold `sectors`, in multiples of `whole` in each zone.
fn with_cylinders(zones: Vec<(f64, Vec<u32>)>, sectors: f64, whole: u64) -> Vec<ZoneProfile> {
    let mut holds = 0.0;
    for (width, counts) in &zones {
        holds += width * counts.iter().map(|&count| f64::from(count)).sum::<f64>();
    }
    let mut profiles = Vec::with_capacity(zones.len());
    for (width, sectors_per_track) in zones {
        let cylinders = (width * sectors / holds / whole as f64).round().max(1.0) as u64 * whole;
        profiles.push(ZoneProfile { cylinders, sectors_per_track });
    }
    profiles
}

pub(super) fn holds_bytes(geometry: &GeometryProfile) -> u64 {
    let mut sectors = 0;
    for zone in &geometry.zones {
        sectors += zone.cylinders * zone.sectors_per_track.iter().map(|&count| u64::from(count)).sum::<u64>();
    }
    sectors * geometry.sector_bytes
}
