//! Where a sector is: which cylinder, which surface, and how far the platter has turned when it passes the head.
//!
//! The layouts are those of Wong 2019 ("Hard disk geometry microbenchmarking", blog.stuffedcow.net). Tracks are grouped into serpentines: `serpentine_tracks`
//! neighbouring tracks of one surface, then as many of the next surface, over the same cylinders. All surfaces once are
//! a group. The direction over the cylinders may alternate from serpentine to serpentine, and the order of surfaces from
//! group to group. With one track to a serpentine this is the classical cylinder.
//! ```text
//! cylinders →      0 1 2 3 | 4 5 6 7
//! surface 0        a→→→→→b | g→→→→→h        seek direction alternating ("A"), surface order forward ("F"):
//! surface 1        d←←←←←c | j←←←←←i        a b c d e f g h i j k l
//! surface 2        e→→→→→f | k→→→→→l
//! ```
//! **Revolutions** carry the time. `revolutions(sector)` is how often the platter turns while everything before the
//! sector is read in order: one for each track, and the skew at each change of track. Its fraction is the sector's
//! angle, and the difference of two is the time to read from one to the other.

use crate::disk::profile::{GeometryProfile, TrackLayout};
use crate::flaw::{Flaw, InSection};
use crate::profile::schema::within;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Forward,
    Alternating,
}

