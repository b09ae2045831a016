//! Drawn drives: the same from the same seed, sound, within their ranges, and different from one another.

use super::*;
use crate::disk::profile::{DefectKind, DiskProfile, QueuePolicy, SeekProfile, TrackLayout};
use crate::flash::profile::{FlashProfile, Initial, WhenFull};
use crate::link::LinkKind;
use crate::profile::{open_profile, preset, preset_text};
use crate::smr::profile::{CleaningOrder, CleaningPolicy, SmrProfile};
use crate::truth::{Truth, truth_of};
use crate::volume::{ReadPolicy, VolumeKind};
use model::finding::FindingCode;
use model::prng::Prng;
use model::request::{Operation, Request, Tag};
use model::units::Instant;
use std::collections::BTreeSet;

/// So many drives of each family are looked at.
const SEEDS: u64 = 300;

fn drives(family: Family) -> Vec<Profile> {
    (0..SEEDS).map(|seed| random_profile(family, seed)).collect()
}

fn disks(family: Family) -> Vec<(u64, DiskProfile)> {
    let drawn = drives(family).into_iter();
    drawn.map(|profile| (profile.identity.capacity_bytes.unwrap(), profile.disk.unwrap())).collect()
}

fn flash_drives() -> Vec<(u64, FlashProfile)> {
    let drawn = drives(Family::Flash).into_iter();
    drawn.map(|profile| (profile.identity.capacity_bytes.unwrap(), profile.flash.unwrap())).collect()
}

fn mean_sectors(counts: &[u32]) -> f64 {
    counts.iter().map(|&count| f64::from(count)).sum::<f64>() / counts.len() as f64
}

/// How many of all are so: no fewer than one in twelve and no more than eleven in twelve.
fn some<T>(all: &[T], what: &str, is_so: impl Fn(&T) -> bool) {
    let count = all.iter().filter(|one| is_so(one)).count();
    assert!((all.len() / 12..=all.len() * 11 / 12).contains(&count), "{what}: {count} of {}", all.len());
}

#[test]
fn a_seed_is_a_drive() {
    for family in Family::ALL {
        let text = |seed| toml::to_string(&random_profile(family, seed)).unwrap();
        assert_eq!(text(17), text(17));
        let all: BTreeSet<String> = (0..SEEDS).map(text).collect();
        assert_eq!(all.len() as u64, SEEDS, "{family:?}");
        assert_eq!(random_profile(family, u64::MAX).check(), Ok(()));
    }
}

/// Who names a drive by its seed finds the same one later. If this fails, the ranges or their order have changed: say so
/// in the changelog.
#[test]
fn a_seed_stays_the_drive_it_was() {
    let described = Family::ALL.map(|family| random_profile(family, 17).description);
    assert_eq!(
        described,
        [
            "A random hard disk: 2.15 TB, 7200 rpm, 13 surfaces, layout FF",
            "A random SMR disk: 3.39 TB, 5400 rpm, 27 GB of media cache, aggressive cleaning",
            "A random flash drive: 2.00 TB, 3 bits a cell, 64 dies, up to 255 GB of SLC cache",
            "A random RAID 0: 3 of 970-pro, chunks of 16 KiB",
            "A random target without a mechanism: 157 GB, 729.7 µs",
            "A random cloud volume: 173 GB, 41860 requests of credit, then 107.6 per second",
            "A random disk behind a write cache: 2.10 TB, 1 GB of cache",
            "A random hard disk that reads on arrival: 9.95 TB",
            "A random flash drive: 2.00 TB, 3 bits a cell, 16 dies, up to 88 GB of SLC cache, 835 GB of it discarded",
        ]
    );
}

#[test]
fn every_drive_is_sound_and_reads_back_as_it_was_written() {
    for family in Family::ALL {
        for profile in drives(family) {
            assert_eq!(profile.check(), Ok(()), "{}", profile.name);
            let text = toml::to_string(&profile).unwrap();
            assert_eq!(Profile::parse(&text, "drawn.toml").unwrap(), profile);
            assert!(profile.sources[0].contains("generator of drivescope"), "{:?}", profile.sources);
        }
    }
}

