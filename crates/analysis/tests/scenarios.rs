//! For each detector a run in which it fires, with its literal outcome, and one in which it must not.

mod bench;

use analysis::analyse;
use bench::{Bench, conclusion, find, reason, survey_reason, value};
use model::finding::{
    AccessTime, AccessTimeUnknown, BadBlocks, BadBlocksUnknown, BadRegion, CacheInfluence, CacheSign,
    ConcurrencyGain, ConcurrencyUnknown, DataIntegrity, DeviceLost, Finding, FindingCode, FullPassTime,
    InFlight, Outcome, RateOf, SequentialRate, SurveyUnknown, WrongRegion, known,
};
use model::histogram::LatencyHistogram;
use model::payload::Mark;
use model::plan::{PhaseKind, StopCondition};
use model::range::ByteRange;
use model::record::ErrorRecord;
use model::request::{Operation, Status};
use model::run::{OperationTotals, PhaseSummary, RunView};
use model::target::{Caveat, Link, TargetKind};
use model::units::{Bytes, Instant, MIB, Nanos, Offset};
use model::workload::{DataPattern, OperationMix, Pattern, Workload};
use sim::Drive;
use sim::fault::{Fault, FaultyDrive};

fn built_in(name: &str) -> Bench {
    Bench::new(sim::open(name, 1).unwrap(), 2)
}

fn checked(name: &str) -> Bench {
    let mut bench = built_in(name);
    bench.check(true);
    bench
}

const SPEEDS: [FindingCode; 10] = [
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ReadRateMean,
    FindingCode::WriteRateOuter,
    FindingCode::WriteRateInner,
    FindingCode::WriteRateMean,
    FindingCode::FullPassTime,
    FindingCode::AccessTime,
    FindingCode::ConcurrencyGain,
    FindingCode::ConcurrencyKnee,
];

#[test]
fn nothing_is_known_of_a_null_drive() {
    let bench = checked("null");
    let findings = analyse(&bench.view());
    for finding in &findings {
        assert_eq!(finding.estimate(), None, "{finding:?}");
    }
    for code in &SPEEDS[..7] {
        assert_eq!(survey_reason(&bench, *code), SurveyUnknown::NoTime);
    }
    assert_eq!(findings.len(), SPEEDS.len());
}

#[test]
fn what_was_not_asked_is_not_answered() {
    let mut bench = built_in("zoned");
    assert_eq!(analyse(&bench.view()), []);
    bench.random(bench.whole(), OperationMix::Read, &[1, 4], 3);
    let codes: Vec<FindingCode> = analyse(&bench.view()).iter().map(|finding| finding.code()).collect();
    assert_eq!(codes, [FindingCode::AccessTime, FindingCode::ConcurrencyGain]);
}

/// What is true of a drive, of the codes that `check` looks for.
fn told(name: &str) -> Vec<(FindingCode, f64)> {
    let truths = sim::truth::truth(name).unwrap();
    let looked_for = truths.iter().filter(|truth| SPEEDS.contains(&truth.code));
    looked_for.map(|truth| (truth.code, truth.value().unwrap())).collect()
}

/// 4 MiB in 100 µs; 8 servers; nothing else to find.
#[test]
fn a_constant_drive_is_known_exactly() {
    let bench = checked("constant");
    for (code, truth) in told("constant") {
        let finding = find(&bench, code);
        let estimate = finding.as_ref().and_then(Finding::estimate).unwrap_or_else(|| panic!("{finding:?}"));
        // A knee is known to the numbers that were measured beside it.
        let is_narrow = code == FindingCode::ConcurrencyKnee || estimate.relative_half_width() < 0.02;
        assert!(estimate.covers(truth) && is_narrow, "{code:?} {estimate:?} {truth}");
    }
    let codes: Vec<FindingCode> = analyse(&bench.view()).iter().map(|finding| finding.code()).collect();
    assert_eq!(codes, SPEEDS);
    let outer: SequentialRate = conclusion(&bench, FindingCode::ReadRateOuter);
    assert_eq!(outer.of, RateOf::Edge { is_whole: true, may_rotate: false });
    let findings = analyse(&bench.view());
    let access = &known::<AccessTime>(&findings).unwrap().conclusion;
    assert!((access.median_s.unwrap() - 100e-6).abs() < 1e-6, "{access:?}");
    let gain = &known::<ConcurrencyGain>(&findings).unwrap().conclusion;
    assert_eq!(gain.best, InFlight::Depth(8));
    assert!((gain.points[0].iops - 10_000.0).abs() < 100.0, "{gain:?}");
}