impl TrackLayout {
    pub(super) fn orders(self) -> (Order, Order) {
        match self {
            TrackLayout::F | TrackLayout::FF => (Order::Forward, Order::Forward),
            TrackLayout::A | TrackLayout::FA => (Order::Forward, Order::Alternating),
            TrackLayout::AF => (Order::Alternating, Order::Forward),
            TrackLayout::AA => (Order::Alternating, Order::Alternating),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneLayout {
    pub cylinders: u64,
    /// Sectors on a track of each surface. Surfaces differ by a few percent, as their heads do.
    pub sectors_per_track: Vec<u32>,
}

impl ZoneLayout {
    fn check(&self) -> Result<(), Flaw> {
        within("cylinders", &self.cylinders, 1.0, TRACKS_MAX as f64)?;
        within("sectors_per_track", &self.sectors_per_track, 1.0, 1e6)
    }

    pub fn sectors_per_cylinder(&self) -> u64 {
        self.sectors_per_track.iter().map(|&count| u64::from(count)).sum()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub sector: u64,
    pub cylinder: u64,
    pub surface: u32,
    pub sectors_per_track: u32,
    pub revolutions: f64,
    /// The part of a turn that is left of `revolutions`: in [0, 1).
    pub angle_turns: f64,
}

impl Place {
    /// `revolutions` when the sector has passed.
    pub fn end_revolutions(&self) -> f64 {
        self.revolutions + 1.0 / f64::from(self.sectors_per_track)
    }
}

#[derive(Clone, Debug)]
pub struct Geometry {
    sector_bytes: u64,
    surfaces: u64,
    serpentine_tracks: u64,
    seek_order: Order,
    surface_order: Order,
    skews: Skews,
    zones: Vec<Zone>,
    sectors: u64,
    cylinders: u64,
}

#[derive(Clone, Copy, Debug)]
struct Skews {
    track: f64,
    surface: f64,
    group: f64,
}

impl Skews {
    fn serpentine(&self, width: u64) -> f64 {
        width as f64 + (width - 1) as f64 * self.track
    }

    /// Turns of a group that wide, with the change to the next group.
    fn group(&self, width: u64, surfaces: u64) -> f64 {
        surfaces as f64 * self.serpentine(width) + (surfaces - 1) as f64 * self.surface + self.group
    }
}

#[derive(Clone, Debug)]
struct Zone {
    layout: ZoneLayout,
    first_sector: u64,
    first_cylinder: u64,
    first_revolutions: f64,
    /// Groups before this zone, which decides direction and order.
    first_group: u64,
    sectors_per_cylinder: u64,
    group_sectors: u64,
    group_revolutions: f64,
    /// Sectors of a cylinder on the surfaces before each one, and on all.
    before_surface: Vec<u64>,
}

/// The most tracks and sectors that are counted: sums of turns stay exact to a millionth of one.
const TRACKS_MAX: u64 = 1 << 27;
const SECTORS_MAX: u64 = 1 << 48;
const ZONES_MAX: usize = 10_000;

impl Geometry {
    pub fn new(profile: &GeometryProfile, layouts: Vec<ZoneLayout>) -> Result<Geometry, Flaw> {
        let surfaces = u64::from(profile.surfaces);
        Flaw::when(layouts.is_empty() || layouts.len() > ZONES_MAX, "zones", "a disk has 1 to 10000 zones")?;
        let surface_skew = profile.surface_skew_turns.unwrap_or(profile.track_skew_turns);
        let skews = Skews {
            track: profile.track_skew_turns,
            surface: surface_skew,
            group: profile.group_skew_turns.unwrap_or(surface_skew),
        };
        let wide = profile.serpentine_tracks;
        let mut zones: Vec<Zone> = Vec::with_capacity(layouts.len());
        let (mut sector, mut cylinder, mut revolutions, mut group) = (0u64, 0u64, 0.0, 0u64);
        for (number, layout) in layouts.into_iter().enumerate() {
            layout.check().in_section(&format!("zones.{number}"))?;
            let mut before_surface = vec![0; surfaces as usize + 1];
            for (surface, &count) in layout.sectors_per_track.iter().enumerate() {
                before_surface[surface + 1] = before_surface[surface] + u64::from(count);
            }
            let sectors_per_cylinder = before_surface[surfaces as usize];
            let cylinders = layout.cylinders;
            let zone = Zone {
                first_sector: sector,
                first_cylinder: cylinder,
                first_revolutions: revolutions,
                first_group: group,
                sectors_per_cylinder,
                group_sectors: sectors_per_cylinder.saturating_mul(wide),
                group_revolutions: skews.group(wide, surfaces),
                before_surface,
                layout,
            };
            zones.push(zone);
            sector = sector.saturating_add(sectors_per_cylinder.saturating_mul(cylinders));
            cylinder = cylinder.saturating_add(cylinders).saturating_add(profile.spare_cylinders_per_zone);
            if sector > SECTORS_MAX || cylinder.saturating_mul(surfaces) > TRACKS_MAX {
                let reason = "more than 2^27 tracks or 2^48 sectors up to here";
                return Err(Flaw::new(format!("zones.{number}.cylinders"), reason));
            }
            revolutions += (cylinders / wide) as f64 * skews.group(wide, surfaces);
            if !cylinders.is_multiple_of(wide) {
                revolutions += skews.group(cylinders % wide, surfaces);
            }
            group += cylinders.div_ceil(wide);
        }
        let (seek_order, surface_order) = profile.layout.orders();
        Ok(Geometry {
            sector_bytes: profile.sector_bytes,
            surfaces,
            serpentine_tracks: wide,
            seek_order,
            surface_order,
            skews,
            zones,
            sectors: sector,
            cylinders: cylinder,
        })
    }

    pub fn sector_bytes(&self) -> u64 {
        self.sector_bytes
    }

    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    pub fn cylinders(&self) -> u64 {
        self.cylinders
    }

    pub fn surfaces(&self) -> u64 {
        self.surfaces
    }

    pub fn serpentine_tracks(&self) -> u64 {
        self.serpentine_tracks
    }

    pub fn zones(&self) -> impl ExactSizeIterator<Item = (u64, &ZoneLayout)> {
        self.zones.iter().map(|zone| (zone.first_sector, &zone.layout))
    }

    /// Turns that a track of a whole group takes on average when all of it is read in order, with all skews.
    pub fn turns_per_track(&self) -> f64 {
        self.skews.group(self.serpentine_tracks, self.surfaces)
            / (self.serpentine_tracks * self.surfaces) as f64
    }

    /// Sectors on all tracks of a cylinder in the zone of a sector.
    pub fn sectors_per_cylinder(&self, sector: u64) -> u64 {
        self.zone_of(sector).sectors_per_cylinder
    }

    pub fn zone_sectors(&self, sector: u64) -> std::ops::Range<u64> {
        let zone = self.zone_of(sector);
        zone.first_sector..zone.first_sector + zone.sectors_per_cylinder * zone.layout.cylinders
    }

    fn zone_of(&self, sector: u64) -> &Zone {
        &self.zones[self.zones.partition_point(|zone| zone.first_sector <= sector) - 1]
    }

    /// Where a sector is. Panics when there is no such sector.
    pub fn place(&self, sector: u64) -> Place {
        assert!(sector < self.sectors, "a sector of the disk");
        let zone = self.zone_of(sector);
        let within = sector - zone.first_sector;
        let group = within / zone.group_sectors;
        let first_column = group * self.serpentine_tracks;
        let width = self.serpentine_tracks.min(zone.layout.cylinders - first_column);
        let rest = within - group * zone.group_sectors;
        let backward = self.goes_surfaces_back(zone.first_group + group);
        let (turn, surface, before) = zone.serpentine_of(rest, width, backward);
        let rest = rest - before * width;
        let sectors_per_track = zone.layout.sectors_per_track[surface];
        let (track, on_track) = (rest / u64::from(sectors_per_track), rest % u64::from(sectors_per_track));
        let serpentine = (zone.first_group + group) * self.surfaces + turn;
        let outwards = self.seek_order == Order::Alternating && serpentine % 2 == 1;
        let column = if outwards { width - 1 - track } else { track };
        let revolutions = zone.first_revolutions
            + group as f64 * zone.group_revolutions
            + turn as f64 * (self.skews.serpentine(width) + self.skews.surface)
            + track as f64 * (1.0 + self.skews.track)
            + on_track as f64 / f64::from(sectors_per_track);
        debug_assert!(column < width && (surface as u64) < self.surfaces, "a track of its zone");
        debug_assert!(revolutions >= zone.first_revolutions, "revolutions grow with the sectors");
        Place {
            sector,
            cylinder: zone.first_cylinder + first_column + column,
            surface: surface as u32,
            sectors_per_track,
            revolutions,
            angle_turns: revolutions - (revolutions as u64) as f64,
        }
    }

    fn goes_surfaces_back(&self, group: u64) -> bool {
        self.surface_order == Order::Alternating && group % 2 == 1
    }

    /// How many sectors have passed whole when the platter has turned that often since the start of sector 0.
    pub fn sectors_within(&self, revolutions: f64) -> u64 {
        let index = self.zones.partition_point(|zone| zone.first_revolutions <= revolutions).max(1) - 1;
        let zone = &self.zones[index];
        let turns = (revolutions - zone.first_revolutions).max(0.0);
        let groups = zone.layout.cylinders / self.serpentine_tracks;
        let group = ((turns / zone.group_revolutions) as u64).min(groups);
        let first_column = group * self.serpentine_tracks;
        let end_sector = zone.first_sector + zone.sectors_per_cylinder * zone.layout.cylinders;
        let width = self.serpentine_tracks.min(zone.layout.cylinders - first_column);
        if width == 0 {
            return end_sector;
        }
        let turns = turns - group as f64 * zone.group_revolutions;
        let serpentine_turns = self.skews.serpentine(width) + self.skews.surface;
        let turn = ((turns / serpentine_turns) as u64).min(self.surfaces - 1);
        let turns = turns - turn as f64 * serpentine_turns;
        let track = ((turns / (1.0 + self.skews.track)) as u64).min(width - 1);
        let share = (turns - track as f64 * (1.0 + self.skews.track)).clamp(0.0, 1.0);
        let (surface, before) = zone.surface_at(turn, self.goes_surfaces_back(zone.first_group + group));
        let sectors_per_track = u64::from(zone.layout.sectors_per_track[surface]);
        // A sector that ends at this moment has passed: rounding must not take it away.
        let on_track = ((share * sectors_per_track as f64 + 1e-5) as u64).min(sectors_per_track);
        let sector = zone.first_sector
            + group * zone.group_sectors
            + before * width
            + track * sectors_per_track
            + on_track;
        sector.min(end_sector)
    }

    /// The first spare cylinder of the zone of a sector; behind the zone.
    pub fn spare_cylinder(&self, sector: u64) -> u64 {
        let zone = self.zone_of(sector);
        zone.first_cylinder + zone.layout.cylinders
    }

    /// How often the platter turns while `count` sectors from `first` on are read in order, the last one whole.
    pub fn revolutions_over(&self, first: u64, count: u64) -> f64 {
        debug_assert!(count > 0, "reading nothing takes no time");
        self.place(first + count - 1).end_revolutions() - self.place(first).revolutions
    }
}

impl Zone {
    /// The serpentine of a group that wide with the sector: its turn, surface, and sectors before in a cylinder.
    fn serpentine_of(&self, sector: u64, width: u64, backward: bool) -> (u64, usize, u64) {
        let surfaces = self.layout.sectors_per_track.len() as u64;
        let on_cylinder = sector / width;
        // Surfaces hold about the same, so the guess is at most a few off.
        let mut turn = on_cylinder * surfaces / self.sectors_per_cylinder;
        loop {
            let (surface, before) = self.surface_at(turn, backward);
            if on_cylinder < before {
                turn -= 1;
            } else if on_cylinder >= before + u64::from(self.layout.sectors_per_track[surface]) {
                turn += 1;
            } else {
                return (turn, surface, before);
            }
        }
    }

    /// The surface whose turn it is, and the sectors of a cylinder on those before it.
    fn surface_at(&self, turn: u64, backward: bool) -> (usize, u64) {
        let turn = turn as usize;
        if backward {
            let surface = self.layout.sectors_per_track.len() - 1 - turn;
            (surface, self.sectors_per_cylinder - self.before_surface[surface + 1])
        } else {
            (turn, self.before_surface[turn])
        }
    }
}

#[cfg(test)]
#[path = "geometry_tests.rs"]
mod tests;
