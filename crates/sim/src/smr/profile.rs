//! What makes a disk a drive-managed SMR disk: the section `smr` of a profile, beside its section `disk`.

use crate::disk::profile::DiskProfile;
use crate::flaw::{Flaw, InSection};
use crate::profile::schema::{section, within, words};
use model::units::Bytes;

/// The media cache's map counts in blocks of this size, and so do bands.
pub const SLOT_BYTES: u64 = 4096;

/// More entries than any controller's memory holds; it bounds what the model itself needs.
const MAP_ENTRIES_MAX: u64 = 16_000_000;
/// A petabyte: far from where sums of bytes end.
const CAPACITY_BYTES_MAX: u64 = 1_000_000_000_000_000;
/// Bounds what the model keeps for each band.
const BANDS_MAX: u64 = 4_000_000;

section! {
    SmrProfile at "[smr]" = "Drive-managed SMR. Bands are only written from their start. Other writes go to the media cache and are merged into their band by cleaning." {
        media_cache_bytes: u64 => "Size of the media cache. It is at the outer diameter, before the first band, and not part of the capacity.";
        map_entries: u64 => "Maximum number of extents in the media cache's map. The cache is full when bytes or extents run out.";
        packet_bytes: u64 = 131_072, in 4096..=16_777_216 => "Size of a packet appended to the media cache; small writes share one.";
        journal_turns: f64 = 0.96, in 0..=10 => "Revolutions to journal a packet's map entry and return to the next packet: almost 1 if the journal is a few tracks away.";
        band_zones: Vec<BandZone> => "Band sizes by offset, the first at 0.";
        stream_threshold_bytes: u64 = 8_388_608 => "Length of contiguous writes that the drive treats as a stream and writes directly to the bands.";
        stream_count: u32 = 8, in 1..=1024 => "Number of sequential write streams the drive tracks.";
        cleaning: CleaningPolicy = CleaningPolicy::Aggressive => "Idle cleaning policy.";
        cleaning_order: CleaningOrder = CleaningOrder::Fifo => "Order of cleaning.";
        idle_delay_seconds: f64 = 1.0, in 0..=3600 => "Idle time before cleaning begins.";
        resume_delay_seconds: f64 = 0.1, in 0..=3600 => "Once cleaning has begun: idle time before the next band is cleaned.";
        high_water_share: f64 = 0.8, in 0..=1 => "Lazy policy: idle cleaning starts when this share of the media cache is used, by bytes or by extents.";
        low_water_share: f64 = 0.5, in 0..=1 => "Lazy policy: idle cleaning stops at this share.";
        clean_passes: u32 = 3, in 1..=10 => "Passes over a band during cleaning: 2 (read, write back) or 3 (with a safe copy in between).";
        clean_positionings: u32 = 3, in 0..=100 => "Extra positionings of the arm per cleaned band.";
        // 0.6 to 1.6 s were seen for a band.
        clean_overhead_ms: f64 = 0.0, in 0..=60_000 => "Cleaning time per band beyond seeks and transfers. Not published for any drive: fit it to measured throughput after the write cliff.";
    }
}

section! {
    BandZone at "[[smr.band_zones]]" = "A region of bands of one size. Its last band may be shorter." {
        first_byte: u64 => "Start offset; it ends where the next one starts.";
        band_bytes: u64 => "Band size: 15 to 40 MB in published measurements.";
    }
}

words! {
    CleaningPolicy = "Idle cleaning policy (terms of the Skylight paper)." {
        Aggressive = "aggressive" => "Clean whenever idle, until the media cache is empty. The default.";
        Lazy = "lazy" => "Clean only above the high-water mark, down to the low-water mark.";
    }
}

words! {
    CleaningOrder = "Order of cleaning." {
        Fifo = "fifo" => "The band of the oldest cached extent. The cache is a ring: only space behind its oldest extent is reclaimed. The default.";
        RoundRobin = "round_robin" => "The next dirty band by offset. Space is reclaimed anywhere.";
        MostDirty = "most_dirty" => "The band with the most data in the media cache. Space is reclaimed anywhere.";
    }
}

