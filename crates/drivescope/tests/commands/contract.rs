//! What readers outside rely on: the JSON document key for key, the same run for the same seed to the byte, nothing
//! touched outside the range, nothing left behind, exit statuses, and what goes to which stream.

use crate::program::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const RUN: [&str; 8] = ["command", "asked", "finished", "id", "seed", "started", "status", "version"];
const TARGET: [&str; 19] = [
    "capacity_bytes",
    "caveats",
    "discard_bytes_max",
    "firmware",
    "interface",
    "interface_bytes_per_second_max",
    "kind",
    "logical_block_bytes",
    "model",
    "path",
    "physical_block_bytes",
    "read_ahead_bytes",
    "rotational",
    "scheduler",
    "serial",
    "stack",
    "write_cache",
    "zoned",
    "",
];
const ENVIRONMENT: [&str; 9] = [
    "direct",
    "engine",
    "engine_features",
    "host",
    "kernel",
    "own_cost_ns_per_io",
    "scheduler",
    "scheduling_gap_ns_max",
    "warnings",
];
const PHASE: [&str; 17] = [
    "by_operation",
    "bytes",
    "bytes_per_second",
    "duration_ns",
    "errors",
    "experiment",
    "iops",
    "kind",
    "latency_ns",
    "name",
    "operations",
    "seconds",
    "start_ns",
    "start_s",
    "stop",
    "stopped",
    "workload",
];
const FINDING: [&str; 11] = [
    "advice",
    "code",
    "confidence",
    "data",
    "effective_count",
    "evidence",
    "high",
    "low",
    "statement",
    "unit",
    "value",
];
/// With the units that they have for good.
const CODES: [(&str, &str); 14] = [
    ("bad-blocks", "count"),
    ("device-lost", "s"),
    ("cache-influence", "count"),
    ("read-rate-outer", "B/s"),
    ("read-rate-inner", "B/s"),
    ("read-rate-mean", "B/s"),
    ("write-rate-outer", "B/s"),
    ("write-rate-inner", "B/s"),
    ("write-rate-mean", "B/s"),
    ("full-pass-time", "s"),
    ("datasheet-claims", "count"),
    ("access-time", "s"),
    ("concurrency-gain", "ratio"),
    ("concurrency-knee", "count"),
];

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn assert_keys(value: &Value, expected: &[&str], what: &str) {
    let expected: BTreeSet<&str> = expected.iter().copied().filter(|key| !key.is_empty()).collect();
    assert_eq!(keys(value), expected, "{what}");
}

fn list<'value>(value: &'value Value, key: &str) -> &'value Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key} is a list"))
}

fn assert_document(document: &Value) {
    let top = ["schema", "run", "target", "environment", "state", "phases", "findings"];
    assert_keys(document, &top, "the document");
    assert_eq!(document["schema"], "drivescope.run/1");
    assert_keys(&document["run"], &RUN, "run");
    // Where the kernel states it.
    let layout = document["target"].get("stated_layout").map_or("", |_| "stated_layout");
    assert_keys(&document["target"], &[&TARGET[..], &[layout]].concat(), "target");
    assert_keys(&document["environment"], &ENVIRONMENT, "environment");
    assert_keys(&document["state"], &["before", "after"], "state");
    for phase in list(document, "phases") {
        // Only of a phase whose workers waited for a processor, or spun, or whose time was over with requests in flight.
        let sometimes = ["processor_wait_ns", "spun_ns", "late_bytes"]
            .map(|key| if phase[key].is_null() { "" } else { key });
        assert_keys(phase, &[&PHASE[..], &sometimes[..]].concat(), "a phase");
        if !phase["latency_ns"].is_null() {
            let latency = ["min", "mean", "p50", "p90", "p99", "p999", "max"];
            assert_keys(&phase["latency_ns"], &latency, "latency_ns");
        }
    }
    for finding in list(document, "findings") {
        let code = finding["code"].as_str().expect("a code");
        let (_, unit) =
            CODES.iter().find(|(known, _)| *known == code).unwrap_or_else(|| panic!("code {code}"));
        if finding.get("unknown").is_some() {
            assert_keys(finding, &["code", "unknown"], code);
            continue;
        }
        assert_keys(finding, &FINDING, code);
        assert_eq!(finding["unit"], *unit, "{code}");
        for evidence in list(finding, "evidence") {
            assert_keys(evidence, &["phase", "start_s", "seconds"], code);
        }
    }
}

