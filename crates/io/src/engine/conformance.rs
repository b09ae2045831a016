//! One suite that holds the contract for all engines: order, a full queue, short reads, errors, flush, discard, a
//! drop with requests under way, and misalignment. Each test names the engine that broke it.

use crate::clock::{Clock, MonotonicClock, VirtualClock};
use crate::engine::null::NullEngine;
use crate::engine::psync::PsyncEngine;
use crate::engine::sim::SimEngine;
use crate::engine::uring::UringEngine;
use crate::engine::waiting::{RequestShape, SPIN_MAX, WaitingWays};
use crate::engine::{Engine, Full};
use model::request::{Completion, Operation, Request, Status, Tag};
use model::units::{Bytes, Instant, Nanos};
use model::workload::OperationMix;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;

const BLOCK: u32 = 4096;
const DEPTH: u32 = 4;
const FAR: Nanos = Nanos::from_secs(60);

fn read(tag: u32, block: u64) -> Request {
    Request {
        tag: Tag(tag),
        operation: Operation::Read,
        offset_bytes: block * u64::from(BLOCK),
        length_bytes: BLOCK,
    }
}

fn drain(engine: &mut dyn Engine, clock: &dyn Clock, count: usize) -> Vec<Completion> {
    let mut completions = Vec::new();
    while completions.len() < count {
        let before = completions.len();
        engine.reap(&mut completions, 1, clock.now() + FAR).expect("the engine works");
        assert!(completions.len() > before, "nothing came within a minute");
    }
    completions
}

/// What holds for every engine, whatever it does with the data.
fn holds_the_contract(name: &str, engine: &mut dyn Engine, clock: &dyn Clock) {
    assert_eq!(engine.depth(), DEPTH, "{name}");
    for tag in 0..DEPTH {
        assert_eq!(engine.queue(read(tag, u64::from(tag))), Ok(()), "{name}: tag {tag}");
    }
    let fifth = read(0, 9);
    assert_eq!(engine.queue(fifth), Err(Full(fifth)), "{name}: a full queue gives the request back");
    assert_eq!(engine.commit().unwrap(), DEPTH, "{name}");
    let completions = drain(engine, clock, DEPTH as usize);
    let tags: BTreeSet<u32> = completions.iter().map(|completion| completion.tag.0).collect();
    assert_eq!(tags.len(), DEPTH as usize, "{name}: each request is answered once");
    assert!(
        completions.iter().all(|completion| completion.status == Status::Done),
        "{name}: {completions:?}"
    );
    assert!(completions.iter().all(|completion| completion.transferred_bytes == BLOCK), "{name}");
    assert!(
        completions.is_sorted_by_key(|completion| completion.completed_ns),
        "{name}: in the order of time"
    );

    let mut nothing = Vec::new();
    engine.reap(&mut nothing, 0, Instant::START).unwrap();
    assert!(nothing.is_empty(), "{name}: no answer without a question");

    // Tags can be used again at once, in any order and number.
    for round in 0..50u64 {
        engine.queue(read(3, round)).unwrap();
        engine.queue(read(1, round + 1)).unwrap();
        engine.commit().unwrap();
        assert_eq!(drain(engine, clock, 2).len(), 2, "{name}");
    }
}

#[test]
fn what_several_threads_answer_comes_in_the_order_of_time() {
    let (clock, file) = (MonotonicClock::start(), numbered_file(64));
    let mut engine = PsyncEngine::open(file.as_raw_fd(), DEPTH, BLOCK as usize, clock).unwrap();
    let mut latest = 0;
    for round in 0..5_000 {
        for tag in 0..DEPTH {
            engine.queue(read(tag, (round + u64::from(tag)) % 64)).unwrap();
        }
        engine.commit().unwrap();
        for completion in drain(&mut engine, &clock, DEPTH as usize) {
            assert!(completion.completed_ns >= latest, "round {round}");
            latest = completion.completed_ns;
        }
    }
}

fn numbered_file(blocks: u8) -> File {
    let mut file = tempfile::tempfile().unwrap();
    (0..blocks).for_each(|block| file.write_all(&[block; BLOCK as usize]).unwrap());
    file.flush().unwrap();
    file
}

fn on_real_engines(file: &File, check: impl Fn(&str, &mut dyn Engine, &MonotonicClock)) {
    let clock = MonotonicClock::start();
    let descriptor = file.as_raw_fd();
    for depth in [1, DEPTH] {
        let mut psync = PsyncEngine::open(descriptor, depth, BLOCK as usize, clock).unwrap();
        check(&format!("psync, depth {depth}"), &mut psync, &clock);
        let mut uring = UringEngine::open(descriptor, depth, BLOCK as usize, false, clock).unwrap();
        check(&format!("uring, depth {depth}"), &mut uring, &clock);
    }
}

