//! Volumes by hand, with faults, and in stacks of everything.

use super::*;
use crate::constant::ConstantDrive;
use crate::fault::{Fault, FaultyDrive, Wrap};
use crate::link::{LinkProfile, LinkedDrive};
use crate::profile::{open_zoned, plain_facts, preset};
use crate::volume::profile::MemberProfile;
use crate::zoned::ZonedProfile;
use model::prng::Prng;
use model::range::ByteRange;
use model::units::{Nanos, Offset};
use proptest::prelude::*;

const MEMBER_BYTES: u64 = 1 << 30;

fn profile(kind: VolumeKind, read_policy: ReadPolicy) -> VolumeProfile {
    let members = vec![MemberProfile { profile: "constant".into(), count: 2 }];
    VolumeProfile {
        kind,
        chunk_kib: (kind == VolumeKind::Stripe).then_some(64),
        read_policy: (kind == VolumeKind::Mirror).then_some(read_policy),
        members,
    }
}

fn constant(latency_ns: u64) -> Box<dyn Drive + Send> {
    Box::new(ConstantDrive::new(plain_facts("sim:test", Bytes::new(MEMBER_BYTES)), Nanos::new(latency_ns), 1))
}

fn faulty(fault: Fault) -> Box<dyn Drive + Send> {
    Box::new(FaultyDrive::new(constant(100), vec![fault]))
}

fn unreadable(first: u64, bytes: u64) -> Box<dyn Drive + Send> {
    faulty(Fault::Unreadable(ByteRange::new(Offset::new(first), Bytes::new(bytes)).unwrap()))
}

fn volume(kind: VolumeKind, policy: ReadPolicy, members: Vec<Box<dyn Drive + Send>>) -> VolumeDrive {
    VolumeDrive::new(plain_facts("sim:volume", Bytes::new(1)), &profile(kind, policy), members)
}

/// One request at the time of the answer before: status, bytes, end.
fn ask(
    drive: &mut VolumeDrive,
    now: &mut u64,
    operation: Operation,
    offset_bytes: u64,
    length_bytes: u32,
) -> (Status, u32, u64) {
    drive.submit(Request { tag: Tag(0), operation, offset_bytes, length_bytes }, Instant::new(*now));
    loop {
        *now = drive.next_completion_at().unwrap().get().max(*now);
        if let Some(completion) = drive.take_completion(Instant::new(*now)) {
            return (completion.status, completion.transferred_bytes, completion.completed_ns);
        }
    }
}

#[test]
fn a_stripe_is_done_with_its_last_part() {
    let mut drive = volume(VolumeKind::Stripe, ReadPolicy::First, vec![constant(100), constant(300)]);
    assert_eq!(drive.facts().capacity, Bytes::new(2 * MEMBER_BYTES));
    let mut now = 0;
    assert_eq!(ask(&mut drive, &mut now, Operation::Read, 0, 65_536), (Status::Done, 65_536, 100));
    assert_eq!(ask(&mut drive, &mut now, Operation::Read, 65_536, 65_536), (Status::Done, 65_536, 400));
    assert_eq!(ask(&mut drive, &mut now, Operation::Write, 0, 1 << 20), (Status::Done, 1 << 20, 700));
    assert_eq!(ask(&mut drive, &mut now, Operation::Flush, 0, 0), (Status::Done, 0, 1000));
    let past = ask(&mut drive, &mut now, Operation::Read, 2 * MEMBER_BYTES - 4096, 8192);
    assert_eq!(past, (Status::Short, 4096, 1300));
    let past = ask(&mut drive, &mut now, Operation::Write, 2 * MEMBER_BYTES, 4096);
    assert_eq!(past, (Status::NoSpace, 0, 1300));
}

