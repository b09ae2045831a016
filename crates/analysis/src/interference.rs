//! Whether something else used a drive while its single random reads were measured.
//!
//! A read that finds the actuator elsewhere waits for it. Under constant other I/O, many reads take longer than any access; under bursts of
//! it, slow reads follow each other. Of several actuators each waits now and then; then the samples of a survey tell, or the kernel's counters.

use crate::measured::{random_groups, single_reads};
use crate::moving_parts::{quick_share, turns};
use crate::stats::series::Neighbours;
use crate::surface::is_used_constantly;
use model::finding::Interference;
use model::histogram::LatencyHistogram;
use model::record::IoRecord;
use model::request::Operation;
use model::run::RunView;
use model::units::{Nanos, Quantile};
use std::collections::VecDeque;

/// From this share on it is more than a retry now and then.
const HELD_UP_SHARE_MAX: f64 = 0.02;
/// By chance, one run of a thousand is taken for a shared one.
const CHANCE: f64 = 0.001;
/// In a second's record of the counters of a disk, which completes 60 reads and more, one may be counted in the next.
const COUNTED_SHARE_MAX: f64 = 0.05;
/// Of three places x, y, z drawn evenly, |x − y| and |y − z| correlate by 1/10, so what arms take for them by no more.
const NEIGHBOURS_CORRELATION: f64 = 0.1;
/// Reads that are further from each other do not correlate by what arms take. From here on bursts make a mean 3 % longer: of reads that take 5 ms more
/// or less, in a fifth of the time 2 ms more.
const FURTHER_CORRELATION: f64 = 0.02;
const READS_OF_BURSTS: usize = 8;

pub(crate) fn of_reads(run: &RunView<'_>) -> Option<Interference> {
    let share = held_up_share(run);
    match share > HELD_UP_SHARE_MAX {
        true => Some(Interference::HeldUp { share }),
        false if is_used_constantly(run) => Some(Interference::Constant),
        false if are_in_bursts(run) => Some(Interference::InBursts),
        false => None,
    }
}

/// What the kernel counted on the drive beside single random reads, where that is more than their edges in time explain.
pub(crate) fn counted_bytes_per_second(run: &RunView<'_>) -> Option<f64> {
    let single = random_groups(run, Operation::Read).remove(&1)?;
    let (mut own_bytes, mut all_bytes, mut nanos) = (0, 0, 0);
    let mut before_ns = None;
    for record in run.series.telemetry() {
        let Some(from_ns) = before_ns.replace(record.at_ns) else { continue };
        if let (Some(read), Some(written)) = (record.device_read_bytes, record.device_write_bytes)
            && single.iter().any(|visit| visit.contains(&(from_ns..record.at_ns)))
        {
            own_bytes += record.own_read_bytes;
            all_bytes += read + written;
            nanos += record.at_ns - from_ns;
        }
    }
    let others = all_bytes.saturating_sub(own_bytes) as f64;
    (others > COUNTED_SHARE_MAX * own_bytes as f64).then(|| others / (nanos as f64 / 1e9))
}

pub(crate) fn is_held_up(run: &RunView<'_>) -> bool {
    held_up_share(run) > HELD_UP_SHARE_MAX
}

pub(crate) fn are_held_up(run: &RunView<'_>, reads_ns: &[u64]) -> bool {
    held_up_share_of(run, reads_ns) > HELD_UP_SHARE_MAX
}

/// No access takes longer than this multiple of the median: at most a full-stroke seek and one revolution, about twice a mean seek and half
/// a revolution (mean seeks are 0.49 to 0.56 of the full stroke in disks of DiskSim 4.0).
const ARM_MEDIANS_MAX: f64 = 2.25;

/// The share of single random reads that took longer than any arm does: other use, or retries. 0 for drives that do not turn.
pub(crate) fn held_up_share(run: &RunView<'_>) -> f64 {
    let reads = single_reads(run);
    let Some(limit) = longest_of_arm(run, &reads) else { return 0.0 };
    1.0 - reads.count_below(limit) as f64 / reads.count().max(1) as f64
}

