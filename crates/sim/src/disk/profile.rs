//! The section `[disk]` of a profile: what a hard disk is made of. It describes the mechanism; rates, access times and
//! stripes follow from it.
//!
//! ```toml
//! [disk]
//! turns_per_minute = 7200
//! [disk.geometry]
//! sector_bytes = 4096
//! surfaces = 6
//! layout = "FF"
//! serpentine_tracks = 140
//! track_skew_turns = 0.103
//! [disk.geometry.generated_zones]
//! zone_count = 24
//! sectors_per_track_outer = 473
//! sectors_per_track_inner = 211
//! surface_spread = 0.03
//! [disk.seek.data_sheet]
//! track_to_track_ms = 1.0
//! average_ms = 8.5
//! full_stroke_ms = 20.9
//! ```

use crate::disk::geometry::{Geometry, Order, ZoneLayout};
use crate::disk::seek::SeekCurve;
use crate::flaw::Flaw;
use model::prng::Prng;
use model::units::{Bytes, KIB};
use serde::{Deserialize, Serialize};

/// A hard disk by its mechanism.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskProfile {
    /// How fast it turns: 5400, 7200, 7219.1.
    pub turns_per_minute: f64,
    /// Standard deviation of a seek as a share of it; 0.03 is usual.
    #[serde(default = "default_seek_noise")]
    pub seek_noise: f64,
    /// From one surface to another when the arm need not move, in ms.
    #[serde(default)]
    pub head_switch_ms: f64,
    /// What a write waits longer than a read before it may begin on another track, in ms: 0.3 to 0.65 is usual.
    #[serde(default)]
    pub write_settle_ms: f64,
    /// What the electronics need for each command, in ms.
    #[serde(default = "default_command_overhead_ms")]
    pub command_overhead_ms: f64,
    /// Where its sectors are.
    pub geometry: GeometryProfile,
    /// How its arm moves.
    pub seek: SeekProfile,
    /// How it reads on, and what it keeps of what it read.
    #[serde(default)]
    pub read_ahead: ReadAheadProfile,
    /// How it holds back writes.
    #[serde(default)]
    pub write_cache: WriteCacheProfile,
    /// Whom the arm serves next.
    #[serde(default)]
    pub queue: QueueProfile,
    /// When it stops turning, if ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standby: Option<StandbyProfile>,
    /// Sectors that are not like the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<Defect>,
}

/// Where the sectors are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometryProfile {
    /// Bytes in a physical sector: 512 or 4096.
    pub sector_bytes: u64,
    /// Recording surfaces, which is heads: 1 to 64.
    pub surfaces: u32,
    /// The order of tracks.
    pub layout: TrackLayout,
    /// Neighbouring tracks of one surface before the next surface comes; 1 for the layouts `F` and `A`.
    #[serde(default = "one")]
    pub serpentine_tracks: u64,
    /// Turns that pass from the end of a track to the start of the next on the same surface: 0.06 to 0.36.
    pub track_skew_turns: f64,
    /// Turns that pass when the surface changes; as with the next track unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_skew_turns: Option<f64>,
    /// Turns that pass when all surfaces have been gone through and the first comes again (in the layouts `F` and `A`
    /// the step to the next cylinder); as when the surface changes unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_skew_turns: Option<f64>,
    /// Cylinders at the end of each zone that hold what was remapped.
    #[serde(default)]
    pub spare_cylinders_per_zone: u64,
    /// Zones from the outer edge in, one by one. Either these or `generated_zones`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<ZoneProfile>,
    /// Zones by a rule. Either these or `zones`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated_zones: Option<GeneratedZones>,
}