/// Processors that were late by 10 µs for each read, and an engine of 1 µs: the drive alone may be as much faster, and no slower.
#[test]
fn what_the_host_adds_to_a_latency_widens_its_interval_downwards() {
    let mut bench = built_in("constant");
    bench.random(bench.whole(), OperationMix::Read, &[1], 3);
    let before: AccessTime = conclusion(&bench, FindingCode::AccessTime);
    assert_eq!(before.measured.unwrap().host_s, 0.0);
    bench.environment.own_cost_ns_per_io = Some(1000.0);
    for summary in &mut bench.phases {
        summary.processor_wait_ns = 10_000 * summary.operations();
    }
    let late: AccessTime = conclusion(&bench, FindingCode::AccessTime);
    assert!((late.measured.unwrap().host_s - 11e-6).abs() < 1e-9, "{late:?}");
    assert!((before.mean.low - late.mean.low - 11e-6).abs() < 1e-9, "{late:?}");
    assert_eq!((late.mean.value, late.mean.high), (before.mean.value, before.mean.high));
}

#[test]
fn a_disk_has_an_outer_and_an_inner_edge() {
    let bench = checked("zoned");
    for (code, truth) in told("zoned") {
        let found = value(&bench, code).unwrap();
        assert!((found / truth - 1.0).abs() < 0.05, "{code:?} {found} {truth}");
    }
    let inner: SequentialRate = conclusion(&bench, FindingCode::WriteRateInner);
    assert_eq!(inner.of, RateOf::Edge { is_whole: true, may_rotate: true });
    let pass: FullPassTime = conclusion(&bench, FindingCode::FullPassTime);
    assert_eq!(pass.operation, Operation::Read);
    assert!(pass.write.is_some_and(|seconds| (4000.0..5000.0).contains(&seconds)), "{pass:?}");
    assert!(pass.covers_capacity);
    assert!(find(&bench, FindingCode::FullPassTime).unwrap().caveats().is_empty());
}

#[test]
fn every_finding_rests_on_phases_that_were_measured() {
    let bench = checked("zoned");
    for finding in analyse(&bench.view()) {
        assert!(finding.is_known() && !finding.evidence().is_empty(), "{}", finding.code().name());
        for evidence in finding.evidence() {
            let PhaseSummary { phase, start_ns, .. } = &bench.phases[evidence.phase as usize];
            assert_eq!((phase.kind, *start_ns as f64 / 1e9), (PhaseKind::Measure, evidence.start_s));
        }
    }
}

#[test]
fn a_part_of_a_drive_is_called_so() {
    let mut bench = built_in("zoned");
    let part = ByteRange::new(Offset::new(100_000 * MIB), Bytes::new(100_000 * MIB)).unwrap();
    bench.sequential(part, OperationMix::Read, 2);
    bench.random(part, OperationMix::Read, &[1], 1);
    let outer: SequentialRate = conclusion(&bench, FindingCode::ReadRateOuter);
    assert_eq!(outer.of, RateOf::Edge { is_whole: false, may_rotate: true });
    let pass: FullPassTime = conclusion(&bench, FindingCode::FullPassTime);
    assert_eq!((pass.range, pass.covers_capacity), (part, false));
}