/// What the longest access of an arm takes of which these are single reads; none without any, or of a drive that does not turn.
fn longest_of_arm(run: &RunView<'_>, single: &LatencyHistogram) -> Option<Nanos> {
    let median = single.quantile(median_of_moving(run)?)?;
    if turns(run) == Some(true) { Some(Nanos::new((median.as_f64() * ARM_MEDIANS_MAX) as u64)) } else { None }
}

/// Where the median of the reads that moved the actuator is among all reads.
fn median_of_moving(run: &RunView<'_>) -> Option<Quantile> {
    let quick = quick_share(run);
    Quantile::new(quick + (1.0 - quick) / 2.0)
}

fn held_up_share_of(run: &RunView<'_>, reads_ns: &[u64]) -> f64 {
    let Some(limit) = longest_of_arm(run, &single_reads(run)) else { return 0.0 };
    let late = reads_ns.iter().filter(|read_ns| **read_ns > limit.get()).count();
    late as f64 / reads_ns.len().max(1) as f64
}

/// Whether reads next to each other in time are slow together, more than an actuator that starts where it last read makes them.
fn are_in_bursts(run: &RunView<'_>) -> bool {
    let (Some(true), Some(mean_ns)) = (turns(run), single_reads(run).mean_ns()) else { return false };
    let (mut neighbours, mut further) = (Neighbours::default(), Neighbours::default());
    for visit in random_groups(run, Operation::Read).remove(&1).unwrap_or_default() {
        let mut before = VecDeque::new();
        for read in run.series.ios(visit.phase).filter(IoRecord::is_done) {
            let deviation_ns = read.service_ns() as f64 - mean_ns;
            for (index, before_ns) in before.iter().enumerate() {
                let pairs = if index == 0 { &mut neighbours } else { &mut further };
                pairs.add(*before_ns, deviation_ns);
            }
            before.push_front(deviation_ns);
            before.truncate(READS_OF_BURSTS);
        }
    }
    neighbours.correlate_by_more_than(NEIGHBOURS_CORRELATION, CHANCE)
        || further.correlate_by_more_than(FURTHER_CORRELATION, CHANCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moving_parts::tests::phase_of_single_reads;
    use model::range::ByteRange;
    use model::record::TelemetryRecord;
    use model::run::{Environment, MemorySeries, PhaseSummary};
    use model::target::{TargetFacts, TargetKind};
    use model::units::{Bytes, Offset};

    /// Three seconds of single reads of 300 kB/s, in which two records of the counters lie.
    #[test]
    fn what_the_kernel_counts_besides_is_other_io() {
        let range = ByteRange::new(Offset::START, Bytes::new(1 << 40)).expect("a range");
        let phase = phase_of_single_reads(range, Bytes::new(4096));
        let summary =
            PhaseSummary { duration_ns: 3_000_000_000, ..PhaseSummary::begun(phase, 2_500_000_000) };
        let target = TargetFacts::unidentified(TargetKind::Device, "/dev/sda".into(), Bytes::new(1 << 40));
        let counted = |others: [u64; 6]| {
            let record = |(second, others): (u64, u64)| TelemetryRecord {
                at_ns: second * 1_000_000_000,
                device_read_bytes: Some(300_000 + others),
                device_write_bytes: Some(0),
                own_read_bytes: 300_000,
                ..TelemetryRecord::default()
            };
            let telemetry = (0..).zip(others).map(record).collect();
            let series = MemorySeries { telemetry, ..MemorySeries::default() };
            let (phases, environment) = ([summary.clone()], Environment::default());
            counted_bytes_per_second(&RunView {
                target: &target,
                environment: &environment,
                phases: &phases,
                series: &series,
            })
        };
        assert_eq!(
            counted([0, 0, 900_000, 900_000, 4096, 0]),
            None,
            "outside of it, and one that came later"
        );
        assert_eq!(counted([0, 0, 0, 0, 98_000, 102_000]), Some(100_000.0));
    }
}
