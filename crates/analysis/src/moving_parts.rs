//! Whether a drive rotates and has an actuator.

use crate::geometry::{Rotation, all_readings};
use crate::stats::quantile::at_share;
use model::histogram::LatencyHistogram;
use model::record::IoRecord;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::target::Caveat;
use model::units::{Bytes, Nanos, Quantile};
use std::collections::BTreeMap;

/// A random read from flash takes tens to hundreds of microseconds, from a disk some milliseconds: 2 ms at 15,000 rpm.
pub(crate) const MOVING_MEDIAN_S: f64 = 1e-3;
/// It waits for the platter, at 15,000 rpm for 0 to 4 ms: nine tenths of all reads differ by 3.2 ms; of several arms the nearest may come.
pub const ARM_SPREAD_MIN: Nanos = Nanos::from_millis(2);
/// Fewer reads may be alike by chance: of ten waits that are even up to 4 ms the longest and the shortest differ by less one time in a hundred.
const SPREAD_READS_MIN: u64 = 10;

/// A disk of 15,000 rpm whose shortest seek takes 0.4 ms has one such read in 500: a hundredth of the range, and a seventh of a revolution.
const QUICK: Nanos = Nanos::from_millis(1);
const QUICK_SHARE_MIN: f64 = 0.02;

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

/// Whether a disk answers, and no SSD beside it or cache before it answers some of the reads.
pub(crate) fn is_disk(run: &RunView<'_>) -> bool {
    turns(run) == Some(true) && quick_share(run) == 0.0
}

/// The share of single reads that come too soon for an actuator: of a disk behind or beside an SSD, and 0 of a disk.
pub(crate) fn quick_share(run: &RunView<'_>) -> f64 {
    let Some(reads) = reads_over_all(run) else { return 0.0 };
    let quick = reads.count_below(QUICK) as f64 / reads.count().max(1) as f64;
    if quick > QUICK_SHARE_MIN { quick } else { 0.0 }
}

/// Whether rereads of one place come whole revolutions apart: then something else moves the actuator, which makes nearby reads as slow.
fn rereads_show_rotation(run: &RunView<'_>) -> bool {
    matches!(all_readings(run), Ok(readings) if Rotation::of(&readings).is_ok())
}

fn is_slow(run: &RunView<'_>) -> Option<bool> {
    are_moved(&reads_over_all(run)?)
}

/// Whether single reads are those of an actuator over a platter; fewer than ten by their median alone.
pub fn are_moved(reads: &LatencyHistogram) -> Option<bool> {
    if reads.count() < SPREAD_READS_MIN {
        return Some(reads.quantile(Quantile::MEDIAN)?.seconds() >= MOVING_MEDIAN_S);
    }
    is_of_arm(|share| reads.quantile(Quantile::new(share)?))
}

/// Whether single reads differ by as much as those of an actuator, even where a cache answers most.
pub(crate) fn do_some_reads_move(run: &RunView<'_>) -> bool {
    let Some(reads) = reads_over_all(run) else { return false };
    spread_of(|share| reads.quantile(Quantile::new(share)?)).is_some_and(|spread| spread >= ARM_SPREAD_MIN)
}

/// Whether reads within a small part take as long as over all of the range: a volume behind a network is as slow as a disk, and has no arm.
pub(crate) fn is_as_slow_nearby(run: &RunView<'_>) -> bool {
    let singles = singles_of(run);
    let (Some((least, near)), Some((most, all))) = (singles.first_key_value(), singles.last_key_value())
    else {
        return false;
    };
    let [nearby, anywhere] = [near, all].map(|phases| latencies_of(phases).quantile(QUICKER));
    match (nearby, anywhere) {
        (Some(nearby), Some(anywhere)) if *least <= *most / NARROW_PART => {
            nearby.seconds() > AS_SLOW_SHARE * anywhere.seconds()
        }
        _ => false,
    }
}

/// Phases with their numbers, by the range that their reads were drawn from.
type Singles<'run> = BTreeMap<Bytes, Vec<(u32, &'run PhaseSummary)>>;

