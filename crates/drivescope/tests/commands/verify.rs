//! `verify` against drives whose truth is known: capacity that lies in each way, and data that go wrong in each way.

use crate::program::*;
use model::units::Bytes;
use serde_json::Value;
use sim::fault::{Corruption, FaultProfile};
use std::fs;

/// A flash stick of that size with these faults, as a profile in a folder of its own.
fn stick(home: &Home, capacity: u64, faults: &str) -> String {
    let path = home.folder.path().join("stick.toml");
    let text = format!(
        "version = 1\nname = \"stick\"\ndescription = \"a stick\"\n[identity]\ncapacity_bytes = {capacity}\n\
         logical_block_bytes = 512\nphysical_block_bytes = 512\nrotational = false\ntrim = false\n\
         [constant]\nlatency_us = 100.0\nservers = 1\n{faults}"
    );
    fs::write(&path, text).expect("a profile");
    format!("sim:{}", path.display())
}

fn finding<'run>(run: &'run Value, code: &str) -> &'run Value {
    let findings = run["findings"].as_array().expect("findings");
    findings
        .iter()
        .find(|finding| finding["code"] == code)
        .unwrap_or_else(|| panic!("no {code}: {findings:?}"))
}

fn verified(home: &Home, target: &str, more: &[&str]) -> Value {
    home.json(&[&["verify", target, "--write", "--seed", "7", "--quiet"], more].concat())
}

