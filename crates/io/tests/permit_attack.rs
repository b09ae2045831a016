//! Attempts to make the tool write where it must not: each is a way that was open once, or that looked open.

mod loopdev;

use io::engine::choice::{EngineKind, EngineOptions};
use io::error::IoError;
use io::load::collect::{PhaseObserver, Unobserved, Verdict};
use io::rig::Rig;
use io::targets::{NeverWrite, ScratchFile, Target, WriteConsent, WritePermit};
use loopdev::{
    Image, LoopDevice, Mounted, alone, alone_with_loop_devices, has_program, make_ext4, mount_refusal, run,
};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord};
use model::units::{Bytes, Nanos, Offset};
use model::workload::{BlockSizes, OperationMix, Pattern, Workload, ZoneShare};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Consent to everything: only use can refuse.
fn everything(target: &Target) -> WriteConsent {
    WriteConsent { destroy_data: true, confirm: Some(target.confirmation().to_owned()) }
}

fn granted(path: &Path) -> (Target, WritePermit) {
    let target = Target::open(path).unwrap();
    let permit = WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap();
    (target, permit)
}

#[track_caller]
fn assert_names(why: &str, expected: &[&str]) {
    for text in expected {
        assert!(why.contains(text), "{why:?} does not name {text:?}");
    }
}

fn phase(workload: Workload, operations: u64) -> Phase {
    Phase {
        name: "attack".into(),
        experiment: "attack".into(),
        kind: PhaseKind::Measure,
        workload: Some(workload),
        stop: StopCondition { operations: Some(operations), ..StopCondition::default() },
    }
}

fn run_on(rig: &mut Rig, workload: Workload, operations: u64) -> Result<(), IoError> {
    rig.run_phase(&phase(workload, operations), 0, 1, false, &mut Unobserved).map(|_| ())
}

fn writes(range: ByteRange, pattern: Pattern, mix: OperationMix, block: u64) -> Workload {
    Workload::new(range, pattern, mix, Bytes::new(block), 4)
}

const ENGINES: [EngineOptions; 2] = [
    EngineOptions { kind: EngineKind::Uring, polled: false },
    EngineOptions { kind: EngineKind::Psync, polled: false },
];

/// The first and the last part of an image that is 0xee all over, outside `range`, must still be that.
#[track_caller]
fn assert_untouched_outside(path: &Path, range: ByteRange, what: &str) {
    let bytes = std::fs::read(path).unwrap();
    let (first, end) = (range.first().get() as usize, range.end().get() as usize);
    let changed = bytes.iter().enumerate().find(|(at, byte)| !(first..end).contains(at) && **byte != 0xee);
    assert_eq!(changed.map(|(at, _)| at), None, "{what}: a byte outside {first}..{end} was changed");
    assert!(bytes[first..end].iter().any(|byte| *byte != 0xee), "{what}: nothing was written");
}

#[test]
fn nothing_outside_the_range_is_written_by_any_pattern() {
    let name = "nothing_outside_the_range_is_written_by_any_pattern";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    let share = |share_of_range, share_of_requests| ZoneShare { share_of_range, share_of_requests };
    let patterns = [
        Pattern::Sequential,
        Pattern::RandomOnce,
        Pattern::RandomWithReplacement,
        Pattern::Strided { stride: Bytes::new(5 * 65_536) },
        Pattern::Zoned { zones: vec![share(0.5, 0.5), share(0.5, 0.5)] },
        // The last zone is smaller than a block.
        Pattern::Zoned { zones: vec![share(0.99, 0.5), share(0.01, 0.5)] },
        Pattern::Mixed { random_share: 0.5 },
        Pattern::Listed { offsets: vec![Offset::new(11 * 65_536), Offset::new(19 * 65_536)] },
    ];
    // Neither end is on the grid of the blocks.
    let range = ByteRange::new(Offset::new(10 * 65_536 + 512), Bytes::new(10 * 65_536)).unwrap();
    for options in ENGINES {
        for pattern in &patterns {
            for mix in
                [OperationMix::Write, OperationMix::ReadWrite { read_share: 0.3 }, OperationMix::Discard]
            {
                for alignment in [512, 65_536] {
                    let image = Image::new(2);
                    std::fs::write(&image.path, vec![0xee; 2 << 20]).unwrap();
                    let device = LoopDevice::over(&image.path);
                    let (target, permit) = granted(&device.path);
                    let mut rig = Rig::for_writing(target, permit, options).unwrap();
                    let mut workload = writes(range, pattern.clone(), mix, 65_536);
                    workload.alignment = Bytes::new(alignment);
                    if workload.validate(Bytes::new(2 << 20), Bytes::new(512)).is_err() {
                        continue;
                    }
                    let what = format!("{options:?} {pattern:?} {mix:?} aligned to {alignment}");
                    run_on(&mut rig, workload, 64).unwrap();
                    drop(rig);
                    drop(device);
                    assert_untouched_outside(&image.path, range, &what);
                }
            }
        }
    }
}