#[test]
fn a_place_that_cannot_be_read_is_one_place() {
    let mut bench = built_in("faulty");
    let around = ByteRange::new(Offset::new(299_999_232 * 1000), Bytes::new(64 * MIB)).unwrap();
    let workload = Workload::new(around, Pattern::Sequential, OperationMix::Read, Bytes::from_mib(1), 4);
    bench.run(PhaseKind::Measure, workload, StopCondition::one_pass());
    let bad: BadBlocks = conclusion(&bench, FindingCode::BadBlocks);
    // 768,000 bytes lie between the start of the range and 300 GB; so the 1st to the 17th of the requests fail.
    let region = BadRegion { first_byte: 299_999_232_000, bytes: 17 * MIB, count: 17 };
    assert_eq!((bad.count(), bad.errors, bad.regions), (1, 17, vec![region]));
    assert_eq!(bench.phases[0].operations(), 64 - 17);
    assert_eq!(find(&checked("constant"), FindingCode::BadBlocks), None);
}

#[test]
fn errors_are_never_speed() {
    let all = ByteRange::whole(Bytes::new(1 << 50));
    let drive = FaultyDrive::new(sim::open("constant", 1).unwrap(), vec![Fault::Unreadable(all)]);
    let mut bench = Bench::new(Box::new(drive), 1);
    bench.sequential(bench.whole(), OperationMix::Read, 2);
    bench.random(bench.whole(), OperationMix::Read, &[1, 4], 2);
    bench.series.errors.truncate(1000);
    for code in [FindingCode::ReadRateOuter, FindingCode::ReadRateMean, FindingCode::FullPassTime] {
        assert_eq!(survey_reason(&bench, code), SurveyUnknown::NoneUsable { samples: 60 });
    }
    assert_eq!(
        find(&bench, FindingCode::AccessTime),
        Some(Finding::AccessTime(Outcome::Unknown(AccessTimeUnknown::TooFewReads { have: 0, need: 30 })))
    );
    assert_eq!(
        find(&bench, FindingCode::ConcurrencyGain),
        Some(Finding::ConcurrencyGain(Outcome::Unknown(ConcurrencyUnknown::TooFewRounds)))
    );
}

#[test]
fn short_reads_are_errors() {
    let drive = FaultyDrive::new(sim::open("constant", 1).unwrap(), vec![Fault::ShortReads { every: 100 }]);
    let mut bench = Bench::new(Box::new(drive), 1);
    bench.random(bench.whole(), OperationMix::Read, &[1], 1);
    assert_eq!((bench.phases[0].operations(), bench.phases[0].errors()), (5_940, 60));
    assert!(value(&bench, FindingCode::BadBlocks).unwrap() > 50.0);
}

#[test]
fn a_drive_that_goes_away_is_lost_and_the_rest_is_kept() {
    let gone =
        FaultyDrive::new(sim::open("zoned", 1).unwrap(), vec![Fault::GoneAt(Instant::new(60_000_000_000))]);
    let mut bench = Bench::new(Box::new(gone), 2);
    bench.check(true);
    let lost_s = value(&bench, FindingCode::DeviceLost).unwrap();
    assert!((60.0..60.2).contains(&lost_s), "{lost_s}");
    assert!((value(&bench, FindingCode::ReadRateOuter).unwrap() / 150e6 - 1.0).abs() < 0.01);
    assert_eq!(find(&bench, FindingCode::BadBlocks), None);
    assert_eq!(find(&checked("zoned"), FindingCode::DeviceLost), None);
}

/// What the drive answers after its death is the error of a bad block, all over it.
#[test]
fn a_drive_that_fails_everywhere_from_some_moment_on_is_lost() {
    let all = ByteRange::whole(Bytes::new(1 << 50));
    let mut bench = built_in("constant");
    bench.random(bench.whole(), OperationMix::Read, &[1], 2);
    let dead = FaultyDrive::new(sim::open("constant", 1).unwrap(), vec![Fault::Unreadable(all)]);
    let mut dead = Bench::new(Box::new(dead), 1);
    dead.random(dead.whole(), OperationMix::Read, &[1], 1);
    let (before, died_ns) = (bench.phases.len(), 100_000_000_000);
    let failed: u64 = dead.phases.iter().map(|summary| summary.errors()).sum();
    bench.phases.extend(dead.phases.into_iter().map(|mut summary| {
        summary.start_ns += died_ns;
        summary
    }));
    bench.series.errors.extend(dead.series.errors.into_iter().map(|mut error| {
        (error.phase, error.at_ns) = (error.phase + before as u32, error.at_ns + died_ns);
        error
    }));
    let lost_s = value(&bench, FindingCode::DeviceLost).unwrap();
    assert!((100.0..100.1).contains(&lost_s), "{lost_s}");
    assert_eq!(conclusion::<DeviceLost>(&bench, FindingCode::DeviceLost).failed, Some(failed));
    let silent = reason::<BadBlocks>(&bench, FindingCode::BadBlocks);
    assert!(matches!(silent, BadBlocksUnknown::Silent { .. }), "{silent:?}");

    // The same failures within one part of the drive are bad blocks.
    bench.series.errors.iter_mut().for_each(|error| error.offset_bytes /= 100);
    assert_eq!(find(&bench, FindingCode::DeviceLost), None);
    assert!(value(&bench, FindingCode::BadBlocks).unwrap() >= 1.0);
}

