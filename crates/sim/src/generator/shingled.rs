//! Drawn drive-managed SMR disks: a drawn disk of high density with a media cache, bands, and a policy of cleaning.

use crate::generator::class::{Class, Use};
use crate::generator::draws::{Draws, Range};
use crate::generator::family::{Family, frame, size};
use crate::generator::hard_disk::{self, Drawn};
use crate::profile::Profile;
use crate::smr::profile::{BandZone, CleaningOrder, CleaningPolicy, SLOT_BYTES, SmrProfile};

/// Desktop disks at 5400 (ST8000DM004), 5900 (ST8000AS0002) or 7200 rpm (ST2000DM008). All else as on other disks.
const SLOW: Class = Class {
    turns_per_minute: 5400.0,
    surfaces: (2, 8),
    gb_per_surface: (660.0, 1000.0),
    outer_to_inner: (2.0, 2.25),
    track_skew_turns: (0.06, 0.2),
    average_seek_ms: (10.0, 13.0),
    sold_for: Use::Desktop,
};
/// 2.5": the Backup Plus Slim has 2 TB, later ones 5 TB on ten surfaces.
const PORTABLE: Class = Class { surfaces: (2, 10), gb_per_surface: (480.0, 520.0), ..SLOW };
/// 6 platters of 1.33 TB, seeks of 12 ms.
const ARCHIVE: Class =
    Class { turns_per_minute: 5900.0, surfaces: (6, 12), gb_per_surface: (600.0, 700.0), ..SLOW };
const DESKTOP: Class = Class {
    turns_per_minute: 7200.0,
    surfaces: (2, 4),
    gb_per_surface: (660.0, 1000.0),
    average_seek_ms: (8.0, 10.5),
    ..SLOW
};
const CLASSES: [(u64, Class); 4] = [(35, SLOW), (20, PORTABLE), (25, ARCHIVE), (20, DESKTOP)];

/// 20 GB (ST5000AS0011), 25 GB (ST8000AS0002) (Skylight), 23 GB before the cliff of a 2 TB disk; half and twice that.
const MEDIA_CACHE_BYTES: Range = (10e9, 60e9);
/// 200,000 and 250,000 (Skylight); half and more.
const MAP_ENTRIES: (u64, u64) = (100_000, 400_000);
/// 17 to 36 MB and 15 to 40 MB (Skylight).
const BAND_BYTES: Range = (15e6, 40e6);
/// Stretches of bands of one size: assumed, as Skylight tells the smallest and the largest only.
const BAND_ZONES: (u64, u64) = (1, 6);
const PACKETS: [u64; 3] = [64 << 10, 128 << 10, 256 << 10];
/// Turns for the journal: 117 packets a second of a 2 TB disk are almost one; a quarter lies beside. Assumed between.
const JOURNAL_TURNS: Range = (0.25, 0.97);
/// A contiguous run of 8 MiB or of a whole band is written straight to the bands.
const STREAM_MIB: [u64; 4] = [4, 8, 16, 32];
const STREAMS: (u32, u32) = (4, 16);
/// Skylight's two disks were aggressive, and FIFO. The rate after the cliff of a third fits the others only.
const POLICIES: [(u64, CleaningPolicy); 2] = [(65, CleaningPolicy::Aggressive), (35, CleaningPolicy::Lazy)];
const ORDERS: [(u64, CleaningOrder); 3] =
    [(40, CleaningOrder::Fifo), (35, CleaningOrder::RoundRobin), (25, CleaningOrder::MostDirty)];
/// About a second of idle time before cleaning begins (Skylight).
const IDLE_DELAY_S: Range = (0.5, 3.0);
const RESUME_DELAY_S: Range = (0.05, 0.3);
const HIGH_WATER: Range = (0.6, 0.9);
const LOW_WATER: Range = (0.2, 0.5);
/// Read and write back, or by way of a safe place.
const CLEAN_PASSES: (u32, u32) = (2, 3);
const CLEAN_POSITIONINGS: (u32, u32) = (2, 4);
/// What is left of the 0.6 to 1.6 s for a band (Skylight) after arm and platter had their time.
const CLEAN_OVERHEAD_MS: Range = (50.0, 700.0);
/// Some shingled disks take TRIM, since it tells them what need not be cleaned; how many is assumed.
const TRIM_PERCENT: u64 = 40;

