//! The whole drive: against literals of the reference calculation, and against what any drive must do.

use super::*;
use crate::profile::plain_facts;
use model::prng::Prng;
use model::request::{Status, Tag};
use model::units::{Bytes, KIB, MIB};
use proptest::prelude::*;

const GB: u64 = 1_000_000_000;

/// Runs closed-loop work: `depth` requests at a time, each given by its number.
pub(crate) struct Bench {
    pub(crate) drive: FlashDrive,
    pub(crate) now: Instant,
}

impl Bench {
    pub(crate) fn new(capacity: u64, profile: &FlashProfile) -> Bench {
        let facts = plain_facts("sim:flash", Bytes::new(capacity));
        Bench { drive: FlashDrive::new(facts, profile, 1).unwrap(), now: Instant::START }
    }

    /// The seconds that `count` requests take.
    pub(crate) fn run(&mut self, depth: u64, count: u64, mut request: impl FnMut(u64) -> Request) -> f64 {
        let start = self.now;
        let mut submitted = 0;
        let mut done = 0;
        while done < count {
            while submitted < count && submitted - done < depth {
                self.drive.submit(request(submitted), self.now);
                submitted += 1;
            }
            self.now = self.drive.next_completion_at().unwrap();
            while self.drive.take_completion(self.now).is_some() {
                done += 1;
            }
        }
        self.now.since(start).seconds()
    }

    /// Bytes per second of sequential writing.
    pub(crate) fn write_rate(&mut self, from: u64, bytes: u64, block: u64) -> f64 {
        let count = bytes / block;
        let seconds = self.run(2, count, |index| write(from + index * block, block));
        (count * block) as f64 / seconds
    }
}

pub(crate) fn write(offset_bytes: u64, bytes: u64) -> Request {
    Request { tag: Tag(0), operation: Operation::Write, offset_bytes, length_bytes: bytes as u32 }
}

fn read(offset_bytes: u64, bytes: u64) -> Request {
    Request { operation: Operation::Read, ..write(offset_bytes, bytes) }
}

pub(crate) fn profile(text: &str) -> FlashProfile {
    toml::from_str(text).unwrap()
}

/// 16 dies; 32 KiB each in 400 µs: 1.3 GB/s.
const PLAIN: &str = "channels = 4\ndies_per_channel = 4\nplanes = 2\npage_kib = 16\npages_per_block = 64\n\
    over_provisioning = 0.1\nread_us = 50\nprogram_us = 400\nerase_us = 0\nchannel_mb_per_s = 800\n\
    read_overhead_us = 0\nwrite_overhead_us = 5\ncommand_us = 0\nread_ahead_kib = 0\n";

/// A SATA drive of 500 GB as in article D: 380 MB/s into 7 GB, 230 MB/s past them.
const SATA_500_GB: &str = "channels = 4\ndies_per_channel = 2\nplanes = 2\npage_kib = 16\npages_per_block = 256\n\
    over_provisioning = 0.07\nread_us = 60\nprogram_us = 1130\nerase_us = 2560\nchannel_mb_per_s = 400\n\
    [slc]\nbits = 3\nstatic_bytes = 7_000_000_000\nprogram_us = 689.85\nfold_mb_per_s = 300\n\
    idle_fold_mb_per_s = 200\n[buffer]\ncapacity_kib = 65536\n";

/// Table 3.7's NM790 of 2 TB: 5 GB/s to 280 GB, 2.5 to 1300 GB, then 0.8.
const NM790_2_TB: &str = "channels = 4\ndies_per_channel = 4\nplanes = 4\npage_kib = 16\npages_per_block = 512\n\
    over_provisioning = 0.1\nread_us = 50\nprogram_us = 415.03\nerase_us = 2250\nchannel_mb_per_s = 1600\n\
    [slc]\nbits = 3\ndynamic_bytes_max = 280_000_000_000\nreserve_bytes = 140_000_000_000\nprogram_us = 209.7\n\
    fold_mb_per_s = 590\n[buffer]\ncapacity_kib = 65536\n";