impl SmrProfile {
    /// A media cache of that size and number of entries before bands of one size, all else by default.
    pub fn plain(media_cache_bytes: u64, map_entries: u64, band_bytes: u64) -> SmrProfile {
        let text = format!(
            "media_cache_bytes = {media_cache_bytes}\nmap_entries = {map_entries}\n\
             band_zones = [{{ first_byte = 0, band_bytes = {band_bytes} }}]"
        );
        toml::from_str(&text).expect("all other keys have a default")
    }

    pub fn check(&self, capacity_bytes: u64) -> Result<(), Flaw> {
        self.check_media_cache(capacity_bytes)?;
        self.check_bands(capacity_bytes)?;
        let smallest_band = self.band_zones.iter().map(|zone| zone.band_bytes).min().unwrap_or(0);
        if self.packet_bytes > smallest_band {
            let reason = format!("a packet is no larger than a band of {smallest_band} bytes");
            return Err(Flaw::new("packet_bytes", reason));
        }
        self.check_bounds()?;
        within("low_water_share", &self.low_water_share, 0.0, self.high_water_share)
    }

    /// Checks the section with the section `disk` and that capacity: the disk holds the media cache beside it.
    pub fn check_with(&self, disk: &DiskProfile, capacity: Bytes) -> Result<(), Flaw> {
        self.check(capacity.get()).in_section("smr")?;
        let (platter, on_platter) = disk_on_platter(capacity, disk, self);
        on_platter.check(platter).in_section("disk")
    }

    fn check_media_cache(&self, capacity_bytes: u64) -> Result<(), Flaw> {
        whole_slots("media_cache_bytes", self.media_cache_bytes)?;
        whole_slots("packet_bytes", self.packet_bytes)?;
        whole_slots("stream_threshold_bytes", self.stream_threshold_bytes)?;
        if capacity_bytes > CAPACITY_BYTES_MAX || !capacity_bytes.is_multiple_of(SLOT_BYTES) {
            let reason = format!(
                "a shingled disk holds whole blocks of 4096 bytes, and this one {capacity_bytes} bytes"
            );
            return Err(Flaw::new("", reason));
        }
        if self.media_cache_bytes > capacity_bytes {
            let reason = format!("the cache is larger than the drive, which holds {capacity_bytes} bytes");
            return Err(Flaw::new("media_cache_bytes", reason));
        }
        within("packet_bytes", &self.packet_bytes, 4096.0, 16_777_216.0)?;
        if self.media_cache_bytes < 16 * self.packet_bytes {
            return Err(Flaw::new("media_cache_bytes", "there is room for fewer than 16 packets"));
        }
        // A packet may touch as many extents as it has slots, and cut one more in two.
        let entries_min = self.packet_bytes / SLOT_BYTES + 2;
        within("map_entries", &self.map_entries, entries_min as f64, MAP_ENTRIES_MAX as f64)
    }

    fn check_bands(&self, capacity_bytes: u64) -> Result<(), Flaw> {
        if self.band_zones.first().is_none_or(|zone| zone.first_byte != 0) {
            return Err(Flaw::new("band_zones", "there is no first one that begins at byte 0"));
        }
        let mut bands = 0u64;
        for (index, zone) in self.band_zones.iter().enumerate() {
            let end = self.band_zones.get(index + 1).map_or(capacity_bytes, |next| next.first_byte);
            zone.check(end, capacity_bytes, &mut bands).in_section(&format!("band_zones.{index}"))?;
        }
        Ok(())
    }
}

impl BandZone {
    fn check(&self, end: u64, capacity_bytes: u64, bands: &mut u64) -> Result<(), Flaw> {
        whole_slots("band_bytes", self.band_bytes)?;
        Flaw::when(!self.first_byte.is_multiple_of(SLOT_BYTES), "first_byte", "is not a multiple of 4096")?;
        if end <= self.first_byte || end > capacity_bytes {
            let reason = format!("zones are in order and begin below the capacity of {capacity_bytes} bytes");
            return Err(Flaw::new("first_byte", reason));
        }
        *bands = bands.saturating_add((end - self.first_byte).div_ceil(self.band_bytes));
        if *bands > BANDS_MAX {
            let reason = format!("bands this small are more than {BANDS_MAX} on {capacity_bytes} bytes");
            return Err(Flaw::new("band_bytes", reason));
        }
        Ok(())
    }
}

