//! The ledger: what the store knows of a drive's past, made from the runs alone, also of a run that was killed.

use crate::program::Home;
use crate::store_support::*;
use model::plan::PhaseKind;
use model::range::ByteRange;
use model::record::IntervalRecord;
use model::request::Operation;
use model::units::Bytes;
use model::workload::{OperationMix, Pattern, Workload};
use std::fs;
use store::{EventKind, Store};

const DRIVE: &str = "EXAMPLE 1000 S-1";

fn writing(
    mut phase: model::run::PhaseSummary,
    kind: PhaseKind,
    operation: Operation,
) -> model::run::PhaseSummary {
    let range = ByteRange::whole(Bytes::from_gib(1));
    phase.phase.kind = kind;
    phase.phase.workload =
        Some(Workload::new(range, Pattern::Sequential, OperationMix::Write, Bytes::from_mib(1), 4));
    phase.totals.iter_mut().for_each(|totals| totals.operation = operation);
    phase
}

#[test]
fn what_a_run_wrote_discarded_and_purged_is_in_the_ledger_of_its_drive() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let mut facts = run("20260301-120000-a");
    let mut writer = store.begin(&facts).unwrap();
    facts.phases.push(writing(ended(phase("discard"), 1000), PhaseKind::Purge, Operation::Discard));
    facts.phases.push(writing(ended(phase("one"), 10), PhaseKind::Measure, Operation::Write));
    facts.phases.push(writing(ended(phase("two"), 20), PhaseKind::Measure, Operation::Write));
    facts.phases.push(ended(phase("reads"), 20));
    writer.finish(&complete(facts), &[]).unwrap();

    let history = store.history(&[DRIVE.into()]).unwrap();
    let events: Vec<_> = history[0].events.iter().map(|event| (event.kind, event.bytes)).collect();
    assert_eq!(events, [(EventKind::Purge, 1 << 30), (EventKind::Write, 30 * 4096)]);
    assert_eq!(history[0].events[0].pattern, "discard");
    assert_eq!((history[0].events[1].block_bytes, history[0].events[1].seconds), (1 << 20, 2.0));
    assert!(store.history(&["EXAMPLE 1000 S-2".into()]).unwrap().is_empty());

    // The index is no truth of its own.
    fs::remove_file(folder.path().join("index.sqlite")).unwrap();
    assert_eq!(store.history(&[DRIVE.into()]).unwrap(), history);
}

#[test]
fn a_killed_run_counts_with_what_its_records_hold() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let mut facts = run("20260301-120000-a");
    let mut writer = store.begin(&facts).unwrap();
    facts.phases.push(writing(phase("cut"), PhaseKind::Measure, Operation::Write));
    writer.begin_phase(&facts).unwrap();
    // Somebody looks while it goes on, so that the index has seen the run.
    store.runs().unwrap();
    for number in 0..50 {
        let record = IntervalRecord { operation: Operation::Write, ..interval(0, number) };
        writer.append_interval(&record).unwrap();
    }
    drop(writer);
    let history = store.history(&[DRIVE.into()]).unwrap();
    assert_eq!(history.len(), 1);
    assert!(!history[0].is_finished);
    assert_eq!(history[0].written_bytes(), 50 * 8192);
}

#[test]
fn a_file_that_was_written_to_has_a_past_and_runs_tell_it() {
    let home = Home::new();
    let folder = home.folder.path().to_str().unwrap();
    let first = home.json(&["check", folder, "--max-size", "32MiB", "--time-limit", "5s", "--seed", "1"]);
    let written: u64 = first["phases"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|phase| phase["by_operation"].as_array())
        .flatten()
        .filter(|totals| totals["operation"] == "write")
        .map(|totals| totals["bytes"].as_u64().unwrap())
        .sum();
    assert!(written >= 32 << 20);
    let state = home.json(&["state", folder]);
    assert_eq!(state["schema"], "drivescope.state/1");
    assert_eq!(state["written_bytes"].as_u64(), Some(written));
    assert_eq!(state["runs"], 1);
    let page = home.print(&["state", folder, "--plain"]);
    assert!(
        page.contains("to it or its drive before, in one run") || page.contains("to it before, in one run"),
        "{page}"
    );
    let second = home.json(&["check", folder, "--max-size", "32MiB", "--time-limit", "5s", "--seed", "1"]);
    let before = second["state"]["before"].to_string();
    assert!(before.contains("before, in one run"), "{before}");
}

#[test]
fn a_virtual_drive_and_nothing_have_no_past() {
    let home = Home::new();
    let outcome = home.run(&["state", "sim:null"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("begins anew"), "{}", outcome.err);
    assert_eq!(home.run(&["state", "/no/such/drive"]).status, Some(1));
    let page = home.print(&["state", home.folder.path().to_str().unwrap()]);
    assert!(page.contains("No earlier writes by drivescope"), "{page}");
}
