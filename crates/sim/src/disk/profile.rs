//! The section `[disk]` of a profile: what a hard disk is made of. It describes the mechanism; rates, access times and
//! stripes follow from it.

use crate::profile::schema::{all_by_default, section, words};
use model::units::KIB;
use serde::{Deserialize, Serialize};

section! {
    DiskProfile at "[disk]" = "A hard disk by its mechanism." {
        turns_per_minute: f64, in 60..=100_000 => "Rotation speed: 5400, 7200, 7219.1.";
        seek_noise: f64 = 0.03, in 0..=0.25 => "Standard deviation of a seek time as a share of it; 0.03 is usual.";
        head_switch_ms: f64 = 0.0, in 0..=100 => "Switch from one surface to another when the arm need not move.";
        write_settle_ms: f64 = 0.0, in 0..=100 => "What a write settles longer than a read before it may begin on another track: 0.3 to 0.65 is usual.";
        command_overhead_ms: f64 = 0.2, in 0..=1000 => "Overhead of the electronics for each command.";
        geometry: GeometryProfile => "Where its sectors are.";
        seek: SeekProfile => "How its arm moves.";
        read_ahead: ReadAheadProfile = ReadAheadProfile::default() => "Read-ahead, and what it keeps of what it read.";
        write_cache: WriteCacheProfile = WriteCacheProfile::default() => "Volatile write cache.";
        queue: QueueProfile = QueueProfile::default() => "Which request the arm serves next.";
        #[serde(skip_serializing_if = "Option::is_none")]
        standby: Option<StandbyProfile> = None => "When it spins down, if ever.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        defects: Vec<Defect> = Vec::new() => "Remapped, slow and unreadable sectors.";
    }
}

section! {
    GeometryProfile at "[disk.geometry]" = "Where the sectors are." {
        sector_bytes: u64 => "Bytes in a physical sector: 512 or 4096.";
        surfaces: u32, in 1..=64 => "Recording surfaces, which is heads.";
        layout: TrackLayout => "The order of tracks.";
        serpentine_tracks: u64 = 1, in 1..=1_048_576 => "Neighbouring tracks of one surface before the next surface comes; 1 for the layouts `F` and `A`.";
        track_skew_turns: f64, in 0..=4 => "Revolutions from the end of a track to the start of the next on the same surface: 0.06 to 0.36 is usual.";
        #[serde(skip_serializing_if = "Option::is_none")]
        surface_skew_turns: Option<f64> = None, in 0..=4 => "Revolutions when the surface changes; as with the next track unless given.";
        #[serde(skip_serializing_if = "Option::is_none")]
        group_skew_turns: Option<f64> = None, in 0..=4 => "Revolutions when all surfaces have been passed and the first comes again (in the layouts `F` and `A` the step to the next cylinder); as when the surface changes unless given.";
        spare_cylinders_per_zone: u64 = 0, in 0..=10_000 => "Cylinders at the end of each zone that hold what was remapped.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        zones: Vec<ZoneProfile> = Vec::new() => "Zones from the outer diameter in, one by one. Either these or `generated_zones`.";
        #[serde(skip_serializing_if = "Option::is_none")]
        generated_zones: Option<GeneratedZones> = None => "Zones by a rule. Either these or `zones`.";
    }
}

words! {
    TrackLayout = "The order of tracks, by the names of Wong 2019: the first letter is the direction over the cylinders, the second the order of surfaces, each always forward (F) or alternating (A)." {
        F = "F" => "All surfaces of a cylinder, then the next cylinder, each beginning with the first surface: the traditional one.";
        A = "A" => "All surfaces of a cylinder, then the next cylinder, surfaces to and fro: cylinder serpentine.";
        FF = "FF" => "Hybrid serpentine: each surface inwards, surfaces always in the same order.";
        AF = "AF" => "Surface serpentine: surfaces inwards and outwards alternately, always in the same order.";
        AA = "AA" => "Inwards and outwards alternately, and the order of surfaces to and fro.";
        FA = "FA" => "Each surface inwards, the order of surfaces to and fro.";
    }
}

impl TrackLayout {
    pub(crate) fn is_by_cylinder(self) -> bool {
        matches!(self, TrackLayout::F | TrackLayout::A)
    }
}

section! {
    ZoneProfile at "[[disk.geometry.zones]]" = "Cylinders with the same number of sectors on their tracks." {
        cylinders: u64, in 1..=134_217_728 => "How many, without the spare ones.";
        sectors_per_track: Vec<u32>, in 1..=1_000_000 => "Sectors on a track: one number for all surfaces, or one for each.";
    }
}

