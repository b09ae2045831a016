//! `access` against drives whose truth is known: what it must find in a minute, and what it must not.

use crate::home::{Home, measured, shipped, truth, value};
use judge::access::score::CODES;
use judge::document::Document;
use judge::document::covers;
use judge::truth::Truths;
use model::finding::FindingCode;
use serde_json::Value;
use sim::truth::data::TruthData;

/// Both with what they do with a queue: one that sorts it, one that takes a command at a time.
const DISKS: &[&str] = &["st3000dm001", "st3250823a", "exos-x20", "wd20ears"];
/// The first of these in a debug build.
const DISKS_IN_DEBUG: usize = 1;
/// Disks that drop what they delivered, drawn at random, and how many of them in a debug build.
const DROPPING: u64 = 40;
const DROPPING_IN_DEBUG: u64 = 6;
const DEVICE_S_MAX: f64 = 60.0;
const DEVICE_S_MAX_FLASH: f64 = 15.0;

fn accessed(target: &str, options: &[&str]) -> Document {
    measured("access", target, options)
}

/// Whether a value is as near to its truth as the tables of the bench allow.
fn assert_allowed(document: &Document, disk: &str, code: FindingCode) {
    let (_, _, allowed) = CODES.iter().find(|(scored, ..)| *scored == code).expect("it is scored");
    let (found, is) = (value(document, code), truth(&shipped(disk), code));
    assert!(allowed.allows(found, is), "{disk}, {}: {found}, truth {is}", code.name());
}

/// Rounds of 171 and 44 reads end within one: without scatter that is all that is not known.
#[test]
fn a_gain_of_even_latencies_is_known_to_a_request() {
    for (number, servers) in [(61_004, 1.0), (61_008, 4.0)] {
        let document = accessed(&format!("sim:random-remote-{number}"), &[]);
        let gain = document.said(FindingCode::ConcurrencyGain);
        assert_eq!(covers(gain, servers), Some(true), "{gain}");
    }
}

#[test]
fn a_disk_is_known_in_a_minute() {
    let count = if cfg!(debug_assertions) { DISKS_IN_DEBUG } else { DISKS.len() };
    for disk in &DISKS[..count] {
        let document = accessed(&format!("sim:{disk}"), &[]);
        assert!(document.device_s() <= DEVICE_S_MAX, "{disk}: {} s", document.device_s());
        for code in [FindingCode::AccessTime, FindingCode::ReadAhead, FindingCode::DriveCache] {
            assert_allowed(&document, disk, code);
        }
        let access = &document.said(FindingCode::AccessTime)["data"];
        let part = |name: &str| access[name].as_f64().unwrap_or_else(|| panic!("{disk}: {name} of {access}"));
        let profile = shipped(disk);
        let turn_s = truth(&profile, FindingCode::RotationPeriod);
        let seek_s = truth(&profile, FindingCode::SeekAverage);
        assert!((part("rotation_s") / (turn_s / 2.0) - 1.0).abs() < 1e-4, "{disk}: {access}");
        // The makers' average is over cylinders, this one over places: outside there are more of them.
        assert!((part("seek_s") / seek_s - 1.0).abs() < 0.15, "{disk}: {access}, average seek {seek_s}");
        // One arm: going on to two brings nothing, since one of them is being read and only the other waits.
        assert_eq!(value(&document, FindingCode::ConcurrencyKnee), 1.0, "{disk}");
        assert!((1.6..2.8).contains(&value(&document, FindingCode::SpanEffect)), "{disk}");
        assert_eq!(document.said(FindingCode::WakeUp), &Value::Null, "{disk}");
    }
}

/// Rereads that miss cache what lies below them, so that later ones hit: 19.0 MB (18.8 to 36.0) were told of 6.3. And a stream is read ahead of where
/// single reads are not: 5.96 MB (5.89 to 6.29).
#[test]
fn the_cache_of_a_disk_is_known_whenever_its_head_reads() {
    let home = Home::new();
    for policy in ["on_arrival", "sequential_only"] {
        let change = format!("[disk.read_ahead]\n{policy} = true");
        let drive = home.changed("sata-160gb", &[("[disk.read_ahead]", &change)], "");
        let document = accessed(&drive.target, &[]);
        let said = document.said(FindingCode::DriveCache);
        assert_eq!(
            covers(said, truth(&drive.profile, FindingCode::DriveCache)),
            Some(true),
            "{policy}: {said}"
        );
    }
}

