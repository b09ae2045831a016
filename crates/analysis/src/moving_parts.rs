//! Whether a drive rotates and has an actuator.

use crate::geometry::{Rotation, all_readings};
use model::histogram::LatencyHistogram;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::target::Caveat;
use model::units::{Bytes, Nanos, Quantile};

/// A random read from flash takes tens to hundreds of microseconds, from a disk some milliseconds: 2 ms at 15,000 rpm.
pub(crate) const MOVING_MEDIAN_S: f64 = 1e-3;

/// Within a hundredth of the range and less an arm hardly moves: disks take 0.4 to 0.5 of what they take over all of it. Half way to no
/// difference. The quicker of the reads are compared, which nobody else's held up.
const NARROW_PART: u64 = 100;
const AS_SLOW_SHARE: f64 = 0.8;
const QUICKER: Quantile = Quantile::P25;

/// Whether the drive turns. What it says of itself counts unless measured access times say otherwise: USB bridges and virtual disks
/// say "rotational" of flash. A loop device's word is the kernel's, and does not count. Measured are random reads, one at a time.
/// `None` when neither says anything, or when a drive that says it does not turn takes as long as one that does.
pub(crate) fn turns(run: &RunView<'_>) -> Option<bool> {
    let moves =
        is_slow(run).map(|is_slow| is_slow && (!is_as_slow_nearby(run) || rereads_show_rotation(run)));
    let is_loop = run.target.caveats.contains(&Caveat::LoopOverFile);
    let says = if is_loop { None } else { run.target.rotational };
    match (says, moves) {
        (Some(true) | None, Some(moves)) => Some(moves),
        (Some(false), Some(true)) => None,
        (says, _) => says,
    }
}

/// Whether something else moves the actuator of a disk between any two reads.
pub(crate) fn is_used_constantly(run: &RunView<'_>) -> bool {
    turns(run) == Some(true) && is_as_slow_nearby(run)
}

/// Whether rereads of one place come whole revolutions apart: then something else moves the actuator, which makes nearby reads as slow.
fn rereads_show_rotation(run: &RunView<'_>) -> bool {
    matches!(all_readings(run), Ok(readings) if Rotation::of(&readings).is_ok())
}

fn is_slow(run: &RunView<'_>) -> Option<bool> {
    Some(of_reads(run, Quantile::MEDIAN, |_| true)?.seconds() >= MOVING_MEDIAN_S)
}

/// Whether reads within a small part of the range take as long as over all of it: a volume behind a network is as slow as a disk, and has
/// no arm.
pub(crate) fn is_as_slow_nearby(run: &RunView<'_>) -> bool {
    let ranges = || run.phases.iter().filter_map(range_of_single_reads);
    let (Some(least), Some(most)) = (ranges().min(), ranges().max()) else { return false };
    let [nearby, anywhere] = [least, most].map(|bytes| of_reads(run, QUICKER, |range| range == bytes));
    match (nearby, anywhere) {
        (Some(nearby), Some(anywhere)) if least <= most / NARROW_PART => {
            nearby.seconds() > AS_SLOW_SHARE * anywhere.seconds()
        }
        _ => false,
    }
}

fn range_of_single_reads(summary: &PhaseSummary) -> Option<Bytes> {
    let workload = summary.phase.workload.as_ref()?;
    workload.is_single_random(Operation::Read).then_some(workload.range.bytes())
}

fn of_reads(run: &RunView<'_>, quantile: Quantile, is_wanted: impl Fn(Bytes) -> bool) -> Option<Nanos> {
    let mut histogram = LatencyHistogram::default();
    for summary in run.phases {
        if range_of_single_reads(summary).is_some_and(&is_wanted)
            && let Some(totals) = summary.totals_of(Operation::Read)
        {
            histogram.merge(&totals.histogram);
        }
    }
    histogram.quantile(quantile)
}
