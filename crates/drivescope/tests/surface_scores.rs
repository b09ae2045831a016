//! `surface` against drives whose truth is known: what it must find in a minute, and how it ends on drives that fail,
//! sleep, are shared or are odd. In a debug build with fewer drives.

mod program;

use model::finding::FindingCode;
use program::*;
use serde_json::Value;
use sim::profile::{Profile, preset, preset_text};
use sim::truth::truth_of;
use std::fs;
use std::thread;

const DISKS: &[&str] = &[
    "st3000dm001",
    "exos-x20",
    "wd20ears",
    "st3250823a",
    "dt01aca300",
    "sata-160gb",
    "wd3000bkhg",
    "hds723030ala640",
    "disk-4tb",
    "x300-hdwe150",
    "st8000dm004",
];
/// The first of these in a debug build.
const DISKS_IN_DEBUG: usize = 2;
/// How exactly, in which time and from which share of the drive.
const ERROR_MAX: f64 = 0.01;
const DEVICE_S_MAX: f64 = 60.0;
const SHARE_MAX: f64 = 0.01;
/// A disk of 1 TB, on which what goes wrong is planted.
const PLAIN: &str = "failing-disk";
const TERABYTE: u64 = 1_000_204_886_016;

/// A run of `surface` and how it ended.
struct Survey {
    document: Value,
    status: Option<i32>,
}

impl Survey {
    fn of(target: &str, options: &[&str]) -> Survey {
        let home = Home::new();
        let words = [&["surface", target, "-q", "--seed", "1", "--json", "-"], options].concat();
        let outcome = home.run(&words);
        let document = serde_json::from_str(&outcome.out)
            .unwrap_or_else(|error| panic!("{words:?} printed no JSON ({error}): {}", outcome.err));
        Survey { document, status: outcome.status }
    }

    fn finding(&self, code: FindingCode) -> Option<&Value> {
        let findings = self.document["findings"].as_array().expect("findings");
        findings.iter().find(|finding| finding["code"] == code.name())
    }

    fn value(&self, code: FindingCode) -> Option<f64> {
        self.finding(code)?["value"].as_f64()
    }

    /// The number, or the reason why there is none: a run owes one of them.
    fn answer(&self, code: FindingCode) -> Result<f64, String> {
        let finding = self.finding(code).unwrap_or_else(|| panic!("nothing is said of {}", code.name()));
        let why =
            || finding["unknown"].as_str().unwrap_or_else(|| panic!("neither value nor why: {finding}"));
        finding["value"].as_f64().ok_or_else(|| why().to_owned())
    }

    fn phases(&self) -> &[Value] {
        self.document["phases"].as_array().expect("phases")
    }

    fn device_s(&self) -> f64 {
        let last = self.phases().last().expect("a phase");
        last["start_s"].as_f64().expect("a start") + last["seconds"].as_f64().expect("a length")
    }

    fn share_read(&self) -> f64 {
        let bytes: u64 = self.phases().iter().map(|phase| phase["bytes"].as_u64().expect("bytes")).sum();
        bytes as f64 / self.document["target"]["capacity_bytes"].as_f64().expect("a capacity")
    }

    /// Whether a warning, a sentence, an advice or a reason speaks of one of these words.
    fn says(&self, words: &[&str]) -> bool {
        let findings = self.document["findings"].as_array().expect("findings").iter();
        let parts =
            findings.flat_map(|finding| ["statement", "advice", "unknown"].map(|key| finding[key].as_str()));
        let warnings = self.document["environment"]["warnings"].as_array().expect("warnings");
        let texts = parts.chain(warnings.iter().map(Value::as_str)).flatten();
        texts.map(str::to_lowercase).any(|text| words.iter().any(|word| text.contains(word)))
    }

    fn regions(&self, code: FindingCode) -> Vec<(u64, u64)> {
        let Some(finding) = self.finding(code) else { return Vec::new() };
        let rows = finding["data"]["regions"].as_array().cloned().unwrap_or_default();
        let number = |row: &Value, key: &str| row[key].as_u64().expect("a number");
        rows.iter().map(|row| (number(row, "first_byte"), number(row, "bytes"))).collect()
    }
}

/// A virtual drive of our own, in a file.
struct Own {
    _home: Home,
    target: String,
    profile: Profile,
}

