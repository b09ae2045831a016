//! Runs a task in the workspace, from its preparation to its flush.

use super::job::{Job, JobEnd};
use super::recorder::{Go, Recorder};
use super::workspace::{BYTES, DATA, Workspace};
use super::{large, names, seeks, system_call};
use crate::clock::MonotonicClock;
use crate::flushing::{Extent, processor_time};
use crate::load::collect::PhaseObserver;
use crate::targets::file_place::file_layout;
use model::file_work::{FileTask, ProcessorTime};
use model::plan::StopReason;
use model::request::Operation;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

impl Workspace {
    /// Runs a task. What fails is in its end, and the folder can be removed in any case.
    pub fn run(&self, job: &Job, clock: MonotonicClock, observer: &mut dyn PhaseObserver) -> JobEnd {
        let operations = operations_of(job.task);
        let prepared = self.prepare(job);
        let mut recorder = Recorder::new(clock, observer, job.phase, operations, job.time_max);
        let (file, cached_share) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                recorder.fail(operations[0], 0, 0, &error);
                let now = recorder.now();
                return JobEnd {
                    began: now,
                    ended: now,
                    reason: StopReason::Errors,
                    done: 0,
                    processor: None,
                    cached_share: None,
                    layout: None,
                    failure: Some(error),
                    is_flushing: false,
                    totals: recorder.into_totals(),
                };
            }
        };
        let before = processor_time(libc::RUSAGE_SELF);
        let began = recorder.now();
        let mut done = 0;
        let outcome = match &file {
            Some(file) if job.task == FileTask::Seeks => seeks::run(file, job, clock, &mut recorder),
            Some(file) => large::run(self, file, job, &mut recorder, &mut done),
            None => names::run(self, job, &mut recorder, &mut done),
        };
        let (mut go, mut failure) = match outcome {
            Ok(go) => (go, None),
            Err(error) => (Go::On, Some(error)),
        };
        let ended = recorder.now();
        assert!(began <= ended, "a task ends after it began");
        // What it costs to hand out the records is no cost of the calls.
        let mut processor = spent_since(before);
        recorder.end_calls();
        if job.task.changes_data() && failure.is_none() && go != Go::Interrupted {
            let flushed = match &file {
                Some(file) => recorder.flush(file.as_fd(), Extent::File),
                None => recorder.flush(self.folder(), Extent::FileSystem),
            };
            match flushed {
                Some(Ok(flushed)) => processor = joined(processor, flushed.processor),
                Some(Err(error)) => failure = Some(error),
                None => go = Go::Interrupted,
            }
        }
        let layout = match &file {
            Some(file) if job.task == FileTask::BlockWrite && failure.is_none() && go != Go::Interrupted => {
                Some(file_layout(file.as_fd()))
            }
            _ => None,
        };
        let reason = match (&failure, go) {
            (Some(_), _) => StopReason::Errors,
            (None, Go::Interrupted) => StopReason::Interrupted,
            (None, Go::TimeUp) => StopReason::Time,
            (None, Go::On) => StopReason::Passes,
        };
        let (is_flushing, totals) = (recorder.is_flushing(), recorder.into_totals());
        JobEnd { began, ended, reason, totals, done, processor, cached_share, layout, failure, is_flushing }
    }

    /// What has to be there before the task begins: the large file, where the task is about it, out of memory where it is read.
    fn prepare(&self, job: &Job) -> io::Result<(Option<File>, Option<f64>)> {
        match job.task {
            FileTask::PerByteWrite => Ok((Some(self.fresh(BYTES)?), None)),
            FileTask::BlockWrite => Ok((Some(self.fresh(DATA)?), None)),
            FileTask::PerByteRead | FileTask::Rewrite | FileTask::BlockRead | FileTask::Seeks => {
                let name = if job.task == FileTask::PerByteRead { BYTES } else { DATA };
                let file = File::from(system_call::open_at(self.folder(), name, libc::O_RDWR)?);
                let cached_share = large::forget(&file, job.file_bytes.get())?;
                Ok((Some(file), cached_share))
            }
            FileTask::CreateInOrder | FileTask::CreateAtRandom => {
                self.fresh_folders(job.folders)?;
                Ok((None, None))
            }
            FileTask::OpenInOrder | FileTask::OpenAtRandom => {
                names::forget(self, job)?;
                Ok((None, None))
            }
            _ => Ok((None, None)),
        }
    }
}

fn operations_of(task: FileTask) -> &'static [Operation] {
    match task {
        FileTask::Rewrite | FileTask::Seeks => &[Operation::Read, Operation::Write],
        FileTask::PerByteRead | FileTask::BlockRead => &[Operation::Read],
        FileTask::PerByteWrite | FileTask::BlockWrite => &[Operation::Write],
        task => match names::operation(task) {
            Operation::Read => &[Operation::Read],
            _ => &[Operation::Write],
        },
    }
}

fn spent_since(before: Option<ProcessorTime>) -> Option<ProcessorTime> {
    let (before, after) = (before?, processor_time(libc::RUSAGE_SELF)?);
    Some(ProcessorTime {
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
    })
}

fn joined(calls: Option<ProcessorTime>, flush: Option<ProcessorTime>) -> Option<ProcessorTime> {
    let (calls, flush) = (calls?, flush?);
    Some(ProcessorTime {
        user_ns: calls.user_ns + flush.user_ns,
        system_ns: calls.system_ns + flush.system_ns,
    })
}