/// A flush that fails has no place: it stands at byte 0 in the records, and nothing is wrong there. A commit is one, too.
#[test]
fn a_flush_that_fails_is_no_bad_block() {
    let mut bench = built_in("faulty");
    let around = ByteRange::new(Offset::new(299_999_232 * 1000), Bytes::new(64 * MIB)).unwrap();
    let workload = Workload::new(around, Pattern::Sequential, OperationMix::Read, Bytes::from_mib(1), 4);
    bench.run(PhaseKind::Measure, workload, StopCondition::one_pass());
    let mut flush = bench.series.errors[0];
    (flush.operation, flush.offset_bytes, flush.length_bytes) = (Operation::Flush, 0, 0);
    bench.series.errors.insert(0, flush);
    assert_eq!(value(&bench, FindingCode::BadBlocks), Some(1.0));
    bench.series.errors.truncate(1);
    for operation in [Operation::Flush, Operation::Commit] {
        bench.series.errors[0].operation = operation;
        let found = reason::<BadBlocks>(&bench, FindingCode::BadBlocks);
        let BadBlocksUnknown::OnlyDurability { operation: told, failed, .. } = found else {
            panic!("{found:?}")
        };
        assert_eq!((told, failed), (operation, 1));
    }
}

#[test]
fn a_refusal_says_nothing_of_the_medium() {
    let mut bench = built_in("constant");
    let whole = bench.whole();
    let workload = Workload::new(whole, Pattern::Sequential, OperationMix::Write, Bytes::from_mib(1), 1);
    bench.target.capacity = Bytes::new(2 * whole.bytes().get());
    let past = ByteRange::new(whole.end(), Bytes::new(4 * MIB)).unwrap();
    bench.run(PhaseKind::Measure, Workload { range: past, ..workload }, StopCondition::one_pass());
    let refused =
        BadBlocksUnknown::Refused { failed: 4, first_byte: 1_000_000_000_000, status: Status::NoSpace };
    assert_eq!(reason::<BadBlocks>(&bench, FindingCode::BadBlocks), refused);
}

/// A drive of one server and 5 µs: memory.
#[test]
fn answers_as_fast_as_memory_are_not_a_drive() {
    let mut bench = checked("constant");
    quicken(&mut bench, 20);
    let finding = find(&bench, FindingCode::CacheInfluence).unwrap();
    assert_eq!(finding.estimate().unwrap().value, 1.0);
    let [CacheSign::FasterThanFlash { median_s }] =
        conclusion::<CacheInfluence>(&bench, FindingCode::CacheInfluence).reasons[..]
    else {
        panic!("{finding:?}")
    };
    assert!((5.0e-6..5.1e-6).contains(&median_s), "{median_s}");
    assert!(!find(&bench, FindingCode::AccessTime).unwrap().caveats().is_empty());
    assert_eq!(find(&checked("constant"), FindingCode::CacheInfluence), None);
    assert_eq!(find(&checked("zoned"), FindingCode::CacheInfluence), None);
}

/// Makes all latencies `factor` times shorter.
fn quicken(bench: &mut Bench, factor: u64) {
    for totals in bench.phases.iter_mut().flat_map(|summary| &mut summary.totals) {
        let mut histogram = LatencyHistogram::default();
        let latency_ns = totals.histogram.min().unwrap().get() / factor;
        (0..totals.histogram.count()).for_each(|_| histogram.record(latency_ns));
        totals.histogram = histogram;
    }
}