/// The order of tracks, by the names of Wong 2019: the first letter is the direction over the cylinders, the second the
/// order of surfaces, each always forward (F) or alternating (A).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TrackLayout {
    /// All surfaces of a cylinder, then the next cylinder, each beginning with the first surface: the traditional one.
    F,
    /// All surfaces of a cylinder, then the next cylinder, surfaces to and fro: cylinder serpentine.
    A,
    /// Hybrid serpentine: each surface inwards, surfaces always in the same order.
    FF,
    /// Surface serpentine: surfaces inwards and outwards in turns, always in the same order.
    AF,
    /// Inwards and outwards in turns, and the order of surfaces to and fro.
    AA,
    /// Each surface inwards, the order of surfaces to and fro.
    FA,
}

impl TrackLayout {
    /// Direction over the cylinders, and order of the surfaces.
    pub fn orders(self) -> (Order, Order) {
        match self {
            TrackLayout::F | TrackLayout::FF => (Order::Forward, Order::Forward),
            TrackLayout::A | TrackLayout::FA => (Order::Forward, Order::Alternating),
            TrackLayout::AF => (Order::Alternating, Order::Forward),
            TrackLayout::AA => (Order::Alternating, Order::Alternating),
        }
    }

    fn is_by_cylinder(self) -> bool {
        matches!(self, TrackLayout::F | TrackLayout::A)
    }
}

/// Cylinders with the same number of sectors on their tracks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneProfile {
    /// How many, without the spare ones.
    pub cylinders: u64,
    /// Sectors on a track: one number for all surfaces, or one for each.
    pub sectors_per_track: Vec<u32>,
}

/// Zones of equally many cylinders whose sectors per track fall evenly from the outer edge to the inner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedZones {
    /// How many zones: 15 to 60 are usual.
    pub zone_count: u32,
    /// Mean of the surfaces in the outermost zone.
    pub sectors_per_track_outer: u32,
    /// Mean of the surfaces in the innermost zone.
    pub sectors_per_track_inner: u32,
    /// All cylinders without the spare ones. As many as the capacity needs unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinders: Option<u64>,
    /// Each surface's density as a factor of the mean: `[1.02, 0.97]`. Either this or `surface_spread`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surface_densities: Vec<f64>,
    /// The surfaces' densities lie evenly between 1 − this and 1 + this, in an order that `surface_seed` draws.
    #[serde(default)]
    pub surface_spread: f64,
    /// Draws which surface has which density: part of the profile, so that every run meets the same disk.
    #[serde(default)]
    pub surface_seed: u64,
}

/// How the arm moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum SeekProfile {
    /// `constant + root·√d` below `border_cylinders`, `long_constant + linear·d` from there on (Ruemmler and Wilkes).
    RootThenLinear {
        /// Constant of short seeks, in ms.
        constant_ms: f64,
        /// Of the root of the distance in cylinders, in ms.
        root_ms: f64,
        /// Constant of long seeks, in ms.
        long_constant_ms: f64,
        /// Of the distance in cylinders, in ms.
        linear_ms: f64,
        /// The first distance of long seeks, in cylinders.
        border_cylinders: f64,
    },
    /// Measured points, joined by straight lines.
    Table {
        /// Pairs of a distance in cylinders, growing, and a time in ms.
        points: Vec<(f64, f64)>,
    },
    /// What a data sheet says, joined by Lee's formula.
    DataSheet {
        /// To the next track, in ms.
        track_to_track_ms: f64,
        /// Over all pairs of cylinders, in ms.
        average_ms: f64,
        /// From the first cylinder to the last, in ms.
        full_stroke_ms: f64,
    },
}

/// Reading on after a read, and keeping what was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadAheadProfile {
    /// Parts of the cache that are replaced as a whole, the least recently used first: 16 to 32. None is no cache.
    #[serde(default = "default_segments")]
    pub segments: u32,
    /// Size of a segment in KiB.
    #[serde(default = "default_segment_kib")]
    pub segment_kib: u64,
    /// How far it reads on past what was asked for, in KiB; as far as a segment reaches unless given, and 0 is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead_kib: Option<u64>,
}

/// Holding back writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteCacheProfile {
    /// What it holds, in KiB; 0 is off: each write is answered when it is on the platter.
    #[serde(default = "default_write_cache_kib")]
    pub capacity_kib: u64,
}

