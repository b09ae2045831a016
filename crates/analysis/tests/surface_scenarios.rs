//! For each detector of the surface a run in which it fires, and one in which it must not.

mod bench;

use analysis::analyse;
use analysis::surface::SurfaceMap;
use bench::{Bench, datum, find, statement, value, why_unknown};
use model::finding::{Datum, FindingCode, Outcome};
use model::range::ByteRange;
use model::request::Operation;
use model::target::Caveat;
use model::units::{Bytes, GIB, Instant, Nanos, Offset};
use model::workload::OperationMix;
use sim::fault::{Fault, FaultyDrive};

const SURFACE: [FindingCode; 5] = [
    FindingCode::ZoneRatio,
    FindingCode::ZoneCount,
    FindingCode::ZoneTable,
    FindingCode::InterfaceLimit,
    FindingCode::SlowRegions,
];

/// Surveyed in about a minute of its own time.
fn surveyed(name: &str, seed: u64) -> Bench {
    let mut bench = Bench::new(sim::open(name, seed).unwrap(), seed + 1);
    bench.surface(bench.whole(), OperationMix::Read, 600, 50, 2);
    bench
}

fn with_fault(name: &str, fault: Fault, rounds: usize) -> Bench {
    let drive = FaultyDrive::new(sim::open(name, 1).unwrap(), vec![fault]);
    let mut bench = Bench::new(Box::new(drive), 2);
    bench.surface(bench.whole(), OperationMix::Read, 600, 50, rounds);
    bench
}

fn part(datum: &Datum, name: &str) -> Datum {
    let Datum::Record(parts) = datum else { panic!("{datum:?}") };
    parts.iter().find(|(known, _)| known == name).unwrap().1.clone()
}

/// 20 zones of 25 GB, 150 to 72 MB/s.
#[test]
fn the_zones_of_a_disk_are_told() {
    let bench = surveyed("zoned", 1);
    assert_eq!(value(&bench, FindingCode::ZoneCount), Some(20.0));
    assert_eq!(
        statement(&bench, FindingCode::ZoneTable),
        "20 zones, from 150 MB/s at the start to 72.0 MB/s at the end."
    );
    assert_eq!(
        statement(&bench, FindingCode::ZoneRatio),
        "The drive is 2.08 times as fast at its start as at its end."
    );
    let Datum::List(zones) = datum(&find(&bench, FindingCode::ZoneTable).unwrap(), "zones").unwrap() else {
        panic!()
    };
    for (index, zone) in zones.iter().enumerate() {
        let Datum::Integer(first_byte) = part(zone, "first_byte") else { panic!() };
        let off = first_byte as f64 - 25e9 * index as f64;
        assert!(off.abs() < 0.005 * 500e9, "zone {index} begins at {first_byte}");
    }
    assert_eq!(find(&bench, FindingCode::InterfaceLimit), None);
    assert_eq!(find(&bench, FindingCode::UnmappedRanges), None);
    assert_eq!(value(&bench, FindingCode::SlowRegions), Some(0.0));
    let outer = find(&bench, FindingCode::ReadRateOuter).unwrap();
    assert!((outer.estimate().unwrap().value / 150e6 - 1.0).abs() < 0.01);
    let Outcome::Known(conclusion) = outer.outcome else { panic!() };
    assert_eq!(
        conclusion.advice.as_deref(),
        Some("150 MB/s is 1.50 Gbit/s on the line, with 8b/10b coding: a SATA port of 3.0 Gbit/s is enough.")
    );
}

/// What a finding says of a part of the drive is shown there, although it rests on a survey of all of it.
#[test]
fn findings_of_a_survey_name_the_places_that_they_are_about() {
    let bench = surveyed("zoned", 1);
    let places = |code| -> Vec<(u64, u64)> {
        let Some(Datum::List(places)) = datum(&find(&bench, code).unwrap(), "places") else { panic!() };
        let number = |place: &Datum, name: &str| match part(place, name) {
            Datum::Integer(number) => number,
            other => panic!("{other:?}"),
        };
        places.iter().map(|place| (number(place, "first_byte"), number(place, "bytes"))).collect()
    };
    // The first and the last hundredth of 500 GB.
    let (start, end) = ((0, 5_000_000_000), (495_000_000_000, 5_000_000_000));
    let is_near = |found: &[(u64, u64)], expected: &[(u64, u64)]| {
        let near = |a: u64, b: u64| a.abs_diff(b) < 100_000_000;
        found.len() == expected.len()
            && found.iter().zip(expected).all(|(a, b)| near(a.0, b.0) && near(a.1, b.1))
    };
    for (code, expected) in [
        (FindingCode::ReadRateOuter, &[start][..]),
        (FindingCode::ReadRateInner, &[end]),
        (FindingCode::ZoneRatio, &[start, end]),
    ] {
        let found = places(code);
        assert!(is_near(&found, expected), "{}: {found:?}", code.name());
    }
}

