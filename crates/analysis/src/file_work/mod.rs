//! What was measured through file systems: each task in each folder, round by round.

pub mod place_effect;

use crate::stats::mean::Mean;
use crate::stats::ratio::{Pair, ratio_of_sums};
use model::estimate::Estimate;
use model::file_work::{FileLayout, FileTask, FileWork};
use model::histogram::LatencyHistogram;
use model::plan::{PhaseKind, StopReason};
use model::request::Operation;
use model::run::{OperationTotals, PhaseSummary};
use model::untold::Untold;

pub const EXPERIMENT: model::experiment_name::ExperimentName = model::experiment_name::ExperimentName::Files;
/// A share of a file that stayed in memory makes reading it look faster by no more than that: here less than rounds differ by.
pub const CACHED_SHARE_MAX: f64 = 0.01;

#[derive(Clone, Debug)]
pub struct Sample {
    pub phase: u32,
    pub round: u32,
    pub amount: f64,
    pub calls_s: f64,
    pub flush_s: f64,
    /// Processor time in the program and in the kernel for it, in seconds.
    pub processor_s: Option<(f64, f64)>,
    pub cached_share: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct TaskSamples<'run> {
    pub work: &'run FileWork,
    pub samples: Vec<Sample>,
    pub histogram: LatencyHistogram,
}

impl Sample {
    /// With the flush: what is only in a cache is not yet written.
    pub fn seconds(&self) -> f64 {
        self.calls_s + self.flush_s
    }

    fn calls_s(&self) -> f64 {
        self.calls_s
    }

    fn of(phase: u32, summary: &PhaseSummary, work: &FileWork) -> Option<Sample> {
        let is_done = summary.stopped.is_some_and(StopReason::is_complete);
        let amount = amount(work.task, summary);
        let sample = Sample {
            phase,
            round: work.round,
            amount,
            calls_s: summary.duration_ns as f64 / 1e9,
            flush_s: summary.flush_ns() as f64 / 1e9,
            processor_s: work.processor.map(|time| (time.user_ns as f64 / 1e9, time.system_ns as f64 / 1e9)),
            cached_share: work.cached_share,
        };
        (is_done && amount > 0.0 && sample.seconds() > 0.0).then_some(sample)
    }
}

/// What a task got done: bytes of the file, seeks, or files. A rewrite counts the bytes that were written back.
fn amount(task: FileTask, summary: &PhaseSummary) -> f64 {
    let none = OperationTotals::none(Operation::Read);
    let read = summary.totals_of(Operation::Read).unwrap_or(&none);
    let written = summary.totals_of(Operation::Write).unwrap_or(&none);
    match task {
        FileTask::PerByteWrite | FileTask::BlockWrite | FileTask::Rewrite => written.bytes as f64,
        FileTask::PerByteRead | FileTask::BlockRead => read.bytes as f64,
        FileTask::Seeks => read.operations as f64,
        task if task.changes_data() => written.operations as f64,
        _ => read.operations as f64,
    }
}

/// All that was measured, by folder in the order in which they come, and by task.
pub fn all(phases: &[PhaseSummary]) -> Vec<TaskSamples<'_>> {
    let mut found: Vec<TaskSamples<'_>> = Vec::new();
    for (phase, summary) in (0u32..).zip(phases) {
        let Some(work) = summary.files.as_deref() else { continue };
        if summary.phase.kind != PhaseKind::Measure {
            continue;
        }
        let index = match found.iter().position(|known| known.is_of(work.task, &work.folder)) {
            Some(index) => index,
            None => {
                let histogram = LatencyHistogram::small();
                found.push(TaskSamples { work, samples: Vec::new(), histogram });
                found.len() - 1
            }
        };
        let Some(sample) = Sample::of(phase, summary, work) else { continue };
        found[index].samples.push(sample);
        for totals in &summary.totals {
            if totals.operation != Operation::Flush {
                found[index].histogram.merge(&totals.histogram);
            }
        }
    }
    found
}

/// The folders, in the order in which they were named, as far as that can be told: that of the first phases in them.
pub fn folders(phases: &[PhaseSummary]) -> Vec<&str> {
    let mut folders: Vec<&str> = Vec::new();
    for summary in phases {
        let Some(work) = summary.files.as_deref() else { continue };
        if !folders.contains(&work.folder.as_str()) {
            folders.push(&work.folder);
        }
    }
    folders
}

pub fn layout_of<'run>(
    phases: &'run [PhaseSummary],
    folder: &str,
) -> Option<(u32, &'run Result<FileLayout, Untold>)> {
    for (number, summary) in phases.iter().enumerate().rev() {
        if let Some(work) = summary.files.as_deref()
            && work.folder == folder
            && let Some(layout) = &work.layout
        {
            return Some((number as u32, layout));
        }
    }
    None
}