/// Whom the arm serves next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueProfile {
    /// By what it chooses.
    #[serde(default)]
    pub policy: QueuePolicy,
    /// Among how many of the oldest requests it chooses: 32 with SATA.
    #[serde(default = "default_depth")]
    pub depth: u32,
    /// With `aged`: each second of waiting counts as this many seconds nearer. 0.01 gives a depth of 32 its usual 170
    /// reads a second with a 99th percentile of half a second.
    #[serde(default = "default_age_weight")]
    pub age_weight: f64,
}

/// By what the arm chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueuePolicy {
    /// Whoever came first.
    FirstCome,
    /// Whoever can be reached soonest.
    ShortestPositioning,
    /// Whoever can be reached soonest, less a share of the time waited, so that nobody waits for ever.
    #[default]
    Aged,
}

/// Stopping when idle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandbyProfile {
    /// After the platter has not been needed for this long, in s.
    pub after_idle_s: f64,
    /// What it takes to get back to speed, in s.
    pub wake_up_s: f64,
    /// Whether it stands still at the start, so that the first request wakes it up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asleep: bool,
}

/// Sectors that are not like the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defect {
    /// What is the matter.
    pub kind: DefectKind,
    /// Where it begins.
    pub first_byte: u64,
    /// How far it reaches.
    pub bytes: u64,
    /// With `slow` and `unreadable`: turns in which it tries again before it succeeds or gives up.
    #[serde(default)]
    pub retry_turns: u32,
}

/// What is the matter with sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefectKind {
    /// They are elsewhere: on the zone's spare cylinders.
    Remapped,
    /// Reads of them succeed after some turns.
    Slow,
    /// Reads of them fail after some turns.
    Unreadable,
}

impl Default for ReadAheadProfile {
    fn default() -> Self {
        ReadAheadProfile { segments: default_segments(), segment_kib: default_segment_kib(), ahead_kib: None }
    }
}

impl Default for WriteCacheProfile {
    fn default() -> Self {
        WriteCacheProfile { capacity_kib: default_write_cache_kib() }
    }
}

impl Default for QueueProfile {
    fn default() -> Self {
        QueueProfile {
            policy: QueuePolicy::default(),
            depth: default_depth(),
            age_weight: default_age_weight(),
        }
    }
}

fn one() -> u64 {
    1
}

fn default_seek_noise() -> f64 {
    0.03
}

fn default_command_overhead_ms() -> f64 {
    0.2
}

fn default_segments() -> u32 {
    16
}

fn default_segment_kib() -> u64 {
    2048
}

fn default_write_cache_kib() -> u64 {
    16_384
}

fn default_depth() -> u32 {
    32
}

fn default_age_weight() -> f64 {
    0.01
}

impl ReadAheadProfile {
    /// How far it reads on, in bytes.
    pub fn ahead_bytes(&self) -> u64 {
        if self.segments == 0 { 0 } else { self.ahead_kib.unwrap_or(self.segment_kib) * KIB }
    }

    /// What all segments hold, in bytes.
    pub fn cache_bytes(&self) -> u64 {
        u64::from(self.segments) * self.segment_kib * KIB
    }
}

impl DiskProfile {
    /// One turn, in seconds.
    pub fn turn_s(&self) -> f64 {
        60.0 / self.turns_per_minute
    }

