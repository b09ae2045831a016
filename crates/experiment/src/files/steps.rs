//! Which task comes next, in which folder, and for how long at most.

use super::done::{elapsed, slowest_first_write, time_of};
use super::request::{FILE_MIN, FilesRequest, TaskGroup};
use crate::error::PlanError;
use analysis::file_work;
use model::file_work::FileTask;
use model::plan::PhaseKind;
use model::prng::Prng;
use model::request::Operation;
use model::run::PhaseSummary;
use model::units::{Bytes, MIB, Nanos};
use std::collections::VecDeque;

/// Rounds at most: more narrow an interval by next to nothing.
const ROUNDS_MAX: u32 = 30;
/// The first write is written out each time that much was written, so that its rate is that of the drive.
const FLUSH_EVERY: Bytes = Bytes::from_mib(16);
pub(super) const FIRST_TIME: Nanos = Nanos::from_secs(3);
/// The part of the large file that is written and read byte by byte.
pub(super) const BYTES_PART: u64 = 4;
/// A round writes, rewrites (two passes) and reads the file, and a quarter of it byte by byte twice, at a like rate: so many passes.
const PASSES: f64 = 4.5;
/// The shares of the time for the large file, for seeks and for small files.
const SHARE_OF_PASSES: f64 = 0.6;
const SHARE_OF_SEEKS: f64 = 0.1;
const SHARE_OF_NAMES: f64 = 0.3;
const NAME_TASKS: f64 = 8.0;
/// A task takes so many times the time that was meant for it, and is then ended: a drive that stalls must not hold up all.
const PATIENCE: f64 = 20.0;
const SECONDS_OF_A_DAY: f64 = 86_400.0;

#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredFolder {
    pub name: String,
    pub size_max: Bytes,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FilesStep {
    pub folder: usize,
    pub task: FileTask,
    pub round: u32,
    pub kind: PhaseKind,
    /// How long the large file is, or how much of it is gone through.
    pub bytes: Bytes,
    /// Write out that often; none only at the end.
    pub flush_every: Option<Bytes>,
    pub files: u64,
    pub time_max: Nanos,
}

pub struct Files {
    pub(super) request: FilesRequest,
    /// The length of the large file, if it was given; else it follows from the first write.
    pub(super) given_size: Option<Bytes>,
    pub(super) folders: Vec<MeasuredFolder>,
    pub(super) queue: VecDeque<FilesStep>,
    pub(super) round: u32,
    pub(super) size: Option<Bytes>,
}

impl Files {
    pub fn new(
        request: FilesRequest,
        given_size: Option<Bytes>,
        folders: Vec<MeasuredFolder>,
    ) -> Result<Files, PlanError> {
        let needed = given_size.unwrap_or(FILE_MIN);
        if let Some(folder) = folders.iter().find(|folder| folder.size_max < needed) {
            return Err(PlanError::NoRoom { folder: folder.name.clone(), left: folder.size_max, needed });
        }
        let mut files = Files { request, given_size, folders, queue: VecDeque::new(), round: 0, size: None };
        files.queue = files.first_writes();
        Ok(files)
    }

    pub fn next(&mut self, done: &[PhaseSummary]) -> Option<FilesStep> {
        if self.queue.is_empty() {
            self.queue = self.next_round(done);
        }
        let mut step = self.queue.pop_front()?;
        // Of files that could not all be made in the time, those that were made are gone through.
        if TaskGroup::of(step.task) == TaskGroup::Names {
            step.files = self.files_made(done, &step);
        }
        Some(step)
    }

    pub(super) fn size_max(&self) -> Bytes {
        self.request.max_size.max(self.given_size.unwrap_or_default())
    }

    pub fn size(&self) -> Option<Bytes> {
        self.size
    }

    fn first_writes(&self) -> VecDeque<FilesStep> {
        let bytes = self.given_size.unwrap_or(self.size_max());
        let mut writes = VecDeque::new();
        for (folder, measured) in self.folders.iter().enumerate() {
            writes.push_back(FilesStep {
                folder,
                task: FileTask::BlockWrite,
                round: 0,
                kind: PhaseKind::WarmUp,
                bytes: bytes.min(measured.size_max),
                flush_every: Some(FLUSH_EVERY),
                files: 0,
                time_max: FIRST_TIME,
            });
        }
        writes
    }

    /// As given, or what the slowest folder writes in the time for a pass: the same in all folders, to be compared.
    fn chosen_size(&self, done: &[PhaseSummary]) -> Bytes {
        if let Some(size) = self.given_size {
            return size;
        }
        let parts = self.folders.len() as f64 * f64::from(self.request.rounds_planned());
        let pass_s = SHARE_OF_PASSES * self.request.time().seconds() / parts / PASSES;
        let mut longest = self.size_max();
        for folder in &self.folders {
            longest = longest.min(folder.size_max);
        }
        let by_time = Bytes::new((slowest_first_write(done).get() * pass_s) as u64);
        by_time.clamp(FILE_MIN, longest.max(FILE_MIN)).round_down_to(Bytes::new(MIB))
    }

    fn next_round(&mut self, done: &[PhaseSummary]) -> VecDeque<FilesStep> {
        let size = match self.size {
            Some(size) => size,
            None => self.chosen_size(done),
        };
        self.size = Some(size);
        let wanted = self.wanted(done);
        let round = self.round;
        let (is_enough, is_known) = match self.request.rounds {
            Some(rounds) => (round >= rounds, false),
            None => (round >= ROUNDS_MAX, round >= self.request.rounds_min() && wanted.is_empty()),
        };
        if is_enough || is_known || self.is_out_of_time(done, &wanted) {
            return VecDeque::new();
        }
        self.round += 1;
        let mut prng = Prng::new(self.request.seed.unwrap_or_default(), 0xf_0000 + u64::from(round));
        let mut steps = VecDeque::new();
        for task in wanted {
            let mut order: Vec<usize> = (0..self.folders.len()).collect();
            prng.shuffle(&mut order);
            for folder in order {
                steps.push_back(self.step(folder, task, round, size));
            }
        }
        steps
    }

