//! What is true of a disk by its profile alone: closed forms and exact sums over its layout, without its links.

use crate::disk::geometry::Geometry;
use crate::disk::profile::DiskProfile;
use crate::disk::seek::SeekCurve;
use model::units::Bytes;

#[derive(Clone, Debug)]
pub struct DiskTruth {
    profile: DiskProfile,
    geometry: Geometry,
    seek: SeekCurve,
    capacity_bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ZoneTruth {
    pub first_byte: u64,
    pub bytes: u64,
    /// The rate of reading or writing whole groups of it in order, skews included.
    pub bytes_per_second: f64,
    pub sectors_per_track: Vec<u32>,
}

impl DiskTruth {
    /// The disk of a profile that has passed its check with that capacity.
    pub fn new(profile: &DiskProfile, capacity: Bytes) -> DiskTruth {
        let geometry = profile.geometry.build(capacity).expect("the profile has passed its check");
        let seek = SeekCurve::of_profile(&profile.seek, geometry.cylinders());
        DiskTruth {
            profile: profile.clone(),
            seek: seek.expect("the profile has passed its check"),
            geometry,
            capacity_bytes: capacity.get(),
        }
    }

    /// Zones from the outer edge in; neighbours with the same sectors per track are one.
    pub fn zones(&self) -> Vec<ZoneTruth> {
        let sector_bytes = self.geometry.sector_bytes();
        let mut zones: Vec<ZoneTruth> = Vec::new();
        for (first_sector, layout) in self.geometry.zones() {
            let first_byte = first_sector * sector_bytes;
            if first_byte >= self.capacity_bytes {
                break;
            }
            let per_cylinder = layout.sectors_per_cylinder();
            let bytes =
                (per_cylinder * layout.cylinders * sector_bytes).min(self.capacity_bytes - first_byte);
            match zones.last_mut() {
                Some(zone) if zone.sectors_per_track == layout.sectors_per_track => zone.bytes += bytes,
                _ => zones.push(ZoneTruth {
                    first_byte,
                    bytes,
                    bytes_per_second: self.rate_of(per_cylinder),
                    sectors_per_track: layout.sectors_per_track.clone(),
                }),
            }
        }
        zones
    }

    fn rate_of(&self, sectors_per_cylinder: u64) -> f64 {
        let tracks = self.geometry.surfaces() as f64;
        let bytes_per_track = sectors_per_cylinder as f64 / tracks * self.geometry.sector_bytes() as f64;
        bytes_per_track / (self.geometry.turns_per_track() * self.profile.turn_s())
    }

    pub fn edge_rates(&self) -> (f64, f64) {
        match self.zones().as_slice() {
            [only] => (only.bytes_per_second, only.bytes_per_second),
            [first, .., last] => (first.bytes_per_second, last.bytes_per_second),
            [] => (0.0, 0.0),
        }
    }

    /// The time to read or write all of it in order, in seconds: the sum of all turns.
    pub fn full_pass_s(&self) -> f64 {
        let sectors = self.capacity_bytes.div_ceil(self.geometry.sector_bytes());
        self.geometry.revolutions_over(0, sectors) * self.profile.turn_s()
    }

    /// Capacity over the time of a full pass, in bytes per second.
    pub fn mean_rate(&self) -> f64 {
        self.capacity_bytes as f64 / self.full_pass_s()
    }

    pub fn rotation_period_s(&self) -> f64 {
        self.profile.turn_s()
    }

    pub fn seek_track_to_track_s(&self) -> f64 {
        self.seek.seconds(1)
    }

    /// The mean seek over all pairs of different cylinders from that of a byte on, as makers define it, in seconds.
    pub fn seek_average_s(&self, first_byte: u64) -> f64 {
        self.seek.mean_seconds(self.cylinders_from(first_byte))
    }

    /// A seek from the cylinder of a byte to the last, in seconds.
    pub fn seek_full_stroke_s(&self, first_byte: u64) -> f64 {
        self.seek.seconds(self.cylinders_from(first_byte) - 1)
    }

    fn cylinders_from(&self, first_byte: u64) -> u64 {
        let first = self.geometry.place(first_byte / self.geometry.sector_bytes());
        self.geometry.cylinders() - first.cylinder
    }

    /// The mean time of a single read of `bytes` at a random place of the whole disk, in seconds.
    pub fn access_s(&self, bytes: u64) -> f64 {
        self.access_within_s(0, self.capacity_bytes, bytes)
    }

    /// The same within a stretch: overhead, the mean seek by capacity, half a turn, and the sectors themselves.
    pub fn access_within_s(&self, first_byte: u64, span_bytes: u64, bytes: u64) -> f64 {
        self.profile.command_overhead_ms / 1e3
            + self.seek_within_s(first_byte, span_bytes)
            + (0.5 + self.turns_within(first_byte, span_bytes, bytes)) * self.profile.turn_s()
    }

    /// The mean seek between two places of a stretch that are equally likely by capacity, in seconds.
    pub fn seek_within_s(&self, first_byte: u64, span_bytes: u64) -> f64 {
        let cylinders = self.cylinders_within(first_byte, span_bytes);
        let mut sum_s = 0.0;
        for (index, from) in cylinders.iter().enumerate() {
            for to in &cylinders[index + 1..] {
                sum_s += self.seek.seconds(from.abs_diff(*to));
            }
        }
        2.0 * sum_s / (cylinders.len() * cylinders.len()) as f64
    }

    /// Cylinders of places that lie evenly in a stretch, by capacity.
    fn cylinders_within(&self, first_byte: u64, span_bytes: u64) -> Vec<u64> {
        const PLACES: u64 = 1000;
        let sector_bytes = self.geometry.sector_bytes();
        let sectors = span_bytes / sector_bytes;
        let mut cylinders = Vec::with_capacity(PLACES as usize);
        for index in 0..PLACES {
            let sector = first_byte / sector_bytes + (2 * index + 1) * sectors / (2 * PLACES);
            cylinders.push(self.geometry.place(sector).cylinder);
        }
        cylinders
    }

    /// The mean part of a turn that `bytes` take in a stretch.
    fn turns_within(&self, first_byte: u64, span_bytes: u64, bytes: u64) -> f64 {
        let sector_bytes = self.geometry.sector_bytes();
        let sectors = span_bytes.div_ceil(sector_bytes).max(1);
        let turns = self.geometry.revolutions_over(first_byte / sector_bytes, sectors);
        let turns = turns / self.geometry.turns_per_track();
        bytes.div_ceil(sector_bytes) as f64 * turns / sectors as f64
    }

    pub fn surfaces(&self) -> u64 {
        self.geometry.surfaces()
    }

    /// Turns from the end of a track to the start of the next on its surface.
    pub fn track_skew_turns(&self) -> f64 {
        self.profile.geometry.track_skew_turns
    }

    /// Bytes of one serpentine of each surface in the zone of a byte: the stripes of a sequential rate.
    pub fn stripe_bytes(&self, byte: u64) -> Vec<u64> {
        let sector_bytes = self.geometry.sector_bytes();
        let sector = byte / sector_bytes;
        let mut stripes = Vec::new();
        if let Some((_, layout)) = self.geometry.zones().take_while(|(first, _)| *first <= sector).last() {
            let width = self.geometry.serpentine_tracks().min(layout.cylinders);
            for count in &layout.sectors_per_track {
                stripes.push(u64::from(*count) * width * sector_bytes);
            }
        }
        stripes
    }
}

#[cfg(test)]
#[path = "truth_tests.rs"]
mod tests;
