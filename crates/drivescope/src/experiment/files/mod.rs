//! `files`: which task to do next in which folder. It decides from what was done so far alone, as every experiment does, but its
//! steps are tasks of a file system and not phases of requests, so that it has a shape of its own.
//!
//! ```text
//! per folder: a first write that is flushed all along ──► how long the file may be
//! round 0..:  task after task, each in all folders in random order
//!             after three rounds only what is not known well enough yet, until the time is up
//! ```

mod plan;

#[cfg(test)]
mod tests;

use crate::experiment::{Outlook, Step};
use analysis::file_work;
use model::file_work::FileTask;
use model::plan::PhaseKind;
use model::prng::Prng;
use model::run::PhaseSummary;
use model::units::{Bytes, MIB, Nanos};
use std::collections::VecDeque;

/// Rounds at least: with fewer an interval is wider than anything that it could tell.
pub const ROUNDS_MIN: u32 = 3;
/// Of a comparison, where differences are told.
pub const ROUNDS_MIN_COMPARED: u32 = 5;
/// Rounds at most: more narrow an interval by next to nothing.
const ROUNDS_MAX: u32 = 30;
/// How narrow intervals shall be unless somebody says otherwise, to either side.
pub const PRECISION: f64 = 0.05;
/// The smallest file that says something: it takes a tenth of a second at 160 MB/s.
pub const FILE_MIN: Bytes = Bytes::from_mib(16);
/// The first write is written out each time that much was written, so that its rate is that of the drive.
const FLUSH_EVERY: Bytes = Bytes::from_mib(16);
/// How long that goes on at most.
const FIRST_TIME: Nanos = Nanos::from_secs(3);
/// The part of the large file that is written and read byte by byte.
const BYTES_PART: u64 = 4;
/// A round writes, rewrites (two passes) and reads the file, and a quarter of it byte by byte twice, at a like rate: so many passes.
const PASSES: f64 = 4.5;
/// The shares of the time for the large file, for seeks and for small files.
const SHARE_OF_PASSES: f64 = 0.6;
const SHARE_OF_SEEKS: f64 = 0.1;
const SHARE_OF_NAMES: f64 = 0.3;
/// Tasks on small files in a round.
const NAME_TASKS: f64 = 8.0;
/// A task takes so many times the time that was meant for it, and is then ended: a drive that stalls must not hold up all.
const PATIENCE: f64 = 20.0;
const SECONDS_OF_A_DAY: f64 = 86_400.0;

/// A group of tasks that somebody can leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskGroup {
    /// Byte by byte.
    Bytes,
    /// Block by block: write, rewrite, read.
    Blocks,
    /// Random seeks.
    Seeks,
    /// Small files.
    Names,
}

impl TaskGroup {
    /// All of them.
    pub const ALL: [TaskGroup; 4] = [TaskGroup::Bytes, TaskGroup::Blocks, TaskGroup::Seeks, TaskGroup::Names];

    /// The group of a task.
    pub fn of(task: FileTask) -> TaskGroup {
        match task {
            FileTask::PerByteWrite | FileTask::PerByteRead => TaskGroup::Bytes,
            FileTask::BlockWrite | FileTask::Rewrite | FileTask::BlockRead => TaskGroup::Blocks,
            FileTask::Seeks => TaskGroup::Seeks,
            _ => TaskGroup::Names,
        }
    }
}

/// What somebody wants to be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct FilesWish {
    /// The groups of tasks, in any order.
    pub groups: Vec<TaskGroup>,
    /// The length of the large file, if it is given; else it follows from the first write.
    pub size: Option<Bytes>,
    /// The longest that it may become otherwise.
    pub size_max: Bytes,
    /// What one call moves.
    pub block: Bytes,
    /// What one seek reads.
    pub seek_block: Bytes,
    /// How many threads seek.
    pub seekers: u32,
    /// How many small files.
    pub files: u64,
    /// What they hold.
    pub file_sizes: (Bytes, Bytes),
    /// Over how many folders they are spread.
    pub folders: u32,
    /// How many rounds exactly; none to go on until it is known well enough.
    pub rounds: Option<u32>,
    /// How many at least.
    pub rounds_min: u32,
    /// About how long to take.
    pub time_limit: Nanos,
    /// How narrow the intervals shall be.
    pub precision: f64,
    /// Of all randomness.
    pub seed: u64,
}