#[test]
fn article_d_falls_after_7_gb_from_380_to_230() {
    let profile = profile(SATA_500_GB);
    let levels = profile.write_levels(Bytes::new(500 * GB), f64::INFINITY);
    assert_eq!(levels.len(), 2);
    let mut bench = Bench::new(500 * GB, &profile);
    let mut prng = Prng::new(4, 4);
    let mut gigabyte = |bench: &mut Bench| {
        let count = GB / (128 * KIB);
        let places = 500 * GB / (128 * KIB);
        let seconds = bench.run(1, count, |_| write(prng.below(places) * 128 * KIB, 128 * KIB));
        (count * 128 * KIB) as f64 / seconds / 1e6
    };
    let rates: Vec<f64> = (0..12).map(|_| gigabyte(&mut bench)).collect();
    // The first is faster by the 67 MB that are still in the buffer when it ends.
    assert!(rates[0] < 420.0, "{rates:?}");
    rates[1..7].iter().for_each(|rate| assert!((rate / 380.0 - 1.0).abs() < 0.03, "{rates:?}"));
    rates[8..].iter().for_each(|rate| assert!((rate / 230.0 - 1.0).abs() < 0.03, "{rates:?}"));
    assert!((levels[1].from_bytes / 7e9 - 1.0).abs() < 0.02);
    // 35 idle seconds at 200 MB/s after the first empty the cache.
    bench.now = bench.now.saturating_add(model::units::Nanos::from_secs(40));
    (0..6).for_each(|_| assert!(gigabyte(&mut bench) > 370.0));
}

/// When a fill in 1 MiB steps first falls below that rate, in GB written.
fn falls_below(bench: &mut Bench, from_gb: u64, until_gb: u64, bytes_per_second: f64) -> u64 {
    (from_gb..until_gb)
        .find(|gigabyte| bench.write_rate(gigabyte * 1000 * MIB, 1000 * MIB, MIB) < bytes_per_second)
        .unwrap()
}

#[test]
fn three_levels_come_where_they_were_measured() {
    let profile = profile(NM790_2_TB);
    let levels = profile.write_levels(Bytes::new(2000 * GB), f64::INFINITY);
    let rates: Vec<f64> = levels.iter().map(|level| (level.bytes_per_second / 1e7).round() / 100.0).collect();
    assert_eq!(rates[..3], [5.0, 2.5, 0.8], "{levels:?}");
    let mut bench = Bench::new(2000 * GB, &profile);
    let second = falls_below(&mut bench, 0, 1900, 3.5e9) as f64 * 1.048_576;
    assert!((second / 280.0 - 1.0).abs() < 0.02, "{second}");
    let third = falls_below(&mut bench, 268, 1900, 1.2e9) as f64 * 1.048_576;
    assert!((third / 1300.0 - 1.0).abs() < 0.02, "{third}");
    let rate = bench.write_rate(1_300_000 * MIB, 10_000 * MIB, MIB);
    assert!((rate / 0.8e9 - 1.0).abs() < 0.03, "{rate}");
    assert!(bench.drive.memory_bytes() < 200 << 20);
}

/// A cache of all free space, filled at random: the closed form against the drive, on 8 GB in steps of 1 %, with stalls of 5 ms every 100 MiB.
#[test]
fn a_cache_of_all_free_space_fills_later_at_random() {
    let slc = "[slc]\nbits = 2\ndynamic_bytes_max = 8_000_000_000\nprogram_us = 200\nfold_mb_per_s = 700\n\
        [map_flush]\nevery_mib = 100\nstall_ms = 5\n";
    let profile = profile(&format!("{PLAIN}{slc}"));
    let levels = profile.random_write_levels(Bytes::new(8 * GB), f64::INFINITY);
    let mut bench = Bench::new(8 * GB, &profile);
    let mut prng = Prng::new(5, 5);
    let places = 8 * GB / (128 * KIB);
    let count = places / 100;
    let rates: Vec<f64> = (0..70)
        .map(|_| {
            (count * 128 * KIB) as f64
                / bench.run(8, count, |_| write(prng.below(places) * 128 * KIB, 128 * KIB))
        })
        .collect();
    let halfway = (levels[0].bytes_per_second * levels[1].bytes_per_second).sqrt();
    let fell = rates.iter().position(|rate| *rate < halfway).unwrap() as f64 / 100.0;
    let truth = levels[1].from_bytes / 8e9;
    assert!((truth - 0.567).abs() < 0.001 && (fell - truth).abs() <= 0.015, "{fell}, truth {truth}");
    let mean = |rates: &[f64]| rates.len() as f64 / rates.iter().map(|rate| 1.0 / rate).sum::<f64>();
    assert!((mean(&rates[..50]) / levels[0].bytes_per_second - 1.0).abs() < 0.01, "{rates:?}, {levels:?}");
    assert!((mean(&rates[59..63]) / levels[1].bytes_per_second - 1.0).abs() < 0.03, "{rates:?}, {levels:?}");
}

