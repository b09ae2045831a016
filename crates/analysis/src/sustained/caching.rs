//! What was acknowledged before it was stored: a volatile write cache, by the flush behind each phase.
//!
//! A cache that is full acknowledges at the rate at which it drains. So what was acknowledged until then, without what drained at that
//! rate meanwhile, is its size. A flush shows that a cache is there at all: from the first write to its end the drive always has
//! something to store, so that the bytes over that time are the drain rate, and the flush at that rate is what was left.
//!
//! A small cache is lost among the requests in flight of long phases, and its flush is short beside them. Bursts of small writes show it: where
//! the flush behind many takes longer than the one behind few, the difference is what it stores, however long a flush takes by itself. And where
//! writes have dropped, the drive drains more slowly than what is known to reach it, so that its cache is full when a phase ends: what the
//! flush then takes beyond one behind few is all of it.

use super::batch::Batch;
use super::drop::{Standing, standing};
use super::history::History;
use crate::moving_parts::turns;
use crate::stats::sample::Sample;
use crate::stats::student::t_two_sided;
use crate::stats::{CONFIDENCE, bounded};
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::workload::{OperationMix, Pattern};

/// The standard error of a median of normal numbers against that of their mean: √(π/2).
const MEDIAN_ERROR: f64 = 1.253_314;
/// Phases that are slower than this share of the quickest drain more slowly than writes can come. And what can come more while they last is
/// this multiple of what the cache held.
const SLOW_SHARE: f64 = 0.9;
const FILLS_MIN: f64 = 4.0;
const PHASES_MIN: usize = 3;
/// The quickest flush behind large bursts takes so many times as long as the slowest behind small ones where it stores more.
const FLUSH_GROWTH_MIN: f64 = 1.5;