/// Rereads never hit, so what a hit takes is seen in the bytes behind a read only. Segments are counted within one.
#[test]
fn a_drive_that_drops_what_it_delivered_prefetches_all_the_same() {
    let count = if cfg!(debug_assertions) { DROPPING_IN_DEBUG } else { DROPPING };
    for number in 0..count {
        let home = Home::new();
        let change = ("[disk.read_ahead]", "[disk.read_ahead]\ndrops_delivered = true");
        let drive = home.changed(&format!("random-hard-disk-{}", 300 + number), &[change], "");
        let document = accessed(&drive.target, &[]);
        let said = document.said(FindingCode::ReadAhead);
        let truths = Truths::of(&drive.profile).expect("a sound drive");
        let truth = truths.get(FindingCode::ReadAhead).expect("it is known");
        let is = truth.value().expect("a number");
        if is == 0.0 {
            assert!(said["unknown"].is_string(), "{}: {said}", drive.name);
            continue;
        }
        let TruthData::Prefetch { streams, .. } = truth.data else { panic!("{truth:?}") };
        // Distances are a few sectors apart, more where little is prefetched: the interval says how many.
        let off = (value(&document, FindingCode::ReadAhead) / is - 1.0).abs();
        assert!(
            off < 0.15 && (off < 0.1 || covers(said, is) == Some(true)),
            "{}: {said}, truth {is}",
            drive.name
        );
        assert_eq!(said["data"]["keeps_delivered"], false, "{}: {said}", drive.name);
        let found = said["data"]["streams"]["value"].as_u64();
        assert!(
            found.is_some_and(|found| found.abs_diff(streams) <= 1),
            "{}: {said}, truth {streams}",
            drive.name
        );
        let why = document.said(FindingCode::DriveCache)["unknown"].as_str().unwrap_or_default();
        assert!(why.contains("drops delivered data"), "{}: {why}", drive.name);
    }
}

/// Eight servers of 100 µs: nothing else is there to find.
#[test]
fn a_drive_without_a_mechanism_shows_none() {
    let document = accessed("sim:constant", &[]);
    assert!(document.device_s() <= DEVICE_S_MAX_FLASH, "{} s", document.device_s());
    assert!((value(&document, FindingCode::AccessTime) / 100e-6 - 1.0).abs() < 1e-3);
    assert!((value(&document, FindingCode::ConcurrencyGain) / 8.0 - 1.0).abs() < 0.02);
    let knee = document.said(FindingCode::ConcurrencyKnee);
    assert!(knee["low"].as_f64() <= Some(8.0) && knee["high"].as_f64() >= Some(8.0), "{knee}");
    for code in [FindingCode::ReadAhead, FindingCode::DriveCache] {
        assert!(document.said(code)["unknown"].is_string(), "{}", code.name());
    }
    let document = accessed("sim:null", &[]);
    let found = document.findings();
    assert!(found.iter().all(|finding| finding["unknown"].is_string()), "{found:#?}");
}

/// A volume behind a network is as slow as a disk, and kernels call what does not say otherwise rotational. Of its log-normal latencies one in
/// thirty is longer than any arm takes for what half of them do, and was "delayed by other I/O".
#[test]
fn what_is_as_slow_nearby_has_no_arm() {
    let home = Home::new();
    let change = ("[identity]", "[identity]\nrotational = true");
    let drive = home.changed("random-remote-1131000", &[change], "");
    let said = accessed(&drive.target, &[]);
    let access = said.said(FindingCode::AccessTime);
    assert_eq!(covers(access, truth(&drive.profile, FindingCode::AccessTime)), Some(true), "{access}");
    assert_eq!(said.value(FindingCode::LatencyModes), Some(1.0));
}

/// A disk in standby needs 12 s until its first answer, and that is said.
#[test]
fn a_disk_that_slept_is_said_to_have_slept() {
    let home = Home::new();
    let standby = "\n[disk.standby]\nafter_idle_s = 600\nwake_up_s = 12\nasleep = true\n";
    let drive = home.changed("st3000dm001", &[], standby);
    let document = accessed(&drive.target, &["--time-limit", "60s"]);
    assert!(
        (12.0..12.1).contains(&value(&document, FindingCode::WakeUp)),
        "{}",
        document.said(FindingCode::WakeUp)
    );
}

