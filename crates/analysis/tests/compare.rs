//! Runs set side by side: a drive that did not change must not look as if it had, and one that did must be found out. The drives
//! are drawn from what is known of disks: zones, surfaces that differ by 1.7 %, and 1 % for the part of a track that is cut.

use analysis::compare::{ComparedRun, compare};
use model::comparison::{ChangeUnknown, ChangedRegion, Comparison};
use model::estimate::Estimate;
use model::finding::{
    Finding, FindingCode, Outcome, ProbeTimes, RateOf, Recording, RecordingKind, RotationPeriod,
    SequentialRate, SurveyUnknown,
};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::prng::Prng;
use model::range::ByteRange;
use model::request::Operation;
use model::run::{
    CompletionStretch, Environment, MemorySeries, OperationTotals, PhaseSummary, Run, RunStatus,
};
use model::target::{Link, TargetFacts, TargetKind};
use model::units::{Bytes, Offset};
use model::workload::{OperationMix, Pattern, Workload};

const CAPACITY: u64 = 3_000_592_982_016;
const VISIT: Bytes = Bytes::new(16 << 20);
/// How much a surface holds in a row.
const SURFACE_BYTES: u64 = 150_000_000;

/// A disk: where its zones begin, how fast they are, and how fast each surface is.
struct Disk {
    zones: Vec<(u64, f64)>,
    surfaces: Vec<f64>,
}

impl Disk {
    fn drawn(prng: &mut Prng) -> Disk {
        let count = 15 + prng.below(46);
        let ratio = 1.5 + 0.8 * prng.unit();
        let outer = 120e6 + 150e6 * prng.unit();
        let mut cuts: Vec<u64> = (1..count).map(|_| prng.below(CAPACITY)).collect();
        cuts.sort_unstable();
        let zones = std::iter::once(0).chain(cuts).enumerate().map(|(index, first)| {
            let share = index as f64 / (count - 1) as f64;
            (first, outer * (1.0 - (1.0 - 1.0 / ratio) * share))
        });
        let zones = zones.collect();
        Disk { zones, surfaces: (0..6 + prng.below(5)).map(|_| 0.017 * prng.normal()).collect() }
    }

    fn bytes_per_second(&self, at: u64, prng: &mut Prng) -> f64 {
        let zone = self.zones.partition_point(|(first, _)| *first <= at) - 1;
        let surface = self.surfaces[(at / SURFACE_BYTES) as usize % self.surfaces.len()];
        self.zones[zone].1 * (surface + 0.01 * prng.normal()).exp()
    }

    /// A run of visits to random places, and more at both ends; `slowdown` is a factor on the time at a place.
    fn survey(&self, visits: u64, prng: &mut Prng, slowdown: impl Fn(u64) -> f64) -> Run {
        let edge = CAPACITY / 100;
        let mut places: Vec<u64> = (0..visits).map(|_| prng.below(CAPACITY - VISIT.get())).collect();
        places.extend((0..visits / 10).map(|_| prng.below(edge)));
        places.extend((0..visits / 10).map(|_| CAPACITY - VISIT.get() - prng.below(edge)));
        prng.shuffle(&mut places);
        let mut now_ns = 0;
        let phases = places.into_iter().map(|at| {
            let at = at / 4096 * 4096;
            let phase = visit(at, self.bytes_per_second(at, prng) / slowdown(at), now_ns);
            now_ns += phase.duration_ns;
            phase
        });
        run(phases.collect())
    }
}

fn visit(first: u64, bytes_per_second: f64, start_ns: u64) -> PhaseSummary {
    let first_bytes = 1 << 20;
    let first_ns = start_ns + 20_000_000;
    let last_ns = first_ns + ((VISIT.get() - first_bytes) as f64 / bytes_per_second * 1e9) as u64;
    let range = ByteRange::new(Offset::new(first), VISIT).unwrap();
    let mut histogram = LatencyHistogram::small();
    (0..16).for_each(|_| histogram.record((last_ns - start_ns) / 4));
    PhaseSummary {
        duration_ns: last_ns - start_ns,
        stopped: Some(StopReason::Passes),
        totals: vec![OperationTotals {
            operation: Operation::Read,
            operations: 16,
            bytes: VISIT.get(),
            errors: 0,
            histogram,
            stretch: Some(CompletionStretch { first_ns, last_ns, first_bytes, second: None, drained: None }),
        }],
        ..PhaseSummary::begun(
            Phase {
                name: "visit".into(),
                experiment: "surface".into(),
                kind: PhaseKind::Measure,
                workload: Some(Workload::new(
                    range,
                    Pattern::Sequential,
                    OperationMix::Read,
                    Bytes::from_mib(1),
                    4,
                )),
                stop: StopCondition::one_pass(),
            },
            start_ns,
        )
    }
}

