//! Times and partitions from a run: the articles' figures from the tables of their drives, and arithmetic that holds for every drive.

mod bench;

use analysis::analyse;
use analysis::estimate::{Basis, DriveRates, RateCurve, Work, rebuild, work_time};
use analysis::plan::{PartitionPlan, Wish, plan};
use bench::Bench;
use model::estimate::Estimate;
use model::finding::{
    Evidence, Finding, FindingCode, Outcome, RateOf, SequentialRate, SurveyUnknown, Zone, ZoneTable,
};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{Run, RunStatus};
use model::target::TargetFacts;
use model::units::{Bytes, MIB, Offset};
use proptest::prelude::*;
use sim::truth::data::RateZone;

const TB: u64 = 1_000_000_000_000;

fn range(first: u64, bytes: u64) -> ByteRange {
    ByteRange::new(Offset::new(first), Bytes::new(bytes)).unwrap()
}

fn run_of(bench: &Bench, findings: Vec<Finding>) -> Run {
    Run {
        id: "a-run".into(),
        started: "1970-01-01T00:00:00Z".into(),
        finished: None,
        status: RunStatus::Complete,
        version: String::new(),
        command: String::new(),
        asked: None,
        seed: 1,
        target: bench.target.clone(),
        environment: bench.environment.clone(),
        state_before: Vec::new(),
        state_after: Vec::new(),
        phases: bench.phases.clone(),
        findings,
    }
}

/// A run that found what is true of a preset: its zones, to 1 %, and its mean, to 0.5 %.
fn mapped(name: &str) -> Run {
    let bench = Bench::new(sim::open(name, 1).unwrap(), 1);
    let truths = sim::truth::truth(name).unwrap();
    let truth = |code| truths.iter().find(|truth| truth.code == code).unwrap();
    let zone = |zone: &RateZone| Zone {
        first_byte: zone.first_byte,
        bytes: zone.bytes,
        bytes_per_second: zone.bytes_per_second,
        low: zone.bytes_per_second * 0.99,
        high: zone.bytes_per_second * 1.01,
        border_low_byte: zone.first_byte,
        border_high_byte: zone.first_byte,
        visits: 10,
    };
    let mean = truth(FindingCode::ReadRateMean).value().unwrap();
    let mean = Estimate {
        value: mean,
        low: mean * 0.995,
        high: mean * 1.005,
        confidence: 0.95,
        effective_count: 100.0,
    };
    let zones = truth(FindingCode::ZoneTable).data.zones().iter().map(zone).collect();
    let table = ZoneTable { zones, step_missed: 0.01, noise: 0.02, stripe_spread: None };
    let table = Finding::ZoneTable(Outcome::known(table, Vec::new()));
    run_of(&bench, vec![Finding::ReadRateMean(rate(mean, Vec::new())), table])
}

fn rate(rate: Estimate, evidence: Vec<Evidence>) -> Outcome<SequentialRate> {
    Outcome::known(SequentialRate::new(rate, RateOf::Edge { is_whole: true, may_rotate: true }), evidence)
}

fn planned(name: &str, wish: Wish) -> PartitionPlan {
    let run = mapped(name);
    plan(&RateCurve::of(&run, Operation::Read).unwrap(), &run.target, wish).unwrap()
}

/// Article C: dd read all of a 3 TB disk in 17,922.9 s.
#[test]
fn article_c_a_full_pass() {
    let run = mapped("st3000dm001");
    let drive = DriveRates::of(&run);
    let whole = ByteRange::whole(Bytes::new(3_000_592_982_016));
    assert_eq!(drive.capacity, whole.bytes());
    assert_eq!(drive.read.as_ref().unwrap().basis(), Basis::Zones(30));
    let time = work_time(&drive, Work::Read(whole)).unwrap();
    assert!((time.seconds.value / 17_922.9 - 1.0).abs() < 0.002, "{time:?}");
    assert!(time.seconds.covers(17_922.9) && time.seconds.relative_half_width() < 0.01, "{time:?}");
    assert!((time.bytes_per_second.value / 1e6 - 167.4).abs() < 0.5, "{time:?}");
}