fn one(engine: &mut dyn Engine, clock: &MonotonicClock, request: Request) -> Completion {
    engine.queue(request).unwrap();
    engine.commit().unwrap();
    drain(engine, clock, 1)[0]
}

#[test]
fn all_engines_hold_the_contract() {
    let clock = MonotonicClock::start();
    holds_the_contract("null", &mut NullEngine::new(DEPTH, clock), &clock);
    let file = numbered_file(64);
    let descriptor = file.as_raw_fd();
    let mut psync = PsyncEngine::open(descriptor, DEPTH, BLOCK as usize, clock).unwrap();
    holds_the_contract("psync", &mut psync, &clock);
    let mut uring = UringEngine::open(descriptor, DEPTH, BLOCK as usize, false, clock).unwrap();
    holds_the_contract("uring", &mut uring, &clock);
    let virtual_clock = VirtualClock::default();
    let mut drive = sim::open("constant", 1).expect("a drive that ships");
    let mut engine = SimEngine::new(drive.as_mut(), virtual_clock.clone(), DEPTH);
    holds_the_contract("sim", &mut engine, &virtual_clock);
}

#[test]
fn a_read_brings_the_block_asked_for() {
    on_real_engines(&numbered_file(64), |name, engine, clock| {
        for block in [0u64, 63, 7] {
            let completion = one(engine, clock, read(0, block));
            assert_eq!(completion.status, Status::Done, "{name}");
            assert!(
                engine.buffer(Tag(0)).iter().all(|&byte| u64::from(byte) == block),
                "{name}: block {block}"
            );
        }
    });
}

#[test]
fn a_write_reaches_its_place_and_no_other() {
    let mut file = numbered_file(4);
    on_real_engines(&file, |name, engine, clock| {
        engine.buffer(Tag(0)).fill(0xaa);
        let completion = one(engine, clock, Request { operation: Operation::Write, ..read(0, 2) });
        assert_eq!((completion.status, completion.transferred_bytes), (Status::Done, BLOCK), "{name}");
        let flush = Request { operation: Operation::Flush, offset_bytes: 0, length_bytes: 0, tag: Tag(0) };
        assert_eq!(one(engine, clock, flush).status, Status::Done, "{name}: flush");
    });
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    let blocks: Vec<u8> = bytes.chunks(BLOCK as usize).map(|block| block[17]).collect();
    assert_eq!(blocks, [0, 1, 0xaa, 3]);
}

#[test]
fn a_read_across_the_end_is_short_and_one_past_it_too() {
    let mut file = numbered_file(2);
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(&[9; 100]).unwrap();
    on_real_engines(&file, |name, engine, clock| {
        let across = one(engine, clock, read(0, 2));
        assert_eq!((across.status, across.transferred_bytes), (Status::Short, 100), "{name}");
        let past = one(engine, clock, read(0, 5));
        assert_eq!((past.status, past.transferred_bytes), (Status::Short, 0), "{name}");
    });
}

#[test]
fn a_write_through_a_reading_descriptor_is_refused_by_the_kernel() {
    let named = tempfile::NamedTempFile::new().unwrap();
    named.as_file().set_len(1 << 20).unwrap();
    let file = File::open(named.path()).unwrap();
    on_real_engines(&file, |name, engine, clock| {
        for operation in [Operation::Write, Operation::Discard] {
            let completion = one(engine, clock, Request { operation, ..read(0, 0) });
            assert_eq!(completion.status, Status::Refused, "{name}: {operation:?}");
        }
    });
}

#[test]
fn a_discard_of_a_file_leaves_zeroes() {
    on_real_engines(&numbered_file(8), |name, engine, clock| {
        let discard = one(engine, clock, Request { operation: Operation::Discard, ..read(0, 3) });
        assert_eq!(discard.status, Status::Done, "{name}");
        one(engine, clock, read(0, 3));
        assert!(engine.buffer(Tag(0)).iter().all(|&byte| byte == 0), "{name}");
    });
}

#[test]
fn errors_of_the_device_are_completions() {
    let mut drive = sim::open("faulty", 1).expect("a drive that ships");
    let clock = VirtualClock::default();
    let mut engine = SimEngine::new(drive.as_mut(), clock.clone(), DEPTH);
    // The drive is made to fail in the 16 MiB from 300 GB on.
    engine.queue(Request { offset_bytes: 300_000_002_048, ..read(0, 0) }).unwrap();
    engine.commit().unwrap();
    assert_eq!(drain(&mut engine, &clock, 1)[0].status, Status::MediumError);
}

