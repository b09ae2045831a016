//! The section `[disk]` of a profile: the mechanism. Rates, access times and stripes follow from it.

use crate::flush::FlushPolicy;
use crate::profile::schema::{all_by_default, section, words};
use model::units::KIB;
use serde::{Deserialize, Serialize};

section! {
    DiskProfile at "[disk]" = "The mechanism of a hard disk." {
        turns_per_minute: f64, in 60..=100_000 => "Rotation speed: 5400, 7200, 7219.1.";
        seek_noise: f64 = 0.03, in 0..=0.25 => "Standard deviation of a seek time as a share of it; 0.03 is usual.";
        head_switch_ms: f64 = 0.0, in 0..=100 => "Head switch time without arm movement.";
        write_settle_ms: f64 = 0.0, in 0..=100 => "Additional settle time of a write on another track: 0.3 to 0.65 is usual.";
        command_overhead_ms: f64 = 0.2, in 0..=1000 => "Command overhead.";
        geometry: GeometryProfile => "Track layout and zones.";
        seek: SeekProfile => "Seek time.";
        read_ahead: ReadAheadProfile = ReadAheadProfile::default() => "Read-ahead and read cache.";
        write_cache: WriteCacheProfile = WriteCacheProfile::default() => "Write cache.";
        queue: QueueProfile = QueueProfile::default() => "Command queue.";
        standby: Option<StandbyProfile> = None => "Spin-down.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        defects: Vec<Defect> = Vec::new() => "Remapped, slow and unreadable sectors.";
    }
}

section! {
    GeometryProfile at "[disk.geometry]" = "Track layout and zones." {
        sector_bytes: u64 => "Physical sector size: 512 or 4096.";
        surfaces: u32, in 1..=64 => "Recording surfaces (heads).";
        layout: TrackLayout => "Order of tracks.";
        serpentine_tracks: u64 = 1, in 1..=1_048_576 => "Adjacent tracks on one surface before the head switch; 1 for the layouts `F` and `A`.";
        track_skew_turns: f64, in 0..=4 => "Track skew in revolutions, same surface: 0.06 to 0.36 is usual.";
        surface_skew_turns: Option<f64> = None, in 0..=4 => "Head skew in revolutions. Default: the track skew.";
        group_skew_turns: Option<f64> = None, in 0..=4 => "Skew in revolutions from the last surface back to the first (layouts `F` and `A`: to the next cylinder). Default: the head skew.";
        spare_cylinders_per_zone: u64 = 0, in 0..=10_000 => "Spare cylinders at the end of each zone, for remapped sectors.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        zones: Vec<ZoneProfile> = Vec::new() => "List of zones from the outer diameter. Either this or `generated_zones`.";
        generated_zones: Option<GeneratedZones> = None => "Zones computed by a rule. Either this or `zones`.";
    }
}

words! {
    TrackLayout = "Order of tracks, named as in Wong 2019. First letter: direction over cylinders; second letter: order of surfaces. F is forward, A alternating." {
        F = "F" => "Traditional: all surfaces of a cylinder, then the next cylinder, always from the first surface.";
        A = "A" => "Cylinder serpentine: all surfaces of a cylinder, then the next cylinder, surfaces in alternating order.";
        FF = "FF" => "Hybrid serpentine: each surface inwards, surfaces always in the same order.";
        AF = "AF" => "Surface serpentine: surfaces inwards and outwards alternately, always in the same order.";
        AA = "AA" => "Inwards and outwards alternately, surfaces in alternating order.";
        FA = "FA" => "Each surface inwards, surfaces in alternating order.";
    }
}

impl TrackLayout {
    pub(crate) fn is_by_cylinder(self) -> bool {
        matches!(self, TrackLayout::F | TrackLayout::A)
    }
}

section! {
    ZoneProfile at "[[disk.geometry.zones]]" = "Cylinders with the same number of sectors per track." {
        cylinders: u64, in 1..=134_217_728 => "Cylinders without spares.";
        sectors_per_track: Vec<u32>, in 1..=1_000_000 => "Sectors per track: one number for all surfaces, or one for each.";
    }
}

