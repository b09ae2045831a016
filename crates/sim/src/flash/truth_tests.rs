//! The closed forms against literals.

use crate::flash::drive::FlashDrive;
use crate::flash::profile::FlashProfile;
use crate::flash::truth::WriteLevel;
use crate::profile::plain_facts;
use model::units::Bytes;

const GB: u64 = 1_000_000_000;

fn profile(text: &str) -> FlashProfile {
    toml::from_str(text).unwrap()
}

/// 4 channels × 4 dies, 1 MiB at once.
const PLAIN: &str = "channels = 4\ndies_per_channel = 4\nplanes = 4\npage_kib = 16\npages_per_block = 256\n\
    over_provisioning = 0.1\nread_us = 50\nprogram_us = 400\nerase_us = 0\nchannel_mb_per_s = 2000\n\
    read_overhead_us = 20\ncommand_us = 1\n";

#[test]
fn a_single_read_by_hand() {
    // 1 + 20 + 50 µs and 4096 B at 2 GB/s: 2.05 µs.
    assert!((profile(PLAIN).access_s(4096) - 73.05e-6).abs() < 0.01e-6);
    assert!((profile(PLAIN).random_read_iops(1, 4096) * 73.05e-6 - 1.0).abs() < 0.01);
    // 1 µs a command.
    assert!(profile(PLAIN).random_read_iops(1024, 4096) <= 1e6);
}

#[test]
fn less_of_the_drive_is_faster() {
    let profile = profile(PLAIN);
    let whole = profile.write_amplification(Bytes::new(100 * GB), 1.0);
    // The limit for 10 % is 5.68; 256 MiB superblocks keep two of 410 from being of use.
    assert!((5.6..6.2).contains(&whole), "{whole}");
    // 120 GB used as 40 (article D): OP' = 1.1 · 3 − 1 = 2.3.
    let third = profile.write_amplification(Bytes::new(100 * GB), 1.0 / 3.0);
    assert!((third - 1.045).abs() < 0.01, "{third}");
    let effect = profile.clipping_effect(Bytes::new(100 * GB), 1.0 / 3.0);
    assert!((effect - whole / third).abs() < 1e-9);
    assert!((profile.write_amplification_limit(1.0) - 5.68).abs() < 0.01);
}

#[test]
fn the_cache_that_takes_all_free_space_has_two_levels() {
    // A T500 of 2 TB: 4 GB/s to 700 GB, then 500 MB/s.
    let slc = "[slc]\nbits = 3\ndynamic_bytes_max = 2_000_000_000_000\nprogram_us = 262\nwhen_full = \"fold\"\n\
        fold_mb_per_s = 860\n";
    let levels = profile(&format!("{PLAIN}{slc}")).write_levels(Bytes::new(2000 * GB), f64::INFINITY);
    assert!((levels[0].bytes_per_second / 4e9 - 1.0).abs() < 0.01);
    assert!((levels[1].from_bytes - 666.7e9).abs() < 1e9, "{levels:?}");
    assert!((levels[1].bytes_per_second / 500e6 - 1.0).abs() < 0.02, "{levels:?}");
    assert_eq!(levels.len(), 2, "{levels:?}");
}

/// Without rewriting half of the drive holds one bit a cell where two would fit. At random e^(−u) = u of the drive is written then,
/// since what is written again needs no more space: u = 0.5671.
#[test]
fn random_writes_fill_free_space_later() {
    let slc = "[slc]\nbits = 2\ndynamic_bytes_max = 100_000_000_000\nprogram_us = 262\nfold_mb_per_s = 860\n";
    let profile = profile(&format!("{PLAIN}{slc}"));
    let from = |levels: Vec<WriteLevel>| levels[1].from_bytes / 1e9;
    assert!((from(profile.write_levels(Bytes::new(100 * GB), f64::INFINITY)) - 50.0).abs() < 1e-6);
    let levels = profile.random_write_levels(Bytes::new(100 * GB), f64::INFINITY);
    // 2.62 GB/s, and 0.5671 of a byte folded at 860 MB/s for each: 1 / (0.3815 + 0.6595) GB/s.
    assert!((levels[1].bytes_per_second / 960.7e6 - 1.0).abs() < 1e-3, "{levels:?}");
    assert!((from(levels) - 56.7143).abs() < 1e-3);
    // Where the cache is full long before the space is, both are the same.
    let small = &slc.replace("100_000_000_000", "5_000_000_000");
    let profile = self::profile(&format!("{PLAIN}{small}"));
    assert!((from(profile.random_write_levels(Bytes::new(100 * GB), f64::INFINITY)) - 5.0).abs() < 1e-6);
}