/// A disk of 3 TB that others use as well.
fn shared(load: &str) -> Document {
    let home = Home::new();
    accessed(&home.shared("st3000dm001", load).target, &[])
}

/// Fifty reads a second for somebody else: then nobody can say what the arm takes, and an answer that came late is no end of what was read on.
#[test]
fn what_somebody_else_holds_up_is_no_mechanism() {
    let document = shared("per_second = 50");
    assert!(
        document.said(FindingCode::AccessTime)["unknown"]
            .as_str()
            .is_some_and(|why| why.contains("delayed by other I/O")),
        "{}",
        document.said(FindingCode::AccessTime)
    );
    assert!(document.said(FindingCode::LatencyModes)["unknown"].is_string());
    assert!(document.said(FindingCode::DriveCache)["unknown"].is_string());
    let read_ahead = document.said(FindingCode::ReadAhead);
    assert!(read_ahead["value"].as_f64().is_none_or(|bytes| bytes > 0.0), "{read_ahead}");
}

/// Other reads in bursts of 1 s, 15 % of the time: 14.0 ms (12.5 to 15.5) were told, and a prefetch of 242 KiB, of a disk that prefetches
/// 2 MiB.
#[test]
fn what_somebody_else_does_now_and_then_is_seen() {
    let document = shared("queue_depth = 1\nat_s = 2\nseconds = 1\nevery_s = 6.7");
    let access = document.said(FindingCode::AccessTime);
    assert!(
        access["unknown"].as_str().is_some_and(|why| why.contains("slow reads came in bursts")),
        "{access}"
    );
    let read_ahead = document.said(FindingCode::ReadAhead);
    let least = read_ahead["low"].as_f64().expect("a bound");
    assert!(least > 0.0 && least <= truth(&shipped("st3000dm001"), FindingCode::ReadAhead), "{read_ahead}");
    assert!(read_ahead["high"].is_null(), "{read_ahead}");
    // A deep queue outbids the others, and a single read waits for them; bursts meet one span and not the other.
    for code in [FindingCode::ConcurrencyGain, FindingCode::ConcurrencyKnee, FindingCode::SpanEffect] {
        let why = document.said(code)["unknown"].as_str();
        assert!(why.is_some_and(|why| why.contains("came in bursts")), "{}", document.said(code));
    }
}

/// Each disk of an array waits for others less often than one alone: 13.5 ms (13.2 to 13.7) were told of 13.0. Either reads show it, of two
/// disks, or samples of the same run, of four.
#[test]
fn other_io_on_an_array_is_seen_by_its_reads_or_its_samples() {
    for (name, seed, bursts, shown) in [
        ("random-volume-1280031", "194", "at_s = 1.103\nseconds = 0.266\nevery_s = 1.282", "came in bursts"),
        (
            "random-volume-1523001",
            "632",
            "at_s = 0.2763\nseconds = 0.143\nevery_s = 0.4981",
            "of the same run show",
        ),
    ] {
        let home = Home::new();
        let drive = home.shared(name, &format!("queue_depth = 1\n{bursts}"));
        let document = measured("check", &drive.target, &["--deep", "--seed", seed]);
        let why = document.why(FindingCode::AccessTime);
        assert!(why.contains(shown), "{name}: {why}");
    }
}

/// Two reads of others a second: 13.1 ms (12.9 to 13.2) were told of 12.7, and nothing of a disk that shows one a second by pauses.
#[test]
fn a_read_of_others_now_and_then_widens_the_interval() {
    for (name, per_second) in [("st3000dm001", 2.0), ("sata-160gb", 1.0), ("random-hard-disk-1537004", 2.0)] {
        let home = Home::new();
        let drive = home.shared(name, &format!("per_second = {per_second:?}"));
        let document = measured("check", &drive.target, &["--deep"]);
        let access = document.said(FindingCode::AccessTime);
        let is = truth(&shipped(name), FindingCode::AccessTime);
        assert_eq!(covers(access, is), Some(true), "{name}: {access}, truth {is}");
    }
}

