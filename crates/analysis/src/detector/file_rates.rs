//! How fast a file system is: fourteen figures, each of every folder that was measured.
//! # What it finds
//! B/s of writing, rewriting and reading a large file, by blocks and by bytes; random seeks; and how many small files are created,
//! statted, opened and read, and deleted per second, in order and at random. With each its latencies and its CPU time, the
//! program's apart from the kernel's.
//! # Why it matters
//! It is what programs get, with every layer between them and the drive. Where the CPU is the limit, a faster drive changes nothing.
//! # How
//! Each task is measured in several rounds with other tasks and folders in between. The rate is all that was done over all its
//! time, its interval that of a ratio of sums over the rounds. Writes include their flush. Before a read, the page cache is
//! dropped, and the share that stayed is looked at.
//! # Cannot tell when
//! There are fewer than two rounds; or over a hundredth of the file stayed in memory, although it is no file system in memory.
//! # Known problems
//! Names are found in the kernel's caches, which no program can drop for itself alone. CPU time of the kernel's own threads is in
//! no figure. Rounds go on until intervals are narrow, which makes intervals of few rounds somewhat too narrow.
//! # References
//! bonnie++ (Coker), from which the tasks are taken; Cochran, "Sampling Techniques", 3rd ed., section 6.4.

use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::examined::Examined;
use crate::file_work::{CACHED_SHARE_MAX, TaskSamples, all, folders};
use crate::measured::evidence_of_phases;
use model::file_work::FileTask;
use model::finding::{FileRate, FileRateUnknown, Finding, FindingCode, Outcome, ProcessorShare};
use model::run::RunView;
use model::target::Caveat;
use model::units::Quantile;

type Wrap = fn(Outcome<FileRate>) -> Finding;

/// The code of each task, in the order in which they are shown.
const CODES: [(FileTask, Wrap); 14] = [
    (FileTask::BlockWrite, Finding::FileWriteRate),
    (FileTask::Rewrite, Finding::FileRewriteRate),
    (FileTask::BlockRead, Finding::FileReadRate),
    (FileTask::PerByteWrite, Finding::FilePerByteWriteRate),
    (FileTask::PerByteRead, Finding::FilePerByteReadRate),
    (FileTask::Seeks, Finding::FileSeeks),
    (FileTask::CreateInOrder, Finding::FileCreateRate),
    (FileTask::StatInOrder, Finding::FileStatRate),
    (FileTask::OpenInOrder, Finding::FileOpenRate),
    (FileTask::DeleteInOrder, Finding::FileDeleteRate),
    (FileTask::CreateAtRandom, Finding::FileRandomCreateRate),
    (FileTask::StatAtRandom, Finding::FileRandomStatRate),
    (FileTask::OpenAtRandom, Finding::FileRandomOpenRate),
    (FileTask::DeleteAtRandom, Finding::FileRandomDeleteRate),
];

pub(super) const DETECTOR: Detector = Detector {
    codes: &[
        FindingCode::FileWriteRate,
        FindingCode::FileRewriteRate,
        FindingCode::FileReadRate,
        FindingCode::FilePerByteWriteRate,
        FindingCode::FilePerByteReadRate,
        FindingCode::FileSeeks,
        FindingCode::FileCreateRate,
        FindingCode::FileStatRate,
        FindingCode::FileOpenRate,
        FindingCode::FileDeleteRate,
        FindingCode::FileRandomCreateRate,
        FindingCode::FileRandomStatRate,
        FindingCode::FileRandomOpenRate,
        FindingCode::FileRandomDeleteRate,
    ],
    needs: &[Need::Files],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let samples = all(run.phases);
    let (folders, doubts) = (folders(run.phases), doubts(run));
    let mut findings = Vec::new();
    for (task, finding) in CODES {
        for folder in &folders {
            let of_folder = samples.iter().find(|samples| samples.is_of(task, folder));
            if let Some(of_folder) = of_folder {
                findings.push(finding(outcome(run, of_folder, folders.len() == 1)).with_caveats(&doubts));
            }
        }
    }
    findings
}

fn outcome(run: &RunView<'_>, samples: &TaskSamples<'_>, is_only_folder: bool) -> Outcome<FileRate> {
    let work = samples.work;
    let folder = if is_only_folder { None } else { Some(work.folder.clone()) };
    let rounds = samples.samples.len();
    let Some(rate) = samples.estimate() else {
        return Outcome::Unknown(FileRateUnknown::TooFewRounds { folder, rounds });
    };
    let cached_share = samples.cached_share_max();
    let is_in_memory = run.target.caveats.contains(&Caveat::InMemory);
    if let Some(share) = cached_share
        && share > CACHED_SHARE_MAX
        && !is_in_memory
    {
        return Outcome::Unknown(FileRateUnknown::Cached { folder, share });
    }
    let latency_s = |quantile| samples.histogram.quantile(quantile).map(model::units::Nanos::seconds);
    let without_flush = if work.task.changes_data() { samples.rate_of_calls() } else { None };
    let file = FileRate {
        rate,
        folder: work.folder.clone(),
        file_system: work.file_system.clone(),
        task: work.task,
        rounds,
        processor: processor_share(samples),
        latency_p50_s: latency_s(Quantile::MEDIAN),
        latency_p90_s: latency_s(Quantile::P90),
        latency_p99_s: latency_s(Quantile::P99),
        latency_max_s: samples.histogram.max().map(model::units::Nanos::seconds),
        without_flush: without_flush.map(|calls| calls.value),
        cached_share,
        file_bytes: work.file_bytes,
        block: work.block,
        folders: work.folders,
        threads: work.threads,
        amount: samples.samples.iter().map(|sample| sample.amount).sum(),
        is_only_folder,
    };
    let phases: Vec<u32> = samples.samples.iter().map(|sample| sample.phase).collect();
    Outcome::known(file, evidence_of_phases(run, &phases))
}

fn processor_share(samples: &TaskSamples<'_>) -> Option<ProcessorShare> {
    let (user, system) = samples.processor_shares()?;
    Some(ProcessorShare {
        percent: 100.0 * (user + system),
        program_percent: 100.0 * user,
        kernel_percent: 100.0 * system,
    })
}
