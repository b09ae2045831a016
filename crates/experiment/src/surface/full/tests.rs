//! `Full` against drives that are described by a few literals.

use super::Full;
use crate::{Experiment, Setup};
use model::plan::{PhaseKind, StopReason};
use model::range::ByteRange;
use model::record::{ErrorRecord, IntervalLatency, IntervalRecord};
use model::request::{Operation, Status};
use model::run::{Environment, MemorySeries, OperationTotals, PhaseSummary, RunView};
use model::target::TargetFacts;
use model::units::{Bytes, GIB, MIB, Nanos, Offset};
use model::workload::OperationMix;
use proptest::prelude::*;

/// A drive that moves `rate` bytes a second, but takes `error_ns` to answer a request that touches `bad`.
struct Drive {
    facts: TargetFacts,
    rate: f64,
    bad: Vec<std::ops::Range<u64>>,
    error_ns: u64,
    /// From the first moment to the second in nanoseconds it is five times as slow.
    slow: (u64, u64),
    /// After so many phases one is interrupted in its middle.
    interrupted: Option<usize>,
}

impl Drive {
    fn new(capacity: u64) -> Drive {
        let mut facts = sim::open("zoned", 1).unwrap().facts().clone();
        facts.capacity = Bytes::new(capacity);
        facts.logical_block = Bytes::new(512);
        Drive { facts, rate: 150e6, bad: Vec::new(), error_ns: 0, slow: (0, 0), interrupted: None }
    }

    fn setup(&self, range: ByteRange) -> Setup {
        Setup {
            facts: self.facts.clone(),
            range,
            may_write: false,
            empty: false,
            seed: 3,
            time_limit: None,
            precision: None,
        }
    }
}

/// What was done, block by block.
#[derive(Default)]
struct Seen {
    phases: Vec<PhaseSummary>,
    series: MemorySeries,
    /// Of requests that were answered, in parts of a pass and samples.
    answered: Vec<(u64, u64)>,
    now_ns: u64,
}

impl Seen {
    /// Runs a phase as the issue loop does: in order, to the end, the time, or 1000 errors in a row.
    fn run(&mut self, drive: &Drive, phase: model::plan::Phase) {
        let workload = phase.workload.clone().expect("no idle phase");
        let number = self.phases.len() as u32;
        let block = workload.block_sizes.largest().get();
        let requests = workload.range.bytes().get() / block;
        assert_eq!(requests * block, workload.range.bytes().get(), "{}: whole blocks", phase.name);
        workload.validate(drive.facts.capacity, drive.facts.logical_block).unwrap();
        let start_ns = self.now_ns;
        let end_ns = start_ns + phase.stop.time.map_or(u64::MAX / 2, |time| time.get());
        let (mut operations, mut errors, mut in_a_row) = (0, 0, 0);
        let mut stopped = StopReason::Passes;
        let is_warm_up = phase.kind == PhaseKind::WarmUp;
        for request in 0..if is_warm_up { 0 } else { requests } {
            let offset = workload.range.first().get() + request * block;
            let is_bad = drive.bad.iter().any(|bad| bad.start < offset + block && offset < bad.end);
            let slow = if (drive.slow.0..drive.slow.1).contains(&self.now_ns) { 5.0 } else { 1.0 };
            let took_ns =
                if is_bad { drive.error_ns } else { (block as f64 / drive.rate * 1e9 * slow) as u64 };
            self.now_ns += took_ns;
            if is_bad {
                errors += 1;
                in_a_row += 1;
                let (phase, at_ns, operation) = (number, self.now_ns, Operation::Read);
                let length_bytes = block as u32;
                let status = Status::MediumError;
                self.series.errors.push(ErrorRecord {
                    phase,
                    at_ns,
                    operation,
                    offset_bytes: offset,
                    length_bytes,
                    status,
                });
            } else {
                (operations, in_a_row) = (operations + 1, 0);
                self.slice(number, offset, block, took_ns);
            }
            self.answered.push((offset, block));
            let is_cut = drive.interrupted == Some(self.phases.len()) && request == requests / 2;
            stopped = match () {
                () if is_cut => StopReason::Interrupted,
                () if in_a_row == 1000 => StopReason::Errors,
                () if self.now_ns >= end_ns && request + 1 < requests => StopReason::Time,
                () => continue,
            };
            break;
        }
        let totals = OperationTotals {
            operation: Operation::Read,
            operations,
            bytes: operations * block,
            errors,
            histogram: model::histogram::LatencyHistogram::small(),
            stretch: None,
        };
        let duration_ns = self.now_ns - start_ns;
        self.phases.push(PhaseSummary {
            duration_ns,
            stopped: Some(stopped),
            totals: vec![totals],
            ..PhaseSummary::begun(phase, start_ns)
        });
    }

