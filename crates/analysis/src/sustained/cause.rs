//! Why throughput dropped: a full cache, garbage collection, or heat.
//!
//! From throughput alone they look the same; what is written next tells them apart. Sequential writes leave whole blocks of
//! garbage, which ends collection. A drive that is too warm cools while little is written, which empties no cache.

use super::batch::Batch;
use super::drop::RateDrop;
use super::history::History;
use model::plan::PhaseKind;
use model::run::RunView;
use model::workload::{Arrival, Pattern};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A cache was full: nothing that was tried against another cause made the drive fast again, or nothing was tried.
    Cache,
    /// Space had to be won back: writes in order made it fast again.
    Collection,
    /// It had become warm: a time of few writes made it fast again.
    Heat,
}

/// Writes in order that are so much faster than those at random, as the logarithm of their ratio, need less space to be won back: 25 %. To
/// a drive whose cache is full they are as fast, since the cells are programmed at one rate.
const FASTER: f64 = 0.22;
/// Or that win back this share of a smaller drop, of which a full cache wins back nothing.
const WON_BACK_SHARE: f64 = 0.8;

pub fn cause(run: &RunView<'_>, history: &History<'_>, drop: &RateDrop) -> Cause {
    if drop.bytes.value >= history.span as f64 && history.workload.pattern != Pattern::Sequential {
        // All of it was written as often as once: no cells are left that a cache could have been of.
        return Cause::Collection;
    }
    let halfway = f64::midpoint(drop.before.cost.value, drop.after.cost.value);
    if history.workload.pattern != Pattern::Sequential
        && let Some(batch) = last_in_order(run, history)
        && wins_back(batch.seconds_per_byte().ln(), drop)
    {
        return Cause::Collection;
    }
    for stream in history.streams.iter().skip(1) {
        if stream.before.iter().any(|phase| is_trickle(run, *phase))
            && let Some(batch) = stream.batches.first()
            && batch.seconds_per_byte().ln() < halfway
        {
            return Cause::Heat;
        }
    }
    Cause::Cache
}

/// Whether writes in order that take that logarithm of a byte's time are faster than those at random were when they began. Those that are as
/// fast as behind the first drop, before a further one, and less so than before it, leave it to a cache; those that are faster than any at
/// random before it are so without collection, as on sticks that merge what comes at random.
fn wins_back(in_order: f64, drop: &RateDrop) -> bool {
    let [from_before, from_after] =
        [&drop.before, &drop.after].map(|level| (in_order - level.cost.value).abs());
    let is_as_first = !drop.further.is_empty() && from_after <= FASTER && from_after < from_before;
    let lost = drop.last().cost.value - drop.before.cost.value;
    let is_always_faster = in_order < drop.before.cost.value - FASTER;
    in_order < drop.last().cost.value - FASTER.min(WON_BACK_SHARE * lost) && !is_as_first && !is_always_faster
}

fn last_in_order(run: &RunView<'_>, history: &History<'_>) -> Option<Batch> {
    let end = match history.first().last() {
        Some(batch) => batch.phase + 1,
        None => 0,
    };
    let mut last = None;
    for (number, summary) in (0..).zip(run.phases).skip(end as usize) {
        match &summary.phase.workload {
            Some(workload)
                if summary.phase.kind == PhaseKind::Measure && workload.pattern == Pattern::Sequential =>
            {
                last = Batch::of(number, summary);
            }
            _ => break,
        }
    }
    last
}

/// Whether few requests come in a phase, at a rate that does not ask for the drive's.
fn is_trickle(run: &RunView<'_>, phase: u32) -> bool {
    let Some(summary) = run.phases.get(phase as usize) else { return false };
    matches!(&summary.phase.workload, Some(workload) if matches!(workload.arrival, Arrival::OpenLoop { .. }))
}

#[cfg(test)]
mod tests {
    use super::super::drop::{Standing, standing};
    use super::*;

    /// A USB stick whose pSLC is full after 0.78 GB, and which merges what comes at random: in order it takes 28 MB/s, before and behind
    /// the drop. "By garbage collection, and no full cache."
    #[test]
    fn writes_that_are_faster_in_order_anyway_win_nothing_back() {
        let batch = |phase: u32| {
            let rate = if phase < 20 { 12.38e6 } else { 8.77e6 } * [0.995, 1.0, 1.005][phase as usize % 3];
            Batch { phase, start_s: 0.0, bytes: 40e6, seconds: 40e6 / rate, flush_s: 0.0 }
        };
        let batches: Vec<Batch> = (0..40).map(batch).collect();
        let Standing::Fell(drop) = standing(&batches) else { panic!("it fell") };
        assert!(wins_back(-(12.4e6_f64).ln(), &drop), "as fast as before");
        assert!(!wins_back(-(28e6_f64).ln(), &drop), "faster than ever at random");
        assert!(!wins_back(-(8.8e6_f64).ln(), &drop));
    }
}
