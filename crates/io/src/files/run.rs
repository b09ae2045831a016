//! Runs a task in the workspace, from its preparation to its flush.

use super::job::{Job, JobEnd};
use super::recorder::{Go, Recorder};
use super::workspace::{BYTES, DATA, Workspace};
use super::{large, names, seeks, system_call};
use crate::clock::MonotonicClock;
use crate::flushing::Extent;
use crate::load::collect::PhaseObserver;
use crate::targets::file_place::{LayoutError, file_layout};
use model::file_work::{FileLayout, FileTask, ProcessorTime};
use model::plan::StopReason;
use model::request::Operation;
use model::units::Instant;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

impl Workspace {
    /// Runs a task. What fails is in its end, and the folder can be removed in any case.
    pub fn run(&self, job: &Job, clock: MonotonicClock, observer: &mut dyn PhaseObserver) -> JobEnd {
        let operations: &[Operation] = match job.task {
            FileTask::Rewrite | FileTask::Seeks => &[Operation::Read, Operation::Write],
            FileTask::PerByteRead | FileTask::BlockRead => &[Operation::Read],
            FileTask::PerByteWrite | FileTask::BlockWrite => &[Operation::Write],
            task => match names::operation(task) {
                Operation::Read => &[Operation::Read],
                _ => &[Operation::Write],
            },
        };
        let prepared = self.prepare(job);
        let mut recorder = Recorder::new(clock, observer, job.phase, operations, job.time_max);
        let (file, cached_share) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                recorder.fail(operations[0], 0, 0, &error);
                return self.end(recorder, Course::broken(error));
            }
        };
        let before = system_call::processor_time();
        let began = recorder.now();
        let (mut go, done, mut failure) = match &file {
            Some(file) if job.task == FileTask::Seeks => {
                let (go, failure) = seeks::run(file, job, clock, &mut recorder);
                (go, 0, failure)
            }
            Some(file) => {
                let end = large::run(self, file, job, &mut recorder);
                (end.go, end.bytes, end.failure)
            }
            None => {
                let end = names::run(self, job, &mut recorder);
                (end.go, end.files, end.failure)
            }
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
        let course = Course { began, ended, go, done, processor, cached_share, layout, failure };
        self.end(recorder, course)
    }

    fn end(&self, recorder: Recorder<'_>, course: Course) -> JobEnd {
        let now = recorder.now();
        let reason = match (&course.failure, course.go) {
            (Some(_), _) => StopReason::Errors,
            (None, Go::Interrupted) => StopReason::Interrupted,
            (None, Go::TimeUp) => StopReason::Time,
            (None, Go::On) => StopReason::Passes,
        };
        let is_unbegun = course.began == Instant::START;
        JobEnd {
            began: if is_unbegun { now } else { course.began },
            ended: if is_unbegun { now } else { course.ended },
            reason,
            done: course.done,
            processor: course.processor,
            cached_share: course.cached_share,
            layout: course.layout,
            is_flushing: recorder.is_flushing(),
            failure: course.failure,
            totals: recorder.into_totals(),
        }
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

fn spent_since(before: Option<ProcessorTime>) -> Option<ProcessorTime> {
    let (before, after) = (before?, system_call::processor_time()?);
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

struct Course {
    began: Instant,
    ended: Instant,
    go: Go,
    done: u64,
    processor: Option<ProcessorTime>,
    cached_share: Option<f64>,
    layout: Option<Result<FileLayout, LayoutError>>,
    failure: Option<io::Error>,
}

impl Course {
    fn broken(error: io::Error) -> Course {
        Course {
            began: Instant::START,
            ended: Instant::START,
            go: Go::On,
            done: 0,
            processor: None,
            cached_share: None,
            layout: None,
            failure: Some(error),
        }
    }
}
