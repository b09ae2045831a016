//! What makes a disk a drive-managed SMR disk: the section `smr` of a profile, beside its section `disk`.

use crate::disk::profile::DiskProfile;
use crate::flaw::Flaw;
use model::units::{Bytes, MIB};
use serde::{Deserialize, Serialize};

/// The media cache's map counts in blocks of this size, and so do bands.
pub const SLOT_BYTES: u64 = 4096;

/// More entries than any controller's memory holds; it bounds what the model itself needs.
const MAP_ENTRIES_MAX: u64 = 16_000_000;
/// A petabyte: far from where sums of bytes end.
const CAPACITY_BYTES_MAX: u64 = 1_000_000_000_000_000;
/// Bounds what the model keeps for each band.
const BANDS_MAX: u64 = 4_000_000;
/// A band that takes longer than this to clean is none that was ever seen (0.6 to 1.6 s).
const CLEAN_OVERHEAD_MS_MAX: f64 = 60_000.0;
/// An hour.
const IDLE_SECONDS_MAX: f64 = 3600.0;

/// Drive-managed shingled recording. The data live in bands that are only written from their start on; whatever else
/// is written goes to a media cache first, and is merged into its band when that is cleaned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmrProfile {
    /// What the media cache holds. It lies at the outer edge, before the first band, and is not part of the capacity.
    pub media_cache_bytes: u64,
    /// How many stretches the map of the media cache can list. The cache is full when either limit is reached.
    pub map_entries: u64,
    /// What is appended to the media cache at once; several small writes share one. Default 128 KiB.
    #[serde(default = "default_packet_bytes")]
    pub packet_bytes: u64,
    /// Turns of the platter from the end of a packet's data until its entry of the map is on the journal and the arm is
    /// back where the next packet begins: almost one where the journal is a few tracks away. Default 0.96.
    #[serde(default = "default_journal_turns")]
    pub journal_turns: f64,
    /// Sizes of bands by position, the first at 0.
    pub band_zones: Vec<BandZone>,
    /// How long a contiguous run of writes must be before the drive takes it for a stream and writes it straight to the
    /// bands. Default 8 MiB.
    #[serde(default = "default_stream_threshold_bytes")]
    pub stream_threshold_bytes: u64,
    /// How many runs of writes the drive follows at a time. Default 8.
    #[serde(default = "default_stream_count")]
    pub stream_count: u32,
    /// When the drive cleans while nobody asks it for anything. Default aggressive.
    #[serde(default)]
    pub cleaning: CleaningPolicy,
    /// Which band is cleaned next. Default FIFO.
    #[serde(default)]
    pub cleaning_order: CleaningOrder,
    /// How long nobody must have asked for anything before cleaning begins. Default 1 s.
    #[serde(default = "default_idle_delay_seconds")]
    pub idle_delay_seconds: f64,
    /// Once cleaning has begun, how long a pause between requests must be for the next band to be cleaned in it.
    /// Default 0.1 s.
    #[serde(default = "default_resume_delay_seconds")]
    pub resume_delay_seconds: f64,
    /// A lazy drive begins to clean in idle time when this share of the media cache is used, by bytes or by entries.
    /// Default 0.8.
    #[serde(default = "default_high_water_share")]
    pub high_water_share: f64,
    /// A lazy drive ends cleaning in idle time at this share. Default 0.5.
    #[serde(default = "default_low_water_share")]
    pub low_water_share: f64,
    /// How often the arm passes over a band that is cleaned: 2 reads it and writes it back, 3 writes it to a safe place
    /// in between. Default 3.
    #[serde(default = "default_clean_passes")]
    pub clean_passes: u32,
    /// How often the arm is positioned anew while a band is cleaned. Default 3.
    #[serde(default = "default_clean_positionings")]
    pub clean_positionings: u32,
    /// What cleaning a band takes beyond arm and platter. No drive's is published: it is how a profile is calibrated to
    /// a measured rate after the cliff. Default 0 ms.
    #[serde(default)]
    pub clean_overhead_ms: f64,
}

