//! Runs built by hand for the tests of pages.

use model::estimate::Estimate;
use model::finding::{Finding, FindingCode, Value};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{Environment, OperationTotals, PhaseSummary, Run, RunStatus};
use model::target::{Caveat, Link, TargetFacts, TargetKind};
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern, Workload};

fn estimate(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, low, high, confidence: 0.95, effective_count: 24.0 }
}

fn number(code: FindingCode, value: Estimate, unit: &'static str, statement: &str) -> Finding {
    Finding::number(code, value, unit, statement, vec![])
}

fn disk() -> TargetFacts {
    TargetFacts {
        kind: TargetKind::Device,
        path: "/dev/sdb".into(),
        capacity: Bytes(3_000_592_982_016),
        logical_block: Bytes(512),
        physical_block: Bytes(4096),
        model: Some("ST3000DM001-1CH166".into()),
        serial: Some("W1F1ABCD".into()),
        firmware: Some("CC24".into()),
        rotational: Some(true),
        link: Some(Link { name: "SATA 6.0 Gbit/s".into(), bytes_per_second_max: Some(6e8) }),
        scheduler: Some("mq-deadline".into()),
        read_ahead: Some(Bytes(131_072)),
        write_cache: Some(true),
        discard_max: None,
        zoned: None,
        stack: vec!["sdb".into()],
        caveats: vec![],
    }
}

fn environment() -> Environment {
    Environment {
        host: "nas".into(),
        kernel: "6.12.8".into(),
        engine: "uring".into(),
        engine_features: vec!["registered buffers".into()],
        direct: true,
        scheduler: Some("mq-deadline".into()),
        own_cost_ns_per_io: Some(312.4),
        scheduling_gap_ns_max: Some(2_310_000),
        warnings: vec![],
    }
}

