//! Runs of every released format stay readable. `tests/runs/v1` was written by version 0.1.0 and is never written
//! again: a run that ended, and one whose writer was killed in its second phase.

mod store_support;

use model::finding::ValueDocument;
use model::request::{Operation, Status};
use model::run::{RunStatus, Series};
use model::units::Nanos;
use std::fs;
use std::path::Path;
use store::Store;
use store_support::intervals;

/// A copy, since listing makes an index.
fn copy_of_v1() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs/v1");
    for id in ["complete", "killed"] {
        let copy = folder.path().join("runs").join(id);
        fs::create_dir_all(&copy).unwrap();
        for entry in fs::read_dir(golden.join(id)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
    }
    folder
}

#[test]
fn a_complete_run_of_version_1_is_read() {
    let folder = copy_of_v1();
    let stored = Store::open(folder.path()).unwrap().read("complete").unwrap();
    assert!(stored.damage.is_empty(), "{:?}", stored.damage);
    let run = &stored.run;
    assert_eq!((run.status, run.seed), (RunStatus::Complete, 18_446_744_073_709_551_615));
    assert_eq!(run.target.serial.as_deref(), Some("S-1"));
    assert_eq!(run.phases.len(), 1);
    let text = fs::read_to_string(folder.path().join("runs/complete/run.json")).unwrap();
    let finding = &store::document::from_json(&text).unwrap().findings[0];
    assert_eq!(
        (finding.code.as_str(), &finding.value),
        ("access-time", &Some(ValueDocument::Number(0.0125)))
    );
    let totals = &run.phases[0].totals[0];
    assert_eq!((totals.operation, totals.operations, totals.bytes), (Operation::Read, 4, 16_384));
    let latencies: Vec<_> = totals.histogram.cells().collect();
    assert_eq!(latencies, [(100, 2), (300, 1), (2238, 1)]);
    assert_eq!(totals.histogram.max(), Some(Nanos::new(12_500_000)));
    let found = intervals(&stored, 0);
    assert_eq!(found.len(), 3);
    assert_eq!((found[0].latency, found[0].errors), (None, 0));
    let last = found[2].latency.unwrap();
    assert_eq!((found[2].start_ns, found[2].offset_first, found[2].offset_end), (80_000_000, 16_384, 24_576));
    assert_eq!(
        (last.min_ns, last.mean_ns, last.p50_ns, last.p99_ns, last.max_ns),
        (92, 102.25, 102, 112, 122)
    );
    let errors: Vec<_> = stored.series.errors(0).collect();
    assert_eq!((errors.len(), errors[0].at_ns, errors[0].status), (1, 7, Status::MediumError));
    let telemetry: Vec<_> = stored.series.telemetry().collect();
    assert_eq!((telemetry.len(), telemetry[0].temperature_celsius), (1, Some(31.5)));
    assert_eq!((telemetry[0].cpu_busy_share, telemetry[0].own_read_bytes), (None, 4096));
    let trace: Vec<_> = stored.series.trace().map(Result::unwrap).collect();
    assert_eq!((trace.len(), trace[1].completed_ns, trace[1].operation), (2, 101, Operation::Write));
}

#[test]
fn a_killed_run_of_version_1_is_read_and_folded() {
    let folder = copy_of_v1();
    let store = Store::open(folder.path()).unwrap();
    for _ in 0..2 {
        let stored = store.read("killed").unwrap();
        assert_eq!(stored.run.status, RunStatus::Interrupted);
        assert!(!stored.under_way);
        assert_eq!(intervals(&stored, 0).len(), 2);
        assert_eq!(intervals(&stored, 1).iter().map(|interval| interval.bytes).collect::<Vec<_>>(), [8192]);
        assert_eq!(stored.run.phases[1].totals[0].histogram.count(), 1);
        store.recover("killed").unwrap();
    }
    assert!(folder.path().join("runs/killed/intervals-000001.parquet").exists());
}
