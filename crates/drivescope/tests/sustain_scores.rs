//! `sustain` against drives whose truth is known: where the rate falls and to what, what a rest gives back, and how it ends on drives
//! without a fall. Writes a table of all drives when asked for.

mod program;

use model::finding::{Datum, FindingCode};
use model::units::Bytes;
use program::Home;
use serde_json::Value;
use sim::profile::{Medium, Profile, preset, preset_text};
use sim::smr::truth::{RandomWrites, ShingledTruth};
use sim::truth::{Truth, truth_of};
use std::thread;

/// How exactly, and how much may be written for it.
const ERROR_MAX: f64 = 0.03;
const WRITTEN_MAX: f64 = 1.5;
/// The truth of the rate after an SMR disk's fall is a limit of many bands.
const SHINGLED_AFTER_ERROR_MAX: f64 = 0.05;

/// A run of `sustain`.
struct Writing {
    document: Value,
    status: Option<i32>,
}

impl Writing {
    fn of(target: &str, options: &[&str]) -> Writing {
        let home = Home::new();
        let words = [&["sustain", target, "--write", "-q", "--seed", "1", "--json", "-"], options].concat();
        let outcome = home.run(&words);
        let document = serde_json::from_str(&outcome.out)
            .unwrap_or_else(|error| panic!("{words:?} printed no JSON ({error}): {}", outcome.err));
        Writing { document, status: outcome.status }
    }

    fn finding(&self, code: FindingCode) -> Option<&Value> {
        let findings = self.document["findings"].as_array().expect("findings");
        findings.iter().find(|finding| finding["code"] == code.name())
    }

    fn value(&self, code: FindingCode) -> Option<f64> {
        self.finding(code)?["value"].as_f64()
    }

    fn why(&self, code: FindingCode) -> &str {
        self.finding(code).and_then(|finding| finding["unknown"].as_str()).unwrap_or("")
    }

    fn data(&self, code: FindingCode, name: &str) -> f64 {
        let finding = self.finding(code).expect("it was found");
        finding["data"][name].as_f64().unwrap_or_else(|| panic!("no {name}: {finding}"))
    }

    /// What was written in phases that were measured.
    fn written(&self) -> f64 {
        let phases = self.document["phases"].as_array().expect("phases").iter();
        phases.filter(|phase| phase["kind"] == "measure").filter_map(|phase| phase["bytes"].as_f64()).sum()
    }

    fn device_s(&self) -> f64 {
        let phases = self.document["phases"].as_array().expect("phases");
        let last = phases.last().expect("a phase");
        last["start_s"].as_f64().expect("a start") + last["seconds"].as_f64().expect("a length")
    }
}

/// What is true of the fall of a drive.
struct TrueFall {
    bytes: f64,
    before: f64,
    after: f64,
}

impl TrueFall {
    /// Of that profile; none where there is none. The rate of an SMR disk after the fall depends on
    /// what was written then: where it was seen to fall, from where on, and how much.
    fn of(profile: &Profile, fell_bytes: f64, from_bytes: f64, bytes: f64) -> Option<TrueFall> {
        let truths = truth_of(profile).unwrap_or_else(|flaw| panic!("{flaw}"));
        let truth = truths.iter().find(|truth| truth.code == FindingCode::WriteCliff)?;
        let mut fall = TrueFall {
            bytes: truth.value()?,
            before: number(truth, "before"),
            after: number(truth, "after"),
        };
        if let Ok(Medium::Shingled(disk, smr)) = profile.medium() {
            let capacity = profile.capacity().expect("a capacity");
            let link = profile.link.as_ref().and_then(|link| link.numbers().ok());
            let shingled = ShingledTruth::new(capacity, disk, smr).behind(link.as_ref());
            let writes = RandomWrites { request_bytes: Bytes::from_kib(128).0, span_bytes: capacity.0 };
            fall.after = shingled.rate_over(writes, fell_bytes, from_bytes, bytes).expect("there is a fall");
        }
        Some(fall)
    }
}

fn number(truth: &Truth, name: &str) -> f64 {
    match truth.data.iter().find(|(key, _)| key == name) {
        Some((_, Datum::Number(value))) => *value,
        other => panic!("{name}: {other:?}"),
    }
}