#[test]
fn a_drive_without_a_cache_has_no_cliff() {
    let profile = profile(PLAIN);
    assert_eq!(profile.write_levels(Bytes::new(8 * GB), f64::INFINITY).len(), 1);
    let mut bench = Bench::new(8 * GB, &profile);
    let rates: Vec<f64> =
        (0..28).map(|index| bench.write_rate(index % 14 * 512 * MIB, 512 * MIB, MIB)).collect();
    let dense = profile.dense_write_rate();
    assert!((dense / 1.3107e9 - 1.0).abs() < 1e-3, "{dense}");
    rates.iter().for_each(|rate| assert!((rate / dense - 1.0).abs() < 0.02, "{rates:?}"));
}

/// The reference calculation through the whole drive: steady random writes run at the sequential rate through the amplification.
#[test]
fn random_writes_come_to_the_steady_rate() {
    let profile = FlashProfile {
        channels: 1,
        dies_per_channel: 4,
        planes: 1,
        page_kib: 4,
        pages_per_block: 32,
        over_provisioning: 0.1,
        ..profile(PLAIN)
    };
    let capacity = 512 * MIB / 1024 * 1024;
    let mut bench = Bench::new(capacity, &profile);
    let mut prng = Prng::new(2, 2);
    let pages = capacity / 4096;
    bench.run(32, pages, |index| write(index * 4096, 4096));
    bench.run(32, 4 * pages, |_| write(prng.below(pages) * 4096, 4096));
    let seconds = bench.run(32, pages, |_| write(prng.below(pages) * 4096, 4096));
    let rate = capacity as f64 / seconds;
    // 128 pages to a superblock and 10 %: 5.55 times.
    assert!((rate / (profile.dense_write_rate() / 5.55) - 1.0).abs() < 0.03, "{rate}");
    let truth = profile.steady_random_write_rate(Bytes::new(capacity), 1.0);
    assert!((rate / truth - 1.0).abs() < 0.02, "{rate}, truth {truth}");
}

/// With housekeeping, writing sequentially over what was written at random is as fast as ever but for the valleys.
#[test]
fn housekeeping_takes_moves_out_of_sequential_writing() {
    let text = PLAIN.replace("over_provisioning = 0.1", "over_provisioning = 0.15\ninitial = \"filled\"");
    let rate = |text: &str| {
        let text = format!("{text}[buffer]\ncapacity_kib = 1024\n");
        let mut bench = Bench::new(4 * GB, &profile(&text));
        let mut prng = Prng::new(6, 6);
        bench.run(8, 1_000_000, |_| write(prng.below(4 * GB / 4096) * 4096, 4096));
        bench.write_rate(0, GB, 64 * KIB)
    };
    let dense = profile(&text).dense_write_rate();
    assert!(rate(&text) < 0.6 * dense, "{}", rate(&text));
    // 1 GB takes 0.8 s: no valley falls into it.
    let quiet = rate(&format!("{text}[housekeeping]\n"));
    assert!((quiet / dense - 1.0).abs() < 0.05, "{quiet} of {dense}");
}

/// The sample of pages amplifies as all of them do: a drive of 20 GB, of which every other page is watched.
#[test]
fn a_sample_amplifies_as_the_whole() {
    let profile = profile(&PLAIN.replace("over_provisioning = 0.1", "over_provisioning = 0.25"));
    let mut bench = Bench::new(
        20 * GB,
        &FlashProfile { initial: crate::flash::profile::Initial::Filled, ..profile.clone() },
    );
    let mut prng = Prng::new(2, 2);
    let places = 20 * GB / (256 * KIB);
    bench.run(32, 3 * places, |_| write(prng.below(places) * 256 * KIB, 256 * KIB));
    let seconds = bench.run(32, places, |_| write(prng.below(places) * 256 * KIB, 256 * KIB));
    let (rate, truth) = (20e9 / seconds, profile.steady_random_write_rate(Bytes::new(20 * GB), 1.0));
    assert!((rate / truth - 1.0).abs() < 0.03, "{rate}, truth {truth}");
}