#[test]
fn dropping_an_engine_waits_for_what_is_under_way() {
    let file = numbered_file(64);
    on_real_engines(&file, |_, engine, _| {
        (0..engine.depth()).for_each(|tag| engine.queue(read(tag, 1)).unwrap());
        engine.commit().unwrap();
        // The engines are dropped by the caller with all of these unanswered.
    });
    // The descriptor and the memory are still sound.
    on_real_engines(&file, |name, engine, clock| {
        assert_eq!(one(engine, clock, read(0, 1)).status, Status::Done, "{name}");
    });
}

#[test]
fn time_passes_on_a_drive_that_answers_at_once() {
    let clock = VirtualClock::default();
    let mut drive = sim::open("null", 1).expect("a drive that ships");
    let mut engine = SimEngine::new(drive.as_mut(), clock.clone(), DEPTH);
    for _ in 0..2000 {
        engine.queue(read(0, 0)).unwrap();
        engine.commit().unwrap();
        let completion = drain(&mut engine, &clock, 1)[0];
        assert!(completion.completed_ns <= clock.now().get());
    }
    assert_eq!(clock.now(), Instant::new(1_000_000), "1 µs for each answer after the first thousand");
}

#[test]
fn a_wait_for_nothing_ends_at_its_deadline() {
    let clock = VirtualClock::default();
    let mut drive = sim::open("constant", 1).expect("a drive that ships");
    let mut engine = SimEngine::new(drive.as_mut(), clock.clone(), DEPTH);
    let mut nothing = Vec::new();
    engine.reap(&mut nothing, 1, Instant::new(5_000)).unwrap();
    assert_eq!((nothing.len(), clock.now()), (0, Instant::new(5_000)));
}

/// Reads of a pipe are answered when something is written to it.
fn spinning_ring(depth: u32, check: impl FnOnce(&mut UringEngine, File, &MonotonicClock)) -> Nanos {
    let (reader, writer) = std::io::pipe().unwrap();
    let shape = RequestShape { depth, largest: Bytes::new(u64::from(BLOCK)), mix: OperationMix::Read };
    let (ways, clock) = (WaitingWays::default(), MonotonicClock::start());
    let ring = UringEngine::open(reader.as_raw_fd(), depth, BLOCK as usize, false, clock).unwrap();
    let mut ring = ring.by_spinning(&ways, shape);
    let mut writer = File::from(std::os::fd::OwnedFd::from(writer));
    // What is answered at once makes the ring expect short waits, unless the machine held it up.
    while !ring.is_spinning() {
        writer.write_all(&[1; BLOCK as usize]).unwrap();
        ring.queue(read(0, 0)).unwrap();
        assert_eq!(reaped(&mut ring, 1), 1, "depth {depth}");
    }
    check(&mut ring, writer, &clock);
    drop(ring);
    ways.take_spun()
}

fn reaped(ring: &mut UringEngine, min: u32) -> usize {
    let mut completions = Vec::new();
    ring.reap(&mut completions, min, Instant::NEVER).unwrap();
    assert!(completions.iter().all(|completion| completion.status == Status::Done), "{completions:?}");
    completions.len()
}

#[test]
fn a_spinning_ring_takes_all_that_was_asked_for_and_sleeps_through_long_waits() {
    const LATE: Nanos = Nanos::new(500 * SPIN_MAX.get());
    for depth in [1, DEPTH] {
        let spun = spinning_ring(depth, |ring, mut writer, clock| {
            // The last of these comes long after it has gone to sleep, and after what a busy host may keep it from its processor while it spins.
            let late = clock.now() + LATE;
            let writing = std::thread::spawn({
                let clock = *clock;
                move || {
                    for _ in 1..depth {
                        writer.write_all(&[2; BLOCK as usize]).unwrap();
                    }
                    while clock.now() < late {
                        std::hint::spin_loop();
                    }
                    writer.write_all(&[3; BLOCK as usize]).unwrap();
                }
            });
            (0..depth).for_each(|tag| ring.queue(read(tag, 0)).unwrap());
            assert_eq!(reaped(ring, depth), depth as usize, "depth {depth}");
            assert!(clock.now() >= late);
            writing.join().unwrap();
        });
        assert!(spun > Nanos::ZERO, "depth {depth}");
        assert!(spun.get() < LATE.get() / 2, "depth {depth}: it slept through most: {spun:?}");
    }
}

#[test]
fn three_of_four_are_enough_where_three_were_asked_for() {
    let spun = spinning_ring(DEPTH, |ring, mut writer, _| {
        writer.write_all(&[2; 3 * BLOCK as usize]).unwrap();
        (0..DEPTH).for_each(|tag| ring.queue(read(tag, 0)).unwrap());
        assert_eq!(reaped(ring, 3), 3);
        writer.write_all(&[3; BLOCK as usize]).unwrap();
        assert_eq!(reaped(ring, 1), 1);
    });
    assert!(spun > Nanos::ZERO);
}