/// What a run says of the fall, against the truth.
struct Score {
    name: String,
    /// A row of the table.
    row: String,
    /// What is not as it has to be.
    wrong: Vec<String>,
}

fn score(name: &str) -> Score {
    let profile = preset(name).unwrap_or_else(|error| panic!("{error}"));
    let run = Writing::of(&format!("sim:{name}"), &[]);
    let cliff = FindingCode::WriteCliff;
    let of_fall = |name: &str| run.finding(cliff).and_then(|finding| finding["data"][name].as_f64());
    let (from, bytes) = (of_fall("after_from_bytes"), of_fall("after_over_bytes"));
    let fell = run.value(cliff).unwrap_or(1e12);
    let truth = TrueFall::of(&profile, fell, from.unwrap_or(1e12), bytes.unwrap_or(1e9));
    let mut wrong = Vec::new();
    let tail = format!("| {:.0} s", run.device_s());
    let what = match (&truth, run.value(cliff)) {
        (Some(truth), Some(found)) => {
            let off = |found: f64, is: f64| 100.0 * (found / is - 1.0);
            let errors = [
                ("bytes", off(found, truth.bytes)),
                ("before", off(run.data(cliff, "before"), truth.before)),
                ("after", off(run.data(cliff, "after"), truth.after)),
            ];
            let most = |what: &str| match what == "after" && profile.smr.is_some() {
                true => 100.0 * SHINGLED_AFTER_ERROR_MAX,
                false => 100.0 * ERROR_MAX,
            };
            let large = errors.iter().filter(|(what, error)| error.abs() > most(what));
            wrong.extend(large.map(|(what, error)| format!("{what} {error:+.1} %")));
            let share = run.written() / truth.bytes;
            if share > WRITTEN_MAX {
                wrong.push(format!("{share:.2} times the cache written"));
            }
            let [bytes, before, after] = errors.map(|(_, error)| format!("{error:+.2} %"));
            format!("| {:.3} GB | {bytes} | {before} | {after} | {share:.2}", truth.bytes / 1e9)
        }
        (Some(truth), None) => {
            wrong.push(format!("missed: {}", run.why(cliff)));
            format!("| {:.3} GB | missed: {} | | |", truth.bytes / 1e9, run.why(cliff))
        }
        (None, Some(found)) => {
            wrong.push(format!("found at {found}, where there is none"));
            format!("| none | found at {:.3} GB | | |", found / 1e9)
        }
        (None, None) => "| none | none | | |".to_string(),
    };
    Score { name: name.into(), row: format!("| {name} {what} {tail} |"), wrong }
}

/// The scores of drives, over two threads.
fn scores(names: &[String]) -> Vec<Score> {
    let (one, other) = names.split_at(names.len() / 2);
    let all = |names: &[String]| -> Vec<Score> { names.iter().map(|name| score(name)).collect() };
    thread::scope(|scope| {
        let thread = scope.spawn(|| all(one));
        let others = all(other);
        thread.join().expect("no run failed").into_iter().chain(others).collect()
    })
}

fn assert_right(scores: &[Score]) {
    let wrong: Vec<String> = scores
        .iter()
        .filter(|score| !score.wrong.is_empty())
        .map(|score| format!("{}: {}", score.name, score.wrong.join(", ")))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn a_fall_is_where_it_is() {
    let drives: &[&str] =
        if cfg!(debug_assertions) { &["sata-tlc-500gb"] } else { &["sata-tlc-500gb", "smr-2tb", "980-pro"] };
    assert_right(&scores(&names(drives)));
}

/// Without a write cache; of one that cleans in the order of age; and with small writes in a ring, which take long to clear away.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_fall_of_a_shingled_disk_is_where_it_is_however_it_cleans() {
    let drives = names(&["random-shingled-5104", "random-shingled-5119", "random-shingled-5062"]);
    assert_right(&scores(&drives));
}

