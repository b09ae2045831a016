//! Tasks on many small files: they are made, looked at, opened and read, and removed, in the order of their names or at random.
//! Names follow from numbers, so that nobody has to remember millions of them.

use super::job::Job;
use super::recorder::{Call, Go, Recorder};
use super::system_call;
use super::workspace::Workspace;
use model::file_work::FileTask;
use model::permutation::Permutation;
use model::prng::Prng;
use model::request::Operation;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

/// What each name has behind its letter, and what it may have beyond that, of which each length comes as often. With the letter a name
/// is as long as those of bonnie++ 2.00, 10 to 22: one sign more, and the entries of a folder in ext4, which are rounded up to four
/// bytes, are 4 % longer on average.
const DIGITS_MIN: usize = 9;
const DIGITS_MORE_MAX: usize = 12;
/// A name has a number of 32 bits.
const DIGITS_OF_NUMBER: usize = 8;
/// The longest name, with the letter at its start and the zero at its end.
const NAME_MAX: usize = 1 + DIGITS_MIN + DIGITS_MORE_MAX + 1;

/// Runs the task over `job.files` files; how many it did, and why not more.
pub(super) fn run(workspace: &Workspace, job: &Job, recorder: &mut Recorder<'_>) -> Done {
    let mut done = 0;
    let outcome = workspace.open_folders(job.folders).and_then(|folders| {
        let order = order(job);
        let mut buffer = Vec::new();
        let mut room = workspace.room();
        while done < job.files {
            let index = order.as_ref().map_or(done, |order| order.apply(done));
            let name = Name::of(job, index);
            let folder = &folders[(index % folders.len() as u64) as usize];
            let began = recorder.now();
            let outcome = one(job, folder, name.text(), index, &mut buffer);
            let ended = recorder.now();
            let operation = operation(job.task);
            let bytes = outcome.inspect_err(|error| recorder.fail(operation, index, 0, error))?;
            done += 1;
            let go = recorder.count(Call { operation, offset: 0, bytes, began, ended });
            if job.task.changes_data() {
                room.check(ended)?;
            }
            if go != Go::On {
                return Ok(go);
            }
        }
        Ok(Go::On)
    });
    match outcome {
        Ok(go) => Done { files: done, go, failure: None },
        Err(error) => Done { files: done, go: Go::On, failure: Some(error) },
    }
}

/// How far a task came.
pub(super) struct Done {
    pub files: u64,
    pub go: Go,
    pub failure: Option<io::Error>,
}

/// As what a task counts: making and removing change something, looking and reading do not.
pub(super) fn operation(task: FileTask) -> Operation {
    if task.changes_data() { Operation::Write } else { Operation::Read }
}

fn is_random(task: FileTask) -> bool {
    task >= FileTask::CreateAtRandom
}

/// In which order the files are gone through; none for that of their numbers. Random names come in the order of their numbers
/// when they are made, since they are random already.
fn order(job: &Job) -> Option<Permutation> {
    let is_shuffled = is_random(job.task) && job.task != FileTask::CreateAtRandom;
    is_shuffled.then(|| Permutation::new(job.files.max(1), &mut Prng::new(job.seed, job.task as u64)))
}

/// The task on one file; the bytes it moved.
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
            system_call::status_at(folder.as_fd(), name).map(|_| 0)
        }
        FileTask::OpenInOrder | FileTask::OpenAtRandom => {
            let file = system_call::open_at(folder.as_fd(), name, libc::O_RDONLY)?;
            let size = size_of(job, index) as usize;
            if size == 0 {
                return Ok(0);
            }
            buffer.resize(buffer.len().max(size), 0);
            File::from(file).read(&mut buffer[..size]).map(|length| length as u64)
        }
        _ => system_call::remove_at(folder.as_fd(), name).map(|()| 0),
    }
}

/// What the file with that number holds, in bytes.
fn size_of(job: &Job, index: u64) -> u64 {
    let (min, max) = job.file_sizes;
    if min >= max { min.0 } else { min.0 + Prng::new(job.seed ^ 0x512e, index).below(max.0 - min.0 + 1) }
}

