//! The engines on real block devices: sectors of 512 and 4096 bytes, requests that do not fit them, ends, discards,
//! media that fail, and devices that are taken away.

mod loopdev;

use io::clock::{Clock, MonotonicClock};
use io::engine::Engine;
use io::engine::psync::PsyncEngine;
use io::engine::uring::UringEngine;
use loopdev::{Image, LoopDevice, alone_with_loop_devices, attempt};
use model::request::{Completion, Operation, Request, Status, Tag};
use model::units::Nanos;
use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

const MIB: u64 = 1 << 20;
const IMAGE_MIB: u64 = 16;
const SLOT_BYTES: usize = 64 << 10;
/// No answer for this long means that something hangs.
const FAR: Nanos = Nanos::from_secs(30);

fn attach(image: &Image, sector_bytes: u32) -> LoopDevice {
    LoopDevice::with_options(&image.path, &["--sector-size", &sector_bytes.to_string()])
}

fn open_direct(device: &LoopDevice) -> File {
    let mut options = File::options();
    options.read(true).write(true).custom_flags(libc::O_DIRECT);
    options.open(&device.path).expect("the loop device opens")
}

/// Runs a check on each engine, alone and with several requests under way.
fn on_engines(file: &File, check: impl Fn(&str, &mut dyn Engine, &MonotonicClock)) {
    let clock = MonotonicClock::start();
    for depth in [1, 4] {
        let mut uring = UringEngine::open(file.as_raw_fd(), depth, SLOT_BYTES, false, clock).expect("a ring");
        check(&format!("uring, depth {depth}"), &mut uring, &clock);
        let mut psync = PsyncEngine::open(file.as_raw_fd(), depth, SLOT_BYTES, clock).expect("threads");
        check(&format!("psync, depth {depth}"), &mut psync, &clock);
    }
}

fn request(operation: Operation, offset_bytes: u64, length_bytes: u32) -> Request {
    Request { tag: Tag(0), operation, offset_bytes, length_bytes }
}

fn collect(engine: &mut dyn Engine, clock: &MonotonicClock, count: usize) -> Vec<Completion> {
    let mut completions = Vec::new();
    let deadline = clock.now() + FAR;
    while completions.len() < count {
        engine.reap(&mut completions, 1, deadline).expect("the engine works");
        assert!(clock.now() < deadline, "{} of {count} requests were answered", completions.len());
    }
    completions
}

fn one(engine: &mut dyn Engine, clock: &MonotonicClock, request: Request) -> Completion {
    engine.queue(request).expect("there is room");
    engine.commit().expect("it is handed over");
    collect(engine, clock, 1)[0]
}

fn outcome(completion: Completion) -> (Status, u32) {
    (completion.status, completion.transferred_bytes)
}

#[test]
fn what_does_not_fit_the_sectors_is_answered_so() {
    let Some(_alone) = alone_with_loop_devices("what_does_not_fit_the_sectors_is_answered_so") else {
        return;
    };
    for sector in [512u32, 4096] {
        let image = Image::new(IMAGE_MIB);
        let device = attach(&image, sector);
        on_engines(&open_direct(&device), |name, engine, clock| {
            for operation in [Operation::Read, Operation::Write] {
                let mut answer =
                    |offset, length| outcome(one(engine, clock, request(operation, offset, length)));
                let misaligned = (Status::Misaligned, 0);
                assert_eq!(answer(u64::from(sector) / 2, sector), misaligned, "{name}, {sector}: offset");
                assert_eq!(answer(0, sector + sector / 2), misaligned, "{name}, {sector}: length");
                assert_eq!(answer(MIB + 1, 1), misaligned, "{name}, {sector}: both");
                assert_eq!(answer(u64::from(sector), sector), (Status::Done, sector), "{name}, {sector}");
                assert_eq!(answer(MIB, 3 * sector), (Status::Done, 3 * sector), "{name}, {sector}");
            }
        });
    }
}

#[test]
fn what_was_written_is_read_until_it_is_discarded() {
    let Some(_alone) = alone_with_loop_devices("what_was_written_is_read_until_it_is_discarded") else {
        return;
    };
    for sector in [512u32, 4096] {
        let image = Image::new(IMAGE_MIB);
        let device = attach(&image, sector);
        on_engines(&open_direct(&device), |name, engine, clock| {
            let length = 2 * sector;
            let at = |operation| request(operation, MIB, length);
            let data: Vec<u8> = (0..length).map(|index| (index * 7 + index / 256) as u8 | 1).collect();
            engine.buffer(Tag(0))[..length as usize].copy_from_slice(&data);
            assert_eq!(outcome(one(engine, clock, at(Operation::Write))), (Status::Done, length), "{name}");
            assert_eq!(
                one(engine, clock, request(Operation::Flush, 0, 0)).status,
                Status::Done,
                "{name}: flush"
            );
            engine.buffer(Tag(0)).fill(0xee);
            assert_eq!(outcome(one(engine, clock, at(Operation::Read))), (Status::Done, length), "{name}");
            assert_eq!(&engine.buffer(Tag(0))[..length as usize], &data, "{name}, {sector}");
            assert_eq!(engine.buffer(Tag(0))[length as usize], 0xee, "{name}: nothing beyond was touched");
            let discard = one(engine, clock, request(Operation::Discard, MIB, 4096.max(length)));
            assert_eq!(discard.status, Status::Done, "{name}: discard");
            one(engine, clock, at(Operation::Read));
            assert!(
                engine.buffer(Tag(0))[..length as usize].iter().all(|&byte| byte == 0),
                "{name}: discard"
            );
        });
    }
}