/// 100 MiB take 40 ms at 2.62 GB/s, and then it stands still for 20 ms.
#[test]
fn stalls_of_the_table_count_into_rates() {
    let flush = "[map_flush]\nevery_mib = 100\nstall_ms = 20\n";
    let rate = |buffer: &str, limit: f64| {
        let profile = profile(&format!("{PLAIN}{buffer}{flush}"));
        profile.random_write_levels(Bytes::new(100 * GB), limit)[0].bytes_per_second / 1e6
    };
    assert!((rate("", f64::INFINITY) - 1747.6).abs() < 0.1);
    // A host that sends 1 GB/s needs 104.86 ms, and waits 20 ms or, with 16 MiB before the flash, 3.22 ms.
    assert!((rate("", 1e9) - 839.8).abs() < 0.1);
    assert!((rate("[buffer]\ncapacity_kib = 16384\ncopy_mb_per_s = 5000\n", 1e9) - 970.2).abs() < 0.1);
    assert!((rate("[buffer]\ncapacity_kib = 65536\ncopy_mb_per_s = 5000\n", 1e9) - 1000.0).abs() < 0.1);
}

/// A buffer of 64 MiB that keeps what it holds without power: 24 GB at 1 GB/s, which the host sends, and then 0.4 GB/s. It fills at
/// 0.6 GB/s, while 111.8 MB come.
#[test]
fn a_buffer_that_is_not_flushed_hides_a_fall_until_it_is_full() {
    let slc = "[slc]\nbits = 3\nstatic_bytes = 24_000_000_000\nprogram_us = 100\nwhen_full = \"fold\"\nfold_mb_per_s = 421\n";
    let from = |protected: bool| {
        let flush = if protected { "protected" } else { "honoured" };
        let buffer = format!("[buffer]\ncapacity_kib = 65536\nflush = \"{flush}\"\n");
        let levels = profile(&format!("{PLAIN}{slc}{buffer}")).random_write_levels(Bytes::new(500 * GB), 1e9);
        assert!((levels[1].bytes_per_second / 0.4e9 - 1.0).abs() < 1e-3, "{levels:?}");
        levels[1].from_bytes
    };
    assert_eq!(from(false), 24e9);
    assert!((from(true) - 24.1118e9).abs() < 0.2e6, "{}", from(true));
}

#[test]
fn a_slow_link_hides_levels() {
    let slc = "[slc]\nbits = 3\nstatic_bytes = 24_000_000_000\nprogram_us = 500\nfold_mb_per_s = 400\n";
    let profile = profile(&format!("{PLAIN}{slc}"));
    assert_eq!(profile.write_levels(Bytes::new(500 * GB), 300e6).len(), 1);
    assert_eq!(profile.write_levels(Bytes::new(500 * GB), f64::INFINITY)[1].from_bytes, 24e9);
}

/// What cannot be is refused, by key.
#[test]
fn flaws_are_named() {
    let flaw = |text: &str, capacity: u64| {
        let facts = plain_facts("sim:flash", Bytes::new(capacity));
        FlashDrive::new(facts, &profile(text), 1).err().map(|flaw| flaw.key).unwrap_or_default()
    };
    assert_eq!(flaw(PLAIN, 100 * GB), "");
    assert_eq!(flaw(&PLAIN.replace("channels = 4", "channels = 0"), 100 * GB), "channels");
    assert_eq!(flaw(&PLAIN.replace("read_us = 50", "read_us = nan"), 100 * GB), "read_us");
    assert_eq!(flaw(PLAIN, GB), "over_provisioning");
    assert_eq!(flaw(&PLAIN.replace("0.1", "0.002"), 100 * GB), "over_provisioning");
    assert_eq!(flaw(&PLAIN.replace("block = 256", "block = 1"), 900_000 * GB), "pages_per_block");
    let slc = "[slc]\nbits = 1\nstatic_bytes = 1\nprogram_us = 500\nfold_mb_per_s = 400\n";
    assert_eq!(flaw(&format!("{PLAIN}{slc}"), 100 * GB), "slc.bits");
    let thermal = "[thermal]\nambient_celsius = 25\ncelsius_per_gb = 1\ncooling_s = 10\nthrottle_celsius = 60\n\
        resume_celsius = 70\nrate_factor = 0.5\n";
    assert_eq!(flaw(&format!("{PLAIN}{thermal}"), 100 * GB), "thermal.resume_celsius");
    assert_eq!(
        flaw(&format!("{PLAIN}[housekeeping]\nregion_kib = 8\n"), 100 * GB),
        "housekeeping.region_kib"
    );
    assert!(toml::from_str::<FlashProfile>(&format!("{PLAIN}colour = 1\n")).is_err());
}
