//! The link against its standards' numbers, a published measurement, and time itself.

use super::*;
use crate::constant::ConstantDrive;
use crate::fault::{Fault, FaultyDrive};
use crate::link::profile::LinkKind;
use crate::profile::plain_facts;
use model::prng::Prng;
use model::range::ByteRange;
use model::units::{Bytes, Nanos, Offset};
use proptest::prelude::*;

fn constant(latency_ns: u64, servers: usize) -> Box<dyn Drive + Send> {
    Box::new(ConstantDrive::new(plain_facts("sim:test", Bytes::from_gib(1)), Nanos::new(latency_ns), servers))
}

fn request(tag: u32, operation: Operation, offset_bytes: u64, length_bytes: u32) -> Request {
    Request { tag: Tag(tag), operation, offset_bytes, length_bytes }
}

/// 100 MB/s and 10 µs for a command.
fn plain() -> LinkProfile {
    LinkProfile { rate_mb_per_s: Some(100.0), command_overhead_us: Some(10.0), ..LinkProfile::default() }
}

fn drain(drive: &mut LinkedDrive) -> Vec<(u32, u64)> {
    std::iter::from_fn(|| {
        loop {
            let at = drive.next_completion_at()?;
            if let Some(completion) = drive.take_completion(at) {
                return Some((completion.tag.0, completion.completed_ns));
            }
        }
    })
    .collect()
}

/// Bytes per second of `count` requests one after the other at `depth`.
fn rate(drive: &mut LinkedDrive, operation: Operation, length_bytes: u32, depth: u32, count: u64) -> f64 {
    let capacity = drive.facts().capacity.get();
    let place = |index: u64| index * u64::from(length_bytes) % (capacity - u64::from(length_bytes));
    let (mut now, mut issued, mut done) = (Instant::START, u64::from(depth), 0);
    (0..depth).for_each(|tag| {
        drive.submit(request(tag, operation, place(u64::from(tag)), length_bytes), now);
    });
    while done < count {
        now = drive.next_completion_at().unwrap().max(now);
        while let Some(completion) = drive.take_completion(now) {
            assert_eq!(completion.status, Status::Done);
            (done, issued) = (done + 1, issued + 1);
            drive.submit(request(completion.tag.0, operation, place(issued), length_bytes), now);
        }
    }
    (done * u64::from(length_bytes)) as f64 / now.since(Instant::START).seconds()
}

#[test]
fn a_read_crosses_while_the_medium_delivers() {
    // 1 MB needs 10 ms to cross. A drive that is ready after 1 ms waits for it, one that needs 20 ms does not.
    for (latency_ns, expected) in [(1_000_000, 10_010_000), (20_000_000, 20_010_000)] {
        let mut drive = LinkedDrive::new(constant(latency_ns, 1), &plain());
        drive.submit(request(0, Operation::Read, 0, 1_000_000), Instant::START);
        assert_eq!(drain(&mut drive), [(0, expected)]);
    }
}

#[test]
fn a_write_crosses_before_the_medium_sees_it() {
    let mut drive = LinkedDrive::new(constant(1_000_000, 1), &plain());
    drive.submit(request(0, Operation::Write, 0, 1_000_000), Instant::START);
    drive.submit(request(1, Operation::Flush, 0, 0), Instant::START);
    // 10 µs + 10 ms + 1 ms; the flush gets there 10 µs later and is served after the write.
    assert_eq!(drain(&mut drive), [(0, 11_010_000), (1, 12_010_000)]);
}

/// A drive that does nothing before somebody looks: only then it says when it will be ready, which is as many
/// nanoseconds after the request as its offset.
struct Lazy {
    facts: TargetFacts,
    waiting: VecDeque<(Request, u64)>,
    looked: bool,
}

impl Drive for Lazy {
    fn submit(&mut self, request: Request, now: Instant) {
        self.waiting.push_back((request, now.get()));
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        let (request, since) = self.waiting.front()?;
        Some(Instant::new(since + if self.looked { request.offset_bytes } else { 0 }))
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        let (request, since) = *self.waiting.front()?;
        self.looked = since + request.offset_bytes > now.get();
        if self.looked {
            return None;
        }
        self.waiting.pop_front();
        let completed_ns = since + request.offset_bytes;
        let (status, transferred_bytes) = (Status::Done, request.length_bytes);
        Some(Completion { tag: request.tag, status, transferred_bytes, completed_ns })
    }

    fn facts(&self) -> &TargetFacts {
        &self.facts
    }
}

/// The drive hears of the last write before the host hears of anything: it is asked about a time that is yet to come.
#[test]
fn a_drive_that_was_asked_ahead_answers_in_the_order_of_time() {
    let facts = plain_facts("sim:test", Bytes::from_gib(1));
    let lazy = Lazy { facts, waiting: VecDeque::new(), looked: false };
    let profile = LinkProfile { duplex: Some(Duplex::Full), ..plain() };
    let mut drive = LinkedDrive::new(Box::new(lazy), &profile);
    drive.submit(request(0, Operation::Read, 0, 500_000), Instant::START);
    drive.submit(request(1, Operation::Write, 8_000_000, 512), Instant::START);
    drive.submit(request(2, Operation::Write, 0, 1_000_000), Instant::START);
    // 10 µs and 5 ms to cross; there at 25.12 µs and 8 ms on; there at 10.03512 ms.
    assert_eq!(drain(&mut drive), [(0, 5_010_000), (1, 8_025_120), (2, 10_035_120)]);
}