#[test]
fn a_stick_that_wraps_is_known_to_the_byte() {
    let home = Home::new();
    let run = verified(&home, "sim:lying-stick", &[]);
    let capacity = finding(&run, "capacity-true");
    assert_eq!(
        (capacity["value"].as_f64(), capacity["low"] == capacity["high"]),
        (Some(8e9), true),
        "{capacity}"
    );
    assert_eq!(finding(&run, "data-integrity")["value"], 0.0);
    let page = home.print(&["show"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "142 reads past the true capacity did not return what was written";
    assert!(page.contains(said) && !page.contains("requests failed"), "{page}");
    for real in [64 << 20, 33_001 * 4096u64, 3_900_002_304, 3_999_895_552] {
        let lie = format!("[[faults]]\nkind = \"lying-capacity\"\nreal_bytes = {real}\n");
        let run = verified(&home, &stick(&home, 4_000_000_000, &lie), &[]);
        assert_eq!(finding(&run, "capacity-true")["value"].as_f64(), Some(real as f64));
    }
}

/// A start that nothing wraps to keeps the file system of a fake whole.
#[test]
fn a_stick_that_wraps_but_spares_its_start_is_known_to_the_block() {
    let mib = 1u64 << 20;
    let sticks = [
        (8192 * mib, 128 * mib),
        (5_000_003_584, 1024 * mib),
        (62_464 * mib, 100 * mib + 4096),
        // Less than what is marked of the start.
        (8192 * mib, mib),
        (5_000_003_584, 33 * mib + 4096),
        (62_464 * mib, 4096),
    ];
    for (real, spared) in sticks {
        let home = Home::new();
        let lie =
            format!("[[faults]]\nkind = \"lying-capacity\"\nreal_bytes = {real}\nspared_bytes = {spared}\n");
        let run = verified(&home, &stick(&home, 64 << 30, &lie), &[]);
        let capacity = finding(&run, "capacity-true");
        assert_eq!(capacity["value"].as_f64(), Some(real as f64), "{capacity}");
        assert_eq!(
            (&capacity["low"], &capacity["data"]["past_the_end"]),
            (&capacity["high"], &"wraps".into())
        );
        assert_eq!(finding(&run, "data-integrity")["value"], 0.0);
    }
}

/// Such a stick remembers what was written last, so that whoever compares at once is deceived.
#[test]
fn a_stick_that_loses_what_is_past_its_end_is_known_to_the_block() {
    for (real, remembers) in [(5_000_003_584u64, 1000), (63_998_996_480, 0), (130 << 20, 4000)] {
        let home = Home::new();
        let lie = format!(
            "[[faults]]\nkind = \"loses-past-end\"\nreal_bytes = {real}\nremembers_blocks = {remembers}\n"
        );
        let run = verified(&home, &stick(&home, 64_000_000_000, &lie), &[]);
        let capacity = finding(&run, "capacity-true");
        assert_eq!(capacity["value"].as_f64(), Some(real as f64), "{capacity}");
        assert_eq!(capacity["low"], capacity["high"]);
        assert_eq!(finding(&run, "data-integrity")["value"], 0.0);
    }
}

#[test]
fn a_sound_drive_holds_all_it_claims() {
    let home = Home::new();
    for name in ["null", "zoned", "constant"] {
        let run = verified(&home, &format!("sim:{name}"), &[]);
        let capacity = finding(&run, "capacity-true");
        assert_eq!(capacity["value"].as_f64(), run["target"]["capacity_bytes"].as_f64(), "{name}");
        let wrong = finding(&run, "data-integrity");
        assert_eq!(wrong["value"], 0.0);
        // 1 - 0.05^(1/501)
        assert!((wrong["data"]["share_max"].as_f64().unwrap() - 0.00596).abs() < 1e-4, "{wrong}");
    }
}

/// Every block is compared, so that the number of wrong ones is that of the truth.
#[test]
fn data_that_go_wrong_are_counted_by_kind() {
    const CAPACITY: u64 = 40 << 20;
    let kinds = [
        ("bit-flip", Corruption::BitFlip, "flipped", 1),
        ("zero", Corruption::Zero, "blank", 1),
        ("stale", Corruption::Stale, "stale", 1),
        // What is overwritten by the write of another place, and that place, which keeps what it had.
        ("misplaced-write", Corruption::MisplacedWrite, "misplaced", 2),
    ];
    for (name, corruption, kind, blocks_each) in kinds {
        let home = Home::new();
        let fault = format!(
            "[[faults]]\nkind = \"silent-corruption\"\ncorruption = \"{name}\"\nevery_blocks = 499\n"
        );
        let run = verified(&home, &stick(&home, CAPACITY, &fault), &["--full", "--passes", "2"]);
        let fault =
            FaultProfile::SilentCorruption { corruption, every_blocks: 499, first_byte: 0, bytes: None };
        let truth = sim::contents::wrong_blocks(Bytes::new(CAPACITY), &[fault], 7);
        let wrong = finding(&run, "data-integrity");
        let found = wrong["data"]["kinds"][kind].as_u64().unwrap_or(0);
        assert!(found >= truth, "{name}: {truth}, {wrong}");
        let all = wrong["value"].as_f64().unwrap();
        assert!((truth as f64..=(truth * blocks_each) as f64).contains(&all), "{name}: {truth}, {wrong}");
        assert_eq!(finding(&run, "capacity-true")["value"].as_f64(), Some(CAPACITY as f64), "{name}");
        // Whatever was compared, a drive that fails is not tested again.
        let advice = wrong["advice"].as_str().unwrap();
        assert!(advice.starts_with("Save your data and replace the drive."), "{advice}");
    }
}

#[test]
fn what_was_written_is_compared_later_and_changes_are_told() {
    let home = Home::new();
    let image = Image::blank(16);
    let file = image.path.to_str().unwrap();
    let written = home.json(&[
        "verify",
        file,
        "--write",
        "--write-only",
        "--destroy-data",
        "--confirm",
        file,
        "--quiet",
    ]);
    let sound = home.json(&["verify", file, "--read-back", "last", "--quiet"]);
    assert_eq!(finding(&sound, "data-integrity")["value"], 0.0, "{sound}");
    assert!(sound["phases"].as_array().unwrap().iter().all(|phase| phase["kind"] == "verify"));
    let mut bytes = fs::read(&image.path).unwrap();
    bytes[12345] ^= 4;
    bytes[1 << 20..(1 << 20) + 8192].fill(0);
    fs::write(&image.path, bytes).unwrap();
    let id = written["run"]["id"].as_str().unwrap();
    let changed = home.json(&["verify", file, "--read-back", id, "--quiet"]);
    let wrong = finding(&changed, "data-integrity");
    assert_eq!(wrong["value"], 3.0, "{wrong}");
    assert_eq!(
        (&wrong["data"]["kinds"]["flipped"], &wrong["data"]["kinds"]["blank"]),
        (&1.into(), &2.into())
    );
}

#[test]
fn verify_says_what_it_needs() {
    let home = Home::new();
    let image = Image::blank(4);
    let refused = home.run(&["verify", image.path.to_str().unwrap()]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("--write") && refused.err.contains("--read-back RUN"), "{}", refused.err);
}

/// A part of a counterfeit is that part, and only the whole is what it claims.
#[test]
fn what_was_overwritten_on_a_counterfeit_is_named() {
    let home = Home::new();
    let verify = ["verify", "sim:lying-stick", "--write", "--seed", "1"];
    let one_line = |page: String| page.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = one_line(home.print(&verify));
    assert!(whole.contains("overwrote data in places across the claimed 128 GB;"), "{whole}");
    let part = one_line(home.print(&[&verify[..], &["--range", "0..10%"]].concat()));
    assert!(part.contains("overwrote data in places across the first 12.8 GB of the drive;"), "{part}");
}
