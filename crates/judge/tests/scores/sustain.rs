//! `sustain` against drives whose truth is known: where the rate falls and to what, what a rest gives back, and how it ends on drives
//! without a fall. Writes a table of all drives when asked for.

use crate::home::{Home, ended, shipped, truth};
use judge::document::{Document, covers, number, rows};
use judge::threads::on_two_threads;
use judge::virtual_drive::named;
use judge::writes::score::{FallVerdict, Score};
use model::finding::FindingCode;
use model::units::Bytes;

/// How exactly, and how much may be written for it.
const ERROR_MAX: f64 = 0.03;
const WRITTEN_MAX: f64 = 1.5;
/// The truth of the rate after an SMR disk's fall is a limit of many bands.
const SHINGLED_AFTER_ERROR_MAX: f64 = 0.05;

fn sustain(target: &str, options: &[&str]) -> Document {
    ended("sustain", target, &[&["--write"], options].concat())
}

/// What is not as it has to be of the fall of a drive: its place, the rates around it, and what was written to find it.
fn wrong_of_fall(score: &Score, document: &Document, is_shingled: bool) -> Vec<String> {
    let FallVerdict::Found(fall) = &score.fall else {
        let why = document.why(FindingCode::WriteCliff);
        return if score.fall == FallVerdict::None {
            Vec::new()
        } else {
            vec![format!("{:?} {why}", score.fall)]
        };
    };
    let after_max = if is_shingled { SHINGLED_AFTER_ERROR_MAX } else { ERROR_MAX };
    let mut wrong = Vec::new();
    for (what, error, most) in [
        ("bytes", fall.bytes, ERROR_MAX),
        ("before", fall.before, ERROR_MAX),
        ("after", fall.after, after_max),
    ] {
        // An error that is not a number is no small one.
        if error.is_nan() || error.abs() > most {
            wrong.push(format!("{what} {:+.1} %", 100.0 * error));
        }
    }
    let written_times = bytes_measured(document) / fall.true_bytes;
    if written_times > WRITTEN_MAX {
        wrong.push(format!("{written_times:.2} times the cache written"));
    }
    wrong
}

/// What phases moved that measured; reads among them are few.
fn bytes_measured(document: &Document) -> f64 {
    let measured = document.phases().iter().filter(|phase| phase["kind"] == "measure");
    measured.map(|phase| number(phase, "bytes")).sum()
}

/// What is wrong of drives, over two threads.
fn wrong(names: &[&str]) -> Vec<String> {
    let wrong = |number: usize| {
        let drive = named(names[number])?;
        let document = sustain(&drive.target, &[]);
        let score = Score::of(&drive, &document)?;
        println!("{}: {:?}, {:.0} s", score.name, score.fall, score.device_s);
        let wrong = wrong_of_fall(&score, &document, drive.profile.smr.is_some());
        Ok(wrong.into_iter().map(|what| format!("{}: {what}", drive.name)).collect::<Vec<String>>())
    };
    on_two_threads(names.len(), wrong).expect("every drive has a score").concat()
}

