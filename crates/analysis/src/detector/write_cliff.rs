//! How much can be written before throughput drops for good.
//! # What it finds
//! The bytes after which sustained writes became slower and stayed so, with all levels; or that nothing of the kind came.
//! # Why it matters
//! SMR disks take random writes into a media cache, flash into SLC cells: several times slower once full.
//! # How
//! Writes come in phases that are a small share of what was written before, each with its flush, so that the drive's own memory counts for
//! nothing. The logarithms of the time per byte are cut into levels (`stats::change_point`), with a penalty from their own noise, stalls left
//! out; levels less than 6 % apart are one. The cliff is the first step of 6 % and more after which throughput never returns to halfway, until
//! that lasted for a tenth of what was written before or half of the time. Its place is within the phases at the border, where both rates
//! explain their time; on a disk, where completions became fewer. Later levels count where throughput does not drift to them and does not come
//! back, or has lasted as long as the first has to. A drop also has to cost more time than hosts lose, and of sequential writes to a disk it has
//! to come again at the start of the range, unless it is threefold: zones are slower, too. What caused it stands beside it where anything shows that.
//! # Cannot tell when
//! Less was written than a cache can hold; the drop did not last; throughput wanders by more than it drops. Where flash became
//! fast again, it was garbage collection or heat. On a virtual disk or through a page cache, other layers may have.
//! # Known problems
//! A cache that is emptied as fast as it fills is not seen: few requests in flight hide it. Steps under 6 % are not told from
//! drift. Later levels take writing all of a flash drive several times, so they are looked for only when asked.
//! # References
//! Aghayev, Shafaei, Desnoyers, "Skylight", FAST 2015 (media caches of 20 and 25 GB); Killick, Fearnhead, Eckley, "Optimal
//! detection of changepoints", 2012; TechPowerUp's tests of 2020 to 2024 (drops after 22 to 700 GB).

use super::detect::{Detector, Need};
use super::trust::{doubts, is_behind_layers};
use crate::examined::Examined;
use crate::measured::evidence_of_phases;
use crate::moving_parts::turns;
use crate::recording::Probes;
use crate::sustained::{
    Batch, Cause, DISK_SETTLED, History, Level, MEMORY_BYTES_MAX, PIECES_AFTER_MIN, RateDrop, Standing,
    below, cause, dip, levels, regained, seen_bytes, standing,
};
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{
    CliffCause, Finding, FindingCode, LaterLevel, LevelBelow, NoCliff, NoCliffCourse, NoCliffLimit, Outcome,
    WriteCliff, WriteCliffUnknown, WriteDrop, WriteKind, WriteLevel, WriteOrder,
};
use model::request::Operation;
use model::run::RunView;
use model::workload::Pattern;

const EXPERIMENT: ExperimentName = ExperimentName::Sustain;
/// Tracks lie between 20 and 47 mm on platters of 3.5 inches, where the outermost hold 2.4 times as much, and of other sizes alike.
const ZONES_DIFFER_MAX: f64 = 3.0;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::WriteCliff], needs: &[Need::Asked(EXPERIMENT)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let outcome = match History::of(run) {
        None => Outcome::Unknown(WriteCliffUnknown::NothingWritten),
        Some(history) => Outcome::of(cliff(run, &history), evidence_of_phases(run, &history.first_phases())),
    };
    vec![Finding::WriteCliff(outcome).with_caveats(&doubts(run))]
}

