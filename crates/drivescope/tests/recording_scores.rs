//! What kind of drive it is and what using a part of it gains, by `sustain`, against drives whose truth is known.

mod program;

use model::finding::FindingCode;
use program::Home;
use serde_json::Value;
use sim::profile::{Profile, preset_text};
use sim::truth::{Truth, truth_of};
use std::fs;

fn sustain(target: &str, options: &[&str]) -> Value {
    let words = [&["sustain", target, "--write", "-q", "--seed", "1", "--json", "-"], options].concat();
    let outcome = Home::new().run(&words);
    serde_json::from_str(&outcome.out)
        .unwrap_or_else(|error| panic!("{words:?} printed no JSON ({error}): {}", outcome.err))
}

fn finding(document: &Value, code: FindingCode) -> &Value {
    let findings = document["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| finding["code"] == code.name());
    found.unwrap_or_else(|| panic!("no {}: {findings:?}", code.name()))
}

#[test]
fn disks_and_flash_are_told_apart() {
    for (name, kind) in [("st3250823a", "cmr"), ("random-hard-disk-3", "cmr"), ("sata-tlc-500gb", "flash")] {
        let document = sustain(&format!("sim:{name}"), &[]);
        let found = finding(&document, FindingCode::RecordingKind);
        assert_eq!(found["value"], kind, "{name}: {found}");
    }
}

#[test]
fn a_shingled_disk_is_told_by_what_its_writes_cost() {
    let document = sustain("sim:random-shingled-7", &[]);
    assert_eq!(finding(&document, FindingCode::RecordingKind)["value"], "smr");
    let bands = finding(&document, FindingCode::BandSize);
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{bands}"));
    let profile =
        Profile::parse(&preset_text("random-shingled-7").expect("it can be drawn"), "7").expect("sound");
    let zones = &profile.smr.as_ref().expect("it is shingled").band_zones;
    let at = number(&bands["data"]["first_byte"]) as u64;
    let is = zones.iter().rfind(|zone| zone.first_byte <= at).expect("a zone").band_bytes as f64;
    assert!(number(&bands["low"]) <= is && is <= number(&bands["high"]), "{bands}, truth {is}");
    assert!((number(&bands["value"]) / is - 1.0).abs() < 0.03, "{bands}, truth {is}");
}

#[test]
fn what_has_neither_arm_nor_cells_is_unknown() {
    let document = sustain("sim:constant", &["--bytes", "2GB"]);
    let found = finding(&document, FindingCode::RecordingKind);
    assert!(found["unknown"].as_str().is_some_and(|why| why.contains("same time")), "{found}");
}

/// An X25-M with a fortieth of its blocks, new, that takes TRIM and has no housekeeping. It has more spare space than drives for servers,
/// so that its rate settles within what SNIA writes for that.
fn small_flash() -> (tempfile::TempDir, String, Vec<Truth>) {
    let text = preset_text("x25-m").expect("it ships").into_owned();
    let section = text.find("\n[flash.housekeeping]").expect("it has a section of housekeeping");
    let own = &text[..=section];
    let text = own
        .replace("capacity_bytes = 80026361856", "capacity_bytes = 2000683008")
        .replace("initial = \"filled\"", "initial = \"fresh\"")
        .replace("trim = false", "trim = true")
        .replace("over_provisioning = 0.0734", "over_provisioning = 0.6");
    let profile = Profile::parse(&text, "small").expect("a sound profile");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.toml");
    fs::write(&path, text).expect("written");
    let truths = truth_of(&profile).expect("a drive that can be");
    (folder, format!("sim:{}", path.display()), truths)
}

fn error(found: &Value, truths: &[Truth], code: FindingCode) -> f64 {
    let truth = truths.iter().find(|truth| truth.code == code).and_then(Truth::value).expect("a truth");
    found["value"].as_f64().unwrap_or_else(|| panic!("{found}")) / truth - 1.0
}

#[test]
fn the_lasting_rate_and_what_half_the_drive_gains() {
    let (_folder, target, truths) = small_flash();
    let document = sustain(&target, &["--until", "steady", "--bytes", "24GB"]);
    let code = FindingCode::WriteSteadyState;
    let off = error(finding(&document, code), &truths, code);
    // A rate counts as steady that still changes by 10 % over the window.
    assert!(off.abs() < 0.1, "{off}");
    let document = sustain(&target, &["--clip=100%,50%"]);
    let code = FindingCode::ClippingEffect;
    let off = error(finding(&document, code), &truths, code);
    // Flash of so few blocks keeps a larger share of them free than the closed form says.
    assert!(off.abs() < 0.1, "{off}");
}
