//! Volatile write caches of drawn disks against their truth, and drives without one.

use crate::home::{measured, truth};
use judge::document::{covers, number};
use judge::failure::Failure;
use judge::threads::on_two_threads;
use judge::virtual_drive::named;
use model::finding::FindingCode;
use serde_json::Value;

/// Fewer in a debug build, where a run takes many seconds.
const CACHED: usize = if cfg!(debug_assertions) { 3 } else { 60 };
const WITHOUT: usize = if cfg!(debug_assertions) { 4 } else { 60 };
/// How far off size and drain rate may be.
const OFF_MAX: f64 = 0.05;
const CODE: FindingCode = FindingCode::WriteCache;

/// What is wrong, and whether the interval holds the size.
fn score(seed: usize) -> (Option<String>, bool) {
    let drive = named(&format!("random-cached-{}", 100 + seed)).expect("a drive");
    let bytes = truth(&drive.profile, CODE);
    let run = measured("sustain", &drive.target, &["--write"]);
    let said = run.said(CODE);
    let Some(found) = run.value(CODE) else { return (Some(format!("{}: {said}", drive.name)), false) };
    // From the start of one batch to that of the next it was written and flushed.
    let phases: Vec<_> = run.phases().iter().filter(|phase| is_batch(phase)).collect();
    let (first, last) = (phases[0], phases[phases.len() - 1]);
    let bytes_before_last: f64 = phases[..phases.len() - 1].iter().map(|phase| number(phase, "bytes")).sum();
    let drain_rate = bytes_before_last / (number(last, "start_s") - number(first, "start_s"));
    let drained = run.number(CODE, "drained").expect("a rate");
    let off = |said: f64, truth: f64| (said / truth - 1.0).abs() > OFF_MAX;
    let is_wrong = off(found, bytes) || off(drained, drain_rate);
    let line = format!("{}: {found} at {drained}, truth {bytes} at {drain_rate}: {said}", drive.name);
    (is_wrong.then_some(line), covers(said, bytes).unwrap_or_default())
}

fn is_batch(phase: &Value) -> bool {
    phase["name"].as_str().is_some_and(|name| name.starts_with("write, batch"))
}

#[test]
fn the_size_of_a_write_cache_is_true() {
    let scores = on_two_threads(CACHED, |seed| Ok::<_, Failure>(score(seed))).expect("no failure");
    let wrong: Vec<&String> = scores.iter().filter_map(|(wrong, _)| wrong.as_ref()).collect();
    let covered = scores.iter().filter(|(_, covers)| *covers).count();
    eprintln!("{covered} of {CACHED} intervals hold the size, {} sizes are wrong: {wrong:#?}", wrong.len());
    assert!(wrong.is_empty() && covered * 10 >= CACHED * 9, "{covered} of {CACHED}, {wrong:#?}");
}

/// Less than the 4 MiB in flight: "none detected: writes reach the medium as fast as they are acknowledged" was told of both, and of the
/// disk 1 MiB was acknowledged in 5 ms and took 1.6 s to flush. The SSD drops, and is then slower than what reaches it, so that its size shows.
#[test]
fn a_cache_smaller_than_what_is_in_flight_is_there() {
    let said = |name: &str, seed: &str| {
        measured("sustain", &format!("sim:random-{name}"), &["--write", "--seed", seed]).said(CODE).clone()
    };
    let disk = said("hard-disk-960013", "4");
    assert!(
        disk["high"].is_null() && disk["value"].as_f64().is_some_and(|least| least <= 3_016_704.0),
        "{disk}"
    );
    for (name, seed, bytes) in [
        ("flash-960014", "5", 2_233_344.0),
        ("flash-1101021", "27", 531_456.0),
        ("flash-1101040", "46", 11_366_400.0),
    ] {
        let flash = said(name, seed);
        let (low, high) = (flash["low"].as_f64(), flash["high"].as_f64());
        assert!(
            low.is_some_and(|low| low <= bytes) && high.is_some_and(|high| bytes <= high),
            "{name}: {flash}"
        );
    }
}

/// Targets without a mechanism write what they acknowledge.
#[test]
fn no_write_cache_is_invented() {
    let invented = on_two_threads(WITHOUT, |seed| {
        let target = format!("sim:random-{}-{}", ["remote", "cloud"][seed % 2], 900 + seed);
        let run = measured("sustain", &target, &["--write", "--time-limit", "120s"]);
        Ok::<_, Failure>(run.value(CODE).map(|_| format!("{target}: {}", run.said(CODE))))
    })
    .expect("no failure");
    let invented: Vec<String> = invented.into_iter().flatten().collect();
    assert!(invented.is_empty(), "{invented:#?}");
}
