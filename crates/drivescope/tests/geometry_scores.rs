//! `geometry` against drives whose truth is known: the mechanism of disks, and none where there is none. In a debug build with
//! fewer drives and shorter runs; the long scoring is run by hand.

mod program;

use model::finding::{Datum, FindingCode};
use program::*;
use serde_json::Value;
use sim::profile::{Profile, preset, preset_text};
use sim::truth::{Truth, truth_of};
use std::fs;
use std::thread;

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
const DEVICE_S_MAX: f64 = 120.0;
const SEEKS: [FindingCode; 3] =
    [FindingCode::SeekTrackToTrack, FindingCode::SeekAverage, FindingCode::SeekFullStroke];

/// What a run of `geometry` said.
struct Said {
    document: Value,
}

impl Said {
    fn of(target: &str, options: &[&str]) -> Said {
        let home = Home::new();
        let words = [&["geometry", target, "-q", "--seed", "1"], options].concat();
        Said { document: home.json(&words) }
    }

    fn finding(&self, code: FindingCode) -> &Value {
        let findings = self.document["findings"].as_array().expect("findings");
        let found = findings.iter().find(|finding| finding["code"] == code.name());
        found.unwrap_or_else(|| panic!("nothing is said of {}", code.name()))
    }

    fn value(&self, code: FindingCode) -> Option<f64> {
        self.finding(code)["value"].as_f64()
    }

    fn device_s(&self) -> f64 {
        let last = self.document["phases"].as_array().expect("phases").last().expect("a phase");
        last["start_s"].as_f64().expect("a start") + last["seconds"].as_f64().expect("a length")
    }

    /// Zones whose numbers of sectors are all among those of the truth at their first byte, and all zones.
    fn zones(&self, truth: &Truth) -> (usize, usize) {
        let rows = self.finding(FindingCode::TrackLayout)["data"]["sectors_per_track"].as_array();
        let rows = rows.expect("rows of sectors");
        let zones = zones_of(truth);
        let is_right = |row: &&Value| {
            let first = row["first_byte"].as_u64().expect("a first byte");
            let zone = &zones[zones.partition_point(|zone| zone.0 <= first) - 1].1;
            let sectors = row["sectors"].as_array().expect("sectors");
            sectors.iter().all(|count| zone.contains(&count.as_u64().expect("a number")))
        };
        (rows.iter().filter(is_right).count(), rows.len())
    }
}

/// First byte and sectors of the surfaces of each zone of a truth.
fn zones_of(truth: &Truth) -> Vec<(u64, Vec<u64>)> {
    let Some((_, Datum::List(rows))) = truth.data.iter().find(|(name, _)| name == "sectors_per_track") else {
        panic!("a truth without zones");
    };
    let numbers = |datum: &Datum| match datum {
        Datum::Integer(number) => vec![*number],
        Datum::List(list) => {
            let number = |datum: &Datum| match datum {
                Datum::Integer(number) => *number,
                other => panic!("no number: {other:?}"),
            };
            list.iter().map(number).collect()
        }
        other => panic!("no numbers: {other:?}"),
    };
    let row = |row: &Datum| {
        let Datum::Record(parts) = row else { panic!("no row: {row:?}") };
        let part = |key: &str| numbers(&parts.iter().find(|(name, _)| name == key).expect("it is there").1);
        (part("first_byte")[0], part("sectors"))
    };
    rows.iter().map(row).collect()
}

fn truth(profile: &Profile, code: FindingCode) -> Truth {
    let truths = truth_of(profile).unwrap_or_else(|flaw| panic!("{flaw}"));
    truths.into_iter().find(|truth| truth.code == code).expect("a truth of it")
}

/// What is further off than it may be, or not known.
fn wrong(name: &str, profile: &Profile, said: &Said, codes: &[FindingCode]) -> Vec<String> {
    let mut wrong = Vec::new();
    for &code in codes {
        let is = truth(profile, code).value().expect("a number");
        let limit = match code {
            FindingCode::RotationPeriod => PERIOD_ERROR_MAX * is,
            _ => (SEEK_ERROR_MAX * is).max(SEEK_ERROR_S_MAX),
        };
        if said.value(code).is_none_or(|found| (found - is).abs() > limit) {
            wrong.push(format!("{name} {}: {}, truth {is}", code.name(), said.finding(code)["value"]));
        }
    }
    wrong
}

