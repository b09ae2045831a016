//! Whether something else used a drive that turns while its single random reads were measured.
//!
//! A read that finds the arm elsewhere waits for it. Where that is all of the time, many reads take longer than any arm; where it comes and
//! goes, slow reads follow each other.

use crate::measured::{random_groups, single_reads, turns};
use crate::stats::quantile::normal_two_sided;
use model::finding::Interference;
use model::histogram::LatencyHistogram;
use model::record::IoRecord;
use model::request::Operation;
use model::run::RunView;
use model::units::{Nanos, Quantile};

/// From this share on it is more than a retry now and then.
const HELD_UP_SHARE_MAX: f64 = 0.02;
/// By chance, one run of a thousand is taken for a shared one.
const CHANCE: f64 = 0.002;
/// Of three places x, y, z drawn evenly, |x − y| and |y − z| correlate by 1/10, so what arms take for them by no more.
const NEIGHBOURS_CORRELATION: f64 = 0.1;

pub(crate) fn interference(run: &RunView<'_>) -> Option<Interference> {
    let share = held_up_share(run);
    match share > HELD_UP_SHARE_MAX {
        true => Some(Interference::HeldUp { share }),
        false if are_in_bursts(run) => Some(Interference::InBursts),
        false => None,
    }
}

/// Whether too many single reads were held up, all along.
pub(crate) fn is_held_up(run: &RunView<'_>) -> bool {
    held_up_share(run) > HELD_UP_SHARE_MAX
}

/// Whether too many of these random reads, in nanoseconds, were held up.
pub(crate) fn are_held_up(run: &RunView<'_>, reads_ns: &[u64]) -> bool {
    held_up_share_of(run, reads_ns) > HELD_UP_SHARE_MAX
}

/// No access of an arm takes so many times as long as half of all do: at most a full stroke and a whole turn, about twice a mean
/// seek and half a turn (mean seeks are 0.49 to 0.56 of the full stroke in disks of DiskSim 4.0).
const ARM_MEDIANS_MAX: f64 = 2.25;

/// The share of single random reads that took longer than any arm does: other use, or retries. 0 for drives that do not turn.
pub(crate) fn held_up_share(run: &RunView<'_>) -> f64 {
    let reads = single_reads(run);
    let Some(limit) = longest_of_arm(run, &reads) else { return 0.0 };
    1.0 - reads.count_below(limit) as f64 / reads.count().max(1) as f64
}

/// What the longest access of an arm takes of which these are single reads; none without any, or of a drive that does not turn.
fn longest_of_arm(run: &RunView<'_>, single: &LatencyHistogram) -> Option<Nanos> {
    let median = single.quantile(Quantile::MEDIAN)?;
    if turns(run) == Some(true) { Some(Nanos::new((median.as_f64() * ARM_MEDIANS_MAX) as u64)) } else { None }
}

fn held_up_share_of(run: &RunView<'_>, reads_ns: &[u64]) -> f64 {
    let Some(limit) = longest_of_arm(run, &single_reads(run)) else { return 0.0 };
    let late = reads_ns.iter().filter(|read_ns| **read_ns > limit.get()).count();
    late as f64 / reads_ns.len().max(1) as f64
}

/// Whether reads next to each other in time are slow together, more than arms that go on from where they are make them.
fn are_in_bursts(run: &RunView<'_>) -> bool {
    if turns(run) != Some(true) {
        return false;
    }
    let mut visits = Vec::new();
    for visit in random_groups(run, Operation::Read).remove(&1).unwrap_or_default() {
        let mut reads_ns = Vec::new();
        for read in run.series.ios(visit.phase).filter(IoRecord::is_done) {
            reads_ns.push(read.service_ns() as f64);
        }
        visits.push(reads_ns);
    }
    are_slow_together(&visits)
}

fn are_slow_together(visits: &[Vec<f64>]) -> bool {
    let count: usize = visits.iter().map(Vec::len).sum();
    let mean = visits.iter().flatten().sum::<f64>() / count as f64;
    let (mut squares, mut products, mut pairs) = (0.0, 0.0, 0.0);
    for visit in visits {
        for pair in visit.windows(2) {
            squares += ((pair[0] - mean).powi(2) + (pair[1] - mean).powi(2)) / 2.0;
            products += (pair[0] - mean) * (pair[1] - mean);
            pairs += 1.0;
        }
    }
    pairs > 0.0
        && products > squares * (NEIGHBOURS_CORRELATION + normal_two_sided(1.0 - CHANCE) / f64::sqrt(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    const READS_MS: [f64; 12] = [9.0, 14.0, 11.0, 8.0, 13.0, 10.0, 15.0, 12.0, 7.0, 16.0, 9.5, 12.5];

    fn visits(slow: impl Fn(usize) -> bool) -> Vec<Vec<f64>> {
        let read = |index: usize| READS_MS[index % 12] + if slow(index) { 12.0 } else { 0.0 };
        (0..10).map(|visit| (0..30).map(|index| read(30 * visit + index)).collect()).collect()
    }

    #[test]
    fn slow_reads_that_follow_each_other_tell_of_somebody_else() {
        assert!(!are_slow_together(&visits(|_| false)));
        assert!(are_slow_together(&visits(|index| index % 100 < 12)), "12 in a row of each 100");
        assert!(!are_slow_together(&visits(|index| index % 8 == 3)), "as many, each by itself");
        assert!(!are_slow_together(&[]) && !are_slow_together(&[vec![1.0], vec![1.0]]));
    }
}
