//! How many random 4 KiB reads a second an engine makes, with everything recorded that a run records. The bench and
//! the gate on instructions run it as a process of its own, as they run its peer.
//!
//! `engine_rate ENGINE TARGET DEPTH seconds|operations NUMBER`, with ENGINE one of uring, psync, null.

use io::clock::MonotonicClock;
use io::load::collect::{PhaseObserver, Verdict};
use io::load::overhead::null_run;
use io::rig::{EngineKind, EngineOptions, Rig};
use io::target::Target;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord};
use model::units::{Bytes, Nanos, Quantile};
use model::workload::{OperationMix, Pattern, Workload};
use std::error::Error;
use std::path::Path;

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
    let [engine, target, depth, unit, number] = arguments.as_slice() else {
        return Err("usage: engine_rate ENGINE TARGET DEPTH seconds|operations NUMBER".into());
    };
    let (depth, number): (u32, u64) = (depth.parse()?, number.parse()?);
    if engine == "null" && unit == "operations" {
        let nanoseconds = null_run(MonotonicClock::start(), depth, number)?;
        println!("{{\"iops\": {:.0}, \"ns_per_io\": {nanoseconds:.1}}}", 1e9 / nanoseconds);
        return Ok(());
    }
    let kind = match engine.as_str() {
        "uring" => EngineKind::Uring,
        "psync" => EngineKind::Psync,
        "null" => EngineKind::Null,
        other => return Err(format!("no engine `{other}`; there are uring, psync, null").into()),
    };
    let stop = match unit.as_str() {
        "seconds" => StopCondition::after(Nanos::from_secs(number)),
        _ => StopCondition { operations: Some(number), ..StopCondition::default() },
    };
    measure(Path::new(target), kind, depth, stop)
}

fn measure(target: &Path, kind: EngineKind, depth: u32, stop: StopCondition) -> Result<(), Box<dyn Error>> {
    let mut rig = Rig::for_reading(Target::open(target)?, EngineOptions { kind, polled: false })?;
    let range = ByteRange::whole(rig.facts().capacity);
    let workload =
        Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Read, Bytes::from_kib(4), depth);
    let phase = Phase {
        name: "random reads".into(),
        experiment: "bench".into(),
        kind: PhaseKind::Measure,
        workload: Some(workload),
        stop,
    };
    let mut counts = Counts::default();
    let outcome = rig.run_phase(&phase, 0, 1, false, &mut counts)?;
    let totals = outcome.totals.first().ok_or("nothing was read")?;
    let seconds = outcome.ended.since(outcome.began).seconds();
    let p99 = totals.histogram.quantile(Quantile::P99).unwrap_or_default();
    println!(
        "{{\"iops\": {:.0}, \"ns_per_io\": {:.1}, \"p99_ns\": {}, \"errors\": {}, \"intervals\": {}, \"histograms\": {}}}",
        totals.operations as f64 / seconds,
        seconds * 1e9 / totals.operations.max(1) as f64,
        p99.0,
        counts.errors,
        counts.intervals,
        counts.histograms,
    );
    Ok(())
}