fn run(phases: Vec<PhaseSummary>) -> Run {
    Run {
        id: "run".into(),
        started: "2026-11-21T20:15:07Z".into(),
        finished: Some("2026-11-21T20:17:40Z".into()),
        status: RunStatus::Complete,
        version: "0.1.0".into(),
        command: "drivescope surface /dev/sdb".into(),
        asked: None,
        seed: 1,
        target: TargetFacts {
            kind: TargetKind::Device,
            path: "/dev/sdb".into(),
            capacity: Bytes::new(CAPACITY),
            logical_block: Bytes::new(512),
            physical_block: Bytes::new(4096),
            model: Some("ST3000DM001-1CH166".into()),
            serial: Some("W1F1ABCD".into()),
            firmware: None,
            rotational: Some(true),
            link: Some(Link { name: "SATA 6.0 Gbit/s".into(), bytes_per_second_max: Some(6e8) }),
            scheduler: None,
            read_ahead: None,
            write_cache: None,
            discard_max: None,
            zoned: None,
            stack: vec!["sdb".into()],
            stated_layout: None,
            caveats: vec![],
        },
        environment: Environment { engine: "uring".into(), direct: true, ..Environment::default() },
        state_before: vec![],
        state_after: vec![],
        phases,
        findings: vec![],
    }
}

fn compared(runs: &[&Run]) -> Comparison {
    let series = MemorySeries::default();
    let names = ["A", "B", "C", "D"];
    let compared: Vec<ComparedRun<'_>> =
        runs.iter().zip(names).map(|(run, name)| ComparedRun { name, run, series: &series }).collect();
    compare(&compared)
}

fn regions(comparison: &Comparison) -> Vec<ChangedRegion> {
    assert_eq!(comparison.changes.len(), 1, "{:?}", comparison.changes);
    comparison.changes[0].outcome.clone().unwrap().regions
}

/// The promise of the tables: at most one pair in twenty of a drive that did not change is said to have changed.
#[test]
fn a_drive_that_did_not_change_is_said_to_be_the_same() {
    const PAIRS: u64 = 500;
    let mut alarms = 0;
    let mut cells = 0;
    for seed in 0..PAIRS {
        let mut prng = Prng::new(seed, 7);
        let disk = Disk::drawn(&mut prng);
        let visits = 30 + prng.below(600);
        let (a, b) = (disk.survey(visits, &mut prng, |_| 1.0), disk.survey(visits, &mut prng, |_| 1.0));
        let comparison = compared(&[&a, &b]);
        alarms += u64::from(!regions(&comparison).is_empty());
        cells += comparison.changes[0].outcome.as_ref().unwrap().cells;
    }
    println!(
        "pairs of a drive that did not change: {alarms} of {PAIRS} reported a change, over {cells} cells"
    );
    assert!(alarms * 20 <= PAIRS, "{alarms} of {PAIRS}");
}

