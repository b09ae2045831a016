//! Disks whose mechanism was published by who made or measured them.

use crate::disk::drive::{Mechanics, Policy};
use crate::disk::geometry::{Geometry, Layout, Order, ZoneLayout};
use crate::disk::seek::SeekCurve;
use model::units::{Bytes, MIB};

/// A disk that can be built.
pub struct PublishedDisk {
    /// What it holds, in bytes.
    pub capacity: Bytes,
    /// Where its sectors are.
    pub geometry: Geometry,
    /// How it moves.
    pub mechanics: Mechanics,
}

/// A 4 TB disk like the one that WD modelled (github.com/westerndigitalcorporation/DiskSim, G4_LBA_64bit_4T): 10 surfaces,
/// 7200 turns a minute, 60 track types from 3072 sectors to 1536, skew 0.141669 turns, 128 tracks to a serpentine,
/// alternating both ways, and a seek curve of 353,181 cylinders, of which the fit is off by 0.08 ms. How many cylinders
/// each zone has is taken to be the same, which gives 4.17 TB instead of 3.96. The model has no overhead, caches or
/// link; these are those of a SATA disk of its time.
pub fn disk_4tb() -> PublishedDisk {
    let zone =
        |zone: u32| ZoneLayout { cylinders: 5886, sectors_per_track: vec![3072 - 1536 * zone / 59; 10] };
    let layout = Layout {
        sector_bytes: 512,
        zones: (0..60).map(zone).collect(),
        serpentine_tracks: 128,
        seek_order: Order::Alternating,
        surface_order: Order::Alternating,
        track_skew: 0.141_669,
        surface_skew: 0.141_669,
    };
    let geometry = Geometry::new(layout).expect("the published layout can be");
    PublishedDisk {
        capacity: Bytes(geometry.sectors() * 512),
        geometry,
        mechanics: Mechanics {
            turn_s: 60.0 / 7200.0,
            seek: SeekCurve::RootThenLinear {
                a: 1.496e-3,
                b: 0.019_18e-3,
                c: 4.510e-3,
                e: 3.14e-8,
                border: 69_648.0,
            },
            seek_noise: 0.03,
            head_switch_s: 0.001e-3,
            write_settle_s: 0.0,
            overhead_s: 0.2e-3,
            link_bytes_per_second: 600e6,
            read_ahead_bytes: 2 * MIB,
            write_cache_bytes: 64 * MIB,
            policy: Policy::ShortestPositioning { age_weight: 0.01 },
        },
    }
}

impl PublishedDisk {
    /// The sequential rate of the first and of the last zone, in bytes per second.
    pub fn edge_rates(&self) -> (f64, f64) {
        let rates = self.geometry.zone_rates(1.0 / self.mechanics.turn_s);
        let rate = |zone: Option<&(u64, f64)>| zone.expect("a disk has a zone").1;
        (rate(rates.first()), rate(rates.last()))
    }

    /// The time to read all of it in order, in seconds.
    pub fn pass_s(&self) -> f64 {
        let sectors = self.capacity.0 / self.geometry.layout().sector_bytes;
        self.geometry.revolutions_over(0, sectors) * self.mechanics.turn_s
    }

    /// The mean time of a single read of `bytes` at a random place, in seconds: overhead, the mean seek between two
    /// places that are equally likely by capacity, half a turn, and the sectors themselves.
    pub fn access_s(&self, bytes: u64) -> f64 {
        const PLACES: u64 = 1000;
        let sectors = self.capacity.0 / self.geometry.layout().sector_bytes;
        let place = |index: u64| self.geometry.place((2 * index + 1) * sectors / (2 * PLACES));
        let places: Vec<_> = (0..PLACES).map(place).collect();
        let mut seek_s = 0.0;
        for from in &places {
            for to in &places {
                seek_s += self.mechanics.seek.seconds(from.cylinder.abs_diff(to.cylinder));
            }
        }
        let count = bytes as f64 / self.geometry.layout().sector_bytes as f64;
        let turns = places.iter().map(|place| count / f64::from(place.sectors_per_track)).sum::<f64>()
            / PLACES as f64;
        self.mechanics.overhead_s + seek_s / (PLACES * PLACES) as f64 + (0.5 + turns) * self.mechanics.turn_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published: 165.3 MB/s outside, 82.7 inside. With zones of as many cylinders each, the mean by time is that of the
    /// sectors on their tracks: 2304, three quarters of the outer ones.
    #[test]
    fn the_model_has_its_published_rates() {
        let disk = disk_4tb();
        let (outer, inner) = disk.edge_rates();
        let mean = disk.capacity.0 as f64 / disk.pass_s();
        assert!((outer / 165.3e6 - 1.0).abs() < 0.001, "{outer}");
        assert!((inner / 82.7e6 - 1.0).abs() < 0.002, "{inner}");
        assert!((mean / (0.75 * outer) - 1.0).abs() < 0.001, "{mean}");
    }

    /// Published: 81 reads a second at depth 1, a mean seek of 7.93 ms.
    #[test]
    fn a_single_read_takes_what_was_published() {
        let iops = 1.0 / disk_4tb().access_s(4096);
        assert!((iops / 81.0 - 1.0).abs() < 0.02, "{iops}");
    }
}