section! {
    GeneratedZones at "[disk.geometry.generated_zones]" = "Zones with equal numbers of cylinders; sectors per track decrease linearly from the outer to the inner diameter." {
        zone_count: u32, in 1..=10_000 => "Number of zones: 15 to 60 is usual.";
        sectors_per_track_outer: u32, in 4..=1_000_000 => "Mean over surfaces, outermost zone.";
        sectors_per_track_inner: u32, in 4..=1_000_000 => "Mean over surfaces, innermost zone.";
        cylinders: Option<u64> = None => "Cylinders without spares. Default: as many as the capacity needs.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        surface_densities: Vec<f64> = Vec::new(), in 0.5..=2 => "Density of each surface relative to the mean: `[1.02, 0.97]`. Either this or `surface_spread`.";
        surface_spread: f64 = 0.0, in 0..=0.3 => "Surface densities are evenly spaced from 1 − this to 1 + this, in an order drawn by `surface_seed`.";
        surface_seed: u64 = 0 => "Seed for the densities of surfaces. Part of the profile, so that every run has the same disk.";
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
        segments: u32 = 16, in 0..=4096 => "Cache segments, replaced whole in LRU order: 16 to 32 is usual. 0 turns the cache off.";
        segment_kib: u64 = 2048, in 0..=16_384 => "Segment size, at least 4.";
        ahead_kib: Option<u64> = None => "Read-ahead distance; 0 turns it off. Default: the segment size.";
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        drops_delivered: bool = false => "The cache holds prefetched data only and drops them once delivered: rereads come from the medium.";
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        on_arrival: bool = false => "The head reads as soon as it is on a track: sectors that pass before the requested one are cached, too.";
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        sequential_only: bool = false => "Prefetch begins with the second of two sequential reads, which misses a revolution.";
    }
}

section! {
    WriteCacheProfile at "[disk.write_cache]" = "The write cache." {
        capacity_kib: u64 = 16_384, in 0..=67_108_864 => "Size; 0 turns it off: each write completes on the platter.";
        #[serde(skip_serializing_if = "FlushPolicy::is_default")]
        flush: FlushPolicy = FlushPolicy::Honoured => "What a flush does.";
    }
}

section! {
    QueueProfile at "[disk.queue]" = "Command queue." {
        policy: QueuePolicy = QueuePolicy::Aged => "Scheduling policy.";
        depth: u32 = 32, in 1..=65_536 => "Requests considered, oldest first: 32 with SATA.";
        age_weight: f64 = 0.01, in 0..=1 => "With `aged`: positioning time credited per second of waiting. 0.01 gives the usual 170 IOPS at QD 32, with a 99th percentile of 0.5 s.";
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        breaks_streams: bool = false => "A request that arrives while another is served waits, and continues no transfer: each costs its overhead and a missed revolution. Such a disk streams at QD 1 only.";
    }
}

words! {
    QueuePolicy = "Scheduling policy of the queue." {
        FirstCome = "first_come" => "First in, first out.";
        ShortestPositioning = "shortest_positioning" => "Shortest positioning time first.";
        Aged = "aged" => "Shortest positioning time, less a credit for waiting, so that no request starves. The default.";
    }
}

section! {
    StandbyProfile at "[disk.standby]" = "Spin-down when idle." {
        after_idle_s: f64, in 0.001..=1e6 => "Idle time before spin-down.";
        wake_up_s: f64, in 0..=100 => "Spin-up time.";
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        asleep: bool = false => "Whether it is spun down at the start.";
    }
}

section! {
    Defect at "[[disk.defects]]" = "Defective sectors." {
        kind: DefectKind => "Kind of defect.";
        first_byte: u64 => "Start offset.";
        bytes: u64 => "Length.";
        retry_turns: u32 = 0, in 0..=100_000 => "With `slow` and `unreadable`: revolutions spent on retries.";
    }
}

words! {
    DefectKind = "Kind of defect." {
        Remapped = "remapped" => "Remapped to the zone's spare cylinders.";
        Slow = "slow" => "Reads succeed after retries.";
        Unreadable = "unreadable" => "Reads fail after retries.";
    }
}

all_by_default!(ReadAheadProfile, WriteCacheProfile, QueueProfile);

impl ReadAheadProfile {
    pub fn ahead_bytes(&self) -> u64 {
        if self.segments == 0 { 0 } else { self.ahead_kib.unwrap_or(self.segment_kib) * KIB }
    }

    /// Reads of `read_bytes` at unrelated offsets whose prefetched data fit side by side: each takes whole segments.
    pub fn streams(&self, read_bytes: u64) -> u64 {
        let delivered_bytes = if self.drops_delivered { 0 } else { read_bytes };
        let segment_bytes = self.segment_kib * KIB;
        u64::from(self.segments) / (delivered_bytes + self.ahead_bytes()).div_ceil(segment_bytes).max(1)
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
