//! Files of our own making, of which we know how fast they are: what must be found of them, and where nothing must be.

use analysis::analyse;
use model::file_work::{DiskShare, FileLayout, FileTask, FileWork, ProcessorTime};
use model::finding::{
    FilePlaceEffect, FilePlacement, FileRate, FileRateUnknown, Finding, FindingCode, Outcome, PlaceLimit,
    known,
};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::request::Operation;
use model::run::{Environment, MemorySeries, OperationTotals, PhaseSummary, RunView};
use model::target::{Caveat, TargetFacts};
use model::units::Bytes;

/// Each task, its code, and what is done in a second.
const TASKS: [(FileTask, FindingCode, f64); 14] = [
    (FileTask::BlockWrite, FindingCode::FileWriteRate, 120e6),
    (FileTask::Rewrite, FindingCode::FileRewriteRate, 60e6),
    (FileTask::BlockRead, FindingCode::FileReadRate, 140e6),
    (FileTask::PerByteWrite, FindingCode::FilePerByteWriteRate, 80e6),
    (FileTask::PerByteRead, FindingCode::FilePerByteReadRate, 90e6),
    (FileTask::Seeks, FindingCode::FileSeeks, 210.0),
    (FileTask::CreateInOrder, FindingCode::FileCreateRate, 9000.0),
    (FileTask::StatInOrder, FindingCode::FileStatRate, 400_000.0),
    (FileTask::OpenInOrder, FindingCode::FileOpenRate, 5000.0),
    (FileTask::DeleteInOrder, FindingCode::FileDeleteRate, 20_000.0),
    (FileTask::CreateAtRandom, FindingCode::FileRandomCreateRate, 8000.0),
    (FileTask::StatAtRandom, FindingCode::FileRandomStatRate, 300_000.0),
    (FileTask::OpenAtRandom, FindingCode::FileRandomOpenRate, 150.0),
    (FileTask::DeleteAtRandom, FindingCode::FileRandomDeleteRate, 15_000.0),
];
const ROUNDS: [f64; 4] = [1.0, 1.01, 0.99, 1.005];

/// Half a second of a task at that rate and half a second of flush, if it changes something.
fn phase(folder: &str, task: FileTask, round: u32, rate: f64) -> PhaseSummary {
    let flush_s = if task.changes_data() { 0.5 } else { 0.0 };
    let amount = (rate * (0.5 + flush_s)) as u64;
    let operation =
        if task.changes_data() && task != FileTask::Seeks { Operation::Write } else { Operation::Read };
    let totals = |operation, operations, bytes, latency_ns| {
        let mut histogram = LatencyHistogram::default();
        histogram.record(latency_ns);
        OperationTotals { operation, operations, bytes, errors: 0, histogram, stretch: None }
    };
    let mut all = vec![totals(operation, amount, amount, 2_000_000)];
    if flush_s > 0.0 {
        all.push(totals(Operation::Flush, 1, 0, (flush_s * 1e9) as u64));
    }
    PhaseSummary {
        duration_ns: 500_000_000,
        stopped: Some(StopReason::Passes),
        totals: all,
        files: Some(Box::new(FileWork {
            folder: folder.into(),
            file_system: "ext4".into(),
            task,
            round,
            block: Bytes::from_mib(1),
            file_bytes: Some(Bytes::from_mib(64)),
            files: 1,
            folders: 1,
            threads: 1,
            processor: Some(ProcessorTime { user_ns: 10_000_000, system_ns: 90_000_000 }),
            cached_share: (!task.changes_data()).then_some(0.0),
            layout: (task == FileTask::BlockWrite).then(|| Ok(layout(folder))),
        })),
        ..PhaseSummary::begun(
            Phase {
                name: task.words().into(),
                experiment: "files".into(),
                kind: PhaseKind::Measure,
                workload: None,
                stop: StopCondition::one_pass(),
            },
            0,
        )
    }
}

/// A folder called by its share of the disk lies there.
fn layout(folder: &str) -> FileLayout {
    let position: f64 = folder.parse().unwrap_or(0.5);
    let middle = position * 2e12;
    let share = DiskShare {
        disk: "sda".into(),
        disk_bytes: 2_000_000_000_000,
        bytes: 64 << 20,
        first: middle as u64,
        end: middle as u64 + (64 << 20),
        middle,
    };
    FileLayout { extents: 3, fragments: 1, disks: vec![share], unplaced: None }
}

/// All tasks in all folders, at the rate of the task times the factor of the folder.
fn run(folders: &[(&str, f64)]) -> Vec<PhaseSummary> {
    let mut phases = Vec::new();
    for (round, noise) in (0u32..).zip(ROUNDS) {
        for (task, _, rate) in TASKS {
            for (number, (folder, factor)) in folders.iter().enumerate() {
                // Rounds go up and down together, and each folder by a little for itself.
                let own = 1.0 + 0.001 * f64::from((round * 7 + number as u32 * 3 + task as u32) % 5);
                let is_of_place =
                    matches!(task, FileTask::BlockRead | FileTask::BlockWrite | FileTask::Rewrite);
                let factor = if is_of_place { *factor } else { 1.0 };
                phases.push(phase(folder, task, round, rate * factor * noise * own));
            }
        }
    }
    phases
}

fn findings(phases: &[PhaseSummary], rotational: Option<bool>, caveats: Vec<Caveat>) -> Vec<Finding> {
    let mut target: TargetFacts = sim::open("constant", 1).expect("a drive that ships").facts().clone();
    (target.rotational, target.caveats) = (rotational, caveats);
    let (environment, series) = (Environment::default(), MemorySeries::default());
    analyse(&RunView { target: &target, environment: &environment, phases, series: &series })
}