#[test]
fn a_disk_that_answers_at_once_and_a_link_that_is_outrun_are_caches() {
    let mut bench = checked("constant");
    bench.target.rotational = Some(true);
    bench.target.link = Some(Link { name: "SATA 6 Gbit/s".into(), bytes_per_second_max: Some(600e6) });
    assert_eq!(value(&bench, FindingCode::CacheInfluence), Some(2.0));
    let reasons = conclusion::<CacheInfluence>(&bench, FindingCode::CacheInfluence).reasons;
    assert!(
        matches!(
            reasons[..],
            [CacheSign::FasterThanDisk { .. }, CacheSign::FasterThanLink { link: 600e6, .. }]
        ),
        "{reasons:?}"
    );
}

#[test]
fn caveats_are_carried_by_every_speed() {
    let mut bench = checked("zoned");
    bench.target.kind = TargetKind::File;
    bench.target.caveats = vec![Caveat::NotDirect, Caveat::InPageCache];
    assert_eq!(value(&bench, FindingCode::CacheInfluence), Some(2.0));
    for code in SPEEDS {
        let finding = find(&bench, code).unwrap();
        assert_eq!(finding.caveats(), ["not-direct", "in-page-cache"], "{}", code.name());
    }
}

#[test]
fn too_few_visits_are_too_few() {
    let mut bench = built_in("zoned");
    bench.sequential(bench.whole(), OperationMix::Read, 1);
    // Half a round, cut short before both visits to the start.
    let capacity = bench.target.capacity.get();
    let at_start = |summary: &PhaseSummary| {
        let range = summary.phase.workload.as_ref().unwrap().range;
        range.end().get() < capacity / 50
    };
    let visits: Vec<usize> =
        (0..bench.phases.len()).filter(|&number| at_start(&bench.phases[number])).collect();
    bench.phases.truncate(visits[1]);
    assert_eq!(
        survey_reason(&bench, FindingCode::ReadRateOuter),
        SurveyUnknown::TooFewAtEdge { start: true, needed: 2 }
    );
    bench.phases.truncate(5);
    let mean = survey_reason(&bench, FindingCode::ReadRateMean);
    assert!(matches!(mean, SurveyUnknown::TooFewSamples { .. }), "{mean:?}");
}

#[test]
fn one_server_that_does_not_sort_gains_nothing() {
    let drive = FaultyDrive::new(sim::open("constant", 1).unwrap(), Vec::new());
    let mut bench = Bench::new(Box::new(drive), 1);
    // The rounds of depth 1 pass for those of depth 2.
    bench.random(bench.whole(), OperationMix::Read, &[1], 6);
    for summary in &mut bench.phases[3..] {
        summary.phase.workload.as_mut().unwrap().queue_depth = 2;
    }
    let gain = find(&bench, FindingCode::ConcurrencyGain).unwrap().estimate().unwrap();
    assert!((gain.value - 1.0).abs() < 0.005 && gain.low <= 1.0 && gain.high < 1.5, "{gain:?}");
}

#[test]
fn warm_up_is_not_measured() {
    let mut bench = built_in("zoned");
    for _ in 0..3 {
        let whole = bench.whole();
        let workload = Workload::new(whole, Pattern::RandomOnce, OperationMix::Read, Bytes::new(4096), 1);
        bench.run(PhaseKind::WarmUp, workload, StopCondition::after(Nanos::from_secs(1)));
    }
    assert_eq!(analyse(&bench.view()), []);
}

#[test]
fn the_same_records_give_the_same_findings() {
    let (first, second) = (checked("zoned"), checked("zoned"));
    let of = |bench: &Bench| {
        let view: RunView<'_> = bench.view();
        analyse(&view)
    };
    assert_eq!(of(&first), of(&second));
    assert_eq!(of(&first), of(&first));
}

