//! How long ten million slices of time take to be analysed, and how much memory; they are made while they are read.

use std::fs;

use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::prng::Prng;
use model::range::ByteRange;
use model::record::{ErrorRecord, INTERVAL_NS, IntervalRecord, IoRecord, TelemetryRecord};
use model::request::Operation;
use model::run::{Environment, OperationTotals, PhaseSummary, RunView, Series};
use model::units::{Bytes, KIB};
use model::workload::{OperationMix, Pattern, Workload};

use crate::failure::{Doing, Failure};

const PHASES: u32 = 10;
const SLICES_OF_PHASE: u64 = 1_000_000;
const BLOCK_BYTES: u64 = 64 * KIB;
/// At 105 MB/s, with a standing still of half a second a minute.
const REQUESTS_OF_SLICE: u64 = 64;
const SLICES_OF_GAP: u64 = 1500;
const SLICES_OF_FALL: u64 = 12;

struct Made;

impl Made {
    fn slices(phase: u32) -> impl Iterator<Item = IntervalRecord> {
        let mut prng = Prng::new(u64::from(phase), 1);
        let mut offset = 0;
        (0..SLICES_OF_PHASE).map(move |index| {
            let is_fall = index % SLICES_OF_GAP < SLICES_OF_FALL;
            let operations = if is_fall { 1 } else { REQUESTS_OF_SLICE - 1 + prng.below(3) };
            let first = offset;
            offset += operations * BLOCK_BYTES;
            IntervalRecord {
                phase,
                operation: Operation::Write,
                start_ns: start_ns(phase) + index * INTERVAL_NS,
                duration_ns: INTERVAL_NS,
                operations,
                bytes: operations * BLOCK_BYTES,
                errors: 0,
                offset_first: first,
                offset_end: offset,
                latency: None,
            }
        })
    }

    fn summary(phase: u32) -> PhaseSummary {
        let bytes: u64 = Made::slices(phase).map(|slice| slice.bytes).sum();
        let operations = bytes / BLOCK_BYTES;
        let range = ByteRange::whole(Bytes::new(bytes));
        let workload =
            Workload::new(range, Pattern::Sequential, OperationMix::Write, Bytes::new(BLOCK_BYTES), 1);
        let mut histogram = LatencyHistogram::default();
        (0..1000).for_each(|_| histogram.record(600_000));
        PhaseSummary {
            duration_ns: SLICES_OF_PHASE * INTERVAL_NS,
            stopped: Some(StopReason::Passes),
            totals: vec![OperationTotals {
                operation: Operation::Write,
                operations,
                bytes,
                errors: 0,
                histogram,
                stretch: None,
            }],
            ..PhaseSummary::begun(
                Phase {
                    name: "pass".into(),
                    experiment: "valleys".into(),
                    kind: PhaseKind::Measure,
                    workload: Some(workload),
                    stop: StopCondition::one_pass(),
                },
                start_ns(phase),
            )
        }
    }
}

fn start_ns(phase: u32) -> u64 {
    u64::from(phase) * SLICES_OF_PHASE * INTERVAL_NS
}

impl Series for Made {
    fn intervals(&self, phase: u32) -> Box<dyn Iterator<Item = IntervalRecord> + '_> {
        Box::new(Made::slices(phase))
    }

    fn errors(&self, _phase: u32) -> Box<dyn Iterator<Item = ErrorRecord> + '_> {
        Box::new(std::iter::empty())
    }

    fn ios(&self, _phase: u32) -> Box<dyn Iterator<Item = IoRecord> + '_> {
        Box::new(std::iter::empty())
    }

    fn telemetry(&self) -> Box<dyn Iterator<Item = TelemetryRecord> + '_> {
        Box::new(std::iter::empty())
    }
}

pub fn section() -> Result<String, Failure> {
    let drive = sim::open("x25-m", 1).doing("open x25-m")?;
    let environment = Environment::default();
    let phases: Vec<PhaseSummary> = (0..PHASES).map(Made::summary).collect();
    let view = RunView { target: drive.facts(), environment: &environment, phases: &phases, series: &Made };
    let before_s = processor_s()?;
    let bytes: u64 = (0..PHASES).flat_map(|phase| Made.intervals(phase)).map(|slice| slice.bytes).sum();
    let made_s = processor_s()?;
    let memory_before = memory_kib()?;
    let story = analysis::valley::Story::of(&view);
    let told_s = processor_s()?;
    let findings = analysis::analyse(&view).len();
    let all_s = processor_s()?;
    let memory_after = memory_kib()?;
    Ok(format!(
        "## Ten million slices\n\n{} slices of 40 ms, 111 hours in which {:.0} TB were written with {} valleys, are made while they are read, \
         which takes {:.2} s of\na processor by itself. Finding the valleys takes {:.2} s with that, the whole analysis, with \
         {findings} findings, {:.2} s. The memory in use grows\nby {} KiB.\n\n",
        u64::from(PHASES) * SLICES_OF_PHASE,
        bytes as f64 / 1e12,
        story.count(),
        made_s - before_s,
        told_s - made_s,
        all_s - told_s,
        memory_after - memory_before
    ))
}

fn processor_s() -> Result<f64, Failure> {
    Ok(number_of("/proc/thread-self/schedstat", "")? / 1e9)
}

fn memory_kib() -> Result<f64, Failure> {
    number_of("/proc/self/status", "VmHWM:")
}

fn number_of(path: &str, word: &str) -> Result<f64, Failure> {
    let text = fs::read_to_string(path).doing(format_args!("read {path}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_default();
    match line.split_whitespace().next().map(str::parse) {
        Some(Ok(number)) => Ok(number),
        _ => Err(Failure::cannot(format!("{path} has no number behind {word:?}."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_follow_on_each_other() {
        let slices: Vec<IntervalRecord> = Made::slices(1).take(3000).collect();
        assert!(slices.windows(2).all(|pair| pair[0].offset_end == pair[1].offset_first
            && pair[0].start_ns + pair[0].duration_ns == pair[1].start_ns));
        assert_eq!(slices.iter().filter(|slice| slice.operations == 1).count(), 24);
    }
}