fn cliff<'run>(run: &RunView<'run>, history: &History<'run>) -> Result<WriteCliff, WriteCliffUnknown> {
    if history.is_in_no_time(run) {
        return Err(WriteCliffUnknown::NoTime);
    }
    match standing(history.first()) {
        Standing::Even => {
            came_back(run, history).ok_or_else(|| WriteCliffUnknown::None(no_cliff(run, history)))
        }
        Standing::Falling => {
            Err(WriteCliffUnknown::StillFalling { writes: writes(history), written_bytes: history.written() })
        }
        Standing::Fell(drop) if may_be_of_place(run, history, &drop) => {
            Err(WriteCliffUnknown::OfPlace(write_drop(history, &drop)))
        }
        Standing::Fell(_) if goes_in_place(run) => Err(WriteCliffUnknown::None(no_cliff(run, history))),
        Standing::Fell(drop) => match cause(run, history, &drop) {
            Cause::Cache => Ok(lasting(run, history, &drop)),
            _ if is_behind_layers(run.target) => {
                Err(WriteCliffUnknown::NotTheDrive(write_drop(history, &drop)))
            }
            Cause::Heat => Err(WriteCliffUnknown::Heat(write_drop(history, &drop))),
            Cause::Collection => Err(WriteCliffUnknown::GarbageCollection(write_drop(history, &drop))),
        },
    }
}

/// Whether there is no media cache that could have filled: other I/O slows writes in place, too.
fn goes_in_place(run: &RunView<'_>) -> bool {
    let probes = Probes::of(run, &EXPERIMENT);
    matches!(probes, Some(probes) if probes.goes_in_place(run.target) && !probes.rewrites_behind_drop(run))
}

/// Whether other offsets may explain a drop of sequential writes: what may have zones was not written from its start again.
fn may_be_of_place(run: &RunView<'_>, history: &History<'_>, drop: &RateDrop) -> bool {
    history.workload.pattern == Pattern::Sequential
        && drop.fall() < ZONES_DIFFER_MAX.ln()
        && turns(run) != Some(false)
        && history.batches_again(run) < PIECES_AFTER_MIN
}

/// Whether at least half of a fall, as a logarithm, came within two of the batches around it: a cache is full within one, garbage collection
/// may begin slowly. The first batch of all goes to the drive's memory.
fn falls_at_once(batches: &[Batch], fall: f64) -> bool {
    let cost = |batch: &Batch| batch.seconds_per_byte().ln();
    batches.windows(3).any(|three| cost(&three[2]) - cost(&three[0]) >= fall / 2.0)
}

fn cliff_cause(run: &RunView<'_>, history: &History<'_>, drop: &RateDrop) -> CliffCause {
    let probes = Probes::of(run, &EXPERIMENT);
    if let Some(probes) = probes.as_ref()
        && probes.rewrites_behind_drop(run)
    {
        CliffCause::MediaCache
    } else if drop.bytes.value <= MEMORY_BYTES_MAX {
        CliffCause::Buffer
    } else if let Some(probes) = probes
        && !probes.is_slow()
        && probes.shows_cells()
        && falls_at_once(around(history.first(), drop), drop.fall())
    {
        CliffCause::CellCache
    } else {
        CliffCause::Unknown
    }
}

fn around<'batches>(batches: &'batches [Batch], drop: &RateDrop) -> &'batches [Batch] {
    let (before, after) = (&drop.before, &drop.after);
    &batches[before.first.midpoint(before.end)..after.first.midpoint(after.end).min(batches.len())]
}

pub(super) fn writes(history: &History<'_>) -> WriteKind {
    let order = match history.workload.pattern {
        Pattern::Sequential => WriteOrder::Sequential,
        Pattern::Mixed { random_share } => WriteOrder::Mixed { random_share },
        _ => WriteOrder::Random,
    };
    WriteKind { order, block: history.workload.block_sizes.largest() }
}

fn write_drop(history: &History<'_>, drop: &RateDrop) -> WriteDrop {
    WriteDrop {
        writes: writes(history),
        before: drop.before.rate().value,
        after: drop.after.rate().value,
        bytes: drop.bytes.value,
    }
}