#[test]
fn what_holds_nothing_is_read_without_a_die() {
    let mut bench = Bench::new(8 * GB, &FlashProfile { read_overhead_us: 10.0, ..profile(PLAIN) });
    let read_at = |bench: &mut Bench, offset| bench.run(1, 1, |_| read(offset, 4096));
    assert!((read_at(&mut bench, 0) - 10e-6).abs() < 1e-9);
    bench.run(1, 1, |_| write(0, 4096));
    bench.now = bench.now.saturating_add(model::units::Nanos::from_secs(1));
    assert!((read_at(&mut bench, 0) - 65.12e-6).abs() < 1e-9);
    bench.run(1, 1, |_| Request { operation: Operation::Discard, ..write(0, 8192) });
    assert!((read_at(&mut bench, 0) - 10e-6).abs() < 1e-9);
}

#[test]
fn what_was_discarded_before_holds_nothing() {
    let text = PLAIN.replace("over_provisioning = 0.1", "over_provisioning = 0.1\ninitial = \"filled\"");
    let discarded = "[[discarded]]\nfirst_byte = 1_000_000_000\nbytes = 2_000_000_000\n";
    let mut bench =
        Bench::new(8 * GB, &FlashProfile { read_overhead_us: 10.0, ..profile(&(text + discarded)) });
    let mut read_at = |offset| bench.run(1, 1, |_| read(offset, 4096));
    for (offset, seconds) in
        [(999_997_440, 65.12e-6), (1_000_001_536, 10e-6), (2_999_992_320, 10e-6), (3_000_004_608, 65.12e-6)]
    {
        assert!((read_at(offset) - seconds).abs() < 1e-9, "{offset}");
    }
}

/// The reference calculation: IOPS(Q) = D·(1 − (1 − 1/D)^Q)/t as long as few wait for another; see the truth's comment for more.
#[test]
fn random_reads_gain_by_depth_as_balls_in_bins() {
    let profile = FlashProfile { initial: crate::flash::profile::Initial::Filled, ..profile(PLAIN) };
    let mut prng = Prng::new(3, 3);
    for depth in [1u32, 2, 4, 8, 16, 32, 64, 128, 256] {
        let mut bench = Bench::new(8 * GB, &profile);
        let count = 40_000;
        let seconds = bench.run(u64::from(depth), count, |_| read(prng.below(8 * GB / 4096) * 4096, 4096));
        let iops = count as f64 / seconds;
        let published = 16.0 * (1.0 - (15.0f64 / 16.0).powi(depth as i32)) / 55.12e-6;
        let truth = profile.random_read_iops(depth, 4096);
        assert!((iops / published - 1.0).abs() < 0.16, "{depth}: {iops}, {published}");
        assert!((iops / truth - 1.0).abs() < 0.05, "{depth}: {iops}, truth {truth}");
    }
}

#[test]
fn reads_and_writes_slow_each_other() {
    let profile = FlashProfile {
        initial: crate::flash::profile::Initial::Filled,
        suspend_us: Some(100.0),
        ..profile(&format!("{PLAIN}[buffer]\ncapacity_kib = 4096\n"))
    };
    let mut bench = Bench::new(8 * GB, &profile);
    let mut prng = Prng::new(5, 5);
    let mut reads = |bench: &mut Bench, count| {
        bench.run(1, count, |_| read(prng.below(8 * GB / 4096) * 4096, 4096)) / count as f64
    };
    let alone = reads(&mut bench, 100);
    bench.run(8, 1000, |index| write(index * MIB, MIB));
    // 4 MiB are in the buffer: 3.2 ms of writing.
    let beside = reads(&mut bench, 12);
    assert!((alone - 55.12e-6).abs() < 1e-9, "{alone}");
    assert!(beside > alone + 60e-6, "{beside}");
}

