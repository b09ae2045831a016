//! The steps that are asked for, on records of our making.

use super::request::FILE_MIN;
use super::{FileSizes, Files, FilesRequest, FilesStep, MeasuredFolder, TaskGroup};
use model::file_work::{FileTask, FileWork};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::request::Operation;
use model::run::{OperationTotals, PhaseSummary};
use model::units::{Bytes, Nanos};

fn request(groups: &[TaskGroup]) -> FilesRequest {
    let file_size = FileSizes { min: Bytes::ZERO, max: Bytes::ZERO };
    FilesRequest { tasks: groups.to_vec(), files: 100, file_size, seed: Some(1), ..FilesRequest::default() }
}

fn folders(names: &[&str]) -> Vec<MeasuredFolder> {
    names.iter().map(|name| MeasuredFolder { name: (*name).into(), size_max: Bytes::from_gib(10) }).collect()
}

/// What a drive of that rate makes of a step.
fn done(step: &FilesStep, names: &[&str], rate: f64, start_ns: u64) -> PhaseSummary {
    let operation = if step.task.changes_data() { Operation::Write } else { Operation::Read };
    let is_of_names = step.task.is_of_names();
    let (operations, bytes) =
        if is_of_names { (step.files, 0) } else { (step.bytes.get() / 4096, step.bytes.get()) };
    let seconds = if is_of_names { 0.01 } else { bytes as f64 / rate };
    PhaseSummary {
        duration_ns: (seconds * 1e9) as u64,
        stopped: Some(StopReason::Passes),
        totals: vec![OperationTotals {
            operation,
            operations,
            bytes,
            errors: 0,
            histogram: LatencyHistogram::small(),
            stretch: None,
        }],
        files: Some(Box::new(FileWork {
            folder: names[step.folder].into(),
            file_system: "ext4".into(),
            task: step.task,
            round: step.round,
            block: Bytes::from_mib(1),
            file_bytes: Some(step.bytes),
            files: step.files,
            folders: 1,
            threads: 1,
            processor: None,
            cached_share: Some(0.0),
            layout: None,
        })),
        ..PhaseSummary::begun(
            Phase {
                name: step.task.words().into(),
                experiment: "files".into(),
                kind: step.kind,
                workload: None,
                stop: StopCondition::one_pass(),
            },
            start_ns,
        )
    }
}

/// All steps on drives of these rates in turn, until it is over.
fn steps(request: FilesRequest, names: &[&str], rates: &[f64]) -> Vec<FilesStep> {
    let mut files = Files::new(request, None, folders(names)).unwrap();
    let (mut phases, mut steps): (Vec<PhaseSummary>, Vec<FilesStep>) = (Vec::new(), Vec::new());
    while let Some(step) = files.next(&phases) {
        let start_ns = phases.last().map_or(0, |last| last.start_ns + last.duration_ns);
        phases.push(done(&step, names, rates[steps.len() % rates.len()], start_ns));
        steps.push(step);
        assert!(steps.len() < 10_000, "it comes to an end");
    }
    steps
}

#[test]
fn the_file_is_as_long_as_the_time_allows() {
    // 0.6 × 180 s over 3 rounds and 4.5 passes are 8 s a pass: 240 MB at 30 MB/s.
    let slow = steps(request(&[TaskGroup::Blocks]), &["a"], &[30e6]);
    assert_eq!(slow[1].bytes, Bytes::from_mib(228));
    let fast = steps(request(&[TaskGroup::Blocks]), &["a"], &[500e6]);
    assert_eq!(fast[1].bytes, Bytes::from_gib(1));
    assert_eq!(steps(request(&[TaskGroup::Blocks]), &["a"], &[1e5])[1].bytes, FILE_MIN);
}

#[test]
fn each_task_is_done_in_all_folders_before_the_next() {
    let steps = steps(request(&TaskGroup::ALL), &["a", "b", "c"], &[100e6]);
    let measured: Vec<&FilesStep> = steps.iter().filter(|step| step.kind == PhaseKind::Measure).collect();
    for three in measured.chunks(3) {
        let mut folders: Vec<usize> = three.iter().map(|step| step.folder).collect();
        folders.sort_unstable();
        assert_eq!(folders, [0, 1, 2]);
        assert!(three.iter().all(|step| step.task == three[0].task));
    }
    let orders: std::collections::BTreeSet<Vec<usize>> =
        measured.chunks(3).map(|three| three.iter().map(|step| step.folder).collect()).collect();
    assert!(orders.len() > 2, "in random order");
}

#[test]
fn what_is_known_is_not_measured_again_and_what_is_not_is() {
    let even = steps(request(&[TaskGroup::Blocks]), &["a"], &[100e6]);
    assert_eq!(even.len(), 1 + 3 * 3);
    let ragged = steps(request(&[TaskGroup::Blocks]), &["a"], &[100e6, 140e6, 90e6, 120e6]);
    assert!(ragged.len() > 1 + 3 * 3);
    let exact = FilesRequest { rounds: Some(2), ..request(&[TaskGroup::Blocks]) };
    assert_eq!(steps(exact, &["a"], &[100e6, 140e6]).len(), 1 + 2 * 3);
}

#[test]
fn seeks_alone_have_a_file_and_files_that_were_made_are_gone_through() {
    let seeks = steps(request(&[TaskGroup::Seeks]), &["a"], &[100e6]);
    let tasks: Vec<FileTask> = seeks.iter().map(|step| step.task).collect();
    assert_eq!(tasks[..4], [FileTask::BlockWrite, FileTask::BlockWrite, FileTask::Seeks, FileTask::Seeks]);
    let names = steps(request(&[TaskGroup::Names]), &["a"], &[100e6]);
    assert!(names[1..].iter().all(|step| step.files == 100));
}

#[test]
fn whoever_gives_the_time_gets_his_millions_of_small_files() {
    let time_max = |limit_s: u64| {
        let time_limit = Some(Nanos::from_secs(limit_s));
        let request = FilesRequest { time_limit, ..request(&[TaskGroup::Names]) };
        let steps = steps(request, &["a"], &[100e6]);
        steps.iter().find(|step| step.task == FileTask::CreateInOrder).expect("files are made").time_max
    };
    // Three tenths of the time for three rounds of eight tasks.
    assert_eq!(time_max(180), Nanos::new(2_250_000_000));
    assert_eq!(time_max(86_400), Nanos::from_secs(1080));
}

#[test]
fn a_folder_without_room_is_told_before() {
    let full = vec![MeasuredFolder { name: "a".into(), size_max: Bytes::from_mib(3) }];
    let Err(why) = Files::new(request(&[TaskGroup::Blocks]), None, full) else { panic!("no room") };
    let why = why.to_string();
    assert!(why.contains("a has no room") && why.contains("16 MiB are needed"), "{why}");
}