/// The phases of single random reads of the block size that most reads have: a slow stick takes milliseconds longer for a larger one.
fn singles_of<'run>(run: &RunView<'run>) -> Singles<'run> {
    let mut blocks: BTreeMap<Bytes, Singles<'run>> = BTreeMap::new();
    for (number, summary) in (0..).zip(run.phases) {
        if let Some(workload) = &summary.phase.workload
            && workload.is_single_random(Operation::Read)
        {
            let ranges = blocks.entry(workload.block_sizes.largest()).or_default();
            ranges.entry(workload.range.bytes()).or_default().push((number, summary));
        }
    }
    let operations = |ranges: &Singles<'_>| {
        ranges.values().flatten().map(|(_, summary)| summary.operations()).sum::<u64>()
    };
    blocks.into_values().max_by_key(operations).unwrap_or_default()
}

/// Whether these latencies of single reads, in rising order, are those of an actuator over a platter.
pub(crate) fn are_of_arm(rising_ns: &[u64]) -> bool {
    is_of_arm(|share| Some(Nanos::new(at_share(rising_ns, share)?))) == Some(true)
}

fn is_of_arm(latency: impl Fn(f64) -> Option<Nanos>) -> Option<bool> {
    Some(spread_of(&latency)? >= ARM_SPREAD_MIN && latency(0.5)?.seconds() >= MOVING_MEDIAN_S)
}

fn spread_of(latency: impl Fn(f64) -> Option<Nanos>) -> Option<Nanos> {
    Some(latency(0.95)?.saturating_sub(latency(0.05)?))
}

pub(crate) fn single_reads<'run>(run: &'run RunView<'_>) -> impl Iterator<Item = IoRecord> + 'run {
    let over_all = singles_of(run).pop_last().unwrap_or_default().1;
    over_all.into_iter().flat_map(|(number, _)| run.series.ios(number)).filter(IoRecord::is_done)
}

fn reads_over_all(run: &RunView<'_>) -> Option<LatencyHistogram> {
    Some(latencies_of(&singles_of(run).pop_last()?.1))
}

fn latencies_of(phases: &[(u32, &PhaseSummary)]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::default();
    for (_, summary) in phases {
        if let Some(totals) = summary.totals_of(Operation::Read) {
            histogram.merge(&totals.histogram);
        }
    }
    histogram
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use model::experiment_name::ExperimentName;
    use model::plan::{Phase, PhaseKind, StopCondition};
    use model::range::ByteRange;
    use model::run::{Environment, MemorySeries, OperationTotals};
    use model::target::{TargetFacts, TargetKind};
    use model::workload::{OperationMix, Pattern, Workload};

    pub(crate) fn phase_of_single_reads(range: ByteRange, block: Bytes) -> Phase {
        let workload = Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Read, block, 1);
        Phase {
            name: "random reads".into(),
            experiment: ExperimentName::Access,
            kind: PhaseKind::Measure,
            workload: Some(workload),
            stop: StopCondition::default(),
        }
    }

    /// A stick of 11 MB/s that Linux calls rotational: 1.7 ms for 4 KiB, and 5.7 ms for each fifth read, of 64 KiB. "Something between drive and
    /// host limits the drive to 15.6 MB/s everywhere", at its outer and at its inner diameter.
    #[test]
    fn larger_reads_take_longer_without_an_arm() {
        let range = ByteRange::whole(Bytes::new(128_000_000_000));
        let phase = |block: u64, count: u64, latency_ns: u64| {
            let mut histogram = LatencyHistogram::default();
            for number in 0..count {
                histogram.record(latency_ns + 1000 * (number % 50));
            }
            let totals =
                OperationTotals { operations: count, histogram, ..OperationTotals::none(Operation::Read) };
            PhaseSummary {
                totals: vec![totals],
                ..PhaseSummary::begun(phase_of_single_reads(range, Bytes::new(block)), 0)
            }
        };
        let phases = [phase(4096, 200, 1_700_000), phase(65_536, 40, 5_700_000)];
        let mut target = TargetFacts::unidentified(TargetKind::Device, "/dev/sda".into(), range.bytes());
        target.rotational = Some(true);
        let (environment, series) = (Environment::default(), MemorySeries::default());
        let run = RunView { target: &target, environment: &environment, phases: &phases, series: &series };
        assert_eq!(turns(&run), Some(false));
    }
}