fn no_cliff(run: &RunView<'_>, history: &History<'_>) -> NoCliff {
    let seconds: f64 = history.first().iter().map(|batch| batch.seconds).sum();
    let flush_s: f64 = history.first().iter().map(|batch| batch.flush_s).sum();
    let probes = Probes::of(run, &EXPERIMENT);
    let may_turn = match &probes {
        Some(probes) => probes.has_arm(),
        None => turns(run) != Some(false),
    };
    let limit = if matches!(probes, Some(probes) if probes.goes_in_place(run.target)) {
        Some(NoCliffLimit::InPlace)
    } else if may_turn && (history.span as f64) < DISK_SETTLED {
        Some(NoCliffLimit::SmallRange { bytes: history.span })
    } else if !may_turn && history.written() < history.span as f64 {
        Some(NoCliffLimit::NotWholeRange)
    } else {
        None
    };
    NoCliff {
        writes: writes(history),
        written_bytes: history.written(),
        mean: history.written() / seconds.max(1e-9),
        acknowledged: history.written() / (seconds - flush_s).max(1e-9),
        course: course(&levels(history.first())),
        limit,
    }
}

fn course(levels: &[Level]) -> NoCliffCourse {
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else { return NoCliffCourse::Even };
    let slower = levels.iter().filter(|level| level.cost.value > first.cost.value);
    let Some(slowest) = slower.max_by(|one, other| one.cost.value.total_cmp(&other.cost.value)) else {
        return NoCliffCourse::Even;
    };
    // Nearer to the first, as logarithms.
    if last.cost.value < f64::midpoint(first.cost.value, slowest.cost.value) {
        return NoCliffCourse::CameBack {
            from_bytes: slowest.from_bytes,
            bytes: slowest.bytes,
            slow: slowest.bytes_per_second(),
            last: last.bytes_per_second(),
        };
    }
    let (first_bytes, first_rate) = (first.bytes, first.bytes_per_second());
    if levels.windows(2).skip(1).any(|pair| pair[1].cost.value < pair[0].cost.value) {
        return NoCliffCourse::Swings { first_bytes, first: first_rate, slowest: slowest.bytes_per_second() };
    }
    let falls_at_once = levels[1].cost.value > f64::midpoint(first.cost.value, slowest.cost.value);
    if first_bytes <= MEMORY_BYTES_MAX && falls_at_once {
        return NoCliffCourse::FastStart { first_bytes, first: first_rate };
    }
    let quickest = levels.iter().map(Level::bytes_per_second).fold(first_rate, f64::max);
    NoCliffCourse::Declines { quickest, last: last.bytes_per_second() }
}

/// Flash that was written once sequentially and became slow and fast again by itself; a disk's throughput follows its zones.
fn came_back(run: &RunView<'_>, history: &History<'_>) -> Option<WriteCliff> {
    let is_once = history.workload.pattern == Pattern::Sequential && is_all(run, history);
    if turns(run) != Some(false) || !is_once || is_behind_layers(run.target) {
        return None;
    }
    let drop = dip(history.first())?;
    drop.further.first()?;
    Some(WriteCliff { comes_back: true, ..described(run, history, &drop, drop.bytes) })
}

fn lasting(run: &RunView<'_>, history: &History<'_>, drop: &RateDrop) -> WriteCliff {
    let seen = place(run, history, drop);
    let bytes = Estimate { high: seen.high + earlier_bytes(run, history), ..seen };
    described(run, history, drop, bytes)
}

fn described(run: &RunView<'_>, history: &History<'_>, drop: &RateDrop, bytes: Estimate) -> WriteCliff {
    let (before, after) = (drop.before.rate(), drop.after.rate());
    WriteCliff {
        bytes,
        comes_back: false,
        before: before.value,
        before_low: before.low,
        before_high: before.high,
        after: after.value,
        after_low: after.low,
        after_high: after.high,
        ratio: after.value / before.value,
        levels: write_levels(drop),
        further: later_levels(drop),
        after_from_bytes: drop.after.judged_from_bytes,
        after_over_bytes: drop.after.judged_bytes,
        in_memory_bytes: drop.in_memory_bytes,
        cause: cliff_cause(run, history, drop),
        looked_until_bytes: history.written(),
        writes: writes(history),
        below: level_below(run, history, drop),
        is_whole: is_all(run, history),
        // Who only looks for a cliff stops with the phase that makes it certain.
        went_on: history.went_on(),
        has_rests: !regained(run, history, drop).is_empty(),
    }
}