#[derive(Clone, Debug, PartialEq)]
pub struct Caching {
    pub held: Held,
    /// The throughput that a host sees until the cache is full, without flushes; none where that took less than two intervals.
    pub acknowledged: Option<f64>,
    pub drained: Estimate,
    /// The first phase that filled the cache; where none did, that with the most in it when its writes ended.
    pub shown: Batch,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Held {
    /// Flushes had no more to store than the requests in flight.
    Nothing,
    /// The cache was filled: its size in bytes.
    Full(Estimate),
    /// It was never full, and most of what was written was still in it: at least so many bytes.
    AtLeast(f64),
    /// Flushes took time, and neither filled a cache nor left most of what was written to them: at most so many bytes.
    Unclear(f64),
}

/// Writes of a few listed offsets and the flush behind them, in seconds.
struct Burst {
    bytes: f64,
    in_flight: f64,
    wrote_s: f64,
    flush_s: f64,
}

struct Flushed {
    batch: Batch,
    /// Bytes per second of its writes, and of their last quarter.
    wrote_rate: f64,
    last_rate: f64,
    held_bytes: f64,
    /// While it wrote, until the cache was full if that shows.
    acknowledged: Option<f64>,
    fill: Option<Fill>,
}

#[derive(Clone, Copy)]
struct Fill {
    bytes: f64,
    drained_bytes: f64,
    /// What may have drained besides while it became full, to either side: a drive may write in batches.
    unsure_bytes: f64,
}

/// What the writes of a run tell of a cache; none where too few of them were flushed.
pub fn caching(run: &RunView<'_>, history: &History<'_>) -> Option<Caching> {
    if history.workload.mix != OperationMix::Write {
        return None;
    }
    let mut phases: Vec<Flushed> = Vec::new();
    for batch in history.first() {
        let summary = run.phases.get(batch.phase as usize)?;
        if summary.totals_of(Operation::Flush).is_some() {
            phases.push(flushed(run, history, *batch));
        }
    }
    if phases.len() < PHASES_MIN {
        return None;
    }
    // Once writes have dropped, a flush takes as long for other reasons.
    let quick = &phases[..until_drop(history, &phases)];
    let drained = Sample::new(quick.iter().map(|phase| phase.batch.bytes / phase.batch.seconds).collect())?;
    let filled = quick.iter().find(|phase| phase.fill.is_some());
    let shown = filled.or(quick.iter().max_by(|one, other| one.held_bytes.total_cmp(&other.held_bytes)))?;
    let of_phases = held(history, quick, &drained);
    let is_filled = matches!(of_phases, Held::Full(_));
    let fast = quick.iter().filter(|phase| phase.fill.is_some() || !is_filled);
    let acknowledged = Sample::new(fast.filter_map(|phase| phase.acknowledged).collect());
    let is_shown = match of_phases {
        Held::Full(bytes) => bytes.is_conclusive(),
        Held::AtLeast(_) => true,
        Held::Nothing | Held::Unclear(_) => false,
    };
    let of_drop = if is_shown { None } else { held_after_drop(run, history, &phases) };
    let of_bursts = if is_shown || of_drop.is_some() { None } else { held_by_bursts(run) };
    Some(Caching {
        held: match (of_drop, of_bursts) {
            (Some(bytes), _) => Held::Full(bytes),
            (None, Some(bytes)) => Held::AtLeast(bytes),
            (None, None) => of_phases,
        },
        // The phases filled it before anybody saw.
        acknowledged: acknowledged
            .filter(|_| of_drop.is_none() && of_bursts.is_none())
            .as_ref()
            .map(Sample::median),
        drained: around_median(&drained),
        shown: shown.batch,
    })
}

/// How many of these phases came before the rate dropped; all where it did not, or too few did.
fn until_drop(history: &History<'_>, phases: &[Flushed]) -> usize {
    let batches = history.first();
    let Standing::Fell(drop) = standing(batches) else { return phases.len() };
    let before = phases.partition_point(|phase| phase.batch.phase < batches[drop.before.end].phase);
    if before < PHASES_MIN { phases.len() } else { before }
}

fn held(history: &History<'_>, phases: &[Flushed], drained: &Sample) -> Held {
    let workload = history.workload;
    let in_flight = workload.block_sizes.largest().as_f64() * workload.in_flight_max() as f64;
    let most = phases.iter().map(|phase| phase.held_bytes).fold(0.0, f64::max);
    let Some(all) = Sample::new(phases.iter().map(|phase| phase.held_bytes).collect()) else {
        return Held::Unclear(most);
    };
    if all.median() <= in_flight {
        return if most <= in_flight { Held::Nothing } else { Held::Unclear(most) };
    }
    let mut full: Vec<f64> = Vec::new();
    let (mut drained_bytes, mut unsure_bytes): (f64, f64) = (0.0, 0.0);
    for phase in phases {
        let Some(fill) = phase.fill else { continue };
        full.push(fill.bytes);
        drained_bytes = drained_bytes.max(fill.drained_bytes);
        unsure_bytes = unsure_bytes.max(fill.unsure_bytes);
    }
    if full.len() >= PHASES_MIN
        && let Some(sample) = Sample::new(full.clone())
    {
        return Held::Full(widened(around_median(&sample), in_flight + unsure_bytes));
    }
    if !full.is_empty() {
        // How evenly it drains is known from all phases.
        let error = drained_bytes * drained.scaled_deciles() / drained.median();
        let half = error * t_two_sided(CONFIDENCE, drained.count() as f64 - 1.0);
        let value = full.iter().sum::<f64>() / full.len() as f64;
        return Held::Full(widened(estimate(value, half, full.len()), in_flight + unsure_bytes));
    }
    let left_to_flush = phases.iter().filter(|phase| phase.batch.flush_s > phase.batch.seconds / 2.0).count();
    if 2 * left_to_flush > phases.len() {
        Held::AtLeast(all.median().max(most / 2.0))
    } else {
        Held::Unclear(most)
    }
}

/// What the cache of a drive without moving parts held at the end of phases that were much slower than its quickest. A disk reorders what it drains.
fn held_after_drop(run: &RunView<'_>, history: &History<'_>, phases: &[Flushed]) -> Option<Estimate> {
    if turns(run) == Some(true) {
        return None;
    }
    let bursts: Vec<Burst> = run.phases.iter().filter_map(burst).collect();
    let quickest = phases.iter().map(|phase| phase.wrote_rate).fold(0.0, f64::max);
    let (mut held, mut unsure_bytes): (Vec<f64>, f64) = (Vec::new(), 0.0);
    for phase in phases {
        let share = phase.wrote_rate / quickest;
        let (of_few_s, longest_s) = flush_by_itself_s(&bursts, phase.last_rate);
        let held_bytes = phase.last_rate * (phase.batch.flush_s - longest_s);
        if share < SLOW_SHARE && (1.0 / share - 1.0) * phase.batch.bytes > FILLS_MIN * held_bytes {
            held.push(held_bytes);
            unsure_bytes = unsure_bytes.max(phase.last_rate * (longest_s - of_few_s));
        }
    }
    let held = Sample::new(held)?;
    (bursts.len() >= PHASES_MIN && held.count() >= PHASES_MIN && held.median() > 0.0).then(|| {
        widened(around_median(&held), unsure_bytes + history.workload.block_sizes.largest().as_f64())
    })
}

/// What a flush takes besides storing what has not drained at that rate when the writes end: behind the fewest writes, and at most.
fn flush_by_itself_s(bursts: &[Burst], drain_rate: f64) -> (f64, f64) {
    let few = bursts.iter().map(|burst| burst.bytes).fold(f64::INFINITY, f64::min);
    let (mut of_few_s, mut longest_s): (f64, f64) = (0.0, 0.0);
    for burst in bursts {
        let storing_s = (burst.bytes / drain_rate - burst.wrote_s).max(0.0);
        longest_s = longest_s.max(burst.flush_s - storing_s);
        if burst.bytes == few {
            of_few_s = of_few_s.max(burst.flush_s - storing_s);
        }
    }
    (of_few_s, longest_s)
}

/// What the largest bursts had in a cache at least when their writes ended; none where flushes behind them take no longer.
fn held_by_bursts(run: &RunView<'_>) -> Option<f64> {
    let mut bursts: Vec<Burst> = run.phases.iter().filter_map(burst).collect();
    bursts.sort_by(|one, other| one.bytes.total_cmp(&other.bytes));
    let (few, most) = (bursts.first()?.bytes, bursts.last()?.bytes);
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for burst in bursts {
        if burst.bytes == few {
            small.push(burst);
        } else if burst.bytes == most {
            large.push(burst);
        }
    }
    if small.len().min(large.len()) < PHASES_MIN {
        return None;
    }
    let by_itself_s = small.iter().map(|burst| burst.flush_s).fold(0.0, f64::max);
    let mut least = f64::INFINITY;
    for burst in &large {
        if burst.flush_s < FLUSH_GROWTH_MIN * by_itself_s {
            return None;
        }
        let stored_s = burst.flush_s - by_itself_s;
        least = least.min(burst.bytes * stored_s / (burst.wrote_s + stored_s) - burst.in_flight);
    }
    (least > 0.0).then_some(least)
}

fn burst(summary: &PhaseSummary) -> Option<Burst> {
    let workload = summary.phase.workload.as_ref()?;
    let is_burst = summary.phase.experiment == ExperimentName::Sustain
        && summary.phase.kind == PhaseKind::Measure
        && workload.mix == OperationMix::Write
        && matches!(workload.pattern, Pattern::Listed { .. })
        && summary.totals_of(Operation::Flush).is_some()
        && summary.errors() == 0;
    is_burst.then(|| Burst {
        bytes: summary.bytes() as f64,
        in_flight: workload.block_sizes.largest().as_f64() * workload.in_flight_max() as f64,
        wrote_s: summary.duration_ns as f64 / 1e9,
        flush_s: summary.flush_ns() as f64 / 1e9,
    })
}

/// The middle of a sample, which a phase during a stall does not move.
fn around_median(sample: &Sample) -> Estimate {
    let count = sample.count() as f64;
    let error = MEDIAN_ERROR * sample.scaled_deciles() / count.sqrt();
    estimate(sample.median(), error * t_two_sided(CONFIDENCE, count - 1.0), sample.count())
}

/// Whether the drive counts what is in flight to its cache, or the last request, no host sees.
fn widened(estimate: Estimate, by: f64) -> Estimate {
    Estimate { low: estimate.low - by, high: estimate.high + by, ..estimate }
}

fn estimate(value: f64, half: f64, count: usize) -> Estimate {
    bounded(value, value - half, value + half, count as f64)
}

/// All of their seconds, and all of their bytes.
fn sum(slices: &[(f64, f64)]) -> (f64, f64) {
    let (mut seconds, mut bytes) = (0.0, 0.0);
    for slice in slices {
        seconds += slice.0;
        bytes += slice.1;
    }
    (seconds, bytes)
}

fn rate_of(slices: &[(f64, f64)]) -> f64 {
    let (seconds, bytes) = sum(slices);
    bytes / seconds.max(1e-9)
}

fn flushed(run: &RunView<'_>, history: &History<'_>, batch: Batch) -> Flushed {
    let drained = batch.bytes / batch.seconds;
    let held_bytes = drained * batch.flush_s;
    let wrote_s = batch.wrote_s();
    let mut slices: Vec<(f64, f64)> = Vec::new();
    for slice in run.slices(batch.phase, Operation::Write) {
        let end_s = (slice.end_ns() as f64 / 1e9 - batch.start_s).min(wrote_s);
        let seconds = end_s - (slice.start_ns as f64 / 1e9 - batch.start_s);
        if seconds > 0.0 {
            slices.push((seconds, slice.bytes as f64));
        }
    }
    let wrote_rate = batch.bytes / wrote_s;
    let quarter = slices.len() / 4;
    let last_rate = if quarter == 0 { wrote_rate } else { rate_of(&slices[slices.len() - quarter..]) };
    // Whichever is nearer, as ratios: the rate at which it is acknowledged at first, or that at which it drains.
    let first = rate_of(&slices[..slices.len().min(1)]);
    let between = (first * drained).sqrt();
    let fast = slices.iter().take_while(|slice| slice.1 / slice.0 > between).count();
    // The cache became full within the first slice after these; the last quarter says that it stays so.
    let full_from = (fast + 1).min(slices.len());
    let is_full =
        fast < slices.len() && rate_of(&slices[slices.len() - (slices.len() / 4).max(1)..]) < between;
    let (until, after) = slices.split_at(full_from);
    let span = history.span as f64;
    let fill = (is_full && !after.is_empty()).then(|| {
        let (seconds, bytes) = sum(until);
        // It was full at the end of the last of these slices, or as soon as what came in it could come.
        let (last_s, last_bytes) = until[until.len() - 1];
        let drain_rate = rate_of(after);
        let unsure_bytes = drain_rate * (last_s - last_bytes / first.max(1.0)).max(0.0) / 2.0;
        let drained_bytes = drain_rate * seconds - unsure_bytes;
        // What is overwritten in the cache takes no more room.
        let held_bytes = span * (1.0 - (-(bytes - drained_bytes) / span).exp());
        Fill { bytes: held_bytes, drained_bytes, unsure_bytes }
    });
    let acknowledged = match (is_full, fast) {
        (false, _) => Some(wrote_rate),
        (true, 2..) => Some(rate_of(&slices[..fast - 1])),
        (true, _) => None,
    };
    Flushed { batch, wrote_rate, last_rate, held_bytes, acknowledged, fill }
}
