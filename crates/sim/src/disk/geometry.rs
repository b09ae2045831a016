//! Where a sector is: which cylinder, which surface, and how far the platter has turned when it passes the head.
//!
//! The layouts are those of Wong 2019 ("Hard disk geometry microbenchmarking", blog.stuffedcow.net). Tracks are grouped into serpentines: `serpentine_tracks`
//! neighbouring tracks of one surface, then as many of the next surface, over the same cylinders. All surfaces once are
//! a group. The direction over the cylinders may alternate from serpentine to serpentine, and the order of surfaces from
//! group to group. With one track to a serpentine this is the classical cylinder.
//!
//! ```text
//! cylinders →      0 1 2 3 | 4 5 6 7
//! surface 0        a→→→→→b | g→→→→→h        seek direction alternating ("A"), surface order forward ("F"):
//! surface 1        d←←←←←c | j←←←←←i        a b c d e f g h i j k l
//! surface 2        e→→→→→f | k→→→→→l
//! ```
//! **Revolutions** carry the time. `revolutions(sector)` is how often the platter turns while everything before the
//! sector is read in order: one for each track, and the skew at each change of track. Its fraction is the sector's
//! angle, and the difference of two is the time to read from one to the other.

/// Which way something is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each time the same way.
    Forward,
    /// Every second time the other way.
    Alternating,
}

/// What a disk's layout is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Bytes in a physical sector.
    pub sector_bytes: u64,
    /// From the outer edge in.
    pub zones: Vec<ZoneLayout>,
    /// Neighbouring tracks of one surface before the next surface comes.
    pub serpentine_tracks: u64,
    /// Over the cylinders.
    pub seek_order: Order,
    /// Over the surfaces.
    pub surface_order: Order,
    /// Turns that pass from the end of a track to the start of the next on the same surface.
    pub track_skew: f64,
    /// Turns that pass when the surface changes.
    pub surface_skew: f64,
}

/// Cylinders with the same number of sectors on their tracks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneLayout {
    /// How many.
    pub cylinders: u64,
    /// Sectors on a track of each surface. Surfaces differ by a few percent, as their heads do.
    pub sectors_per_track: Vec<u32>,
}

/// Where a sector is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Counted from the outer edge.
    pub cylinder: u64,
    /// Counted from the first.
    pub surface: u32,
    /// On its track.
    pub sectors_per_track: u32,
    /// See the head of this file.
    pub revolutions: f64,
}

/// A layout with its sums, for looking up.
#[derive(Clone, Debug)]
pub struct Geometry {
    layout: Layout,
    zones: Vec<ZoneSums>,
    sectors: u64,
    cylinders: u64,
}

#[derive(Clone, Debug)]
struct ZoneSums {
    first_sector: u64,
    first_cylinder: u64,
    first_revolutions: f64,
    /// Serpentines of the zone before this one was begun, which decides direction and order.
    first_group: u64,
    sectors_per_cylinder: u64,
}

impl Geometry {
    /// Adds up a layout.
    ///
    /// # Errors
    /// Says what cannot be.
    pub fn new(layout: Layout) -> Result<Geometry, String> {
        let surfaces = check(&layout)?;
        let mut zones = Vec::with_capacity(layout.zones.len());
        let (mut sector, mut cylinder, mut revolutions, mut group) = (0u64, 0u64, 0.0, 0u64);
        for zone in &layout.zones {
            let sectors_per_cylinder: u64 =
                zone.sectors_per_track.iter().map(|&count| u64::from(count)).sum();
            zones.push(ZoneSums {
                first_sector: sector,
                first_cylinder: cylinder,
                first_revolutions: revolutions,
                first_group: group,
                sectors_per_cylinder,
            });
            let sectors = sectors_per_cylinder.checked_mul(zone.cylinders);
            sector =
                sectors.and_then(|more| sector.checked_add(more)).ok_or("more sectors than 64 bits count")?;
            let serpentines = zone.cylinders.div_ceil(layout.serpentine_tracks) * surfaces;
            let tracks = zone.cylinders * surfaces;
            revolutions += tracks as f64
                + (tracks - serpentines) as f64 * layout.track_skew
                + serpentines as f64 * layout.surface_skew;
            cylinder += zone.cylinders;
            group += zone.cylinders.div_ceil(layout.serpentine_tracks);
        }
        Ok(Geometry { layout, zones, sectors: sector, cylinders: cylinder })
    }

    /// What it was made from.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Physical sectors on the disk.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Cylinders on the disk.
    pub fn cylinders(&self) -> u64 {
        self.cylinders
    }