#[test]
fn a_buffer_answers_at_once_until_it_is_full() {
    let profile = profile(&format!("{PLAIN}[buffer]\ncapacity_kib = 4096\ncopy_mb_per_s = 8900\n"));
    let mut bench = Bench::new(8 * GB, &profile);
    let each: Vec<f64> =
        (0..200).map(|index| bench.run(1, 1, |_| write(index * 128 * KIB, 128 * KIB))).collect();
    // 5 µs, and 128 KiB at 8.9 GB/s: 14.7 µs. Then 128 KiB at 1.31 GB/s: 100 µs.
    assert!((each[0] - 19.7e-6).abs() < 0.1e-6, "{}", each[0]);
    assert!((each[199] - 100e-6).abs() < 1e-6, "{}", each[199]);
    // It fills by what comes more than what leaves: 4 MiB / (1 − 19.7/100) after 40 writes.
    let full = each.iter().position(|seconds| *seconds > 30e-6).unwrap();
    assert!((38..=41).contains(&full), "{full}");
    let flushed = bench.run(1, 1, |_| Request {
        operation: Operation::Flush,
        offset_bytes: 0,
        length_bytes: 0,
        tag: Tag(0),
    });
    // 4 MiB at 1.31 GB/s, and 400 µs to program the last page.
    assert!((flushed - 3.6e-3).abs() < 0.1e-3, "{flushed}");
}

#[test]
fn it_wakes_up_late_after_a_rest() {
    let profile = profile(&format!(
        "{PLAIN}[[power_states]]\nidle_ms = 100\nwake_us = 1000\n[[power_states]]\nidle_ms = 2000\nwake_us = 20000\n"
    ));
    let mut bench = Bench::new(8 * GB, &profile);
    let mut after = |idle_ms| {
        bench.now = bench.now.saturating_add(model::units::Nanos::from_millis(idle_ms));
        bench.run(1, 1, |_| read(0, 4096))
    };
    assert!((after(50) - 0.0).abs() < 1e-9);
    assert!((after(150) - 1e-3).abs() < 1e-9);
    assert!((after(3000) - 20e-3).abs() < 1e-9);
}

#[test]
fn the_table_is_written_out_now_and_then() {
    let profile = profile(&format!("{PLAIN}[map_flush]\nevery_mib = 64\nstall_ms = 8\n"));
    let mut bench = Bench::new(8 * GB, &profile);
    let each: Vec<f64> = (0..512).map(|index| bench.run(1, 1, |_| write(index * MIB, MIB))).collect();
    let stalls: Vec<usize> = (0..512).filter(|&index| each[index] > 8e-3).collect();
    assert_eq!(stalls, [63, 127, 191, 255, 319, 383, 447, 511]);
}

/// 2 TB, written at random all over, and everything allocated that ever is: far below 1 GiB, by counting.
#[test]
fn two_terabytes_take_little_memory() {
    let profile = profile(NM790_2_TB);
    let layout = profile.layout(Bytes::new(2000 * GB)).unwrap();
    assert!(layout.memory_bytes_max() < 110 << 20, "{}", layout.memory_bytes_max());
    let mut bench = Bench::new(2000 * GB, &profile);
    let mut prng = Prng::new(1, 1);
    bench.run(32, 200_000, |_| write(prng.below(2000 * GB / 4096) * 4096, 4096));
    let now = bench.drive.memory_bytes();
    assert!(now > 60 << 20 && now <= layout.memory_bytes_max() * 11 / 10, "{now}");
}

/// A profile that is unlike the others in every section.
fn everything() -> FlashProfile {
    profile(&format!(
        "{}suspend_us = 100\n[garbage_collection]\nfree_superblocks = 2\nidle_free_share = 0.05\nidle_s = 0.1\n\
         [slc]\nbits = 4\nstatic_bytes = 10_000_000\ndynamic_bytes_max = 100_000_000\nprogram_us = 100\n\
         when_full = \"fold\"\nfold_mb_per_s = 500\nidle_fold_mb_per_s = 100\ndrain_while_writing_mb_per_s = 50\n\
         [buffer]\ncapacity_kib = 1024\n[housekeeping]\ninterval_s = 0.2\nwidth_s = 0.05\nwidth_s_min = 0.0\n\
         [map_flush]\nevery_mib = 10\nstall_ms = 2\n[thermal]\nambient_celsius = 30\ncelsius_per_gb = 50\n\
         cooling_s = 10\nthrottle_celsius = 50\nresume_celsius = 45\nrate_factor = 0.5\n\
         [[power_states]]\nidle_ms = 50\nwake_us = 500\n",
        PLAIN.replace("pages_per_block = 64", "pages_per_block = 8")
    ))
}