/// A stretch of the capacity with bands of one size. The last band before the next stretch may be shorter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BandZone {
    /// Where it begins; it ends where the next begins.
    pub first_byte: u64,
    /// The size of its bands: 15 to 40 MB were seen.
    pub band_bytes: u64,
}

/// When a drive cleans while nobody asks it for anything (the terms are Skylight's).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CleaningPolicy {
    /// As soon as it is idle, until the media cache is empty.
    #[default]
    Aggressive,
    /// Only when the media cache is fuller than the high-water mark, until it is down to the low-water mark.
    Lazy,
}

/// Which band is cleaned next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CleaningOrder {
    /// The band of what has been in the media cache longest. The cache is a ring: room is won only behind the oldest
    /// that is still in it.
    #[default]
    Fifo,
    /// The next dirty band by position. Room is won wherever something left.
    RoundRobin,
    /// The band of which most is in the media cache. Room is won wherever something left.
    MostDirty,
}

fn default_packet_bytes() -> u64 {
    128 << 10
}
fn default_journal_turns() -> f64 {
    0.96
}
fn default_stream_threshold_bytes() -> u64 {
    8 * MIB
}
fn default_stream_count() -> u32 {
    8
}
fn default_idle_delay_seconds() -> f64 {
    1.0
}
fn default_resume_delay_seconds() -> f64 {
    0.1
}
fn default_high_water_share() -> f64 {
    0.8
}
fn default_low_water_share() -> f64 {
    0.5
}
fn default_clean_passes() -> u32 {
    3
}
fn default_clean_positionings() -> u32 {
    3
}

impl SmrProfile {
    /// A media cache of that size and number of entries before bands of one size, all else by default.
    pub fn plain(media_cache_bytes: u64, map_entries: u64, band_bytes: u64) -> SmrProfile {
        SmrProfile {
            media_cache_bytes,
            map_entries,
            packet_bytes: default_packet_bytes(),
            journal_turns: default_journal_turns(),
            band_zones: vec![BandZone { first_byte: 0, band_bytes }],
            stream_threshold_bytes: default_stream_threshold_bytes(),
            stream_count: default_stream_count(),
            cleaning: CleaningPolicy::default(),
            cleaning_order: CleaningOrder::default(),
            idle_delay_seconds: default_idle_delay_seconds(),
            resume_delay_seconds: default_resume_delay_seconds(),
            high_water_share: default_high_water_share(),
            low_water_share: default_low_water_share(),
            clean_passes: default_clean_passes(),
            clean_positionings: default_clean_positionings(),
            clean_overhead_ms: 0.0,
        }
    }

    /// Checks what can be checked without the disk under it, for a drive of that capacity.
    ///
    /// # Errors
    /// The first key that cannot be as it is, and why.
    pub fn check(&self, capacity_bytes: u64) -> Result<(), Flaw> {
        self.check_media_cache(capacity_bytes)?;
        self.check_bands(capacity_bytes)?;
        let smallest_band = self.band_zones.iter().map(|zone| zone.band_bytes).min().unwrap_or(0);
        if self.packet_bytes > smallest_band {
            return Err(Flaw::new(
                "packet_bytes",
                format!("a packet is no larger than a band of {smallest_band} bytes"),
            ));
        }
        within("stream_count", f64::from(self.stream_count), 1.0, 1024.0)?;
        within("clean_passes", f64::from(self.clean_passes), 1.0, 10.0)?;
        within("clean_positionings", f64::from(self.clean_positionings), 0.0, 100.0)?;
        within("clean_overhead_ms", self.clean_overhead_ms, 0.0, CLEAN_OVERHEAD_MS_MAX)?;
        within("journal_turns", self.journal_turns, 0.0, 10.0)?;
        within("idle_delay_seconds", self.idle_delay_seconds, 0.0, IDLE_SECONDS_MAX)?;
        within("resume_delay_seconds", self.resume_delay_seconds, 0.0, IDLE_SECONDS_MAX)?;
        within("high_water_share", self.high_water_share, 0.0, 1.0)?;
        within("low_water_share", self.low_water_share, 0.0, self.high_water_share)
    }