/// The maps of flash drives take their time, so fewer of those are opened.
#[test]
fn every_drive_opens_with_what_it_says_it_holds() {
    for family in Family::ALL {
        let count = if matches!(family, Family::HardDisk | Family::Shingled) { SEEDS } else { 80 };
        for profile in (0..count).map(|seed| random_profile(family, seed)) {
            let drive = open_profile(&profile, "sim:drawn", 1).unwrap();
            assert_eq!(drive.facts().capacity, profile.capacity().unwrap(), "{}", profile.name);
        }
    }
}

#[test]
fn a_drive_opens_by_its_name_and_by_no_other() {
    for family in Family::ALL {
        let name = random_name(family, 17);
        assert_eq!(preset(&name), Ok(random_profile(family, 17)));
        let text = preset_text(&name).unwrap();
        assert_eq!(Profile::parse(&text, "shown.toml"), Ok(random_profile(family, 17)));
    }
    assert_eq!(random_name(Family::HardDisk, 17), "random-hard-disk-17");
    assert!(preset("random-flash-18446744073709551615").is_ok());
    for name in ["random-flash", "random-flash-", "random-flash-+1", "random-flash-01", "random-tape-1"] {
        assert!(preset(name).is_err(), "{name}");
        assert!(preset_text(name).is_err(), "{name}");
    }
    assert!(preset("random-flash-18446744073709551616").is_err());
}

/// What a disk shows, and the media cache before it, is all that its zones hold.
#[test]
fn capacities_add_up() {
    for family in [Family::HardDisk, Family::Shingled] {
        for profile in drives(family) {
            let disk = profile.disk.as_ref().unwrap();
            let tracks = disk.geometry.zones.iter();
            let sectors: u64 = tracks
                .map(|zone| {
                    zone.cylinders * zone.sectors_per_track.iter().map(|&count| u64::from(count)).sum::<u64>()
                })
                .sum();
            let hidden = profile.smr.as_ref().map_or(0, |smr| smr.media_cache_bytes);
            let shown = profile.identity.capacity_bytes.unwrap();
            assert_eq!(shown + hidden, sectors * disk.geometry.sector_bytes, "{}", profile.name);
        }
    }
    // The makers' agreement: 1,953,525,168 sectors are 1 TB, 976,773,168 are 500 GB.
    let sizes: BTreeSet<u64> = flash_drives().iter().map(|(bytes, _)| bytes / 512).collect();
    assert!(sizes.contains(&1_953_525_168) && sizes.contains(&976_773_168), "{sizes:?}");
    assert!(*sizes.first().unwrap() >= 64_000_000_000 / 512);
    assert!(*sizes.last().unwrap() <= 4_000_800_000_000 / 512);
}

#[test]
fn geometries_are_those_of_disks() {
    for family in [Family::HardDisk, Family::Shingled] {
        for (bytes, disk) in disks(family) {
            let geometry = &disk.geometry;
            let means: Vec<f64> =
                geometry.zones.iter().map(|zone| mean_sectors(&zone.sectors_per_track)).collect();
            let ratio = means[0] / means[means.len() - 1];
            let nominal = if disk.turns_per_minute > 9000.0 { 1.7..=1.75 } else { 2.0..=2.25 };
            assert!(nominal.contains(&(ratio * 1.01)) || nominal.contains(&(ratio * 0.99)), "{ratio}");
            assert!(means.windows(2).all(|pair| pair[0] > pair[1] - 1.0), "rates fall inwards: {means:?}");
            assert!((15..=60).contains(&means.len()));
            assert!((2..=20).contains(&geometry.surfaces));
            assert!((80_000_000_000..=24_300_000_000_000).contains(&bytes), "{bytes}");
            assert!((0.06..=0.36).contains(&geometry.track_skew_turns));
            let faults = [5400.0, 5900.0, 7200.0, 10_000.0, 15_000.0]
                .map(|nominal| (disk.turns_per_minute / nominal - 1.0).abs());
            assert!(faults.iter().any(|&fault| fault < 0.003_02), "{}", disk.turns_per_minute);
            let counts = &geometry.zones[0].sectors_per_track;
            let (low, high) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(f64::from(*high) / f64::from(*low) < 1.075, "surfaces differ by 6 %: {counts:?}");
        }
    }
}