/// The content of every file of the only run.
fn files(home: &Home) -> Vec<(String, Vec<u8>)> {
    let run = home.runs().pop().expect("a run");
    let folder = home.store().join("runs").join(run);
    names_in(&folder)
        .into_iter()
        .map(|name| (name.clone(), fs::read(folder.join(name)).expect("a file")))
        .collect()
}

#[test]
fn the_same_seed_gives_the_same_run_to_the_byte() {
    let (one, other) = (Home::new(), Home::new());
    let check = ["check", "sim:zoned", "--seed", "7", "--json", "-"];
    let printed = one.print(&check);
    assert!(printed == other.print(&check), "two runs of one seed differ");
    let (files_of_one, files_of_other) = (files(&one), files(&other));
    let names: Vec<&str> = files_of_one.iter().map(|(name, _)| name.as_str()).collect();
    let kept = [
        "checksums.txt",
        "histograms-000001.parquet",
        "intervals-000001.parquet",
        "request.json",
        "run.json",
        // Of the reads that wake the drive, each is kept.
        "trace-000001.parquet",
    ];
    assert_eq!(names, kept);
    for (file, twin) in files_of_one.iter().zip(&files_of_other) {
        assert!(file == twin, "{} differs", file.0);
    }
    assert!(one.print(&["show", "last", "--json", "-"]) == printed, "a run is shown as it was printed");
    assert!(one.print(&["check", "sim:zoned", "--seed", "8", "--json", "-"]) != printed, "the seed decides");
    assert_document(&serde_json::from_str(&printed).expect("JSON"));
}

#[test]
fn every_virtual_drive_keeps_to_the_document() {
    for drive in ["sim:zoned", "sim:faulty"] {
        let home = Home::new();
        let document = home.json(&["check", drive, "--time-limit", "5s", "--write"]);
        assert_document(&document);
        assert_eq!(document["target"]["kind"], "sim");
        let codes = list(&document, "findings").iter().map(|finding| &finding["code"]);
        let distinct: BTreeSet<String> = codes.map(Value::to_string).collect();
        assert_eq!(distinct.len(), list(&document, "findings").len(), "{drive}: each code comes once");
    }
}

#[test]
fn a_dry_run_writes_nothing_anywhere() {
    let home = Home::new();
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().to_str().expect("a plain path");
    for target in ["sim:zoned", folder] {
        let plan = home.print(&["check", target, "--max-size", "64MiB", "--dry-run"]);
        assert!(plan.contains("Plan") && plan.contains("takes   about"), "{plan}");
        assert!(plan.contains("writes  "), "{plan}");
    }
    assert!(!home.store().exists(), "a dry run makes no store");
    assert_eq!(names_in(place.path()), Vec::<String>::new());
}

#[test]
fn nothing_outside_the_range_is_written() {
    let image = Image::blank(64);
    // What must survive is no signature of a file system, and lies where none is looked for.
    let (first, end) = (6_710_784, 13_421_568);
    let Some(device) = LoopDevice::over(&image.path, "nothing_outside_the_range_is_written") else { return };
    let home = Home::new();
    // Writes come last: a machine that is busy with other tests needs this long to reach them.
    let range = ["--range", "10%..20%", "--time-limit", "20s"];
    let consent = ["--write", "--confirm", &device.path];
    let document = home.json(&[&["check", &device.path, "-q"], &consent[..], &range].concat());
    drop(device);
    assert_document(&document);
    assert_eq!(document["run"]["status"], "complete");
    let written = list(&document, "phases").iter().flat_map(|phase| list(phase, "by_operation"));
    let bytes: u64 = written
        .filter(|totals| totals["operation"] == "write")
        .filter_map(|totals| totals["bytes"].as_u64())
        .sum();
    assert!(bytes > 0, "it wrote");
    let after = image.bytes();
    assert!(after[..first].iter().all(|&byte| byte == 0), "something before the range was written");
    assert!(after[end..].iter().all(|&byte| byte == 0), "something behind the range was written");
    let touched = after[first..end].chunks(4096).filter(|block| block.iter().any(|&byte| byte != 0)).count();
    assert!(touched > 500, "only {touched} blocks of the range were written");
}