section! {
    GeneratedZones at "[disk.geometry.generated_zones]" = "Zones of equally many cylinders whose sectors per track fall evenly from the outer diameter to the inner." {
        zone_count: u32, in 1..=10_000 => "How many zones: 15 to 60 are usual.";
        sectors_per_track_outer: u32, in 4..=1_000_000 => "Mean of the surfaces in the outermost zone.";
        sectors_per_track_inner: u32, in 4..=1_000_000 => "Mean of the surfaces in the innermost zone.";
        #[serde(skip_serializing_if = "Option::is_none")]
        cylinders: Option<u64> = None => "All cylinders without the spare ones. As many as the capacity needs unless given.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        surface_densities: Vec<f64> = Vec::new(), in 0.5..=2 => "Each surface's density as a factor of the mean: `[1.02, 0.97]`. Either this or `surface_spread`.";
        surface_spread: f64 = 0.0, in 0..=0.3 => "The surfaces' densities lie evenly between 1 − this and 1 + this, in an order that `surface_seed` draws.";
        surface_seed: u64 = 0 => "Draws which surface has which density: part of the profile, so that every run meets the same disk.";
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum SeekProfile {
    /// `constant + root·√d` below `border_cylinders`, `long_constant + linear·d` from there on (Ruemmler and Wilkes).
    RootThenLinear {
        constant_ms: f64,
        root_ms: f64,
        long_constant_ms: f64,
        linear_ms: f64,
        border_cylinders: f64,
    },
    /// Measured points: pairs of a distance in cylinders, growing, and a time in ms, joined by straight lines.
    Table { points: Vec<(f64, f64)> },
    /// What a data sheet says, joined by Lee's formula. The average is over all pairs of cylinders.
    DataSheet { track_to_track_ms: f64, average_ms: f64, full_stroke_ms: f64 },
}

section! {
    ReadAheadProfile at "[disk.read_ahead]" = "Read-ahead after a read, and the read cache." {
        segments: u32 = 16, in 0..=4096 => "Cache segments, replaced as a whole, the least recently used first: 16 to 32 is usual. None is no cache.";
        segment_kib: u64 = 2048, in 0..=16_384 => "Size of a segment; 4 at least.";
        #[serde(skip_serializing_if = "Option::is_none")]
        ahead_kib: Option<u64> = None => "How far it reads ahead past a read; as far as a segment reaches unless given, and 0 is off.";
    }
}

section! {
    WriteCacheProfile at "[disk.write_cache]" = "The volatile write cache." {
        capacity_kib: u64 = 16_384, in 0..=67_108_864 => "Its size; 0 is off: each write completes when it is on the platter.";
    }
}

section! {
    QueueProfile at "[disk.queue]" = "Which request the arm serves next." {
        policy: QueuePolicy = QueuePolicy::Aged => "By what it chooses.";
        depth: u32 = 32, in 1..=65_536 => "Among how many of the oldest requests it chooses: 32 with SATA.";
        age_weight: f64 = 0.01, in 0..=1 => "With `aged`: each second of waiting counts as this many seconds nearer. 0.01 gives a queue depth of 32 its usual 170 IOPS with a 99th percentile of half a second.";
    }
}

words! {
    QueuePolicy = "By what the arm chooses." {
        FirstCome = "first_come" => "The oldest.";
        ShortestPositioning = "shortest_positioning" => "The shortest positioning time.";
        Aged = "aged" => "The shortest positioning time less a share of the time waited, so that no request starves. The default.";
    }
}

section! {
    StandbyProfile at "[disk.standby]" = "Spin-down when idle." {
        after_idle_s: f64, in 0.001..=1e6 => "Idle time after which it spins down.";
        wake_up_s: f64, in 0..=100 => "Time to spin up.";
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        asleep: bool = false => "Whether it stands still at the start, so that the first request wakes it up.";
    }
}

section! {
    Defect at "[[disk.defects]]" = "Sectors that are not like the others." {
        kind: DefectKind => "What is wrong with them.";
        first_byte: u64 => "Where they begin.";
        bytes: u64 => "How far they reach.";
        retry_turns: u32 = 0, in 0..=100_000 => "With `slow` and `unreadable`: revolutions of retries before it succeeds or gives up.";
    }
}

words! {
    DefectKind = "What is wrong with sectors." {
        Remapped = "remapped" => "They lie on the zone's spare cylinders.";
        Slow = "slow" => "Reads of them succeed after some revolutions.";
        Unreadable = "unreadable" => "Reads of them fail after some revolutions.";
    }
}

all_by_default!(ReadAheadProfile, WriteCacheProfile, QueueProfile);

impl ReadAheadProfile {
    pub fn ahead_bytes(&self) -> u64 {
        if self.segments == 0 { 0 } else { self.ahead_kib.unwrap_or(self.segment_kib) * KIB }
    }

    pub fn cache_bytes(&self) -> u64 {
        u64::from(self.segments) * self.segment_kib * KIB
    }
}

impl DiskProfile {
    pub fn turn_s(&self) -> f64 {
        60.0 / self.turns_per_minute
    }
}
