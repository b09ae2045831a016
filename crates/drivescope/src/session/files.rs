//! Runs tasks on file systems: step → workspace → store → next?

use super::load_watch::LoadWatch;
use super::observer::Observer;
use super::record::{status_of, warn};
use crate::control::Controls;
use crate::error::UserError;
use crate::event::{Event, EventSink};
use crate::store::RunWriter;
use experiment::files::{Files, FilesRequest, FilesStep};
use io::clock::{Clock, MonotonicClock};
use io::files::{Job, JobEnd, Removal, Workspace};
use io::rig::RigClock;
use model::experiment_name::ExperimentName;
use model::file_work::{FileTask, FileWork};
use model::plan::{Phase, StopCondition, StopReason};
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, Instant};
use model::untold::Untold;
use rustix::io::Errno;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

pub struct FilesFolder {
    pub name: String,
    pub file_system: String,
    pub workspace: Workspace,
}

pub struct FilesSession<'run> {
    pub folders: Vec<FilesFolder>,
    pub disks: Vec<PathBuf>,
    pub clock: MonotonicClock,
    pub writer: RunWriter,
    pub run: Run,
    pub events: &'run mut dyn EventSink,
    pub interrupt: &'run AtomicBool,
    pub controls: &'run Controls,
}

/// Through these the page cache of the file below cannot be observed.
const CACHE_UNKNOWN: [&str; 2] = ["overlay", "ecryptfs"];