/// The kernel says of a loop device that it does not turn, whatever lies below; a drive that says so itself is believed, or nothing is.
#[test]
fn zones_are_told_through_a_loop_device() {
    let mut bench = surveyed("zoned", 1);
    bench.target.rotational = Some(false);
    assert!(why_unknown(&bench, FindingCode::ZoneCount).starts_with("Whether the drive turns is not known"));
    bench.target.caveats.extend([Caveat::LoopOverFile, Caveat::PlacesUntold]);
    assert_eq!(value(&bench, FindingCode::ZoneCount), Some(20.0));
    bench.target.caveats.push(Caveat::Remapped);
    assert_eq!(why_unknown(&bench, FindingCode::ZoneCount), Caveat::Remapped.statement());
}

#[test]
fn a_null_drive_and_flash_have_no_zones() {
    let null = surveyed("null", 1);
    for finding in analyse(&null.view()) {
        assert_eq!(finding.estimate(), None, "{finding:?}");
    }
    let constant = surveyed("constant", 1);
    for code in [FindingCode::ZoneRatio, FindingCode::ZoneCount, FindingCode::ZoneTable] {
        assert_eq!(why_unknown(&constant, code), "The drive does not turn, so it has no zones.");
    }
    assert_eq!(find(&constant, FindingCode::InterfaceLimit), None);
    assert_eq!(value(&constant, FindingCode::SlowRegions), Some(0.0));
    assert!(why_unknown(&constant, FindingCode::UnmappedRanges).starts_with("All of the drive reads alike"));
}

#[test]
fn a_check_is_no_survey() {
    let mut bench = Bench::new(sim::open("zoned", 1).unwrap(), 2);
    bench.check(false);
    for code in SURFACE {
        assert_eq!(find(&bench, code), None, "{}", code.name());
    }
}

/// 33386 KiB/s outside and 33376 KiB/s inside were measured of this disk by USB 2.
#[test]
fn a_disk_behind_usb_2_is_limited_everywhere() {
    let bench = surveyed("wd20ears-usb2", 1);
    let limit = find(&bench, FindingCode::InterfaceLimit).unwrap();
    assert!((limit.estimate().unwrap().value / 33.9e6 - 1.0).abs() < 0.01);
    assert_eq!(datum(&limit, "link").unwrap(), Datum::Text("USB 480 Mbit/s".into()));
    assert_eq!(
        statement(&bench, FindingCode::InterfaceLimit),
        "Its link (USB 480 Mbit/s) limits the drive to 33.9 MB/s everywhere; the medium would be faster."
    );
    assert_eq!(
        datum(&limit, "places").map(|places| match places {
            Datum::List(places) => places.len(),
            _ => 0,
        }),
        Some(1)
    );
    // What such a link carries says nothing of the port that the disk needs.
    let Outcome::Known(outer) = find(&bench, FindingCode::ReadRateOuter).unwrap().outcome else { panic!() };
    assert_eq!(outer.advice, None);
    assert_eq!(value(&bench, FindingCode::ZoneCount), Some(1.0));
    assert_eq!(find(&surveyed("wd20ears", 1), FindingCode::InterfaceLimit), None);
}

/// 8 GiB around the border at 25 GB, in eight phases, each longer than what becomes one piece.
#[test]
fn a_pass_over_every_block_meets_every_region() {
    let mut bench = Bench::new(sim::open("zoned", 1).unwrap(), 2);
    let range = ByteRange::new(Offset(20 * GIB), Bytes(8 * GIB)).unwrap();
    bench.surface_in_full(range, 8);
    let text = statement(&bench, FindingCode::SlowRegions);
    assert_eq!(text, "No region was slow when it was measured again.");
    assert_eq!(value(&bench, FindingCode::BlockLatency), Some(0.0));
    assert_eq!(find(&surveyed("zoned", 1), FindingCode::BlockLatency), None);
    let pass_s = value(&bench, FindingCode::FullPassTime).unwrap();
    let border = 24_999_997_440.0 - 20.0 * GIB as f64;
    let truth_s = border / 150e6 + (8.0 * GIB as f64 - border) / 146.930_703e6;
    assert!((pass_s / truth_s - 1.0).abs() < 0.01, "{pass_s} {truth_s}");
}

