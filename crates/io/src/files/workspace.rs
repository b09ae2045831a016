//! A folder of our own inside the folder that is measured. All work happens in it, and it goes away with all that is in it: at the
//! end, on Ctrl-C, on an error. After a kill the next run finds it by its mark: see `leftovers`.

use super::job::{Job, JobEnd};
use super::recorder::{Go, Recorder};
use super::{large, names, seeks, system_call};
use crate::clock::MonotonicClock;
use crate::error::IoError;
use crate::flushing::Extent;
use crate::load::collect::PhaseObserver;
use crate::target::file_place::{file_layout, file_system_of};
use crate::target::identity::DeviceNumber;
use crate::target::system_call as target_call;
use model::file_work::{FileTask, ProcessorTime};
use model::plan::StopReason;
use model::request::Operation;
use model::units::{Bytes, Instant, Nanos};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What the name of our folder begins with; process and random digits follow.
pub(super) const PREFIX: &str = ".drivescope-files-";
/// The file in our folder that says what it is, and that is locked while it is used.
pub(super) const MARK: &CStr = c"mark";
/// What stands in it.
pub(super) const MARK_TEXT: &str =
    "A folder of drivescope files. Nobody's data is in it; the next run here removes it.\n";
/// The large file of tasks in blocks, and that of tasks by bytes.
const DATA: &CStr = c"data";
const BYTES: &CStr = c"bytes";
/// While something is written, the room is looked at this often.
const LOOK_EVERY: Nanos = Nanos::from_millis(40);
/// How often somebody who waits for a removal hears of it, in files.
const TELL_EVERY: u64 = 10_000;
/// A removal goes over a folder again while entries come up that a file system hid because others were removed meanwhile.
const PASSES_MAX: u32 = 1000;

/// What is known of a folder that is to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFacts {
    /// The kind of its file system: `ext4`.
    pub file_system: String,
    /// Which one, as the system numbers them.
    pub device: DeviceNumber,
    /// What it holds.
    pub size: Bytes,
    /// What may still be written.
    pub available: Bytes,
}

/// Looks at a folder.
///
/// # Errors
/// When there is none, or it may not be looked into.
pub fn folder_facts(path: &Path) -> Result<FolderFacts, IoError> {
    let folder = open_folder(path)?;
    let failed = |source| explain("look at", path, source);
    let (file_system, number) = file_system_of(folder.as_fd()).map_err(failed)?;
    let room = target_call::file_system_room(folder.as_fd()).map_err(failed)?;
    Ok(FolderFacts {
        file_system,
        device: number.file_system,
        size: Bytes(room.size),
        available: Bytes(room.available),
    })
}

/// How much memory the machine has; none where the system does not tell.
pub fn memory_bytes() -> Option<Bytes> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(Bytes(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)?))
}

/// Opens the folder that somebody named.
pub(super) fn open_folder(path: &Path) -> Result<OwnedFd, IoError> {
    target_call::open(path, libc::O_RDONLY | libc::O_DIRECTORY)
        .map_err(|source| explain("open the folder", path, source))
}

/// A folder of our own. It is removed when it is dropped.
#[derive(Debug)]
pub struct Workspace {
    directory: OwnedFd,
    name: CString,
    folder: OwnedFd,
    /// Holds the lock.
    mark: Option<File>,
    is_removed: bool,
}

/// What a removal did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// So many files went away.
    pub files: u64,
    /// What was left since it is none of ours, or since it could not be removed: sentences.
    pub left: Vec<String>,
}

impl Workspace {
    /// Makes one in `path`.
    ///
    /// # Errors
    /// When there is no such folder, or nothing may be made in it.
    pub fn make(path: &Path) -> Result<Workspace, IoError> {
        let directory = open_folder(path)?;
        let failed = |source| explain("make a folder in", path, source);
        let room = target_call::file_system_room(directory.as_fd()).map_err(failed)?;
        if room.is_read_only {
            return Err(failed(io::Error::from_raw_os_error(libc::EROFS)));
        }
        let name = format!("{PREFIX}{}-{:016x}", std::process::id(), random().map_err(failed)?);
        let name = CString::new(name).expect("digits have no zero byte");
        system_call::make_folder_at(directory.as_fd(), &name).map_err(failed)?;
        let opened = system_call::open_at(directory.as_fd(), &name, libc::O_RDONLY | libc::O_DIRECTORY);
        let folder = match opened {
            Ok(folder) => folder,
            Err(source) => {
                let _ = system_call::remove_folder_at(directory.as_fd(), &name);
                return Err(failed(source));
            }
        };
        let mut workspace = Workspace { directory, name, folder, mark: None, is_removed: false };
        workspace.mark = Some(workspace.make_mark().map_err(failed)?);
        Ok(workspace)
    }

    /// One that a killed run left. `mark` is locked by us.
    pub(super) fn taken_over(
        directory: OwnedFd,
        name: CString,
        folder: OwnedFd,
        mark: Option<File>,
    ) -> Workspace {
        // Nothing goes away unless somebody says so.
        Workspace { directory, name, folder, mark, is_removed: true }
    }