    /// Checks that a disk of that capacity can be made of it. What passes is built without panic.
    ///
    /// # Errors
    /// The first key that cannot be as it is.
    pub fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        within(self.turns_per_minute, 60.0, 100_000.0, "turns_per_minute", "turns a minute")?;
        within(self.seek_noise, 0.0, 0.25, "seek_noise", "as a share of the seek")?;
        within(self.head_switch_ms, 0.0, 100.0, "head_switch_ms", "ms")?;
        within(self.write_settle_ms, 0.0, 100.0, "write_settle_ms", "ms")?;
        within(self.command_overhead_ms, 0.0, 1000.0, "command_overhead_ms", "ms")?;
        let geometry = self.geometry.build(capacity).map_err(|flaw| flaw.within("geometry"))?;
        let curve = SeekCurve::of_profile(&self.seek, geometry.cylinders());
        curve.and_then(|curve| curve.check(geometry.cylinders())).map_err(|why| Flaw::new("seek", why))?;
        self.geometry.check_last_zone(&geometry, capacity).map_err(|flaw| flaw.within("geometry"))?;
        self.check_caches()?;
        self.check_defects(capacity)?;
        self.check_spares(&geometry)
    }

    fn check_caches(&self) -> Result<(), Flaw> {
        const CACHE_KIB_MAX: u64 = 64 << 20;
        let read = &self.read_ahead;
        if read.segments > 4096 {
            return Err(Flaw::new("read_ahead.segments", "more than 4096 segments"));
        }
        let least_kib = if read.segments > 0 { 4 } else { 0 };
        if !(least_kib..=CACHE_KIB_MAX / 4096).contains(&read.segment_kib) {
            return Err(Flaw::new("read_ahead.segment_kib", "a segment has 4 KiB to 16 MiB"));
        }
        if read.ahead_bytes() > read.cache_bytes() {
            return Err(Flaw::new("read_ahead.ahead_kib", "it reads on further than its segments hold"));
        }
        if self.write_cache.capacity_kib > CACHE_KIB_MAX {
            return Err(Flaw::new("write_cache.capacity_kib", "more than 64 GiB"));
        }
        if !(1..=65_536).contains(&self.queue.depth) {
            return Err(Flaw::new("queue.depth", "a queue has room for 1 to 65536 requests"));
        }
        within(self.queue.age_weight, 0.0, 1.0, "queue.age_weight", "")?;
        if let Some(standby) = &self.standby {
            within(standby.after_idle_s, 0.001, 1e6, "standby.after_idle_s", "s")?;
            within(standby.wake_up_s, 0.0, 100.0, "standby.wake_up_s", "s")?;
        }
        Ok(())
    }

    fn check_defects(&self, capacity: Bytes) -> Result<(), Flaw> {
        const DEFECTS_MAX: usize = 100_000;
        if self.defects.len() > DEFECTS_MAX {
            return Err(Flaw::new("defects", "more than 100000 of them"));
        }
        let sector_bytes = self.geometry.sector_bytes;
        let mut end_before = 0;
        for (number, defect) in self.defects.iter().enumerate() {
            let flaw = |key: &str, reason: &str| Err(Flaw::new(format!("defects.{number}.{key}"), reason));
            let end = defect.first_byte.checked_add(defect.bytes);
            if defect.bytes == 0 || end.is_none_or(|end| end > capacity.0) {
                return flaw("bytes", "it is empty, or reaches past the end of the disk");
            }
            if defect.first_byte % sector_bytes != 0 || defect.bytes % sector_bytes != 0 {
                return flaw("first_byte", "a defect consists of whole physical sectors");
            }
            if defect.first_byte < end_before {
                return flaw("first_byte", "defects are in the order of their places and do not overlap");
            }
            end_before = defect.first_byte + defect.bytes;
            if defect.kind == DefectKind::Remapped && self.geometry.spare_cylinders_per_zone == 0 {
                return flaw(
                    "kind",
                    "there are no spare cylinders for it: geometry.spare_cylinders_per_zone",
                );
            }
            if defect.retry_turns > 100_000 {
                return flaw("retry_turns", "more than 100000 turns");
            }
        }
        Ok(())
    }
}