fn drive(name: &str) -> Profile {
    preset(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_disk_is_told_in_a_minute() {
    let said = Said::of("sim:dt01aca300", &["--time-limit", "60s"]);
    let profile = drive("dt01aca300");
    let codes = [&[FindingCode::RotationPeriod], &SEEKS[..]].concat();
    let wrong = wrong("dt01aca300", &profile, &said, &codes);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let layout = truth(&profile, FindingCode::TrackLayout);
    let (right, of) = said.zones(&layout);
    assert!(right as f64 >= ZONES_RIGHT_MIN * of as f64 && of >= 20, "{right} of {of} zones are right");
    let data = &said.finding(FindingCode::TrackLayout)["data"];
    assert!((data["skew"].as_f64().expect("a skew") - 0.10345).abs() < 1e-5, "{}", data["skew"]);
    assert_eq!(data["surfaces_at_least"].as_u64(), Some(6));
}

#[test]
#[ignore = "minutes of processor time: the table of the accuracy reached, run by hand"]
fn all_disks_that_ship_are_told_in_two_minutes() {
    let score = |name: &&str| {
        let said = Said::of(&format!("sim:{name}"), &[]);
        let profile = drive(name);
        let codes = [&[FindingCode::RotationPeriod], &SEEKS[..]].concat();
        let mut wrong = wrong(name, &profile, &said, &codes);
        let (right, of) = said.zones(&truth(&profile, FindingCode::TrackLayout));
        if (right as f64) < ZONES_RIGHT_MIN * of as f64 {
            wrong.push(format!("{name}: {right} of {of} zones are right"));
        }
        if said.device_s() > DEVICE_S_MAX {
            wrong.push(format!("{name}: {} s", said.device_s()));
        }
        wrong
    };
    let (one, other) = PRESETS.split_at(PRESETS.len() / 2);
    let all = |names: &[&str]| -> Vec<String> { names.iter().flat_map(score).collect() };
    let wrong = thread::scope(|scope| {
        let thread = scope.spawn(|| all(one));
        [all(other), thread.join().expect("no run failed")].concat()
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_turns_where_nothing_is_known_to_turn() {
    for name in ["null", "constant", "970-pro", "x25-m", "raid0-3x64k", "raid1-2"] {
        let said = Said::of(&format!("sim:{name}"), &["--time-limit", "30s"]);
        for code in [&[FindingCode::RotationPeriod, FindingCode::TrackLayout], &SEEKS[..]].concat() {
            assert_eq!(said.value(code), None, "{} on {name}", code.name());
            assert!(said.finding(code)["unknown"].is_string(), "no reason for {} on {name}", code.name());
        }
    }
}

#[test]
fn other_load_hides_no_rotation_and_invents_no_seek() {
    let mut text = preset_text("dt01aca300").expect("a drive that ships").into_owned();
    text.push_str("\n[[faults]]\nkind = \"other-load\"\nqueue_depth = 1\nseconds = 3\nevery_s = 10\n");
    let home = Home::new();
    let path = home.folder.path().join("loaded.toml");
    fs::write(&path, &text).expect("a profile");
    let said = Said::of(&format!("sim:{}", path.display()), &["--time-limit", "60s"]);
    let profile = drive("dt01aca300");
    let wrong_period = wrong("loaded", &profile, &said, &[FindingCode::RotationPeriod]);
    assert!(wrong_period.is_empty(), "{wrong_period:#?}");
    let told: Vec<FindingCode> = SEEKS.into_iter().filter(|code| said.value(*code).is_some()).collect();
    let wrong_seeks = wrong("loaded", &profile, &said, &told);
    assert!(wrong_seeks.is_empty(), "{wrong_seeks:#?}");
}