#[test]
fn a_check_without_write_changes_nothing() {
    let image = Image::new(64);
    let before = image.bytes();
    let Some(device) = LoopDevice::over(&image.path, "a_check_without_write_changes_nothing") else { return };
    let document = Home::new().json(&["check", &device.path, "--time-limit", "5s", "-q"]);
    drop(device);
    assert!(image.bytes() == before, "a check without --write wrote");
    assert_document(&document);
    assert_eq!(document["target"]["kind"], "device");
    assert_eq!(document["target"]["capacity_bytes"], 64 << 20);
    assert!(caveats(&document).contains("loop-over-file"));
}

fn caveats(document: &Value) -> BTreeSet<String> {
    list(&document["target"], "caveats")
        .iter()
        .map(|caveat| caveat["name"].as_str().expect("a word").into())
        .collect()
}

#[test]
fn what_may_answer_instead_of_a_drive_is_named() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let make = |name: &str, content: &[u8]| {
        let path = place.path().join(name);
        fs::write(&path, content).expect("a file");
        path
    };
    let sparse = make("sparse", b"");
    fs::File::options().write(true).open(&sparse).and_then(|file| file.set_len(64 << 20)).expect("a hole");
    let zeroes = make("zeroes", &vec![0; 8 << 20]);
    let cached = make("cached", &noise(8 << 20));
    let cases = [
        (sparse, vec!["sparse"], "The file is sparse"),
        (zeroes, vec!["compressible"], "data are compressible"),
        (cached, vec!["in-page-cache", "fits-in-drive-cache"], "was in the page cache when the run began"),
    ];
    let checks: Vec<_> = cases
        .iter()
        .map(|(path, ..)| {
            let home = Home::new();
            let target = path.to_str().expect("a plain path");
            let check = ["check", target, "--time-limit", "5s", "-q"];
            (home.command(&check).stdout(Stdio::null()).spawn().expect("it starts"), home)
        })
        .collect();
    for ((mut child, home), (path, names, sentence)) in checks.into_iter().zip(&cases) {
        assert_eq!(child.wait().expect("it ends").code(), Some(0));
        let found = caveats(&home.json(&["show"]));
        assert!(names.iter().all(|name| found.contains(*name)), "{path:?}: {found:?}");
        let page = home.print(&["show"]);
        assert!(page.contains(sentence), "{path:?}: {page}");
    }
}