/// `count` sequential reads of `area` each, spread evenly, whose rate falls as the tracks get shorter.
fn areas(capacity: Bytes, area: Bytes, count: u64, rate_first: f64, rate_last: f64) -> Vec<PhaseSummary> {
    (0..count)
        .map(|index| {
            let share = index as f64 / (count - 1) as f64;
            let first = ByteRange::whole(capacity).part(index, count).first();
            let rate = rate_first - (rate_first - rate_last) * share * share.sqrt();
            let seconds = area.0 as f64 / rate;
            let range = ByteRange::new(first, area).expect("an area fits");
            PhaseSummary {
                phase: Phase {
                    name: format!("area {} of {count}", index + 1),
                    experiment: "check".into(),
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
                start_ns: index * 400_000_000,
                duration_ns: Nanos::from_secs_f64(seconds).expect("a time is positive").0,
                stopped: Some(StopReason::Passes),
                totals: vec![OperationTotals {
                    operation: Operation::Read,
                    operations: area.0 >> 20,
                    bytes: area.0,
                    errors: 0,
                    histogram: LatencyHistogram::default(),
                    stretch: None,
                }],
                files: None,
                page_cache: None,
            }
        })
        .collect()
}

/// A sound hard disk, about which everything could be told.
pub fn hard_disk() -> Run {
    use FindingCode::*;
    let target = disk();
    let phases = areas(target.capacity, Bytes::from_mib(64), 24, 211e6, 104e6);
    Run {
        id: "20261121-201507-a3f1".into(),
        started: "2026-11-21T20:15:07Z".into(),
        finished: Some("2026-11-21T20:17:40Z".into()),
        status: RunStatus::Complete,
        version: "0.1.0".into(),
        command: "drivescope check /dev/sdb --seed 7".into(),
        seed: 7,
        target,
        environment: environment(),
        state_before: vec!["Nothing is known of what was written before.".into()],
        state_after: vec!["Nothing was written.".into()],
        phases,
        findings: vec![
            number(
                ReadRateOuter,
                estimate(211.2e6, 208.1e6, 214.3e6),
                "B/s",
                "This is how fast it reads where it is fastest, on the outer tracks.",
            ),
            number(
                ReadRateInner,
                estimate(104.1e6, 102.6e6, 105.9e6),
                "B/s",
                "At its end, on the inner tracks, it reads half as fast as at its start.",
            ),
            number(
                ReadRateMean,
                estimate(167.4e6, 165.0e6, 169.9e6),
                "B/s",
                "Over the whole drive, as in a backup of all of it.",
            ),
            number(
                FullPassTime,
                estimate(17_923.0, 17_660.0, 18_190.0),
                "s",
                "To read all of it once takes 4 h 59 min.",
            )
            .with_advice("Allow 5 h for a rebuild or a full backup, and more while the drive is in use."),
            number(
                AccessTime,
                estimate(15.63e-3, 15.41e-3, 15.86e-3),
                "s",
                "One random read anywhere on the drive takes this long on average.",
            ),
            number(
                ConcurrencyGain,
                estimate(2.31, 2.24, 2.39),
                "ratio",
                "With 32 requests at once it serves 2.3 × as many as with one at a time.",
            ),
            number(
                ConcurrencyKnee,
                estimate(8.0, 6.0, 12.0),
                "depth",
                "From 8 requests at once, more of them add waiting but little speed.",
            )
            .with_advice("Let no more than about 8 threads read from it at random at the same time."),
        ],
    }
}

/// A scratch file in memory: quick, and no drive at all.
pub fn scratch_file() -> Run {
    use FindingCode::*;
    let capacity = Bytes::from_gib(1);
    let target = TargetFacts {
        kind: TargetKind::File,
        path: "/tmp/.drivescope-scratch".into(),
        capacity,
        model: None,
        serial: None,
        firmware: None,
        rotational: None,
        link: None,
        stack: vec!["file in tmpfs".into()],
        caveats: vec![Caveat::NotDirect, Caveat::InMemory],
        ..disk()
    };
    let mut run = hard_disk();
    run.phases = areas(capacity, Bytes::from_mib(16), 24, 8.1e9, 7.9e9);
    run.target = target;
    run.environment.engine = "psync".into();
    run.environment.direct = false;
    run.environment.scheduler = None;
    run.environment.warnings = vec!["Another program read 1.2 GB from this target during the run.".into()];
    run.command = "drivescope check /tmp".into();
    run.findings = vec![
        number(
            CacheInfluence,
            Estimate::exact(3.0),
            "count",
            &format!(
                "A cache or memory may have answered. {} {} One read took less time than any link needs.",
                Caveat::NotDirect.statement(),
                Caveat::InMemory.statement()
            ),
        )
        .with_advice("Measure a directory on the drive that you mean."),
        number(ReadRateOuter, estimate(8.1e9, 7.4e9, 8.8e9), "B/s", "At its start it reads this fast."),
        number(
            ReadRateInner,
            estimate(7.93e9, 7.2e9, 8.6e9),
            "B/s",
            "At its end it reads as fast as at its start.",
        ),
        number(
            AccessTime,
            estimate(0.91e-6, 0.88e-6, 0.95e-6),
            "s",
            "One random read takes this long on average.",
        ),
        Finding::unknown(
            ConcurrencyKnee,
            "The rate did not rise with more requests at once, so there is no knee to find.",
        ),
    ];
    run
}

/// Ended by Ctrl-C in the fifth area.
pub fn interrupted() -> Run {
    let mut run = hard_disk();
    run.status = RunStatus::Interrupted;
    run.phases.truncate(5);
    run.findings = vec![
        number(FindingCode::BadBlocks, Estimate::exact(0.0), "count", "No bad block was seen."),
        run.findings[0].clone(),
        Finding::unknown(
            FindingCode::ReadRateInner,
            "The end of the drive was not reached. Resume with: drivescope check --resume 20261121-201507-a3f1",
        ),
        Finding::unknown(FindingCode::AccessTime, "No random read was made before the run was stopped."),
    ];
    run
}

/// Bad places, a lost device, and much that could not be told.
pub fn failing() -> Run {
    use FindingCode::*;
    let mut run = hard_disk();
    run.status = RunStatus::Failed;
    run.environment.warnings = vec!["31 of 10,031 errors were counted but not kept.".into()];
    run.findings = vec![
        Finding::unknown(
            AccessTime,
            "Only 3 random reads came back before the device went away; 30 are needed.",
        ),
        number(
            DeviceLost,
            Estimate::exact(97.251_234_567),
            "s",
            "The device stopped answering and vanished from the system.",
        )
        .with_advice("Check cable and power, and copy what you need from it before you do anything else."),
        number(
            BadBlocks,
            Estimate::exact(3.0),
            "count",
            "3 ranges could not be read, the first at 1,204,555,776 bytes.",
        )
        .with_advice("Replace this drive. Do not trust it with the only copy of anything."),
        number(
            ReadRateOuter,
            estimate(187e6, 120e6, 214e6),
            "B/s",
            "It reads unevenly: some requests waited for seconds.",
        ),
        Finding::unknown(ReadRateInner, "The device went away before the end was reached."),
    ];
    if let model::finding::Outcome::Known(conclusion) = &mut run.findings[3].outcome
        && let Value::Number { estimate, .. } = &mut conclusion.value
    {
        estimate.confidence = 0.9;
    }
    run
}

/// A drive that tries to repaint the terminal.
pub fn hostile() -> Run {
    let mut run = hard_disk();
    run.target.model = Some("Nice\u{1b}]0;owned\u{7}\u{1b}[2J Disk\u{202e}gpj.exe".into());
    run.target.serial = Some("0\r\nPASSED: no errors".into());
    run.target.firmware = Some("F".repeat(5000));
    run.target.path = "/mnt/größe/\u{200b}\u{2066}x".into();
    run.target.link = Some(Link { name: "USB\u{9b}31m".into(), bytes_per_second_max: None });
    run.target.stack = vec!["file\nin ext4".into(), "東芝 disk\u{fe0f}".into()];
    run.environment.host = "host\u{1b}c".into();
    run.environment.kernel = "6.1\u{0}".into();
    run.environment.warnings = vec!["read\u{1b}[1A of \u{2028}line".into()];
    run.command = "drivescope check $'/mnt/\u{1b}'".into();
    run.id = "20261121\u{8}\u{8}".into();
    run.phases.truncate(2);
    run.findings = vec![Finding::unknown(FindingCode::BadBlocks, "why\u{1b}[31m\nnot")];
    run
}
