//! A writer that is killed at any moment leaves a readable run with everything that it had handed to the kernel.
//!
//! The writer is this test program, started again as a child: it prints a line whenever a batch has been written,
//! and the parent kills it after a number of lines drawn from a seed.

mod store_support;

use model::prng::Prng;
use model::run::RunStatus;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use store::{Damage, Store};
use store_support::*;

const FOLDER_VARIABLE: &str = "DRIVESCOPE_TEST_KILLED_WRITER";
const BATCH: u64 = 64;
/// 65 batches are 4,160 intervals: enough for the end of a phase to make a segment of them.
const BATCHES_PER_PHASE: u64 = 65;
const KILLS: u64 = 100;
const BATCHES_MAX: u64 = 140;

#[test]
#[ignore = "it is the child of a_writer_killed_at_any_moment_leaves_a_readable_run, and writes until it is killed"]
fn killed_writer() {
    let Some(folder) = std::env::var_os(FOLDER_VARIABLE) else { return };
    let mut facts = run("killed");
    facts.phases.push(phase("0"));
    let mut writer = Store::open(Path::new(&folder)).unwrap().begin(&facts).unwrap();
    let mut out = std::io::stdout();
    for batch in 0.. {
        let current = facts.phases.len() as u32 - 1;
        (0..BATCH).for_each(|n| writer.append_interval(&interval(current, batch * BATCH + n)).unwrap());
        writer.append_histogram(&histogram(current, &[batch + 1])).unwrap();
        writer.write_out(&facts).unwrap();
        writeln!(out, "appended").unwrap();
        out.flush().unwrap();
        if batch % BATCHES_PER_PHASE == BATCHES_PER_PHASE - 1 {
            let last = facts.phases.pop().unwrap();
            facts.phases.push(ended(last, BATCH * BATCHES_PER_PHASE * 2));
            writer.end_phase(&facts).unwrap();
            facts.phases.push(phase("next"));
            writer.begin_phase(&facts).unwrap();
        }
    }
}

fn kill_after(batches: u64, folder: &Path) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed_writer", "--ignored", "--nocapture"])
        .env(FOLDER_VARIABLE, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let appended = lines.map(Result::unwrap).filter(|line| line == "appended").take(batches as usize).count();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(appended as u64, batches, "the child wrote until it was killed");
}

/// Answers how many intervals there are, and what the store says is missing.
fn check(store: &Store, batches: u64, when: &str) -> (u64, usize) {
    let stored = store.read("last").unwrap();
    let phases = stored.run.phases.len() as u32;
    let found: Vec<_> = (0..phases).flat_map(|phase| intervals(&stored, phase)).collect();
    let expected = |n: u64| interval((n / BATCH / BATCHES_PER_PHASE) as u32, n);
    assert!(found.len() as u64 >= batches * BATCH, "{when} {batches}: {} intervals", found.len());
    assert!(found.iter().copied().eq((0..found.len() as u64).map(expected)), "{when} {batches}");
    assert_eq!(stored.run.status, RunStatus::Interrupted, "{when} {batches}");
    let latencies: u64 = stored.series.histograms().map(|record| record.histogram.count()).sum();
    assert!(latencies >= batches, "{when} {batches}: {latencies} histograms");
    let operations: u64 = stored.run.phases.iter().map(|phase| phase.operations()).sum();
    assert_eq!(
        operations,
        2 * found.len() as u64,
        "{when} {batches}: the totals of the last phase are restored"
    );
    let is_cut = |damage: &Damage| matches!(damage, Damage::CutJournal { .. });
    assert!(stored.damage.iter().all(is_cut), "{when} {batches}: {:?}", stored.damage);
    (found.len() as u64, stored.damage.len())
}

#[test]
fn a_writer_killed_at_any_moment_leaves_a_readable_run() {
    let mut prng = Prng::new(20_260_301, 0);
    for kill in 0..KILLS {
        // Every fourth time at the end of a phase, when journals become segments.
        let batches = match kill % 4 {
            0 => BATCHES_PER_PHASE * (1 + prng.below(2)),
            _ => 1 + prng.below(BATCHES_MAX),
        };
        let folder = tempfile::tempdir().unwrap();
        kill_after(batches, folder.path());
        let store = Store::open(folder.path()).unwrap();
        let (found, _) = check(&store, batches, "after the kill");
        store.recover("killed").unwrap();
        let journals = std::fs::read_dir(folder.path().join("runs/killed"))
            .unwrap()
            .filter(|entry| {
                entry
                    .as_ref()
                    .unwrap()
                    .path()
                    .extension()
                    .is_some_and(|e| e != "parquet" && e != "json" && e != "txt")
            })
            .count();
        assert_eq!(journals, 0, "{batches}");
        assert_eq!(check(&store, batches, "after folding"), (found, 0));
    }
}