/// A tenth of the range became 12 % slower; and a survey of a different number of places is compared as well.
#[test]
fn a_region_that_became_slower_is_found_where_it_is() {
    let (first, end) = (1_200_000_000_000, 1_500_000_000_000);
    let slowdown = |at: u64| if (first..end).contains(&at) { 1.0 / 0.88 } else { 1.0 };
    let (mut found, mut covered, mut elsewhere) = (0, 0, 0);
    const PAIRS: u64 = 100;
    for seed in 0..PAIRS {
        let mut prng = Prng::new(seed, 8);
        let disk = Disk::drawn(&mut prng);
        let (a, b) = (disk.survey(400, &mut prng, |_| 1.0), disk.survey(300, &mut prng, slowdown));
        let regions = regions(&compared(&[&a, &b]));
        let overlaps =
            |region: &&ChangedRegion| region.range.first().get() < end && region.range.end().get() > first;
        let (inside, outside): (Vec<_>, Vec<_>) = regions.iter().partition(overlaps);
        elsewhere += outside.len();
        let Some(region) = inside.first() else { continue };
        found += 1;
        // A cell is about a fortieth of the range.
        assert!(region.range.first().get().abs_diff(first) < CAPACITY / 12, "{seed}: {region:?}");
        assert!(region.range.end().get().abs_diff(end) < CAPACITY / 12, "{seed}: {region:?}");
        assert!(region.rate_ratio.value < 0.96, "{seed}: {region:?}");
        covered += u64::from(region.rate_ratio.covers(0.88));
    }
    println!(
        "12 % slower over a tenth: found {found} of {PAIRS}, interval holds 0.88 in {covered}, {elsewhere} elsewhere"
    );
    // One cell in fifty that stands may be none, and of some drives several cells stand.
    assert!(found >= 99 && elsewhere <= 15, "{found} {elsewhere}");
    // A region of one or two cells holds some of what did not change.
    assert!(covered * 100 >= found * 85, "{covered} of {found}");
}

#[test]
fn a_drive_that_is_slower_everywhere_is_one_region() {
    let mut prng = Prng::new(3, 9);
    let disk = Disk::drawn(&mut prng);
    let (a, b) = (disk.survey(400, &mut prng, |_| 1.0), disk.survey(400, &mut prng, |_| 1.25));
    let regions = regions(&compared(&[&a, &b]));
    assert_eq!(regions.len(), 1);
    // Visits at random places leave a little out at either end.
    assert!(regions[0].range.first().get() < CAPACITY / 100, "{regions:?}");
    assert!(regions[0].range.end().get() > CAPACITY - CAPACITY / 100, "{regions:?}");
    assert!(regions[0].rate_ratio.covers(0.8), "{regions:?}");
}

/// The run that began first is the one before, whatever the order in which they are given.
#[test]
fn time_decides_which_run_was_before() {
    let mut prng = Prng::new(3, 9);
    let disk = Disk::drawn(&mut prng);
    let (mut a, mut b) = (disk.survey(100, &mut prng, |_| 1.2), disk.survey(100, &mut prng, |_| 1.0));
    a.started = "2027-11-21T20:15:07Z".into();
    let comparison = compared(&[&a, &b]);
    assert_eq!((comparison.changes[0].earlier, comparison.changes[0].later), (1, 0));
    assert!(regions(&comparison)[0].rate_ratio.value < 0.9);
    // Virtual drives have no calendar: the order given counts.
    for run in [&mut a, &mut b] {
        run.target.kind = TargetKind::Sim;
    }
    assert_eq!(compared(&[&a, &b]).changes[0].earlier, 0);
    b.target.path = "sim:other".into();
    assert!(compared(&[&a, &b]).changes.is_empty());
}

#[test]
fn too_few_places_are_said_to_be_too_few() {
    let mut prng = Prng::new(3, 9);
    let disk = Disk::drawn(&mut prng);
    let (a, b) = (disk.survey(4, &mut prng, |_| 1.0), disk.survey(100, &mut prng, |_| 1.0));
    let reason = compared(&[&a, &b]).changes[0].outcome.clone().unwrap_err();
    assert!(matches!(reason, ChangeUnknown::TooFewSamples { .. }), "{reason:?}");
}