impl FilesSession<'_> {
    /// Runs all steps until done or ended, then removes what it made. What was measured is kept in any case.
    pub fn run(mut self, files: &mut Files, request: &FilesRequest) -> Result<Run, UserError> {
        self.events.event(&Event::RunBegan(&self.run, &files.remaining(&[])));
        let mut load = LoadWatch::of_disks(&self.disks, self.clock.now());
        let outcome = self.run_steps(files, request, &mut load);
        self.run.status = status_of(&outcome);
        self.warn(load.steal_warning());
        self.clear_up();
        let kept = self.conclude();
        self.events.event(&Event::RunEnded(&self.run));
        outcome.and(kept)?;
        Ok(self.run)
    }

    fn run_steps(
        &mut self,
        files: &mut Files,
        request: &FilesRequest,
        load: &mut LoadWatch,
    ) -> Result<Option<StopReason>, UserError> {
        while let Some(step) = files.next(&self.run.phases) {
            let (reason, failure) = self.run_step(&step, files, request, load)?;
            self.warn(failure);
            if matches!(reason, StopReason::Interrupted | StopReason::Errors) {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    fn run_step(
        &mut self,
        step: &FilesStep,
        files: &Files,
        request: &FilesRequest,
        load: &mut LoadWatch,
    ) -> Result<(StopReason, Option<String>), UserError> {
        let number = self.run.phases.len() as u32;
        let phase = self.phase(step);
        let work = Some(Box::new(self.work(step, request)));
        let summary = PhaseSummary::begun(phase.clone(), self.clock.now().get());
        self.run.phases.push(PhaseSummary { files: work, ..summary });
        self.writer.begin_phase(&self.run)?;
        let ahead = files.remaining(&self.run.phases);
        let clock = RigClock::Real(self.clock);
        let mut observer = Observer::new(
            &mut self.writer,
            self.events,
            &self.run,
            (self.interrupt, self.controls),
            load,
            None,
            clock,
            &phase,
            number,
            &ahead,
        );
        let end =
            self.folders[step.folder].workspace.run(&job(step, request, number), self.clock, &mut observer);
        if let Some(failure) = observer.into_failure() {
            return Err(failure.into());
        }
        if end.is_flushing {
            self.events.event(&Event::Warning(
                "The files that were made are removed when the file system has flushed them. Ctrl-C again ends the program at once; the \
                 next `drivescope files` there removes them",
            ));
        }
        let outcome = (end.reason, self.failure(step, &end));
        self.keep(step, end);
        self.writer.end_phase(&self.run)?;
        Ok(outcome)
    }

    fn phase(&self, step: &FilesStep) -> Phase {
        let suffix = match self.folders.as_slice() {
            [_] => String::new(),
            folders => format!(" in {}", folders[step.folder].name),
        };
        let moved = match step.task {
            FileTask::Rewrite => Some(Bytes::new(step.bytes.get() * 2)),
            task if task.is_of_bytes() => Some(step.bytes),
            _ => None,
        };
        Phase {
            name: format!("{}{suffix}", step.task.words()),
            experiment: ExperimentName::Files,
            kind: step.kind,
            workload: None,
            stop: StopCondition { time: Some(step.time_max), bytes: moved, ..StopCondition::default() },
        }
    }

    fn work(&self, step: &FilesStep, request: &FilesRequest) -> FileWork {
        let folder = &self.folders[step.folder];
        let is_of_names = step.task.is_of_names();
        let block = match step.task {
            _ if is_of_names => request.file_size.max,
            FileTask::Seeks => FilesRequest::SEEK_BLOCK,
            FileTask::PerByteRead | FileTask::PerByteWrite => Bytes::new(1),
            _ => request.block,
        };
        FileWork {
            folder: folder.name.clone(),
            file_system: folder.file_system.clone(),
            task: step.task,
            round: step.round,
            block,
            file_bytes: if is_of_names { None } else { Some(step.bytes) },
            files: if is_of_names { step.files } else { 1 },
            folders: if is_of_names { request.folders_of_files } else { 1 },
            threads: if step.task == FileTask::Seeks { request.seekers } else { 1 },
            processor: None,
            cached_share: None,
            layout: None,
        }
    }

    fn keep(&mut self, step: &FilesStep, end: JobEnd) {
        let is_known = !CACHE_UNKNOWN.contains(&self.folders[step.folder].file_system.as_str());
        let summary = self.run.phases.last_mut().expect("the phase was just added");
        summary.start_ns = end.began.get();
        summary.duration_ns = end.ended.since(end.began).get();
        summary.stopped = Some(end.reason);
        summary.totals = end.totals;
        let work = summary.files.as_mut().expect("it was just added");
        work.processor = end.processor;
        work.cached_share = if is_known { end.cached_share } else { None };
        work.layout = match end.layout {
            Some(Ok(layout)) => Some(Ok(layout)),
            Some(Err(why)) => Some(Err(Untold::new(why.to_string()))),
            None => None,
        };
        if step.task.is_of_names() {
            work.files = end.done;
        }
    }

    fn failure(&self, step: &FilesStep, end: &JobEnd) -> Option<String> {
        let error = end.failure.as_ref()?;
        let why = match Errno::from_io_error(error) {
            Some(Errno::DQUOT) => {
                "your quota is used up. Choose a smaller --size, or another folder".to_string()
            }
            Some(Errno::NOSPC) => {
                "the file system is full: other programs wrote too. Free some space, or choose a smaller --size".into()
            }
            Some(Errno::NOENT | Errno::STALE | Errno::NOTCONN) => {
                format!("the folder is gone, or the file system under it ({error})")
            }
            _ => error.to_string(),
        };
        Some(format!(
            "Could not {} in {}: {why}. What was measured before is kept",
            step.task.words(),
            self.folders[step.folder].name
        ))
    }

    fn clear_up(&mut self) {
        for folder in std::mem::take(&mut self.folders) {
            let events = &mut self.events;
            let name = folder.name;
            let removal = folder.workspace.remove(&mut |files| {
                events.event(&Event::Warning(&format!("Removing files in {name}: {files} removed")));
            });
            self.warn(not_removed(&name, &removal));
        }
    }

    fn warn(&mut self, warning: Option<String>) {
        if let Some(warning) = warning {
            warn(&mut self.run, self.events, warning);
        }
    }

    fn conclude(&mut self) -> Result<(), UserError> {
        let series = self.writer.series()?;
        self.run.findings = analysis::analyse(&self.run.view(&series));
        let now: Instant = self.clock.now();
        self.run.finished = Some(crate::stamp::finished(&self.run, now));
        self.writer.finish(&self.run, &report::finding::documents(&self.run))?;
        Ok(())
    }
}

pub fn not_removed(folder: &str, removal: &Removal) -> Option<String> {
    let first = removal.left.first()?;
    Some(format!(
        "Something could not be removed from drivescope's own folder in {folder} ({first}). Its name begins with .drivescope-files-"
    ))
}

fn job(step: &FilesStep, request: &FilesRequest, phase: u32) -> Job {
    Job {
        task: step.task,
        phase,
        block: if step.task == FileTask::Seeks { FilesRequest::SEEK_BLOCK } else { request.block },
        file_bytes: step.bytes,
        flush_every: step.flush_every,
        files: step.files,
        file_sizes: (request.file_size.min, request.file_size.max),
        folders: request.folders_of_files,
        threads: request.seekers,
        // Data and names differ between rounds, not between the tasks of a round.
        seed: request.seed.unwrap_or_default().wrapping_add(u64::from(step.round)),
        time_max: Some(step.time_max),
    }
}