    fn step(&self, folder: usize, task: FileTask, round: u32, size: Bytes) -> FilesStep {
        let bytes = if TaskGroup::of(task) == TaskGroup::Bytes {
            (size / BYTES_PART).round_up_to(Bytes::new(MIB))
        } else {
            size
        };
        FilesStep {
            folder,
            task,
            round,
            kind: PhaseKind::Measure,
            bytes,
            flush_every: None,
            files: self.request.files,
            time_max: self.time_max(task),
        }
    }

    /// How long a task may take: seeks and small files as long as is meant for them, since what is cut off is like what was done. Seeks
    /// are known after 10 s; small files are not, since a folder with more of them is another one: whoever wants millions gives the time.
    /// Passes over the file far longer than expected, since half a pass is another measurement.
    fn time_max(&self, task: FileTask) -> Nanos {
        let parts = self.folders.len() as f64 * f64::from(self.request.rounds_planned());
        let seconds = self.request.time().seconds() / parts;
        let seconds = match TaskGroup::of(task) {
            TaskGroup::Seeks => (SHARE_OF_SEEKS * seconds).clamp(0.5, 10.0),
            TaskGroup::Names => (SHARE_OF_NAMES * seconds / NAME_TASKS).max(0.2),
            // Whoever says how long the file is has the time for it.
            _ if self.given_size.is_some() => SECONDS_OF_A_DAY,
            _ => (PATIENCE * SHARE_OF_PASSES * seconds).max(120.0),
        };
        Nanos::new((seconds * 1e9) as u64)
    }

    /// The tasks of the next round: all of those chosen at first, then those whose rate is not known well enough in some folder. Small
    /// files have to be made to be looked at, so that they are wanted all or none.
    fn wanted(&self, done: &[PhaseSummary]) -> Vec<FileTask> {
        let is_planned = self.round < self.request.rounds_planned();
        let ordered = !is_planned && self.is_any_wide(done, is_ordered);
        let random = !is_planned && self.is_any_wide(done, is_at_random);
        let mut wanted = Vec::new();
        for task in FileTask::ALL {
            let is_wanted = if !self.is_chosen(task) {
                false
            } else if is_planned {
                self.round == 0 || !self.is_only_needed(task)
            } else if is_ordered(task) {
                ordered
            } else if is_at_random(task) {
                random
            } else {
                self.is_wide(done, task) && !self.is_only_needed(task)
            };
            if is_wanted {
                wanted.push(task);
            }
        }
        wanted
    }

    fn is_chosen(&self, task: FileTask) -> bool {
        self.request.groups().contains(&TaskGroup::of(task)) || self.is_needed(task)
    }

    fn is_any_wide(&self, done: &[PhaseSummary], is_of: fn(FileTask) -> bool) -> bool {
        FileTask::ALL.into_iter().any(|task| is_of(task) && self.is_chosen(task) && self.is_wide(done, task))
    }

    fn is_wide(&self, done: &[PhaseSummary], task: FileTask) -> bool {
        let precision = self.request.precision();
        let samples = file_work::all(done);
        samples.iter().any(|samples| samples.work.task == task && samples.relative_half_width() > precision)
    }

    /// Seeks need a file to seek in, even where nobody asked how fast it is written.
    fn is_needed(&self, task: FileTask) -> bool {
        task == FileTask::BlockWrite && self.request.groups().contains(&TaskGroup::Seeks)
    }

    fn is_only_needed(&self, task: FileTask) -> bool {
        self.is_needed(task) && !self.request.groups().contains(&TaskGroup::Blocks)
    }

    /// Whether these tasks would go on past the time, after what they took before. The fewest rounds are done in any case.
    fn is_out_of_time(&self, done: &[PhaseSummary], wanted: &[FileTask]) -> bool {
        if self.request.rounds.is_some() || self.round < self.request.rounds_min().min(2) {
            return false;
        }
        // What is worth three rounds takes longer than was thought, and is done unless it takes twice the time.
        let times = if self.round < self.request.rounds_min() { 2 } else { 1 };
        let limit = self.request.time() * times;
        elapsed(done) + time_of(done, wanted, self.round) > limit
    }

    /// How many small files there are in a folder: as many as were made in this round, or are to be made.
    fn files_made(&self, done: &[PhaseSummary], step: &FilesStep) -> u64 {
        let creating = match step.task {
            FileTask::CreateInOrder | FileTask::CreateAtRandom => return self.request.files,
            task if task < FileTask::CreateAtRandom => FileTask::CreateInOrder,
            _ => FileTask::CreateAtRandom,
        };
        let folder = &self.folders[step.folder].name;
        for summary in done.iter().rev() {
            let Some(work) = summary.files.as_deref() else { continue };
            if work.task == creating && work.folder == *folder && work.round == step.round {
                return summary.operations_of(Operation::Write);
            }
        }
        0
    }
}

fn is_ordered(task: FileTask) -> bool {
    (FileTask::CreateInOrder..=FileTask::DeleteInOrder).contains(&task)
}

fn is_at_random(task: FileTask) -> bool {
    task >= FileTask::CreateAtRandom
}
