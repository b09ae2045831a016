//! Tasks on many small files: they are made, looked at, opened and read, and removed, in the order of their names or at random.

use super::file_name::{Name, is_random};
use super::job::Job;
use super::recorder::{Call, Go, Recorder};
use super::system_call;
use super::workspace::Workspace;
use model::file_work::FileTask;
use model::permutation::Permutation;
use model::prng::Prng;
use model::request::Operation;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

/// Counts in `done` how many files were gone through, also where it fails.
pub(super) fn run(
    workspace: &Workspace,
    job: &Job,
    recorder: &mut Recorder<'_>,
    done: &mut u64,
) -> io::Result<Go> {
    let folders = workspace.open_folders(job.folders)?;
    let order = order(job);
    let operation = operation(job.task);
    let mut buffer = Vec::new();
    let mut room = workspace.room();
    while *done < job.files {
        let index = match &order {
            Some(order) => order.apply(*done),
            None => *done,
        };
        debug_assert!(index < job.files, "each file has a number of the job");
        let name = Name::of(job, index);
        let folder = &folders[(index % folders.len() as u64) as usize];
        let began = recorder.now();
        let outcome = one(job, folder, name.text(), index, &mut buffer);
        let ended = recorder.now();
        let bytes = outcome.inspect_err(|error| recorder.fail(operation, index, 0, error))?;
        *done += 1;
        let go = recorder.count(Call { operation, offset: 0, bytes, began, ended });
        if job.task.changes_data() {
            room.check(ended)?;
        }
        if go != Go::On {
            return Ok(go);
        }
    }
    Ok(Go::On)
}

/// As what a task counts: making and removing change something, looking and reading do not.
pub(super) fn operation(task: FileTask) -> Operation {
    if task.changes_data() { Operation::Write } else { Operation::Read }
}

/// In which order the files are gone through; none for that of their numbers, which for new random names is random already.
fn order(job: &Job) -> Option<Permutation> {
    if !is_random(job.task) || job.task == FileTask::CreateAtRandom {
        return None;
    }
    Some(Permutation::new(job.files.max(1), &mut Prng::new(job.seed, job.task as u64)))
}

fn one(job: &Job, folder: &OwnedFd, name: &CStr, index: u64, buffer: &mut Vec<u8>) -> io::Result<u64> {
    match job.task {
        FileTask::CreateInOrder | FileTask::CreateAtRandom => {
            let file =
                system_call::open_at(folder.as_fd(), name, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL)?;
            let size = size_of(job, index) as usize;
            if size > 0 {
                if buffer.len() < size {
                    buffer.resize(size, 0);
                    Prng::new(job.seed, 0xf11e).fill(buffer);
                }
                File::from(file).write_all(&buffer[..size])?;
            }
            Ok(size as u64)
        }
        FileTask::StatInOrder | FileTask::StatAtRandom => {
            system_call::status_at(folder.as_fd(), name)?;
            Ok(0)
        }
        FileTask::OpenInOrder | FileTask::OpenAtRandom => {
            let file = system_call::open_at(folder.as_fd(), name, libc::O_RDONLY)?;
            let size = size_of(job, index) as usize;
            if size == 0 {
                return Ok(0);
            }
            buffer.resize(buffer.len().max(size), 0);
            Ok(File::from(file).read(&mut buffer[..size])? as u64)
        }
        _ => {
            system_call::remove_at(folder.as_fd(), name)?;
            Ok(0)
        }
    }
}

fn size_of(job: &Job, index: u64) -> u64 {
    let (min, max) = job.file_sizes;
    if min >= max {
        min.get()
    } else {
        min.get() + Prng::new(job.seed ^ 0x512e, index).below(max.get() - min.get() + 1)
    }
}

/// Puts the contents of all files out of memory. Names and attributes stay there: no program can drop its own alone.
pub(super) fn forget(workspace: &Workspace, job: &Job) -> io::Result<()> {
    let folders = workspace.open_folders(job.folders)?;
    for index in 0..job.files {
        let folder = &folders[(index % folders.len() as u64) as usize];
        let name = Name::of(job, index);
        let file = system_call::open_at(folder.as_fd(), name.text(), libc::O_RDONLY)?;
        system_call::forget_clean(file.as_fd());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_lie_between_the_bounds() {
        let job = Job::of_test(FileTask::OpenAtRandom);
        for index in 0..1000 {
            assert!((10..=20).contains(&size_of(&job, index)));
        }
    }
}
