//! `geometry` against drives whose truth is known: the mechanism of disks, and none where there is none. In a debug build with
//! fewer drives and shorter runs; the long scoring is run by hand.

use crate::home::{Home, measured, shipped, truth};
use judge::access::score::zones_right;
use judge::document::Document;
use judge::threads::on_two_threads;
use judge::truth::Truths;
use model::finding::FindingCode;
use sim::profile::Profile;

const PRESETS: &[&str] = &[
    "dt01aca300",
    "wd3000bkhg",
    "st3250823a",
    "sata-160gb",
    "wd20ears",
    "wd20ears-usb2",
    "wd20ears-usb3",
    "hds723030ala640",
    "st3000dm001",
    "disk-4tb",
    "x300-hdwe150",
    "exos-x20",
];
/// How exactly: the period as a share; a seek as a share or in seconds, whichever is more.
const PERIOD_ERROR_MAX: f64 = 20e-6;
const SEEK_ERROR_MAX: f64 = 0.03;
const SEEK_ERROR_S_MAX: f64 = 0.1e-3;
/// The share of the zones reported in which every number of sectors is one that the truth has there.
const ZONES_RIGHT_MIN: f64 = 0.95;
const DEVICE_S_MAX: f64 = 57.0;
const SEEKS: [FindingCode; 3] =
    [FindingCode::SeekTrackToTrack, FindingCode::SeekAverage, FindingCode::SeekFullStroke];

fn geometry(target: &str, options: &[&str]) -> Document {
    measured("geometry", target, options)
}

/// Zones whose numbers of sectors are all among those of the truth, and all zones.
fn zones(document: &Document, profile: &Profile) -> (usize, usize) {
    let truths = Truths::of(profile).expect("a sound drive");
    zones_right(
        document.said(FindingCode::TrackLayout),
        truths.get(FindingCode::TrackLayout).expect("a layout"),
    )
}

/// What is further off than it may be, or not known.
fn wrong(name: &str, profile: &Profile, said: &Document, codes: &[FindingCode]) -> Vec<String> {
    let mut wrong = Vec::new();
    for &code in codes {
        let is = truth(profile, code);
        let limit = match code {
            FindingCode::RotationPeriod => PERIOD_ERROR_MAX * is,
            _ => (SEEK_ERROR_MAX * is).max(SEEK_ERROR_S_MAX),
        };
        if said.value(code).is_none_or(|found| (found - is).abs() > limit) {
            wrong.push(format!("{name} {}: {}, truth {is}", code.name(), said.said(code)["value"]));
        }
    }
    wrong
}

#[test]
fn a_disk_is_told_in_a_minute() {
    let said = geometry("sim:dt01aca300", &["--time-limit", "60s"]);
    let profile = shipped("dt01aca300");
    let codes = [&[FindingCode::RotationPeriod], &SEEKS[..]].concat();
    let wrong = wrong("dt01aca300", &profile, &said, &codes);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let (right, of) = zones(&said, &profile);
    assert!(right as f64 >= ZONES_RIGHT_MIN * of as f64 && of >= 20, "{right} of {of} zones are right");
    let data = &said.said(FindingCode::TrackLayout)["data"];
    assert!((data["skew"].as_f64().expect("a skew") - 0.10345).abs() < 1e-5, "{}", data["skew"]);
    assert_eq!(data["surfaces_at_least"].as_u64(), Some(6));
}

#[test]
#[ignore = "minutes of processor time: the table of the accuracy reached, run by hand"]
fn all_disks_that_ship_are_told_in_a_minute() {
    let score = |number: usize| {
        let name = PRESETS[number];
        let said = geometry(&format!("sim:{name}"), &[]);
        let profile = shipped(name);
        let codes = [&[FindingCode::RotationPeriod], &SEEKS[..]].concat();
        let mut wrong = wrong(name, &profile, &said, &codes);
        let (right, of) = zones(&said, &profile);
        if (right as f64) < ZONES_RIGHT_MIN * of as f64 {
            wrong.push(format!("{name}: {right} of {of} zones are right"));
        }
        if said.device_s() > DEVICE_S_MAX {
            wrong.push(format!("{name}: {} s", said.device_s()));
        }
        Ok(wrong)
    };
    let wrong = on_two_threads(PRESETS.len(), score).expect("no run failed").concat();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_turns_where_nothing_is_known_to_turn() {
    for name in ["null", "constant", "970-pro", "x25-m", "raid0-3x64k", "raid1-2"] {
        let said = geometry(&format!("sim:{name}"), &["--time-limit", "30s"]);
        for code in [&[FindingCode::RotationPeriod, FindingCode::TrackLayout], &SEEKS[..]].concat() {
            assert_eq!(said.value(code), None, "{} on {name}", code.name());
            assert!(said.said(code)["unknown"].is_string(), "no reason for {} on {name}", code.name());
        }
    }
}

#[test]
fn other_load_hides_no_rotation_and_invents_no_seek() {
    let home = Home::new();
    let load = "\n[[faults]]\nkind = \"other-load\"\nqueue_depth = 1\nseconds = 3\nevery_s = 10\n";
    let drive = home.changed("dt01aca300", &[], load);
    let said = geometry(&drive.target, &["--time-limit", "60s"]);
    let profile = drive.profile;
    let wrong_period = wrong("loaded", &profile, &said, &[FindingCode::RotationPeriod]);
    assert!(wrong_period.is_empty(), "{wrong_period:#?}");
    let told: Vec<FindingCode> = SEEKS.into_iter().filter(|code| said.value(*code).is_some()).collect();
    let wrong_seeks = wrong("loaded", &profile, &said, &told);
    assert!(wrong_seeks.is_empty(), "{wrong_seeks:#?}");
}