#[test]
fn a_device_ends_where_it_ends() {
    let Some(_alone) = alone_with_loop_devices("a_device_ends_where_it_ends") else { return };
    let image = Image::new(IMAGE_MIB);
    let device = attach(&image, 4096);
    let end = IMAGE_MIB * MIB;
    on_engines(&open_direct(&device), |name, engine, clock| {
        let mut answer = |operation, offset| outcome(one(engine, clock, request(operation, offset, 8192)));
        assert_eq!(answer(Operation::Read, end - 4096), (Status::Short, 4096), "{name}: across the end");
        assert_eq!(answer(Operation::Read, end), (Status::Short, 0), "{name}: at the end");
        assert_eq!(answer(Operation::Read, end + MIB), (Status::Short, 0), "{name}: past the end");
        assert_eq!(answer(Operation::Write, end), (Status::NoSpace, 0), "{name}: write at the end");
    });
}

#[test]
fn a_medium_that_is_not_there_any_more_is_an_error_of_the_medium() {
    let Some(_alone) =
        alone_with_loop_devices("a_medium_that_is_not_there_any_more_is_an_error_of_the_medium")
    else {
        return;
    };
    let image = Image::new(IMAGE_MIB);
    let device = attach(&image, 512);
    let file = open_direct(&device);
    File::options().write(true).open(&image.path).and_then(|file| file.set_len(MIB)).expect("it is cut");
    on_engines(&file, |name, engine, clock| {
        assert_eq!(one(engine, clock, request(Operation::Read, 0, 4096)).status, Status::Done, "{name}");
        let lost = one(engine, clock, request(Operation::Read, 8 * MIB, 4096));
        assert_eq!(outcome(lost), (Status::MediumError, 0), "{name}");
        assert_eq!(one(engine, clock, request(Operation::Read, 0, 4096)).status, Status::Done, "{name}");
    });
}

/// Linux keeps a loop device that somebody has open until it is closed, so its requests end well; what counts is
/// that each is answered.
#[test]
fn a_device_detached_under_requests_leaves_none_unanswered() {
    let Some(_alone) = alone_with_loop_devices("a_device_detached_under_requests_leaves_none_unanswered")
    else {
        return;
    };
    let image = Image::new(IMAGE_MIB);
    let clock = MonotonicClock::start();
    for is_uring in [true, false] {
        let device = attach(&image, 512);
        let file = open_direct(&device);
        let depth = 32;
        let mut engine: Box<dyn Engine> = if is_uring {
            Box::new(UringEngine::open(file.as_raw_fd(), depth, SLOT_BYTES, false, clock).expect("a ring"))
        } else {
            Box::new(PsyncEngine::open(file.as_raw_fd(), depth, SLOT_BYTES, clock).expect("threads"))
        };
        for round in 0..20u64 {
            for tag in 0..depth {
                let offset_bytes = (round * 32 + u64::from(tag)) % 256 * 65_536;
                let read = request(Operation::Read, offset_bytes, SLOT_BYTES as u32);
                engine.queue(Request { tag: Tag(tag), ..read }).expect("there is room");
            }
            engine.commit().expect("they are handed over");
            if round == 10 {
                assert!(attempt("losetup", &["--detach", device.text()]).status.success());
            }
            let answers = collect(engine.as_mut(), &clock, depth as usize);
            let tags: BTreeSet<u32> = answers.iter().map(|answer| answer.tag.0).collect();
            assert_eq!(tags.len(), depth as usize, "round {round}: each request is answered once");
            let expected = [Status::Done, Status::MediumError, Status::DeviceGone];
            assert!(answers.iter().all(|answer| expected.contains(&answer.status)), "{answers:?}");
        }
    }
}

/// A detached loop device has no sectors left: reads find its end, and nothing breaks.
#[test]
fn a_device_without_a_medium_is_read_without_harm() {
    let Some(_alone) = alone_with_loop_devices("a_device_without_a_medium_is_read_without_harm") else {
        return;
    };
    let image = Image::new(IMAGE_MIB);
    let device = attach(&image, 512);
    assert!(attempt("losetup", &["--detach", device.text()]).status.success());
    on_engines(&open_direct(&device), |name, engine, clock| {
        let answer = one(engine, clock, request(Operation::Read, 0, 4096));
        assert!(!answer.status.is_done() && answer.transferred_bytes == 0, "{name}: {answer:?}");
    });
}