#[test]
fn figures_that_differ_stand_and_others_do_not() {
    let known = |value: f64, share: f64| {
        let estimate = Estimate {
            value,
            low: value * (1.0 - share),
            high: value * (1.0 + share),
            confidence: 0.95,
            effective_count: 24.0,
        };
        let of = RateOf::Edge { is_whole: true, may_rotate: true };
        Outcome::known(SequentialRate::new(estimate, of), vec![])
    };
    let mut a = run(vec![]);
    a.findings = vec![
        Finding::ReadRateOuter(known(211e6, 0.01)),
        Finding::ReadRateInner(known(104e6, 0.01)),
        Finding::ReadRateMean(Outcome::Unknown(SurveyUnknown::NoTime)),
    ];
    let mut b = a.clone();
    b.findings = vec![
        Finding::ReadRateOuter(known(201e6, 0.01)),
        Finding::ReadRateInner(known(104.9e6, 0.01)),
        Finding::ReadRateMean(known(160e6, 0.01)),
    ];
    let figures = compared(&[&a, &b]).figures;
    let significant: Vec<bool> =
        figures.iter().flat_map(|figure| &figure.differences).map(|d| d.is_significant).collect();
    assert_eq!(
        figures.iter().map(|figure| figure.code.name()).collect::<Vec<_>>(),
        ["read-rate-outer", "read-rate-inner", "read-rate-mean"]
    );
    assert_eq!(significant, [true, false]);
    assert!((figures[0].differences[0].ratio.value - 201.0 / 211.0).abs() < 1e-9);
    assert_eq!(figures[2].values[0], None);
}

/// Two runs of one disk, of which one says 7200 rpm and CMR and the other 5400 rpm and SMR.
#[test]
fn runs_of_one_drive_that_exclude_each_other_are_contradictions() {
    let says = |period_s: f64, recording: Recording| {
        let period = Estimate { low: period_s * 0.999, high: period_s * 1.001, ..Estimate::exact(period_s) };
        let period = RotationPeriod {
            period: Estimate { confidence: 0.95, effective_count: 100.0, ..period },
            rpm: 60.0 / period_s,
            phase_scatter_turns: 0.001,
            repeated_reads: 10,
            repeated_reads_in_phase: 10,
        };
        let times = ProbeTimes::default();
        let kind = RecordingKind { recording, reasons: Vec::new(), times, cost_after_cliff: None };
        let mut run = run(vec![]);
        run.findings = vec![
            Finding::RotationPeriod(Outcome::known(period, vec![])),
            Finding::RecordingKind(Outcome::known(kind, vec![])),
        ];
        run
    };
    let codes = |a: &Run, b: &Run| -> Vec<FindingCode> {
        let contradictions = compared(&[a, b]).contradictions;
        contradictions.iter().map(|found| found.between[0].code).collect()
    };
    let (a, b) = (says(8.3333e-3, Recording::Cmr), says(11.1111e-3, Recording::Smr));
    assert_eq!(codes(&a, &b), [FindingCode::RotationPeriod, FindingCode::RecordingKind]);
    assert_eq!(codes(&a, &says(8.3340e-3, Recording::Cmr)), [], "their intervals overlap");
    let mut other = b.clone();
    other.target.serial = Some("W1F1OTHER".into());
    assert_eq!(codes(&a, &other), [], "another drive");
    let mut bridged = b.clone();
    bridged.target.link = None;
    assert_eq!(codes(&a, &bridged), [], "other conditions");
}

#[test]
fn what_speaks_against_comparing_is_said() {
    let mut prng = Prng::new(3, 9);
    let disk = Disk::drawn(&mut prng);
    let a = disk.survey(20, &mut prng, |_| 1.0);
    assert_eq!(compared(&[&a, &a.clone()]).caveats, Vec::<String>::new());
    let mut b = a.clone();
    b.target.capacity = Bytes::new(CAPACITY * 2);
    b.target.link = None;
    b.environment.engine = "psync".into();
    b.state_before = vec!["Filled.".into()];
    b.status = RunStatus::Interrupted;
    let caveats = compared(&[&a, &b]).caveats;
    for words in [
        "B was interrupted",
        "differ in size",
        "different engines: uring and psync",
        "SATA 6.0 Gbit/s and an unknown link",
        "different states: \"\" and \"Filled.\"",
    ] {
        assert!(caveats.iter().any(|caveat| caveat.contains(words)), "{words}: {caveats:?}");
    }
    let mut file = a.clone();
    file.target.kind = TargetKind::File;
    assert!(compared(&[&a, &file]).caveats[0].contains("one is a device, the other a file"));
}
