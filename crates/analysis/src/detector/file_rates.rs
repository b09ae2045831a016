//! How fast a file system is: fourteen figures, each of every folder that was measured.
//!
//! # What it finds
//! Bytes a second of writing, rewriting and reading a large file, by blocks and byte by byte; random seeks; and how many small files
//! are made, looked at, opened and read, and removed a second, in order and at random. With each: its latencies and what it costs the
//! processor, the program's own part told apart from the kernel's.
//! # Why it matters
//! It is what programs get, with everything between them and the drive. Where the processor is the limit, a faster drive changes nothing.
//! # How
//! Every task is measured in several rounds with other tasks and folders in between. The rate is all that was done over all the
//! time that it took, and its interval that of a ratio of sums over the rounds. What is written counts when the flush after it is over.
//! Before something is read, it is put out of memory, and the share that stayed is looked at.
//! # Cannot tell when
//! There are fewer than two rounds; or more than a hundredth of the file stayed in memory, although it is no file system in memory.
//! # Known problems
//! Looking at files and opening them finds their names in memory, which no program can empty for itself alone. Processor time of the kernel's own threads
//! is in no figure. Rounds go on until intervals are narrow, which makes intervals of few rounds somewhat too narrow.
//! # References
//! bonnie++ (Coker), from which the tasks are taken; Cochran, "Sampling Techniques", 3rd ed., section 6.4.

use super::trust::Subject;
use super::wording::{number, rate, short_time};
use super::{Detector, Need};
use crate::file_work::{CACHED_SHARE_MAX, TaskSamples, all, folders};
use crate::measured::evidence_of_phases;
use model::file_work::FileTask;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;
use model::target::Caveat;
use model::units::Quantile;

/// See the head of this file.
pub(super) struct FileRates;

/// From this share of one processor on it is the processor that limits a task of one thread: the rest is less than what rounds differ by.
pub(super) const PROCESSOR_LIMIT: f64 = 0.9;

/// The code of each task.
const CODES: [(FileTask, FindingCode); 14] = [
    (FileTask::BlockWrite, FindingCode::FileWriteRate),
    (FileTask::Rewrite, FindingCode::FileRewriteRate),
    (FileTask::BlockRead, FindingCode::FileReadRate),
    (FileTask::PerByteWrite, FindingCode::FilePerByteWriteRate),
    (FileTask::PerByteRead, FindingCode::FilePerByteReadRate),
    (FileTask::Seeks, FindingCode::FileSeeks),
    (FileTask::CreateInOrder, FindingCode::FileCreateRate),
    (FileTask::StatInOrder, FindingCode::FileStatRate),
    (FileTask::OpenInOrder, FindingCode::FileOpenRate),
    (FileTask::DeleteInOrder, FindingCode::FileDeleteRate),
    (FileTask::CreateAtRandom, FindingCode::FileRandomCreateRate),
    (FileTask::StatAtRandom, FindingCode::FileRandomStatRate),
    (FileTask::OpenAtRandom, FindingCode::FileRandomOpenRate),
    (FileTask::DeleteAtRandom, FindingCode::FileRandomDeleteRate),
];

impl Detector for FileRates {
    fn codes(&self) -> &'static [FindingCode] {
        &[
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
        ]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Files]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let samples = all(run.phases);
        let (folders, subject) = (folders(run.phases), Subject::of(run));
        let of_code = |(task, code): (FileTask, FindingCode)| {
            let of_folder = |folder: &&str| {
                samples.iter().find(|samples| samples.work.task == task && samples.work.folder == **folder)
            };
            let found: Vec<Finding> = folders
                .iter()
                .filter_map(of_folder)
                .map(|samples| subject.qualify(finding(run, code, samples, folders.len() > 1)))
                .collect();
            found
        };
        CODES.into_iter().flat_map(of_code).collect()
    }
}

fn finding(run: &RunView<'_>, code: FindingCode, samples: &TaskSamples<'_>, several: bool) -> Finding {
    let place = if several { format!("In {}: ", samples.work.folder) } else { String::new() };
    let Some(estimate) = samples.estimate() else {
        let rounds = if samples.samples.is_empty() { "No round" } else { "Only one round" };
        let why = format!("{place}{rounds} came to its end, and fewer than two have no interval.");
        return Finding::unknown(code, why);
    };
    let is_in_memory = run.target.caveats.contains(&Caveat::InMemory);
    if let Some(share) = samples.cached_share_max().filter(|share| *share > CACHED_SHARE_MAX && !is_in_memory)
    {
        let why = format!(
            "{place}{:.0} % of the file stayed in memory although it was put out of it, so that memory answered and not the drive.",
            100.0 * share
        );
        return Finding::unknown(code, why);
    }
    let unit = if samples.work.task.is_of_bytes() { "B/s" } else { "1/s" };
    let phases: Vec<u32> = samples.samples.iter().map(|sample| sample.phase).collect();
    let statement = place + &statement(samples);
    let finding = Finding::number(code, estimate, unit, statement, evidence_of_phases(run, &phases));
    data(samples).into_iter().fold(finding, |finding, (name, datum)| finding.with_data(name, datum))
}

