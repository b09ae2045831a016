//! `surface` against drives whose truth is known: what it must find in a minute, and how it ends on drives that fail,
//! sleep, are shared or are odd. In a debug build with fewer drives.

use crate::home::{Home, ended, measured, shipped, truth};
use judge::document::{Document, covers, number};
use judge::surface::measured::read;
use judge::surface::score::{Errors, Truth};
use judge::threads::on_two_threads;
use judge::truth::Truths;
use judge::virtual_drive::Drive;
use model::finding::FindingCode;
use sim::profile::Profile;

const DISKS: &[&str] = &[
    "st3000dm001",
    "exos-x20",
    "wd20ears",
    "st3250823a",
    "dt01aca300",
    "sata-160gb",
    "wd3000bkhg",
    "hds723030ala640",
    "disk-4tb",
    "x300-hdwe150",
    "st8000dm004",
];
/// The first of these in a debug build.
const DISKS_IN_DEBUG: usize = 2;
/// How exactly, in which time and from which share of the drive.
const ERROR_MAX: f64 = 0.01;
const DEVICE_S_MAX: f64 = 60.0;
/// A disk of 1 TB, on which what goes wrong is planted.
const PLAIN: &str = "failing-disk";
const TERABYTE: u64 = 1_000_204_886_016;

fn surface(target: &str, options: &[&str]) -> Document {
    ended("surface", target, options)
}

/// The number, or the reason why there is none: a run owes one of them.
fn answer(document: &Document, code: FindingCode) -> Result<f64, String> {
    let finding = document.finding(code).unwrap_or_else(|| panic!("nothing is said of {}", code.name()));
    match (finding["value"].as_f64(), finding["unknown"].as_str()) {
        (Some(value), _) => Ok(value),
        (None, Some(why)) => Err(why.to_owned()),
        (None, None) => panic!("neither value nor why: {finding}"),
    }
}

fn share_read(document: &Document) -> f64 {
    document.bytes() / document["target"]["capacity_bytes"].as_f64().expect("a capacity")
}

/// First byte and length of the regions of a finding.
fn regions_of(document: &Document, code: FindingCode) -> Vec<(u64, u64)> {
    let rows = document.rows(code, "regions").iter();
    rows.map(|row| (number(row, "first_byte") as u64, number(row, "bytes") as u64)).collect()
}

/// A drive of our own, and the folder that holds its profile.
struct Own {
    _home: Home,
    drive: Drive,
}

impl Own {
    fn new(of: &str, changes: &[(&str, &str)], more: &str) -> Own {
        let home = Home::new();
        Own { drive: home.changed(of, changes, more), _home: home }
    }

    /// A sound disk of 1 TB without what the one that ships is short of, and with more at its end.
    fn disk(more: &str) -> Own {
        let text = judge::virtual_drive::text(PLAIN).expect("a drive that ships");
        let sound = text.find("[[disk.defects]]").expect("it fails");
        Own::new(PLAIN, &[(&text[sound..], "")], more)
    }

    fn survey(&self, options: &[&str]) -> Document {
        surface(&self.drive.target, options)
    }
}

const RATES: [FindingCode; 4] = [
    FindingCode::FullPassTime,
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ZoneRatio,
];

/// The rates of a survey that are further off than they may be.
fn wrong_rates(survey: &Document, profile: &Profile) -> Vec<String> {
    let wrong = RATES.into_iter().filter_map(|code| {
        let is = truth(profile, code);
        match answer(survey, code) {
            Ok(found) if (found / is - 1.0).abs() <= ERROR_MAX => None,
            found => Some(format!("{}: {found:?}, truth {is}", code.name())),
        }
    });
    wrong.collect()
}

