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
    SmrProfile at "[smr]" = "Drive-managed shingled recording. The data live in bands that are only written from their start on; other writes go to a media cache first, and are merged into their band when that is cleaned." {
        media_cache_bytes: u64 => "Size of the media cache. It lies at the outer diameter, before the first band, and is not part of the capacity.";
        map_entries: u64 => "Extents that the map of the media cache can list. The cache is full when either limit is reached.";
        packet_bytes: u64 = 131_072, in 4096..=16_777_216 => "What is appended to the media cache at once; several small writes share one.";
        journal_turns: f64 = 0.96, in 0..=10 => "Revolutions from the end of a packet's data until its entry of the map is on the journal and the arm is back where the next packet begins: almost one where the journal is a few tracks away.";
        band_zones: Vec<BandZone> => "Sizes of bands by offset, the first at 0.";
        stream_threshold_bytes: u64 = 8_388_608 => "Length of a contiguous run of writes from which on the drive takes it for a stream and writes it straight to the bands.";
        stream_count: u32 = 8, in 1..=1024 => "Sequential write streams that the drive follows.";
        cleaning: CleaningPolicy = CleaningPolicy::Aggressive => "When the drive cleans while it is idle.";
        cleaning_order: CleaningOrder = CleaningOrder::Fifo => "Which band is cleaned next.";
        idle_delay_seconds: f64 = 1.0, in 0..=3600 => "Idle time before cleaning begins.";
        resume_delay_seconds: f64 = 0.1, in 0..=3600 => "Once cleaning has begun, the pause between requests after which the next band is cleaned.";
        high_water_share: f64 = 0.8, in 0..=1 => "A lazy drive begins to clean in idle time when this share of the media cache is used, by bytes or by entries.";
        low_water_share: f64 = 0.5, in 0..=1 => "A lazy drive ends cleaning in idle time at this share.";
        clean_passes: u32 = 3, in 1..=10 => "How often the arm passes over a band that is cleaned: 2 reads it and writes it back, 3 writes it to a safe place in between.";
        clean_positionings: u32 = 3, in 0..=100 => "How often the arm is positioned anew while a band is cleaned.";
        // 0.6 to 1.6 s were seen for a band.
        clean_overhead_ms: f64 = 0.0, in 0..=60_000 => "What cleaning a band takes beyond arm and platter. No drive's is published: it calibrates a profile to a measured rate after the cliff.";
    }
}

section! {
    BandZone at "[[smr.band_zones]]" = "A region of bands of one size. The last band before the next region may be shorter." {
        first_byte: u64 => "Where it begins; it ends where the next begins.";
        band_bytes: u64 => "Size of its bands: 15 to 40 MB were seen.";
    }
}

words! {
    CleaningPolicy = "When a drive cleans while it is idle (the terms are Skylight's)." {
        Aggressive = "aggressive" => "As soon as it is idle, until the media cache is empty. The default.";
        Lazy = "lazy" => "Only when the media cache is fuller than the high-water mark, until it is down to the low-water mark.";
    }
}

words! {
    CleaningOrder = "Which band is cleaned next." {
        Fifo = "fifo" => "The band of the oldest entry of the media cache. The cache is a ring: room is won only behind the oldest that is still in it. The default.";
        RoundRobin = "round_robin" => "The next dirty band by offset. Room is won wherever something left.";
        MostDirty = "most_dirty" => "The band with the most data in the media cache. Room is won wherever something left.";
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

    /// Checks what can be checked without the disk under it, for a drive of that capacity.
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

    /// Checks the section together with the section `disk`, for a drive of that capacity: the disk holds the media
    /// cache beside the capacity.
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
        if !self.first_byte.is_multiple_of(SLOT_BYTES) {
            return Err(Flaw::new("first_byte", "is not a multiple of 4096"));
        }
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

/// What the platters hold, media cache and bands, and the disk that they are: its defects lie where they are on the
/// platters, behind the media cache.
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