fn requests() -> impl Strategy<Value = Vec<(u8, u64, u32, u64)>> {
    prop::collection::vec((0u8..8, 0u64..1_100_000_000, 0u32..20_000_000, 0u64..200_000_000), 1..150)
}

fn request_of(index: usize, (kind, offset, bytes, _): (u8, u64, u32, u64)) -> Request {
    let operation = match kind {
        0 => Operation::Flush,
        1 => Operation::Discard,
        2 | 3 => Operation::Read,
        _ => Operation::Write,
    };
    let bytes = if kind % 2 == 0 { bytes % 40_000 } else { bytes };
    let length_bytes = if operation == Operation::Flush { 0 } else { bytes / 512 * 512 };
    Request { tag: Tag(index as u32), operation, offset_bytes: offset / 512 * 512, length_bytes }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every request is answered once, not before it came, and the same whether or not somebody looks in between.
    #[test]
    fn it_answers_once_and_looking_changes_nothing(steps in requests(), filled: bool) {
        let initial = if filled { crate::flash::profile::Initial::Filled } else { crate::flash::profile::Initial::Fresh };
        let profile = FlashProfile { initial, ..everything() };
        let play = |looks: bool| {
            let mut drive = Bench::new(GB, &profile).drive;
            let (mut now, mut answers, mut came) = (0u64, Vec::new(), Vec::new());
            for (index, step) in steps.iter().enumerate() {
                if looks {
                    for part in 0..4 {
                        let at = Instant::new(now + step.3 * part / 4);
                        assert!(drive.next_completion_at().is_none_or(|next| next.get() > 0));
                        answers.extend(std::iter::from_fn(|| drive.take_completion(at)));
                    }
                }
                now += step.3;
                came.push(now);
                drive.submit(request_of(index, *step), Instant::new(now));
            }
            while let Some(next) = drive.next_completion_at() {
                let completion = drive.take_completion(next.max(Instant::new(now))).unwrap();
                answers.push(completion);
            }
            answers.sort_by_key(|completion| completion.tag);
            (answers, came)
        };
        let (answers, came) = play(true);
        prop_assert_eq!(answers.len(), steps.len());
        for (index, answer) in answers.iter().enumerate() {
            prop_assert_eq!(answer.tag.0 as usize, index);
            prop_assert!(answer.completed_ns >= came[index]);
            let inside = steps[index].1 / 512 * 512 < GB;
            prop_assert!(answer.status != Status::NoSpace || !inside);
        }
        prop_assert_eq!(answers, play(false).0);
    }

    /// No profile that passes its check makes a drive that panics.
    #[test]
    fn a_checked_profile_is_a_drive(
        (channels, dies_per_channel, planes) in (0u32..40, 0u32..20, 0u32..5),
        (page_kib, pages_per_block, mapping_kib) in (0u32..40, 0u32..700, 0u32..70),
        over_provisioning in prop_oneof![Just(f64::NAN), Just(-1.0), 0.0f64..1.0, 0.0f64..30.0],
        times in prop::collection::vec(prop_oneof![0.0f64..1e4, Just(f64::INFINITY)], 5),
        megabytes in 1u64..8000,
        steps in requests(),
    ) {
        let profile = FlashProfile {
            channels, dies_per_channel, planes, page_kib, pages_per_block, mapping_kib, over_provisioning,
            read_us: times[0], program_us: times[1], erase_us: times[2], suspend_us: Some(times[3]),
            channel_mb_per_s: times[4],
            ..everything()
        };
        let facts = plain_facts("sim:flash", Bytes::new(megabytes * 1_000_000));
        prop_assert_eq!(profile.check(facts.capacity).is_ok(), FlashDrive::new(facts.clone(), &profile, 1).is_ok());
        let Ok(mut drive) = FlashDrive::new(facts, &profile, 1) else { return Ok(()) };
        let mut now = 0;
        for (index, step) in steps.iter().enumerate() {
            now += step.3;
            drive.submit(request_of(index, *step), Instant::new(now));
        }
        let mut answered = 0;
        while let Some(next) = drive.next_completion_at() {
            prop_assert!(drive.take_completion(next).is_some());
            answered += 1;
        }
        prop_assert_eq!(answered, steps.len());
    }
}