const SOURCES: [&str; 3] = [
    "Ranges of shingling: Aghayev, Shafaei, Desnoyers, \"Skylight\", FAST 2015: media caches of 20 and 25 GB, 200,000 and 250,000 entries, bands of 15 to 40 MB, 0.6 to 1.6 s to clean one (recalled); 23 GB on a 2 TB disk",
    "Ranges of geometry and seeks: Henry Wong, \"Hard disk geometry microbenchmarking\" (2019); DiskSim 4.0; densities: Seagate's disks of 2 to 8 TB",
    "Packets, journal, streams, water marks, defects and standby are assumed",
];

pub(super) fn draw(seed: u64) -> Profile {
    let drawn = hard_disk::draw_disk(Family::Shingled, seed, &CLASSES);
    let mut draws = Draws::new(Family::Shingled, seed, b"shingles");
    let cache_bytes = whole_slots(draws.by_ratio(MEDIA_CACHE_BYTES));
    let bytes = drawn.platter_bytes - cache_bytes;
    let smr = draw_shingles(&mut draws, cache_bytes, bytes);
    let mut profile = frame(Family::Shingled, seed, describe(&drawn, &smr, bytes), &SOURCES);
    profile.identity.trim = Some(draws.percent(TRIM_PERCENT));
    profile.smr = Some(smr);
    hard_disk::assemble(&mut profile, drawn, bytes, seed);
    profile
}

fn describe(drawn: &Drawn, smr: &SmrProfile, bytes: u64) -> String {
    format!(
        "A random SMR disk: {}, {} rpm, {} of media cache, {}",
        size(bytes),
        drawn.class.turns_per_minute,
        size(smr.media_cache_bytes),
        match smr.cleaning {
            CleaningPolicy::Aggressive => "aggressive cleaning",
            CleaningPolicy::Lazy => "lazy cleaning",
        },
    )
}

fn draw_shingles(draws: &mut Draws, cache_bytes: u64, bytes: u64) -> SmrProfile {
    let band_zones = draw_bands(draws, bytes);
    SmrProfile {
        map_entries: draws.count(MAP_ENTRIES),
        packet_bytes: draws.one_of(&PACKETS),
        journal_turns: draws.even(JOURNAL_TURNS),
        stream_threshold_bytes: draws.one_of(&STREAM_MIB) << 20,
        stream_count: draws.count_u32(STREAMS),
        cleaning: draws.weighted(&POLICIES),
        cleaning_order: draws.weighted(&ORDERS),
        idle_delay_seconds: draws.even(IDLE_DELAY_S),
        resume_delay_seconds: draws.even(RESUME_DELAY_S),
        high_water_share: draws.even(HIGH_WATER),
        low_water_share: draws.even(LOW_WATER),
        clean_passes: draws.count_u32(CLEAN_PASSES),
        clean_positionings: draws.count_u32(CLEAN_POSITIONINGS),
        clean_overhead_ms: draws.even(CLEAN_OVERHEAD_MS),
        band_zones,
        ..SmrProfile::plain(cache_bytes, 0, 0)
    }
}

/// Stretches of equal length, whose bands shrink towards the inner edge as tracks do.
fn draw_bands(draws: &mut Draws, bytes: u64) -> Vec<BandZone> {
    let count = draws.count(BAND_ZONES);
    let mut sizes: Vec<u64> = (0..count).map(|_| whole_slots(draws.even(BAND_BYTES))).collect();
    sizes.sort_unstable();
    let mut zones = Vec::with_capacity(sizes.len());
    for (index, band_bytes) in (0..count).zip(sizes.into_iter().rev()) {
        zones.push(BandZone { first_byte: bytes / count * index / SLOT_BYTES * SLOT_BYTES, band_bytes });
    }
    zones
}

fn whole_slots(bytes: f64) -> u64 {
    (bytes / SLOT_BYTES as f64).round() as u64 * SLOT_BYTES
}
