//! Runs tasks of file systems: step → workspace → store → next? As the session of requests does for phases.

use super::load_watch::LoadWatch;
use super::observer::Observer;
use super::status_of;
use crate::control::Controls;
use crate::error::UserError;
use crate::event::{Event, EventSink};
use crate::experiment::files::{Files, FilesStep, FilesWish};
use crate::store::RunWriter;
use io::clock::{Clock, MonotonicClock};
use io::files::{Job, JobEnd, Removal, Workspace};
use io::rig::RigClock;
use model::file_work::{FileTask, FileWork};
use model::plan::{Phase, StopCondition, StopReason};
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, Instant};
use rustix::io::Errno;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// A folder that is measured, with our own folder in it.
pub struct FilesFolder {
    /// As it was typed.
    pub name: String,
    /// The kind of its file system.
    pub file_system: String,
    /// Our own folder in it.
    pub workspace: Workspace,
}

/// What a session works with.
pub struct FilesSession<'run> {
    /// What is measured.
    pub folders: Vec<FilesFolder>,
    /// The disks below.
    pub disks: Vec<PathBuf>,
    /// The time.
    pub clock: MonotonicClock,
    /// Where it is kept.
    pub writer: RunWriter,
    /// What is known of the run so far.
    pub run: Run,
    /// Who wants to know.
    pub events: &'run mut dyn EventSink,
    /// Set when somebody wants the run to end.
    pub interrupt: &'run AtomicBool,
    /// What somebody at the screen asks for.
    pub controls: &'run Controls,
}

/// What is known of the page cache over these lies over the file below, so that nothing can be told of it through them.
const CACHE_NOT_TOLD: [&str; 2] = ["overlay", "ecryptfs"];

