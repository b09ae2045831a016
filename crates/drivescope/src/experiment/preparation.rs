//! What experiments have in common before and around their measurements: filling a scratch file, waking the drive, the
//! sizes of requests.

use crate::experiment::Question;
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
/// With fewer reads in the warm-up, as of a drive that slept, what the drive says of itself counts.
const WARM_UP_READS_MIN: u64 = 5;
/// From this latency on a drive is taken to move parts for a single random read: flash answers in tens to hundreds of
/// microseconds, disks in milliseconds.
const MECHANICAL_LATENCY: Nanos = Nanos::from_millis(1);

/// A phase of that experiment.
pub fn phase(
    experiment: &'static str,
    name: String,
    kind: PhaseKind,
    workload: Option<Workload>,
    stop: StopCondition,
) -> Phase {
    Phase { name, experiment: experiment.into(), kind, workload, stop }
}

/// Fills a scratch file for no longer than `time`, and lets the drive come to rest for `settle`.
pub fn fill(experiment: &'static str, question: &Question, time: Nanos, settle: Nanos) -> [Phase; 2] {
    let block = sequential_block(question.range, question.facts.logical_block);
    let writes =
        Workload::new(question.range, Pattern::Sequential, OperationMix::Write, block, SEQUENTIAL_DEPTH);
    let stop = StopCondition { time: Some(time), ..StopCondition::one_pass() };
    let rest = StopCondition::after(settle);
    [
        phase(experiment, "fill the scratch file".into(), PhaseKind::Precondition, Some(writes), stop),
        phase(experiment, "let the drive come to rest".into(), PhaseKind::Idle, None, rest),
    ]
}

/// Random reads that wake the drive, and tell whether it has moving parts. They are not measured.
pub fn warm_up(experiment: &'static str, range: ByteRange, block: Bytes, time: Nanos) -> Phase {
    let reads = Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Read, block, 1);
    phase(experiment, "warm up".into(), PhaseKind::WarmUp, Some(reads), StopCondition::after(time))
}

/// Whether the drive has moving parts, by its warm-up, the last phase so far; by its own word where that was too short, as on a
/// drive that slept.
pub fn moves_parts(facts: &TargetFacts, so_far: &RunView<'_>) -> bool {
    let woke = so_far.phases.last().filter(|warm_up| warm_up.operations() >= WARM_UP_READS_MIN);
    woke.map_or(facts.rotational.unwrap_or(true), is_mechanical)
}

/// Whether the warm-up says that the drive has moving parts.
pub fn is_mechanical(warm_up: &PhaseSummary) -> bool {
    let reads = warm_up.totals_of(Operation::Read);
    let median = reads.and_then(|totals| totals.histogram.quantile(Quantile::MEDIAN));
    median.is_some_and(|median| median >= MECHANICAL_LATENCY)
}

/// What of a scratch file holds data, if that is enough to measure. Requests are finished out of order, so the
/// last ones before the end may not have been.
pub fn filled_range(range: ByteRange, written: Bytes) -> Option<ByteRange> {
    let sure = if written >= range.bytes() {
        range.bytes()
    } else {
        Bytes(written.0.saturating_sub(SEQUENTIAL_BLOCK.0 * u64::from(SEQUENTIAL_DEPTH)))
    };
    ByteRange::new(range.first(), sure.round_down_to(SEQUENTIAL_BLOCK))
        .filter(|range| range.bytes() >= SEQUENTIAL_BLOCK)
}

/// 1 MiB, or less on a range so small that its areas would hold only a few of them.
pub fn sequential_block(range: ByteRange, logical_block: Bytes) -> Bytes {
    let mut block = SEQUENTIAL_BLOCK;
    while block.0 > logical_block.0
        && block.0 > 4096
        && block.0 * u64::from(SEQUENTIAL_DEPTH) * 8 > range.bytes().0
    {
        block = Bytes(block.0 / 2);
    }
    block
}

/// The size of random requests to that target, which places are multiples of.
pub fn random_block(facts: &TargetFacts) -> Bytes {
    RANDOM_BLOCK.max(facts.logical_block)
}

/// "read" or "write".
pub fn verb(mix: OperationMix) -> &'static str {
    if mix == OperationMix::Write { "write" } else { "read" }
}