#[test]
fn what_is_more_than_the_queue_holds_waits_at_the_host_in_order() {
    let profile = LinkProfile { queue_depth_max: Some(2), ..plain() };
    let mut drive = LinkedDrive::new(constant(1_000_000, 8), &profile);
    (0..5).for_each(|tag| drive.submit(request(tag, Operation::Flush, 0, 0), Instant::START));
    let expected = [(0, 1_010_000), (1, 1_020_000), (2, 2_020_000), (3, 2_030_000), (4, 3_030_000)];
    assert_eq!(drain(&mut drive), expected);
}

#[test]
fn a_large_request_is_several_commands() {
    let profile = LinkProfile { queue_depth_max: Some(1), transfer_kib_max: Some(100), ..plain() };
    let mut drive = LinkedDrive::new(constant(0, 1), &profile);
    drive.submit(request(7, Operation::Read, 0, 250 << 10), Instant::START);
    // 256,000 bytes are 2.56 ms, and three commands 30 µs.
    assert_eq!(drain(&mut drive), [(7, 2_590_000)]);
}

#[test]
fn a_request_past_the_end_moves_what_is_before_it() {
    let profile = LinkProfile { transfer_kib_max: Some(4), ..plain() };
    let mut drive = LinkedDrive::new(constant(0, 1), &profile);
    let capacity = 1 << 30;
    drive.submit(request(0, Operation::Read, capacity - 6144, 16_384), Instant::START);
    let at = Instant::new(1_000_000_000);
    let completion = drive.take_completion(at).unwrap();
    assert_eq!((completion.status, completion.transferred_bytes), (Status::Short, 6144));
}

/// bonnie++ 1.03e over USB 2.0: 33386 KiB/s of block reads, 20599 KiB/s of block writes, on the outer half of a disk.
#[test]
fn usb_2_reads_and_writes_as_measured() {
    let profile = LinkProfile::of(LinkKind::Usb2BulkOnly);
    let measure = |operation| {
        rate(&mut LinkedDrive::new(constant(0, 1), &profile), operation, 120 << 10, 4, 1000) / 1024.0
    };
    let (read, write) = (measure(Operation::Read), measure(Operation::Write));
    assert!((read / 33_386.0 - 1.0).abs() < 0.001, "{read} KiB/s");
    assert!((write / 20_599.0 - 1.0).abs() < 0.025, "{write} KiB/s");
}

#[test]
fn the_link_says_what_it_is() {
    let link =
        |profile: &LinkProfile| LinkedDrive::new(constant(0, 1), profile).facts().link.clone().unwrap();
    let sata = link(&LinkProfile::of(LinkKind::Sata300));
    assert_eq!((sata.name.as_str(), sata.bytes_per_second_max), ("SATA 3.0 Gbit/s", Some(300e6)));
    let nvme = LinkProfile { pcie_generation: Some(4), ..LinkProfile::of(LinkKind::Nvme) };
    let nvme = link(&nvme);
    assert_eq!(nvme.name, "PCIe 4.0 x4");
    assert_eq!(nvme.bytes_per_second_max.unwrap().round(), 7_876_923_077.0);
    let usb = link(&LinkProfile::of(LinkKind::Usb32AttachedScsi));
    assert_eq!(usb.bytes_per_second_max.unwrap().round(), 1_212_121_212.0);
}

/// The closed form against the drive, for every kind, both ways, small and large, alone and together.
#[test]
fn the_rate_is_what_the_profile_says() {
    let kinds = [
        LinkKind::Usb2BulkOnly,
        LinkKind::Usb3BulkOnly,
        LinkKind::Usb3AttachedScsi,
        LinkKind::Usb32AttachedScsi,
        LinkKind::Sata150,
        LinkKind::Sata300,
        LinkKind::Sata600,
        LinkKind::Sas12,
        LinkKind::Nvme,
    ];
    for kind in kinds {
        let profile = LinkProfile::of(kind);
        let numbers = profile.numbers().unwrap();
        for (operation, length_bytes, depth) in [
            (Operation::Read, 4096, 1),
            (Operation::Read, 4096, 64),
            (Operation::Read, 1 << 20, 1),
            (Operation::Read, 1 << 20, 8),
            (Operation::Write, 4096, 1),
            (Operation::Write, 4096, 64),
            (Operation::Write, 1 << 20, 4),
        ] {
            let expected = numbers.bytes_per_second(operation, length_bytes, depth);
            let mut drive = LinkedDrive::new(constant(0, 1), &profile);
            let measured = rate(&mut drive, operation, length_bytes, depth, 4000);
            let error = measured / expected - 1.0;
            assert!(error.abs() < 0.01, "{kind:?} {operation:?} {length_bytes} {depth}: {error}");
        }
    }
}