#[test]
fn mixed_sizes_stay_in_the_range() {
    let Some(_alone) = alone_with_loop_devices("mixed_sizes_stay_in_the_range") else { return };
    let range = ByteRange::new(Offset::new(300 * 512), Bytes::new(150 * 512)).unwrap();
    for pattern in [Pattern::Sequential, Pattern::RandomWithReplacement, Pattern::Mixed { random_share: 0.2 }]
    {
        let image = Image::new(1);
        std::fs::write(&image.path, vec![0xee; 1 << 20]).unwrap();
        let device = LoopDevice::over(&image.path);
        let (target, permit) = granted(&device.path);
        let mut rig = Rig::for_writing(target, permit, EngineOptions::default()).unwrap();
        let mut workload = writes(range, pattern.clone(), OperationMix::Write, 512);
        workload.block_sizes =
            BlockSizes::mix(vec![(Bytes::new(512), 1.0), (Bytes::new(1536), 1.0), (Bytes::new(65_536), 1.0)])
                .unwrap();
        run_on(&mut rig, workload, 500).unwrap();
        drop((rig, device));
        assert_untouched_outside(&image.path, range, &format!("{pattern:?}"));
    }
}

#[test]
fn a_reading_rig_neither_writes_nor_discards_nor_trims() {
    let Some(_alone) = alone_with_loop_devices("a_reading_rig_neither_writes_nor_discards_nor_trims") else {
        return;
    };
    let image = Image::new(2);
    std::fs::write(&image.path, vec![0xee; 2 << 20]).unwrap();
    let device = LoopDevice::over(&image.path);
    let before = image.checksum();
    let range = ByteRange::whole(Bytes::new(2 << 20));
    for options in ENGINES {
        let mut rig = Rig::for_reading(Target::open(&device.path).unwrap(), options).unwrap();
        for mix in [OperationMix::Write, OperationMix::Discard, OperationMix::ReadWrite { read_share: 1.0 }] {
            let workload = writes(range, Pattern::Sequential, mix, 4096);
            assert_names(&run_on(&mut rig, workload, 4).unwrap_err().to_string(), &["--write"]);
        }
    }
    assert_eq!(image.checksum(), before);
}

/// What the wall is made of: even a request that slipped through is refused by the kernel.
#[test]
fn the_kernel_refuses_every_change_through_the_reading_descriptor() {
    use io::clock::{Clock, MonotonicClock};
    use io::engine::{Engine, psync::PsyncEngine, uring::UringEngine};
    use model::request::{Operation, Request, Status, Tag};
    use model::units::Nanos;
    use std::os::fd::AsRawFd;
    let name = "the_kernel_refuses_every_change_through_the_reading_descriptor";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    let image = Image::new(2);
    std::fs::write(&image.path, vec![0xee; 2 << 20]).unwrap();
    let device = LoopDevice::over(&image.path);
    for path in [&device.path, &image.path] {
        let target = Target::open(path).unwrap();
        let before = image.checksum();
        let clock = MonotonicClock::start();
        let descriptor = target.descriptor().as_raw_fd();
        let engines: [Box<dyn Engine>; 3] = [
            Box::new(UringEngine::open(descriptor, 1, 4096, false, clock).unwrap()),
            Box::new(PsyncEngine::open(descriptor, 1, 4096, clock).unwrap()),
            Box::new(PsyncEngine::open(descriptor, 2, 4096, clock).unwrap()),
        ];
        for mut engine in engines {
            for operation in [Operation::Write, Operation::Discard] {
                let request = Request { tag: Tag(0), operation, offset_bytes: 4096, length_bytes: 4096 };
                assert!(engine.queue(request).is_ok());
                engine.commit().unwrap();
                let mut answers = Vec::new();
                engine.reap(&mut answers, 1, clock.now() + Nanos::from_secs(10)).unwrap();
                assert_ne!(answers[0].status, Status::Done, "{operation:?}");
            }
        }
        assert_eq!(image.checksum(), before);
    }
}

