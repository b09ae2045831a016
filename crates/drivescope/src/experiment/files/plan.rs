//! How long the file is to be, how long it all takes, and what is said of it before.

use super::{
    FILE_MIN, FIRST_TIME, Files, FilesWish, MeasuredFolder, Outlook, PASSES, SHARE_OF_PASSES, Step, TaskGroup,
};
use model::file_work::FileTask;
use model::plan::PhaseKind;
use model::run::PhaseSummary;
use model::units::{Bytes, MIB, Nanos};

/// The length of the large file: as given, or what the slowest folder writes in the time that is meant for a pass. It is the same in
/// all folders, so that they can be compared.
pub(super) fn size(wish: &FilesWish, folders: &[MeasuredFolder], done: &[PhaseSummary]) -> Bytes {
    if let Some(size) = wish.size {
        return size;
    }
    let parts = folders.len() as f64 * f64::from(wish.rounds.unwrap_or(wish.rounds_min));
    let pass_s = SHARE_OF_PASSES * wish.time_limit.seconds() / parts / PASSES;
    let rate =
        |summary: &PhaseSummary| summary.bytes() as f64 / Nanos(summary.lasting_ns()).seconds().max(1e-3);
    let first = done.iter().filter(|summary| summary.phase.kind == PhaseKind::WarmUp).map(rate);
    let by_time = first.fold(f64::INFINITY, f64::min) * pass_s;
    let room = folders.iter().map(|folder| folder.size_max).min().unwrap_or(wish.size_max);
    let longest = room.min(wish.size_max).0.max(FILE_MIN.0);
    Bytes((by_time as u64).clamp(FILE_MIN.0, longest) / MIB * MIB)
}

/// Since the run began, with the flushes.
pub(super) fn elapsed(done: &[PhaseSummary]) -> Nanos {
    Nanos(done.last().map_or(0, |last| last.end_ns().saturating_add(last.flush_ns())))
}

/// What these tasks took in the round before.
pub(super) fn time_of(done: &[PhaseSummary], wanted: &[FileTask], round: u32) -> Nanos {
    let before = done.iter().filter(|summary| {
        summary.files.as_deref().is_some_and(|work| {
            work.round + 1 == round && wanted.contains(&work.task) && summary.phase.kind == PhaseKind::Measure
        })
    });
    Nanos(before.map(PhaseSummary::lasting_ns).fold(0, u64::saturating_add))
}

/// What is said of a folder in which there is no room.
pub(super) fn no_room(folder: &MeasuredFolder, needed: Bytes) -> String {
    format!(
        "{} has no room: a tenth of the file system must stay free, so that {} are left for files, and {needed} are needed. Make room, \
         choose another folder, or a smaller --size",
        folder.name, folder.size_max
    )
}

/// What is still to be done at most, by groups of tasks.
pub(super) fn outlook(files: &Files, done: &[PhaseSummary]) -> Outlook {
    let wish = &files.wish;
    let rounds = wish.rounds.unwrap_or(wish.rounds_min).saturating_sub(files.round);
    let folders = files.folders.len() as u32;
    let size = files.size.unwrap_or_else(|| wish.size.unwrap_or(wish.size_max));
    let left = wish.time_limit.saturating_sub(elapsed(done));
    let mut outlook = Outlook::default();
    let first = files.queue.iter().filter(|step| step.kind == PhaseKind::WarmUp).count() as u32;
    if first > 0 {
        let writes = Some(Bytes(size.0 * u64::from(first)));
        let time = Nanos(FIRST_TIME.0 * u64::from(first));
        outlook.steps.push(Step {
            what: "a first write, to see how long the file may be".into(),
            phases: first,
            time,
            likely: time,
            slow: time,
            reads: Some(Bytes::ZERO),
            writes,
        });
    }
    let times = u64::from(rounds * folders);
    let groups = TaskGroup::ALL.into_iter().filter(|group| wish.groups.contains(group));
    let groups: Vec<TaskGroup> = groups.collect();
    for group in &groups {
        let (what, tasks, passes_read, passes_written) = describe(*group, wish, size);
        let time = Nanos(left.0 / groups.len() as u64);
        outlook.steps.push(Step {
            what,
            phases: tasks * rounds * folders,
            time,
            likely: time,
            slow: time,
            reads: Some(Bytes(passes_read.0 * times)),
            writes: Some(Bytes(passes_written.0 * times)),
        });
    }
    outlook
}

/// What a group of tasks is, how many they are, and what it reads and writes in one round of one folder.
fn describe(group: TaskGroup, wish: &FilesWish, size: Bytes) -> (String, u32, Bytes, Bytes) {
    let up_to = if wish.size.is_some() { "of" } else { "of up to" };
    match group {
        TaskGroup::Bytes => {
            let part = Bytes(size.0 / super::BYTES_PART);
            (format!("a file {up_to} {part} byte by byte: write and read"), 2, part, part)
        }
        TaskGroup::Blocks => {
            let (read, written) = (Bytes(size.0 * 2), Bytes(size.0 * 2));
            (
                format!("a file {up_to} {size} in blocks of {}: write, rewrite and read", wish.block),
                3,
                read,
                written,
            )
        }
        TaskGroup::Seeks => (format!("random seeks in it by {} threads", wish.seekers), 1, size, Bytes::ZERO),
        TaskGroup::Names => {
            let bytes = Bytes(wish.files.saturating_mul(wish.file_sizes.1.0).saturating_mul(2));
            (format!("up to {} small files: create, look at, read, delete", wish.files), 8, bytes, bytes)
        }
    }
}