impl TaskSamples<'_> {
    pub fn is_of(&self, task: FileTask, folder: &str) -> bool {
        self.work.task == task && self.work.folder == folder
    }

    /// The mean rate over all rounds: all that was done over all the time that it took, flushes included. None without a round.
    pub fn rate(&self) -> Option<Mean> {
        ratio_of_sums(&self.pairs(Sample::seconds))
    }

    /// The same without the flushes: how fast calls come back.
    pub fn rate_of_calls(&self) -> Option<Mean> {
        ratio_of_sums(&self.pairs(Sample::calls_s))
    }

    fn pairs(&self, seconds: fn(&Sample) -> f64) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for sample in &self.samples {
            pairs.push(Pair { numerator: sample.amount, denominator: seconds(sample) });
        }
        pairs
    }

    /// The rate with its interval; none with less than two rounds, which have none.
    pub fn estimate(&self) -> Option<Estimate> {
        if self.samples.len() < 2 {
            return None;
        }
        let estimate = self.rate()?.interval(crate::stats::CONFIDENCE);
        // A rate is never negative, however wide three rounds make its interval.
        Some(Estimate { low: estimate.low.max(0.0), ..estimate })
    }

    /// Half the interval's width as a share of the rate; infinite while there is none.
    pub fn relative_half_width(&self) -> f64 {
        self.estimate().as_ref().map_or(f64::INFINITY, Estimate::relative_half_width)
    }

    /// Processor time over time: of the program itself, and of the kernel for it. 1 is one processor.
    pub fn processor_shares(&self) -> Option<(f64, f64)> {
        let mut sums = (0.0, 0.0, 0.0);
        for sample in &self.samples {
            let (user, system) = sample.processor_s?;
            sums = (sums.0 + user, sums.1 + system, sums.2 + sample.seconds());
        }
        if sums.2 <= 0.0 {
            return None;
        }
        Some((sums.0 / sums.2, sums.1 / sums.2))
    }

    /// The largest share of the file that was in memory when a round began; none when the system did not tell of some round.
    pub fn cached_share_max(&self) -> Option<f64> {
        let mut most: f64 = 0.0;
        for sample in &self.samples {
            most = most.max(sample.cached_share?);
        }
        Some(most)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use model::file_work::ProcessorTime;
    use model::plan::{Phase, StopCondition, StopReason};
    use model::run::OperationTotals;
    use model::units::Bytes;

    /// A phase of a task that moved `amount` in so many seconds and was flushed in `flush_s`.
    pub(crate) fn phase(
        folder: &str,
        task: FileTask,
        round: u32,
        amount: u64,
        seconds: f64,
        flush_s: f64,
    ) -> PhaseSummary {
        let totals = |operation, operations, bytes| OperationTotals {
            operation,
            operations,
            bytes,
            errors: 0,
            histogram: LatencyHistogram::small(),
            stretch: None,
        };
        let operation = if task.changes_data() { Operation::Write } else { Operation::Read };
        let mut flush = totals(Operation::Flush, 1, 0);
        flush.histogram.record((flush_s * 1e9) as u64);
        PhaseSummary {
            duration_ns: (seconds * 1e9) as u64,
            stopped: Some(StopReason::Passes),
            totals: vec![totals(operation, amount, amount), flush],
            files: Some(Box::new(FileWork {
                folder: folder.into(),
                file_system: "ext4".into(),
                task,
                round,
                block: Bytes::from_mib(1),
                file_bytes: None,
                files: 0,
                folders: 1,
                threads: 1,
                processor: Some(ProcessorTime { user_ns: 100_000_000, system_ns: 200_000_000 }),
                cached_share: Some(0.0),
                layout: None,
            })),
            ..PhaseSummary::begun(
                Phase {
                    name: task.words().into(),
                    experiment: EXPERIMENT,
                    kind: PhaseKind::Measure,
                    workload: None,
                    stop: StopCondition::one_pass(),
                },
                0,
            )
        }
    }

    #[test]
    fn the_flush_counts_and_the_rate_is_that_of_all_rounds() {
        let phases = [
            phase("a", FileTask::BlockWrite, 0, 300, 1.0, 1.0),
            phase("a", FileTask::BlockWrite, 1, 300, 0.5, 0.5),
            phase("a", FileTask::BlockRead, 0, 500, 1.0, 0.0),
        ];
        let all = all(&phases);
        // 600 in 3 s, not the mean of 150 and 300.
        assert_eq!(all[0].rate().unwrap().value, 200.0);
        assert_eq!(all[0].rate_of_calls().unwrap().value, 400.0);
        let (user, system) = all[0].processor_shares().unwrap();
        assert!((user - 0.2 / 3.0).abs() < 1e-9 && (system - 0.4 / 3.0).abs() < 1e-9);
        assert!(all[1].estimate().is_none(), "one round has no interval");
        assert_eq!(folders(&phases), ["a"]);
    }

    #[test]
    fn what_was_cut_short_does_not_count() {
        let mut cut = phase("a", FileTask::BlockWrite, 0, 300, 1.0, 1.0);
        cut.stopped = Some(StopReason::Interrupted);
        assert!(all(&[cut])[0].samples.is_empty());
    }
}
