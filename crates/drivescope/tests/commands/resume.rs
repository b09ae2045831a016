//! `--resume`: a pass over every block is stopped by Ctrl-C or `kill -9`, resumed, stopped again, and resumed to its end;
//! then every block was asked for once, and the run is one run.

use crate::program::*;
use model::plan::PhaseKind;
use model::run::{Run, RunStatus};
use model::units::MIB;
use std::fs::File;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use store::Store;

/// However busy the machine is, a run gets this far in this time.
const PATIENCE: Duration = Duration::from_secs(60);
const GIB: u64 = 1024 * MIB;

fn start(home: &Home, arguments: &[&str]) -> Child {
    let mut command = home.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

fn run_of(home: &Home) -> Option<Run> {
    Some(Store::open(&home.store()).ok()?.read("last").ok()?.run)
}

/// Waits until the run has begun so many phases that measure, and stops it there. In virtual time it is halted whenever one looks: a pass
/// over a drive would be over meanwhile.
fn stop_in(home: &Home, child: &mut Child, phases: usize, name: &str, is_virtual: bool) {
    let started = Instant::now();
    loop {
        if is_virtual {
            signal("STOP", child.id());
        }
        let facts = Store::open(&home.store()).and_then(|store| store.facts("last"));
        let begun = facts.map_or(0, |run| {
            run.phases.iter().filter(|phase| phase.phase.kind == PhaseKind::Measure).count()
        });
        if begun >= phases {
            break;
        }
        if is_virtual {
            signal("CONT", child.id());
        }
        assert!(child.try_wait().expect("our child").is_none(), "it ended before phase {phases}");
        assert!(started.elapsed() < PATIENCE, "it never came to phase {phases}");
        thread::sleep(Duration::from_millis(1));
    }
    signal("STOP", child.id());
    signal(name, child.id());
    signal("CONT", child.id());
    child.wait().expect("it ends");
}

/// The offsets in MiB of all requests of phases that were not cut off by a kill, in order.
fn traced_mib(home: &Home) -> Vec<u64> {
    let stored = Store::open(&home.store()).expect("the store").read("last").expect("the run");
    assert!(stored.damage.is_empty(), "{:?}", stored.damage);
    let mut offsets: Vec<u64> = stored
        .series
        .trace()
        .map(|record| record.expect("a sound record"))
        .filter(|record| {
            let phase = &stored.run.phases[record.phase as usize];
            // A busy machine makes parts of a file slow, which are then read again, with a sound region between.
            let is_look = ["again", "region between"].iter().any(|word| phase.phase.name.contains(word));
            let is_part = phase.phase.kind == PhaseKind::Measure && !is_look;
            is_part && phase.stopped.is_some()
        })
        .map(|record| record.offset_bytes / MIB)
        .collect();
    offsets.sort_unstable();
    offsets
}

/// One run that ended well, and whose clock went on.
fn assert_is_one_whole_run(home: &Home, mib: u64) {
    assert_eq!(home.runs().len(), 1, "{:?}", home.runs());
    let run = run_of(home).expect("the run");
    assert_eq!(run.status, RunStatus::Complete);
    assert!(run.phases.is_sorted_by_key(|phase| phase.start_ns), "one clock");
    let traced = traced_mib(home);
    let wrong = (0..mib).zip(&traced).find(|(expected, found)| expected != *found);
    assert_eq!((wrong, traced.len() as u64), (None, mib), "each block once");
    assert!(home.print(&["runs"]).contains("complete"));
}

#[test]
fn a_pass_over_a_virtual_drive_is_interrupted_and_resumed() {
    for stops in [["INT", "INT"], ["KILL", "KILL"], ["INT", "KILL"]] {
        let home = Home::new();
        // So long that it cannot end before a busy machine looks again.
        let pass = ["surface", "sim:zoned", "--full", "--range", "0..384GiB", "--trace", "-q", "--seed", "7"];
        stop_in(&home, &mut start(&home, &pass), 5, stops[0], true);
        let first = run_of(&home).expect("the run");
        assert_eq!(first.status, RunStatus::Interrupted, "{stops:?}");
        stop_in(&home, &mut start(&home, &["surface", "--resume", "last", "-q"]), 10, stops[1], true);
        assert!(home.print(&["runs"]).contains("interrupted"), "{stops:?}");
        home.print(&["surface", "--resume", &first.id, "-q"]);
        assert_is_one_whole_run(&home, 384 * 1024);
        let again = home.run(&["surface", "--resume", "last"]);
        assert_eq!(again.status, Some(1));
        assert!(again.err.contains("is complete, so there is nothing to resume"), "{}", again.err);
    }
}

#[test]
fn a_resumed_pass_finds_what_an_uninterrupted_one_finds() {
    let pass = ["surface", "sim:faulty", "--full", "--range", "0..345GB", "--trace", "-q", "--seed", "7"];
    let (whole, parted) = (Home::new(), Home::new());
    whole.print(&pass);
    stop_in(&parted, &mut start(&parted, &pass), 2, "KILL", true);
    parted.print(&["surface", "--resume", "last", "-q"]);
    // Where the kill fell into a part that fails, that part is read again and its errors are counted twice: the places are not.
    let bad = |home: &Home| {
        let run = home.json(&["show", "last"]);
        let findings = run["findings"].as_array().expect("findings").clone();
        let found = findings.into_iter().find(|finding| finding["code"] == "bad-blocks").expect("bad blocks");
        let regions = found["data"]["regions"].as_array().expect("regions").clone();
        regions
            .into_iter()
            .map(|region| (region["first_byte"].clone(), region["bytes"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(bad(&whole), bad(&parted));
}

/// The mechanics have the last 45 phases and random access 80 before them: the run is killed in the first part and in the second.
#[test]
fn a_deep_check_is_resumed_in_the_part_that_was_under_way() {
    let codes = |home: &Home| -> Vec<String> {
        let run = home.json(&["show", "last"]);
        let findings = run["findings"].as_array().expect("findings");
        findings.iter().filter_map(|finding| finding["code"].as_str()).map(String::from).collect()
    };
    let deep = ["check", "sim:st3000dm001", "--deep", "-q", "--seed", "7"];
    let whole = Home::new();
    whole.print(&deep);
    let all = run_of(&whole).expect("the run").phases.len();
    for phases in [300, all - 110] {
        let home = Home::new();
        stop_in(&home, &mut start(&home, &deep), phases, "KILL", true);
        let page = home.print(&["show", "last"]);
        assert!(page.contains("drivescope check --resume"), "{phases} of {all}: {page}");
        home.print(&["check", "--resume", "last", "-q"]);
        let run = run_of(&home).expect("the run");
        assert_eq!(run.status, RunStatus::Complete);
        assert_eq!(codes(&home), codes(&whole), "{phases}");
    }
}

#[test]
fn a_pass_over_a_file_is_interrupted_and_resumed() {
    for stop in ["INT", "KILL"] {
        let home = Home::new();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("it's a file");
        File::create(&path).and_then(|file| file.set_len(6 * GIB)).expect("a file without blocks");
        let path = path.to_str().expect("a plain path");
        stop_in(&home, &mut start(&home, &["surface", path, "--full", "--trace", "-q"]), 2, stop, false);
        home.print(&["surface", "--resume", "last", "-q"]);
        assert_is_one_whole_run(&home, 6 * 1024);
    }
}

#[test]
fn areas_are_resumed_with_the_one_that_was_cut_off() {
    let areas = ["surface", "sim:zoned", "--areas", "300", "--area-size", "512MiB", "-q", "--seed", "7"];
    let (whole, parted) = (Home::new(), Home::new());
    whole.print(&areas);
    stop_in(&parted, &mut start(&parted, &areas), 8, "KILL", true);
    parted.print(&["surface", "--resume", "last", "-q"]);
    let places = |home: &Home| -> Vec<_> {
        let run = run_of(home).expect("the run");
        assert_eq!(run.status, RunStatus::Complete);
        let sound = run.phases.into_iter().filter(|phase| phase.stopped.is_some());
        sound.map(|phase| phase.phase.workload.map(|workload| workload.range)).collect()
    };
    assert_eq!(places(&whole), places(&parted));
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("file");
    File::create(&path).and_then(|file| file.set_len(6 * GIB)).expect("a file without blocks");
    let text = path.to_str().expect("a plain path");
    stop_in(&home, &mut start(&home, &["surface", text, "--full", "-q"]), 2, "KILL", false);
    let before = run_of(&home).expect("the run");

    File::options().write(true).open(&path).and_then(|file| file.set_len(5 * GIB)).expect("a shorter file");
    let shorter = home.run(&["surface", "--resume", "last", "-q"]);
    assert_eq!(shorter.status, Some(1));
    assert!(
        shorter.err.contains("the capacity in bytes was 6442450944 and is 5368709120"),
        "{}",
        shorter.err
    );
    assert_eq!(run_of(&home).expect("the run").phases, before.phases, "nothing was changed");

    let none = home.run(&["surface", "--resume", "nothing"]);
    assert!(none.err.contains("no run in"), "{}", none.err);
    let both = home.run(&["surface", "sim:zoned", "--resume", "last"]);
    assert_eq!(both.status, Some(2), "{}", both.err);
}
