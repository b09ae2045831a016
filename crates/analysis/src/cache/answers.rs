//! Which answers came from memory: told apart by answers that surely did, and answers that surely did not.

use crate::stats::quantile::at_share;

/// From this factor between the slowest sure hits and the quickest sure misses on they are told apart: on a disk it is 10 and more.
const SEPARATION_MIN: f64 = 2.0;
/// The share of either kind that may lie on the wrong side: reads that other work held up, places that were passed by just then.
const STRAY_SHARE: f64 = 0.1;
/// A system call and a copy take about this long: a medium that answers sooner is none.
const MEDIUM_NS_MIN: f64 = 1000.0;
/// An answer from memory is at most so many times as slow as the slow ones among the sure hits.
const HIT_MARGIN: f64 = 1.5;
/// Rotational latency is half a revolution more in the median than at the least: 2 ms at 15,000 rpm. A host wakes in 100 µs.
const AT_ONCE_NS: f64 = 300_000.0;
/// Fewer of either kind tell nothing.
const COUNT_MIN: usize = 5;

/// Why answers of memory were not told from those of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTold {
    TooFew,
    /// No medium answers as fast as all of them were.
    AllOfMemory,
    /// What was just read takes as long as anything else.
    Alike,
    /// Most of what was just read comes sooner than anything else, but too much of it late.
    Late,
    /// What was just read comes at once, but so does a tenth of anything else and more.
    QuickElsewhere,
    /// What was just read comes sooner than anything else and yet not at once, but as what lies near the arm does.
    Anew,
    /// Both kinds are apart, but near and far from what was read they follow no order.
    Disorder,
}

/// Answers up to this long came from memory, in nanoseconds; or why the two kinds cannot be told apart.
pub(super) fn threshold_ns(mut hits: Vec<u64>, mut misses: Vec<u64>) -> Result<f64, NotTold> {
    if hits.len() < COUNT_MIN || misses.len() < COUNT_MIN {
        return Err(NotTold::TooFew);
    }
    hits.sort_unstable();
    misses.sort_unstable();
    let slow_hit = ns_at(&hits, 1.0 - STRAY_SHARE).max(1.0);
    let quick_miss = ns_at(&misses, STRAY_SHARE);
    if quick_miss < MEDIUM_NS_MIN {
        return Err(NotTold::AllOfMemory);
    }
    if quick_miss < SEPARATION_MIN * slow_hit {
        let (median_hit, median_miss) = (hits[hits.len() / 2] as f64, misses[misses.len() / 2] as f64);
        let is_mostly_apart = median_miss >= SEPARATION_MIN * median_hit;
        return Err(match (is_mostly_apart, is_at_once(&hits, 0.5)) {
            (true, true) if is_at_once(&hits, 1.0 - STRAY_SHARE) => NotTold::QuickElsewhere,
            (true, true) => NotTold::Late,
            (true, false) => NotTold::Anew,
            (false, _) => NotTold::Alike,
        });
    }
    // By chance the head was over most of them soon.
    if !is_at_once(&hits, 0.5) {
        return Err(NotTold::Anew);
    }
    // Not half way to the misses: a place that is just passing by is reached in no time too, and the more such the later it is.
    Ok((slow_hit * quick_miss).sqrt().min(HIT_MARGIN * slow_hit))
}

/// Whether that share of these reads took one time, as memory does: what is read anew near the arm takes anything from nothing to a turn.
fn is_at_once(sorted: &[u64], share: f64) -> bool {
    let (slow_ns, quick_ns) = (ns_at(sorted, share), ns_at(sorted, 0.0));
    slow_ns <= (HIT_MARGIN * quick_ns).max(quick_ns + AT_ONCE_NS)
}

fn ns_at(sorted: &[u64], share: f64) -> f64 {
    at_share(sorted, share).unwrap_or(0) as f64
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    pub distance: u64,
    pub is_hit: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// The largest distance on the near side, and the smallest on the far side; none where no probe lies there.
    pub low: Option<u64>,
    pub high: Option<u64>,
    /// The same for all places of the step that explain the probes nearly as well.
    pub lowest: Option<u64>,
    pub highest: Option<u64>,
    /// Probes that it does not explain, as a share.
    pub stray_share: f64,
}