fn write_levels(drop: &RateDrop) -> Vec<WriteLevel> {
    let mut found = Vec::new();
    for stage in &drop.course {
        let (from, rate) = (stage.from_bytes, stage.level.rate());
        found.push(WriteLevel {
            from_bytes: from.value,
            from_bytes_low: from.low,
            from_bytes_high: from.high,
            bytes_per_second: rate.value,
            low: rate.low,
            high: rate.high,
            comes_back: stage.comes_back,
        });
    }
    found
}

fn later_levels(drop: &RateDrop) -> Vec<LaterLevel> {
    let mut found = Vec::new();
    for further in &drop.further {
        let (bytes, rate) = (further.bytes, further.after.rate());
        found.push(LaterLevel {
            bytes: bytes.value,
            bytes_low: bytes.low,
            bytes_high: bytes.high,
            bytes_per_second: rate.value,
            low: rate.low,
            high: rate.high,
        });
    }
    found
}

fn level_below(run: &RunView<'_>, history: &History<'_>, drop: &RateDrop) -> Option<LevelBelow> {
    let below = below(run, history, drop)?;
    let (from_bytes, to_bytes) = (below.from_bytes, below.to_bytes);
    Some(LevelBelow { from_bytes, to_bytes, bytes_per_second: below.bytes_per_second })
}

/// Where a host sees it: a disk first takes into its memory what it cannot write yet.
fn place(run: &RunView<'_>, history: &History<'_>, drop: &RateDrop) -> Estimate {
    let (bytes, shift) = (drop.bytes, drop.in_memory_bytes);
    if turns(run) != Some(true) {
        return bytes;
    }
    let shifted = Estimate { value: bytes.value + shift, high: bytes.high + shift, ..bytes };
    seen_bytes(run, history, drop).unwrap_or(shifted)
}

/// What earlier random writes may have taken of a cache: in one that is full when its map is, a block each.
fn earlier_bytes(run: &RunView<'_>, history: &History<'_>) -> f64 {
    let first = match history.first().first() {
        Some(batch) => batch.phase as usize,
        None => 0,
    };
    let mut writes = 0;
    for summary in run.phases.iter().take(first) {
        let Some(workload) = &summary.phase.workload else { continue };
        if workload.pattern != Pattern::Sequential {
            writes += summary.operations_of(Operation::Write);
        }
    }
    writes as f64 * history.workload.block_sizes.largest().as_f64()
}

/// Whether as much was written as the range holds. For sequential writes the drive's size counts, but for the last hundredth.
fn is_all(run: &RunView<'_>, history: &History<'_>) -> bool {
    match history.workload.pattern {
        Pattern::Sequential => history.written() >= 0.99 * run.target.capacity.as_f64(),
        _ => history.written() >= history.span as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive without an SLC cache whose garbage collection took more from batch to batch: "the SLC cache is full after 28.8 GB".
    #[test]
    fn a_cache_is_full_at_once() {
        let batches = |rate: fn(u32) -> f64| -> Vec<Batch> {
            let batch =
                |phase| Batch { phase, start_s: 0.0, bytes: 1e9, seconds: 1e9 / rate(phase), flush_s: 0.0 };
            (0..40).map(batch).collect()
        };
        let fall = (2.25_f64 / 2.06).ln();
        assert!(!falls_at_once(&batches(|phase| 2.267e9 - 1e7 * f64::from(phase.saturating_sub(10))), fall));
        // The drive's memory takes the first batch at once.
        let mut buffered = batches(|phase| 2.416e9 - 5e5 * f64::from(phase).powi(2));
        buffered[0].seconds /= 1.3;
        let Standing::Fell(drop) = standing(&buffered) else { panic!("it fell") };
        let fall = drop.fall();
        assert!(falls_at_once(&buffered, fall) && !falls_at_once(around(&buffered, &drop), fall));
        // Full in the middle of a batch.
        let full = |phase: u32| match phase {
            0..20 => 2.25e9,
            20 => 2.15e9,
            _ => 2.06e9,
        };
        assert!(falls_at_once(&batches(full), fall));
    }
}
