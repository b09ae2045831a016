//! `access` against drives whose truth is known: what it must find in three minutes, and what it must not.

mod program;

use program::*;
use serde_json::Value;
use sim::profile::preset_text;
use sim::truth;
use std::fs;
use std::process::Command;

/// Both with what they do with a queue: one that sorts it, one that takes a command at a time.
const DISKS: &[&str] = &["st3000dm001", "st3250823a", "exos-x20", "wd20ears"];
/// The first of these in a debug build.
const DISKS_IN_DEBUG: usize = 1;
const DEVICE_S_MAX: f64 = 180.0;
const DEVICE_S_MAX_FLASH: f64 = 30.0;

fn accessed(target: &str, options: &[&str]) -> Value {
    Home::new().json(&[&["access", target, "-q", "--seed", "1"], options].concat())
}

fn finding<'document>(document: &'document Value, code: &str) -> &'document Value {
    let findings = document["findings"].as_array().expect("findings");
    findings.iter().find(|finding| finding["code"] == code).unwrap_or(&Value::Null)
}

fn value(document: &Value, code: &str) -> f64 {
    let found = finding(document, code);
    found["value"].as_f64().unwrap_or_else(|| panic!("{code}: {found}"))
}

fn device_s(document: &Value) -> f64 {
    let last = document["phases"].as_array().and_then(|phases| phases.last()).expect("phases");
    last["start_s"].as_f64().unwrap() + last["seconds"].as_f64().unwrap()
}

fn true_value(name: &str, code: &str) -> f64 {
    let truths = truth::truth(name).expect("a drive that ships");
    truths.iter().find(|truth| truth.code.name() == code).and_then(|truth| truth.value()).expect("a number")
}

#[test]
fn a_disk_is_known_in_three_minutes() {
    let count = if cfg!(debug_assertions) { DISKS_IN_DEBUG } else { DISKS.len() };
    for disk in &DISKS[..count] {
        let document = accessed(&format!("sim:{disk}"), &[]);
        assert!(device_s(&document) <= DEVICE_S_MAX, "{disk}: {} s", device_s(&document));
        for (code, share) in [("access-time", 0.02), ("read-ahead", 0.1), ("drive-cache", 0.1)] {
            let (found, is) = (value(&document, code), true_value(disk, code));
            assert!((found / is - 1.0).abs() <= share, "{disk}, {code}: {found}, truth {is}");
        }
        let access = &finding(&document, "access-time")["data"];
        let part = |name: &str| access[name].as_f64().unwrap_or_else(|| panic!("{disk}: {name} of {access}"));
        let (turn_s, seek_s) = (true_value(disk, "rotation-period"), true_value(disk, "seek-average"));
        assert!((part("rotation_s") / (turn_s / 2.0) - 1.0).abs() < 1e-4, "{disk}: {access}");
        // The makers' average is over cylinders, this one over places: outside there are more of them.
        assert!((part("seek_s") / seek_s - 1.0).abs() < 0.15, "{disk}: {access}, average seek {seek_s}");
        // One arm: going on to two brings nothing, since one of them is being read and only the other waits.
        assert_eq!(value(&document, "concurrency-knee"), 1.0, "{disk}");
        assert!((1.6..2.8).contains(&value(&document, "span-effect")), "{disk}");
        assert_eq!(finding(&document, "wake-up"), &Value::Null, "{disk}");
    }
}

/// Eight servers of 100 µs: nothing else is there to find.
#[test]
fn a_drive_without_a_mechanism_shows_none() {
    let document = accessed("sim:constant", &[]);
    assert!(device_s(&document) <= DEVICE_S_MAX_FLASH + 5.0, "{} s", device_s(&document));
    assert!((value(&document, "access-time") / 100e-6 - 1.0).abs() < 1e-3);
    assert!((value(&document, "concurrency-gain") / 8.0 - 1.0).abs() < 0.02);
    let knee = finding(&document, "concurrency-knee");
    assert!(knee["low"].as_f64() <= Some(8.0) && knee["high"].as_f64() >= Some(8.0), "{knee}");
    for code in ["read-ahead", "drive-cache"] {
        assert!(finding(&document, code)["unknown"].is_string(), "{code}");
    }
    let document = accessed("sim:null", &[]);
    let found = document["findings"].as_array().expect("findings");
    assert!(found.iter().all(|finding| finding["unknown"].is_string()), "{found:#?}");
}

