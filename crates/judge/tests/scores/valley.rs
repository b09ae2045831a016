//! `valleys` against drives whose truth is known: the drive on which valleys were first seen, drives that stall by bytes, drives
//! drawn at random, and drives that have none. In a debug build with fewer drives.

use crate::home::{Home, measured};
use experiment::request::Supplies;
use experiment::valleys::{Amount, Condition, Valleys, ValleysRequest};
use experiment::{Experiment, Setup};
use judge::document::{Document, number, rows};
use judge::truth::Truths;
use model::finding::FindingCode;
use model::range::ByteRange;
use model::units::{Bytes, Offset};
use serde_json::Value;
use sim::truth::TruthData;

fn valleys(target: &str, options: &[&str]) -> Document {
    measured("valleys", target, &[&["--write"], options].concat())
}

/// Passes at full rate: how many valleys each had, and how wide they were.
fn passes(found: &Value) -> Vec<(u64, f64)> {
    let full = rows(&found["data"]["passes"]).iter().filter(|row| row["slowed"] == false);
    full.map(|row| (number(row, "valleys") as u64, number(row, "width_s"))).collect()
}

/// After mixed writes: one a minute, below a second, by time; narrower with each pass, and then they stay.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn the_first_drive_with_valleys_has_them() {
    let document = valleys("sim:x25-m", &["--condition", "mixed"]);
    let found = document.said(FindingCode::WriteValleys);
    let data = &found["data"];
    let number = |name: &str| data[name].as_f64().unwrap_or_else(|| panic!("{name} of {found}"));
    assert!((number("interval_s") / 60.0 - 1.0).abs() <= 0.05, "{found}");
    assert!((number("depth_ratio") - 0.1).abs() < 0.02, "{found}");
    assert_eq!(data["by"], "time");
    let passes = passes(found);
    // 24 GB take 344 s.
    assert!(passes.iter().all(|(count, _)| (5..=6).contains(count)), "{passes:?}");
    assert!((passes[0].1 / 0.84 - 1.0).abs() < 0.2, "{passes:?}");
    assert!(passes.windows(2).all(|pair| pair[1].1 <= pair[0].1 * 1.05), "{passes:?}");
    assert!(number("passes_to_stable") >= 4.0, "{found}");
}

/// What was seen of that drive: a fill with large blocks takes them away and one with smaller ones does not; overwriting one half
/// does nothing for the other.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn what_takes_valleys_away_is_found() {
    let words = ["--range", "0..24GiB", "--condition", "mixed,seq:1MiB,seq:8MiB"];
    let document = valleys("sim:x25-m", &words);
    let cure = document.said(FindingCode::ValleyCure);
    assert_eq!(cure["value"], "fill", "{cure}");
    assert_eq!(cure["data"]["block_bytes"], 8 << 20, "{cure}");
    // The run knows what takes them away; what took those of another drive away is not told beside it.
    let advice = document.said(FindingCode::WriteValleys)["advice"].as_str().expect("advice");
    assert!(advice.starts_with("Repeat short sequential-write tests"), "{advice}");
    let document = valleys(
        "sim:x25-m",
        &["--range", "0..48GiB", "--condition", "mixed", "--over", "halves", "--passes", "5"],
    );
    let cure = document.said(FindingCode::ValleyCure);
    assert_eq!(cure["data"]["area"], "what is written", "{cure}");
}

/// A disk that is slow where it goes over to its next surface, and a slowed pass from elsewhere that shows nothing of it: "every 880 ms" was
/// told of the same places of three passes.
#[test]
fn slow_places_of_a_disk_are_no_rhythm() {
    let document = valleys("sim:random-hard-disk-997005", &["--range", "0..1GB", "--passes", "3"]);
    let data = &document.said(FindingCode::WriteValleys)["data"];
    assert_eq!(data["places"], serde_json::json!([676_921_344, 785_842_176, 901_120_000]), "{data}");
    assert!(data["interval_s"].is_null(), "{data}");
}