fn of(findings: &[Finding], code: FindingCode) -> &Finding {
    findings
        .iter()
        .find(|finding| finding.code() == code)
        .unwrap_or_else(|| panic!("{code:?} was not answered"))
}

fn place_effect(findings: &[Finding]) -> &FilePlaceEffect {
    &known::<FilePlaceEffect>(findings).expect("it is known").conclusion
}

#[test]
fn each_figure_is_found_with_its_interval_and_its_cost() {
    let findings = findings(&run(&[("0.5", 1.0)]), Some(true), Vec::new());
    for (task, code, rate) in TASKS {
        let finding = of(&findings, code);
        let estimate = finding.estimate().unwrap_or_else(|| panic!("{code:?}: {finding:?}"));
        assert!(
            estimate.covers(rate * 1.003) && estimate.relative_half_width() < 0.03,
            "{code:?}: {estimate:?}"
        );
        // 0.1 s of processor time in half a second, or in a whole one with the flush.
        let percent = if task.changes_data() { 10.0 } else { 20.0 };
        let file = &finding.as_known::<FileRate>().expect("it has a number").conclusion;
        let cost = file.processor.expect("it has a cost").percent;
        assert!((cost - percent).abs() < 0.01, "{code:?}: {cost} %");
    }
    assert!(
        !findings.iter().any(|finding| finding.code() == FindingCode::FilePlaceEffect),
        "there is one place only"
    );
    let place = &known::<FilePlacement>(&findings).expect("it is known").conclusion;
    assert!(place.fragments == 1 && place.is_contiguous && place.disks[0].position == 0.5, "{place:?}");
}

#[test]
fn what_has_nothing_to_do_with_files_says_nothing_of_them() {
    let drive = findings(&[], Some(true), Vec::new());
    assert!(drive.iter().all(|finding| !finding.code().name().starts_with("file-")), "{drive:?}");
    let files = findings(&run(&[("0.5", 1.0)]), Some(true), Vec::new());
    let foreign = |finding: &&Finding| {
        !finding.code().name().starts_with("file-") && finding.code() != FindingCode::CacheInfluence
    };
    assert_eq!(files.iter().find(foreign), None, "a file says nothing of the drive's mechanism");
}

#[test]
fn one_round_and_a_file_in_memory_are_unknown() {
    let mut phases: Vec<PhaseSummary> = run(&[("0.5", 1.0)]);
    for phase in &mut phases {
        let work = phase.files.as_mut().expect("all are files");
        work.cached_share = work.cached_share.map(|_| 0.3);
    }
    let cached = findings(&phases, Some(true), Vec::new());
    let read = Outcome::Unknown(FileRateUnknown::Cached { folder: None, share: 0.3 });
    assert_eq!(*of(&cached, FindingCode::FileReadRate), Finding::FileReadRate(read));
    assert!(of(&cached, FindingCode::FileWriteRate).estimate().is_some());
    let memory = findings(&phases, None, vec![Caveat::InMemory]);
    assert!(
        of(&memory, FindingCode::FileReadRate).estimate().is_some(),
        "of a file system in memory it is the rate"
    );
    let first: Vec<PhaseSummary> = phases.into_iter().take(TASKS.len()).collect();
    let once = findings(&first, Some(true), Vec::new());
    assert!(TASKS.iter().all(|(_, code, _)| of(&once, *code).estimate().is_none()));
}

/// Four quarters of a disk, as they were measured on a WD20EARS in 2011.
#[test]
fn outer_and_inner_differ_in_what_the_place_decides_and_in_nothing_else() {
    let quarters = [("0.125", 141.98), ("0.375", 129.89), ("0.625", 114.63), ("0.875", 94.59)];
    let quarters = quarters.map(|(place, rate)| (place, rate / 140.0));
    let findings = findings(&run(&quarters), Some(true), Vec::new());
    let effect = place_effect(&findings);
    let ratio = effect.ratio;
    assert!(ratio.covers(1.501) && ratio.relative_half_width() < 0.02, "{ratio:?}");
    let of_task = |task| effect.tasks.iter().find(|effect| effect.task == task).expect("it is compared");
    let read = of_task(FileTask::BlockRead);
    assert!(read.differs && (read.fastest.as_str(), read.slowest.as_str()) == ("0.125", "0.875"), "{read:?}");
    assert!(!of_task(FileTask::Seeks).differs, "{effect:?}");
    assert_eq!(effect.limit, None);
}

/// The same disk behind USB 2: 33.4 MB/s everywhere.
#[test]
fn a_link_that_hides_the_place_is_the_limit() {
    let same = [("0.125", 0.24), ("0.875", 0.24)];
    let limited = findings(&run(&same), Some(true), Vec::new());
    let Some(PlaceLimit::BeforeMedium { is_processor: false, bytes_per_second, .. }) =
        place_effect(&limited).limit
    else {
        panic!("{limited:?}")
    };
    assert!((33e6..34e6).contains(&bytes_per_second), "{bytes_per_second}");
    let flash = findings(&run(&same), Some(false), Vec::new());
    assert_eq!(place_effect(&flash).limit, None, "flash is as fast everywhere");
    let near = [("0.1", 1.0), ("0.11", 1.0)];
    let near = findings(&run(&near), Some(true), Vec::new());
    assert_eq!(place_effect(&near).limit, None, "places so near each other need not differ");
}