/// A disk in standby needs 12 s until its first answer, and that is said.
#[test]
fn a_disk_that_slept_is_said_to_have_slept() {
    let home = Home::new();
    let text = preset_text("st3000dm001").expect("a drive that ships");
    let path = home.folder.path().join("asleep.toml");
    let standby = "\n[disk.standby]\nafter_idle_s = 600\nwake_up_s = 12\nasleep = true\n";
    fs::write(&path, format!("{text}{standby}")).expect("a profile");
    let document = accessed(&format!("sim:{}", path.display()), &["--time-limit", "60s"]);
    assert!((12.0..12.1).contains(&value(&document, "wake-up")), "{}", finding(&document, "wake-up"));
}

/// Fifty reads a second for somebody else: then nobody can say what the arm takes, and an answer that came late is no end of
/// what was read on.
#[test]
fn what_somebody_else_holds_up_is_no_mechanism() {
    let home = Home::new();
    let text = preset_text("st3000dm001").expect("a drive that ships");
    let path = home.folder.path().join("busy.toml");
    let load = "\n[[faults]]\nkind = \"other-load\"\nper_second = 50\n";
    fs::write(&path, format!("{text}{load}")).expect("a profile");
    let document = accessed(&format!("sim:{}", path.display()), &[]);
    assert!(
        finding(&document, "access-time")["unknown"]
            .as_str()
            .is_some_and(|why| why.contains("something else used the drive")),
        "{}",
        finding(&document, "access-time")
    );
    assert!(finding(&document, "latency-modes")["unknown"].is_string());
    assert!(finding(&document, "drive-cache")["unknown"].is_string());
    let read_ahead = finding(&document, "read-ahead");
    assert!(read_ahead["value"].as_f64().is_none_or(|bytes| bytes > 0.0), "{read_ahead}");
}

/// Of a mirror the other disk is asked, which is no disk that keeps nothing, and none of which so much is kept.
#[test]
fn what_a_drive_of_a_mirror_keeps_is_not_told() {
    let document = accessed("sim:raid1-2", &[]);
    for code in ["read-ahead", "drive-cache"] {
        let why = finding(&document, code)["unknown"].as_str().unwrap_or_default();
        assert!(why.starts_with("Several drives share the reads"), "{}", finding(&document, code));
    }
}

/// Three disks that read on by 2 MiB of their 32. On neighbours of the volume memory answered up to the end of a chunk, 37.9 KiB on average of
/// chunks of 64, which is no drive's reading on; and what the drives keep was told without what reading on takes of it.
#[test]
fn drives_of_a_stripe_read_on_over_their_own_chunks() {
    let document = accessed("sim:raid0-3x64k", &[]);
    let is_near = |code: &str, mib: f64| {
        let found = finding(&document, code);
        let value = found["value"].as_f64().unwrap_or_default() / (1 << 20) as f64;
        assert!((value / mib - 1.0).abs() < 0.1, "{found}");
    };
    is_near("read-ahead", 2.0);
    is_near("drive-cache", 96.0);
}

#[test]
fn a_run_is_gone_on_with_by_its_own_command() {
    let home = Home::new();
    home.print(&["access", "sim:constant", "-q", "--seed", "1", "--time-limit", "5s"]);
    let outcome = home.run(&["geometry", "--resume", "last"]);
    assert_eq!(outcome.status, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("drivescope access --resume"), "{}", outcome.err);
}

#[test]
fn threads_are_counted_as_threads() {
    let document = accessed("sim:constant", &["--threads", "1,4,16", "--time-limit", "20s"]);
    let points =
        finding(&document, "concurrency-gain")["data"]["points"].as_array().cloned().expect("points");
    let threads: Vec<u64> = points.iter().filter_map(|point| point["threads"].as_u64()).collect();
    assert!(threads.starts_with(&[1, 4]) && threads.ends_with(&[16]), "{threads:?}");
    assert_eq!(finding(&document, "concurrency-knee")["data"]["axis"], "threads");
}