#[test]
fn a_permit_for_another_target_is_no_permit() {
    let Some(_alone) = alone_with_loop_devices("a_permit_for_another_target_is_no_permit") else { return };
    let (large, small) = (Image::new(4), Image::new(2));
    let (large_device, small_device) = (LoopDevice::over(&large.path), LoopDevice::over(&small.path));
    let target = Target::open(&small_device.path).unwrap();
    let (_, permit) = granted(&large_device.path);
    let why = Rig::for_writing(target, permit, EngineOptions::default()).err().expect("a rig was made");
    assert_names(&why.to_string(), &["will not write to", small_device.text(), "permit"]);
}

#[test]
fn a_loop_device_that_is_moved_along_its_file_is_another_drive() {
    let Some(_alone) = alone_with_loop_devices("a_loop_device_that_is_moved_along_its_file_is_another_drive")
    else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::with_options(&image.path, &["--offset", "1048576", "--sizelimit", "1048576"]);
    let move_to = |offset: &str| {
        let script = "import fcntl,os,struct,sys\n\
                      device = os.open(sys.argv[1], 0); info = bytearray(232)\n\
                      fcntl.ioctl(device, 0x4C05, info)\n\
                      struct.pack_into('<Q', info, 24, int(sys.argv[2]))\n\
                      fcntl.ioctl(device, 0x4C04, bytes(info))";
        run("python3", &["-c", script, device.text(), offset]);
    };
    let (target, permit) = granted(&device.path);
    permit.revalidate().unwrap();
    // Neither its number nor its size changes, but all that is written goes elsewhere.
    move_to("8388608");
    assert_names(&permit.revalidate().unwrap_err().to_string(), &["it was replaced meanwhile"]);
    drop((target, permit));

    let target = Target::open(&device.path).unwrap();
    move_to("1048576");
    let why =
        WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap_err().to_string();
    assert_names(&why, &["it was replaced meanwhile"]);
}

#[test]
fn a_link_that_is_turned_to_another_file_does_not_confirm_this_one() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().canonicalize().unwrap();
    let (meant, other, link) = (folder.join("meant"), folder.join("other"), folder.join("link"));
    for path in [&meant, &other] {
        std::fs::write(path, vec![0xee; 1 << 20]).unwrap();
    }
    std::os::unix::fs::symlink(&other, &link).unwrap();
    let target = Target::open(&link).unwrap();
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&meant, &link).unwrap();
    let confirm = Some(meant.to_str().unwrap().to_owned());
    let why =
        WritePermit::grant(&target, &WriteConsent { destroy_data: true, confirm }, &NeverWrite::default())
            .unwrap_err();
    assert_names(&why.to_string(), &["does not name it"]);
}

#[test]
fn a_file_with_holes_does_not_fill_its_file_system() {
    let Some(_alone) = alone_with_loop_devices("a_file_with_holes_does_not_fill_its_file_system") else {
        return;
    };
    let image = Image::new(64);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let mounted = Mounted::new(&device.path, "rw");
    let path = mounted.place().join("sparse");
    File::create(&path).unwrap().set_len(1 << 30).unwrap();
    let target = Target::open(&path).unwrap();
    let why =
        WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap_err().to_string();
    assert_names(&why, &["holes", "a tenth"]);

    let small = mounted.place().join("small");
    File::create(&small).unwrap().set_len(16 << 20).unwrap();
    let (_target, permit) = granted(&small);
    permit.revalidate().unwrap();
    // Another program takes the room that the holes need.
    let other = File::create(mounted.place().join("other")).unwrap();
    for offset in 0..32 {
        other.write_all_at(&vec![1; 1 << 20], offset << 20).unwrap();
    }
    other.sync_all().unwrap();
    assert_names(&permit.revalidate().unwrap_err().to_string(), &["holes", "a tenth"]);
}

#[test]
fn a_scratch_file_that_cannot_be_reserved_stops_at_a_tenth() {
    let name = "a_scratch_file_that_cannot_be_reserved_stops_at_a_tenth";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    let image = Image::new(64);
    let device = LoopDevice::over(&image.path);
    run("mkfs.ext4", &["-q", "-F", "-O", "^extent,^64bit", device.text()]);
    let mounted = Mounted::new(&device.path, "rw");
    let scratch = ScratchFile::create(mounted.place(), Bytes::from_mib(20)).unwrap();
    scratch.permit().revalidate().unwrap();
    let other = File::create(mounted.place().join("other")).unwrap();
    for offset in 0..30 {
        other.write_all_at(&vec![1; 1 << 20], offset << 20).unwrap();
    }
    other.sync_all().unwrap();
    assert_names(&scratch.permit().revalidate().unwrap_err().to_string(), &["a tenth"]);
}