/// A drive that writes out its table after so many bytes.
#[test]
fn stalls_by_bytes_are_told_from_stalls_by_time() {
    let home = Home::new();
    let text = judge::virtual_drive::text("x25-m").expect("a drive that ships");
    let housekeeping = &text[text.rfind("[flash.housekeeping]").expect("it has valleys")..];
    let more = "[flash.map_flush]\nevery_mib = 700\nstall_ms = 300\n";
    let drive = home.changed("x25-m", &[(housekeeping, "")], more);
    let truths = Truths::of(&drive.profile).expect("a sound drive");
    let Some(TruthData::Stalls { interval_bytes, width_s: stall_s, .. }) =
        truths.get(FindingCode::WriteValleys).map(|truth| &truth.data)
    else {
        panic!("it stalls");
    };
    let document = valleys(&drive.target, &["--range", "0..5GiB"]);
    let found = document.said(FindingCode::WriteValleys);
    assert_eq!(found["data"]["by"], "bytes", "{found}");
    let bytes = found["data"]["interval_bytes"].as_f64().expect("an interval");
    assert!((bytes / interval_bytes - 1.0).abs() <= 0.05, "{found}");
    let width_s = found["data"]["width_s"].as_f64().expect("a width");
    assert!((width_s / stall_s - 1.0).abs() <= 0.2, "{found}");
}

/// Disks with surfaces and zones, flash with caches, drives without a mechanism, and one that somebody else reads from every 20 s.
#[test]
fn there_are_none_where_there_are_none() {
    let all = ["null", "constant", "zoned", "st3000dm001", "wd20ears", "sata-tlc-500gb", "970-pro", "660p"];
    let count = if cfg!(debug_assertions) { 2 } else { all.len() };
    for name in &all[..count] {
        let document = valleys(&format!("sim:{name}"), &["--range", "0..6GiB"]);
        let found = document.said(FindingCode::WriteValleys);
        assert!(found["value"].as_f64().is_none_or(|count| count == 0.0), "{name}: {found}");
    }
    let home = Home::new();
    let drive = home.shared("zoned", "queue_depth = 8\nseconds = 0.5\nevery_s = 20");
    let document = valleys(&drive.target, &["--range", "0..6GiB"]);
    let found = document.said(FindingCode::WriteValleys);
    assert!(found["value"].as_f64().is_none_or(|count| count == 0.0), "{found}");
}

#[test]
fn what_cannot_be_asked_is_said() {
    let home = Home::new();
    for (words, expected) in [
        (&["valleys", "sim:x25-m"][..], "--write"),
        (&["valleys", "sim:x25-m", "--write", "--condition", "sometimes"], "sometimes"),
        (&["valleys", "sim:x25-m", "--write", "--blocks", "1000"], "1000"),
        (&["valleys", "sim:x25-m", "--write", "--range", "0..10MiB"], "256 MiB"),
        (&["valleys", "sim:x25-m", "--write", "--over", "0..1TB"], "--over"),
    ] {
        let outcome = home.run(words);
        assert_eq!(outcome.status, Some(2), "{words:?}: {}", outcome.err);
        assert!(outcome.err.contains(expected), "{words:?}: {}", outcome.err);
    }
}

/// What a drive that ships is asked for.
fn setup(drive: &str, bytes: u64, empty: bool) -> Setup {
    let facts = sim::open(drive, 1).expect("a drive that ships").facts().clone();
    let range = ByteRange::new(Offset::START, Bytes::new(bytes)).expect("a range");
    Setup { facts, range, may_write: true, empty, seed: 1, time_limit: None, precision: None }
}