/// What the host adds is inside the latency, and the interval reaches down to the drive's; it makes no gain either.
#[test]
fn a_late_host_is_not_told_as_the_drive() {
    let home = Home::new();
    let document = accessed(&home.delayed("random-remote-61004", 60).target, &[]);
    let access = document.said(FindingCode::AccessTime);
    let is = truth(&shipped("random-remote-61004"), FindingCode::AccessTime);
    assert_eq!(covers(access, is), Some(true), "{access}, truth {is}");
    let gain = document.said(FindingCode::ConcurrencyGain);
    assert_eq!(covers(gain, 1.0), Some(true), "{gain}");
}

/// Of a mirror the other disk is asked, which is no disk that keeps nothing, and none of which so much is kept.
#[test]
fn what_a_drive_of_a_mirror_keeps_is_not_told() {
    let document = accessed("sim:raid1-2", &[]);
    for code in [FindingCode::ReadAhead, FindingCode::DriveCache] {
        let why = document.said(code)["unknown"].as_str().unwrap_or_default();
        assert!(why.starts_with("Inconclusive: several drives share the reads"), "{}", document.said(code));
    }
}

/// Three disks that read on by 2 MiB of their 32. On neighbours of the volume memory answered up to the end of a chunk, 37.9 KiB on average of
/// chunks of 64, which is no drive's reading on; and what the drives keep was told without what reading on takes of it.
#[test]
fn drives_of_a_stripe_read_on_over_their_own_chunks() {
    let document = accessed("sim:raid0-3x64k", &[]);
    for (code, mib) in [(FindingCode::ReadAhead, 2.0), (FindingCode::DriveCache, 96.0)] {
        let found = value(&document, code) / f64::from(1 << 20);
        assert!((found / mib - 1.0).abs() < 0.1, "{}", document.said(code));
    }
}

/// It prefetches 64 KiB. Of requests of 128 KiB half had been prefetched, which the cache kept twice: 2.99 of 6 MiB were told.
#[test]
fn a_cache_is_filled_with_what_was_prefetched_as_a_whole() {
    let document = accessed("sim:random-hard-disk-1400017", &[]);
    let kept = value(&document, FindingCode::DriveCache) / f64::from(1 << 20);
    assert!((kept / 6.0 - 1.0).abs() < 0.1, "{}", document.said(FindingCode::DriveCache));
}

#[test]
fn threads_are_counted_as_threads() {
    let document = accessed("sim:constant", &["--threads", "1,4,16", "--time-limit", "20s"]);
    let points = document.rows(FindingCode::ConcurrencyGain, "points");
    let threads: Vec<u64> = points.iter().filter_map(|point| point["threads"].as_u64()).collect();
    assert!(threads.starts_with(&[1, 4]) && threads.ends_with(&[16]), "{threads:?}");
    assert_eq!(document.said(FindingCode::ConcurrencyKnee)["data"]["axis"], "threads");
}

/// Eight servers of 100 µs complete 80,000 a second from 8 in flight on, within 1 ms up to 80: of what is measured, 10 or 25.
#[test]
fn a_latency_that_is_allowed_bounds_the_number_at_a_time() {
    let home = Home::new();
    let words = ["access", "sim:constant", "-q", "--seed", "1", "--time-limit", "20s", "--latency-budget"];
    let page = home.print(&[&words[..], &["1ms"]].concat());
    assert!(page.contains("99th percentile within 1 ms"), "{page}");
    let of_budget = page.rsplit("99th percentile within").next().unwrap_or_default();
    let fits = ["QD 10 ", "QD 25 "].iter().any(|depth| of_budget.contains(depth));
    assert!(fits && ["80,0", "79,9"].iter().any(|iops| of_budget.contains(iops)), "{of_budget}");
    let page = home.print(&[&words[..], &["50us"]].concat());
    assert!(page.contains("No queue depth stays within it"), "{page}");
}

/// No system reads a drive in virtual time, and who did not ask is told nothing.
#[test]
fn a_virtual_drive_has_no_page_cache() {
    let few = ["--buffered", "--depths", "1", "--blocks", "4KiB", "--spans", "50%", "--time-limit", "10s"];
    let document = accessed("sim:constant", &few);
    let why = document.said(FindingCode::SystemReadAhead)["unknown"].as_str().unwrap_or_default();
    assert!(why.contains("has no page cache"), "{}", document.json);
    let document = accessed("sim:constant", &few[1..]);
    assert_eq!(document.said(FindingCode::SystemReadAhead), &Value::Null);
}