/// Article C: bytes that dd had read after so many seconds.
#[test]
fn article_c_the_progress_of_the_pass() {
    let drive = DriveRates::of(&mapped("st3000dm001"));
    let progress = [
        (125_627_793_408, 603.364),
        (253_403_070_464, 1201.76),
        (381_178_347_520, 1803.86),
        (2_882_996_797_440, 16_809.3),
        (2_947_421_306_880, 17_406.1),
    ];
    for (bytes, seconds) in progress {
        let time = drive.read_time(range(0, bytes)).unwrap();
        assert!((time.value / seconds - 1.0).abs() < 0.03, "{bytes}: {time:?}, not {seconds}");
    }
}

/// Article A: a 2 TB disk in four parts. bonnie++ read 48 GB at the beginning of each at 145,385, 133,009, 117,383 and 96,856 KiB/s.
#[test]
fn article_a_four_parts() {
    let plan = planned("wd20ears", Wish::Parts(4));
    assert_eq!(plan.partitions.len(), 4);
    for (partition, kib_per_second) in plan.partitions.iter().zip([145_385.0, 133_009.0, 117_383.0, 96_856.0])
    {
        let published = kib_per_second * 1024.0;
        let found = partition.fastest.value;
        assert!(
            (found / published - 1.0).abs() < 0.03,
            "{:.1} MB/s, not {:.1}",
            found / 1e6,
            published / 1e6
        );
        assert!(partition.range.bytes().get().abs_diff(500 * TB / 1000) < 52 * TB / 1000, "{partition:?}");
        assert!(
            partition.slowest.value <= partition.mean.value
                && partition.mean.value <= partition.fastest.value
        );
    }
    assert!(plan.cuts.iter().all(|cut| cut.is_zone_border), "{:?}", plan.cuts);
}

/// Article C cuts off the outer 10 % for virtual disks.
#[test]
fn article_c_the_fastest_tenth() {
    let plan = planned("st3000dm001", Wish::Fastest(0.1));
    let [fast, rest] = plan.partitions.as_slice() else { panic!("{plan:?}") };
    assert!(fast.is_fast && !rest.is_fast);
    assert!((0.075..=0.125).contains(&(fast.range.bytes().as_f64() / 3_000_592_982_016.0)), "{fast:?}");
    assert!(fast.mean.value > 200e6 && rest.mean.value < 166e6, "{plan:?}");
    assert!((fast.range.first(), plan.is_even) == (Offset::new(MIB), false));
}

#[test]
fn everything_that_is_fast_enough() {
    let plan = planned("wd20ears", Wish::AtLeast(130e6));
    let [fast, rest] = plan.partitions.as_slice() else { panic!("{plan:?}") };
    // The eighth zone runs at 131.0 MB/s and ends at 821,614,346,240; the next at 127.8.
    assert_eq!(fast.range.end(), Offset::new(821_614_346_240 / MIB * MIB));
    assert!(fast.is_fast && fast.slowest.value >= 130e6 && rest.fastest.value < 130e6, "{plan:?}");
    let whole = planned("wd20ears", Wish::AtLeast(50e6));
    assert_eq!((whole.partitions.len(), whole.cuts.len()), (1, 0));
    let run = mapped("wd20ears");
    let why = plan_error(&run, Wish::AtLeast(200e6));
    assert_eq!(why, "No region reaches 200.0 MB/s; the fastest reaches 151.0 MB/s.");
}

