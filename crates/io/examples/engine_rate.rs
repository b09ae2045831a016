//! How many random 4 KiB reads a second an engine makes, with everything recorded that a run records. The bench and
//! the gate on instructions run it as a process of its own, as they run its peer.
//!
//! `engine_rate ENGINE TARGET DEPTH seconds|operations NUMBER [WORKERS]`, with ENGINE one of uring, psync, null, and uring-raw:
//! io_uring on whatever TARGET is, also what is refused as a target, such as /dev/zero. WORKERS, for null operations, is 1 unless given.

use io::clock::MonotonicClock;
use io::engine::choice::{EngineKind, EngineOptions};
use io::engine::uring::UringEngine;
use io::load::collect::{PhaseObserver, Verdict};
use io::load::overhead::null_run;
use io::load::phase::{Load, LoadOutcome, run_threads};
use io::rig::Rig;
use io::targets::Target;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord};
use model::units::{Bytes, Nanos, Quantile};
use model::workload::{OperationMix, Pattern, Workload};
use std::error::Error;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

/// How far reads of a raw target go. A character device has no size of its own.
const RAW_RANGE: Bytes = Bytes::from_gib(1);

/// Counts what it is shown, so that nothing is left out because nobody looks.
#[derive(Default)]
struct Counts {
    intervals: u64,
    histograms: u64,
    errors: u64,
}

impl PhaseObserver for Counts {
    fn interval(&mut self, _: &IntervalRecord) {
        self.intervals += 1;
    }
    fn histogram(&mut self, _: &HistogramRecord) {
        self.histograms += 1;
    }
    fn error(&mut self, _: &ErrorRecord) {
        self.errors += 1;
    }
    fn trace(&mut self, _: &[IoRecord]) {}
    fn verdict(&mut self) -> Verdict {
        Verdict::GoOn
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, target, depth, unit, number, workers @ ..] = arguments.as_slice() else {
        return Err("usage: engine_rate ENGINE TARGET DEPTH seconds|operations NUMBER [WORKERS]".into());
    };
    let (depth, number): (u32, u64) = (depth.parse()?, number.parse()?);
    if engine == "null" && unit == "operations" {
        let workers = workers.first().map_or(Ok(1), |workers| workers.parse())?;
        let nanoseconds = null_run(MonotonicClock::start(), depth, workers, number)?;
        println!("{{\"iops\": {:.0}, \"ns_per_io\": {nanoseconds:.1}}}", 1e9 / nanoseconds);
        return Ok(());
    }
    let stop = match unit.as_str() {
        "seconds" => StopCondition::after(Nanos::from_secs(number)),
        _ => StopCondition { operations: Some(number), ..StopCondition::default() },
    };
    let target = Path::new(target);
    let mut counts = Counts::default();
    let outcome = match engine.as_str() {
        "uring" => on_target(target, EngineKind::Uring, depth, stop, &mut counts)?,
        "psync" => on_target(target, EngineKind::Psync, depth, stop, &mut counts)?,
        "null" => on_target(target, EngineKind::Null, depth, stop, &mut counts)?,
        "uring-raw" => raw(target, depth, stop, &mut counts)?,
        other => return Err(format!("no engine `{other}`; there are uring, psync, null, uring-raw").into()),
    };
    print(&outcome, &counts)
}

/// As a run does it: through a rig.
fn on_target(
    target: &Path,
    kind: EngineKind,
    depth: u32,
    stop: StopCondition,
    counts: &mut Counts,
) -> Result<LoadOutcome, Box<dyn Error>> {
    let mut rig = Rig::for_reading(Target::open(target)?, EngineOptions { kind, polled: false })?;
    let phase = Phase {
        name: "random reads".into(),
        experiment: "bench".into(),
        kind: PhaseKind::Measure,
        workload: Some(random_reads(rig.facts().capacity, depth)),
        stop,
    };
    Ok(rig.run_phase(&phase, 0, 1, false, counts)?)
}

/// The same issue loop and the same counting, on a descriptor that no rig would open.
fn raw(
    target: &Path,
    depth: u32,
    stop: StopCondition,
    counts: &mut Counts,
) -> Result<LoadOutcome, Box<dyn Error>> {
    let file = File::open(target)?;
    let clock = MonotonicClock::start();
    let workload = random_reads(RAW_RANGE, depth);
    let block_bytes = workload.block_sizes.largest().get() as usize;
    let load = Load { workload: &workload, stop, phase: 0, seed: 1, trace: false };
    let open = |_| UringEngine::open(file.as_raw_fd(), depth, block_bytes, false, clock);
    Ok(run_threads(&load, clock, 1, open, counts)?)
}

fn random_reads(capacity: Bytes, depth: u32) -> Workload {
    let range = ByteRange::whole(capacity);
    Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Read, Bytes::from_kib(4), depth)
}

fn print(outcome: &LoadOutcome, counts: &Counts) -> Result<(), Box<dyn Error>> {
    let totals = outcome.totals.first().ok_or("nothing was read")?;
    let seconds = outcome.ended.since(outcome.began).seconds();
    let p99 = totals.histogram.quantile(Quantile::P99).unwrap_or_default();
    println!(
        "{{\"iops\": {:.0}, \"ns_per_io\": {:.1}, \"operations\": {}, \"p99_ns\": {}, \"errors\": {}, \"intervals\": {}, \"histograms\": {}}}",
        totals.operations as f64 / seconds,
        seconds * 1e9 / totals.operations.max(1) as f64,
        totals.operations,
        p99.get(),
        counts.errors,
        counts.intervals,
        counts.histograms,
    );
    Ok(())
}