#[test]
fn a_stripe_does_not_survive_a_bad_sector() {
    let members = vec![constant(100), unreadable(65_536 + 512, 512)];
    let mut drive = volume(VolumeKind::Stripe, ReadPolicy::First, members);
    // The second chunk of the second drive is the fourth of the volume.
    let answer = ask(&mut drive, &mut 0, Operation::Read, 0, 6 * 65_536);
    assert_eq!(answer, (Status::MediumError, 3 * 65_536 + 512, 100));
    let answer = ask(&mut drive, &mut 100, Operation::Read, 0, 3 * 65_536);
    assert_eq!(answer, (Status::Done, 3 * 65_536, 200));
}

#[test]
fn a_mirror_reads_a_bad_sector_from_the_other_drive() {
    let members = vec![unreadable(0, 512), constant(100)];
    let mut drive = volume(VolumeKind::Mirror, ReadPolicy::First, members);
    assert_eq!(drive.facts().capacity, Bytes::new(MEMBER_BYTES));
    let mut now = 0;
    assert_eq!(ask(&mut drive, &mut now, Operation::Read, 0, 4096), (Status::Done, 4096, 200));
    assert_eq!(ask(&mut drive, &mut now, Operation::Read, 4096, 4096), (Status::Done, 4096, 300));
    // Bad on both: nobody has it.
    let members = vec![unreadable(0, 512), unreadable(256, 512)];
    let mut drive = volume(VolumeKind::Mirror, ReadPolicy::First, members);
    assert_eq!(ask(&mut drive, &mut 0, Operation::Read, 0, 4096), (Status::MediumError, 256, 200));
}

#[test]
fn a_mirror_does_without_a_drive_that_is_gone() {
    let members = vec![faulty(Fault::GoneAfter(1)), constant(300)];
    let mut drive = volume(VolumeKind::Mirror, ReadPolicy::First, members);
    let mut now = 0;
    assert_eq!(ask(&mut drive, &mut now, Operation::Write, 0, 4096), (Status::Done, 4096, 300));
    assert_eq!(ask(&mut drive, &mut now, Operation::Write, 0, 4096), (Status::Done, 4096, 600));
    assert_eq!(ask(&mut drive, &mut now, Operation::Read, 0, 4096), (Status::Done, 4096, 900));
    let gone = || faulty(Fault::GoneAfter(0));
    let mut drive = volume(VolumeKind::Mirror, ReadPolicy::First, vec![gone(), gone()]);
    assert_eq!(ask(&mut drive, &mut 0, Operation::Read, 0, 4096), (Status::DeviceGone, 0, 0));
    assert_eq!(ask(&mut drive, &mut 0, Operation::Write, 0, 4096), (Status::DeviceGone, 0, 0));
}

/// Four reads at once on two drives of 100 ns.
#[test]
fn reads_of_a_mirror_go_where_the_policy_says() {
    for (policy, expected) in [
        (ReadPolicy::First, [100, 200, 300, 400]),
        (ReadPolicy::RoundRobin, [100, 100, 200, 200]),
        (ReadPolicy::Nearest, [100, 100, 200, 200]),
    ] {
        let mut drive = volume(VolumeKind::Mirror, policy, vec![constant(100), constant(100)]);
        for tag in 0..4 {
            let offset_bytes = u64::from(tag) * 1_000_000 + 4096;
            let operation = Operation::Read;
            drive.submit(
                Request { tag: Tag(tag), operation, offset_bytes, length_bytes: 512 },
                Instant::START,
            );
        }
        let ends: Vec<u64> = std::iter::from_fn(|| drive.take_completion(Instant::new(1000)))
            .map(|completion| completion.completed_ns)
            .collect();
        assert_eq!(ends, expected, "{policy:?}");
    }
}

