//! What holds for every disk and whatever is asked of it.

use super::*;
use crate::disk::any_profile::any_disk;
use crate::profile::plain_facts;
use model::request::Tag;
use model::units::Bytes;
use proptest::prelude::*;

/// A request, and how long after the one before it comes, in nanoseconds.
type Asked = (Request, u64);

/// Requests in and about a disk of some MiB: sequential runs, random places, past the end, nothing at all.
fn any_requests() -> impl Strategy<Value = Vec<Asked>> {
    let operation = prop_oneof![
        8 => Just(Operation::Read),
        8 => Just(Operation::Write),
        1 => Just(Operation::Flush),
        1 => Just(Operation::Discard),
    ];
    let place = prop_oneof![6 => Just(None), 6 => (0u64..20_000_000).prop_map(Some), 1 => any::<u64>().prop_map(Some)];
    let length = prop_oneof![Just(0u32), Just(512), Just(4096), Just(65_536), 1u32..3_000_000];
    let gap = prop_oneof![Just(0u64), 0u64..2_000_000, 0u64..40_000_000, Just(5_000_000_000)];
    proptest::collection::vec((operation, place, length, gap), 1..120).prop_map(|drawn| {
        let mut next = 0u64;
        let mut requests = Vec::new();
        for (number, (operation, place, length_bytes, gap)) in drawn.into_iter().enumerate() {
            let offset_bytes = place.unwrap_or(next) / 512 * 512;
            next = offset_bytes.saturating_add(u64::from(length_bytes));
            requests.push((Request { tag: Tag(number as u32), operation, offset_bytes, length_bytes }, gap));
        }
        requests
    })
}

/// All answers, in the order in which they were taken by a host that looks at every moment the drive names, and `looks`
/// times more between two requests.
fn answers((profile, capacity): &(DiskProfile, Bytes), requests: &[Asked], looks: u64) -> Vec<Completion> {
    let mut disk = DiskDrive::new(plain_facts("sim:test", *capacity), profile, 3);
    let mut now = 0;
    let mut answers = Vec::new();
    let mut take_all = |disk: &mut DiskDrive, now: u64| {
        while let Some(done) = disk.take_completion(Instant::new(now)) {
            assert!(done.completed_ns <= now, "{done:?} is taken at {now}");
            answers.push(done);
        }
    };
    for (request, gap_ns) in requests {
        let until = now + gap_ns;
        while let Some(moment) = disk.next_completion_at().filter(|moment| moment.get() <= until && looks > 0)
        {
            assert!(
                moment.get() >= now || !disk.arm.finished.is_empty(),
                "a moment in the past without an answer"
            );
            take_all(&mut disk, moment.get().max(now));
            now = now.max(moment.get());
        }
        for look in 1..=looks {
            take_all(&mut disk, now + (until - now) * look / (looks + 1));
        }
        now = until;
        disk.submit(*request, Instant::new(now));
    }
    let mut steps = 0;
    while let Some(moment) = disk.next_completion_at() {
        now = now.max(moment.get());
        take_all(&mut disk, now);
        steps += 1;
        assert!(steps < 1_000_000, "it never comes to an end");
    }
    answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_request_is_answered_once_and_in_time(disk in any_disk(), requests in any_requests()) {
        prop_assert_eq!(disk.0.check(disk.1), Ok(()));
        let answers = answers(&disk, &requests, 1);
        let mut tags: Vec<u32> = answers.iter().map(|done| done.tag.0).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, (0..requests.len() as u32).collect::<Vec<_>>());
        let mut submitted_ns = 0;
        let overhead_ns = disk.0.command_overhead_ms * 1e6 - 1.0;
        for (request, gap_ns) in &requests {
            submitted_ns += gap_ns;
            let done = answers.iter().find(|done| done.tag == request.tag).unwrap();
            prop_assert!(done.completed_ns as f64 >= submitted_ns as f64 + overhead_ns, "{:?} {}", done, submitted_ns);
            prop_assert!(done.transferred_bytes <= request.length_bytes);
        }
        prop_assert!(answers.windows(2).all(|pair| pair[0].completed_ns <= pair[1].completed_ns));
    }

    #[test]
    fn the_same_requests_get_the_same_answers_whoever_looks(disk in any_disk(), requests in any_requests()) {
        let sorted = |looks| {
            let mut answers = answers(&disk, &requests, looks);
            answers.sort_unstable_by_key(|done| done.tag.0);
            answers
        };
        let first = sorted(0);
        prop_assert_eq!(&first, &sorted(0));
        prop_assert_eq!(&first, &sorted(3));
    }

    /// What a profile says survives being written down.
    #[test]
    fn a_profile_is_read_back_as_it_was_written(disk in any_disk()) {
        let text = toml::to_string(&disk.0).unwrap();
        prop_assert_eq!(toml::from_str::<DiskProfile>(&text).unwrap(), disk.0, "{}", text);
    }
}
