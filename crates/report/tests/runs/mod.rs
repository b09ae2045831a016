//! Runs built by hand for the tests of pages.

pub mod findings;

use model::estimate::Estimate;
use model::finding::{CacheSign, Finding};
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

fn disk() -> TargetFacts {
    TargetFacts {
        kind: TargetKind::Device,
        path: "/dev/sdb".into(),
        capacity: Bytes::new(3_000_592_982_016),
        logical_block: Bytes::new(512),
        physical_block: Bytes::new(4096),
        model: Some("ST3000DM001-1CH166".into()),
        serial: Some("W1F1ABCD".into()),
        firmware: Some("CC24".into()),
        rotational: Some(true),
        link: Some(Link { name: "SATA 6.0 Gbit/s".into(), bytes_per_second_max: Some(6e8) }),
        scheduler: Some("mq-deadline".into()),
        read_ahead: Some(Bytes::new(131_072)),
        write_cache: Some(true),
        discard_max: None,
        zoned: None,
        stack: vec!["sdb".into()],
        stated_layout: None,
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
            let seconds = area.as_f64() / rate;
            let range = ByteRange::new(first, area).expect("an area fits");
            PhaseSummary {
                duration_ns: Nanos::from_secs_f64(seconds).expect("a time is positive").get(),
                stopped: Some(StopReason::Passes),
                totals: vec![OperationTotals {
                    operation: Operation::Read,
                    operations: area.get() >> 20,
                    bytes: area.get(),
                    errors: 0,
                    histogram: LatencyHistogram::default(),
                    stretch: None,
                }],
                ..PhaseSummary::begun(
                    Phase {
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
                    index * 400_000_000,
                )
            }
        })
        .collect()
}

/// A sound hard disk, about which everything could be told.
pub fn hard_disk() -> Run {
    let target = disk();
    let capacity = target.capacity;
    let phases = areas(target.capacity, Bytes::from_mib(64), 24, 211e6, 104e6);
    Run {
        id: "20261121-201507-a3f1".into(),
        started: "2026-11-21T20:15:07Z".into(),
        finished: Some("2026-11-21T20:17:40Z".into()),
        status: RunStatus::Complete,
        version: "0.1.0".into(),
        command: "drivescope check /dev/sdb --seed 7".into(),
        asked: None,
        seed: 7,
        target,
        environment: environment(),
        state_before: vec!["Earlier writes are unknown.".into()],
        state_after: vec!["Nothing was written.".into()],
        phases,
        findings: vec![
            Finding::ReadRateOuter(findings::edge_rate(estimate(211.2e6, 208.1e6, 214.3e6))),
            Finding::ReadRateInner(findings::edge_rate(estimate(104.1e6, 102.6e6, 105.9e6))),
            Finding::ReadRateMean(findings::mean_rate(estimate(167.4e6, 165.0e6, 169.9e6), capacity)),
            findings::full_pass_time(estimate(17_923.0, 17_660.0, 18_190.0), capacity),
            findings::access_time(estimate(15.63e-3, 15.41e-3, 15.86e-3)),
            findings::concurrency_gain(
                estimate(2.31, 2.24, 2.39),
                &[(1, 64.0, 62.0, 66.0), (32, 148.0, 144.0, 152.0)],
            ),
            findings::concurrency_knee(estimate(8.0, 6.0, 12.0)),
        ],
    }
}

/// A scratch file in memory: quick, and no drive at all.
pub fn scratch_file() -> Run {
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
        stated_layout: None,
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
        findings::cache_influence(vec![
            CacheSign::Target(Caveat::NotDirect),
            CacheSign::Target(Caveat::InMemory),
            CacheSign::FasterThanFlash { median_s: 0.9e-6 },
        ]),
        Finding::ReadRateOuter(findings::edge_rate(estimate(8.1e9, 7.4e9, 8.8e9))),
        Finding::ReadRateInner(findings::edge_rate(estimate(7.93e9, 7.2e9, 8.6e9))),
        findings::access_time(estimate(0.91e-6, 0.88e-6, 0.95e-6)),
        findings::no_concurrency_knee(),
    ];
    run
}

/// Ended by Ctrl-C in the fifth area.
pub fn interrupted() -> Run {
    let mut run = hard_disk();
    run.status = RunStatus::Interrupted;
    run.phases.truncate(5);
    run.findings = vec![
        findings::sound_blocks(),
        run.findings[0].clone(),
        Finding::ReadRateInner(findings::no_edge_rate()),
        findings::no_access_time(),
    ];
    run
}

/// Bad places, a lost device, and much that could not be told.
pub fn failing() -> Run {
    let mut run = hard_disk();
    run.status = RunStatus::Failed;
    run.environment.warnings = vec!["31 of 10,031 errors were counted but not kept.".into()];
    run.findings = vec![
        findings::no_access_time(),
        findings::device_lost(97.251_234_567),
        findings::bad_blocks(3),
        Finding::ReadRateOuter(findings::edge_rate(Estimate {
            confidence: 0.9,
            ..estimate(187e6, 120e6, 214e6)
        })),
        Finding::ReadRateInner(findings::no_edge_rate()),
    ];
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
    run.findings = vec![findings::interface_limit(40e6, "why\u{1b}[31m\nnot")];
    run
}