/// A drive that needs minutes to cool although little is written, and one that is as warm as its throttled writes keep it.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_drive_that_was_too_warm_has_not_fallen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("warm.toml");
    let text = preset_text("random-flash-7020").expect("it can be drawn");
    let quick = text
        .replace("celsius_per_gb = 0.3578", "celsius_per_gb = 0.29")
        .replace("cooling_s = 575.4", "cooling_s = 100.0");
    assert!(quick.contains("0.29") && quick.contains("100.0"), "{quick}");
    std::fs::write(&path, quick).expect("a profile");
    let quick = format!("sim:{}", path.display());
    let in_order: &[&str] = &["--until", "levels", "--pattern", "sequential"];
    for (target, options) in [("sim:random-flash-7020", &[][..]), (&quick, &[]), (&quick, in_order)] {
        let run = Writing::of(target, options);
        assert_eq!(run.value(FindingCode::WriteCliff), None, "{target} {options:?}");
        let why = run.why(FindingCode::WriteCliff);
        assert!(why.contains("had become warm"), "{target} {options:?}: {why}");
    }
}

#[test]
fn nothing_falls_where_nothing_does() {
    let drives: &[&str] =
        if cfg!(debug_assertions) { &["null"] } else { &["null", "constant", "zoned", "wd20ears", "x25-m"] };
    assert_right(&scores(&names(drives)));
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_rest_gives_back_what_it_does() {
    for name in ["smr-2tb", "sata-tlc-500gb"] {
        let run = Writing::of(&format!("sim:{name}"), &["--idle"]);
        assert_eq!(run.status, Some(0));
        let truths = truth_of(&preset(name).expect("it ships")).expect("a sound drive");
        let truth =
            truths.iter().find(|truth| truth.code == FindingCode::IdleRecovery).and_then(Truth::value);
        let (found, is) = (run.value(FindingCode::IdleRecovery), truth.expect("it is known"));
        let found = found.unwrap_or_else(|| panic!("{name}: {}", run.why(FindingCode::IdleRecovery)));
        // The truth of an SMR disk is the mean over all bands; the first to be cleaned are the outer ones, which are quicker.
        let most = if name == "smr-2tb" { 0.5 } else { 0.05 };
        assert!((found / is - 1.0).abs() < most, "{name}: {found}, truth {is}");
    }
}

/// A drive of 10 GB: the cache is full after 1.5 GB, and where no more cells are free than it holds, they have to be won back from it.
/// Each second of rest gives 20 MB back.
const THREE_LEVELS: &str = r#"
version = 1
name = "three-levels"
description = "Ten gigabytes in three levels"
sources = ["made up"]

[identity]
model = "Three Levels"
serial = "SIM-3"
firmware = "1"
capacity_bytes = 10000000000
logical_block_bytes = 512
physical_block_bytes = 512
rotational = false
trim = true

[link]
kind = "sata-6"

[flash]
initial = "fresh"
channels = 2
dies_per_channel = 1
planes = 2
page_kib = 16
pages_per_block = 256
over_provisioning = 0.1
read_us = 60
program_us = 400
erase_us = 4000
suspend_us = 100
channel_mb_per_s = 400

[flash.slc]
bits = 3
static_bytes = 0
dynamic_bytes_max = 1500000000
reserve_bytes = 2500000000
program_us = 200
when_full = "direct"
fold_mb_per_s = 60
idle_fold_mb_per_s = 20
idle_s = 2

[flash.buffer]
capacity_kib = 4096
"#;

/// By itself it writes no more than one and a half caches and says what it has not looked for; asked for levels it finds all; and
/// with rests it ends as well, although other writes came between the fall and the first rest.
#[test]
fn three_levels_are_told_as_far_as_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("three-levels.toml");
    std::fs::write(&path, THREE_LEVELS).expect("a profile");
    let target = format!("sim:{}", path.display());
    let code = FindingCode::WriteCliff;
    let text = |run: &Writing, key: &str| {
        run.finding(code).and_then(|found| found[key].as_str()).unwrap_or_default().to_string()
    };
    let one = Writing::of(&target, &[]);
    assert!(one.written() <= WRITTEN_MAX * 1.5e9, "{}", one.written());
    assert!(text(&one, "statement").contains("Whether it falls further"), "{}", text(&one, "statement"));
    // In order each level is even; at random it drifts, the more of the drive was written before.
    let all = Writing::of(&target, &["--until", "levels", "--pattern", "sequential"]);
    let profile = Profile::parse(THREE_LEVELS, "three-levels").expect("a sound profile");
    let flash = profile.flash.as_ref().expect("it is flash");
    let truth = flash.write_levels(Bytes(10_000_000_000), f64::INFINITY);
    let data = &all.finding(code).expect("it falls")["data"];
    let further = data["further"].as_array().cloned().unwrap_or_default();
    assert_eq!((truth.len(), further.len()), (4, 2), "{truth:?} {data}");
    for (found, is) in further.iter().zip(&truth[2..]) {
        let off = |key: &str, is: f64| found[key].as_f64().expect("a number") / is - 1.0;
        let (place, rate) = (off("bytes", is.from_bytes), off("bytes_per_second", is.bytes_per_second));
        assert!(place.abs() < ERROR_MAX && rate.abs() < ERROR_MAX, "{place} {rate}: {found}, {is:?}");
    }
    let rested = Writing::of(&target, &["--idle"]);
    assert!(rested.written() < 20e9, "{}", rested.written());
    let regained = rested.value(FindingCode::IdleRecovery);
    let why = rested.why(FindingCode::IdleRecovery);
    assert!(regained.is_some_and(|regained| (regained / 20e6 - 1.0).abs() < 0.05), "{regained:?} {why}");
    assert!(!text(&rested, "advice").contains("--idle"), "{}", text(&rested, "advice"));
}