/// What the platters hold, media cache and bands, and the disk that they are, its defects behind the cache.
pub fn disk_on_platter(capacity: Bytes, disk: &DiskProfile, smr: &SmrProfile) -> (Bytes, DiskProfile) {
    let mut on_platter = disk.clone();
    for defect in &mut on_platter.defects {
        defect.first_byte = defect.first_byte.saturating_add(smr.media_cache_bytes);
    }
    (capacity.saturating_add(Bytes::new(smr.media_cache_bytes)), on_platter)
}

fn whole_slots(key: &str, bytes: u64) -> Result<(), Flaw> {
    if bytes == 0 || !bytes.is_multiple_of(SLOT_BYTES) {
        return Err(Flaw::new(key, format!("{bytes} is not a positive multiple of {SLOT_BYTES}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: u64 = 2_000_000_000_000;

    fn flaw_of(change: impl FnOnce(&mut SmrProfile)) -> String {
        let mut profile = SmrProfile::plain(23_000_002_560, 250_000, 30_003_200);
        change(&mut profile);
        profile.check(CAPACITY).map_or_else(|flaw| flaw.to_string(), |()| "none".into())
    }

    #[test]
    fn what_cannot_be_is_named() {
        assert_eq!(flaw_of(|_| {}), "none");
        assert!(
            flaw_of(|profile| profile.media_cache_bytes = 5000).starts_with("media_cache_bytes: 5000 is not")
        );
        assert!(
            flaw_of(|profile| profile.media_cache_bytes = 4_096_000_000_000)
                .contains("larger than the drive")
        );
        assert!(
            flaw_of(|profile| profile.map_entries = 3).starts_with("map_entries: 3 is not between 34 and")
        );
        assert!(flaw_of(|profile| profile.band_zones.clear()).starts_with("band_zones: there is no first"));
        assert!(flaw_of(|profile| profile.band_zones[0].band_bytes = 131_072).contains("more than 4000000"));
        assert!(flaw_of(|profile| profile.journal_turns = f64::NAN).starts_with("journal_turns: NaN"));
        assert!(
            flaw_of(|profile| profile.low_water_share = 0.9)
                .starts_with("low_water_share: 0.9 is not between 0 and 0.8")
        );
        let second = |profile: &mut SmrProfile| {
            profile.band_zones.push(BandZone { first_byte: 4_096_000_000_000, band_bytes: 30_003_200 });
        };
        assert!(flaw_of(second).starts_with("band_zones.0.first_byte: zones are in order"));
        assert!(
            flaw_of(|profile| profile.packet_bytes = u64::MAX - 4095)
                .ends_with("is not between 4096 and 16777216")
        );
    }

    #[test]
    fn a_section_names_only_what_differs_from_the_defaults() {
        let text = "media_cache_bytes = 23000002560\nmap_entries = 250000\n\
                    band_zones = [{ first_byte = 0, band_bytes = 30003200 }]\n";
        let profile: SmrProfile = toml::from_str(text).unwrap();
        assert_eq!(profile, SmrProfile::plain(23_000_002_560, 250_000, 30_003_200));
        let with_policy = format!("{text}cleaning = \"lazy\"\ncleaning_order = \"round_robin\"\n");
        let profile: SmrProfile = toml::from_str(&with_policy).unwrap();
        assert_eq!(
            (profile.cleaning, profile.cleaning_order),
            (CleaningPolicy::Lazy, CleaningOrder::RoundRobin)
        );
        let error = toml::from_str::<SmrProfile>(&format!("{text}bands = 3\n")).unwrap_err();
        assert!(error.to_string().contains("unknown field `bands`"));
    }
}