impl DiskProfile {
    /// Checks that what was remapped fits on the spare cylinders of its zones.
    fn check_spares(&self, geometry: &Geometry) -> Result<(), Flaw> {
        let sector_bytes = geometry.sector_bytes();
        let (mut zone, mut used) = (0, 0);
        for (number, defect) in self.defects.iter().enumerate() {
            if defect.kind != DefectKind::Remapped {
                continue;
            }
            let mut first = defect.first_byte / sector_bytes;
            let end = first + defect.bytes / sector_bytes;
            while first < end {
                let sectors = geometry.zone_sectors(first);
                if sectors.start != zone {
                    (zone, used) = (sectors.start, 0);
                }
                used += end.min(sectors.end) - first;
                let spare = geometry.sectors_per_cylinder(first) * self.geometry.spare_cylinders_per_zone;
                if used > spare {
                    let reason = format!(
                        "the spare cylinders of its zone hold {} bytes, less than what is remapped in it",
                        spare * sector_bytes
                    );
                    return Err(Flaw::new(format!("defects.{number}.bytes"), reason));
                }
                first = sectors.end;
            }
        }
        Ok(())
    }
}

impl GeometryProfile {
    /// The geometry for that capacity.
    ///
    /// # Errors
    /// The key that cannot be as it is.
    pub fn build(&self, capacity: Bytes) -> Result<Geometry, Flaw> {
        if capacity.0 == 0 || capacity.0 > 1 << 60 {
            return Err(Flaw::new("", format!("no disk holds {} bytes", capacity.0)));
        }
        if !matches!(self.sector_bytes, 512 | 4096) {
            return Err(Flaw::new("sector_bytes", "sectors have 512 or 4096 bytes"));
        }
        if !(1..=64).contains(&self.surfaces) {
            return Err(Flaw::new("surfaces", "a disk has 1 to 64"));
        }
        if self.layout.is_by_cylinder() && self.serpentine_tracks != 1 {
            return Err(Flaw::new("serpentine_tracks", "it is 1 in the layouts F and A"));
        }
        let zones = match (&self.generated_zones, self.zones.is_empty()) {
            (Some(generated), true) => {
                let sectors = capacity.0.div_ceil(self.sector_bytes);
                generated.build(self.surfaces, sectors).map_err(|flaw| flaw.within("generated_zones"))?
            }
            (None, false) => self.listed_zones()?,
            _ => return Err(Flaw::new("zones", "either zones or generated_zones, and one of them")),
        };
        let geometry = Geometry::new(self, zones)?;
        if geometry.sectors().saturating_mul(self.sector_bytes) < capacity.0 {
            let holds = geometry.sectors() * self.sector_bytes;
            let reason = format!("the zones hold {holds} bytes, less than the capacity of {}", capacity.0);
            return Err(Flaw::new("zones", reason));
        }
        Ok(geometry)
    }

    /// Refuses zones that the capacity does not reach: they hold nothing, so capacity and zones are not those of one disk.
    /// Zones that are made for the capacity may be a cylinder too wide each.
    fn check_last_zone(&self, geometry: &Geometry, capacity: Bytes) -> Result<(), Flaw> {
        let are_made_for_it = self.generated_zones.as_ref().is_some_and(|zones| zones.cylinders.is_none());
        let first_sector = geometry.zones().last().map_or(0, |(first_sector, _)| first_sector);
        let begins = first_sector * geometry.sector_bytes();
        if are_made_for_it || begins < capacity.0 {
            return Ok(());
        }
        let reason = format!(
            "the last zone begins at byte {begins}, past the capacity of {}: it would hold nothing",
            capacity.0
        );
        Err(Flaw::new("zones", reason))
    }

    fn listed_zones(&self) -> Result<Vec<ZoneLayout>, Flaw> {
        let surfaces = self.surfaces as usize;
        let mut zones = Vec::with_capacity(self.zones.len());
        for (number, zone) in self.zones.iter().enumerate() {
            let sectors_per_track = match zone.sectors_per_track.len() {
                1 => vec![zone.sectors_per_track[0]; surfaces],
                count if count == surfaces => zone.sectors_per_track.clone(),
                count => {
                    let reason =
                        format!("{count} numbers for {surfaces} surfaces: one for all, or one for each");
                    return Err(Flaw::new(format!("zones.{number}.sectors_per_track"), reason));
                }
            };
            zones.push(ZoneLayout { cylinders: zone.cylinders, sectors_per_track });
        }
        Ok(zones)
    }
}

