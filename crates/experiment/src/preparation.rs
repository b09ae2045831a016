//! What experiments share: filling a scratch file, waking the drive, the sizes of requests.

use crate::Setup;
use analysis::{ARM_SPREAD_MIN, are_moved};
use model::experiment_name::ExperimentName;
use model::finding::StreamSetting;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::target::TargetFacts;
use model::units::{Bytes, Nanos, Quantile};
use model::workload::{OperationMix, Pattern, Workload};

/// Requests under way in sequential phases: enough to keep a drive streaming while the host answers.
pub const SEQUENTIAL_DEPTH: u32 = 4;
/// The size of sequential requests on ranges that have room for it.
pub const SEQUENTIAL_BLOCK: Bytes = Bytes::from_mib(1);
/// The size of random requests: a page, what databases and file systems ask for.
const RANDOM_BLOCK: Bytes = Bytes::from_kib(4);
/// With fewer reads in the warm-up, as of a drive that slept, as the drive reports it counts.
const WARM_UP_READS_MIN: u64 = 5;
/// From this latency of a single random read on a drive moves parts: flash takes tens to hundreds of microseconds.
const MECHANICAL_LATENCY: Nanos = Nanos::from_millis(1);

pub fn phase(
    experiment: ExperimentName,
    name: String,
    kind: PhaseKind,
    workload: Workload,
    stop: StopCondition,
) -> Phase {
    Phase { name, experiment, kind, workload: Some(workload), stop }
}

pub fn measure(experiment: ExperimentName, name: String, workload: Workload, stop: StopCondition) -> Phase {
    phase(experiment, name, PhaseKind::Measure, workload, stop)
}

pub fn idle(experiment: ExperimentName, name: String, time: Nanos) -> Phase {
    Phase { name, experiment, kind: PhaseKind::Idle, workload: None, stop: StopCondition::after(time) }
}

pub const WARM_UP: Nanos = Nanos::from_millis(500);

/// For how long a scratch file is filled at most, and how long the drive then comes to rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    pub time: Nanos,
    pub settle: Nanos,
}

impl Filling {
    /// Where a part of the file will do.
    pub const BRIEF: Filling = Filling::of(12, 1);

    pub const fn of(seconds: u64, settle_seconds: u64) -> Filling {
        Filling { time: Nanos::from_secs(seconds), settle: Nanos::from_secs(settle_seconds) }
    }
}

pub fn fill(experiment: ExperimentName, setup: &Setup, filling: Filling) -> [Phase; 2] {
    let block = sequential_block(setup.range, setup.facts.logical_block);
    let writes =
        Workload::new(setup.range, Pattern::Sequential, OperationMix::Write, block, SEQUENTIAL_DEPTH);
    let stop = StopCondition { time: Some(filling.time), ..StopCondition::one_pass() };
    [
        phase(experiment.clone(), "fill the scratch file".into(), PhaseKind::Precondition, writes, stop),
        idle(experiment, "let the drive idle".into(), filling.settle),
    ]
}

pub fn warm_up(experiment: ExperimentName, range: ByteRange, block: Bytes, time: Nanos) -> Phase {
    let reads = Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Read, block, 1);
    phase(experiment, "warm up".into(), PhaseKind::WarmUp, reads, StopCondition::after(time))
}

/// Whether the drive may have moving parts, by its warm-up, the last phase so far; by its own word where that was too short.
pub fn moves_parts(facts: &TargetFacts, so_far: &RunView<'_>) -> bool {
    match so_far.phases.last() {
        Some(warm_up) if warm_up.operations() >= WARM_UP_READS_MIN => is_as_slow_as_a_disk(warm_up),
        _ => facts.rotational.unwrap_or(true),
    }
}

/// Which single reads an actuator serves: behind a cache, or beside flash, not all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedReads {
    All,
    Some,
    None,
}

impl MovedReads {
    /// By those that woke the drive, else by its own word. A slow stick's latencies are alike.
    pub fn of(facts: &TargetFacts, so_far: &RunView<'_>) -> MovedReads {
        match so_far.phases.iter().rfind(|summary| is_warm_up(&summary.phase)) {
            Some(warm_up) if warm_up.operations() >= WARM_UP_READS_MIN => match spread(warm_up) {
                Some(spread) if spread < ARM_SPREAD_MIN => MovedReads::None,
                Some(_) if is_as_slow_as_a_disk(warm_up) => MovedReads::All,
                Some(_) => MovedReads::Some,
                None => MovedReads::None,
            },
            _ => MovedReads::of_rotational(facts.rotational.unwrap_or(true)),
        }
    }

