//! `kill -9` at any moment of a run: the store opens, the run reads as interrupted with all that had been seen in
//! it, nothing is left beside it, and the next command works.
//!
//! Moments are drawn from a seed as sizes that the journals of the run have reached, so that they fall anywhere in
//! the run however fast or busy the machine is.

use crate::program::*;
use model::prng::Prng;
use model::record::IntervalRecord;
use model::run::{RunStatus, Series};
use model::units::NANOS_PER_SECOND;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use store::{Damage, Store};

/// Of virtual drives, whose runs are the same each time.
const SEED: &str = "7";
const KILLS_VIRTUAL: u64 = 30;
const KILLS_FOLDER: u64 = 20;
const KILLS_DEVICE: u64 = 20;
/// What the journals of a check hold at least before it ends, on any of these targets; of a killed one, less.
const JOURNALS_BYTES_MAX: u64 = 90_000;
/// Half of what those of the pass over a virtual drive hold at its end.
const JOURNALS_BYTES_VIRTUAL: u64 = 1_000_000;
/// However busy the machine is with other things, journals grow to any of these sizes in this time.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was seen just before a kill.
struct Seen {
    intervals: Vec<IntervalRecord>,
    /// Since the run was first seen.
    elapsed: Duration,
}

fn journal_bytes(home: &Home) -> Option<u64> {
    let run = home.runs().pop()?;
    let entries = std::fs::read_dir(home.store().join("runs").join(run)).ok()?;
    let journals =
        entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "journal"));
    Some(journals.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum())
}

/// All intervals of the only run, read by the program's own reader.
fn intervals(home: &Home) -> (RunStatus, Vec<IntervalRecord>, Vec<Damage>) {
    let stored =
        Store::open(&home.store()).expect("the store opens").read("last").expect("the run can be read");
    let phases = stored.run.phases.len() as u32;
    let intervals =
        (0..phases).flat_map(|phase| stored.series.intervals(phase).collect::<Vec<_>>()).collect();
    (stored.run.status, intervals, stored.damage)
}