#[test]
fn every_code_of_the_registry_has_its_scenario() {
    let page = concat!(
        include_str!("scenarios.rs"),
        include_str!("surface_scenarios.rs"),
        include_str!("access_scenarios.rs"),
        include_str!("limit_scenarios.rs"),
        include_str!("datasheet_claims.rs"),
        include_str!("../../judge/tests/scores/access.rs"),
        include_str!("../../judge/tests/scores/geometry.rs"),
        include_str!("../../judge/tests/scores/stripe.rs"),
        include_str!("sustain_scenarios.rs"),
        include_str!("file_scenarios.rs"),
        include_str!("valley_scenarios.rs"),
        include_str!("../../judge/tests/scores/commit.rs"),
        include_str!("../../judge/tests/scores/recording.rs"),
        include_str!("../../judge/tests/scores/size.rs"),
        include_str!("../../judge/tests/scores/sustain.rs"),
        include_str!("../../judge/tests/scores/valley.rs"),
        include_str!("../../drivescope/tests/commands/ping.rs"),
        include_str!("../../drivescope/tests/commands/verify.rs"),
    );
    for detector in analysis::detector::REGISTRY {
        for code in detector.codes {
            let variant = format!("FindingCode::{code:?}");
            // What rests on single I/Os is tested through the program, where codes have their names.
            let name = format!("\"{}\"", code.name());
            let path = model::with_conclusion!(*code, C => std::any::type_name::<C>());
            let known = format!("known::<{}>", path.rsplit("::").next().unwrap());
            let is_met = [&variant, &name, &known].iter().any(|words| page.contains(words.as_str()));
            assert!(is_met, "{variant} has no scenario");
        }
    }
    let drive: Box<dyn Drive> = sim::open("null", 0).unwrap();
    assert_eq!(drive.facts().kind, TargetKind::Sim);
}

/// What is only in a cache is not yet written: a visit of 64 MiB in 0.5 s with a flush of 0.5 s after it ran at half.
#[test]
fn the_time_of_a_flush_counts_as_time_of_writing() {
    let mut bench = checked("constant");
    let before = value(&bench, FindingCode::WriteRateMean).unwrap();
    for summary in &mut bench.phases {
        if summary.phase.workload.as_ref().is_some_and(|workload| workload.mix == OperationMix::Write) {
            let mut histogram = LatencyHistogram::default();
            histogram.record(summary.duration_ns);
            let totals = OperationTotals {
                operation: Operation::Flush,
                operations: 1,
                bytes: 0,
                errors: 0,
                histogram,
                stretch: None,
            };
            summary.totals.push(totals);
        }
    }
    let after = value(&bench, FindingCode::WriteRateMean).unwrap();
    assert!((after / before - 0.5).abs() < 0.01, "{before} {after}");
}

/// Three comparing reads of 1 MiB, of which the second found something else.
fn compared(kind: TargetKind) -> Bench {
    let mut bench = built_in("constant");
    bench.target.kind = kind;
    let range = ByteRange::new(Offset::START, Bytes::new(3 * MIB)).unwrap();
    let mut workload = Workload::new(range, Pattern::Sequential, OperationMix::Read, Bytes::new(MIB), 1);
    workload.data = DataPattern::Marked(Mark { key: 7, generation: 1 });
    bench.run(PhaseKind::Verify, workload, StopCondition::one_pass());
    bench.series.errors.push(ErrorRecord {
        phase: 0,
        at_ns: 5,
        operation: Operation::Read,
        offset_bytes: MIB,
        length_bytes: 1 << 20,
        status: Status::WrongData,
    });
    let totals = &mut bench.phases[0].totals[0];
    (totals.errors, totals.operations, totals.bytes) = (1, totals.operations - 1, totals.bytes - MIB);
    bench
}

#[test]
fn data_that_changed_are_counted_with_their_place() {
    let bench = compared(TargetKind::Device);
    // 1 MiB in blocks of 4 KiB.
    assert_eq!(value(&bench, FindingCode::DataIntegrity), Some(256.0));
    let integrity: DataIntegrity = conclusion(&bench, FindingCode::DataIntegrity);
    assert_eq!(integrity.regions, [WrongRegion { first_byte: MIB, bytes: MIB, blocks: 256 }]);
    assert!(find(&checked("constant"), FindingCode::DataIntegrity).is_none(), "nobody compared anything");
}