/// By 100 at a time this drive has 97.7 in its queue for 7.7 it serves: 80,000 a second, and each waits 1.25 ms.
#[test]
fn a_latency_that_is_allowed_bounds_the_number_at_a_time() {
    let home = Home::new();
    let words = ["access", "sim:constant", "-q", "--seed", "1", "--time-limit", "20s", "--latency-budget"];
    let page = home.print(&[&words[..], &["1ms"]].concat());
    assert!(page.contains("99 of 100 answers within 1 ms"), "{page}");
    let of_budget = page.rsplit("99 of 100 answers").next().unwrap_or_default();
    assert!(of_budget.contains("at a time") && of_budget.contains("80"), "{of_budget}");
    let page = home.print(&[&words[..], &["50us"]].concat());
    assert!(page.contains("more than was allowed"), "{page}");
}

/// What `access --buffered` finds of a loop device that is told to read on by so many sectors of 512 bytes.
fn read_on_by_the_system(device: &LoopDevice, sectors: &str) -> Value {
    let set = outcome(Command::new("blockdev").args(["--setra", sectors]).arg(&device.path));
    assert_eq!(set.status, Some(0), "{}", set.err);
    let few = ["--buffered", "--depths", "1", "--blocks", "4KiB", "--spans", "50%"];
    let document = accessed(&device.path, &few);
    finding(&document, "system-read-ahead").clone()
}

/// What is set is the truth: windows of 128 KiB, of which one to two lie ahead of a reader; none. A single read brings nothing along, two
/// in a row four pages from the second on, as `get_init_ra_size` of Linux has it for such windows.
#[test]
fn how_far_the_system_reads_on_is_measured() {
    let image = Image::new(64);
    let Some(device) = LoopDevice::over(&image.path, "how_far_the_system_reads_on_is_measured") else {
        return;
    };
    let found = read_on_by_the_system(&device, "256");
    let bytes = found["value"].as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!((131_072.0..262_144.0).contains(&bytes), "{found}");
    assert_eq!(
        (found["data"]["after_one_bytes"].as_u64(), found["data"]["by"].as_str()),
        (Some(0), Some("system"))
    );
    assert_eq!(found["data"]["after_two_bytes"].as_u64(), Some(12_288));
    assert_eq!(found["data"]["system_says_bytes"].as_u64(), Some(131_072));
    assert!(found["evidence"].as_array().is_some_and(|evidence| evidence.len() == 1), "{found}");
    let found = read_on_by_the_system(&device, "0");
    assert_eq!(found["value"].as_f64(), Some(0.0), "{found}");
    assert!(
        found["statement"].as_str().is_some_and(|text| text.contains("reads nothing but what is asked for")),
        "{found}"
    );
}

/// No system reads a drive in virtual time, and who did not ask is told nothing.
#[test]
fn a_virtual_drive_has_no_page_cache() {
    let few = ["--buffered", "--depths", "1", "--blocks", "4KiB", "--spans", "50%", "--time-limit", "10s"];
    let document = accessed("sim:constant", &few);
    let why = finding(&document, "system-read-ahead")["unknown"].as_str().unwrap_or_default();
    assert!(why.contains("no page cache over it"), "{document}");
    let document = accessed("sim:constant", &few[1..]);
    assert_eq!(finding(&document, "system-read-ahead"), &Value::Null);
}

#[test]
fn lists_that_make_no_sense_are_named() {
    let home = Home::new();
    for (words, expected) in [
        (&["--depths", "0"][..], "0"),
        (&["--depths", "5000"][..], "5000"),
        (&["--spans", "150%"][..], "--spans"),
        (&["--blocks", "12apples"][..], "--blocks"),
        (&["--blocks", "1000,4KiB"][..], "no multiple"),
        (&["--latency-budget", "0ms"][..], "--latency-budget"),
    ] {
        let outcome = home.run(&[&["access", "sim:constant"], words].concat());
        assert_eq!(outcome.status, Some(2), "{words:?}: {}", outcome.err);
        assert!(outcome.err.contains(expected), "{words:?}: {}", outcome.err);
    }
}
