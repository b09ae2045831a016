//! `--preserve` and `restore`, with the program as a user has it: killed at any moment, also while it gives back.

mod failing_drive;
mod program;

use failing_drive::MountedDrive;
use model::prng::Prng;
use model::request::Status;
use program::*;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What is tested: enough for several stretches, little enough for many kills.
const MIB: usize = 8;

fn verify<'word>(file: &'word str, more: &[&'word str]) -> Vec<&'word str> {
    let words =
        ["verify", file, "--write", "--full", "--preserve", "--journal-anyway", "--confirm", file, "--quiet"];
    [&words[..], more].concat()
}

fn start(home: &Home, arguments: &[&str]) -> Child {
    let mut command = home.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// One test at a time: a program that one of them starts has, for a moment, what another one has open.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the program when nobody has the file open any more: the kernel ends the ring of a killed process, and so closes its
/// files, some time after the process itself.
fn when_free(home: &Home, arguments: &[&str]) -> Outcome {
    let started = Instant::now();
    loop {
        let outcome = home.run(arguments);
        let is_open = outcome.status != Some(0) && outcome.err.contains("it is open in another program");
        if !is_open || started.elapsed() > Duration::from_secs(30) {
            return outcome;
        }
    }
}

/// Kills a program after some time, unless it has ended by then; whether it was killed.
fn kill_after(mut child: Child, time: Duration) -> bool {
    let started = Instant::now();
    while started.elapsed() < time {
        if child.try_wait().expect("our child").is_some() {
            return false;
        }
        thread::sleep(Duration::from_micros(200));
    }
    signal("KILL", child.id());
    child.wait().expect("our child");
    true
}

fn journals(home: &Home) -> Vec<String> {
    let folder = home.store().join("preserve");
    if folder.exists() { names_in(&folder) } else { Vec::new() }
}

fn is_as_before(path: &Path) -> bool {
    static BEFORE: LazyLock<Vec<u8>> = LazyLock::new(|| noise(MIB << 20));
    fs::read(path).expect("the image") == *BEFORE
}

#[test]
fn what_is_tested_comes_back() {
    let _alone = alone();
    let home = Home::new();
    let image = Image::new(MIB);
    let file = image.path.to_str().unwrap();
    let run = home.json(&verify(file, &[]));
    assert!(is_as_before(&image.path), "every byte is back");
    assert!(journals(&home).is_empty(), "{:?}", journals(&home));
    let findings = run["findings"].as_array().unwrap();
    let wrong = findings.iter().find(|finding| finding["code"] == "data-integrity").expect("it was compared");
    assert_eq!(wrong["value"], 0.0);
    assert!(home.print(&["restore"]).contains("No journals"));
}

/// Moments are drawn over the time that a whole run takes.
fn killed(kills: u64, seed: u64) -> (u64, u64) {
    let home = Home::new();
    let image = Image::new(MIB);
    let file = image.path.to_str().unwrap();
    let started = Instant::now();
    home.json(&verify(file, &[]));
    let whole = started.elapsed();
    let mut prng = Prng::new(seed, 1);
    let (mut given_back, mut again) = (0, 0);
    for kill in 0..kills {
        kill_after(start(&home, &verify(file, &[])), whole.mul_f64(prng.unit()));
        let holds = journals(&home).iter().any(|name| name.ends_with(".journal"));
        if holds && !is_as_before(&image.path) {
            let refused = when_free(&home, &verify(file, &[]));
            assert!(refused.status == Some(1) && refused.err.contains("drivescope restore"), "{refused:?}");
        }
        let restore = ["restore", file, "--confirm", file];
        while prng.below(2) == 0 {
            again += u64::from(kill_after(start(&home, &restore), whole.mul_f64(prng.unit() * 0.3)));
        }
        let outcome = when_free(&home, &restore);
        match outcome.status {
            Some(0) => given_back += 1,
            _ => assert!(outcome.err.contains("no journal has data of"), "{kill}: {outcome:?}"),
        }
        assert!(is_as_before(&image.path), "lost after kill {kill}");
        let left = journals(&home);
        assert!(left.iter().all(|name| !name.ends_with(".journal")), "{kill}: {left:?} after {outcome:?}");
    }
    (given_back, again)
}

#[test]
fn killed_at_any_moment_nothing_is_lost() {
    let _alone = alone();
    let (given_back, _) = killed(8, 3);
    assert!(given_back > 0, "some of the kills came while something was overwritten");
}

#[test]
#[ignore = "200 kills take minutes"]
fn killed_200_times_nothing_is_lost() {
    let _alone = alone();
    let (given_back, again) = killed(200, 4);
    eprintln!("200 kills; given back {given_back} times, of which the giving back was killed {again} times");
}

/// What became of runs on a drive that fails at drawn moments.
#[derive(Debug, Default)]
struct Failed {
    /// Runs that ended with an error or were killed.
    runs: u64,
    /// After these there was something to give back by hand.
    given_back: u64,
    /// Givings back that were tried while the drive still failed.
    in_vain: u64,
}

/// The drive fails from a moment on that is drawn over all requests of a run: for one request, for some, or until it is made sound
/// again. One run in four is killed besides.
fn failing(moments: u64, seed: u64, test: &str) -> Option<Failed> {
    let home = Home::new();
    let drive = MountedDrive::new(MIB, test)?;
    let file = drive.file.to_str().unwrap();
    let before = noise(MIB << 20);
    let started = Instant::now();
    let seen = drive.failing.seen();
    home.json(&verify(file, &[]));
    let (whole, requests) = (started.elapsed(), drive.failing.seen() - seen);
    let is_kept = || journals(&home).iter().any(|name| name.ends_with(".journal"));
    let restore = ["restore", file, "--confirm", file];
    let (mut prng, mut failed) = (Prng::new(seed, 1), Failed::default());
    for moment in 0..moments {
        let count = [1, 1 + prng.below(100), u64::MAX][prng.below(3) as usize];
        let status = [Status::MediumError, Status::DeviceGone][prng.below(2) as usize];
        drive.failing.begin(prng.below(requests), count, status);
        let ended = if prng.below(4) == 0 {
            !kill_after(start(&home, &verify(file, &[])), whole.mul_f64(prng.unit()))
        } else {
            home.run(&verify(file, &[])).status == Some(0)
        };
        failed.runs += u64::from(!ended);
        if count == u64::MAX && is_kept() {
            when_free(&home, &restore);
            failed.in_vain += 1;
        }
        drive.failing.end();
        if is_kept() {
            let outcome = when_free(&home, &restore);
            match outcome.status {
                Some(0) => failed.given_back += u64::from(!outcome.out.contains("Nothing of")),
                _ => panic!("{moment}: {outcome:?}"),
            }
        }
        assert!(drive.bytes() == before, "lost after failure {moment}: {count} times {status:?}");
        assert!(!is_kept(), "{:?}", journals(&home));
    }
    Some(failed)
}

#[test]
fn a_drive_that_fails_at_any_moment_loses_nothing() {
    let _alone = alone();
    let Some(failed) = failing(8, 5, "a_drive_that_fails_at_any_moment_loses_nothing") else { return };
    assert!(failed.runs > 0 && failed.given_back > 0, "{failed:?}");
}

#[test]
#[ignore = "200 failures take minutes"]
fn a_drive_that_fails_200_times_loses_nothing() {
    let _alone = alone();
    let failed = failing(200, 6, "a_drive_that_fails_200_times_loses_nothing");
    eprintln!("200 failures: {failed:?}");
}

/// Kills a run while something is overwritten; the name of its journal. The image is not looked at before: a file that is open
/// is in use, and is not written to.
fn killed_in_the_midst(home: &Home, image: &Path) -> String {
    let file = image.to_str().unwrap();
    for attempt in 0..100 {
        let child = start(home, &verify(file, &[]));
        let started = Instant::now();
        let is_saved = || {
            let folder = home.store().join("preserve");
            let sizes = journals(home).into_iter().filter_map(|name| fs::metadata(folder.join(name)).ok());
            sizes.map(|status| status.len()).sum::<u64>() > 1 << 20
        };
        while !is_saved() && started.elapsed() < Duration::from_secs(30) {}
        kill_after(child, Duration::from_millis(5 * attempt));
        if !is_as_before(image) {
            return journals(home).pop().expect("a journal");
        }
        when_free(home, &["restore", file, "--confirm", file]);
    }
    panic!("no kill came while something was overwritten")
}

#[test]
fn a_damaged_journal_gives_back_what_it_can_and_nothing_is_written_over_the_rest() {
    let _alone = alone();
    let home = Home::new();
    let image = Image::new(MIB);
    let file = image.path.to_str().unwrap();
    let journal = home.store().join("preserve").join(killed_in_the_midst(&home, &image.path));
    let sound = fs::read(&journal).unwrap();
    // In the data of the first stretch, which follows the frame that names the drive.
    let mut damaged = sound.clone();
    damaged[100_000] ^= 1;
    fs::write(&journal, &damaged).unwrap();
    let restored = when_free(&home, &["restore", file, "--confirm", file]);
    assert!(restored.status == Some(1) && restored.err.contains("NOT ALL DATA ARE RESTORED"), "{restored:?}");
    assert!(restored.err.contains("the journal is damaged there"), "{}", restored.err);
    let before = noise(MIB << 20);
    let wrong = fs::read(&image.path).unwrap().iter().zip(&before).filter(|(now, then)| now != then).count();
    assert!(wrong <= 1 << 20, "{wrong} bytes are not back, and only one stretch is damaged");
    let refused = when_free(&home, &verify(file, &[]));
    assert!(
        refused.status == Some(1) && refused.err.contains("A part of its journal is damaged"),
        "{refused:?}"
    );
    // Of which nobody can tell whose data it holds.
    let mut damaged = sound.clone();
    damaged[70] ^= 1;
    fs::write(&journal, &damaged).unwrap();
    let refused = when_free(&home, &verify(file, &[]));
    assert!(refused.status == Some(1) && refused.err.contains("may have data"), "{refused:?}");
    fs::write(&journal, &sound).unwrap();
    let restored = when_free(&home, &["restore", file, "--confirm", file, "--although-changed"]);
    assert_eq!(restored.status, Some(0), "{restored:?}");
    assert!(is_as_before(&image.path));
    // A journal in a folder that is not mounted: the pointer of an older version does not say whose data it holds.
    let pointer = journal.with_extension("pointer");
    fs::write(&pointer, "/nowhere/a.journal").unwrap();
    let refused = when_free(&home, &verify(file, &[]));
    assert!(refused.status == Some(1) && refused.err.contains("may have data"), "{refused:?}");
    fs::remove_file(&pointer).unwrap();
    // What a crash leaves of one that was just made has no name of a journal yet.
    fs::write(journal.with_extension("half"), &sound[..100]).unwrap();
    let tested = when_free(&home, &verify(file, &[]));
    assert_eq!(tested.status, Some(0), "{tested:?}");
}

#[test]
fn a_drive_of_which_the_journal_is_not_mounted_is_not_written_to() {
    let _alone = alone();
    let home = Home::new();
    let (image, other) = (Image::new(MIB), Image::new(MIB));
    let (file, folder) = (image.path.to_str().unwrap(), home.folder.path().join("elsewhere"));
    fs::create_dir(&folder).unwrap();
    let to_folder = ["--journal", folder.to_str().unwrap()];
    let child = start(&home, &verify(file, &to_folder));
    let started = Instant::now();
    let has_pointer = || journals(&home).iter().any(|name| name.ends_with(".pointer"));
    while !has_pointer() && started.elapsed() < Duration::from_secs(30) {}
    kill_after(child, Duration::ZERO);
    assert!(has_pointer(), "killed after it began");
    let away = home.folder.path().join("away");
    fs::rename(&folder, &away).unwrap();
    let refused = when_free(&home, &verify(file, &[]));
    assert!(refused.status == Some(1) && refused.err.contains("still to be restored"), "{refused:?}");
    assert!(refused.err.contains("Mount the drive"), "{}", refused.err);
    home.json(&verify(other.path.to_str().unwrap(), &[]));
    // Wherever it is now, the pointer goes with it.
    let journal = away.join(&names_in(&away)[0]);
    let restored =
        when_free(&home, &["restore", file, "--confirm", file, "--journal", journal.to_str().unwrap()]);
    assert_eq!(restored.status, Some(0), "{restored:?}");
    assert!(is_as_before(&image.path) && journals(&home).is_empty(), "{:?}", journals(&home));
}

#[test]
fn a_drive_that_was_used_since_is_not_overwritten() {
    let _alone = alone();
    let home = Home::new();
    let image = Image::new(MIB);
    let file = image.path.to_str().unwrap();
    let journal = killed_in_the_midst(&home, &image.path);
    let tested = fs::read(&image.path).unwrap();
    let mut used = tested.clone();
    used[..4096].fill(0x55);
    fs::write(&image.path, &used).unwrap();
    let refused = when_free(&home, &["restore", file, "--confirm", file]);
    assert_eq!(refused.status, Some(1));
    assert!(
        refused.err.contains("was written to since") && refused.err.contains("--although-changed"),
        "{}",
        refused.err
    );
    assert_eq!(fs::read(&image.path).unwrap(), used, "nothing was written");
    // Nor without the name being typed back, nor to another file.
    fs::write(&image.path, &tested).unwrap();
    assert_eq!(home.run(&["restore", file]).status, Some(1));
    let other = Image::new(MIB);
    let kept = home.store().join("preserve").join(journal);
    let other_file = other.path.to_str().unwrap();
    let to_other =
        home.run(&["restore", other_file, "--confirm", other_file, "--journal", kept.to_str().unwrap()]);
    assert!(to_other.status == Some(1) && to_other.err.contains("holds data of"), "{}", to_other.err);
    assert!(is_as_before(&other.path));
    assert_eq!(home.json(&["restore"])["journals"][0]["path"], file);
    let restored = home.json(&["restore", file, "--confirm", file]);
    assert_eq!(restored["schema"], "drivescope.restored/1");
    assert!(is_as_before(&image.path));
}

#[test]
fn a_journal_that_would_share_the_fate_of_the_drive_is_refused() {
    let _alone = alone();
    let home = Home::new();
    let image = Image::new(MIB);
    let file = image.path.to_str().unwrap();
    let words =
        ["verify", file, "--write", "--preserve", "--confirm", file, "--quiet", "--journal", "/dev/shm"];
    let refused = home.run(&words);
    assert!(refused.status == Some(1) && refused.err.contains("is in memory"), "{}", refused.err);
    assert!(is_as_before(&image.path));
    let folder = home.folder.path().to_str().unwrap();
    let nothing = home.run(&["verify", folder, "--write", "--preserve"]);
    assert!(nothing.status == Some(2) && nothing.err.contains("no data to preserve"), "{}", nothing.err);
}

/// A commit fails by its flush: its phase ends, it is told as lost data and not as a bad block, and other phases go on.
#[test]
fn a_commit_that_fails_is_lost_data() {
    let _alone = alone();
    let Some(drive) = MountedDrive::new(64, "a_commit_that_fails_is_lost_data") else { return };
    let file = drive.file.to_str().expect("a plain path");
    let home = Home::new();
    drive.failing.begin_with_flush(20);
    let words = ["commit", file, "--write", "--destroy-data", "--confirm", file, "--time-limit", "5s", "-q"];
    let outcome = home.run(&words);
    let page: Vec<&str> = outcome.out.split_whitespace().collect();
    let page = page.join(" ");
    assert!(page.contains("Verdict: Requests failed. 1 commit failed: what was written is lost."), "{page}");
    assert!(page.contains("Bad blocks: inconclusive; 1 commit failed, the first after"), "{page}");
    let errors = |phase: &serde_json::Value| phase["errors"].as_u64();
    let document = home.json(&["show"]);
    let failed: Vec<&serde_json::Value> = document["phases"]
        .as_array()
        .expect("phases")
        .iter()
        .filter(|phase| errors(phase) > Some(0))
        .collect();
    assert_eq!(
        (failed.len(), errors(failed[0]), failed[0]["stopped"].as_str()),
        (1, Some(1), Some("errors"))
    );
}

/// One failed request, a write or a flush, ends the writing of records: trying again would hide what it lost.
#[test]
fn a_record_that_is_not_flushed_is_the_last() {
    let _alone = alone();
    let Some(drive) = MountedDrive::new(MIB, "a_record_that_is_not_flushed_is_the_last") else { return };
    let file = drive.file.to_str().expect("a plain path");
    for after in [200, 201] {
        let home = Home::new();
        let log = home.folder.path().join("log");
        let to = log.to_str().expect("a plain path");
        drive.failing.begin(after, 1, Status::MediumError);
        let outcome = home.run(&[
            "verify",
            "--power-cut",
            "write",
            file,
            "--to",
            to,
            "--write",
            "--destroy-data",
            "--confirm",
            file,
            "--time-limit",
            "20s",
        ]);
        drive.failing.end();
        assert_eq!(outcome.status, Some(1), "{outcome:?}");
        assert!(outcome.err.contains("Its data are lost"), "{}", outcome.err);
        let reported = fs::read_to_string(&log).expect("the log").lines().count() as u64 - 1;
        assert!((after / 2 - 20..=after / 2).contains(&reported), "{reported}: {}", outcome.err);
    }
}
