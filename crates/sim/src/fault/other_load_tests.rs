//! Other load by hand on a drive of constant latency, and by its effect on disks.

use super::*;
use crate::constant::ConstantDrive;
use crate::profile::plain_facts;
use model::units::{Bytes, Nanos};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn load(arrival: LoadArrival) -> OtherLoad {
    OtherLoad {
        at: Instant::START,
        duration_ns: u64::MAX,
        every_ns: None,
        request_bytes: Some(4096),
        arrival,
    }
}

/// One server that needs 1 ms for each request.
fn shared(loads: Vec<OtherLoad>) -> LoadedDrive {
    let facts = plain_facts("sim:test", Bytes::from_mib(64));
    LoadedDrive::new(Box::new(ConstantDrive::new(facts, Nanos::new(MS), 1)), loads, 7)
}

fn read(tag: u32, offset_bytes: u64) -> Request {
    Request { tag: Tag(tag), operation: Operation::Read, offset_bytes, length_bytes: 4096 }
}

/// One read after the other, each submitted when the one before is answered and a pause is over; when each ends.
fn ends(drive: &mut dyn Drive, count: u64, pause_ns: u64) -> Vec<u64> {
    let mut now = Instant::START;
    let mut ends = Vec::new();
    for number in 0..count {
        drive.submit(read(3, number * 4096), now);
        let completion = loop {
            now = drive.next_completion_at().expect("a request is under way").max(now);
            if let Some(completion) = drive.take_completion(now) {
                break completion;
            }
        };
        assert_eq!(completion.tag, Tag(3));
        ends.push(completion.completed_ns);
        now = Instant::new(now.get() + pause_ns);
    }
    ends
}

#[test]
fn who_shares_a_drive_waits_for_the_other() {
    assert_eq!(ends(&mut shared(vec![]), 3, 0), [MS, 2 * MS, 3 * MS]);
    // The other one was first, and is again in the queue 10 µs after each of its answers: before us, who come at once
    // with ours, but after those that were there.
    let both = ends(&mut shared(vec![load(LoadArrival::QueueDepth(1))]), 4, 0);
    assert_eq!(both, [2 * MS, 4 * MS, 6 * MS, 8 * MS]);
}

#[test]
fn it_begins_ends_and_comes_again() {
    let load = OtherLoad {
        at: Instant::new(10 * MS),
        duration_ns: 5 * MS,
        every_ns: Some(20 * MS),
        ..load(LoadArrival::QueueDepth(1))
    };
    let now = |ms: u64| load.next_on(ms * MS).map(|at| at / MS);
    assert_eq!([0, 10, 14, 15, 29, 30, 34].map(now), [10, 10, 14, 30, 30, 30, 34].map(Some));
    let lasted = |ms: u64| load.moment_after(ms * MS).map(|at| at / MS);
    assert_eq!([0, 4, 5, 9, 10].map(lasted), [10, 14, 30, 34, 50].map(Some));
    let once = OtherLoad { every_ns: None, ..load };
    assert_eq!(once.next_on(14 * MS), Some(14 * MS));
    assert_eq!(once.next_on(15 * MS), None);
    assert_eq!((once.moment_after(4 * MS), once.moment_after(5 * MS)), (Some(14 * MS), None));
    let ends = ends(&mut shared(vec![once]), 30, 0);
    let late = ends.iter().zip(1..).find(|(end, number)| **end > number * MS).map(|(_, number)| number);
    assert_eq!(late, Some(11), "{ends:?}");
    // Alone again: one every millisecond.
    assert!(ends.windows(2).skip(20).all(|pair| pair[1] - pair[0] == MS), "{ends:?}");
}

#[test]
fn nothing_is_to_be_looked_at_while_the_host_rests() {
    let mut drive = shared(vec![load(LoadArrival::QueueDepth(4))]);
    assert_eq!(drive.next_completion_at(), None);
    assert_eq!(drive.take_completion(Instant::new(50 * MS)), None);
    ends(&mut drive, 1, 0);
    assert_eq!(drive.next_completion_at(), None);
}

