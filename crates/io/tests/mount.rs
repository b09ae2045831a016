//! Mounted drives, as programs meet them: data, sizes, errors, discards, and how a mount ends.

mod loopdev;

use io::engine::choice::{EngineKind, EngineOptions};
use io::load::collect::Unobserved;
use io::mount::{Mount, MountError, MountOptions};
use io::rig::Rig;
use io::targets::Target;
use loopdev::{Page, alone_with_loop_devices, attempt, has_program, run, skip};
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::prng::Prng;
use model::range::ByteRange;
use model::request::{Completion, Operation, Request, Status};
use model::target::TargetFacts;
use model::units::{Bytes, Instant, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use sim::Drive;
use sim::contents::Contents;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const CAPACITY: u64 = 64 << 20;

/// Answers every request after the same time, all at once, with what it is told to; and keeps what it was asked.
struct Scripted {
    facts: TargetFacts,
    latency: Nanos,
    answer: fn(&Request) -> Option<Status>,
    asked: Arc<Mutex<Vec<Request>>>,
    under_way: VecDeque<Completion>,
    most_under_way: Arc<Mutex<usize>>,
    arrivals: Option<Sender<()>>,
}

impl Scripted {
    fn sound() -> Scripted {
        let mut facts = sim::open("null", 1).expect("a drive that ships").facts().clone();
        facts.capacity = Bytes::new(CAPACITY);
        facts.logical_block = Bytes::new(512);
        facts.discard_max = Some(Bytes::from_gib(1));
        Scripted {
            facts,
            latency: Nanos::ZERO,
            answer: |_| None,
            asked: Arc::default(),
            under_way: VecDeque::new(),
            most_under_way: Arc::default(),
            arrivals: None,
        }
    }
}

impl Drive for Scripted {
    fn submit(&mut self, request: Request, now: Instant) {
        self.asked.lock().expect("nobody panics").push(request);
        let status = (self.answer)(&request).unwrap_or(Status::Done);
        let transferred_bytes = if status.is_done() { request.length_bytes } else { 0 };
        let completed_ns = now.get() + self.latency.get();
        self.under_way.push_back(Completion { tag: request.tag, status, transferred_bytes, completed_ns });
        let mut most = self.most_under_way.lock().expect("nobody panics");
        *most = (*most).max(self.under_way.len());
        if let Some(arrivals) = &self.arrivals {
            arrivals.send(()).expect("the test listens");
        }
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        self.under_way.front().map(|completion| Instant::new(completion.completed_ns))
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        if self.next_completion_at()? > now {
            return None;
        }
        self.under_way.pop_front()
    }

    fn facts(&self) -> &TargetFacts {
        &self.facts
    }
}

/// A mounted drive in a folder of its own.
struct Mounted {
    mount: Option<Mount>,
    file: PathBuf,
    ended: Receiver<()>,
    folder: TempDir,
}

impl Mounted {
    /// None, and the test is reported as skipped, where nothing can be mounted.
    fn new(drive: Scripted, test: &str) -> Option<Mounted> {
        if !can_mount(test) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (say_ended, ended) = channel();
        let options = options(folder.path());
        let contents = Contents::new(drive.facts.capacity, &[], 1);
        let tell = move || say_ended.send(()).expect("the test listens");
        let mount = Mount::start(Box::new(drive), contents, &options, tell).expect("it mounts");
        Some(Mounted { file: mount.file().to_owned(), mount: Some(mount), ended, folder })
    }

    fn open(&self, flags: i32) -> File {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(flags).open(&self.file).expect("the file opens")
    }
}

fn can_mount(test: &str) -> bool {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let can = is_root && OpenOptions::new().read(true).write(true).open("/dev/fuse").is_ok();
    if !can {
        skip(test, "mounting needs root and /dev/fuse");
    }
    can
}

fn options(folder: &Path) -> MountOptions {
    MountOptions { folder: folder.to_owned(), file_name: "drive".into(), loop_device: false, turn: None }
}

fn errno<Value>(result: std::io::Result<Value>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

#[test]
fn data_read_is_data_written() {
    let Some(mounted) = Mounted::new(Scripted::sound(), "data_read_is_data_written") else { return };
    let file = mounted.open(0);
    let mut expected = vec![0; CAPACITY as usize];
    let mut prng = Prng::new(7, 1);
    for _ in 0..300 {
        let length = (1 + prng.below(200_000)) as usize;
        let offset = prng.below(CAPACITY - length as u64) as usize;
        let byte = prng.below(256) as u8;
        let data: Vec<u8> = (0..length).map(|index| byte.wrapping_add(index as u8)).collect();
        file.write_all_at(&data, offset as u64).unwrap();
        expected[offset..offset + length].copy_from_slice(&data);
        let at = prng.below(CAPACITY - 100_000) as usize;
        let mut found = vec![0; 100_000];
        file.read_exact_at(&mut found, at as u64).unwrap();
        assert_eq!(found, expected[at..at + 100_000]);
    }
    drop(file);
    let mut whole = Vec::new();
    mounted.open(0).read_to_end(&mut whole).unwrap();
    assert!(whole == expected);
}

#[test]
fn the_size_is_that_of_the_drive_and_stays() {
    let Some(mounted) = Mounted::new(Scripted::sound(), "the_size_is_that_of_the_drive_and_stays") else {
        return;
    };
    let file = mounted.open(0);
    assert_eq!(file.metadata().unwrap().len(), CAPACITY);
    assert_eq!(errno(file.set_len(4096)), Some(libc::EPERM));
    assert_eq!(errno(file.set_len(2 * CAPACITY)), Some(libc::EPERM));
    let mut page = [1; 4096];
    assert_eq!(file.read_at(&mut page, CAPACITY - 1000).unwrap(), 1000);
    assert_eq!(file.read_at(&mut page, CAPACITY).unwrap(), 0);
    assert_eq!(errno(file.write_at(&page, CAPACITY)), Some(libc::ENOSPC));
    // As `dd of=` opens it, and as a block device takes it.
    let again = OpenOptions::new().write(true).truncate(true).open(&mounted.file).unwrap();
    assert_eq!(again.metadata().unwrap().len(), CAPACITY);
    assert_eq!((&file).seek(SeekFrom::End(0)).unwrap(), CAPACITY);
    let folder = mounted.folder.path();
    assert_eq!(errno(File::create(folder.join("other"))), Some(libc::EPERM));
    assert_eq!(errno(std::fs::remove_file(&mounted.file)), Some(libc::EPERM));
}

#[test]
fn direct_requests_must_fit_the_blocks_of_the_drive() {
    let mut drive = Scripted::sound();
    drive.facts.logical_block = Bytes::new(4096);
    let asked = Arc::clone(&drive.asked);
    let name = "direct_requests_must_fit_the_blocks_of_the_drive";
    let Some(mounted) = Mounted::new(drive, name) else { return };
    assert_eq!(mounted.file.metadata().unwrap().blksize(), 4096);
    let direct = mounted.open(libc::O_DIRECT);
    let mut page = Box::new(Page([0; 4096]));
    assert_eq!(errno(direct.read_at(&mut page.0[..512], 0)), Some(libc::EINVAL));
    assert_eq!(errno(direct.write_at(&page.0, 512)), Some(libc::EINVAL));
    assert_eq!(direct.read_at(&mut page.0, 8192).unwrap(), 4096);
    // What does not fit is rounded to whole blocks where it may be.
    let buffered = mounted.open(0);
    assert_eq!(buffered.write_at(&page.0[..100], 5000).unwrap(), 100);
    let seen: Vec<_> =
        asked.lock().unwrap().iter().map(|r| (r.operation, r.offset_bytes, r.length_bytes)).collect();
    assert_eq!(seen, [(Operation::Read, 8192, 4096), (Operation::Write, 4096, 4096)]);
}

#[test]
fn failures_of_the_drive_reach_who_asked() {
    let mut drive = Scripted::sound();
    drive.answer = |request| match request.offset_bytes >> 20 {
        1 => Some(Status::MediumError),
        2 => Some(Status::DeviceGone),
        3 => Some(Status::TimedOut),
        4 => Some(Status::NoSpace),
        _ => None,
    };
    let Some(mounted) = Mounted::new(drive, "failures_of_the_drive_reach_who_asked") else { return };
    let file = mounted.open(libc::O_DIRECT);
    let mut page = Box::new(Page([0; 4096]));
    let errors = [(1, libc::EIO), (2, libc::ENODEV), (3, libc::ETIMEDOUT), (4, libc::ENOSPC)];
    for (place, expected) in errors {
        assert_eq!(errno(file.read_at(&mut page.0, place << 20)), Some(expected));
        assert_eq!(errno(file.write_at(&page.0, place << 20)), Some(expected));
    }
    assert_eq!(file.read_at(&mut page.0, 5 << 20).unwrap(), 4096);
}

#[test]
fn a_full_memory_is_told_to_who_writes() {
    if !can_mount("a_full_memory_is_told_to_who_writes") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let contents = Contents::new(Bytes::new(CAPACITY), &[], 1).with_limit(Bytes::from_mib(1));
    let mut mount =
        Mount::start(Box::new(Scripted::sound()), contents, &options(folder.path()), || {}).unwrap();
    let file = OpenOptions::new().write(true).open(mount.file()).unwrap();
    let mut prng = Prng::new(7, 2);
    let data: Vec<u8> = (0..4 << 20).map(|_| prng.below(256) as u8).collect();
    assert_eq!(errno(file.write_all_at(&data, 0)), Some(libc::ENOSPC));
    assert!(mount.lateness().unwrap().not_stored > 0);
}

#[test]
fn flushes_and_discards_reach_the_drive() {
    let drive = Scripted::sound();
    let asked = Arc::clone(&drive.asked);
    let Some(mounted) = Mounted::new(drive, "flushes_and_discards_reach_the_drive") else { return };
    let name = "flushes_and_discards_reach_the_drive";
    if !has_program(name, "fallocate") {
        return;
    }
    let file = mounted.open(0);
    file.write_all_at(&[7; 1 << 16], 0).unwrap();
    file.sync_all().unwrap();
    let text = mounted.file.to_str().unwrap();
    run("fallocate", &["--punch-hole", "--offset", "8192", "--length", "16384", text]);
    let mut found = vec![0; 1 << 16];
    file.read_exact_at(&mut found, 0).unwrap();
    let zeros = found.iter().filter(|byte| **byte == 0).count();
    assert_eq!((zeros, found[8191], found[8192], found[24575], found[24576]), (16384, 7, 0, 0, 7));
    let seen: Vec<_> =
        asked.lock().unwrap().iter().map(|r| (r.operation, r.offset_bytes, r.length_bytes)).collect();
    let expected =
        [(Operation::Write, 0, 1 << 16), (Operation::Flush, 0, 0), (Operation::Discard, 8192, 16384)];
    assert_eq!(seen[..3], expected);
}

#[test]
fn a_drive_that_does_not_discard_says_so() {
    let name = "a_drive_that_does_not_discard_says_so";
    let mut drive = Scripted::sound();
    drive.facts.discard_max = None;
    let Some(mounted) = Mounted::new(drive, name) else { return };
    if !has_program(name, "fallocate") {
        return;
    }
    let text = mounted.file.to_str().unwrap();
    let refused = attempt("fallocate", &["--punch-hole", "--offset", "0", "--length", "4096", text]);
    assert!(!refused.status.success());
    // Reserving what is there already is no discard.
    run("fallocate", &["--length", "1MiB", text]);
}

#[test]
fn a_queue_of_thirty_two_reaches_the_drive_whole() {
    let name = "a_queue_of_thirty_two_reaches_the_drive_whole";
    if !has_program(name, "fio") {
        return;
    }
    let drive = Scripted { latency: Nanos::from_millis(20), ..Scripted::sound() };
    let most = Arc::clone(&drive.most_under_way);
    let Some(mounted) = Mounted::new(drive, name) else { return };
    let file = format!("--filename={}", mounted.file.display());
    let queue = ["--ioengine=io_uring", "--iodepth=32", "--number_ios=320", "--rw=randread", "--bs=4k"];
    run("fio", &[&["--name=queue", "--direct=1", &file][..], &queue].concat());
    assert_eq!(*most.lock().unwrap(), 32);
}

#[test]
fn it_ends_when_somebody_else_unmounts_it() {
    let Some(mounted) = Mounted::new(Scripted::sound(), "it_ends_when_somebody_else_unmounts_it") else {
        return;
    };
    run("umount", &[mounted.folder.path().to_str().unwrap()]);
    mounted.ended.recv().expect("the end is told");
    let mut mounted = mounted;
    let stopped = mounted.mount.take().unwrap().stop();
    assert_eq!(stopped.still_in_use, None);
    assert!(stopped.lateness.is_some());
    assert!(mounted.folder.path().is_dir());
}

#[test]
fn who_still_uses_it_finds_no_drive_and_does_not_hang() {
    let name = "who_still_uses_it_finds_no_drive_and_does_not_hang";
    let Some(mut mounted) = Mounted::new(Scripted::sound(), name) else { return };
    let file = mounted.open(0);
    let mut page = [0; 4096];
    file.read_exact_at(&mut page, 0).unwrap();
    let stopped = mounted.mount.take().unwrap().stop();
    assert_eq!(stopped.still_in_use, Some(mounted.file.clone()));
    assert_eq!(file.read_at(&mut page, 0).unwrap_err().kind(), ErrorKind::NotConnected);
    assert_eq!(std::fs::read_dir(mounted.folder.path()).unwrap().count(), 0);
}

#[test]
fn a_request_that_is_never_answered_does_not_hold_up_the_end() {
    let name = "a_request_that_is_never_answered_does_not_hold_up_the_end";
    let (say_arrived, arrived) = channel();
    let latency = Nanos::from_secs(1_000_000);
    let drive = Scripted { latency, arrivals: Some(say_arrived), ..Scripted::sound() };
    let Some(mut mounted) = Mounted::new(drive, name) else { return };
    let file = mounted.open(0);
    let reader = std::thread::spawn(move || errno(file.read_at(&mut [0; 4096], 0)));
    arrived.recv().expect("the read arrives");
    mounted.mount.take().unwrap().stop();
    assert_eq!(reader.join().unwrap(), Some(libc::ECONNABORTED));
}

/// What a child that was just forked holds: the kernel's end of a mounted drive.
#[allow(unsafe_code, reason = "a descriptor that the library keeps for itself is copied by its number")]
fn copy_of_the_kernels_end(file: &Path) -> Option<OwnedFd> {
    let connection = format!("fuse_connection:\t{}\n", libc::minor(std::fs::metadata(file).ok()?.dev()));
    for entry in std::fs::read_dir("/proc/self/fdinfo").ok()?.flatten() {
        let Ok(number) = entry.file_name().to_string_lossy().parse() else { continue };
        if std::fs::read_to_string(entry.path()).is_ok_and(|lines| lines.contains(&connection)) {
            // SAFETY: it is open, and stays so while the drive is mounted.
            return unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned().ok();
        }
    }
    None
}

/// Also while a child that was just forked holds a copy of all descriptors, and waits for the drive itself.
#[test]
fn a_drive_that_breaks_leaves_nothing_mounted() {
    let name = "a_drive_that_breaks_leaves_nothing_mounted";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    if !can_mount(name) {
        return;
    }
    let mut drive = Scripted::sound();
    drive.answer = |request| {
        assert!(request.offset_bytes < 32 << 20, "a drive with a flaw");
        None
    };
    let folder = tempfile::tempdir().unwrap();
    let options = MountOptions { loop_device: true, ..options(folder.path()) };
    let (say_ended, ended) = channel();
    let contents = Contents::new(drive.facts.capacity, &[], 1);
    let tell = move || say_ended.send(()).expect("the test listens");
    let mount = Mount::start(Box::new(drive), contents, &options, tell).unwrap();
    let _copy = copy_of_the_kernels_end(mount.file());
    let device = mount.loop_device().unwrap().to_owned();
    // Waits to be written to the drive, so that detaching has something to do.
    OpenOptions::new().write(true).open(&device).unwrap().write_all_at(&[1; 4096], 0).unwrap();
    let file = File::open(mount.file()).unwrap();
    let reader = std::thread::spawn(move || errno(file.read_at(&mut [0; 4096], 40 << 20)));
    ended.recv().expect("the end is told");
    assert!(mount.stop().lateness.is_none());
    assert_eq!(reader.join().unwrap(), Some(libc::ECONNABORTED));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let number = device.file_name().unwrap().to_str().unwrap();
    let backing = std::fs::read_to_string(format!("/sys/block/{number}/loop/backing_file"));
    assert!(!backing.unwrap_or_default().contains(folder.path().to_str().unwrap()));
}

#[test]
fn a_mount_does_not_go_over_another() {
    let Some(mounted) = Mounted::new(Scripted::sound(), "a_mount_does_not_go_over_another") else { return };
    let contents = Contents::new(Bytes::new(CAPACITY), &[], 1);
    let options = options(mounted.folder.path());
    let refused = Mount::start(Box::new(Scripted::sound()), contents, &options, || {});
    assert!(matches!(refused, Err(MountError::MountPoint(_))));
    drop(refused);
    assert_eq!(mounted.open(0).metadata().unwrap().len(), CAPACITY);
}

#[test]
fn the_answers_are_counted() {
    let drive = Scripted { latency: Nanos::from_millis(2), ..Scripted::sound() };
    let Some(mut mounted) = Mounted::new(drive, "the_answers_are_counted") else { return };
    let file = mounted.open(0);
    for _ in 0..5 {
        file.read_exact_at(&mut [0; 4096], 0).unwrap();
    }
    assert_eq!(mounted.mount.as_mut().unwrap().lateness().unwrap().histogram.count(), 5);
    drop(file);
    let lateness = mounted.mount.take().unwrap().stop().lateness.unwrap();
    assert_eq!(lateness.histogram.count(), 5);
    assert!(lateness.served >= Nanos::from_millis(10));
    assert!(lateness.processor_time < lateness.served);
}

/// Reads at random from a mounted drive, and why the phase ended.
fn end_of_reading(drive: Scripted, test: &str) -> Option<StopReason> {
    let mounted = Mounted::new(drive, test)?;
    let target = Target::open(&mounted.file).expect("the file opens");
    let options = EngineOptions { kind: EngineKind::Psync, ..EngineOptions::default() };
    let mut rig = Rig::for_reading(target, options).expect("a rig");
    // Of the last quarter only.
    let range =
        ByteRange::new(Offset::new(CAPACITY / 4 * 3), Bytes::new(CAPACITY / 4)).expect("within the drive");
    let workload =
        Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Read, Bytes::new(4096), 1);
    let phase = Phase {
        name: "read".into(),
        experiment: "test".into(),
        kind: PhaseKind::Measure,
        workload: Some(workload),
        stop: StopCondition { operations: Some(5000), ..StopCondition::default() },
    };
    Some(rig.run_phase(&phase, 0, 1, false, &mut Unobserved).expect("it runs").reason)
}

#[test]
fn a_drive_that_answers_nowhere_is_lost_and_one_that_answers_elsewhere_has_errors() {
    let name = "a_drive_that_answers_nowhere_is_lost_and_one_that_answers_elsewhere_has_errors";
    let mut dead = Scripted::sound();
    dead.answer = |_| Some(Status::MediumError);
    let mut half_dead = Scripted::sound();
    half_dead.answer = |request| (request.offset_bytes >= CAPACITY / 2).then_some(Status::MediumError);
    let Some(dead) = end_of_reading(dead, name) else { return };
    assert_eq!(dead, StopReason::DeviceGone);
    assert_eq!(end_of_reading(half_dead, name), Some(StopReason::Errors));
}