impl GeneratedZones {
    /// The zones, with as many cylinders as hold `sectors`.
    fn build(&self, surfaces: u32, sectors: u64) -> Result<Vec<ZoneLayout>, Flaw> {
        if !(1..=10_000).contains(&self.zone_count) {
            return Err(Flaw::new("zone_count", "a disk has 1 to 10000 zones"));
        }
        for (key, count) in [
            ("sectors_per_track_outer", self.sectors_per_track_outer),
            ("sectors_per_track_inner", self.sectors_per_track_inner),
        ] {
            if !(4..=1_000_000).contains(&count) {
                return Err(Flaw::new(key, "a track has 4 to 1000000 sectors"));
            }
        }
        if self.sectors_per_track_inner > self.sectors_per_track_outer {
            let reason = format!(
                "the inner tracks are the shorter ones, so they hold no more than the {} sectors of the outer",
                self.sectors_per_track_outer
            );
            return Err(Flaw::new("sectors_per_track_inner", reason));
        }
        let densities = self.densities(surfaces)?;
        let (outer, inner) =
            (f64::from(self.sectors_per_track_outer), f64::from(self.sectors_per_track_inner));
        let steps = f64::from(self.zone_count.max(2) - 1);
        let track = |zone: u32, density: f64| {
            ((outer + (inner - outer) * f64::from(zone) / steps) * density).round().max(1.0) as u32
        };
        let tracks: Vec<Vec<u32>> = (0..self.zone_count)
            .map(|zone| densities.iter().map(|&density| track(zone, density)).collect())
            .collect();
        let per_cylinder = |zone: &Vec<u32>| zone.iter().map(|&count| u64::from(count)).sum::<u64>();
        let cylinders_each = match self.cylinders {
            Some(cylinders) => cylinders / u64::from(self.zone_count),
            None => sectors.div_ceil(tracks.iter().map(per_cylinder).sum()),
        };
        let mut zones: Vec<ZoneLayout> = tracks
            .into_iter()
            .map(|sectors_per_track| ZoneLayout { cylinders: cylinders_each, sectors_per_track })
            .collect();
        let rest = self.cylinders.map_or(0, |cylinders| cylinders % u64::from(self.zone_count));
        if let Some(last) = zones.last_mut() {
            last.cylinders += rest;
        }
        Ok(zones)
    }

    /// Each surface's factor.
    fn densities(&self, surfaces: u32) -> Result<Vec<f64>, Flaw> {
        if !self.surface_densities.is_empty() {
            if self.surface_densities.len() != surfaces as usize || self.surface_spread != 0.0 {
                return Err(Flaw::new("surface_densities", "one for each surface, and no surface_spread"));
            }
            for &density in &self.surface_densities {
                within(density, 0.5, 2.0, "surface_densities", "times the mean")?;
            }
            return Ok(self.surface_densities.clone());
        }
        within(self.surface_spread, 0.0, 0.3, "surface_spread", "of the mean")?;
        let steps = f64::from(surfaces.max(2) - 1);
        let level = |surface: u32| 1.0 + self.surface_spread * (2.0 * f64::from(surface) / steps - 1.0);
        let mut densities: Vec<f64> = (0..surfaces).map(level).collect();
        if surfaces == 1 {
            densities[0] = 1.0;
        }
        Prng::new(self.surface_seed, u64::from_le_bytes(*b"surfaces")).shuffle(&mut densities);
        Ok(densities)
    }
}

/// Refuses a number outside of what has been built, or none.
fn within(value: f64, low: f64, high: f64, key: &str, unit: &str) -> Result<(), Flaw> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    // Written out, 1e300 would fill the screen.
    let value = if value.abs() < 1e15 { value.to_string() } else { format!("{value:e}") };
    Err(Flaw::new(key, format!("{value} is not within {low} to {high} {unit}").trim_end()))
}