    fn make_mark(&self) -> io::Result<File> {
        let mut mark = File::from(self.create(MARK)?);
        // Where nobody can lock, nobody takes the folder for one that was left either.
        let _ = system_call::try_lock(mark.as_fd());
        mark.write_all(MARK_TEXT.as_bytes())?;
        Ok(mark)
    }

    /// A new file in it.
    fn create(&self, name: &CStr) -> io::Result<OwnedFd> {
        system_call::open_at(self.folder(), name, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)
    }

    /// Its folder.
    pub(super) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// A file that is large enough to be looked at as a target, to see what lies below the folder. It is removed by the next task
    /// that writes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn probe_path(&self, bytes: Bytes) -> io::Result<std::path::PathBuf> {
        self.remove_file(DATA)?;
        let mut file = File::from(self.create(DATA)?);
        file.write_all(&vec![0x5a; bytes.0 as usize])?;
        file.sync_data()?;
        Ok(format!("/proc/self/fd/{}/data", self.folder.as_raw_fd()).into())
    }

    /// Something that looks whether a tenth of the file system stays free.
    pub(super) fn room(&self) -> Room<'_> {
        Room { folder: self.folder(), next: Instant::START }
    }

    /// The folders that small files are spread over.
    pub(super) fn open_folders(&self, count: u32) -> io::Result<Vec<OwnedFd>> {
        let open = |number| {
            system_call::open_at(self.folder(), &folder_name(number), libc::O_RDONLY | libc::O_DIRECTORY)
        };
        (0..count.max(1)).map(open).collect()
    }

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
        // What it costs to hand out the records is no cost of the calls.
        let mut processor = spent_since(before);
        recorder.end_calls();
        if job.task.changes_data() && failure.is_none() && go != Go::Interrupted {
            let flushed = match &file {
                Some(file) => recorder.flush(file.as_fd(), Extent::File),
                None => recorder.flush(self.folder(), Extent::FileSystem),
            };
            match flushed {
                Some(Ok(flushed)) => {
                    processor = processor.zip(flushed.processor).map(|(calls, flush)| ProcessorTime {
                        user_ns: calls.user_ns + flush.user_ns,
                        system_ns: calls.system_ns + flush.system_ns,
                    });
                }
                Some(Err(error)) => failure = Some(error),
                None => go = Go::Interrupted,
            }
        }
        let is_written = job.task == FileTask::BlockWrite && failure.is_none() && go != Go::Interrupted;
        let layout = file.as_ref().filter(|_| is_written).map(|file| file_layout(file.as_fd()));
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
                let cached_share = large::forget(&file, job.file_bytes.0)?;
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

    /// A new file in place of one of before.
    fn fresh(&self, name: &CStr) -> io::Result<File> {
        self.remove_file(name)?;
        self.create(name).map(File::from)
    }

    /// Empty folders for small files. Files that were left there, since there was no time to remove them all, go away.
    fn fresh_folders(&self, count: u32) -> io::Result<()> {
        for number in 0..count.max(1) {
            let name = folder_name(number);
            match self.remove_folder(&name, &mut Removal::default(), &mut |_| {}) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => system_call::make_folder_at(self.folder(), &name)?,
            }
        }
        Ok(())
    }

    fn remove_file(&self, name: &CStr) -> io::Result<()> {
        match system_call::remove_at(self.folder(), name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes it with all that is in it; `tell` hears now and then how many files are gone.
    pub fn remove(mut self, tell: &mut dyn FnMut(u64)) -> Removal {
        self.is_removed = false;
        self.remove_all(tell)
    }

    fn remove_all(&mut self, tell: &mut dyn FnMut(u64)) -> Removal {
        let mut removal = Removal::default();
        if std::mem::replace(&mut self.is_removed, true) {
            return removal;
        }
        for _ in 0..PASSES_MAX {
            let gone = self.remove_once(&mut removal, tell);
            if gone == 0 {
                break;
            }
        }
        if removal.left.is_empty() {
            let outcome = self
                .remove_file(MARK)
                .and_then(|()| system_call::remove_folder_at(self.directory.as_fd(), &self.name));
            removal.left.extend(outcome.err().map(|error| format!("the folder itself: {error}")));
        }
        self.mark = None;
        removal
    }

    /// One pass over the folder; how many entries went away.
    fn remove_once(&self, removal: &mut Removal, tell: &mut dyn FnMut(u64)) -> u64 {
        let before = removal.files;
        let mut folders_gone = 0;
        removal.left.clear();
        let entries = match entries_of(self.folder()) {
            Ok(entries) => entries,
            Err(error) => {
                removal.left.push(format!("what is in it cannot be listed: {error}"));
                return 0;
            }
        };
        for name in entries.flatten() {
            let name = name.file_name();
            let bytes = name.as_bytes();
            let Ok(text) = names::c_name(bytes) else { continue };
            let outcome = if bytes == MARK.to_bytes() {
                Ok(())
            } else if bytes == DATA.to_bytes() || bytes == BYTES.to_bytes() {
                self.remove_file(&text).map(|()| removal.files += 1)
            } else if is_folder_name(bytes) {
                self.remove_folder(&text, removal, tell).map(|()| folders_gone += 1)
            } else {
                Err(io::Error::other("it is none of drivescope's"))
            };
            if let Err(error) = outcome {
                removal.left.push(format!("{}: {error}", name.display()));
            }
        }
        removal.files - before + folders_gone
    }

    /// Removes a folder of small files. It must lie on the same file system: something that was mounted there is none of ours.
    fn remove_folder(&self, name: &CStr, removal: &mut Removal, tell: &mut dyn FnMut(u64)) -> io::Result<()> {
        let folder = system_call::open_at(self.folder(), name, libc::O_RDONLY | libc::O_DIRECTORY)?;
        let is_same =
            target_call::status(folder.as_fd())?.st_dev == target_call::status(self.folder())?.st_dev;
        if !is_same {
            return Err(io::Error::other("something else was mounted there"));
        }
        for entry in entries_of(folder.as_fd())? {
            let entry = entry?.file_name();
            if !names::is_ours(entry.as_bytes()) {
                return Err(io::Error::other(format!("{} in it is none of drivescope's", entry.display())));
            }
            system_call::remove_at(folder.as_fd(), &names::c_name(entry.as_bytes())?)?;
            removal.files += 1;
            if removal.files.is_multiple_of(TELL_EVERY) {
                tell(removal.files);
            }
        }
        system_call::remove_folder_at(self.folder(), name)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.remove_all(&mut |_| {});
    }
}

/// What is in an open folder.
pub(super) fn entries_of(folder: BorrowedFd<'_>) -> io::Result<std::fs::ReadDir> {
    std::fs::read_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

/// The mark of a folder, if it is one: a regular file with the text that only we write.
pub(super) fn mark_of(folder: BorrowedFd<'_>) -> io::Result<File> {
    let mut mark = File::from(system_call::open_at(folder, MARK, libc::O_RDONLY | libc::O_NONBLOCK)?);
    let mut text = String::new();
    let is_ours = mark.metadata()?.is_file()
        && (&mut mark).take(MARK_TEXT.len() as u64 + 1).read_to_string(&mut text).is_ok()
        && text == MARK_TEXT;
    if is_ours { Ok(mark) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// The name of a folder of small files.
pub(super) fn folder_name(number: u32) -> CString {
    CString::new(format!("d{number:05}")).expect("digits have no zero byte")
}

fn is_folder_name(name: &[u8]) -> bool {
    matches!(name.split_first(), Some((b'd', digits)) if digits.len() >= 5 && digits.iter().all(u8::is_ascii_digit))
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Processor time since then.
fn spent_since(before: Option<ProcessorTime>) -> Option<ProcessorTime> {
    before.zip(system_call::processor_time()).map(|(before, after)| ProcessorTime {
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
    })
}

/// How a task went.
struct Course {
    began: Instant,
    ended: Instant,
    go: Go,
    done: u64,
    processor: Option<ProcessorTime>,
    cached_share: Option<f64>,
    layout: Option<Result<model::file_work::FileLayout, String>>,
    failure: Option<io::Error>,
}

impl Course {
    /// A task that could not begin.
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

/// Looks now and then whether a tenth of the file system stays free.
pub(super) struct Room<'folder> {
    folder: BorrowedFd<'folder>,
    next: Instant,
}

impl Room<'_> {
    /// An error once less than a tenth is free.
    pub(super) fn check(&mut self, now: Instant) -> io::Result<()> {
        if now < self.next {
            return Ok(());
        }
        self.next = now + LOOK_EVERY;
        let room = target_call::file_system_room(self.folder)?;
        if room.size > 0 && room.available < room.size / 10 {
            let why = "less than a tenth of the file system is free, and that much must stay free";
            return Err(io::Error::new(io::ErrorKind::StorageFull, why));
        }
        Ok(())
    }
}

fn explain(operation: &'static str, path: &Path, source: io::Error) -> IoError {
    let code = source.raw_os_error();
    let error = IoError::system(operation, path.display().to_string(), source);
    match code {
        Some(libc::ENOENT) => error.with_hint("There is no such folder: make it, or name another one"),
        Some(libc::ENOTDIR) => {
            error.with_hint("`files` measures in folders: name one, such as the one it is in")
        }
        Some(libc::EACCES | libc::EPERM) => error.with_hint("Choose a folder in which you may make files"),
        Some(libc::EROFS) => error.with_hint("The file system is mounted read-only: choose another folder"),
        Some(libc::EDQUOT) => {
            error.with_hint("Your quota is used up: remove something, or choose another folder")
        }
        Some(libc::ENOSPC) => error.with_hint("The file system is full: make room, or choose another folder"),
        Some(libc::ESTALE | libc::ENOTCONN | libc::EIO) => {
            error.with_hint("The file system does not answer any more: look whether it is still there")
        }
        _ => error,
    }
}
