//! What holds for every shingled disk and every load: answers once each, time that never runs backwards, the same
//! answers however often somebody looks, and bounded memory.

use crate::Drive;
use crate::disk::profile::{DiskProfile, WriteCacheProfile};
use crate::profile::plain_facts;
use crate::smr::drive::SmrDrive;
use crate::smr::drive::tests::disk;
use crate::smr::profile::{BandZone, CleaningOrder, CleaningPolicy, SLOT_BYTES, SmrProfile};
use model::request::{Completion, Operation, Request, Tag};
use model::units::{Bytes, Instant, MIB};
use proptest::prelude::*;

const CAPACITY: u64 = 400 * MIB;

/// A request, and how long after the one before it comes.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    request: Request,
    pause_ns: u64,
}

fn arrival() -> impl Strategy<Value = (Operation, u64, u64, u64)> {
    let operation = prop_oneof![
        8 => Just(Operation::Write),
        4 => Just(Operation::Read),
        1 => Just(Operation::Flush),
        1 => Just(Operation::Discard),
    ];
    let place = prop_oneof![3 => 0..CAPACITY / 512, 3 => 0..20_000u64, 1 => Just(CAPACITY / 512 - 3)];
    let sectors = prop_oneof![4 => 1u64..64, 2 => Just(256u64), 1 => 1u64..6000, 1 => Just(0u64)];
    let pause_ns = prop_oneof![4 => Just(0u64), 3 => 0u64..30_000_000, 1 => 0u64..4_000_000_000];
    (operation, place, sectors, pause_ns)
}

/// Places either as drawn or on where the last request ended.
fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let drawn = prop::collection::vec((arrival(), any::<bool>()), 1..120);
    drawn.prop_map(|drawn| {
        let mut end = 0;
        let number = |(index, ((operation, place, sectors, pause_ns), goes_on)): (usize, _)| {
            let offset_bytes = if goes_on { end } else { place * 512 };
            end = offset_bytes + sectors * 512;
            let request = Request {
                tag: Tag(index as u32),
                operation,
                offset_bytes,
                length_bytes: sectors as u32 * 512,
            };
            Arrival { request, pause_ns }
        };
        drawn.into_iter().enumerate().map(number).collect()
    })
}

fn profiles() -> impl Strategy<Value = (DiskProfile, SmrProfile)> {
    let order = prop_oneof![
        Just(CleaningOrder::Fifo),
        Just(CleaningOrder::RoundRobin),
        Just(CleaningOrder::MostDirty)
    ];
    let cleaning = prop_oneof![Just(CleaningPolicy::Aggressive), Just(CleaningPolicy::Lazy)];
    let write_cache_kib = prop_oneof![Just(0u64), Just(64), Just(1024)];
    let packet_slots = prop_oneof![Just(1u64), Just(32), Just(40)];
    (order, cleaning, write_cache_kib, packet_slots, 43u64..300, 0.0..2.0f64).prop_map(
        |(cleaning_order, cleaning, capacity_kib, packet_slots, map_entries, journal_turns)| {
            let zone = |first_byte, slots| BandZone { first_byte, band_bytes: slots * SLOT_BYTES };
            let smr = SmrProfile {
                packet_bytes: packet_slots * SLOT_BYTES,
                journal_turns,
                band_zones: vec![zone(0, 301), zone(200 * MIB, 200)],
                stream_threshold_bytes: MIB,
                stream_count: 2,
                cleaning,
                cleaning_order,
                idle_delay_seconds: 0.3,
                ..SmrProfile::plain(4 * MIB, map_entries, SLOT_BYTES)
            };
            (
                DiskProfile {
                    write_cache: WriteCacheProfile { capacity_kib, ..WriteCacheProfile::default() },
                    seek_noise: 0.03,
                    ..disk()
                },
                smr,
            )
        },
    )
}

fn drive(disk: &DiskProfile, smr: &SmrProfile) -> SmrDrive {
    assert_eq!(smr.check_with(disk, Bytes::new(CAPACITY)), Ok(()));
    let mut facts = plain_facts("sim:test", Bytes::new(CAPACITY));
    facts.discard_max = Some(Bytes::new(1 << 30));
    SmrDrive::new(facts, disk, smr, 7)
}

/// Takes what is ready by `now`, and checks the order.
fn take_ready(drive: &mut SmrDrive, now: Instant, answers: &mut Vec<Completion>) {
    while let Some(answer) = drive.take_completion(now) {
        assert!(answer.completed_ns <= now.get(), "nothing is answered early");
        answers.push(answer);
    }
}

/// All answers to a load, by tag. With `looks` somebody looks whenever something may happen, and in between.
fn answers(drive: &mut SmrDrive, smr: &SmrProfile, arrivals: &[Arrival], looks: bool) -> Vec<Completion> {
    let (mut now, mut answers, mut submitted_ns) = (Instant::START, Vec::new(), Vec::new());
    for arrival in arrivals {
        let next = Instant::new(now.get() + arrival.pause_ns);
        if looks {
            while let Some(at) = drive.next_completion_at().filter(|at| *at <= next) {
                now = now.max(at);
                take_ready(drive, now, &mut answers);
            }
            now = Instant::new(now.get().midpoint(next.get()));
            take_ready(drive, now, &mut answers);
        }
        now = next;
        drive.submit(arrival.request, now);
        submitted_ns.push(now.get());
        let cache = drive.map().cache();
        assert!(cache.entries() as u64 <= smr.map_entries && cache.used_bytes() <= smr.media_cache_bytes);
        assert!(drive.map().unmapped_count() <= drive.map().bands().count() as usize);
    }
    while let Some(at) = drive.next_completion_at() {
        now = now.max(at);
        take_ready(drive, now, &mut answers);
    }
    assert_eq!(answers.len(), arrivals.len(), "each request is answered once");
    answers.sort_by_key(|answer| answer.tag.0);
    for (index, answer) in answers.iter().enumerate() {
        assert_eq!(answer.tag.0 as usize, index);
        assert!(answer.completed_ns > submitted_ns[index], "an answer takes time");
    }
    answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn answers_do_not_depend_on_who_looks((disk, smr) in profiles(), load in arrivals()) {
        let unseen = answers(&mut drive(&disk, &smr), &smr, &load, false);
        let mut watched = drive(&disk, &smr);
        prop_assert_eq!(&unseen, &answers(&mut watched, &smr, &load, true));
        // In a day everything is cleaned, unless the drive is lazy.
        let later = Instant::new(86_400_000_000_000);
        prop_assert_eq!(watched.take_completion(later), None);
        let lazy = smr.cleaning == CleaningPolicy::Lazy;
        prop_assert!(lazy || watched.map().dirty_band_count() == 0);
        prop_assert!(watched.map().cache().fullness() <= smr.high_water_share);
    }
}