/// A folder that is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredFolder {
    /// As it was typed.
    pub name: String,
    /// What the large file may take there at most.
    pub size_max: Bytes,
}

/// One task in one folder.
#[derive(Clone, Debug, PartialEq)]
pub struct FilesStep {
    /// The number of the folder.
    pub folder: usize,
    /// What.
    pub task: FileTask,
    /// Counted from 0.
    pub round: u32,
    /// A measurement, or the first write.
    pub kind: PhaseKind,
    /// How long the large file is, or how much of it is gone through.
    pub bytes: Bytes,
    /// Write out that often; none only at the end.
    pub flush_every: Option<Bytes>,
    /// How many small files there are.
    pub files: u64,
    /// It ends after this long.
    pub time_max: Nanos,
}

/// What was asked, and what is still to be done in this round.
pub struct Files {
    wish: FilesWish,
    folders: Vec<MeasuredFolder>,
    queue: VecDeque<FilesStep>,
    round: u32,
    /// The length of the large file, once it is known.
    size: Option<Bytes>,
}

impl Files {
    /// A question to these folders.
    ///
    /// # Errors
    /// A sentence, when nothing would be measured.
    pub fn new(wish: FilesWish, folders: Vec<MeasuredFolder>) -> Result<Files, String> {
        if wish.groups.is_empty() {
            return Err("no task is left to be done".into());
        }
        if let Some(folder) = folders.iter().find(|folder| folder.size_max < wish.size.unwrap_or(FILE_MIN)) {
            return Err(plan::no_room(folder, wish.size.unwrap_or(FILE_MIN)));
        }
        let mut files = Files { wish, folders, queue: VecDeque::new(), round: 0, size: None };
        files.queue = files.first_writes();
        Ok(files)
    }

    /// The next step, by what was done so far; none when all is known or the time is up.
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

    /// What is ahead at most.
    pub fn outlook(&self, done: &[PhaseSummary]) -> Outlook {
        plan::outlook(self, done)
    }

    /// The length of the large file, once it is known.
    pub fn size(&self) -> Option<Bytes> {
        self.size
    }

    fn first_writes(&self) -> VecDeque<FilesStep> {
        let step = |(number, folder): (usize, &MeasuredFolder)| FilesStep {
            folder: number,
            task: FileTask::BlockWrite,
            round: 0,
            kind: PhaseKind::WarmUp,
            bytes: self.wish.size.unwrap_or(self.wish.size_max).min(folder.size_max),
            flush_every: Some(FLUSH_EVERY),
            files: 0,
            time_max: FIRST_TIME,
        };
        self.folders.iter().enumerate().map(step).collect()
    }

    /// The steps of the next round; none when there is nothing more to do.
    fn next_round(&mut self, done: &[PhaseSummary]) -> VecDeque<FilesStep> {
        let size = *self.size.get_or_insert_with(|| plan::size(&self.wish, &self.folders, done));
        let wanted = self.wanted(done);
        let round = self.round;
        let (is_enough, is_known) = match self.wish.rounds {
            Some(rounds) => (round >= rounds, false),
            None => (round >= ROUNDS_MAX, round >= self.wish.rounds_min && wanted.is_empty()),
        };
        if is_enough || is_known || self.is_out_of_time(done, &wanted) {
            return VecDeque::new();
        }
        self.round += 1;
        let mut prng = Prng::new(self.wish.seed, 0xf_0000 + u64::from(round));
        let mut steps = VecDeque::new();
        for task in wanted {
            let mut order: Vec<usize> = (0..self.folders.len()).collect();
            prng.shuffle(&mut order);
            steps.extend(order.into_iter().map(|folder| self.step(folder, task, round, size)));
        }
        steps
    }

    fn step(&self, folder: usize, task: FileTask, round: u32, size: Bytes) -> FilesStep {
        let bytes = if TaskGroup::of(task) == TaskGroup::Bytes {
            Bytes((size.0 / BYTES_PART).next_multiple_of(MIB))
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
            files: self.wish.files,
            time_max: self.time_max(task),
        }
    }

