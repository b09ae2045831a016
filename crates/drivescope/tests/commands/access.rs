//! What `access` takes, refuses and resumes, and the read-ahead of this system.

use crate::program::*;
use serde_json::Value;
use std::process::Command;

#[test]
fn a_run_is_gone_on_with_by_its_own_command() {
    let home = Home::new();
    home.print(&["access", "sim:constant", "-q", "--seed", "1", "--time-limit", "5s"]);
    let outcome = home.run(&["geometry", "--resume", "last"]);
    assert_eq!(outcome.status, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("drivescope access --resume"), "{}", outcome.err);
}

/// What `access --buffered` finds of a loop device that is told to read on by so many sectors of 512 bytes.
fn read_on_by_the_system(device: &LoopDevice, sectors: &str) -> Value {
    let set = outcome(Command::new("blockdev").args(["--setra", sectors]).arg(&device.path));
    assert_eq!(set.status, Some(0), "{}", set.err);
    let few = ["--buffered", "--depths", "1", "--blocks", "4KiB", "--spans", "50%"];
    let words = [&["access", &device.path, "-q", "--seed", "1"], &few[..]].concat();
    let document = Home::new().json(&words);
    let findings = document["findings"].as_array().expect("findings");
    findings.iter().find(|finding| finding["code"] == "system-read-ahead").cloned().unwrap_or_default()
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
    assert!(found["statement"].as_str().is_some_and(|text| text.contains("reads nothing ahead")), "{found}");
}

/// Too few requests complete at the largest depth for a 99th percentile.
#[test]
fn depths_without_a_99th_percentile_are_named() {
    let home = Home::new();
    let depths = ["--depths", "1,2,5,10,25,100,250,1000", "--time-limit", "10s"];
    home.print(&[&["access", "sim:x25-m", "--seed", "1", "--quiet"], &depths[..]].concat());
    let page = home.print(&["estimate", "last", "--latency-budget", "1ms"]);
    assert!(page.contains("Not considered: QD 250, QD 1000."), "{page}");
    let budget = &home.json(&["estimate", "last", "--latency-budget", "1ms"])["budgets"][0];
    assert_eq!(budget["without_p99"], serde_json::json!([250, 1000]), "{budget}");
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
