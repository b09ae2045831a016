//! Disks whose mechanism was published by who made or measured them.

use crate::disk::profile::{
    DiskProfile, GeometryProfile, QueueProfile, ReadAheadProfile, SeekProfile, TrackLayout,
    WriteCacheProfile, ZoneProfile,
};
use model::units::Bytes;

/// What [`disk_4tb`] holds: the tracks of one cylinder in each zone have 138,269 sectors on each surface.
pub const DISK_4TB_CAPACITY: Bytes = Bytes(5886 * 138_269 * 10 * 512);

/// A 4 TB disk like the one that WD modelled (github.com/westerndigitalcorporation/DiskSim, G4_LBA_64bit_4T): 10 surfaces,
/// 7200 turns a minute, 60 track types from 3072 sectors to 1536, skew 0.141669 turns, 128 tracks to a serpentine,
/// alternating both ways, and a seek curve of 353,181 cylinders, of which the fit is off by 0.08 ms. How many cylinders
/// each zone has is taken to be the same, which gives 4.17 TB instead of 3.96. The model has no overhead and no write
/// cache; these are those of a SATA disk of its time.
pub fn disk_4tb() -> DiskProfile {
    let zone = |zone: u32| ZoneProfile { cylinders: 5886, sectors_per_track: vec![3072 - 1536 * zone / 59] };
    DiskProfile {
        turns_per_minute: 7200.0,
        seek_noise: 0.03,
        head_switch_ms: 0.001,
        write_settle_ms: 0.0,
        command_overhead_ms: 0.2,
        geometry: GeometryProfile {
            sector_bytes: 512,
            surfaces: 10,
            layout: TrackLayout::AA,
            serpentine_tracks: 128,
            track_skew_turns: 0.141_669,
            surface_skew_turns: None,
            group_skew_turns: None,
            spare_cylinders_per_zone: 0,
            zones: (0..60).map(zone).collect(),
            generated_zones: None,
        },
        seek: SeekProfile::RootThenLinear {
            constant_ms: 1.496,
            root_ms: 0.019_18,
            long_constant_ms: 4.510,
            linear_ms: 3.14e-5,
            border_cylinders: 69_648.0,
        },
        read_ahead: ReadAheadProfile { segments: 32, segment_kib: 1536, ahead_kib: None },
        write_cache: WriteCacheProfile { capacity_kib: 65_536 },
        queue: QueueProfile::default(),
        standby: None,
        defects: Vec::new(),
    }
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