impl Own {
    /// The drive of that name with texts replaced, and with more at its end.
    fn new(of: &str, changes: &[(&str, &str)], more: &str) -> Own {
        let mut text = preset_text(of).expect("a drive that ships").into_owned();
        for (old, new) in changes {
            assert!(text.contains(old), "{of} has no {old}");
            text = text.replace(old, new);
        }
        text.push_str(more);
        let home = Home::new();
        let path = home.folder.path().join("own.toml");
        fs::write(&path, &text).expect("a profile");
        let profile = Profile::parse(&text, "own.toml").unwrap_or_else(|error| panic!("{error}"));
        Own { target: format!("sim:{}", path.display()), _home: home, profile }
    }

    /// A sound disk of 1 TB without what the one that ships is short of, and with more at its end.
    fn disk(more: &str) -> Own {
        let text = preset_text(PLAIN).expect("a drive that ships").into_owned();
        let sound = text.find("[[disk.defects]]").expect("it fails");
        let defects = &text[sound..];
        Own::new(PLAIN, &[(defects, "")], more)
    }
}

fn truth(profile: &Profile, code: FindingCode) -> f64 {
    let truths = truth_of(profile).unwrap_or_else(|flaw| panic!("{flaw}"));
    let of_code = truths.iter().find(|truth| truth.code == code).and_then(|truth| truth.value());
    of_code.unwrap_or_else(|| panic!("{} is not known", code.name()))
}

const RATES: [FindingCode; 4] = [
    FindingCode::FullPassTime,
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ZoneRatio,
];

/// The rates of a survey that are further off than they may be.
fn wrong_rates(survey: &Survey, profile: &Profile) -> Vec<String> {
    let wrong = RATES.into_iter().filter_map(|code| {
        let is = truth(profile, code);
        match survey.answer(code) {
            Ok(found) if (found / is - 1.0).abs() <= ERROR_MAX => None,
            found => Some(format!("{}: {found:?}, truth {is}", code.name())),
        }
    });
    wrong.collect()
}