/// "1 GiB in blocks of 1 MiB. 12 % of a processor, 9 % of it the kernel's; half of the calls took 0.2 ms, the slowest 30 ms."
fn statement(samples: &TaskSamples<'_>) -> String {
    let mut parts = vec![what(samples)];
    if let Some((user, system)) = samples.processor_shares() {
        parts.push(format!(
            "{:.0} % of a processor, {:.0} % of it in the kernel.",
            100.0 * (user + system),
            100.0 * system / (user + system).max(f64::MIN_POSITIVE)
        ));
        if samples.work.threads == 1 && user + system >= PROCESSOR_LIMIT {
            parts.push("It is the limit, not the drive.".into());
        }
    }
    let quantile =
        |quantile| samples.histogram.quantile(quantile).map(|latency| short_time(latency.seconds()));
    if let Some((p50, max)) = quantile(Quantile::MEDIAN).zip(samples.histogram.max()) {
        parts.push(format!("Half of the calls took up to {p50}, the slowest {}.", short_time(max.seconds())));
    }
    parts.join(" ")
}

fn what(samples: &TaskSamples<'_>) -> String {
    let work = samples.work;
    let file = work.file_bytes.map_or_else(String::new, |bytes| bytes.to_string());
    let flushed = if work.task.changes_data() { ", flush counted" } else { "" };
    let memory = match samples.cached_share_max() {
        None if !work.task.changes_data() && work.file_bytes.is_some() => {
            " Whether it was out of memory before is not told here."
        }
        _ => "",
    };
    let size = match work.block.0 {
        0 => "empty files".to_string(),
        _ => format!("files of up to {}", work.block),
    };
    let folders = match work.folders {
        1 => "one folder".to_string(),
        folders => format!("{folders} folders"),
    };
    match work.task {
        FileTask::PerByteWrite | FileTask::PerByteRead => {
            format!("{file}, each byte by a call into a buffer of 4 KiB{flushed}.{memory}")
        }
        FileTask::Seeks => format!(
            "{} threads, {} each, 1 in 10 written back{flushed}, in a file of {file}.",
            work.threads, work.block
        ),
        task if task.is_of_names() => {
            let rate = match samples.rate_of_calls() {
                Some(calls) if task.changes_data() => {
                    format!(" Without the flush {}/s.", number(calls.value))
                }
                _ => String::new(),
            };
            let all: f64 = samples.samples.iter().map(|sample| sample.amount).sum();
            let rounds = samples.samples.len();
            format!("{all} {size} in {folders}, {rounds} rounds together{flushed}.{rate}")
        }
        _ => {
            let calls = match samples.rate_of_calls() {
                Some(calls) if work.task.changes_data() => {
                    format!(" Calls alone took {}.", rate(calls.value))
                }
                _ => String::new(),
            };
            format!("{file} in blocks of {}{flushed}.{calls}{memory}", work.block)
        }
    }
}

fn data(samples: &TaskSamples<'_>) -> Vec<(&'static str, Datum)> {
    let work = samples.work;
    let mut data = vec![
        ("folder", Datum::Text(work.folder.clone())),
        ("file_system", Datum::Text(work.file_system.clone())),
        ("task", Datum::Text(work.task.name().into())),
        ("rounds", Datum::Integer(samples.samples.len() as u64)),
    ];
    if let Some((user, system)) = samples.processor_shares() {
        data.push(("processor_percent", Datum::Number(100.0 * (user + system))));
        data.push(("processor_program_percent", Datum::Number(100.0 * user)));
        data.push(("processor_kernel_percent", Datum::Number(100.0 * system)));
    }
    let quantiles = [
        ("latency_p50_s", Quantile::MEDIAN),
        ("latency_p90_s", Quantile::P90),
        ("latency_p99_s", Quantile::P99),
    ];
    for (name, quantile) in quantiles {
        data.extend(
            samples.histogram.quantile(quantile).map(|latency| (name, Datum::Number(latency.seconds()))),
        );
    }
    data.extend(samples.histogram.max().map(|max| ("latency_max_s", Datum::Number(max.seconds()))));
    if let Some(calls) = samples.rate_of_calls().filter(|_| work.task.changes_data()) {
        data.push(("without_flush", Datum::Number(calls.value)));
    }
    data.extend(samples.cached_share_max().map(|share| ("cached_share", Datum::Number(share))));
    data.extend(work.file_bytes.map(|bytes| ("file_bytes", Datum::Integer(bytes.0))));
    data
}