    pub fn of_rotational(rotational: bool) -> MovedReads {
        if rotational { MovedReads::All } else { MovedReads::None }
    }
}

pub fn is_warm_up(phase: &Phase) -> bool {
    let is_random = |workload: &Workload| workload.pattern == Pattern::RandomWithReplacement;
    phase.kind == PhaseKind::WarmUp && phase.workload.as_ref().is_some_and(is_random)
}

pub fn reads_only(phase: &Phase) -> bool {
    matches!(&phase.workload, Some(workload) if workload.mix == OperationMix::Read)
}

/// What the middle nine tenths of the reads differ by.
fn spread(warm_up: &PhaseSummary) -> Option<Nanos> {
    let reads = &warm_up.totals_of(Operation::Read)?.histogram;
    let latency = |share: f64| reads.quantile(Quantile::new(share)?);
    Some(latency(0.95)?.saturating_sub(latency(0.05)?))
}

pub fn is_mechanical(warm_up: &PhaseSummary) -> bool {
    match warm_up.totals_of(Operation::Read) {
        Some(reads) => are_moved(&reads.histogram) == Some(true),
        None => false,
    }
}

fn is_as_slow_as_a_disk(warm_up: &PhaseSummary) -> bool {
    let Some(reads) = warm_up.totals_of(Operation::Read) else { return false };
    match reads.histogram.quantile(Quantile::MEDIAN) {
        Some(median) => median >= MECHANICAL_LATENCY,
        None => false,
    }
}

/// What of a scratch file holds data, if enough; the last requests before the end may not have been finished.
pub fn filled_range(range: ByteRange, written: Bytes) -> Option<ByteRange> {
    let in_flight = SEQUENTIAL_BLOCK * u64::from(SEQUENTIAL_DEPTH);
    let sure = if written >= range.bytes() { range.bytes() } else { written.saturating_sub(in_flight) };
    let filled = ByteRange::new(range.first(), sure.round_down_to(SEQUENTIAL_BLOCK))?;
    if filled.bytes() >= SEQUENTIAL_BLOCK { Some(filled) } else { None }
}

/// The same by what the first phase of a run has filled.
pub fn filled(range: ByteRange, so_far: &RunView<'_>) -> Option<ByteRange> {
    let written = so_far.phases.first().map_or(0, PhaseSummary::bytes);
    filled_range(range, Bytes::new(written))
}

/// 1 MiB, or less on a range so small that its areas would hold only a few of them.
pub fn sequential_block(range: ByteRange, logical_block: Bytes) -> Bytes {
    let mut block = SEQUENTIAL_BLOCK;
    while block > logical_block.max(Bytes::from_kib(4))
        && block * u64::from(SEQUENTIAL_DEPTH) * 8 > range.bytes()
    {
        block = block / 2;
    }
    block
}

/// What a drive streams best with, found on a range with room for it; less on a small one.
pub fn streaming_block(range: ByteRange, logical_block: Bytes, setting: StreamSetting) -> Bytes {
    match sequential_block(range, logical_block) {
        SEQUENTIAL_BLOCK => setting.block_bytes,
        smaller => smaller.min(setting.block_bytes),
    }
}

/// The size of random requests to that target, which places are multiples of.
pub fn random_block(facts: &TargetFacts) -> Bytes {
    RANDOM_BLOCK.max(facts.logical_block)
}

pub fn verb(mix: OperationMix) -> &'static str {
    if mix == OperationMix::Write { "write" } else { "read" }
}

/// A size in the name of a phase, to three digits as drives are sold: "500 GB".
pub fn capacity(bytes: Bytes) -> String {
    let (divisor, unit) = match bytes.as_f64() {
        1e15.. => (1e15, "PB"),
        1e12.. => (1e12, "TB"),
        1e9.. => (1e9, "GB"),
        1e6.. => (1e6, "MB"),
        1e3.. => (1e3, "kB"),
        _ => return bytes.to_string(),
    };
    let value = bytes.as_f64() / divisor;
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    let digits = format!("{value:.decimals$}");
    if decimals > 0 || digits.len() <= 3 {
        return format!("{digits} {unit}");
    }
    let (thousands, rest) = digits.split_at(digits.len() - 3);
    format!("{thousands},{rest} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_size_is_named_as_in_reports(bytes in any::<u64>(), shift in 0u32..64) {
            let bytes = Bytes::new(bytes >> shift);
            prop_assert_eq!(capacity(bytes), report::quantity::capacity(bytes));
            let edge = Bytes::new(10u64.pow(shift % 19).saturating_mul(99_995) / 100);
            prop_assert_eq!(capacity(edge), report::quantity::capacity(edge));
        }
    }
}