/// Each phase that changes what is on the drive: its name, where, and how much.
fn changes(document: &Document) -> Vec<(String, u64, u64, u64)> {
    let of = |phase: &Value| {
        let operations = rows(&phase["by_operation"]);
        let changing =
            operations.iter().filter(|of| of["operation"] == "write" || of["operation"] == "discard");
        let bytes: u64 = changing.filter_map(|of| of["bytes"].as_u64()).sum();
        let range = &phase["workload"]["range"];
        let first = range["first_byte"].as_u64().unwrap_or(0);
        let end = first + range["bytes"].as_u64().unwrap_or(0);
        (phase["name"].as_str().unwrap_or_default().to_string(), first, end, bytes)
    };
    let phases = document.phases();
    phases.iter().map(of).filter(|(.., bytes)| *bytes > 0).collect()
}

/// What the plan calls "at most" is: also where passes are short, and where there is much to compare.
#[test]
fn no_more_is_written_than_was_said() {
    const GIB: u64 = 1 << 30;
    let mixed = ["--condition", "mixed:1GB"];
    let mut cases = vec![("zoned", GIB, &[][..], vec![]), ("x25-m", GIB, &["--passes", "2"], vec![])];
    if !cfg!(debug_assertions) {
        let condition = Condition::Mixed(Amount::Bytes(Bytes::new(1_000_000_000)));
        cases.push(("x25-m", GIB, &mixed, vec![condition]));
        cases.push(("x25-m", 5 * GIB, &[], vec![]));
    }
    for (drive, bytes, options, conditions) in cases {
        let passes = options.contains(&"--passes").then_some(2);
        let request = ValleysRequest { condition: conditions, passes, ..ValleysRequest::default() };
        let said = Valleys::new(setup(drive, bytes, false), &request, &Supplies::default())
            .expect("a plan")
            .remaining();
        let range = format!("0..{}GiB", bytes / GIB);
        let document = valleys(&format!("sim:{drive}"), &[options, &["--range", &range]].concat());
        let written: u64 = changes(&document).iter().map(|(.., bytes)| bytes).sum();
        let phases = document.phases().len() as u32;
        let at_most = said.writes().expect("bytes bound it");
        assert!(
            written <= at_most.get() && phases <= said.phases(),
            "{drive}: {written} of {at_most}, {phases}"
        );
    }
}

/// A scratch file is filled, passed over ten times, and once more to compare.
#[test]
fn a_file_is_written_no_more_than_twelve_times() {
    let plan = Valleys::new(setup("x25-m", 4 << 30, true), &ValleysRequest::default(), &Supplies::default())
        .expect("a plan");
    let said = plan.remaining().writes().expect("bytes bound it");
    assert!(said <= Bytes::new(12 * (4 << 30)), "{said}");
}

/// Conditions touch what is passed over, and nothing else.
#[test]
fn only_the_parts_that_are_asked_for_are_touched() {
    const GIB: u64 = 1 << 30;
    let conditions = if cfg!(debug_assertions) { "erase" } else { "erase,mixed,sequential:8MiB,halves" };
    let words = ["--range", "0..8GiB", "--passes", "1", "--condition", conditions, "--over"];
    for (over, parts) in
        [("0%..12.5%", &[(0, GIB)][..]), ("25%..37.5%,50%..62.5%", &[(2 * GIB, 3 * GIB), (4 * GIB, 5 * GIB)])]
    {
        let document = valleys("sim:x25-m", &[&words[..], &[over]].concat());
        for (name, first, end, _) in changes(&document) {
            let is_inside = parts.iter().any(|part| part.0 <= first && end <= part.1);
            assert!(is_inside, "{over}: `{name}` from {first} to {end}");
        }
    }
}

#[test]
fn a_plan_that_ships_may_condition() {
    let words = ["--range", "0..1GiB", "--passes", "1", "--condition", "plan:mixed-writes:2s"];
    let document = valleys("sim:x25-m", &words);
    let phases = document.phases();
    assert!(phases.iter().any(|phase| phase["kind"] == "precondition"), "{phases:?}");
}