#[test]
fn a_disk_is_known_in_a_minute_from_a_hundredth_of_it() {
    let count = if cfg!(debug_assertions) { DISKS_IN_DEBUG } else { DISKS.len() };
    let score = |name: &&str| {
        let survey = Survey::of(&format!("sim:{name}"), &[]);
        let profile = preset(name).expect("a drive that ships");
        let (device_s, share) = (survey.device_s(), survey.share_read());
        let mut wrong = wrong_rates(&survey, &profile);
        if device_s > DEVICE_S_MAX {
            wrong.push(format!("{device_s} s"));
        }
        if share > SHARE_MAX {
            wrong.push(format!("{share} of it read"));
        }
        wrong.into_iter().map(|what| format!("{name} {what}")).collect::<Vec<String>>()
    };
    let (one, other) = DISKS[..count].split_at(count / 2);
    let all = |names: &[&str]| -> Vec<String> { names.iter().flat_map(score).collect() };
    let wrong = thread::scope(|scope| {
        let thread = scope.spawn(|| all(one));
        [all(other), thread.join().expect("no run failed")].concat()
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_link_is_the_limit_where_it_is_and_nowhere_else() {
    let slow_port = Own::new("exos-x20", &[("kind = \"sata-6\"", "kind = \"sata-3\"")], "");
    for (target, profile) in [
        ("sim:wd20ears-usb2", preset("wd20ears-usb2").expect("it ships")),
        (&slow_port.target, slow_port.profile.clone()),
    ] {
        let is = truth(&profile, FindingCode::InterfaceLimit);
        let survey = Survey::of(target, &[]);
        let found = survey.value(FindingCode::InterfaceLimit).unwrap_or_else(|| panic!("{target}: no limit"));
        assert!((found / is - 1.0).abs() < 0.02, "{target}: {found}, truth {is}");
        let link = survey.finding(FindingCode::InterfaceLimit).expect("it was found")["data"]["link"].clone();
        assert!(link.is_string(), "{target}: {link}");
    }
    let usb = Survey::of("sim:wd20ears-usb2", &[]);
    assert!(usb.value(FindingCode::ZoneCount).is_none_or(|count| count <= 1.0), "zones behind USB 2");
    assert_eq!(Survey::of("sim:wd20ears", &[]).value(FindingCode::InterfaceLimit), None);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn zones_of_more_than_two_percent_are_found_in_five_minutes() {
    let survey = Survey::of("sim:st3000dm001", &["--time-limit", "5m"]);
    let capacity = survey.document["target"]["capacity_bytes"].as_f64().expect("a capacity");
    let table = survey.finding(FindingCode::ZoneTable).expect("a table of zones");
    let zones = table["data"]["zones"].as_array().expect("zones");
    let borders: Vec<f64> =
        zones.iter().skip(1).map(|zone| zone["first_byte"].as_f64().expect("a place")).collect();
    let truths = truth_of(&preset("st3000dm001").expect("it ships")).expect("a sound drive");
    let truth = truths.iter().find(|truth| truth.code == FindingCode::ZoneTable).expect("zones");
    let rows = zone_rows(&truth.data);
    let large = rows.windows(2).filter(|pair| (pair[1].1 / pair[0].1 - 1.0).abs() > 0.02);
    let missed: Vec<f64> = large
        .map(|pair| pair[1].0)
        .filter(|step| !borders.iter().any(|border| (border - step).abs() < 0.005 * capacity))
        .map(|step| step / capacity)
        .collect();
    assert!(missed.is_empty(), "no border near {missed:?} of the capacity");
}

/// First byte and rate of each zone of a truth.
fn zone_rows(data: &[(model::finding::Name, model::finding::Datum)]) -> Vec<(f64, f64)> {
    use model::finding::Datum;
    let Some((_, Datum::List(rows))) = data.iter().find(|(name, _)| name == "zones") else {
        return Vec::new();
    };
    let number = |row: &Datum, key: &str| match row {
        Datum::Record(parts) => match parts.iter().find(|(name, _)| name == key) {
            Some((_, Datum::Integer(value))) => *value as f64,
            Some((_, Datum::Number(value))) => *value,
            _ => panic!("no {key}"),
        },
        _ => panic!("no record"),
    };
    rows.iter().map(|row| (number(row, "first_byte"), number(row, "bytes_per_second"))).collect()
}

/// A spot by itself, which no other spot's reads separate from itself in time.
#[test]
fn a_single_weak_spot_is_found_by_a_pass_over_a_part() {
    let fault =
        "\n[[faults]]\nkind = \"slow\"\nfirst_byte = 5000000000\nbytes = 67108864\nmilliseconds = 25\n";
    let own = Own::disk(fault);
    let found = Survey::of(&own.target, &["--full", "--range", "0..8GB"]).regions(FindingCode::SlowRegions);
    let is_there = |&(first, bytes): &(u64, u64)| first < 5_067_108_864 && 5_000_000_000 < first + bytes;
    assert!(found.len() == 1 && found.iter().all(is_there), "{found:?}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn weak_spots_are_found_by_a_full_pass() {
    let spots = [(20, 64), (300, 128), (700, 256), (990, 64)];
    let faults = spots.map(|(gb, mib): (u64, u64)| {
        let (first, bytes) = (gb * 1_000_000_000, mib << 20);
        format!("\n[[faults]]\nkind = \"slow\"\nfirst_byte = {first}\nbytes = {bytes}\nmilliseconds = 25\n")
    });
    let own = Own::disk(&faults.concat());
    let found = Survey::of(&own.target, &["--full"]).regions(FindingCode::SlowRegions);
    assert_eq!(found.len(), spots.len(), "{found:?}");
    for ((gb, mib), (first, bytes)) in spots.into_iter().zip(found) {
        let (is_first, is_end) = (gb * 1_000_000_000, gb * 1_000_000_000 + (mib << 20));
        assert!(first < is_end && is_first < first + bytes, "{gb} GB: found {first} and {bytes}");
    }
}

#[test]
fn nothing_is_found_where_nothing_is() {
    for name in ["null", "constant"] {
        let survey = Survey::of(&format!("sim:{name}"), &[]);
        assert_eq!(survey.status, Some(0));
        assert!(survey.value(FindingCode::ZoneCount).is_none_or(|count| count <= 1.0), "zones on {name}");
        assert!(survey.value(FindingCode::SlowRegions).is_none_or(|count| count == 0.0), "slow on {name}");
        assert_eq!(survey.value(FindingCode::InterfaceLimit), None, "a limit on {name}");
        assert!(survey.value(FindingCode::BadBlocks).is_none_or(|count| count == 0.0), "bad on {name}");
    }
}

#[test]
fn other_load_is_said_and_no_zones_are_drawn_from_it() {
    let own = Own::disk("\n[[faults]]\nkind = \"other-load\"\nqueue_depth = 4\nseconds = 10\nevery_s = 20\n");
    let survey = Survey::of(&own.target, &[]);
    assert_eq!(survey.status, Some(0));
    let words = ["other load", "somebody else", "something else", "other programs"];
    assert!(survey.says(&words), "{:#}", survey.document["findings"]);
    let slow = survey.regions(FindingCode::SlowRegions);
    assert!(slow.is_empty(), "{slow:?} is slow at no place");
    if let Ok(pass_s) = survey.answer(FindingCode::FullPassTime) {
        let finding = survey.finding(FindingCode::FullPassTime).expect("it was answered");
        let is = truth(&own.profile, FindingCode::FullPassTime);
        let holds = finding["low"].as_f64() <= Some(is) && finding["high"].as_f64() >= Some(is);
        assert!(holds || (pass_s / is - 1.0).abs() < 0.03, "{pass_s}, truth {is}");
    }
}

/// A load that never pauses leaves no visit as it would be alone: no zones are drawn from it, and what is stated all the same holds
/// the truth.
#[test]
fn a_steady_load_hides_zones_and_rates() {
    let loads: &[&str] =
        &["per_second = 8", "per_second = 30", "queue_depth = 1", "per_second = 15", "queue_depth = 8"];
    let some = if cfg!(debug_assertions) { &loads[2..3] } else { loads };
    for load in some {
        let own = Own::new("st3000dm001", &[], &format!("\n[[faults]]\nkind = \"other-load\"\n{load}\n"));
        let survey = Survey::of(&own.target, &[]);
        assert!(survey.answer(FindingCode::ZoneTable).is_err_and(|why| why.contains("load")), "{load}");
        for code in [
            FindingCode::ReadRateOuter,
            FindingCode::ReadRateInner,
            FindingCode::ReadRateMean,
            FindingCode::FullPassTime,
        ] {
            if survey.answer(code).is_ok() {
                let finding = survey.finding(code).expect("it was answered");
                let between = ["low", "high"].map(|key| finding[key].as_f64().expect("an interval"));
                let is = truth(&own.profile, code);
                assert!((between[0]..=between[1]).contains(&is), "{load}: {finding}, truth {is}");
            }
        }
    }
}

#[test]
fn a_drive_that_sleeps_at_the_start_is_waited_for() {
    let own = Own::disk("\n[disk.standby]\nafter_idle_s = 600\nwake_up_s = 12\nasleep = true\n");
    let survey = Survey::of(&own.target, &[]);
    assert_eq!(survey.status, Some(0));
    let wrong = wrong_rates(&survey, &own.profile);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(survey.regions(FindingCode::SlowRegions).is_empty(), "sleeping is no weak spot");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_drive_that_dies_at_40_percent_leaves_what_is_known() {
    let pass_s = truth(&Own::disk("").profile, FindingCode::FullPassTime);
    for (options, at_s) in [(&[][..], 24.0), (&["--full"][..], 0.4 * pass_s)] {
        let own = Own::disk(&format!("\n[[faults]]\nkind = \"gone-at\"\nat_s = {at_s}\n"));
        let survey = Survey::of(&own.target, options);
        assert_ne!(survey.status, Some(0), "{options:?}");
        let lost_s = survey.value(FindingCode::DeviceLost).expect("it was lost");
        assert!((lost_s - at_s).abs() < 5.0, "{options:?}: {lost_s}, not {at_s}");
        // The outer edge was read; the rest is known or it is said why not.
        let outer = truth(&own.profile, FindingCode::ReadRateOuter);
        if let Ok(found) = survey.answer(FindingCode::ReadRateOuter) {
            assert!((found / outer - 1.0).abs() < 0.03, "{options:?}: {found}, truth {outer}");
        }
        let why = survey.answer(FindingCode::FullPassTime);
        let holds = why.as_ref().map_or(true, |found| (found / pass_s - 1.0).abs() < 0.03);
        assert!(holds, "{options:?}: {why:?}, truth {pass_s}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn errors_over_10_gb_are_walked_around() {
    let (first, bytes) = (400_000_000_000_u64, 10_000_000_000_u64);
    let more = format!(
        "\n[[faults]]\nkind = \"unreadable\"\nfirst_byte = {first}\nbytes = {bytes}\nmilliseconds = 3000\n"
    );
    let own = Own::disk(&more);
    let survey = Survey::of(&own.target, &["--full"]);
    let found = survey.regions(FindingCode::BadBlocks);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0.abs_diff(first) <= 2 << 20, "{found:?}");
    assert!((found[0].0 + found[0].1).abs_diff(first + bytes) <= 64 << 20, "{found:?}");
    // A tenth of a pass more at the most: 10,000 reads of 3 s each would be eight hours.
    let pass_s = truth(&own.profile, FindingCode::FullPassTime);
    assert!(survey.device_s() < 1.1 * pass_s + 600.0, "{} s, a pass takes {pass_s} s", survey.device_s());
    let quick = Survey::of(&own.target, &[]);
    assert!(quick.device_s() < 2.0 * DEVICE_S_MAX, "{} s", quick.device_s());
    assert!(quick.answer(FindingCode::FullPassTime).is_ok(), "one hundredth of it cannot be read");
}

/// A drive that is slow for a minute of its time is slow at no place.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_minute_of_slowness_is_no_weak_spot() {
    let more = "\n[[faults]]\nkind = \"slow\"\nmilliseconds = 20\nat_s = 100\nseconds = 60\n";
    let own = Own::disk(more);
    let survey = Survey::of(&own.target, &["--time-limit", "5m"]);
    assert_eq!(survey.status, Some(0));
    let slow = survey.regions(FindingCode::SlowRegions);
    assert!(slow.is_empty(), "{slow:?}");
    let wrong = wrong_rates(&survey, &own.profile);
    assert!(
        wrong.is_empty() || survey.says(&["other load", "something else", "for a time", "disturbed"]),
        "{wrong:#?}"
    );
    // In a full pass it is slow where the pass was at that time, and not when that is measured again.
    let slow = Survey::of(&own.target, &["--full"]).regions(FindingCode::SlowRegions);
    assert!(slow.is_empty(), "{slow:?}");
}

#[test]
fn small_large_and_odd_drives_end_with_an_answer() {
    let capacity = format!("capacity_bytes = {TERABYTE}");
    let sized =
        |of: &str, old: &str, bytes: u64| Own::new(of, &[(old, &format!("capacity_bytes = {bytes}"))], "");
    let small = sized("constant", "capacity_bytes = 1000000000000", 64 << 20);
    let large = sized("exos-x20", "capacity_bytes = 20000588955648", 30_000_000_000_000 / 4096 * 4096);
    let odd = sized(PLAIN, &capacity, TERABYTE - 512 * 1027);
    for own in [&large, &odd] {
        let survey = Survey::of(&own.target, &[]);
        assert_eq!(survey.status, Some(0), "{}", own.profile.name);
        let is = truth(&own.profile, FindingCode::FullPassTime);
        let found = survey.answer(FindingCode::FullPassTime).unwrap_or_else(|why| panic!("{why}"));
        assert!((found / is - 1.0).abs() < ERROR_MAX, "{}: {found}, truth {is}", own.profile.name);
    }
    // A visit to so small a drive is longer than its edges: they are as many visits as a mean needs, which follow each other.
    let survey = Survey::of(&small.target, &[]);
    assert_eq!(survey.status, Some(0));
    let is = truth(&small.profile, FindingCode::FullPassTime);
    let found = survey.answer(FindingCode::FullPassTime).unwrap_or_else(|why| panic!("{why}"));
    assert!((found / is - 1.0).abs() < ERROR_MAX, "{found}, truth {is}");
    assert!(!survey.says(&["something else used", "other load"]), "nothing else used it");
    let is = truth(&small.profile, FindingCode::ReadRateOuter);
    let found = survey.answer(FindingCode::ReadRateOuter).unwrap_or_else(|why| panic!("{why}"));
    assert!((found / is - 1.0).abs() < ERROR_MAX, "{found}, truth {is}");
    assert!(survey.says(&["in the first"]), "the edge is not the usual hundredth, and that is said");
    let whole = Survey::of(&small.target, &["--full"]);
    assert_eq!((whole.status, whole.share_read() >= 1.0), (Some(0), true));
}
