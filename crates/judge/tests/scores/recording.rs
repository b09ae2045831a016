//! What kind of drive it is and what using a part of it gains, by `sustain`, against drives whose truth is known.

use crate::home::{Home, ended, shipped, truth, value};
use judge::document::{Document, covers};
use judge::threads::on_two_threads;
use judge::virtual_drive::{Drive, named};
use judge::writes::score::true_band_bytes;
use model::finding::FindingCode;
use sim::profile::preset_text;

fn sustain(target: &str, options: &[&str]) -> Document {
    ended("sustain", target, &[&["--write"], options].concat())
}

#[test]
fn disks_and_flash_are_told_apart() {
    for (name, kind) in [("st3250823a", "cmr"), ("random-hard-disk-3", "cmr"), ("sata-tlc-500gb", "flash")] {
        let document = sustain(&format!("sim:{name}"), &[]);
        let found = document.said(FindingCode::RecordingKind);
        assert_eq!(found["value"], kind, "{name}: {found}");
    }
}

/// Seven disks of a stripe together answer 40 places from their caches, and "nothing shows how it records" was told.
#[test]
fn disks_of_a_wide_stripe_are_disks() {
    let document = sustain("sim:random-volume-1101010", &["--seed", "16"]);
    let found = document.said(FindingCode::RecordingKind);
    assert_eq!(found["value"], "cmr", "{found}");
}

#[test]
fn a_shingled_disk_is_told_by_what_its_writes_cost() {
    let document = sustain("sim:random-shingled-7", &[]);
    assert_eq!(document.said(FindingCode::RecordingKind)["value"], "smr");
    let bands = document.said(FindingCode::BandSize);
    let is = true_band_bytes(&shipped("random-shingled-7"), &document).expect("it is shingled");
    assert_eq!(covers(bands, is), Some(true), "{bands}, truth {is}");
    assert!((value(&document, FindingCode::BandSize) / is - 1.0).abs() < 0.03, "{bands}, truth {is}");
}

#[test]
fn what_has_neither_arm_nor_cells_is_unknown() {
    let document = sustain("sim:constant", &["--bytes", "2GB"]);
    let found = document.said(FindingCode::RecordingKind);
    assert!(found["unknown"].as_str().is_some_and(|why| why.contains("same time")), "{found}");
}

/// What is said of the kind of random targets without a mechanism, and of cliffs; nothing may be.
fn invented(first: u64, count: u64) -> Vec<String> {
    let said = |number: usize| {
        let drive = named(&format!("random-remote-{}", first + number as u64))?;
        let document = sustain(&drive.target, &["--bytes", "1GB"]);
        let mut said = Vec::new();
        for code in [FindingCode::RecordingKind, FindingCode::WriteCliff, FindingCode::BandSize] {
            if let Some(found) = document.finding(code)
                && found["unknown"].is_null()
            {
                said.push(format!("{}: {found}", drive.name));
            }
        }
        Ok(said)
    };
    on_two_threads(count as usize, said).expect("every drive has a document").concat()
}

#[test]
fn nothing_is_told_of_the_mechanism_of_what_has_none() {
    let invented = invented(7100, if cfg!(debug_assertions) { 6 } else { 60 });
    assert!(invented.is_empty(), "{invented:#?}");
}

#[test]
#[ignore = "takes minutes: a count over many targets. FIRST and COUNT in the environment choose them"]
fn a_count_of_what_is_invented() {
    let number = |name: &str, or: u64| std::env::var(name).map_or(or, |text| text.parse().expect("a number"));
    let (first, count) = (number("FIRST", 0), number("COUNT", 1000));
    let invented = invented(first, count);
    println!("{} of {count} from {first} on: {invented:#?}", invented.len());
}

/// A target without a mechanism that is as slow as a disk: nothing rotates, so nothing shows how it records.
#[test]
fn what_does_not_rotate_is_no_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = preset_text("constant").expect("it ships");
    let latency = text.lines().find(|line| line.starts_with("latency_us")).expect("it has a latency");
    let path = folder.path().join("slow.toml");
    std::fs::write(&path, text.replace(latency, "latency_us = 5000.0")).expect("written");
    for target in ["sim:lying-stick".to_string(), format!("sim:{}", path.display())] {
        let document = sustain(&target, &["--bytes", "2GB"]);
        let found = document.said(FindingCode::RecordingKind);
        assert!(
            found["unknown"].as_str().is_some_and(|why| why.contains("no rotation")),
            "{target}: {found}"
        );
    }
}

/// An X25-M with a fortieth of its blocks, new, that takes TRIM and has no housekeeping. It has more spare space than drives for servers,
/// so that its rate settles within what SNIA writes for that.
fn small_flash(home: &Home) -> Drive {
    let text = preset_text("x25-m").expect("it ships").into_owned();
    let section = text.find("\n[flash.housekeeping]").expect("it has a section of housekeeping");
    let own = &text[..=section];
    let text = own
        .replace("capacity_bytes = 80026361856", "capacity_bytes = 2000683008")
        .replace("initial = \"filled\"", "initial = \"fresh\"")
        .replace("trim = false", "trim = true")
        .replace("over_provisioning = 0.0734", "over_provisioning = 0.6");
    home.drive("small", &text)
}

fn error(document: &Document, drive: &Drive, code: FindingCode) -> f64 {
    value(document, code) / truth(&drive.profile, code) - 1.0
}

#[test]
fn the_lasting_rate_and_what_half_the_drive_gains() {
    let home = Home::new();
    let drive = small_flash(&home);
    let document = sustain(&drive.target, &["--until", "steady", "--bytes", "24GB"]);
    let off = error(&document, &drive, FindingCode::WriteSteadyState);
    // A rate counts as steady that still changes by 10 % over the window.
    assert!(off.abs() < 0.1, "{off}");
    let document = sustain(&drive.target, &["--clip=100%,50%"]);
    let off = error(&document, &drive, FindingCode::ClippingEffect);
    // Flash of so few blocks keeps a larger share of them free than the closed form says.
    assert!(off.abs() < 0.1, "{off}");
}