/// Puts the contents of all files out of memory. Their names and what is known of them stay there, which no program can change
/// for itself alone.
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

/// The name of a file, without a place on the heap: `f00000002a51…` in order, `f9c3e…0000002a` at random. They are of different
/// length, as programs' are and those of bonnie++, of which the names have the same lengths: a file system that searches a folder
/// need not look into a name of another length, and finds its way among names of one length more slowly.
struct Name([u8; NAME_MAX]);

impl Name {
    fn of(job: &Job, index: u64) -> Name {
        let drawn = Prng::new(job.seed ^ 0x4a4e, index).next_u64();
        let more = (drawn >> 48) as usize % (DIGITS_MORE_MAX + 1);
        let mut name = [0; NAME_MAX];
        name[0] = b'f';
        // The number stays in it, so that no two are the same.
        if is_random(job.task) {
            let (first, last) = name[1..].split_at_mut(more + DIGITS_MIN - DIGITS_OF_NUMBER);
            write_digits(first, drawn);
            write_digits(&mut last[..DIGITS_OF_NUMBER], index);
        } else {
            let (first, last) = name[1..].split_at_mut(DIGITS_MIN);
            write_digits(first, index);
            write_digits(&mut last[..more], drawn);
        }
        Name(name)
    }

    fn text(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).expect("a name is shorter than its room")
    }
}

/// The last hexadecimal digits of a number, as many as there is room for.
fn write_digits(room: &mut [u8], mut number: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(number & 0xf) as usize];
        number >>= 4;
    }
}

/// Whether a file in one of our folders can be one of ours by its name.
pub(super) fn is_ours(name: &[u8]) -> bool {
    matches!(name.split_first(), Some((b'f', digits)) if (DIGITS_MIN..=DIGITS_MIN + DIGITS_MORE_MAX).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_hexdigit))
}

/// A name as the system takes it.
pub(super) fn c_name(name: &[u8]) -> io::Result<CString> {
    CString::new(name).map_err(|_| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Bytes;
    use proptest::prelude::*;

    fn job(task: FileTask) -> Job {
        Job {
            task,
            phase: 0,
            block: Bytes::from_mib(1),
            file_bytes: Bytes::ZERO,
            flush_every: None,
            files: 100,
            file_sizes: (Bytes(10), Bytes(20)),
            folders: 1,
            threads: 1,
            seed: 7,
            time_max: None,
        }
    }

    #[test]
    fn names_in_order_are_in_order() {
        let name = |index| Name::of(&job(FileTask::StatInOrder), index).text().to_owned();
        assert!(name(42).to_bytes().starts_with(b"f00000002a"));
        assert!((0..5000).map(name).is_sorted());
    }

    #[test]
    fn names_are_of_every_length_of_those_of_bonnie() {
        for task in [FileTask::CreateInOrder, FileTask::CreateAtRandom] {
            let mut counts = [0u32; 32];
            (0..13_000).for_each(|index| counts[Name::of(&job(task), index).text().to_bytes().len()] += 1);
            // Each of 13 lengths 1000 times; three in a million draws are further off than 5 of its 30.4.
            assert!(counts[10..=22].iter().all(|count| (848..=1152).contains(count)), "{counts:?}");
            assert_eq!(counts.iter().sum::<u32>(), counts[10..=22].iter().sum::<u32>());
        }
    }

    proptest! {
        #[test]
        fn names_and_sizes_are_the_same_for_all_tasks(index in 0u64..1 << 32, other in 0u64..1 << 32) {
            let name = |task, index| Name::of(&job(task), index).text().to_owned();
            let made = name(FileTask::CreateAtRandom, index);
            prop_assert_eq!(&made, &name(FileTask::DeleteAtRandom, index));
            prop_assert!(is_ours(made.to_bytes()));
            prop_assert!(index == other || made != name(FileTask::StatAtRandom, other));
            prop_assert!((10..=20).contains(&size_of(&job(FileTask::OpenAtRandom), index)));
        }
    }
}
