//! What `access` says of one drive and of several, against drives whose truth is known: members and chunk exactly, one
//! drive where there is one, and nothing where nothing can be seen.

mod program;

use program::*;
use serde_json::Value;

/// What a run concludes, or what is true: members, kind, chunk.
#[derive(Clone, Debug, PartialEq)]
struct Shape {
    members: u64,
    kind: String,
    chunk_bytes: Option<u64>,
}

impl Shape {
    /// None where it is unknown.
    fn of(entry: &Value) -> Option<Shape> {
        Some(Shape {
            members: entry["value"].as_f64()? as u64,
            kind: entry["data"]["kind"].as_str().expect("a kind").to_owned(),
            chunk_bytes: entry["data"]["chunk_bytes"].as_u64(),
        })
    }
}

fn entry<'a>(list: &'a Value, name: &str) -> &'a Value {
    let entries = list.as_array().expect("a list");
    entries
        .iter()
        .find(|entry| entry["code"] == "stripe-layout")
        .unwrap_or_else(|| panic!("{name}: nothing is said"))
}

fn truth(name: &str) -> Option<Shape> {
    let text = Home::new().print(&["sim", "truth", name, "--json"]);
    let document: Value = serde_json::from_str(&text).expect("the truth is JSON");
    Shape::of(entry(&document["truths"], name))
}

fn found(name: &str) -> Option<Shape> {
    let target = format!("sim:{name}");
    let document = Home::new().json(&["access", &target, "-q", "--seed", "1"]);
    Shape::of(entry(&document["findings"], name))
}

/// Hits, unknown ones and wrong ones of these drives.
fn score(names: impl Iterator<Item = String>) -> (usize, Vec<String>, Vec<String>) {
    let (mut hits, mut unknown, mut wrong) = (0, Vec::new(), Vec::new());
    for name in names {
        match (found(&name), truth(&name)) {
            (None, _) => unknown.push(name),
            (Some(found), Some(truth)) if found == truth => hits += 1,
            (found, truth) => wrong.push(format!("{name}: {found:?}, truth {truth:?}")),
        }
    }
    (hits, unknown, wrong)
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn one_drive_and_several_are_told() {
    let names = ["raid0-3x64k", "raid1-2", "dt01aca300", "random-volume-1", "random-volume-9"];
    let (hits, unknown, wrong) = score(names.into_iter().map(String::from));
    // Counting the arms of a mirror is a matter of chance: one in twenty is not certain when the time is up.
    assert!(hits >= 4 && wrong.is_empty(), "{hits}, {unknown:?}, {wrong:?}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn nothing_is_said_where_no_arm_moves() {
    for name in ["null", "constant", "970-pro"] {
        assert_eq!(found(name), None, "{name}");
    }
}

/// Three disks with chunks that are none of those looked for. A layout of more disks would explain some of the waiting, but three
/// arms answer.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn chunks_that_are_not_looked_for_are_not_told_as_others() {
    for chunk_kib in [36, 44, 32_768] {
        let text = sim::profile::preset_text("raid0-3x64k").expect("it ships").into_owned();
        assert!(text.contains("chunk_kib = 64"), "{text}");
        let text = text.replace("chunk_kib = 64", &format!("chunk_kib = {chunk_kib}"));
        let home = Home::new();
        let path = home.folder.path().join("odd.toml");
        std::fs::write(&path, text).expect("a profile");
        let target = format!("sim:{}", path.display());
        let document = home.json(&["access", &target, "-q", "--seed", "1"]);
        let told = Shape::of(entry(&document["findings"], "odd"));
        assert!(told.as_ref().is_none_or(|shape| shape.members == 3), "{chunk_kib} KiB: {told:?}");
    }
}

#[test]
#[ignore = "300 drives take half an hour"]
fn drawn_drives_are_told() {
    let volumes = (0..200).map(|number| format!("random-volume-{number}"));
    let (hits, unknown, wrong) = score(volumes);
    // A mirror that reads one of its drives only cannot be told from one drive, and some are drawn.
    println!("volumes: {hits} told, {} unknown, wrong {wrong:#?}", unknown.len());
    assert!(
        wrong.iter().all(|line| line.contains("truth Some(Shape { members: ") && line.contains("\"mirror\""))
    );
    let disks = (0..100).map(|number| format!("random-hard-disk-{number}"));
    let (hits, unknown, wrong) = score(disks);
    println!("disks: {hits} told, unknown {unknown:?}, wrong {wrong:#?}");
    assert!(hits >= 98 && wrong.is_empty());
}