/// Of Wong's disks, WD's model and the makers': 30 to 70 MB/s at 40 to 80 GB to a surface, 130 to 290 at 160 to 1200.
#[test]
fn outer_rates_are_those_of_their_density() {
    for family in [Family::HardDisk, Family::Shingled] {
        for (bytes, disk) in disks(family) {
            let gb_per_surface = bytes as f64 / 1e9 / f64::from(disk.geometry.surfaces);
            let track = mean_sectors(&disk.geometry.zones[0].sectors_per_track);
            let per_turn = track * disk.geometry.sector_bytes as f64 / (1.0 + disk.geometry.track_skew_turns);
            let rate = per_turn * disk.turns_per_minute / 60.0 / 1e6;
            let at_7200 = rate * 7200.0 / disk.turns_per_minute;
            let (low, high) = match gb_per_surface {
                gb if gb < 100.0 => (40.0, 135.0),
                gb if gb < 400.0 => (70.0, 240.0),
                _ => (130.0, 390.0),
            };
            assert!((low..high).contains(&at_7200), "{at_7200} MB/s at {gb_per_surface} GB to a surface");
        }
    }
}

#[test]
fn seeks_are_those_of_disks() {
    let value = |truths: &[Truth], code| {
        truths.iter().find(|truth| truth.code == code).and_then(Truth::value).unwrap()
    };
    for profile in drives(Family::HardDisk) {
        let truths = truth_of(&profile).unwrap();
        let full_s = value(&truths, FindingCode::SeekFullStroke);
        let share = value(&truths, FindingCode::SeekAverage) / full_s;
        assert!((0.475..0.575).contains(&share), "{}: {share} of {full_s} s", profile.name);
        assert!((0.0053..0.0266).contains(&full_s), "{}: {full_s} s", profile.name);
        let first_s = value(&truths, FindingCode::SeekTrackToTrack);
        let disk = profile.disk.unwrap();
        let skew_s = disk.geometry.track_skew_turns * disk.turn_s();
        assert!((0.0002..0.00201).contains(&first_s) && first_s < skew_s, "{first_s} s within {skew_s} s");
    }
}

#[test]
fn hard_disks_differ() {
    let all = disks(Family::HardDisk);
    for layout in
        [TrackLayout::F, TrackLayout::A, TrackLayout::FF, TrackLayout::AF, TrackLayout::AA, TrackLayout::FA]
    {
        let count = all.iter().filter(|(_, disk)| disk.geometry.layout == layout).count();
        assert!((3..150).contains(&count), "{layout:?}: {count}");
    }
    for nominal in [5400.0, 5900.0, 7200.0, 10_000.0, 15_000.0] {
        let count =
            all.iter().filter(|(_, disk)| (disk.turns_per_minute / nominal - 1.0).abs() < 0.004).count();
        assert!((6..200).contains(&count), "{nominal}: {count}");
    }
    some(&all, "long sectors", |(_, disk)| disk.geometry.sector_bytes == 4096);
    some(&all, "half turns", |(_, disk)| disk.geometry.surface_skew_turns == Some(0.5));
    some(&all, "tables", |(_, disk)| matches!(disk.seek, SeekProfile::Table { .. }));
    some(&all, "data sheets", |(_, disk)| matches!(disk.seek, SeekProfile::DataSheet { .. }));
    some(&all, "ageing", |(_, disk)| disk.queue.policy == QueuePolicy::Aged);
    some(&all, "standby", |(_, disk)| disk.standby.is_some());
    some(&all, "defects", |(_, disk)| !disk.defects.is_empty());
    some(&all, "unreadable", |(_, disk)| disk.defects.iter().any(|one| one.kind == DefectKind::Unreadable));
    some(&all, "reading on in part", |(_, disk)| disk.read_ahead.ahead_kib.is_some());
    some(&all, "terabytes", |(bytes, _)| *bytes > 1_000_000_000_000);
    let links: Vec<LinkKind> =
        drives(Family::HardDisk).iter().filter_map(|profile| profile.link.as_ref()?.kind).collect();
    for kind in [LinkKind::Usb2BulkOnly, LinkKind::Usb3AttachedScsi, LinkKind::Sata150, LinkKind::Sas12] {
        assert!(links.contains(&kind), "{kind:?}");
    }
    let caches: BTreeSet<u64> = all.iter().map(|(_, disk)| disk.read_ahead.cache_bytes() >> 20).collect();
    assert!(caches.len() > 10, "{caches:?}");
}