/// Waits until the journals have reached a size, looks while the run stands still, and kills.
fn kill_at(home: &Home, child: &mut Child, bytes: u64) -> Seen {
    let started = Instant::now();
    let mut began = None;
    loop {
        assert!(
            child.try_wait().expect("our child").is_none(),
            "it ended before its journals held {bytes} bytes"
        );
        assert!(started.elapsed() < PATIENCE, "its journals never held {bytes} bytes");
        let found = journal_bytes(home);
        began = began.or(found.map(|_| Instant::now()));
        if found.is_some_and(|found| found >= bytes) {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    signal("STOP", child.id());
    let (_, intervals, _) = intervals(home);
    let elapsed = began.map_or(Duration::ZERO, |began| began.elapsed());
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    Seen { intervals, elapsed }
}

/// Kills a check of `target`, and answers what was seen before and what is read after.
fn kill_check(target: &[&str], bytes: u64) -> (Seen, Vec<IntervalRecord>) {
    kill_run(&[&["check", "--quiet"], target].concat(), bytes)
}

fn kill_run(arguments: &[&str], bytes: u64) -> (Seen, Vec<IntervalRecord>) {
    let home = Home::new();
    let mut child = home.command(arguments).stdout(Stdio::null()).spawn().expect("it starts");
    let seen = kill_at(&home, &mut child, bytes);
    let when = format!("{arguments:?} killed at {bytes} bytes");

    let (status, found, damage) = intervals(&home);
    assert_eq!(status, RunStatus::Interrupted, "{when}");
    assert!(damage.iter().all(|damage| matches!(damage, Damage::CutJournal { .. })), "{when}: {damage:?}");
    assert!(found.starts_with(&seen.intervals), "{when}: {} of {}", found.len(), seen.intervals.len());

    let id = home.runs().pop().expect("the run is kept");
    assert!(home.print(&["runs"]).contains("interrupted"), "{when}");
    assert!(home.print(&["show", &id]).contains("INTERRUPTED"), "{when}");
    let document = home.json(&["show", "last"]);
    assert_eq!(document["run"]["id"], id.as_str(), "{when}");
    let operations: u64 = document["phases"]
        .as_array()
        .expect("phases")
        .iter()
        .map(|phase| phase["operations"].as_u64().expect("a number"))
        .sum();
    assert!(
        operations >= seen.intervals.iter().map(|interval| interval.operations).sum(),
        "{when}: {operations}"
    );
    (seen, found)
}

/// A full pass: a check of a virtual drive is over before anybody has looked.
#[test]
fn a_pass_over_a_virtual_drive_is_killed_at_any_moment() {
    let pass = ["surface", "sim:zoned", "--full", "--range", "0..100GiB", "--seed", SEED, "--quiet"];
    let whole = Home::new();
    whole.print(&pass);
    let (status, complete, _) = intervals(&whole);
    assert_eq!(status, RunStatus::Complete);
    let mut prng = Prng::new(9, 0);
    for _ in 0..KILLS_VIRTUAL {
        let bytes = prng.below(JOURNALS_BYTES_VIRTUAL);
        let (_, found) = kill_run(&pass, bytes);
        assert!(
            complete.starts_with(&found),
            "at {bytes}: what a killed run holds is the beginning of the whole one"
        );
    }
}

/// How much of the time until the kill is missing at the end of the records.
fn lag_s(seen: &Seen, found: &[IntervalRecord]) -> f64 {
    let covered_ns = found.iter().map(|interval| interval.start_ns + interval.duration_ns).max().unwrap_or(0);
    seen.elapsed.as_secs_f64() - covered_ns as f64 / NANOS_PER_SECOND as f64
}

/// A busy machine may keep one run waiting for longer than a second, but not half of them.
fn assert_at_most_a_second_is_missing(mut lags: Vec<f64>) {
    lags.sort_by(f64::total_cmp);
    let median = lags[lags.len() / 2];
    eprintln!("missing at the end: median {median:.3} s, largest {:.3} s", lags[lags.len() - 1]);
    assert!(median < 1.0, "{lags:?}");
}

#[test]
fn a_check_of_a_folder_is_killed_at_any_moment_and_leaves_no_file() {
    let mut prng = Prng::new(10, 0);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = folder.path().to_str().expect("a plain path");
    let lags = (0..KILLS_FOLDER).map(|_| {
        // Most in the first seconds, when the file is made and filled.
        let bytes = prng.below(JOURNALS_BYTES_MAX / 8);
        let (seen, found) = kill_check(&[place, "--max-size", "64MiB", "--time-limit", "20s"], bytes);
        assert_eq!(names_in(folder.path()), Vec::<String>::new(), "at {bytes}");
        lag_s(&seen, &found)
    });
    assert_at_most_a_second_is_missing(lags.collect());
}

#[test]
fn a_check_of_a_device_is_killed_at_any_moment_and_changes_nothing() {
    let test = "a_check_of_a_device_is_killed_at_any_moment_and_changes_nothing";
    let image = Image::new(64);
    let Some(device) = LoopDevice::over(&image.path, test) else { return };
    let mut prng = Prng::new(11, 0);
    let lags = (0..KILLS_DEVICE).map(|_| {
        let bytes = prng.below(JOURNALS_BYTES_MAX / 8);
        let (seen, found) = kill_check(&[&device.path, "--time-limit", "20s"], bytes);
        lag_s(&seen, &found)
    });
    assert_at_most_a_second_is_missing(lags.collect());
    assert!(image.bytes() == noise(64 << 20), "a killed check wrote to the device");
}

#[test]
fn a_check_that_is_killed_before_it_begins_spoils_nothing() {
    let home = Home::new();
    for _ in 0..5 {
        let mut child =
            home.command(&["check", "sim:zoned", "-q"]).stdout(Stdio::null()).spawn().expect("it starts");
        while !home.store().exists() {
            thread::yield_now();
        }
        child.kill().expect("it is killed");
        child.wait().expect("it ends");
        assert_eq!(home.run(&["runs"]).status, Some(0));
    }
    home.print(&["check", "sim:zoned", "--seed", SEED, "-q"]);
    assert!(home.print(&["show", "last"]).contains("again     drivescope check sim:zoned --seed 7"));
}
