//! Whether such a disk can be, and the layout that its profile asks for.

use crate::disk::geometry::{Geometry, ZoneLayout};
use crate::disk::profile::{Defect, DefectKind, DiskProfile, GeneratedZones, GeometryProfile};
use crate::disk::seek::SeekCurve;
use crate::flaw::{Flaw, InSection};
use crate::profile::schema::within;
use model::prng::Prng;
use model::units::Bytes;

impl DiskProfile {
    /// Checks that a disk of that capacity can be made of it. What passes is built without panic.
    pub fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        self.check_bounds()?;
        let geometry = self.geometry.build(capacity).in_section("geometry")?;
        SeekCurve::of_profile(&self.seek, geometry.cylinders())
            .and_then(|curve| curve.check(geometry.cylinders()))
            .in_section("seek")?;
        self.geometry.check_last_zone(&geometry, capacity).in_section("geometry")?;
        self.read_ahead.check_bounds().in_section("read_ahead")?;
        if self.read_ahead.segments > 0 {
            within("read_ahead.segment_kib", &self.read_ahead.segment_kib, 4.0, 16_384.0)?;
        }
        if self.read_ahead.ahead_bytes() > self.read_ahead.cache_bytes() {
            return Err(Flaw::new("read_ahead.ahead_kib", "it reads ahead further than its segments hold"));
        }
        self.write_cache.check_bounds().in_section("write_cache")?;
        self.queue.check_bounds().in_section("queue")?;
        if let Some(standby) = &self.standby {
            standby.check_bounds().in_section("standby")?;
        }
        self.check_defects(capacity)?;
        self.check_spares(&geometry)
    }

    fn check_defects(&self, capacity: Bytes) -> Result<(), Flaw> {
        const DEFECTS_MAX: usize = 100_000;
        Flaw::when(self.defects.len() > DEFECTS_MAX, "defects", "more than 100000 of them")?;
        let mut end_before = 0;
        for (number, defect) in self.defects.iter().enumerate() {
            self.check_defect(defect, end_before, capacity).in_section(&format!("defects.{number}"))?;
            end_before = defect.first_byte + defect.bytes;
        }
        Ok(())
    }

    fn check_defect(&self, defect: &Defect, end_before: u64, capacity: Bytes) -> Result<(), Flaw> {
        let sector_bytes = self.geometry.sector_bytes;
        let end = defect.first_byte.checked_add(defect.bytes);
        if defect.bytes == 0 || end.is_none_or(|end| end > capacity.get()) {
            return Err(Flaw::new("bytes", "it is empty, or reaches past the end of the disk"));
        }
        if !defect.first_byte.is_multiple_of(sector_bytes) || !defect.bytes.is_multiple_of(sector_bytes) {
            return Err(Flaw::new("first_byte", "a defect consists of whole physical sectors"));
        }
        if defect.first_byte < end_before {
            return Err(Flaw::new(
                "first_byte",
                "defects are in the order of their offsets and do not overlap",
            ));
        }
        if defect.kind == DefectKind::Remapped && self.geometry.spare_cylinders_per_zone == 0 {
            let reason = "there are no spare cylinders for it: geometry.spare_cylinders_per_zone";
            return Err(Flaw::new("kind", reason));
        }
        defect.check_bounds()
    }

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
    pub fn build(&self, capacity: Bytes) -> Result<Geometry, Flaw> {
        let capacity_bytes = capacity.get();
        if capacity_bytes == 0 || capacity_bytes > 1 << 60 {
            return Err(Flaw::new("", format!("no disk holds {capacity_bytes} bytes")));
        }
        if !matches!(self.sector_bytes, 512 | 4096) {
            return Err(Flaw::new("sector_bytes", "sectors have 512 or 4096 bytes"));
        }
        self.check_bounds()?;
        if self.layout.is_by_cylinder() && self.serpentine_tracks != 1 {
            return Err(Flaw::new("serpentine_tracks", "it is 1 in the layouts F and A"));
        }
        let zones = match (&self.generated_zones, self.zones.is_empty()) {
            (Some(generated), true) => {
                let sectors = capacity_bytes.div_ceil(self.sector_bytes);
                generated.build(self.surfaces, sectors).in_section("generated_zones")?
            }
            (None, false) => self.listed_zones()?,
            _ => return Err(Flaw::new("zones", "either zones or generated_zones, and one of them")),
        };
        let geometry = Geometry::new(self, zones)?;
        if geometry.sectors().saturating_mul(self.sector_bytes) < capacity_bytes {
            let holds = geometry.sectors() * self.sector_bytes;
            let reason = format!("the zones hold {holds} bytes, less than the capacity of {capacity_bytes}");
            return Err(Flaw::new("zones", reason));
        }
        Ok(geometry)
    }

    /// Refuses zones that the capacity does not reach: both are not of one disk then, but for a cylinder a zone.
    fn check_last_zone(&self, geometry: &Geometry, capacity: Bytes) -> Result<(), Flaw> {
        if let Some(zones) = self.generated_zones.as_ref()
            && zones.cylinders.is_none()
        {
            return Ok(());
        }
        let first_sector = geometry.zones().last().map_or(0, |(first_sector, _)| first_sector);
        let begins = first_sector * geometry.sector_bytes();
        if begins < capacity.get() {
            return Ok(());
        }
        let reason = format!(
            "the last zone begins at byte {begins}, past the capacity of {}: it would hold nothing",
            capacity.get()
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
        self.check_bounds()?;
        if self.sectors_per_track_inner > self.sectors_per_track_outer {
            let reason = format!(
                "the inner tracks are the shorter ones, so they hold no more than the {} sectors of the outer",
                self.sectors_per_track_outer
            );
            return Err(Flaw::new("sectors_per_track_inner", reason));
        }
        let densities = self.densities(surfaces)?;
        let zone_count = u64::from(self.zone_count);
        let mut zones = Vec::with_capacity(self.zone_count as usize);
        for zone in 0..self.zone_count {
            let sectors_per_track = densities.iter().map(|&density| self.track(zone, density)).collect();
            zones.push(ZoneLayout { cylinders: self.cylinders.unwrap_or(0) / zone_count, sectors_per_track });
        }
        match self.cylinders {
            Some(cylinders) => {
                if let Some(last) = zones.last_mut() {
                    last.cylinders += cylinders % zone_count;
                }
            }
            None => {
                let each = sectors.div_ceil(zones.iter().map(ZoneLayout::sectors_per_cylinder).sum());
                for zone in &mut zones {
                    zone.cylinders = each;
                }
            }
        }
        Ok(zones)
    }

    /// Sectors on the tracks of a zone, on a surface of that density.
    fn track(&self, zone: u32, density: f64) -> u32 {
        let (outer, inner) =
            (f64::from(self.sectors_per_track_outer), f64::from(self.sectors_per_track_inner));
        let steps = f64::from(self.zone_count.max(2) - 1);
        ((outer + (inner - outer) * f64::from(zone) / steps) * density).round().max(1.0) as u32
    }

    fn densities(&self, surfaces: u32) -> Result<Vec<f64>, Flaw> {
        if !self.surface_densities.is_empty() {
            if self.surface_densities.len() != surfaces as usize || self.surface_spread != 0.0 {
                return Err(Flaw::new("surface_densities", "one for each surface, and no surface_spread"));
            }
            return Ok(self.surface_densities.clone());
        }
        if surfaces == 1 {
            return Ok(vec![1.0]);
        }
        let steps = f64::from(surfaces - 1);
        let mut densities = Vec::with_capacity(surfaces as usize);
        for surface in 0..surfaces {
            densities.push(1.0 + self.surface_spread * (2.0 * f64::from(surface) / steps - 1.0));
        }
        Prng::new(self.surface_seed, u64::from_le_bytes(*b"surfaces")).shuffle(&mut densities);
        Ok(densities)
    }
}
