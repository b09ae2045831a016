//! Runs and records with known content, for the tests of the store.
#![allow(dead_code, reason = "each test program uses its own part of it")]

use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::record::{
    ErrorRecord, HistogramRecord, IntervalLatency, IntervalRecord, IoRecord, TelemetryRecord,
};
use model::request::{Operation, Status};
use model::run::{Environment, OperationTotals, PhaseSummary, Run, RunStatus, Series};
use model::target::{TargetFacts, TargetKind};
use model::units::{Bytes, Nanos};
use store::{Store, StoredRun};

/// A run of a device, without phases, under way.
pub fn run(id: &str) -> Run {
    Run {
        id: id.into(),
        started: "2026-03-01T12:00:00Z".into(),
        finished: None,
        status: RunStatus::Interrupted,
        version: "0.1.0".into(),
        command: format!("drivescope access /dev/example --run {id}"),
        asked: None,
        seed: 1,
        target: TargetFacts {
            physical_block: Bytes::new(4096),
            model: Some("EXAMPLE 1000".into()),
            serial: Some("S-1".into()),
            rotational: Some(true),
            ..TargetFacts::unidentified(
                TargetKind::Device,
                "/dev/example".into(),
                Bytes::new(1_000_204_886_016),
            )
        },
        environment: Environment::default(),
        state_before: vec![],
        state_after: vec![],
        phases: vec![],
        findings: vec![],
    }
}

/// A phase that has just begun.
pub fn phase(name: &str) -> PhaseSummary {
    PhaseSummary::begun(
        Phase {
            name: name.into(),
            experiment: "access".into(),
            kind: PhaseKind::Measure,
            workload: None,
            stop: StopCondition::after(Nanos::from_secs(1)),
        },
        0,
    )
}

/// The same, ended, with totals of reads; the histogram is not in the facts.
pub fn ended(mut phase: PhaseSummary, operations: u64) -> PhaseSummary {
    phase.stopped = Some(StopReason::Time);
    phase.duration_ns = 1_000_000_000;
    phase.totals = vec![OperationTotals {
        operation: Operation::Read,
        operations,
        bytes: operations * 4096,
        errors: 0,
        histogram: LatencyHistogram::default(),
        stretch: None,
    }];
    phase
}

pub fn complete(mut run: Run) -> Run {
    run.status = RunStatus::Complete;
    run.finished = Some("2026-03-01T12:30:00Z".into());
    run
}

pub fn interval(phase: u32, number: u64) -> IntervalRecord {
    IntervalRecord {
        phase,
        operation: Operation::Read,
        start_ns: number * 40_000_000,
        duration_ns: 40_000_000,
        operations: 2,
        bytes: 8192,
        errors: number % 2,
        offset_first: number * 8192,
        offset_end: (number + 1) * 8192,
        latency: (!number.is_multiple_of(5)).then_some(IntervalLatency {
            min_ns: 90 + number,
            mean_ns: 100.25 + number as f64,
            p50_ns: 100 + number,
            p99_ns: 110 + number,
            max_ns: 120 + number,
        }),
    }
}

pub fn histogram(phase: u32, latencies: &[u64]) -> HistogramRecord {
    let mut histogram = LatencyHistogram::default();
    latencies.iter().for_each(|&latency| histogram.record(latency));
    HistogramRecord { phase, operation: Operation::Read, start_ns: 0, duration_ns: 1_000_000_000, histogram }
}

pub fn error(phase: u32, at_ns: u64) -> ErrorRecord {
    ErrorRecord {
        phase,
        at_ns,
        operation: Operation::Read,
        offset_bytes: 4096,
        length_bytes: 4096,
        status: Status::MediumError,
    }
}

pub fn telemetry(at_ns: u64) -> TelemetryRecord {
    TelemetryRecord {
        at_ns,
        temperature_celsius: Some(31.5),
        cpu_busy_share: None,
        own_read_bytes: 4096,
        ..TelemetryRecord::default()
    }
}

pub fn io(number: u64) -> IoRecord {
    IoRecord {
        intended_ns: number,
        submitted_ns: number + 1,
        completed_ns: number + 100,
        offset_bytes: number * 4096,
        length_bytes: 4096,
        phase: 0,
        status: Status::Done,
        operation: Operation::Write,
    }
}

/// A complete run of one phase with three intervals.
pub fn keep_small_run(store: &Store, id: &str) {
    let mut facts = run(id);
    let mut writer = store.begin(&facts).unwrap();
    facts.phases.push(phase("only"));
    writer.begin_phase(&facts).unwrap();
    (0..3).for_each(|number| writer.append_interval(&interval(0, number)).unwrap());
    writer.append_histogram(&histogram(0, &[100, 200, 300])).unwrap();
    facts.phases = vec![ended(phase("only"), 3)];
    writer.end_phase(&facts).unwrap();
    writer.finish(&complete(facts), &[]).unwrap();
}

pub fn intervals(run: &StoredRun, phase: u32) -> Vec<IntervalRecord> {
    run.series.intervals(phase).collect()
}

/// Says that a test did not run, where whoever runs the tests can see it.
pub fn skipped(test: &str, why: &str) {
    use std::io::Write;
    let line = format!("SKIPPED {test}: {why}");
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("DRIVESCOPE_SKIP_LOG") {
        let mut log = std::fs::File::options().append(true).create(true).open(path).unwrap();
        writeln!(log, "{line}").unwrap();
    }
}
