//! What is still to be done, and how long it takes at most.

use super::done::elapsed;
use super::request::TaskGroup;
use super::steps::{BYTES_PART, FIRST_TIME, Files};
use crate::{Remaining, Step};
use model::plan::PhaseKind;
use model::run::PhaseSummary;
use model::units::{Bytes, Nanos};

impl Files {
    pub fn remaining(&self, done: &[PhaseSummary]) -> Remaining {
        let request = &self.request;
        let rounds = request.rounds_planned().saturating_sub(self.round);
        let folders = self.folders.len() as u32;
        let size = self.size.or(self.given_size).unwrap_or(self.size_max());
        let mut remaining = Remaining::default();
        let first = self.queue.iter().filter(|step| step.kind == PhaseKind::WarmUp).count() as u32;
        if first > 0 {
            let what = "a first write, to see how long the file may be".into();
            let time = FIRST_TIME * u64::from(first);
            remaining.steps.push(step(what, first, time, Bytes::ZERO, times(size, u64::from(first))));
        }
        let passes = u64::from(rounds * folders);
        let groups = request.groups();
        let count = TaskGroup::ALL.iter().filter(|group| groups.contains(group)).count() as u64;
        let left = request.time().saturating_sub(elapsed(done));
        for group in TaskGroup::ALL {
            if groups.contains(&group) {
                let (what, tasks, reads, writes) = self.describe(group, size);
                let time = left / count;
                remaining.steps.push(step(
                    what,
                    tasks * rounds * folders,
                    time,
                    times(reads, passes),
                    times(writes, passes),
                ));
            }
        }
        remaining
    }

    /// What a group of tasks is, how many they are, and what it reads and writes in one round of one folder.
    fn describe(&self, group: TaskGroup, size: Bytes) -> (String, u32, Bytes, Bytes) {
        let request = &self.request;
        let up_to = if self.given_size.is_some() { "of" } else { "of up to" };
        match group {
            TaskGroup::Bytes => {
                let part = size / BYTES_PART;
                (format!("a file {up_to} {part} byte by byte: write and read"), 2, part, part)
            }
            TaskGroup::Blocks => {
                let what =
                    format!("a file {up_to} {size} in blocks of {}: write, rewrite and read", request.block);
                (what, 3, size.saturating_add(size), size.saturating_add(size))
            }
            TaskGroup::Seeks => {
                (format!("random seeks in it by {} threads", request.seekers), 1, size, Bytes::ZERO)
            }
            TaskGroup::Names => {
                let bytes =
                    Bytes::new(request.files.saturating_mul(request.file_size.max.get()).saturating_mul(2));
                (format!("up to {} small files: create, stat, read, delete", request.files), 8, bytes, bytes)
            }
        }
    }
}

fn step(what: String, phases: u32, time: Nanos, reads: Bytes, writes: Bytes) -> Step {
    Step { reads: Some(reads), writes: Some(writes), ..Step::lasting(what, phases, time) }
}

fn times(bytes: Bytes, count: u64) -> Bytes {
    Bytes::new(bytes.get().saturating_mul(count))
}