    /// Where a sector is. Panics when there is no such sector.
    pub fn place(&self, sector: u64) -> Place {
        assert!(sector < self.sectors, "a sector of the disk");
        let index = self.zones.partition_point(|zone| zone.first_sector <= sector) - 1;
        let (sums, zone) = (&self.zones[index], &self.layout.zones[index]);
        let surfaces = zone.sectors_per_track.len() as u64;
        let wide = self.layout.serpentine_tracks;
        let within = sector - sums.first_sector;
        let group = within / (sums.sectors_per_cylinder * wide);
        // The last group of a zone may be narrower.
        let width = wide.min(zone.cylinders - group * wide);
        let mut rest = within - group * sums.sectors_per_cylinder * wide;
        let turned_around =
            self.layout.surface_order == Order::Alternating && (sums.first_group + group) % 2 == 1;
        let mut turn = 0;
        let (surface, sectors_per_track) = loop {
            let surface = if turned_around { surfaces - 1 - turn } else { turn };
            let sectors_per_track = zone.sectors_per_track[surface as usize];
            let serpentine = u64::from(sectors_per_track) * width;
            if rest < serpentine {
                break (surface, sectors_per_track);
            }
            rest -= serpentine;
            turn += 1;
        };
        let (track, on_track) = (rest / u64::from(sectors_per_track), rest % u64::from(sectors_per_track));
        let serpentine = (sums.first_group + group) * surfaces + turn;
        let backward = self.layout.seek_order == Order::Alternating && serpentine % 2 == 1;
        let column = if backward { width - 1 - track } else { track };
        let full_serpentine =
            wide as f64 + (wide - 1) as f64 * self.layout.track_skew + self.layout.surface_skew;
        let this_serpentine =
            width as f64 + (width - 1) as f64 * self.layout.track_skew + self.layout.surface_skew;
        let revolutions = sums.first_revolutions
            + (group * surfaces) as f64 * full_serpentine
            + turn as f64 * this_serpentine
            + track as f64 * (1.0 + self.layout.track_skew)
            + on_track as f64 / f64::from(sectors_per_track);
        Place {
            cylinder: sums.first_cylinder + group * wide + column,
            surface: surface as u32,
            sectors_per_track,
            revolutions,
        }
    }

    /// How often the platter turns while `count` sectors from `first` on are read in order, the last one whole.
    pub fn revolutions_over(&self, first: u64, count: u64) -> f64 {
        let (begin, last) = (self.place(first), self.place(first + count - 1));
        last.revolutions + 1.0 / f64::from(last.sectors_per_track) - begin.revolutions
    }

    /// Turns of a full pass in order.
    pub fn revolutions_of_pass(&self) -> f64 {
        self.revolutions_over(0, self.sectors)
    }

    /// The first sector of each zone, with what its rate is at `turns_per_second`, in bytes per second.
    pub fn zone_rates(&self, turns_per_second: f64) -> Vec<(u64, f64)> {
        let surfaces_of = |zone: &ZoneLayout| zone.sectors_per_track.len() as f64;
        let wide = self.layout.serpentine_tracks as f64;
        let turns_per_track = 1.0 + ((wide - 1.0) * self.layout.track_skew + self.layout.surface_skew) / wide;
        let rate = |(sums, zone): (&ZoneSums, &ZoneLayout)| {
            let sectors_per_track = sums.sectors_per_cylinder as f64 / surfaces_of(zone);
            let bytes_per_turn = sectors_per_track * self.layout.sector_bytes as f64 / turns_per_track;
            (sums.first_sector, bytes_per_turn * turns_per_second)
        };
        self.zones.iter().zip(&self.layout.zones).map(rate).collect()
    }
}

