//! The phases that `commit` asks for.

use super::*;
use model::run::{Environment, MemorySeries};

fn setup(name: &str, empty: bool) -> Setup {
    let facts = sim::open(name, 1).expect("a drive that ships").facts().clone();
    Setup {
        range: ByteRange::whole(Bytes::from_gib(1)),
        facts,
        may_write: true,
        empty,
        seed: 1,
        time_limit: None,
        precision: None,
    }
}

/// The phases that it asks for where nothing is ever completed, until its time is up.
fn phases(mut commit: Commit) -> Vec<Phase> {
    let facts = commit.setup.facts.clone();
    let (environment, series) = (Environment::default(), MemorySeries::default());
    let so_far = RunView { target: &facts, environment: &environment, phases: &[], series: &series };
    let mut phases = Vec::new();
    // Warm-up, nine probes, three rounds of all cells.
    for _ in 0..10 + 3 * commit.cells.len() {
        phases.extend(commit.next(&so_far));
    }
    phases
}

#[test]
fn a_drive_gets_two_methods_three_crowds_and_two_loads() {
    let commit = Commit::new(setup("970-pro", false), &CommitRequest::default()).unwrap();
    let names: Vec<String> = commit.cells.iter().map(Cell::name).collect();
    assert_eq!(
        names,
        [
            "commits of 2 KiB, fdatasync, target",
            "commits of 8 KiB, fdatasync, target",
            "commits of 2 KiB, rwf_dsync, target",
            "commits of 2 KiB, fdatasync, target, 4 committers",
            "commits of 2 KiB, fdatasync, target, 16 committers",
            "commits of 2 KiB, fdatasync, target, 64 committers",
            "commits of 2 KiB, fdatasync, target, beside random reads",
            "commits of 2 KiB, fdatasync, target, beside sequential writes",
        ]
    );
    let phases = phases(commit);
    assert_eq!(phases[1].name, "random reads, for comparison");
    assert!(
        phases[1..].iter().all(|phase| phase
            .workload
            .as_ref()
            .unwrap()
            .validate(Bytes::from_gib(1), SIZE_MIN)
            .is_ok())
    );
    assert_eq!(phases.len(), 10 + 3 * 8);
}

#[test]
fn the_first_size_stands_for_the_drive() {
    let sizes = vec![Bytes::from_kib(8), Bytes::from_kib(2)];
    for (sizes, first) in [(vec![], Bytes::from_kib(2)), (sizes, Bytes::from_kib(8))] {
        let request = CommitRequest { sizes, ..CommitRequest::default() };
        let commit = Commit::new(setup("970-pro", false), &request).unwrap();
        let main: Vec<Bytes> = phases(commit)
            .iter()
            .filter_map(|phase| phase.workload.as_ref())
            .filter(|workload| workload.mix.commits().is_some_and(|commits| commits.is_main))
            .filter_map(|workload| workload.block_sizes.single())
            .collect();
        assert_eq!(main, [first; 3], "once in each round");
    }
}

#[test]
fn a_folder_gets_all_methods_and_logs_within_a_minute() {
    let request = CommitRequest { application: Some(Application::Etcd), ..CommitRequest::default() };
    let commit = Commit::new(setup("970-pro", true), &request).unwrap();
    // One size, 15 methods and logs, three crowds on one file and on several, two loads.
    assert_eq!(commit.cells.len(), 15 + 6 + 2);
    assert!(commit.remaining().time() <= Nanos::from_secs(60));
    assert_eq!(commit.cells[0].name(), "commits of 2 KiB, fdatasync, preallocated");
}

#[test]
fn what_cannot_be_committed_is_refused() {
    let refused = |sizes: Vec<Bytes>, may_write| {
        let request = CommitRequest { sizes, ..CommitRequest::default() };
        Commit::new(Setup { may_write, ..setup("970-pro", false) }, &request).err()
    };
    let large = Bytes::from_kib(128);
    assert_eq!(refused(vec![large], true), Some(PlanError::CommitSize { size: large }));
    assert!(matches!(refused(vec![], false), Some(PlanError::NeedsWrite { .. })));
}