/// It goes away when about half of 8 GiB is read: how long that took is not how long a pass takes.
#[test]
fn a_pass_that_the_drive_did_not_live_through_has_no_time() {
    let lost = FaultyDrive::new(sim::open("zoned", 1).unwrap(), vec![Fault::GoneAt(Instant(30_000_000_000))]);
    let mut bench = Bench::new(Box::new(lost), 2);
    bench.surface_in_full(ByteRange::new(Offset(20 * GIB), Bytes(8 * GIB)).unwrap(), 8);
    assert!(value(&bench, FindingCode::DeviceLost).is_some_and(|at_s| (at_s - 30.0).abs() < 1.0));
    assert!(
        why_unknown(&bench, FindingCode::FullPassTime).starts_with("The drive went away before all of it")
    );
}

/// One visit is a part of the range, and so are all of a survey, however often they go over it.
#[test]
fn visits_to_random_places_are_no_pass_over_every_block() {
    let mut one = Bench::new(sim::open("zoned", 1).unwrap(), 2);
    let whole = one.whole();
    one.surface(whole, OperationMix::Read, 0, 0, 0);
    assert_eq!(find(&one, FindingCode::BlockLatency), None);
    // Nor does it tell what is slow, where two visits were made.
    assert!(why_unknown(&one, FindingCode::SlowRegions).starts_with("2 usable visits are too few"));
    let small = ByteRange::new(Offset(0), Bytes(GIB)).unwrap();
    let mut many = Bench::new(sim::open("zoned", 1).unwrap(), 2);
    many.surface(small, OperationMix::Read, 500, 100, 1);
    assert_eq!(find(&many, FindingCode::BlockLatency), None);
}

/// 2 GiB at 200 GB each of whose requests takes 40 ms more: about five times as slow.
#[test]
fn a_slow_region_is_slow_again() {
    let place = ByteRange::new(Offset(200_000_000_000), Bytes(2 * GIB)).unwrap();
    let bench = with_fault("zoned", Fault::Slow { range: place, longer: Nanos::from_millis(40) }, 4);
    let finding = find(&bench, FindingCode::SlowRegions).unwrap();
    assert_eq!(finding.estimate().unwrap().value, 1.0, "{finding:?}");
    let Datum::List(regions) = datum(&finding, "regions").unwrap() else { panic!() };
    let (Datum::Integer(first), Datum::Integer(bytes)) =
        (part(&regions[0], "first_byte"), part(&regions[0], "bytes"))
    else {
        panic!()
    };
    assert!((200_000_000_000..200_000_000_000 + 2 * GIB).contains(&(first + bytes / 2)), "{first} {bytes}");
}

/// Half of the drive answers in half of the time: as if nothing had ever been written there.
#[test]
fn flash_of_which_half_holds_nothing_has_two_rates() {
    let second_half = ByteRange::new(Offset(500_000_000_000), Bytes(500_000_000_000)).unwrap();
    let bench = with_fault("constant", Fault::Slow { range: second_half, longer: Nanos(100_000) }, 1);
    let finding = find(&bench, FindingCode::UnmappedRanges).unwrap();
    assert_eq!(finding.estimate().unwrap().value, 1.0);
    let Datum::Number(share) = datum(&finding, "share").unwrap() else { panic!() };
    assert!((share - 0.5).abs() < 0.005, "{share}");
}

/// Every 1.5 s the drive does nothing for 0.3 s: visits are slow wherever they are.
#[test]
fn a_drive_that_stalls_is_disturbed_and_has_no_slow_places() {
    let stalls = Fault::Stalls {
        at: Instant(2_000_000_000),
        duration: Nanos::from_millis(300),
        every: Nanos::from_millis(1500),
    };
    let bench = with_fault("zoned", stalls, 4);
    let map = SurfaceMap::of(&bench.view(), Operation::Read).unwrap();
    assert!(map.disturbances.visits > 0, "{:?}", map.disturbances);
    for code in [FindingCode::ZoneRatio, FindingCode::ZoneTable] {
        let why = why_unknown(&bench, code);
        assert!(why.starts_with("Other load on the drive"), "{why}");
    }
    if let Some(slow) = value(&bench, FindingCode::SlowRegions) {
        assert_eq!(slow, 0.0);
    }
}
