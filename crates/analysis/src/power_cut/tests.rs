//! Power cuts at any instant on virtual drives, with the loss counted byte by byte beside.

use super::*;
use model::power_cut::Ring;
use model::prng::Prng;
use model::units::{Bytes, Offset};
use proptest::prelude::*;
use sim::contents::Contents;
use sim::flush::FlushPolicy;
use sim::power::CachedContents;

const FIRST: Offset = Offset::new(1 << 20);

/// When the power goes: after so many records, and then amid the writing of the next, before its flush, or before it is reported.
#[derive(Clone, Copy, Debug)]
struct Cut {
    records: u64,
    /// Sectors of the next one that the drive has; more than there are when it has all of them and was flushed.
    sectors: usize,
}

struct After {
    survival: Survival,
    /// Acknowledged records that are not on the medium byte by byte, nor a newer one.
    missing: u64,
    sectors_lost: u64,
}

fn after(policy: FlushPolicy, ring: Ring, cache: Bytes, cut: Cut, seed: u64) -> After {
    let mut drive = CachedContents::new(Contents::new(Bytes::from_mib(64), &[], seed), policy, cache);
    let mut payload = ring.payload();
    let mut record = [0; RECORD_BYTES];
    for number in 0..cut.records {
        ring.fill(&mut payload, number, &mut record);
        drive.write(ring.offset_of(number), &record).unwrap();
        drive.flush().unwrap();
    }
    ring.fill(&mut payload, cut.records, &mut record);
    let sectors = cut.sectors.min(SECTORS);
    drive.write(ring.offset_of(cut.records), &record[..sectors * SECTOR_BYTES]).unwrap();
    if cut.sectors > SECTORS {
        drive.flush().unwrap();
    }
    let (medium, sectors_lost) = drive.cut(&mut Prng::new(seed, 9)).unwrap();
    let acknowledged = Acknowledged { ring, count: cut.records };
    let mut judge = Judge::new(acknowledged);
    let (mut missing, mut found) = (0, [0; RECORD_BYTES]);
    for number in acknowledged.expected() {
        medium.read(ring.offset_of(number), &mut found);
        judge.slot(number, &found);
        ring.fill(&mut payload, number, &mut record);
        let mut is_there = true;
        for (index, (sector, meant)) in found.chunks(512).zip(record.chunks(512)).enumerate() {
            // The record in flight may have begun to overwrite the one of a lap before.
            let is_in_flight = number + ring.slots == cut.records && index < sectors;
            is_there &= sector == meant
                || is_in_flight && {
                    let mut newer = [0; RECORD_BYTES];
                    ring.fill(&mut payload, cut.records, &mut newer);
                    sector == &newer[index * 512..][..512]
                };
        }
        missing += u64::from(!is_there);
    }
    After { survival: judge.finish(), missing, sectors_lost }
}

#[test]
fn an_ignored_flush_loses_what_is_in_the_cache_and_no_more() {
    let ring = Ring { key: 7, first: FIRST, slots: 1000 };
    let cut = Cut { records: 500, sectors: 0 };
    let after = after(FlushPolicy::Ignored, ring, Bytes::from_kib(400), cut, 1);
    let survival = after.survival;
    assert_eq!((survival.acknowledged, survival.expected), (500, 500));
    // 100 records are in the cache, and each of their 8 sectors is lost with a probability of a half.
    assert!(survival.first_missing >= Some(400), "{survival:?}");
    assert!((95..=100).contains(&survival.missing()), "{survival:?}");
    assert!((350..=450).contains(&after.sectors_lost), "{}", after.sectors_lost);
    assert_eq!(survival.stale, 0, "the first lap has no older record");
}

#[test]
fn records_of_a_lap_before_are_stale_and_order_is_held_against_what_survived() {
    let ring = Ring { key: 7, first: FIRST, slots: 4 };
    let mut payload = ring.payload();
    let mut judge = Judge::new(Acknowledged { ring, count: 8 });
    let mut found = [0; RECORD_BYTES];
    // Record 4 is lost to an older one, 5 to nothing, 6 is torn, 7 is there.
    for (record, there) in [(4, Some(0)), (5, None), (6, Some(6)), (7, Some(7))] {
        found.fill(0);
        if let Some(there) = there {
            ring.fill(&mut payload, there, &mut found);
        }
        if record == 6 {
            found[..512].fill(0);
        }
        judge.slot(record, &found);
    }
    let expected = Survival {
        acknowledged: 8,
        expected: 4,
        kept: 1,
        lost: 1,
        torn: 1,
        stale: 1,
        reordered: 3,
        first_missing: Some(4),
        last_missing: Some(6),
        newest: Some(7),
    };
    assert_eq!(judge.finish(), expected);
}

proptest! {
    #[test]
    fn only_an_ignored_flush_loses_acknowledged_records(
        slots in 1u64..40,
        cache_kib in 0u64..200,
        records in 0u64..120,
        sectors in 0usize..=SECTORS + 1,
        seed in any::<u64>(),
    ) {
        let ring = Ring { key: seed, first: FIRST, slots };
        let cut = Cut { records, sectors };
        for policy in [FlushPolicy::Honoured, FlushPolicy::Protected, FlushPolicy::Ignored] {
            let after = after(policy, ring, Bytes::from_kib(cache_kib), cut, seed);
            prop_assert_eq!(after.survival.missing(), after.missing, "{:?}: {:?}", policy, after.survival);
            prop_assert_eq!(after.survival.kept + after.survival.missing(), after.survival.expected);
            if policy != FlushPolicy::Ignored {
                prop_assert_eq!(after.survival.missing(), 0, "{:?}: {:?}", policy, after.survival);
            }
            // All that a cache held of whole records is told.
            if policy == FlushPolicy::Ignored && after.sectors_lost > 0 && sectors == 0 {
                prop_assert!(after.survival.missing() > 0, "{:?}", after.survival);
            }
        }
    }
}