    fn slice(&mut self, phase: u32, offset: u64, bytes: u64, nanos: u64) {
        let latency = IntervalLatency {
            min_ns: nanos,
            mean_ns: nanos as f64,
            p50_ns: nanos,
            p99_ns: nanos,
            max_ns: nanos,
        };
        self.series.intervals.push(IntervalRecord {
            phase,
            operation: Operation::Read,
            start_ns: self.now_ns,
            duration_ns: nanos,
            operations: 1,
            bytes,
            errors: 0,
            offset_first: offset,
            offset_end: offset + bytes,
            latency: Some(latency),
        });
    }

    fn names(&self) -> Vec<&str> {
        self.phases.iter().map(|phase| phase.phase.name.as_str()).collect()
    }

    fn seconds(&self) -> f64 {
        Nanos::new(self.now_ns).seconds()
    }
}

/// Runs it to its end. After each interruption a new experiment goes on, as after `--resume`.
fn run(drive: &Drive, range: ByteRange) -> Seen {
    let environment = Environment::default();
    let fresh = || Full::new(drive.setup(range), vec![OperationMix::Read]).unwrap();
    let (mut full, mut seen) = (fresh(), Seen::default());
    for _ in 0..6000 {
        let view = RunView {
            target: &drive.facts,
            environment: &environment,
            phases: &seen.phases,
            series: &seen.series,
        };
        let Some(phase) = full.next(&view) else {
            assert_eq!(full.remaining().phases(), 0);
            return seen;
        };
        seen.run(drive, phase);
        if seen.phases.last().unwrap().stopped == Some(StopReason::Interrupted) {
            full = fresh();
        }
    }
    panic!("it never ends: {:?}", &seen.names()[5980..]);
}

/// The answered requests, as far as they do not repeat slow or bad places, tile `range`.
fn assert_tiles(answered: &[(u64, u64)], range: ByteRange) {
    let mut sorted = answered.to_vec();
    sorted.sort_unstable();
    let mut at = range.first().get();
    for (offset, bytes) in sorted {
        assert_eq!(offset, at, "each byte once");
        at += bytes;
    }
    assert_eq!(at, range.end().get());
}

#[test]
fn a_target_of_64_mib_is_one_part() {
    let drive = Drive::new(64 * MIB);
    let seen = run(&drive, ByteRange::whole(Bytes::new(64 * MIB)));
    assert_eq!(seen.names(), ["warm up", "read 0.0 % to 100.0 %"]);
    assert_eq!(seen.answered.len(), 64);
}

#[test]
fn a_capacity_that_is_no_multiple_of_the_block_has_a_tail() {
    let capacity = 3 * GIB + 700 * 1024 + 512;
    let drive = Drive::new(capacity);
    let seen = run(&drive, ByteRange::whole(Bytes::new(capacity)));
    assert_eq!(seen.answered.last(), Some(&(3 * GIB, 700 * 1024 + 512)));
    assert_tiles(&seen.answered, ByteRange::whole(Bytes::new(capacity)));
}

#[test]
fn thirty_terabytes_are_fewer_than_4000_phases_and_two_days() {
    let mut drive = Drive::new(30_000_000_000_000);
    drive.facts.rotational = Some(true);
    let full =
        Full::new(drive.setup(ByteRange::whole(drive.facts.capacity)), vec![OperationMix::Read]).unwrap();
    let remaining = full.remaining();
    assert!((3000..4000).contains(&remaining.phases()), "{}", remaining.phases());
    assert_eq!(remaining.reads(), Some(Bytes::new(30_000_000_000_000)));
    assert_eq!(remaining.writes(), Some(Bytes::ZERO));
    // 30 TB at 200 MB/s outside and half of that inside: 2 ln 2 × 150,000 s.
    assert!((remaining.time().seconds() - 207_944.0).abs() < 1.0, "{}", remaining.time().seconds());
}