#[test]
fn a_check_of_a_folder_leaves_nothing_behind() {
    let home = Home::new();
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().to_str().expect("a plain path");
    let outcome = home.run(&["check", folder, "--max-size", "64MiB", "--time-limit", "5s", "--quiet"]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    assert_eq!(outcome.err, "", "--quiet says nothing");
    assert!(outcome.out.contains("\nVerdict: "), "{}", outcome.out);
    assert_eq!(names_in(place.path()), Vec::<String>::new());
    assert!(home.print(&["runs"]).contains("complete"));
    assert_document(&home.json(&["show"]));
}

/// Starts a check of a folder that takes a while, and interrupts it when it has phases.
#[test]
fn ctrl_c_keeps_what_was_measured() {
    let home = Home::new();
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().to_str().expect("a plain path");
    let child = home
        .command(&["check", folder, "--max-size", "64MiB", "--time-limit", "60s"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let has_phases = |home: &Home| {
        let Some(run) = home.runs().pop() else { return false };
        let facts = fs::read_to_string(home.store().join("runs").join(run).join("run.json"));
        facts.is_ok_and(|facts| facts.contains("warm up"))
    };
    let started = Instant::now();
    while !has_phases(&home) {
        assert!(started.elapsed() < Duration::from_secs(60), "no phase was ever measured");
        std::thread::sleep(Duration::from_millis(1));
    }
    signal("INT", child.id());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let page = String::from_utf8(output.stdout).expect("text");
    assert!(page.contains("INTERRUPTED") && page.contains("drivescope show"), "{page}");
    assert_eq!(names_in(place.path()), Vec::<String>::new());
    let document = home.json(&["show"]);
    assert_document(&document);
    assert_eq!(document["run"]["status"], "interrupted");
    assert!(document["run"]["finished"].is_string(), "it ended in good order");
    assert!(list(&document, "phases").len() >= 2);
    assert!(list(&document, "phases")[0]["bytes"].as_u64().is_some_and(|bytes| bytes > 0));
    assert!(home.print(&["runs"]).contains("interrupted"));
}

#[test]
fn pipes_get_no_escape_sequences() {
    let home = Home::new();
    for arguments in [
        &["check", "sim:zoned", "--seed", "7"][..],
        &["runs"],
        &["show"],
        &["list"],
        &["--help"],
        &["check", "--help"],
    ] {
        let mut command = home.command(arguments);
        command.env("TERM", "xterm-256color");
        let outcome = outcome(&mut command);
        assert_eq!(outcome.status, Some(0), "{arguments:?}: {}", outcome.err);
        assert!(!outcome.out.contains('\u{1b}') && !outcome.err.contains('\u{1b}'), "{arguments:?}");
        assert!(!outcome.out.is_empty(), "{arguments:?}");
    }
}

/// `script` gives the program a terminal of its own.
#[test]
fn a_terminal_gets_colour_unless_it_wants_none() {
    let test = "a_terminal_gets_colour_unless_it_wants_none";
    if !Path::new("/usr/bin/script").exists() {
        return skip(test, "script (util-linux) is not installed");
    }
    let home = Home::new();
    home.print(&["check", "sim:zoned", "--seed", "7", "-q"]);
    let show = |name: &str, value: &str, options: &str| {
        let line = format!("{PROGRAM} show {options}");
        let mut command = std::process::Command::new("/usr/bin/script");
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        command
            .env("XDG_DATA_HOME", home.folder.path())
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env(name, value);
        outcome(command.stdin(Stdio::null())).out
    };
    assert!(show("LANG", "C.UTF-8", "").contains('\u{1b}'));
    assert!(!show("NO_COLOR", "1", "").contains('\u{1b}'));
    assert!(!show("LANG", "C.UTF-8", "--plain").contains('\u{1b}'));
}

#[test]
fn the_version_comes_at_once() {
    let started = Instant::now();
    let text = Home::new().print(&["--version"]);
    let took = started.elapsed();
    eprintln!("--version took {took:?}");
    assert!(text.starts_with("drivescope "), "{text}");
    assert!(took < Duration::from_millis(100), "{took:?}");
}

#[test]
fn memory_stays_small() {
    let home = Home::new();
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().to_str().expect("a plain path");
    let mut child = home
        .command(&["check", folder, "--max-size", "64MiB", "--time-limit", "5s", "-q"])
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    while child.try_wait().expect("our child").is_none() {
        // The kernel keeps the peak itself, so the last look before the end tells it.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak_kib = peak_kib.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    }
    eprintln!("peak of resident memory: {:.1} MiB", peak_kib as f64 / 1024.0);
    assert!((1..=64 << 10).contains(&peak_kib), "{peak_kib} KiB");
}

#[test]
fn a_range_off_the_grid_is_narrowed_to_it() {
    let range = ["--range", "1000..2000000", "--time-limit", "5s", "-q"];
    let document = Home::new().json(&[&["check", "sim:zoned"], &range[..]].concat());
    for phase in list(&document, "phases") {
        let range = &phase["workload"]["range"];
        let first = range["first_byte"].as_u64().expect("a place");
        let end = first + range["bytes"].as_u64().expect("a length");
        assert!(1024 <= first && first < end && end <= 1_999_872, "{range}");
        assert!(first.is_multiple_of(512), "{range}");
    }
}