#[test]
fn a_mapped_file_is_in_use_although_nobody_has_it_open() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    std::fs::write(&path, vec![0xee; 1 << 20]).unwrap();
    let mapped_by_another = || {
        // The mmap module keeps a descriptor of its own; the system call does not.
        let script = "import ctypes,os,sys\n\
                      f = os.open(sys.argv[1], os.O_RDWR); libc = ctypes.CDLL(None)\n\
                      libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]\n\
                      libc.mmap(None, 4096, 3, 1, f, 0); os.close(f)\n\
                      print('mapped', flush=True); sys.stdin.read()";
        let mut other = std::process::Command::new("python3")
            .args(["-c", script, path.to_str().unwrap()])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = std::io::BufReader::new(other.stdout.as_mut().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        other
    };
    let end = |mut other: std::process::Child| {
        drop(other.stdin.take());
        other.wait().unwrap();
    };
    let other = mapped_by_another();
    let target = Target::open(&path).unwrap();
    let refused = WritePermit::grant(&target, &everything(&target), &NeverWrite::default());
    end(other);
    refused.expect_err("it is mapped for writing");
    let permit = WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap();
    let other = mapped_by_another();
    let later = permit.revalidate();
    end(other);
    assert_names(&later.unwrap_err().to_string(), &["mapped", "(python3)"]);
}

#[test]
fn a_partition_added_under_a_permit_cannot_be_mounted() {
    let Some(_alone) = alone_with_loop_devices("a_partition_added_under_a_permit_cannot_be_mounted") else {
        return;
    };
    let image = Image::new(24);
    let mut device = LoopDevice::over(&image.path);
    device.partition("label: gpt\nsize=10MiB\n");
    make_ext4(&device.partition_path(1));
    run("partx", &["-d", device.text()]);
    let (_target, permit) = granted(&device.path);
    run("partx", &["-a", device.text()]);
    let output = loopdev::attempt("mount", &["-o", "ro", device.partition_path(1).to_str().unwrap(), "/mnt"]);
    assert!(!output.status.success(), "it was mounted");
    assert!(mount_refusal(&device).is_some());
    permit.revalidate().unwrap();
}

#[test]
fn file_systems_of_old_are_recognised_too() {
    let name = "file_systems_of_old_are_recognised_too";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    for program in ["mkfs.minix", "mkfs.bfs"] {
        if !has_program(name, program) {
            continue;
        }
        let image = Image::new(24);
        run(program, &[image.text()]);
        let device = LoopDevice::over(&image.path);
        let target = Target::open(&device.path).unwrap();
        let consent = WriteConsent { destroy_data: false, ..everything(&target) };
        let why = WritePermit::grant(&target, &consent, &NeverWrite::default()).map(drop);
        assert_names(&why.expect_err(program).to_string(), &["--destroy-data"]);
    }
}

/// Not everybody who uses a drive claims it. A loop device that is put on top of ours while a long phase writes ends
/// the phase, not only the next one.
#[test]
fn a_permit_that_lapses_ends_the_phase_that_writes() {
    let Some(_alone) = alone_with_loop_devices("a_permit_that_lapses_ends_the_phase_that_writes") else {
        return;
    };
    let image = Image::new(16);
    let device = LoopDevice::over(&image.path);
    let (target, permit) = granted(&device.path);
    let range = ByteRange::whole(target.facts().capacity);
    let mut rig = Rig::for_writing(target, permit, ENGINES[0]).unwrap();
    let workload = writes(range, Pattern::Sequential, OperationMix::Write, 4096);
    let mut phase = phase(workload, 1);
    phase.stop = StopCondition::after(Nanos::from_secs(60));
    let mut observer = LoopOnTop { device: &device, second: None };
    let error = rig.run_phase(&phase, 0, 1, false, &mut observer).expect_err("the permit has lapsed");
    let second = observer.second.expect("the phase went on for a slice");
    assert_names(&error.to_string(), &[second.text()]);
}

/// Puts a loop device on top of the target when the first slice of a phase is over.
struct LoopOnTop<'test> {
    device: &'test LoopDevice,
    second: Option<LoopDevice>,
}

impl PhaseObserver for LoopOnTop<'_> {
    fn interval(&mut self, _: &IntervalRecord) {
        self.second.get_or_insert_with(|| LoopDevice::over(&self.device.path));
    }
    fn histogram(&mut self, _: &HistogramRecord) {}
    fn error(&mut self, _: &ErrorRecord) {}
    fn trace(&mut self, _: &[IoRecord]) {}
    fn verdict(&mut self) -> Verdict {
        Verdict::GoOn
    }
}