impl FilesSession<'_> {
    /// Does all steps, or as many as somebody or something lets it; then removes what it made. What was measured is kept in any case.
    ///
    /// # Errors
    /// When a file could not be made, written or read, or the store cannot be written.
    pub fn run(mut self, files: &mut Files, wish: &FilesWish) -> Result<Run, UserError> {
        self.events.event(&Event::RunBegan(&self.run, &files.outlook(&[])));
        let mut load = LoadWatch::of_disks(&self.disks, self.clock.now());
        let outcome = self.run_steps(files, wish, &mut load);
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
        wish: &FilesWish,
        load: &mut LoadWatch,
    ) -> Result<Option<StopReason>, UserError> {
        while let Some(step) = files.next(&self.run.phases) {
            let (reason, failure) = self.run_step(&step, files, wish, load)?;
            if let Some(why) = failure {
                self.warn(Some(why));
            }
            if matches!(reason, StopReason::Interrupted | StopReason::Errors) {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// One step, kept as a phase; what a person is to be told if it failed.
    fn run_step(
        &mut self,
        step: &FilesStep,
        files: &Files,
        wish: &FilesWish,
        load: &mut LoadWatch,
    ) -> Result<(StopReason, Option<String>), UserError> {
        let number = self.run.phases.len() as u32;
        let phase = self.phase(step);
        let work = self.work(step, wish);
        self.run.phases.push(PhaseSummary {
            phase: phase.clone(),
            start_ns: self.clock.now().0,
            duration_ns: 0,
            stopped: None,
            totals: Vec::new(),
            page_cache: None,
            files: Some(Box::new(work)),
        });
        self.writer.begin_phase(&self.run)?;
        let ahead = files.outlook(&self.run.phases);
        let clock = RigClock::Real(self.clock);
        let mut observer = Observer::new(
            &mut self.writer,
            self.events,
            (self.interrupt, self.controls),
            load,
            None,
            clock,
            &phase,
            number,
            &ahead,
        );
        let end =
            self.folders[step.folder].workspace.run(&job(step, wish, number), self.clock, &mut observer);
        if let Some(failure) = observer.into_failure() {
            return Err(failure.into());
        }
        if end.is_flushing {
            self.events.event(&Event::Warning(
                "The files that were made are removed when the file system is done with them. Ctrl-C again ends the program at once; the \
                 next `drivescope files` there removes them then",
            ));
        }
        let outcome = (end.reason, self.failure(step, &end));
        self.keep(step, end);
        self.writer.end_phase(&self.run)?;
        Ok(outcome)
    }

    fn phase(&self, step: &FilesStep) -> Phase {
        let place = match self.folders.as_slice() {
            [_] => String::new(),
            folders => format!(" in {}", folders[step.folder].name),
        };
        let moved = match step.task {
            FileTask::Rewrite => Some(Bytes(step.bytes.0 * 2)),
            task if task.is_of_bytes() => Some(step.bytes),
            _ => None,
        };
        Phase {
            name: format!("{}{place}", step.task.words()),
            experiment: analysis::file_work::EXPERIMENT.into(),
            kind: step.kind,
            workload: None,
            stop: StopCondition { time: Some(step.time_max), bytes: moved, ..StopCondition::default() },
        }
    }

    fn work(&self, step: &FilesStep, wish: &FilesWish) -> FileWork {
        let folder = &self.folders[step.folder];
        let is_of_names = step.task.is_of_names();
        let block = match step.task {
            _ if is_of_names => wish.file_sizes.1,
            FileTask::Seeks => wish.seek_block,
            FileTask::PerByteRead | FileTask::PerByteWrite => Bytes(1),
            _ => wish.block,
        };
        FileWork {
            folder: folder.name.clone(),
            file_system: folder.file_system.clone(),
            task: step.task,
            round: step.round,
            block,
            file_bytes: (!is_of_names).then_some(step.bytes),
            files: if is_of_names { step.files } else { 1 },
            folders: if is_of_names { wish.folders } else { 1 },
            threads: if step.task == FileTask::Seeks { wish.seekers } else { 1 },
            processor: None,
            cached_share: None,
            layout: None,
        }
    }

    fn keep(&mut self, step: &FilesStep, end: JobEnd) {
        let is_told = !CACHE_NOT_TOLD.contains(&self.folders[step.folder].file_system.as_str());
        let summary = self.run.phases.last_mut().expect("the phase was just added");
        summary.start_ns = end.began.0;
        summary.duration_ns = end.ended.since(end.began).0;
        summary.stopped = Some(end.reason);
        summary.totals = end.totals;
        let work = summary.files.as_mut().expect("it was just added");
        work.processor = end.processor;
        work.cached_share = end.cached_share.filter(|_| is_told);
        work.layout = end.layout;
        if step.task.is_of_names() {
            work.files = end.done;
        }
    }

    /// What failed, in words for a person.
    fn failure(&self, step: &FilesStep, end: &JobEnd) -> Option<String> {
        let error = end.failure.as_ref()?;
        let why = match Errno::from_io_error(error) {
            Some(Errno::DQUOT) => {
                "your quota is used up. Choose a smaller --size, or another folder".to_string()
            }
            Some(Errno::NOSPC) => {
                "the file system is full: something else took room too. Make room, or choose a smaller --size"
                    .into()
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

    /// Removes all that was made, and says what could not be removed.
    fn clear_up(&mut self) {
        for folder in std::mem::take(&mut self.folders) {
            let events = &mut self.events;
            let name = folder.name;
            let removal = folder.workspace.remove(&mut |files| {
                events.event(&Event::Warning(&format!("Removing files in {name}: {files} are gone")));
            });
            self.warn(not_removed(&name, &removal));
        }
    }

    fn warn(&mut self, warning: Option<String>) {
        if let Some(warning) = warning {
            self.events.event(&Event::Warning(&warning));
            self.run.environment.warnings.push(warning);
        }
    }

    /// Analyses what was stored, and closes the run.
    fn conclude(&mut self) -> Result<(), UserError> {
        let series = self.writer.series()?;
        self.run.findings = analysis::analyse(&self.run.view(&series));
        let now: Instant = self.clock.now();
        self.run.finished = Some(crate::stamp::finished(&self.run, now));
        self.writer.finish(&self.run)?;
        Ok(())
    }
}

/// What is said of a folder of ours that could not be removed as a whole.
pub fn not_removed(folder: &str, removal: &Removal) -> Option<String> {
    let first = removal.left.first()?;
    Some(format!(
        "Something could not be removed from drivescope's own folder in {folder} ({first}). Its name begins with .drivescope-files-"
    ))
}

fn job(step: &FilesStep, wish: &FilesWish, phase: u32) -> Job {
    Job {
        task: step.task,
        phase,
        block: if step.task == FileTask::Seeks { wish.seek_block } else { wish.block },
        file_bytes: step.bytes,
        flush_every: step.flush_every,
        files: step.files,
        file_sizes: wish.file_sizes,
        folders: wish.folders,
        threads: wish.seekers,
        // Each round has data and names of its own, the tasks of one round the same.
        seed: wish.seed.wrapping_add(u64::from(step.round)),
        time_max: Some(step.time_max),
    }
}