    /// How long a task may take: seeks and small files as long as is meant for them, since what is cut off is like what was done. Seeks
    /// are known after 10 s; small files are not, since a folder with more of them is another one: whoever wants millions gives the time.
    /// Passes over the file far longer than expected, since half a pass is another measurement.
    fn time_max(&self, task: FileTask) -> Nanos {
        let parts = self.folders.len() as f64 * f64::from(self.wish.rounds.unwrap_or(self.wish.rounds_min));
        let seconds = self.wish.time_limit.seconds() / parts;
        let seconds = match TaskGroup::of(task) {
            TaskGroup::Seeks => (SHARE_OF_SEEKS * seconds).clamp(0.5, 10.0),
            TaskGroup::Names => (SHARE_OF_NAMES * seconds / NAME_TASKS).max(0.2),
            // Whoever says how long the file is has the time for it.
            _ if self.wish.size.is_some() => SECONDS_OF_A_DAY,
            _ => (PATIENCE * SHARE_OF_PASSES * seconds).max(120.0),
        };
        Nanos((seconds * 1e9) as u64)
    }

    /// The tasks of the next round: all of those chosen at first, then those whose rate is not known well enough in some folder. Small
    /// files have to be made to be looked at, so that they are wanted all or none.
    fn wanted(&self, done: &[PhaseSummary]) -> Vec<FileTask> {
        let chosen =
            |task: &FileTask| self.wish.groups.contains(&TaskGroup::of(*task)) || self.is_needed(*task);
        let all: Vec<FileTask> = FileTask::ALL.iter().copied().filter(chosen).collect();
        if self.round < self.wish.rounds.unwrap_or(self.wish.rounds_min) {
            return all.into_iter().filter(|task| self.round == 0 || !self.is_only_needed(*task)).collect();
        }
        let samples = file_work::all(done);
        let unknown = |task: FileTask| {
            let of_task = samples.iter().filter(|samples| samples.work.task == task);
            of_task.into_iter().any(|samples| samples.relative_half_width() > self.wish.precision)
        };
        let in_order = |task: &FileTask| (FileTask::CreateInOrder..=FileTask::DeleteInOrder).contains(task);
        let at_random = |task: &FileTask| *task >= FileTask::CreateAtRandom;
        let group_unknown = |is_of: &dyn Fn(&FileTask) -> bool| {
            all.iter().filter(|task| is_of(task)).any(|task| unknown(*task))
        };
        let (ordered, random) = (group_unknown(&in_order), group_unknown(&at_random));
        let is_wanted = |task: &FileTask| match task {
            task if in_order(task) => ordered,
            task if at_random(task) => random,
            task => unknown(*task) && !self.is_only_needed(*task),
        };
        all.into_iter().filter(is_wanted).collect()
    }

    /// Seeks need a file to seek in, even where nobody asked how fast it is written.
    fn is_needed(&self, task: FileTask) -> bool {
        task == FileTask::BlockWrite && self.wish.groups.contains(&TaskGroup::Seeks)
    }

    fn is_only_needed(&self, task: FileTask) -> bool {
        self.is_needed(task) && !self.wish.groups.contains(&TaskGroup::Blocks)
    }

    /// Whether these tasks would go on past the time, after what they took before. The fewest rounds are done in any case.
    fn is_out_of_time(&self, done: &[PhaseSummary], wanted: &[FileTask]) -> bool {
        if self.wish.rounds.is_some() || self.round < self.wish.rounds_min.min(2) {
            return false;
        }
        let elapsed = plan::elapsed(done);
        let limit = self.wish.time_limit;
        // What is worth three rounds takes longer than was thought, and is done unless it takes twice the time.
        let limit = if self.round < self.wish.rounds_min { Nanos(limit.0 * 2) } else { limit };
        elapsed + plan::time_of(done, wanted, self.round) > limit
    }

    /// How many small files there are in a folder: as many as were made in this round, or are to be made.
    fn files_made(&self, done: &[PhaseSummary], step: &FilesStep) -> u64 {
        let creating = match step.task {
            FileTask::CreateInOrder | FileTask::CreateAtRandom => return self.wish.files,
            task if task < FileTask::CreateAtRandom => FileTask::CreateInOrder,
            _ => FileTask::CreateAtRandom,
        };
        let folder = &self.folders[step.folder].name;
        let made = done.iter().rev().filter_map(|summary| Some((summary, summary.files.as_deref()?)));
        let mut of_folder = made
            .filter(|(_, work)| work.task == creating && work.folder == *folder && work.round == step.round);
        of_folder.next().map_or(0, |(summary, _)| {
            summary.totals_of(model::request::Operation::Write).map_or(0, |totals| totals.operations)
        })
    }
}