#[test]
fn shingled_disks_are_within_what_was_seen_and_differ() {
    let all: Vec<SmrProfile> =
        drives(Family::Shingled).into_iter().filter_map(|profile| profile.smr).collect();
    for smr in &all {
        assert!((10_000_000_000..=60_000_000_000).contains(&(smr.media_cache_bytes / 4096 * 4096)));
        assert!((100_000..=400_000).contains(&smr.map_entries));
        assert!(smr.band_zones.iter().all(|zone| (14_999_552..=40_001_536).contains(&zone.band_bytes)));
        assert!(smr.low_water_share < smr.high_water_share);
    }
    some(&all, "lazy", |smr| smr.cleaning == CleaningPolicy::Lazy);
    for order in [CleaningOrder::Fifo, CleaningOrder::RoundRobin, CleaningOrder::MostDirty] {
        some(&all, "order", |smr| smr.cleaning_order == order);
    }
    some(&all, "bands of one size", |smr| smr.band_zones.len() == 1);
    some(&all, "more than 25 GB", |smr| smr.media_cache_bytes > 25_000_000_000);
    some(&drives(Family::Shingled), "TRIM", |profile| profile.identity.trim == Some(true));
}

#[test]
fn flash_drives_are_within_what_was_seen_and_differ() {
    let all = flash_drives();
    for (bytes, flash) in &all {
        assert!((0.05..=0.30).contains(&flash.over_provisioning));
        let die_gb = *bytes as f64 / 1e9 / f64::from(flash.dies());
        assert!((4.0..=130.0).contains(&die_gb), "{die_gb} GB on a die");
        if let Some(slc) = &flash.slc {
            assert!(slc.static_bytes as f64 <= 0.05 * *bytes as f64);
            assert!(slc.dynamic_bytes_max <= bytes / u64::from(slc.bits));
            assert!(flash.slc_write_rate().unwrap() >= flash.dense_write_rate() * 0.999);
        }
    }
    let slc = |is_so: fn(u64, u64) -> bool| {
        move |(_, flash): &(u64, FlashProfile)| {
            flash.slc.as_ref().is_some_and(|slc| is_so(slc.static_bytes, slc.dynamic_bytes_max))
        }
    };
    some(&all, "no SLC cache", |(_, flash)| flash.slc.is_none());
    some(&all, "a static one", slc(|fixed, dynamic| fixed > 0 && dynamic == 0));
    some(&all, "a dynamic one", slc(|fixed, dynamic| fixed == 0 && dynamic > 0));
    some(&all, "both", slc(|fixed, dynamic| fixed > 0 && dynamic > 0));
    some(&all, "folding when full", |(_, flash)| {
        flash.slc.as_ref().is_some_and(|slc| slc.when_full == WhenFull::Fold)
    });
    some(&all, "filled", |(_, flash)| flash.initial == Initial::Filled);
    some(&all, "heat", |(_, flash)| flash.thermal.is_some());
    some(&all, "map flushes", |(_, flash)| flash.map_flush.is_some());
    some(&all, "sleep", |(_, flash)| !flash.power_states.is_empty());
    let valleys = all.iter().filter(|(_, flash)| flash.housekeeping.is_some()).count();
    assert!((8..60).contains(&valleys), "{valleys} with valleys");
    // A cache is worth looking for where the link does not hide it.
    let cliffs = drives(Family::Flash)
        .iter()
        .filter(|profile| {
            let truths = truth_of(profile).unwrap();
            truths.iter().any(|truth| truth.code == FindingCode::WriteCliff && truth.value().is_some())
        })
        .count();
    assert!((75..250).contains(&cliffs), "{cliffs} with a cliff that can be seen");
}