#[test]
fn published_limits_of_a_link() {
    let sata = LinkProfile::of(LinkKind::Sata600).numbers().unwrap();
    let megabytes = sata.bytes_per_second(Operation::Read, 1 << 20, 32) / 1e6;
    assert!((555.0..562.0).contains(&megabytes), "drives are sold with 560 MB/s: {megabytes}");
    let iops = sata.bytes_per_second(Operation::Read, 4096, 32) / 4096.0;
    assert!((98_000.0..102_000.0).contains(&iops), "drives are sold with 100,000 IOPS: {iops}");
    let alone = LinkProfile { native_command_queueing: Some(false), ..LinkProfile::of(LinkKind::Sata600) };
    assert_eq!(alone.numbers().unwrap().queue_depth_max, 1);
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    let nan = LinkProfile { rate_mb_per_s: Some(f64::NAN), ..plain() };
    let zero = LinkProfile { rate_mb_per_s: Some(0.0), ..plain() };
    let depth = LinkProfile { queue_depth_max: Some(0), ..plain() };
    let lanes = LinkProfile { pcie_lanes: Some(3), ..LinkProfile::of(LinkKind::Nvme) };
    let not_pcie = LinkProfile { pcie_lanes: Some(4), ..LinkProfile::of(LinkKind::Sata300) };
    let late = LinkProfile { command_latency_us: Some(f64::INFINITY), ..plain() };
    let flaws: Vec<String> = [nan, zero, depth, lanes, not_pcie, late, LinkProfile::default()]
        .iter()
        .map(|profile| profile.numbers().unwrap_err().key)
        .collect();
    let expected = [
        "rate_mb_per_s",
        "rate_mb_per_s",
        "queue_depth_max",
        "pcie_lanes",
        "pcie_lanes",
        "command_latency_us",
        "rate_mb_per_s",
    ];
    assert_eq!(flaws, expected);
}

#[test]
fn the_section_reads_as_documented() {
    let profile: LinkProfile =
        toml::from_str("kind = \"nvme\"\npcie_generation = 4\npcie_lanes = 2\nduplex = \"half\"").unwrap();
    let numbers = profile.numbers().unwrap();
    assert_eq!((numbers.duplex, numbers.queue_depth_max), (Duplex::Half, 65_535));
    assert!(toml::from_str::<LinkProfile>("rate = 3").is_err());
}

fn any_link() -> impl Strategy<Value = LinkProfile> {
    (1.0..2000.0, 0.0..100.0, 0.0..100.0, 1u32..20, any::<bool>(), 4u32..600).prop_map(
        |(rate, overhead, latency, depth, full, transfer_kib)| LinkProfile {
            rate_mb_per_s: Some(rate),
            command_overhead_us: Some(overhead),
            command_latency_us: Some(latency),
            queue_depth_max: Some(depth),
            duplex: Some(if full { Duplex::Full } else { Duplex::Half }),
            transfer_kib_max: Some(transfer_kib),
            ..LinkProfile::default()
        },
    )
}

proptest! {
    /// Whoever looks all the time and whoever looks only at the next submission get the same answers, once each, in
    /// the order of time, none before it was asked for.
    #[test]
    fn answers_come_once_in_order_however_often_somebody_looks(
        profile in any_link(),
        gap_ns in 1u64..20_000_000,
        seed in any::<u64>(),
    ) {
        let run = |looks: bool| {
            // One that, looked at, may turn out to be ready later than it said.
            let slow = ByteRange::new(Offset::START, Bytes::from_gib(300)).unwrap();
            let slow = Fault::Slow { range: slow, longer: Nanos::new(2_000_000) };
            let disk = FaultyDrive::new(crate::profile::open("zoned", 3).unwrap(), vec![slow]);
            let mut drive = LinkedDrive::new(Box::new(disk), &profile);
            let mut prng = Prng::new(seed, 0);
            let (mut now, mut answers) = (0u64, Vec::new());
            for tag in 0..60u32 {
                let operation = Operation::ALL[prng.below(4) as usize];
                let length_bytes = 512 * (1 + prng.below(4000) as u32);
                drive.submit(request(tag, operation, prng.below(1 << 30) * 512, length_bytes), Instant::new(now));
                let next = now + prng.below(gap_ns);
                while looks && let Some(at) = drive.next_completion_at().filter(|at| at.get() <= next) {
                    now = now.max(at.get());
                    answers.extend(drive.take_completion(Instant::new(now)));
                }
                now = next;
            }
            while answers.len() < 60 {
                now = now.max(drive.next_completion_at().unwrap().get());
                answers.extend(drive.take_completion(Instant::new(now)));
            }
            assert_eq!(drive.next_completion_at(), None);
            answers
        };
        let (often, seldom) = (run(true), run(false));
        prop_assert!(often.windows(2).all(|pair| pair[0].completed_ns <= pair[1].completed_ns));
        let mut tags: Vec<u32> = often.iter().map(|completion| completion.tag.0).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, (0..60).collect::<Vec<_>>());
        prop_assert_eq!(often, seldom);
    }
}