#[test]
fn the_nearest_drive_is_the_one_that_was_there() {
    // Drive 1 is slow, which shows who answered.
    let members = vec![constant(100), constant(300)];
    let mut drive = volume(VolumeKind::Mirror, ReadPolicy::Nearest, members);
    let submit = |drive: &mut VolumeDrive, tag, offset_bytes, now| {
        let operation = Operation::Read;
        drive.submit(
            Request { tag: Tag(tag), operation, offset_bytes, length_bytes: 4096 },
            Instant::new(now),
        );
    };
    // While drive 0 is at its start, a far read goes to drive 1, and from there on one stays with the other.
    submit(&mut drive, 0, 0, 0);
    submit(&mut drive, 1, 500_000_000, 0);
    submit(&mut drive, 2, 500_004_096, 1000);
    submit(&mut drive, 3, 4096, 1000);
    submit(&mut drive, 4, 400_000_000, 2000);
    let mut ends: Vec<(u32, u64)> = std::iter::from_fn(|| drive.take_completion(Instant::new(9000)))
        .map(|completion| (completion.tag.0, completion.completed_ns))
        .collect();
    ends.sort_unstable();
    assert_eq!(ends, [(0, 100), (1, 300), (2, 1300), (3, 1100), (4, 2300)]);
}

fn shipped_disk() -> ZonedProfile {
    preset("zoned").unwrap().zoned.unwrap()
}

/// Three disks of 64 KiB chunks read three times as fast as one, in order.
#[test]
fn a_stripe_of_disks_reads_as_fast_as_all_of_them() {
    let disk = ZonedProfile { transfer_jitter: 0.0, ..shipped_disk() };
    let outer = disk.zones[0].bytes_per_second;
    let members = (0..3).map(|seed| Box::new(open_zoned(disk.clone(), seed)) as Box<dyn Drive + Send>);
    let profile = profile(VolumeKind::Stripe, ReadPolicy::First);
    let mut drive = VolumeDrive::new(plain_facts("sim:test", Bytes::new(1)), &profile, members.collect());
    let (mut now, mut issued) = (Instant::START, 0u64);
    let mut submit = |drive: &mut VolumeDrive, tag: u32, now| {
        let (operation, offset_bytes) = (Operation::Read, issued << 20);
        issued += 1;
        drive.submit(Request { tag: Tag(tag), operation, offset_bytes, length_bytes: 1 << 20 }, now);
    };
    (0..4).for_each(|tag| submit(&mut drive, tag, now));
    let mut done = 0u64;
    while done < 2000 {
        now = drive.next_completion_at().unwrap().max(now);
        while let Some(completion) = drive.take_completion(now) {
            done += 1;
            submit(&mut drive, completion.tag.0, now);
        }
    }
    let rate = (done << 20) as f64 / now.since(Instant::START).seconds();
    let error = rate / profile.sequential_rate(&[outer; 3]) - 1.0;
    assert!(error.abs() < 0.005, "{rate}: {error}");
}

/// What a stack is made of: the volume, the links inside and outside, the faults, how many drives, and whether there
/// is anything around the volume.
type Stack = (VolumeKind, ReadPolicy, [LinkProfile; 2], Vec<Fault>, u32, bool);

fn any_stack() -> impl Strategy<Value = Stack> {
    let kind =
        prop_oneof![Just(VolumeKind::Stripe), Just(VolumeKind::Mirror), Just(VolumeKind::Concatenation)];
    let policy =
        prop_oneof![Just(ReadPolicy::First), Just(ReadPolicy::Nearest), Just(ReadPolicy::RoundRobin)];
    let link = || {
        (10.0..1000.0, 0.0..50.0, 0.0..50.0, 1u32..9, 16u32..600).prop_map(
            |(rate, overhead, latency, depth, transfer_kib)| LinkProfile {
                rate_mb_per_s: Some(rate),
                command_overhead_us: Some(overhead),
                command_latency_us: Some(latency),
                queue_depth_max: Some(depth),
                transfer_kib_max: Some(transfer_kib),
                ..LinkProfile::default()
            },
        )
    };
    let range = (0u64..400, 1u64..200).prop_map(|(first, bytes)| {
        ByteRange::new(Offset::new(first * 1_000_000_000), Bytes::new(bytes * 1_000_000_000)).unwrap()
    });
    let fault = prop_oneof![
        range.clone().prop_map(Fault::Unreadable),
        (range.clone(), 0u64..9)
            .prop_map(|(range, ms)| Fault::Slow { range, longer: Nanos::new(ms * 1_000_000) }),
        range.prop_map(|range| Fault::TimesOut { range, after: Nanos::new(50_000_000) }),
        (0u64..20).prop_map(|every| Fault::ShortReads { every }),
        (0u64..900, 1u64..40).prop_map(|(at, ms)| Fault::Stalls {
            at: Instant::new(at * 1_000_000),
            duration: Nanos::new(ms * 1_000_000),
            every: Nanos::new(60_000_000),
        }),
        (0u64..150).prop_map(Fault::GoneAfter),
        (1u64..400).prop_map(|blocks| Fault::Wraps(Wrap { real_bytes: blocks << 30, spared_bytes: 0 })),
    ];
    (kind, policy, [link(), link()], proptest::collection::vec(fault, 0..3), 2u32..4, any::<bool>())
}