/// What a plan says is written at most; none when it depends on what is found.
fn announced(words: &[&str]) -> Option<f64> {
    let outcome = Home::new().run(&[words, &["--dry-run", "--plain"]].concat());
    let page = outcome.out + &outcome.err;
    let line = page.lines().find(|line| line.starts_with("  writes  ")).expect("what is written");
    let (_, most) = line.split_once("at most ")?;
    let mut parts = most.split_whitespace();
    let value: f64 = parts.next()?.replace(',', "").parse().unwrap_or_else(|_| panic!("{line}"));
    let unit = match parts.next()?.trim_matches(|end: char| !end.is_alphabetic()) {
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        other => panic!("{other:?} in {line}"),
    };
    // It is rounded for people.
    Some(value * unit * 1.01)
}

/// What a run wrote in all.
fn written_in_all(document: &Value) -> f64 {
    let phases = document["phases"].as_array().expect("phases").iter();
    let operations = phases.flat_map(|phase| phase["by_operation"].as_array().expect("operations"));
    let writes = operations.filter(|operation| operation["operation"] == "write");
    writes.map(|write| write["bytes"].as_f64().expect("bytes")).sum()
}

#[test]
fn no_more_is_written_than_was_announced_and_asked() {
    let cases: [(&str, &[&str], Option<f64>); 6] = [
        ("sim:sata-tlc-500gb", &["--range", "0..7GiB"], None),
        ("sim:980-pro", &["--range", "0..3GiB", "--pattern", "sequential"], None),
        ("sim:wd20ears", &["--range", "0..256MiB", "--drain"], None),
        ("sim:sata-tlc-500gb", &["--range", "0..2GiB", "--bytes", "1GB", "--clip=50%,100%"], Some(1e9)),
        (
            "sim:sata-tlc-500gb",
            &["--range", "0..1GiB", "--bytes", "1200MB", "--idle=1s", "--drain"],
            Some(1.2e9),
        ),
        ("sim:constant", &["--range", "0..1GiB", "--bytes", "2MB", "--clip=50%", "--drain"], Some(2e6)),
    ];
    for (target, options, asked) in cases {
        let words = [&["sustain", target, "--write", "--seed", "1"], options].concat();
        let most = announced(&words);
        let run = Writing::of(target, options);
        let written = written_in_all(&run.document);
        assert!(
            written > 0.0 && most.is_some_and(|most| written <= most),
            "{words:?}: {written} of {most:?}"
        );
        assert!(asked.is_none_or(|asked| written <= asked), "{words:?}: {written}");
    }
}

#[test]
fn what_may_not_be_written_to_is_refused() {
    let home = Home::new();
    let outcome = home.run(&["sustain", "sim:smr-2tb"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("--write"), "{}", outcome.err);
}

#[test]
#[ignore = "takes an hour: a table of all drives, for people. Names after DRIVES in the environment choose others"]
fn a_table() {
    let chosen = std::env::var("DRIVES")
        .unwrap_or_else(|_| "smr-2tb sata-tlc-500gb 870-qvo 660p 980-pro nm790".into());
    let names: Vec<String> = chosen.split_whitespace().map(String::from).collect();
    for score in scores(&names) {
        println!("{}{}", score.row, if score.wrong.is_empty() { "" } else { "  ← wrong" });
    }
}