/// Checks that the numbers can be; the number of surfaces.
fn check(layout: &Layout) -> Result<u64, String> {
    let first = layout.zones.first().ok_or("a disk has at least one zone")?;
    let surfaces = first.sectors_per_track.len();
    if surfaces == 0 || surfaces > 64 {
        return Err(format!("{surfaces} surfaces: a disk has 1 to 64"));
    }
    if !matches!(layout.sector_bytes, 512 | 4096) {
        return Err(format!("sectors of {} bytes: there are 512 and 4096", layout.sector_bytes));
    }
    if layout.serpentine_tracks == 0 {
        return Err("a serpentine has at least one track".into());
    }
    for skew in [layout.track_skew, layout.surface_skew] {
        if !(0.0..=4.0).contains(&skew) {
            return Err(format!("a skew of {skew} turns is not in 0 to 4"));
        }
    }
    for (number, zone) in layout.zones.iter().enumerate() {
        if zone.sectors_per_track.len() != surfaces {
            return Err(format!("zone {number} has another number of surfaces than zone 0"));
        }
        if zone.cylinders == 0 || zone.sectors_per_track.contains(&0) {
            return Err(format!("zone {number} has no cylinders, or a track without sectors"));
        }
    }
    Ok(surfaces as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layout(seek_order: Order, surface_order: Order, serpentine_tracks: u64) -> Layout {
        Layout {
            sector_bytes: 512,
            zones: vec![
                ZoneLayout { cylinders: 8, sectors_per_track: vec![10, 10, 10] },
                ZoneLayout { cylinders: 5, sectors_per_track: vec![6, 5, 6] },
            ],
            serpentine_tracks,
            seek_order,
            surface_order,
            track_skew: 0.1,
            surface_skew: 0.5,
        }
    }

    fn track_order(layout: Layout) -> Vec<(u64, u32)> {
        let geometry = Geometry::new(layout).unwrap();
        let mut order: Vec<(u64, u32)> = Vec::new();
        for sector in 0..geometry.sectors() {
            let place = geometry.place(sector);
            if order.last() != Some(&(place.cylinder, place.surface)) {
                order.push((place.cylinder, place.surface));
            }
        }
        order
    }

    #[test]
    fn the_picture_at_the_head_of_the_file_is_right() {
        let order = track_order(layout(Order::Alternating, Order::Forward, 4));
        let columns = |from: usize| order[from..from + 4].to_vec();
        assert_eq!(columns(0), [(0, 0), (1, 0), (2, 0), (3, 0)]);
        assert_eq!(columns(4), [(3, 1), (2, 1), (1, 1), (0, 1)]);
        assert_eq!(columns(8), [(0, 2), (1, 2), (2, 2), (3, 2)]);
        assert_eq!(columns(12), [(7, 0), (6, 0), (5, 0), (4, 0)]);
    }

    #[test]
    fn one_track_to_a_serpentine_is_a_cylinder() {
        let order = track_order(layout(Order::Forward, Order::Alternating, 1));
        assert_eq!(order[..7], [(0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (1, 0), (2, 0)]);
    }

    /// DT01ACA300 after Wong 2019: 473 sectors of 4 KiB outside, 211 inside, skew 3/29, half a turn more at the
    /// change of surface, 140 tracks to a serpentine, 7219.1 turns a minute: 211 MB/s outside, 94 inside.
    #[test]
    fn a_measured_disk_has_its_rates() {
        let zone = |sectors: u32| ZoneLayout { cylinders: 140, sectors_per_track: vec![sectors; 6] };
        let geometry = Geometry::new(Layout {
            sector_bytes: 4096,
            zones: vec![zone(473), zone(211)],
            serpentine_tracks: 140,
            seek_order: Order::Forward,
            surface_order: Order::Forward,
            track_skew: 3.0 / 29.0,
            surface_skew: 3.0 / 29.0 + 0.5,
        })
        .unwrap();
        let rates: Vec<f64> = geometry.zone_rates(7219.1 / 60.0).iter().map(|(_, rate)| rate / 1e6).collect();
        assert!((rates[0] - 211.0).abs() < 1.0 && (rates[1] - 94.0).abs() < 0.5, "{rates:?}");
    }

    #[test]
    fn what_cannot_be_is_named() {
        let refusal = |change: fn(&mut Layout)| {
            let mut layout = layout(Order::Forward, Order::Forward, 4);
            change(&mut layout);
            Geometry::new(layout).unwrap_err()
        };
        assert!(refusal(|l| l.zones.clear()).contains("zone"));
        assert!(refusal(|l| l.sector_bytes = 520).contains("520"));
        assert!(refusal(|l| l.serpentine_tracks = 0).contains("serpentine"));
        assert!(refusal(|l| l.track_skew = f64::NAN).contains("NaN"));
        assert!(refusal(|l| l.zones[1].sectors_per_track.truncate(1)).contains("zone 1"));
        assert!(refusal(|l| l.zones[1].cylinders = 0).contains("zone 1"));
        assert!(refusal(|l| l.zones[0].cylinders = u64::MAX).contains("64 bits"));
    }

    fn any_order() -> impl Strategy<Value = Order> {
        prop_oneof![Just(Order::Forward), Just(Order::Alternating)]
    }

    proptest! {
        /// Each track of each surface comes once; within a track the platter turns by one sector from one to the
        /// next, and between tracks by a skew more.
        #[test]
        fn every_track_comes_once_and_time_only_grows(
            seek in any_order(), surface in any_order(), tracks in 1u64..12,
        ) {
            let layout = layout(seek, surface, tracks);
            let order = track_order(layout.clone());
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert_eq!(sorted.len(), order.len());
            prop_assert_eq!(order.len(), 13 * 3);
            let geometry = Geometry::new(layout).unwrap();
            for sector in 1..geometry.sectors() {
                let (before, here) = (geometry.place(sector - 1), geometry.place(sector));
                let step = here.revolutions - before.revolutions - 1.0 / f64::from(before.sectors_per_track);
                prop_assert!(step.abs() < 1e-9 || (step - 0.1).abs() < 1e-9 || (step - 0.5).abs() < 1e-9, "{}", step);
            }
        }

        #[test]
        fn reading_in_parts_takes_as_long_as_at_once(cut in 1u64..300) {
            let geometry = Geometry::new(layout(Order::Alternating, Order::Alternating, 3)).unwrap();
            let whole = geometry.revolutions_of_pass();
            let cut = cut.min(geometry.sectors() - 1);
            let gap = geometry.place(cut).revolutions - geometry.revolutions_over(0, cut);
            let parts = geometry.revolutions_over(0, cut) + gap + geometry.revolutions_over(cut, geometry.sectors() - cut);
            prop_assert!((whole - parts).abs() < 1e-9);
        }
    }
}