#[test]
fn a_disk_is_known_in_a_minute() {
    let count = if cfg!(debug_assertions) { DISKS_IN_DEBUG } else { DISKS.len() };
    let score = |number: usize| {
        let name = DISKS[number];
        let survey = surface(&format!("sim:{name}"), &[]);
        let device_s = survey.device_s();
        let mut wrong = wrong_rates(&survey, &shipped(name));
        if device_s > DEVICE_S_MAX {
            wrong.push(format!("{device_s} s"));
        }
        Ok(wrong.into_iter().map(|what| format!("{name} {what}")).collect::<Vec<String>>())
    };
    let wrong = on_two_threads(count, score).expect("no run failed").concat();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each sample misses a revolution before its second request: 8 % too little was told.
#[test]
fn a_disk_that_prefetches_only_what_is_read_in_sequence_is_measured_behind_its_start() {
    let ahead = ("[disk.read_ahead]", "[disk.read_ahead]\nsequential_only = true");
    for name in ["st3000dm001", "sata-160gb"] {
        let disk = Own::new(name, &[ahead], "");
        let wrong = wrong_rates(&disk.survey(&[]), &shipped(name));
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

/// Members of five work together only when much is in flight: with the usual requests this array shows 393 MB/s of 794, in short samples too.
/// The other showed 72 of 312: no time was left to confirm what had gained. Its members read 256 KiB ahead, and lose a revolution with
/// each request of which they get more: with 8 × 2 MiB it read 120, and samples of five requests told 258 to 401.
#[test]
fn an_array_is_measured_with_as_much_in_flight_as_its_members_need() {
    for (name, block_kib) in [("random-volume-1136032", 2048), ("random-volume-1200112", 512)] {
        let survey = surface(&format!("sim:{name}"), &["--seed", "202"]);
        let profile = shipped(name);
        for code in [FindingCode::ReadRateOuter, FindingCode::ReadRateInner, FindingCode::ReadRateMean] {
            let found = survey.said(code);
            assert_eq!(covers(found, truth(&profile, code)), Some(true), "{name}: {found}");
            assert_eq!(found["data"]["streaming"]["best"]["block_bytes"], block_kib << 10, "{found}");
            let [low, high] = ["low", "high"].map(|bound| found[bound].as_f64().expect("a bound"));
            assert!(high < 1.1 * low, "{name}: {found}");
        }
    }
}

/// With the usual requests, members of this one fall out of step at about half of the places, and no sample of the search lay at one: 338 MB/s
/// of 401 were told.
#[test]
fn a_fast_array_gets_much_in_flight_unless_that_loses() {
    let name = "random-volume-1240003";
    let survey = surface(&format!("sim:{name}"), &["--seed", "100"]);
    let profile = shipped(name);
    for code in [FindingCode::ReadRateOuter, FindingCode::ReadRateInner, FindingCode::ReadRateMean] {
        let found = survey.said(code);
        assert_eq!(covers(found, truth(&profile, code)), Some(true), "{found}");
    }
}

/// 29 GB/s: what is in flight is answered together, so that short samples show no rate. It made 170,000 of them in a minute.
#[test]
fn a_volume_that_answers_all_in_flight_together_is_known_from_some_hundred_samples() {
    let survey = surface("sim:random-volume-1136073", &[]);
    let phases = survey.phases().len();
    assert!((300..1_000).contains(&phases), "{phases}");
    assert!(answer(&survey, FindingCode::ReadRateMean).is_ok());
}

/// Four requests are completed together. Slices of time cut these samples into pieces that were 0.7 and 2 % too fast.
#[test]
fn short_samples_of_what_completes_together_are_not_cut() {
    for (name, seed) in [("random-remote-1200018", "108"), ("random-remote-1200031", "121")] {
        let check = ended("check", &format!("sim:{name}"), &["--deep", "--seed", seed]);
        for code in [FindingCode::ReadRateOuter, FindingCode::ReadRateInner, FindingCode::ReadRateMean] {
            let found = check.said(code);
            assert_eq!(covers(found, truth(&shipped(name), code)), Some(true), "{name}: {found}");
        }
    }
}

#[test]
fn a_disk_that_streams_one_request_at_a_time_is_measured_so_and_no_other() {
    let serial = Own::new("wd20ears", &[], "\n[disk.queue]\nbreaks_streams = true\n");
    let survey = serial.survey(&[]);
    let wrong = wrong_rates(&survey, &serial.drive.profile);
    assert!(wrong.is_empty() && survey.device_s() <= DEVICE_S_MAX, "{wrong:#?}");
    let streaming = &survey.said(FindingCode::ReadRateOuter)["data"]["streaming"];
    assert_eq!(streaming["best"]["queue_depth"], 1, "{streaming}");
    // A mebibyte costs one revolution more, at a quarter of the disk and at three quarters.
    let turn_s = truth(&serial.drive.profile, FindingCode::RotationPeriod);
    let read_s = (1 << 20) as f64 / truth(&serial.drive.profile, FindingCode::ReadRateMean);
    let loss = turn_s / (turn_s + read_s);
    let (low, high) = (number(streaming, "usual_loss_low"), number(streaming, "usual_loss_high"));
    assert!(low < loss && loss < high && high < 1.5 * low, "{streaming}, truth {loss}");
    for ordinary in ["sim:wd20ears", "sim:660p", "sim:sata-160gb"] {
        let survey = surface(ordinary, &[]);
        assert!(survey.said(FindingCode::ReadRateMean)["data"]["streaming"].is_null(), "{ordinary}");
    }
}

#[test]
fn a_link_is_the_limit_where_it_is_and_nowhere_else() {
    let slow_port = Own::new("exos-x20", &[("kind = \"sata-6\"", "kind = \"sata-3\"")], "");
    for (target, profile) in [
        ("sim:wd20ears-usb2", shipped("wd20ears-usb2")),
        (&slow_port.drive.target, slow_port.drive.profile.clone()),
    ] {
        let is = truth(&profile, FindingCode::InterfaceLimit);
        let survey = surface(target, &[]);
        let found = survey.value(FindingCode::InterfaceLimit).unwrap_or_else(|| panic!("{target}: no limit"));
        assert!((found / is - 1.0).abs() < 0.02, "{target}: {found}, truth {is}");
        let link = survey.said(FindingCode::InterfaceLimit)["data"]["link"].clone();
        assert!(link.is_string(), "{target}: {link}");
    }
    let usb = surface("sim:wd20ears-usb2", &[]);
    assert!(usb.value(FindingCode::ZoneCount).is_none_or(|count| count <= 1.0), "zones behind USB 2");
    assert_eq!(surface("sim:wd20ears", &[]).value(FindingCode::InterfaceLimit), None);
}

/// A SATA link needs 2.7 µs for a command, and none follows while the queue of a sample drains: these were told 0.015 and 0.06 %
/// too fast, with intervals of a hundredth of that. 1 MiB at 561 MB/s and 2.7 µs are 560.19 MB/s.
#[test]
fn an_interval_of_a_link_holds_its_rate() {
    for (number, rate) in [(61_000, 280_297_551.0), (61_001, 560_190_787.0), (61_009, 560_190_787.0)] {
        let survey = surface(&format!("sim:random-remote-{number}"), &[]);
        for code in [FindingCode::InterfaceLimit, FindingCode::ReadRateMean] {
            let found = survey.said(code);
            assert_eq!(covers(found, rate), Some(true), "{number}: {found}");
        }
    }
}

/// One or four requests of 1 MiB at a time, each of which takes 1.9 or 8 ms, make the rate of a SATA link by chance.
#[test]
fn an_even_latency_is_no_link() {
    for number in [61_006, 61_008] {
        let survey = surface(&format!("sim:random-remote-{number}"), &[]);
        assert_eq!(survey.value(FindingCode::InterfaceLimit), None, "{number}");
    }
}

/// Of 8 MiB each of two disks had so little that rotation before it made them 2.3 % too slow.
#[test]
fn disks_that_share_a_stream_are_measured_as_long_as_one() {
    let survey = surface("sim:random-volume-71006", &[]);
    let rate = survey.value(FindingCode::ReadRateOuter).expect("a rate");
    assert!((rate / 471.04e6 - 1.0).abs() < 0.015, "{rate}");
}

/// Of seven disks the three probes of 8 MiB waited for one arm after the other: they were told as slow regions, and samples as short
/// as those of an array that is half as fast as other load.
#[test]
fn where_an_array_begins_to_stream_is_no_slow_region() {
    let survey = surface("sim:random-volume-71005", &[]);
    assert_eq!(survey.value(FindingCode::SlowRegions), Some(0.0));
    let outer = survey.said(FindingCode::ReadRateOuter);
    assert!(outer["value"].is_number(), "{outer}");
}

/// Three visits to a place wait for the same arms: five places 2.1 times and seven 2.2 to 3.4 times slower were told.
#[test]
fn where_arms_of_an_array_wait_for_each_other_is_no_slow_region() {
    for (name, seed) in [("random-volume-1194058", "138"), ("random-volume-1230061", "156")] {
        let check = ended("check", &format!("sim:{name}"), &["--deep", "--seed", seed]);
        assert_eq!(check.value(FindingCode::SlowRegions), Some(0.0), "{name}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn zones_of_more_than_two_percent_are_found_in_five_minutes() {
    let survey = surface("sim:st3000dm001", &["--time-limit", "5m"]);
    let truth = Truth::of(&shipped("st3000dm001")).expect("a sound drive");
    let zones = Errors::of_run(&read(survey), &truth).zones.expect("a table of zones");
    assert!(zones.steps > 0 && zones.found == zones.steps, "{zones:?}");
}

/// A spot by itself, which no other spot's reads separate from itself in time.
#[test]
fn a_single_weak_spot_is_found_by_a_pass_over_a_part() {
    let fault =
        "\n[[faults]]\nkind = \"slow\"\nfirst_byte = 5000000000\nbytes = 67108864\nmilliseconds = 25\n";
    let own = Own::disk(fault);
    let found = regions_of(&own.survey(&["--full", "--range", "0..8GB"]), FindingCode::SlowRegions);
    let is_there = |&(first, bytes): &(u64, u64)| first < 5_067_108_864 && 5_000_000_000 < first + bytes;
    assert!(found.len() == 1 && found.iter().all(is_there), "{found:?}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn weak_spots_are_found_by_a_full_pass() {
    let spots = [(20, 64), (300, 128), (700, 256), (990, 64)];
    let faults = spots.map(|(gb, mib): (u64, u64)| {
        let (first, bytes) = (gb * 1_000_000_000, mib << 20);
        format!("\n[[faults]]\nkind = \"slow\"\nfirst_byte = {first}\nbytes = {bytes}\nmilliseconds = 25\n")
    });
    let own = Own::disk(&faults.concat());
    let found = regions_of(&own.survey(&["--full"]), FindingCode::SlowRegions);
    assert_eq!(found.len(), spots.len(), "{found:?}");
    for ((gb, mib), (first, bytes)) in spots.into_iter().zip(found) {
        let (is_first, is_end) = (gb * 1_000_000_000, gb * 1_000_000_000 + (mib << 20));
        assert!(first < is_end && is_first < first + bytes, "{gb} GB: found {first} and {bytes}");
    }
}

#[test]
fn nothing_is_found_where_nothing_is() {
    for name in ["null", "constant"] {
        let survey = surface(&format!("sim:{name}"), &[]);
        assert_eq!(survey.status, Some(0));
        assert!(survey.value(FindingCode::ZoneCount).is_none_or(|count| count <= 1.0), "zones on {name}");
        assert!(survey.value(FindingCode::SlowRegions).is_none_or(|count| count == 0.0), "slow on {name}");
        assert_eq!(survey.value(FindingCode::InterfaceLimit), None, "a limit on {name}");
        assert!(survey.value(FindingCode::BadBlocks).is_none_or(|count| count == 0.0), "bad on {name}");
    }
}

#[test]
fn other_load_is_said_and_no_zones_are_drawn_from_it() {
    let own = Own::disk("\n[[faults]]\nkind = \"other-load\"\nqueue_depth = 4\nseconds = 10\nevery_s = 20\n");
    let survey = own.survey(&[]);
    assert_eq!(survey.status, Some(0));
    let words = ["other load", "somebody else", "something else", "other programs"];
    assert!(survey.says(&words), "{:#}", survey["findings"]);
    let slow = regions_of(&survey, FindingCode::SlowRegions);
    assert!(slow.is_empty(), "{slow:?} is slow at no place");
    if let Ok(pass_s) = answer(&survey, FindingCode::FullPassTime) {
        let finding = survey.finding(FindingCode::FullPassTime).expect("it was answered");
        let is = truth(&own.drive.profile, FindingCode::FullPassTime);
        let holds = finding["low"].as_f64() <= Some(is) && finding["high"].as_f64() >= Some(is);
        assert!(holds || (pass_s / is - 1.0).abs() < 0.03, "{pass_s}, truth {is}");
    }
}

/// A load that never pauses leaves no visit as it would be alone: no zones are drawn from it, and what is stated all the same holds the truth.
#[test]
fn a_steady_load_hides_zones_and_rates() {
    let loads = [
        ("st3000dm001", "queue_depth = 1"),
        // So few samples fit the minute that none has others near it.
        ("sata-160gb", "per_second = 25"),
        ("sata-160gb", "per_second = 60"),
        ("st3250823a", "per_second = 40"),
        ("st3000dm001", "per_second = 8"),
        ("st3000dm001", "per_second = 30"),
        ("st3000dm001", "per_second = 15"),
        ("st3000dm001", "queue_depth = 8"),
    ];
    let tried = if cfg!(debug_assertions) { &loads[..2] } else { &loads };
    for (drive, load) in tried {
        let own = Own::new(drive, &[], &format!("\n[[faults]]\nkind = \"other-load\"\n{load}\n"));
        let survey = own.survey(&[]);
        assert!(
            answer(&survey, FindingCode::ZoneTable).is_err_and(|why| why.contains("load")),
            "{drive} {load}"
        );
        assert_rates_hold(&survey, &own.drive, load);
    }
}

/// What is told of sequential reads is true of the drive alone.
fn assert_rates_hold(document: &Document, drive: &Drive, load: &str) {
    for code in [
        FindingCode::ReadRateOuter,
        FindingCode::ReadRateInner,
        FindingCode::ReadRateMean,
        FindingCode::FullPassTime,
    ] {
        if answer(document, code).is_ok() {
            let finding = document.finding(code).expect("it was answered");
            let between = ["low", "high"].map(|key| finding[key].as_f64().expect("an interval"));
            let is = truth(&drive.profile, code);
            assert!(
                (between[0]..=between[1]).contains(&is),
                "{} {load}: {finding}, truth {is}",
                drive.target
            );
        }
    }
}

/// A backup reads at QD 1 all the time. The first was told 30.6 of 33.9 MB/s, the second 68.1 of 71.9, and of both twice the access time.
#[test]
fn constant_reads_of_another_are_seen_by_a_survey_and_by_a_check() {
    for name in ["random-hard-disk-1330001", "random-hard-disk-1330003"] {
        let load = "queue_depth = 1";
        let own = Own::new(name, &[], &format!("\n[[faults]]\nkind = \"other-load\"\n{load}\n"));
        assert_rates_hold(&own.survey(&[]), &own.drive, load);
        let check = ended("check", &own.drive.target, &[]);
        assert_rates_hold(&check, &own.drive, load);
        let why = answer(&check, FindingCode::AccessTime).expect_err("others moved the actuator");
        assert!(why.contains("other I/O"), "{name}: {why}");
    }
}

/// Behind USB 2 it streams with 1 × 64 KiB, of which it prefetches two, and then loses a revolution: all of its samples pause.
#[test]
fn a_disk_that_loses_revolutions_by_itself_is_not_used_by_others() {
    let survey = surface("sim:random-hard-disk-1191", &[]);
    let mean = answer(&survey, FindingCode::ReadRateMean).expect("nothing else uses it");
    assert!((mean / 14.56e6 - 1.0).abs() < 0.01, "{mean}");
}

#[test]
fn a_drive_that_sleeps_at_the_start_is_waited_for() {
    let own = Own::disk("\n[disk.standby]\nafter_idle_s = 600\nwake_up_s = 12\nasleep = true\n");
    let survey = own.survey(&[]);
    assert_eq!(survey.status, Some(0));
    let wrong = wrong_rates(&survey, &own.drive.profile);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(regions_of(&survey, FindingCode::SlowRegions).is_empty(), "sleeping is no weak spot");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_drive_that_dies_at_40_percent_leaves_what_is_known() {
    let pass_s = truth(&Own::disk("").drive.profile, FindingCode::FullPassTime);
    for (options, at_s) in [(&[][..], 24.0), (&["--full"][..], 0.4 * pass_s)] {
        let own = Own::disk(&format!("\n[[faults]]\nkind = \"gone-at\"\nat_s = {at_s}\n"));
        let survey = own.survey(options);
        assert_ne!(survey.status, Some(0), "{options:?}");
        let lost_s = survey.value(FindingCode::DeviceLost).expect("it was lost");
        assert!((lost_s - at_s).abs() < 5.0, "{options:?}: {lost_s}, not {at_s}");
        // The outer edge was read; the rest is known or it is said why not.
        let outer = truth(&own.drive.profile, FindingCode::ReadRateOuter);
        if let Ok(found) = answer(&survey, FindingCode::ReadRateOuter) {
            assert!((found / outer - 1.0).abs() < 0.03, "{options:?}: {found}, truth {outer}");
        }
        let why = answer(&survey, FindingCode::FullPassTime);
        let holds = why.as_ref().map_or(true, |found| (found / pass_s - 1.0).abs() < 0.03);
        assert!(holds, "{options:?}: {why:?}, truth {pass_s}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn errors_over_10_gb_are_walked_around() {
    let (first, bytes) = (400_000_000_000_u64, 10_000_000_000_u64);
    let more = format!(
        "\n[[faults]]\nkind = \"unreadable\"\nfirst_byte = {first}\nbytes = {bytes}\nmilliseconds = 3000\n"
    );
    let own = Own::disk(&more);
    let survey = own.survey(&["--full"]);
    let found = regions_of(&survey, FindingCode::BadBlocks);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0.abs_diff(first) <= 2 << 20, "{found:?}");
    assert!((found[0].0 + found[0].1).abs_diff(first + bytes) <= 64 << 20, "{found:?}");
    // A tenth of a pass more at the most: 10,000 reads of 3 s each would be eight hours.
    let pass_s = truth(&own.drive.profile, FindingCode::FullPassTime);
    assert!(survey.device_s() < 1.1 * pass_s + 600.0, "{} s, a pass takes {pass_s} s", survey.device_s());
    let quick = own.survey(&[]);
    assert!(quick.device_s() < 2.0 * DEVICE_S_MAX, "{} s", quick.device_s());
    assert!(answer(&quick, FindingCode::FullPassTime).is_ok(), "one hundredth of it cannot be read");
}

/// A drive that is slow for a minute of its time is slow at no place.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_minute_of_slowness_is_no_weak_spot() {
    let more = "\n[[faults]]\nkind = \"slow\"\nmilliseconds = 20\nat_s = 100\nseconds = 60\n";
    let own = Own::disk(more);
    let survey = own.survey(&["--time-limit", "5m"]);
    assert_eq!(survey.status, Some(0));
    let slow = regions_of(&survey, FindingCode::SlowRegions);
    assert!(slow.is_empty(), "{slow:?}");
    let wrong = wrong_rates(&survey, &own.drive.profile);
    assert!(
        wrong.is_empty() || survey.says(&["other load", "something else", "for a time", "disturbed"]),
        "{wrong:#?}"
    );
    // In a full pass it is slow where the pass was at that time, and not when that is measured again.
    let slow = regions_of(&own.survey(&["--full"]), FindingCode::SlowRegions);
    assert!(slow.is_empty(), "{slow:?}");
}

#[test]
fn small_large_and_odd_drives_end_with_an_answer() {
    let capacity = format!("capacity_bytes = {TERABYTE}");
    let sized =
        |of: &str, old: &str, bytes: u64| Own::new(of, &[(old, &format!("capacity_bytes = {bytes}"))], "");
    let small = sized("constant", "capacity_bytes = 1000000000000", 64 << 20);
    let large = sized("exos-x20", "capacity_bytes = 20000588955648", 30_000_000_000_000 / 4096 * 4096);
    let odd = sized(PLAIN, &capacity, TERABYTE - 512 * 1027);
    for own in [&large, &odd] {
        let survey = own.survey(&[]);
        assert_eq!(survey.status, Some(0), "{}", own.drive.profile.name);
        let is = truth(&own.drive.profile, FindingCode::FullPassTime);
        let found = answer(&survey, FindingCode::FullPassTime).unwrap_or_else(|why| panic!("{why}"));
        assert!((found / is - 1.0).abs() < ERROR_MAX, "{}: {found}, truth {is}", own.drive.profile.name);
    }
    // A visit to so small a drive is longer than its edges: they are as many visits as a mean needs, which follow each other.
    let survey = small.survey(&[]);
    assert_eq!(survey.status, Some(0));
    let is = truth(&small.drive.profile, FindingCode::FullPassTime);
    let found = answer(&survey, FindingCode::FullPassTime).unwrap_or_else(|why| panic!("{why}"));
    assert!((found / is - 1.0).abs() < ERROR_MAX, "{found}, truth {is}");
    assert!(!survey.says(&["something else used", "other load"]), "nothing else used it");
    let is = truth(&small.drive.profile, FindingCode::ReadRateOuter);
    let found = answer(&survey, FindingCode::ReadRateOuter).unwrap_or_else(|why| panic!("{why}"));
    assert!((found / is - 1.0).abs() < ERROR_MAX, "{found}, truth {is}");
    assert!(survey.says(&["in the first"]), "the edge is not the usual hundredth, and that is said");
    let whole = small.survey(&["--full"]);
    assert_eq!((whole.status, share_read(&whole) >= 1.0), (Some(0), true));
}

/// Each burst to a shingled disk rewrites the rest of its band: "sequential writes average 50.3 MB/s", and a full pass in three times what it
/// takes in order. A disk that writes as it reads is told.
/// Flash of which a third was discarded, around 58 GB that were not: they were a slow region, "2.62 × slower than around it". With a weak spot
/// among them there is one.
#[test]
fn what_was_written_between_discarded_ranges_is_not_slow() {
    let text = "version = 1\nname = \"parts\"\ndescription = \"flash, partly discarded\"\n[identity]\nrotational = false\n\
        [zoned]\ncapacity_bytes = 250_000_000_000\noverhead_s = 20e-6\nseek_single_s = 10e-6\nseek_root_s = 0.0\n\
        seek_linear_s = 0.0\nrotation_s = 10e-6\ntransfer_jitter = 0.01\nzones = [\n\
        { first_byte = 0, bytes_per_second = 2.6e9 },\n\
        { first_byte = 18_550_000_000, bytes_per_second = 6.8e9 },\n\
        { first_byte = 28_177_000_000, bytes_per_second = 2.6e9 },\n\
        { first_byte = 86_268_000_000, bytes_per_second = 6.8e9 },\n\
        { first_byte = 158_300_000_000, bytes_per_second = 2.6e9 },\n]\n";
    let weak =
        "[[faults]]\nkind = \"slow\"\nfirst_byte = 50_000_000_000\nbytes = 4_000_000_000\nmilliseconds = 8\n";
    for (more, slow) in [("", 0.0), (weak, 1.0)] {
        let survey = measured("surface", &Home::new().drive("parts", &format!("{text}{more}")).target, &[]);
        assert_eq!(
            survey.value(FindingCode::SlowRegions),
            Some(slow),
            "{}",
            survey.said(FindingCode::SlowRegions)
        );
        assert_eq!(survey.value(FindingCode::UnmappedRanges), Some(2.0));
    }
}

/// Links carry no more than the flash of most drives delivers, so that streams do not tell what was discarded, and single reads do: of 60 such
/// drives 52 were told "fully written or fully trimmed".
#[test]
fn single_reads_tell_what_was_discarded_behind_a_link() {
    for number in [1539100, 1539101, 1539103] {
        let name = format!("random-trimmed-{number}");
        let document = measured("check", &format!("sim:{name}"), &["--deep"]);
        let truths = Truths::of(&shipped(&name)).expect("a sound drive");
        for code in [FindingCode::UnmappedRanges, FindingCode::SlowRegions] {
            let ranges = truths.value(code).unwrap_or(0.0);
            assert_eq!(document.value(code), Some(ranges), "{name}: {}", document.said(code));
        }
        let span = document.said(FindingCode::SpanEffect)["unknown"].as_str().unwrap_or_default();
        assert!(span.contains("parts of the drive hold no data"), "{name}: {span}");
    }
}

/// Somebody else reads for half a second in every three: streams tell nothing, and single reads side by side are of different moments.
#[test]
fn single_reads_tell_what_was_discarded_beside_other_load() {
    let load =
        "\n[[faults]]\nkind = \"other-load\"\nqueue_depth = 1\nat_s = 1.0\nseconds = 0.5\nevery_s = 3.0\n";
    let own = Own::new("random-trimmed-1539601", &[], load);
    let document = measured("check", &own.drive.target, &["--deep"]);
    assert_eq!(
        document.value(FindingCode::UnmappedRanges),
        Some(2.0),
        "{}",
        document.said(FindingCode::UnmappedRanges)
    );
}

#[test]
fn bursts_that_rewrite_bands_tell_no_pass() {
    let shingled = measured("surface", "sim:smr-2tb", &["--write"]);
    for code in [FindingCode::WriteRateOuter, FindingCode::WriteRateMean] {
        let why = shingled.why(code);
        assert!(why.contains("as on SMR disks") && why.contains("--pattern sequential"), "{why}");
    }
    let pass = shingled.finding(FindingCode::FullPassTime).expect("of reads");
    assert!(pass["data"]["write"].is_null(), "{pass}");
    let plain = measured("surface", "sim:wd20ears", &["--write"]);
    let is = truth(&shipped("wd20ears"), FindingCode::WriteRateMean);
    let found = plain.value(FindingCode::WriteRateMean).expect("a head writes as it reads");
    assert!((found / is - 1.0).abs() < 0.02, "{found}, truth {is}");
}