fn plan_error(run: &Run, wish: Wish) -> String {
    plan(&RateCurve::of(run, Operation::Read).unwrap(), &run.target, wish).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_cut_is_said() {
    let run = mapped("wd20ears");
    assert_eq!(plan_error(&run, Wish::Parts(0)), "A drive is cut into 1 to 128 parts.");
    assert_eq!(plan_error(&run, Wish::Parts(129)), "A drive is cut into 1 to 128 parts.");
    assert!(plan_error(&run, Wish::Fastest(1e-9)).contains("no room for two partitions"));
}

/// Flash has no zones: nothing is invented.
#[test]
fn where_all_places_are_equally_fast_speed_is_no_reason() {
    let mut bench = Bench::new(sim::open("constant", 1).unwrap(), 2);
    bench.check(true);
    let run = run_of(&bench, analyse(&bench.view()));
    let curve = RateCurve::of(&run, Operation::Read).unwrap();
    assert_eq!(curve.basis(), Basis::Even);
    for wish in [Wish::Fastest(0.1), Wish::AtLeast(1e9)] {
        let plan = plan(&curve, &run.target, wish).unwrap();
        assert!(plan.is_even && plan.cuts.is_empty() && plan.partitions.len() == 1, "{plan:?}");
    }
    let parts = plan(&curve, &run.target, Wish::Parts(3)).unwrap();
    assert!(parts.is_even && parts.partitions.len() == 3, "{parts:?}");
    assert!(parts.cuts.iter().all(|cut| !cut.is_zone_border));
}

/// A `check` finds no zones; what it tells holds the truth, in parts of the drive too.
#[test]
fn a_check_tells_a_wide_range_that_holds_the_truth() {
    let mut bench = Bench::new(sim::open("st3000dm001", 1).unwrap(), 2);
    bench.check(true);
    let run = run_of(
        &bench,
        analyse(&bench.view()).into_iter().filter(|f| f.code() != FindingCode::ZoneTable).collect(),
    );
    let (told, truth) = (DriveRates::of(&run), DriveRates::of(&mapped("st3000dm001")));
    assert_eq!(told.read.as_ref().unwrap().basis(), Basis::Ends);
    for part in [range(0, TB), range(TB, TB), range(2 * TB, TB), range(0, 3 * TB), range(TB / 2, TB / 10)] {
        let (told, truth) = (told.read_time(part).unwrap(), truth.read_time(part).unwrap());
        assert!(told.covers(truth.value), "{part:?}: {told:?} {truth:?}");
        assert!((told.value / truth.value - 1.0).abs() < 0.08, "{part:?}: {told:?} {truth:?}");
    }
    let write = told.write_time(range(0, 2 * TB)).unwrap();
    assert!(!write.is_of_reads && write.seconds.high.is_finite());
}

/// Article A: over USB 2.0 the outside and the inside of a disk read at 33.4 MB/s alike.
#[test]
fn behind_a_slow_link_all_places_are_equally_fast() {
    let mut bench = Bench::new(sim::open("wd20ears-usb2", 1).unwrap(), 2);
    bench.surface(bench.whole(), model::workload::OperationMix::Read, 300, 60, 1);
    let run = run_of(&bench, analyse(&bench.view()));
    let drive = DriveRates::of(&run);
    let curve = drive.read.clone().unwrap();
    assert_eq!(curve.basis(), Basis::Even);
    assert!(drive.cautions[0].starts_with("Its link limits throughput here"), "{:?}", drive.cautions);
    let plan = plan(&curve, &run.target, Wish::Fastest(0.1)).unwrap();
    assert!(plan.is_even && plan.partitions.len() == 1, "{plan:?}");
    assert!((plan.partitions[0].mean.value / 33.4e6 - 1.0).abs() < 0.03, "{plan:?}");
}

/// Article C once more, from a survey of the virtual disk instead of its truth.
#[test]
fn a_survey_gives_the_full_pass_of_article_c() {
    let mut bench = Bench::new(sim::open("st3000dm001", 1).unwrap(), 2);
    bench.surface(bench.whole(), model::workload::OperationMix::Read, 440, 60, 0);
    let run = run_of(&bench, analyse(&bench.view()));
    let drive = DriveRates::of(&run);
    assert!(matches!(drive.read.as_ref().unwrap().basis(), Basis::Zones(2..)), "{:?}", drive.read);
    let time = drive.read_time(ByteRange::whole(drive.capacity)).unwrap();
    assert!((time.value / 17_922.9 - 1.0).abs() < 0.01 && time.relative_half_width() < 0.02, "{time:?}");
}

#[test]
fn writes_that_were_not_measured_take_as_long_as_reads_or_longer() {
    let drive = DriveRates::of(&mapped("st3000dm001"));
    let write = drive.write_time(range(0, TB)).unwrap();
    let read = drive.read_time(range(0, TB)).unwrap();
    assert!(write.is_of_reads && write.seconds.high == f64::INFINITY);
    assert_eq!((write.seconds.value, write.seconds.low), (read.value, read.low));
    let why = drive.write.as_ref().unwrap_err().to_string();
    assert_eq!(why, "The run a-run holds no sequential writes over the drive.");
}

#[test]
fn a_raid_waits_for_its_slowest_drive() {
    let drives = [DriveRates::of(&mapped("st3000dm001")), DriveRates::of(&mapped("wd20ears"))];
    let (slowest, time) = rebuild(&drives).unwrap();
    // As far as the smaller one reaches: 2,000,398,934,016 bytes at 115.3 MB/s.
    assert_eq!(slowest, 1);
    assert!((time.seconds.value / 17_347.0 - 1.0).abs() < 0.001 && time.writes_are_as_reads, "{time:?}");
}

#[test]
fn what_was_not_measured_is_not_known() {
    let bench = Bench::new(sim::open("wd20ears", 1).unwrap(), 1);
    let drive = DriveRates::of(&run_of(&bench, Vec::new()));
    let why = drive.read_time(range(0, TB)).unwrap_err().to_string();
    assert_eq!(why, "The run a-run holds no sequential reads over the drive.");
    assert!(work_time(&drive, Work::Rebuild(range(0, TB))).is_err());
    let too_large = work_time(&DriveRates::of(&mapped("wd20ears")), Work::Read(range(TB, 2 * TB)))
        .unwrap_err()
        .to_string();
    assert_eq!(too_large, "It holds 2000398934016 bytes, and this would end at byte 3000000000000.");
    let unknown = vec![Finding::ReadRateMean(Outcome::Unknown(SurveyUnknown::NoneUsable { samples: 9 }))];
    assert_eq!(
        DriveRates::of(&run_of(&bench, unknown)).read.unwrap_err().to_string(),
        "The throughput of reads is unknown; `drivescope show a-run` says why."
    );
}

#[test]
fn what_was_not_reached_is_not_extrapolated() {
    let mut run = mapped("wd20ears");
    run.target.capacity = Bytes::new(4 * TB);
    let drive = DriveRates::of(&run);
    assert!(drive.read_time(range(0, TB)).is_ok());
    let why = drive.read_time(range(TB, 2 * TB)).unwrap_err().to_string();
    assert!(why.starts_with("Only bytes 0 to 2000398934016 of the drive were measured."), "{why}");
    assert!(plan_error(&run, Wish::Parts(2)).starts_with("Only bytes 0 to 2000398934016"));
}

#[test]
fn shingled_disks_and_flash_come_with_a_word_about_writes() {
    let cautions = |name: &str| {
        let bench = Bench::new(sim::open(name, 1).unwrap(), 1);
        DriveRates::of(&run_of(&bench, Vec::new())).cautions.join(" ")
    };
    assert!(cautions("st8000as0002").contains("It is an SMR disk"), "{}", cautions("st8000as0002"));
    assert!(cautions("970-pro").contains("flash"), "{}", cautions("970-pro"));
    assert_eq!(cautions("st3000dm001"), "");
}

/// Zones in order, most of them a little slower than the one before, as disks have them.
fn any_zones() -> impl Strategy<Value = Vec<(u64, f64)>> {
    let zone = (1u64..200_000, 0.0f64..0.05);
    prop::collection::vec(zone, 1..40).prop_map(|zones| {
        let mut rate = 250e6;
        let fall = |(mib, step): (u64, f64)| {
            rate *= 1.0 - step;
            (mib * MIB + 512, rate)
        };
        zones.into_iter().map(fall).collect()
    })
}

fn curve_of(zones: &[(u64, f64)]) -> (RateCurve, u64) {
    let mut first = 0;
    let zones: Vec<(ByteRange, f64)> = zones
        .iter()
        .map(|(bytes, rate)| {
            let zone = range(first, *bytes);
            first += bytes;
            (zone, *rate)
        })
        .collect();
    (RateCurve::exact(&zones).unwrap(), first)
}

fn target(capacity: u64, block: u64) -> TargetFacts {
    let bench = Bench::new(sim::open("zoned", 1).unwrap(), 1);
    TargetFacts { capacity: Bytes::new(capacity), logical_block: Bytes::new(block), ..bench.target.clone() }
}

fn assert_is_sound(plan: &PartitionPlan, capacity: u64, block: u64) -> Result<(), TestCaseError> {
    let mut end = MIB;
    for partition in &plan.partitions {
        let (first, bytes) = (partition.range.first().get(), partition.range.bytes().get());
        prop_assert_eq!(first, end, "a gap or an overlap");
        prop_assert!(bytes > 0 && first % MIB == 0 && bytes % MIB == 0 && first % block == 0);
        // Slivers of up to a thousandth count in the mean, but are not named as its fastest or slowest place.
        prop_assert!(partition.slowest.value <= partition.mean.value * 1.002);
        prop_assert!(partition.mean.value <= partition.fastest.value * 1.002);
        end = first + bytes;
    }
    // The second copy of the table: 16 KiB of entries and a block.
    prop_assert!(end <= capacity - 16384 - block && capacity - end < 2 * MIB + 16384 + block);
    prop_assert_eq!(plan.cuts.len() + 1, plan.partitions.len());
    Ok(())
}

proptest! {
    #[test]
    fn times_of_adjoining_stretches_add_up(zones in any_zones(), a in 0.0f64..1.0, b in 0.0f64..1.0, c in 0.0f64..1.0) {
        let (curve, capacity) = curve_of(&zones);
        let mut places = [a, b, c].map(|place| (place * capacity as f64) as u64);
        places.sort_unstable();
        let time = |from: usize, to: usize| {
            curve.time_of(range(places[from], places[to] - places[from])).unwrap().value
        };
        let (parts, whole) = (time(0, 1) + time(1, 2), time(0, 2));
        prop_assert!((parts - whole).abs() <= 1e-9 * whole + 1e-12, "{} {}", parts, whole);
    }

    #[test]
    fn partitions_tile_the_drive(
        zones in any_zones(),
        count in 1u32..20,
        share in 0.001f64..0.999,
        rate in 100e6f64..260e6,
        block in prop::sample::select(vec![512u64, 4096]),
    ) {
        let (curve, capacity) = curve_of(&zones);
        let target = target(capacity, block);
        for wish in [Wish::Parts(count), Wish::Fastest(share), Wish::AtLeast(rate)] {
            if let Ok(plan) = plan(&curve, &target, wish) {
                assert_is_sound(&plan, capacity, block)?;
                if let (Wish::Parts(count), false) = (wish, plan.cuts.is_empty()) {
                    prop_assert_eq!(plan.partitions.len(), count as usize);
                }
                if let Wish::AtLeast(rate) = wish {
                    let fast = plan.partitions.iter().filter(|partition| partition.is_fast);
                    prop_assert!(fast.into_iter().all(|partition| partition.slowest.value >= rate * (1.0 - 1e-9)));
                }
            }
        }
    }

    /// Whatever falls from the start to the end lies within what is told of its ends and its mean.
    #[test]
    fn ends_and_mean_hold_every_falling_curve(zones in any_zones(), a in 0.0f64..1.0, b in 0.0f64..1.0) {
        let (truth, capacity) = curve_of(&zones);
        let whole = ByteRange::whole(Bytes::new(capacity));
        let mean = capacity as f64 / truth.time_of(whole).unwrap().value;
        let (outer, inner) = (zones[0].1, zones[zones.len() - 1].1);
        let mut bench = Bench::new(sim::open("zoned", 1).unwrap(), 1);
        bench.target.capacity = Bytes::new(capacity);
        let mut run = run_of(&bench, Vec::new());
        run.phases = vec![whole_phase(whole)];
        let evidence = || vec![Evidence { phase: 0, start_s: 0.0, seconds: 1.0 }];
        let known = |value| rate(Estimate::exact(value), evidence());
        run.findings = vec![
            Finding::ReadRateOuter(known(outer)),
            Finding::ReadRateInner(known(inner)),
            Finding::ReadRateMean(known(mean)),
        ];
        let told = RateCurve::of(&run, Operation::Read).unwrap();
        let (a, b) = (a.min(b), a.max(b));
        let part = range((a * capacity as f64) as u64, ((b - a) * capacity as f64) as u64);
        let (told, truth) = (told.time_of(part).unwrap(), truth.time_of(part).unwrap().value);
        let slack = 1e-6 * truth + 1e-9;
        prop_assert!(told.low - slack <= truth && truth <= told.high + slack, "{:?} {}", told, truth);
    }
}

fn whole_phase(whole: ByteRange) -> model::run::PhaseSummary {
    use model::workload::{OperationMix, Pattern, Workload};
    let workload = Workload::new(whole, Pattern::Sequential, OperationMix::Read, Bytes::new(MIB), 4);
    model::run::PhaseSummary {
        phase: model::plan::Phase {
            name: String::new(),
            experiment: "surface".into(),
            kind: model::plan::PhaseKind::Measure,
            workload: Some(workload),
            stop: model::plan::StopCondition::one_pass(),
        },
        start_ns: 0,
        duration_ns: 1,
        stopped: Some(model::plan::StopReason::Passes),
        totals: Vec::new(),
        files: None,
        page_cache: None,
        processor_wait_ns: 0,
        spun_ns: 0,
        late_bytes: 0,
    }
}