/// The step that explains most probes: hits before it, misses after it. Steps that leave one more unexplained belong to it: with a
/// tenth of strays that is a factor of nine in likelihood, and a 95 % interval allows for 6.8.
pub(super) fn step(probes: &[Probe]) -> Option<Step> {
    let mut sorted = probes.to_vec();
    sorted.sort_by_key(|probe| probe.distance);
    let total_hits = sorted.iter().filter(|probe| probe.is_hit).count();
    if sorted.is_empty() {
        return None;
    }
    // Strays when the step is before the probe of that number: misses before it, hits from it on.
    let (mut misses_before, mut hits_before) = (0, 0);
    let mut strays = vec![total_hits];
    for probe in &sorted {
        if probe.is_hit {
            hits_before += 1;
        } else {
            misses_before += 1;
        }
        strays.push(misses_before + total_hits - hits_before);
    }
    let mut places = Vec::new();
    for at in 0..=sorted.len() {
        if at == 0 || at == sorted.len() || sorted[at - 1].distance < sorted[at].distance {
            places.push(at);
        }
    }
    let least = places.iter().map(|&at| strays[at]).min()?;
    let mut best = places.clone();
    best.retain(|&at| strays[at] == least);
    let mut good = places;
    good.retain(|&at| strays[at] <= least + 1);
    let before = |at: usize| Some(sorted[at.checked_sub(1)?].distance);
    let after = |at: usize| Some(sorted.get(at)?.distance);
    Some(Step {
        low: before(*best.first()?),
        high: after(*best.last()?),
        lowest: before(*good.first()?),
        highest: after(*good.last()?),
        stray_share: least as f64 / sorted.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_disk_and_its_memory_are_told_apart() {
        let hits = vec![
            200_000, 210_000, 220_000, 230_000, 250_000, 9_000_000, 240_000, 215_000, 205_000, 225_000,
            235_000,
        ];
        let misses = vec![5_000_000, 9_000_000, 12_000_000, 14_000_000, 20_000_000, 8_000_000];
        let threshold = threshold_ns(hits, misses).unwrap();
        assert_eq!(threshold, 375_000.0);
        let none = Err(NotTold::AllOfMemory);
        assert_eq!(threshold_ns(vec![0; 9], vec![9; 9]), none, "no medium answers in 9 ns");
        assert_eq!(threshold_ns(vec![80_000; 9], vec![100_000; 9]), Err(NotTold::Alike));
        assert_eq!(threshold_ns(vec![80; 3], vec![100_000; 9]), Err(NotTold::TooFew));
    }

    /// Two of eight answers of memory were late, by as much as a read of the medium: that is no drive that keeps nothing.
    #[test]
    fn late_answers_are_not_taken_for_a_drive_that_keeps_nothing() {
        let mut hits = vec![200_000; 6];
        hits.extend([9_000_000, 12_000_000]);
        assert_eq!(threshold_ns(hits, vec![9_000_000; 30]), Err(NotTold::Late));
    }

    /// Of a tier: a third of all reads are those of an SSD.
    #[test]
    fn quick_reads_elsewhere_are_no_late_answers_of_memory() {
        let elsewhere = (0..30).map(|part| if part % 3 == 0 { 56_000 } else { 9_000_000 }).collect();
        assert_eq!(threshold_ns(vec![50_000; 8], elsewhere), Err(NotTold::QuickElsewhere));
    }

    /// A disk whose read-ahead takes the place of what was read: once more it waits for part of a turn of 8.3 ms.
    #[test]
    fn what_is_read_anew_near_the_arm_is_not_taken_for_late_answers_of_memory() {
        let again = (1..=16).map(|part| 200_000 + part * 500_000).collect();
        let elsewhere = (0..30).map(|part| 8_000_000 + part * 500_000).collect();
        assert_eq!(threshold_ns(again, elsewhere), Err(NotTold::Anew));
    }

    /// Eight rereads that were not from memory, on a disk of 7200 rpm whose access times are 5 to 25 ms.
    #[test]
    fn rereads_that_the_head_met_soon_are_no_hits() {
        let again = [4778, 5525, 3337, 3680, 2638, 355, 3420, 4539].map(|us| us * 1000).to_vec();
        let elsewhere = (0..30).map(|part| 10_000_000 + part * 500_000).collect();
        assert_eq!(threshold_ns(again, elsewhere), Err(NotTold::Anew));
    }

    #[test]
    fn one_stray_widens_and_does_not_move() {
        let probe = |distance, is_hit| Probe { distance, is_hit };
        let probes = [
            probe(1, true),
            probe(2, true),
            probe(4, false),
            probe(8, true),
            probe(16, true),
            probe(32, false),
        ];
        let step = step(&probes).unwrap();
        assert_eq!((step.low, step.high), (Some(16), Some(32)));
        assert_eq!((step.lowest, step.highest), (Some(2), None));
        assert!((step.stray_share - 1.0 / 6.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn a_clean_step_is_found(distances in prop::collection::btree_set(1u64..10_000, 2..40), at in 1u64..10_000) {
            let probes: Vec<Probe> =
                distances.iter().map(|&distance| Probe { distance, is_hit: distance <= at }).collect();
            let step = step(&probes).unwrap();
            prop_assert_eq!(step.low, distances.iter().copied().rfind(|&distance| distance <= at));
            prop_assert_eq!(step.high, distances.iter().copied().find(|&distance| distance > at));
            prop_assert_eq!(step.stray_share, 0.0);
        }
    }
}