#[test]
fn the_outlook_follows_the_rate() {
    let mut drive = Drive::new(10 * GIB);
    drive.facts.rotational = Some(false);
    let range = ByteRange::whole(Bytes::new(10 * GIB));
    let mut full = Full::new(drive.setup(range), vec![OperationMix::Read]).unwrap();
    let (mut seen, environment) = (Seen::default(), Environment::default());
    for _ in 0..3 {
        let view = RunView {
            target: &drive.facts,
            environment: &environment,
            phases: &seen.phases,
            series: &seen.series,
        };
        let phase = full.next(&view).unwrap();
        seen.run(&drive, phase);
    }
    let view = RunView {
        target: &drive.facts,
        environment: &environment,
        phases: &seen.phases,
        series: &seen.series,
    };
    full.next(&view).unwrap();
    // 7 GiB behind the one that is under way, at 150 MB/s.
    assert!((full.remaining().time().seconds() - 50.11).abs() < 0.1, "{:?}", full.remaining());
    assert_eq!(full.remaining().reads(), Some(Bytes::new(7 * GIB)));
}

#[test]
fn ten_gigabytes_of_errors_take_minutes() {
    for (error_ns, limit_s) in [(0, 60.0), (7_000_000_000, 1800.0), (30_000_000_000, 3600.0)] {
        let mut drive = Drive::new(100 * GIB);
        let bad = 40 * GIB + 5 * MIB..50 * GIB;
        drive.bad = vec![bad.clone()];
        drive.error_ns = error_ns;
        let seen = run(&drive, ByteRange::whole(Bytes::new(100 * GIB)));
        let reading_s = 90.0 * GIB as f64 / 150e6;
        assert!(seen.seconds() - reading_s < limit_s, "{} s", seen.seconds() - reading_s);
        let mut read = vec![false; 100 * 1024];
        seen.answered.iter().for_each(|(offset, _)| read[(offset / MIB) as usize] = true);
        let missed = (0..read.len()).filter(|mib| !read[*mib] && !bad.contains(&(*mib as u64 * MIB)));
        assert_eq!(missed.count(), 0, "all that is good was read");
    }
}

#[test]
fn a_drive_that_is_bad_all_over_has_an_end() {
    let mut drive = Drive::new(4000 * GIB);
    drive.bad.push(0..u64::MAX);
    drive.error_ns = 7_000_000_000;
    let seen = run(&drive, ByteRange::whole(Bytes::new(4000 * GIB)));
    assert!(seen.seconds() < 3600.0, "{} s", seen.seconds());
}

#[test]
fn a_bad_block_is_looked_at_closely() {
    let mut drive = Drive::new(20 * GIB);
    drive.bad.push(7 * GIB + 5 * MIB + 8192..7 * GIB + 5 * MIB + 12288);
    let seen = run(&drive, ByteRange::whole(Bytes::new(20 * GIB)));
    let fine = seen.series.errors.iter().find(|error| error.length_bytes == 4096).unwrap();
    assert_eq!(fine.offset_bytes, 7 * GIB + 5 * MIB + 8192);
    assert_eq!(seen.series.errors.len(), 2);
}

#[test]
fn a_slow_minute_is_measured_again() {
    let mut drive = Drive::new(100 * GIB);
    drive.slow = (300_000_000_000, 360_000_000_000);
    let seen = run(&drive, ByteRange::whole(Bytes::new(100 * GIB)));
    let names = seen.names();
    let again: Vec<&str> = names[names.len() - 7..].to_vec();
    let expected = [
        "read slow region 1 of 1 again, round 1",
        "read a sound region between",
        "read slow region 1 of 1 again, round 2",
        "read a sound region between",
        "read slow region 1 of 1 again, round 3",
        "read a sound region between",
        "read slow region 1 of 1 again, round 4",
    ];
    assert_eq!(again, expected);
    // 300 s at 150 MB/s.
    let first = seen.phases.iter().find(|phase| phase.phase.name.contains("again")).unwrap();
    let at = first.phase.workload.as_ref().unwrap().range.first().as_f64();
    assert!((at - 45e9).abs() < 1e9, "{at}");
}

#[test]
fn an_even_drive_is_read_once() {
    let drive = Drive::new(50 * GIB);
    let seen = run(&drive, ByteRange::whole(Bytes::new(50 * GIB)));
    assert_tiles(&seen.answered, ByteRange::whole(Bytes::new(50 * GIB)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_block_is_asked_for_once_however_often_it_is_interrupted(
        first in 0u64..5 * GIB / 512,
        length in 1u64..12 * GIB / 512,
        interrupted in 1usize..8,
    ) {
        let mut drive = Drive::new(20 * GIB);
        drive.interrupted = Some(interrupted);
        let range = ByteRange::new(Offset::new(first * 512), Bytes::new(length * 512)).unwrap();
        let seen = run(&drive, range);
        assert_tiles(&seen.answered, range);
    }
}