/// Faults around a link to a volume of links to disks, of which the first has faults too.
fn stack((kind, policy, links, faults, members, around): &Stack) -> Box<dyn Drive + Send> {
    let member = |index: u32| -> Box<dyn Drive + Send> {
        let disk: Box<dyn Drive + Send> =
            if index == 2 { constant(70_000) } else { Box::new(open_zoned(shipped_disk(), 7)) };
        let linked = Box::new(LinkedDrive::new(disk, &links[0]));
        if index == 0 { Box::new(FaultyDrive::new(linked, faults.clone())) } else { linked }
    };
    let volume = volume(*kind, *policy, (0..*members).map(member).collect());
    if !around {
        return Box::new(volume);
    }
    Box::new(FaultyDrive::new(Box::new(LinkedDrive::new(Box::new(volume), &links[1])), faults.clone()))
}

const REQUESTS: u32 = 80;

/// The same requests at the same times; `looks` times in between, or only when nothing more comes.
fn run(drive: &mut dyn Drive, seed: u64, looks: u64) -> Vec<Completion> {
    let (mut prng, mut looking) = (Prng::new(seed, 0), Prng::new(looks, 1));
    let (mut now, mut answers, mut next_byte) = (0u64, Vec::new(), 0);
    let capacity = drive.facts().capacity.get();
    for tag in 0..REQUESTS {
        let operation = Operation::ALL[prng.below(4) as usize];
        let length_bytes = 512 * (1 + prng.below(1500) as u32);
        // Now and then past the end, and often where the last one ended.
        let offset_bytes = if prng.below(3) == 0 { next_byte } else { prng.below(capacity / 512 + 9) * 512 };
        next_byte = offset_bytes + u64::from(length_bytes);
        drive.submit(Request { tag: Tag(tag), operation, offset_bytes, length_bytes }, Instant::new(now));
        let next = now + prng.below(9_000_000);
        if looks > 0 {
            while let Some(at) = drive.next_completion_at().filter(|at| at.get() <= next) {
                now = now.max(at.get());
                answers.extend(drive.take_completion(Instant::new(now)));
            }
            now += looking.below(next - now + 1);
            answers.extend(drive.take_completion(Instant::new(now)));
        }
        now = next;
    }
    while answers.len() < REQUESTS as usize {
        now = now.max(drive.next_completion_at().expect("not all is answered").get());
        answers.extend(drive.take_completion(Instant::new(now)));
    }
    assert_eq!(drive.next_completion_at(), None);
    answers
}

proptest! {
    /// Through any stack: once each, no time backwards, no more than asked for, and the same however often
    /// somebody looks in between.
    #[test]
    fn every_stack_answers_once_in_order_whoever_looks(stacked in any_stack(), seed in any::<u64>()) {
        let seldom = run(&mut *stack(&stacked), seed, 0);
        let often = run(&mut *stack(&stacked), seed, 1 + seed % 7);
        prop_assert!(often.windows(2).all(|pair| pair[0].completed_ns <= pair[1].completed_ns));
        let mut tags: Vec<u32> = seldom.iter().map(|completion| completion.tag.0).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, (0..REQUESTS).collect::<Vec<_>>());
        prop_assert!(seldom.iter().all(|completion| completion.transferred_bytes <= 1500 * 512));
        prop_assert_eq!(seldom, often);
    }
}