    /// Checks the section together with the section `disk`, for a drive of that capacity: the disk holds the media
    /// cache beside the capacity.
    ///
    /// # Errors
    /// The first key that cannot be as it is, within its section, and why.
    pub fn check_with(&self, disk: &DiskProfile, capacity: Bytes) -> Result<(), Flaw> {
        self.check(capacity.0).map_err(|flaw| flaw.within("smr"))?;
        let (platter, on_platter) = disk_on_platter(capacity, disk, self);
        on_platter.check(platter).map_err(|flaw| flaw.within("disk"))
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
        if self.packet_bytes > 16 * MIB {
            return Err(Flaw::new("packet_bytes", "no drive appends more than 16 MiB at once"));
        }
        if self.media_cache_bytes < 16 * self.packet_bytes {
            return Err(Flaw::new("media_cache_bytes", "there is room for fewer than 16 packets"));
        }
        // A packet may touch as many stretches as it has slots, and cut one more in two.
        let entries_min = self.packet_bytes / SLOT_BYTES + 2;
        within("map_entries", self.map_entries as f64, entries_min as f64, MAP_ENTRIES_MAX as f64)
    }

    fn check_bands(&self, capacity_bytes: u64) -> Result<(), Flaw> {
        if self.band_zones.first().is_none_or(|zone| zone.first_byte != 0) {
            return Err(Flaw::new("band_zones", "there is no first one that begins at byte 0"));
        }
        let mut bands = 0u64;
        for (index, zone) in self.band_zones.iter().enumerate() {
            let key = |name: &str| format!("band_zones.{index}.{name}");
            whole_slots(&key("band_bytes"), zone.band_bytes)?;
            if !zone.first_byte.is_multiple_of(SLOT_BYTES) {
                return Err(Flaw::new(key("first_byte"), "is not a multiple of 4096"));
            }
            let end = self.band_zones.get(index + 1).map_or(capacity_bytes, |next| next.first_byte);
            if end <= zone.first_byte || end > capacity_bytes {
                let reason =
                    format!("zones are in order and begin below the capacity of {capacity_bytes} bytes");
                return Err(Flaw::new(key("first_byte"), reason));
            }
            bands = bands.saturating_add((end - zone.first_byte).div_ceil(zone.band_bytes));
            if bands > BANDS_MAX {
                let reason = format!("bands this small are more than {BANDS_MAX} on {capacity_bytes} bytes");
                return Err(Flaw::new(key("band_bytes"), reason));
            }
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
    (Bytes(capacity.0.saturating_add(smr.media_cache_bytes)), on_platter)
}

fn whole_slots(key: &str, bytes: u64) -> Result<(), Flaw> {
    if bytes == 0 || !bytes.is_multiple_of(SLOT_BYTES) {
        return Err(Flaw::new(key, format!("{bytes} is not a positive multiple of {SLOT_BYTES}")));
    }
    Ok(())
}

fn within(key: &str, value: f64, low: f64, high: f64) -> Result<(), Flaw> {
    if !(low..=high).contains(&value) {
        return Err(Flaw::new(key, format!("{value} is not in {low} to {high}")));
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
        assert!(flaw_of(|profile| profile.map_entries = 3).starts_with("map_entries: 3 is not in 34 to"));
        assert!(flaw_of(|profile| profile.band_zones.clear()).starts_with("band_zones: there is no first"));
        assert!(flaw_of(|profile| profile.band_zones[0].band_bytes = 131_072).contains("more than 4000000"));
        assert!(flaw_of(|profile| profile.journal_turns = f64::NAN).starts_with("journal_turns: NaN"));
        assert!(
            flaw_of(|profile| profile.low_water_share = 0.9)
                .starts_with("low_water_share: 0.9 is not in 0 to 0.8")
        );
        let second = |profile: &mut SmrProfile| {
            profile.band_zones.push(BandZone { first_byte: 4_096_000_000_000, band_bytes: 30_003_200 });
        };
        assert!(flaw_of(second).starts_with("band_zones.0.first_byte: zones are in order"));
        assert!(
            flaw_of(|profile| profile.packet_bytes = u64::MAX - 4095).starts_with("packet_bytes: no drive")
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