#[test]
fn volumes_differ() {
    let all: Vec<_> = drives(Family::Volume).into_iter().filter_map(|profile| profile.volume).collect();
    for volume in &all {
        let count = volume.members[0].count;
        let counts = if volume.kind == VolumeKind::Stripe { 2..=8 } else { 2..=3 };
        assert!(counts.contains(&count), "{count}");
        assert!((16..=1024).contains(&volume.chunk_kib()) && volume.chunk_kib().is_power_of_two());
    }
    some(&all, "mirrors", |volume| volume.kind == VolumeKind::Mirror);
    some(&all, "drawn members", |volume| volume.members[0].profile.starts_with("random-"));
    some(&all, "chunks of 64 KiB", |volume| volume.chunk_kib() == 64);
    some(&all, "turns", |volume| volume.read_policy() == ReadPolicy::RoundRobin);
}

/// Asks a drive of 2000 things, up to eight at a time: here and there and in order, reads and writes, pauses between.
fn ask(profile: &Profile, seed: u64) {
    const REQUESTS: u32 = 2000;
    let mut drive = open_profile(profile, "sim:drawn", seed).unwrap();
    let capacity = drive.facts().capacity.get();
    let mut prng = Prng::new(seed, 1);
    let (mut now, mut under_way, mut asked, mut next_byte) = (0, BTreeSet::new(), 0, 0);
    let mut last_ns = 0;
    while asked < REQUESTS || !under_way.is_empty() {
        let depth = 1 + prng.below(8) as usize;
        while asked < REQUESTS && under_way.len() < depth {
            let length_bytes = 4096 << prng.below(8);
            let operation = match prng.below(20) {
                0 => Operation::Flush,
                1..=9 => Operation::Write,
                _ => Operation::Read,
            };
            let offset_bytes =
                if prng.below(2) == 0 { next_byte } else { prng.below(capacity / 4096) * 4096 };
            let offset_bytes = offset_bytes.min(capacity / 4096 * 4096 - u64::from(length_bytes));
            next_byte = offset_bytes + u64::from(length_bytes);
            drive.submit(
                Request { tag: Tag(asked), operation, offset_bytes, length_bytes },
                Instant::new(now),
            );
            assert!(under_way.insert(asked));
            asked += 1;
        }
        let moment = drive.next_completion_at().expect("something is under way");
        assert!(moment.get() < u64::MAX / 2, "{}: an answer that does not come", profile.name);
        now = now.max(moment.get());
        while let Some(done) = drive.take_completion(Instant::new(now)) {
            assert!(under_way.remove(&done.tag.0), "{}: {done:?} was not asked", profile.name);
            assert!(done.completed_ns >= last_ns && done.completed_ns <= now, "{}: {done:?}", profile.name);
            last_ns = done.completed_ns;
            if prng.below(50) == 0 {
                now += prng.below(5_000_000_000);
            }
        }
    }
    assert_eq!(drive.next_completion_at(), None, "{}", profile.name);
}

#[test]
fn every_request_is_answered_once_and_in_order_of_time() {
    for family in Family::ALL {
        for seed in 0..40 {
            ask(&random_profile(family, seed), seed);
        }
    }
}