/// On average 100 a second for 100 s: 10,000, give or take 5 standard deviations of 100.
#[test]
fn so_many_a_second_are_made() {
    struct Counting(ConstantDrive, std::sync::Arc<std::sync::atomic::AtomicU64>);
    impl Drive for Counting {
        fn submit(&mut self, request: Request, now: Instant) {
            assert!(request.offset_bytes + u64::from(request.length_bytes) <= self.facts().capacity.get());
            self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.0.submit(request, now);
        }
        fn next_completion_at(&mut self) -> Option<Instant> {
            self.0.next_completion_at()
        }
        fn take_completion(&mut self, now: Instant) -> Option<Completion> {
            self.0.take_completion(now)
        }
        fn facts(&self) -> &TargetFacts {
            self.0.facts()
        }
    }
    let count = std::sync::Arc::default();
    let inner = ConstantDrive::new(plain_facts("sim:test", Bytes::new(70_144)), Nanos::new(1000), 1);
    let load = OtherLoad { request_bytes: None, ..load(LoadArrival::PerSecond(100.0)) };
    let mut drive = LoadedDrive::new(Box::new(Counting(inner, std::sync::Arc::clone(&count))), vec![load], 3);
    ends(&mut drive, 2, 100_000 * MS);
    let others = count.load(std::sync::atomic::Ordering::Relaxed) - 2;
    assert!((9500..10_500).contains(&others), "{others}");
}

/// A disk that others use too reads more slowly, and as fast as ever when they are done.
#[test]
fn a_disk_reads_more_slowly_while_others_do() {
    let load = "\n[[faults]]\nkind = \"other-load\"\nat_s = 1.0\nseconds = 1.0\nper_second = 40\n";
    let text = format!("{}{load}", crate::profile::preset_text("disk-4tb").expect("a drive that ships"));
    let profile = crate::profile::Profile::parse(&text, "loaded").expect("a profile");
    let mut drive = crate::profile::open_profile(&profile, "sim:loaded", 1).expect("a drive");
    let mut now = Instant::START;
    let mut bytes = [0u64; 3];
    for number in 0.. {
        let request = Request {
            tag: Tag(0),
            operation: Operation::Read,
            offset_bytes: number << 20,
            length_bytes: 1 << 20,
        };
        drive.submit(request, now);
        while drive.take_completion(now).is_none() {
            now = drive.next_completion_at().expect("a read is under way").max(now);
        }
        match bytes.get_mut((now.get() / 1_000_000_000) as usize) {
            Some(bytes) => *bytes += 1 << 20,
            None => break,
        }
    }
    let [before, with, after] = bytes.map(|bytes| bytes as f64);
    assert!(with < 0.7 * before && (after / before - 1.0).abs() < 0.1, "{bytes:?}");
}

proptest! {
    /// Whatever others do, the host's requests are answered once each, and looking more often changes nothing.
    #[test]
    fn every_request_is_answered_once_however_often_one_looks(
        per_second in 1.0f64..5000.0,
        other_depth in 1u32..20,
        times in (0u64..50, 1u64..50, 0u64..50),
        depth in 1u32..6,
        seed in any::<u64>(),
    ) {
        let duration_ns = times.1 * MS;
        let loads = vec![
            OtherLoad { at: Instant::new(times.0 * MS), ..load(LoadArrival::PerSecond(per_second)) },
            OtherLoad {
                at: Instant::new(times.0 * MS),
                duration_ns,
                every_ns: Some(duration_ns + times.2 * MS),
                request_bytes: None,
                arrival: LoadArrival::QueueDepth(other_depth),
            },
        ];
        let answers = |looks: u64| {
            let inner = crate::profile::open("disk-4tb", seed).unwrap();
            let mut drive = LoadedDrive::new(inner, loads.clone(), seed);
            let mut prng = Prng::new(seed, 1);
            let (mut now, mut answers) = (Instant::START, Vec::new());
            let mut submit = |drive: &mut LoadedDrive, tag: u32, now| {
                drive.submit(read(tag, prng.below(900_000_000) * 4096), now);
            };
            (0..depth).for_each(|tag| submit(&mut drive, tag, now));
            while answers.len() < 20 + depth as usize {
                let next = drive.next_completion_at().expect("a request is under way").max(now);
                let step = (next.get() - now.get()) / (looks + 1);
                let found = (1..=looks).map(|look| Instant::new(now.get() + step * look)).chain([next]).find_map(|at| {
                    drive.take_completion(at).map(|completion| (completion, at))
                });
                now = next;
                if let Some((completion, at)) = found {
                    assert!(completion.completed_ns <= at.get());
                    now = at;
                    answers.push((completion.tag.0, completion.completed_ns));
                    if answers.len() <= 20 {
                        submit(&mut drive, completion.tag.0, now);
                    }
                }
            }
            assert_eq!(drive.next_completion_at(), None);
            answers
        };
        prop_assert_eq!(answers(0), answers(3));
    }
}