fn assert_right(names: &[&str]) {
    let wrong = wrong(names);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_fall_is_where_it_is() {
    let drives: &[&str] =
        if cfg!(debug_assertions) { &["sata-tlc-500gb"] } else { &["sata-tlc-500gb", "smr-2tb", "980-pro"] };
    assert_right(drives);
}

/// Others read for a fifth and three tenths of the time. Of the second the search ended after 15 GB, at a drop of 5 % behind 4.7 GB, and
/// 9.4 MB/s were told as steady; of the others after 2 GB, because appended writes had become as slow as those in place, on average: the last was
/// told as CMR.
#[test]
fn other_io_hides_no_media_cache() {
    let drives = [
        ("random-shingled-1280026", "189", "at_s = 0.287\nseconds = 2.463\nevery_s = 8.26"),
        ("random-shingled-1280000", "163", "at_s = 1.576\nseconds = 0.333\nevery_s = 1.647"),
        ("random-shingled-1320001", "198", "at_s = 0.9624\nseconds = 0.5111\nevery_s = 2.2826"),
    ];
    let count = if cfg!(debug_assertions) { 1 } else { drives.len() };
    for (name, seed, bursts) in &drives[..count] {
        let home = Home::new();
        let drive = home.shared(name, &format!("queue_depth = 1\n{bursts}"));
        let document = sustain(&drive.target, &["--seed", seed]);
        let (cliff, is) =
            (document.said(FindingCode::WriteCliff), truth(&shipped(name), FindingCode::WriteCliff));
        assert_eq!(covers(cliff, is), Some(true), "{name}: {cliff}, truth {is}");
        assert!(document.said(FindingCode::WriteSteadyState)["value"].is_null());
        assert_eq!(document.said(FindingCode::RecordingKind)["value"], "smr", "{name}");
    }
}

/// The first 432 MB of writes in place fell between bursts of other reads: a cliff from 18.0 to 15.8 MB/s was told.
#[test]
fn other_io_makes_no_cliff_of_writes_in_place() {
    let home = Home::new();
    let bursts = "queue_depth = 1\nat_s = 6.9845\nseconds = 2.2547\nevery_s = 8.9388";
    let drive = home.shared("random-hard-disk-1310033", bursts);
    let run = sustain(&drive.target, &["--seed", "224"]);
    assert!(
        run.why(FindingCode::WriteCliff).starts_with("No lasting drop within 2.28 GB"),
        "{}",
        run.said(FindingCode::WriteCliff)
    );
}

/// Without a write cache; of one that cleans in the order of age; and with small writes in a ring, which take long to clear away.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_fall_of_a_shingled_disk_is_where_it_is_however_it_cleans() {
    assert_right(&["random-shingled-5104", "random-shingled-5119", "random-shingled-5062"]);
}

/// A drive that needs minutes to cool although little is written, and one that is as warm as its throttled writes keep it.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_drive_that_was_too_warm_has_not_fallen() {
    let home = Home::new();
    let changes =
        [("celsius_per_gb = 0.3578", "celsius_per_gb = 0.29"), ("cooling_s = 575.4", "cooling_s = 100.0")];
    let quick = home.changed("random-flash-7020", &changes, "").target;
    let in_order: &[&str] = &["--until", "levels", "--pattern", "sequential"];
    for (target, options) in [("sim:random-flash-7020", &[][..]), (&quick, &[]), (&quick, in_order)] {
        let run = sustain(target, options);
        assert_eq!(run.value(FindingCode::WriteCliff), None, "{target} {options:?}");
        let why = run.why(FindingCode::WriteCliff);
        assert!(why.contains("thermal throttling"), "{target} {options:?}: {why}");
    }
}

/// On its way down the rate of a full drive stood at 42 MB/s, with which writes in order, 6.6 MB/s then, were compared: but 3.7 at random had come
/// before those.
#[test]
fn garbage_collection_is_no_full_cache() {
    // The second stood at 168 MB/s on its way down, and writes in order came as near to that as to the 203 MB/s before.
    // The third lost less than a quarter, and won all of it back.
    for (name, seed) in [("1126047", "48"), ("1150048", "88"), ("1194042", "122")] {
        let run = sustain(&format!("sim:random-flash-{name}"), &["--seed", seed]);
        let why = run.why(FindingCode::WriteCliff);
        assert!(why.contains("by garbage collection"), "{name}: {why}");
    }
}

/// Collection that comes and goes until it stays: a cliff from 3.58 to 3.3 GB/s (2.9 to 3.8) was told, and then none.
#[test]
fn what_wanders_before_it_falls_has_fallen() {
    let run = sustain("sim:random-flash-1170122", &["--seed", "172"]);
    let why = run.why(FindingCode::WriteCliff);
    assert!(
        why.contains("dropped from 3.34 GB/s to 663 MB/s") && why.contains("by garbage collection"),
        "{why}"
    );
}

/// Volumes of several drives tell no link, and members that had become too warm were told to have filled a cache.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_stripe_that_was_too_warm_has_not_fallen() {
    let run = sustain("sim:random-volume-1150026", &["--seed", "66"]);
    let why = run.why(FindingCode::WriteCliff);
    assert!(why.contains("thermal throttling"), "{why}");
}

/// Buffers of 30 MiB that keep their data over a flush: behind the drop where one is full, the SLC cache had not been looked for.
#[test]
fn a_buffer_before_the_cells_hides_no_cliff() {
    for (name, seed) in [("1132017", "24"), ("1126044", "50")] {
        let name = format!("random-flash-{name}");
        let run = sustain(&format!("sim:{name}"), &["--seed", seed]);
        let is = truth(&shipped(&name), FindingCode::WriteCliff);
        let cliff = run.said(FindingCode::WriteCliff);
        assert_eq!(covers(cliff, is), Some(true), "{name}: {cliff}, truth {is}");
        assert_eq!(cliff["data"]["cause"], "cell-cache", "{cliff}");
        assert!(cliff["statement"].as_str().is_some_and(|said| said.contains("into a buffer")), "{cliff}");
    }
}

/// Outer zones are faster: the start of the range is written again before a drop is told.
#[test]
fn a_slower_zone_is_no_cliff() {
    let run = sustain("sim:sata-160gb", &["--pattern", "sequential", "--bytes", "66GB"]);
    assert_eq!(run.value(FindingCode::WriteCliff), None, "{}", run.said(FindingCode::WriteCliff));
}

/// A media cache of no more than drives hold in memory: each write behind it costs many revolutions, so that it is none.
#[test]
fn a_small_media_cache_has_a_cliff() {
    let home = Home::new();
    let small = [("media_cache_bytes = 23000002560", "media_cache_bytes = 300003328")];
    let drive = home.changed("smr-2tb", &small, "");
    let run = sustain(&drive.target, &[]);
    let cliff = run.said(FindingCode::WriteCliff);
    assert_eq!(cliff["data"]["cause"], "media-cache", "{cliff}");
    let is = truth(&drive.profile, FindingCode::WriteCliff);
    let found = run.value(FindingCode::WriteCliff).expect("it is told");
    assert!((found / is - 1.0).abs() < 0.1, "{cliff}, truth {is}");
    assert_eq!(run.said(FindingCode::RecordingKind)["value"], "smr");
}

#[test]
fn nothing_falls_where_nothing_does() {
    let drives: &[&str] =
        if cfg!(debug_assertions) { &["null"] } else { &["null", "constant", "zoned", "wd20ears", "x25-m"] };
    assert_right(drives);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn a_rest_gives_back_what_it_does() {
    for name in ["smr-2tb", "sata-tlc-500gb"] {
        let run = sustain(&format!("sim:{name}"), &["--idle"]);
        assert_eq!(run.status, Some(0));
        let is = truth(&shipped(name), FindingCode::IdleRecovery);
        let found = run.value(FindingCode::IdleRecovery);
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
    let home = Home::new();
    let drive = home.drive("three-levels", THREE_LEVELS);
    let (target, profile) = (drive.target, drive.profile);
    let code = FindingCode::WriteCliff;
    let text = |run: &Document, key: &str| run.said(code)[key].as_str().unwrap_or_default().to_string();
    let one = sustain(&target, &[]);
    assert!(bytes_measured(&one) <= WRITTEN_MAX * 1.5e9, "{}", bytes_measured(&one));
    assert!(text(&one, "statement").contains("before steady state"), "{}", text(&one, "statement"));
    // In order each level is even; at random it drifts, the more of the drive was written before.
    let all = sustain(&target, &["--until", "levels", "--pattern", "sequential"]);
    let flash = profile.flash.as_ref().expect("it is flash");
    let truth = flash.write_levels(Bytes::new(10_000_000_000), f64::INFINITY);
    let data = &all.finding(code).expect("it falls")["data"];
    let further = all.rows(code, "further");
    assert_eq!((truth.len(), further.len()), (4, 2), "{truth:?} {data}");
    for (found, is) in further.iter().zip(&truth[2..]) {
        let off = |key: &str, is: f64| found[key].as_f64().expect("a number") / is - 1.0;
        let (place, rate) = (off("bytes", is.from_bytes), off("bytes_per_second", is.bytes_per_second));
        assert!(place.abs() < ERROR_MAX && rate.abs() < ERROR_MAX, "{place} {rate}: {found}, {is:?}");
    }
    let rested = sustain(&target, &["--idle"]);
    assert!(bytes_measured(&rested) < 20e9, "{}", bytes_measured(&rested));
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
fn written_in_all(document: &Document) -> f64 {
    let operations = document.phases().iter().flat_map(|phase| rows(&phase["by_operation"]));
    operations.filter(|operation| operation["operation"] == "write").map(|write| number(write, "bytes")).sum()
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
        let run = sustain(target, options);
        let written = written_in_all(&run);
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
    let names: Vec<&str> = chosen.split_whitespace().collect();
    println!("wrong: {:#?}", wrong(&names));
}
