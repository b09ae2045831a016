//! How many arms answer, from how often two answers come at the same moment.
//!
//! An arm that has just answered has to move and to wait for the platter before it answers again: for a millisecond and more it answers nothing.
//! So within a moment of an answer only *other* arms answer. Of n arms that are alike, n − 1 are others, so pairs of answers within a moment are
//! 1 − 1/n of what they would be if all answers were independent: none for one arm, half for two. It is how single emitters of light are
//! counted, by their antibunching (Kimble, Dagenais and Mandel 1977). Independent are answers that are several accesses apart; comparing within
//! a fraction of a second leaves out what changes slowly, such as other load, and other load cannot make one arm answer twice.
//!
//! A host that is kept from running hands over several answers at once when it goes on, within a quarter of a millisecond.
//! Without them too little is counted, and with them too much: the truth lies between.

use super::crowd::Crowd;
use crate::stats::mean::Mean;
use crate::stats::ratio::{Pair, ratio_of_sums};
use model::record::IoRecord;

/// A moment is a fifth of the access time that a twentieth of single reads undercuts. Of 16 reads under way an arm takes about that one
/// next: within a fifth of it no arm gets far, and the platter has to turn besides.
const MOMENT_PARTS: u64 = 5;
/// Arms that serve their queues in order take as long for each as for a single read: within half of the time that a twentieth undercuts
/// they answer twice in no more than one of a hundred times, since the share that is quicker than `t` falls with the square of what is
/// left of `t` above the least: of a seek that may be as short and of a turn that may be.
const MOMENT_PARTS_UNSORTED: u64 = 2;
/// Whatever single reads take, in nanoseconds: an arm settles in no less than half of a millisecond (Ruemmler and Wilkes 1994 and
/// data sheets since), and within more than the other a disk of 15,000 turns a minute may answer twice.
const MOMENT_NS: (u64, u64) = (750_000, 1_500_000);
/// Answers that are nearer may have been handed over together: hosts are late by 50 to 100 µs for each of them.
const TOGETHER_NS: u64 = 250_000;
/// What is answered sooner was answered by a cache, in nanoseconds: an arm has to settle at least.
const CACHED_NS: u64 = 1_000_000;
/// Lags at which answers are independent, in accesses.
const FAR_FROM: u64 = 4;
const FAR_TO: u64 = 8;
const BATCHES: usize = 24;

/// Pairs of answers within a moment over those expected of independent answers, 1 − 1/n: all, and of near reads.
pub(super) struct Coincidence {
    pub all: Mean,
    pub near: Option<Mean>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    moment: f64,
    /// Of these, those that were not handed over together.
    parted: f64,
    independent: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub median_ns: u64,
    pub quick_ns: u64,
}

struct Lags {
    moment_ns: u64,
    from_ns: u64,
    to_ns: u64,
}

/// Which answers are so near that no arm has given both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    OfAnyArm,
    /// Longer: of arms of which it is known that they do not sort what waits.
    OfArmsThatDoNotSort,
}

impl Lags {
    fn of(access: Access, moment: Moment) -> Lags {
        let of_any_ns = (access.quick_ns / MOMENT_PARTS).clamp(MOMENT_NS.0, MOMENT_NS.1);
        Lags {
            moment_ns: match moment {
                Moment::OfAnyArm => of_any_ns,
                Moment::OfArmsThatDoNotSort => of_any_ns.max(access.quick_ns / MOMENT_PARTS_UNSORTED),
            },
            from_ns: FAR_FROM.saturating_mul(access.median_ns),
            to_ns: FAR_TO.saturating_mul(access.median_ns),
        }
    }
}

impl Counts {
    fn add(&mut self, lag_ns: u64, lags: &Lags) {
        self.moment += f64::from(u8::from(lag_ns < lags.moment_ns));
        self.parted += f64::from(u8::from((TOGETHER_NS..lags.moment_ns).contains(&lag_ns)));
        self.independent += f64::from(u8::from(lag_ns >= lags.from_ns));
    }
}

/// From crowds; places nearer than `near_bytes` are near. None when too little was answered to expect pairs.
pub(super) fn coincidence(
    crowds: &[Crowd],
    access: Access,
    moment: Moment,
    near_bytes: u64,
) -> Option<Coincidence> {
    let lags = Lags::of(access, moment);
    let (mut all, mut near) = (Vec::new(), Vec::new());
    for crowd in crowds {
        let reads = moved_reads(crowd);
        let Some(last) = reads.last() else { continue };
        for (index, read) in reads.iter().enumerate() {
            if read.completed_ns.saturating_add(lags.to_ns) > last.completed_ns {
                break;
            }
            let (mut of_all, mut of_near) = (Counts::default(), Counts::default());
            for other in &reads[index + 1..] {
                let lag_ns = other.completed_ns.saturating_sub(read.completed_ns);
                if lag_ns >= lags.to_ns {
                    break;
                }
                of_all.add(lag_ns, &lags);
                if other.offset_bytes.abs_diff(read.offset_bytes) < near_bytes {
                    of_near.add(lag_ns, &lags);
                }
            }
            all.push(of_all);
            near.push(of_near);
        }
    }
    Some(Coincidence { all: between(&all, &lags)?, near: between(&near, &lags) })
}

/// Those that no memory answered: an arm did.
fn moved_reads(crowd: &Crowd) -> Vec<&IoRecord> {
    crowd.reads().iter().filter(|read| read.service_ns() >= CACHED_NS).collect()
}

/// The places of each two reads that were answered within a moment, and were not handed over together: no arm has answered both.
pub(super) fn close_pairs(crowds: &[Crowd], access: Access) -> Vec<(u64, u64)> {
    let moment_ns = Lags::of(access, Moment::OfAnyArm).moment_ns;
    let mut pairs = Vec::new();
    for crowd in crowds {
        let reads = moved_reads(crowd);
        for (index, read) in reads.iter().enumerate() {
            for other in &reads[index + 1..] {
                let lag_ns = other.completed_ns.saturating_sub(read.completed_ns);
                if lag_ns >= moment_ns {
                    break;
                }
                if lag_ns >= TOGETHER_NS {
                    pairs.push((read.offset_bytes, other.offset_bytes));
                }
            }
        }
    }
    pairs
}

/// The share with and without what was handed over together: anywhere between them is equally likely.
fn between(counts: &[Counts], lags: &Lags) -> Option<Mean> {
    let per_ns = 1.0 / (lags.to_ns - lags.from_ns).max(1) as f64;
    let with = share(counts, |counts| counts.moment, per_ns * lags.moment_ns as f64)?;
    let without = share(counts, |counts| counts.parted, per_ns * (lags.moment_ns - TOGETHER_NS) as f64)?;
    let width = with.value - without.value;
    Some(Mean {
        value: (with.value + without.value) / 2.0,
        variance: with.variance.max(without.variance) + width * width / 12.0,
        ..with
    })
}

fn share(counts: &[Counts], close: fn(&Counts) -> f64, scale: f64) -> Option<Mean> {
    let (mut batches, mut expected, mut seen) = (Vec::new(), 0.0, 0.0_f64);
    for chunk in counts.chunks(counts.len().div_ceil(BATCHES).max(1)) {
        let mut pair = Pair::default();
        for counts in chunk {
            pair.numerator += close(counts);
            pair.denominator += counts.independent * scale;
        }
        expected += pair.denominator;
        seen += pair.numerator;
        batches.push(pair);
    }
    let mut mean = ratio_of_sums(&batches)?;
    if mean.degrees_of_freedom < 1.0 {
        return None;
    }
    // Counts scatter by no less than those of independent events; one is taken where none was seen.
    mean.variance = mean.variance.max(seen.max(1.0) / (expected * expected));
    Some(mean)
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use model::prng::Prng;

    const ACCESS: Access = Access { median_ns: 10_000_000, quick_ns: 5_500_000 };

    /// Arms that each answer after 5 to 15 ms, for 60 s.
    fn arms(count: u64) -> Crowd {
        let mut prng = Prng::new(3, 0);
        let mut reads = Vec::new();
        for _ in 0..count {
            let mut at_ns = 0;
            while at_ns < 60_000_000_000 {
                let done_ns = at_ns + 5_000_000 + prng.below(10_000_000);
                reads.push(read(prng.below(1 << 40), at_ns, done_ns));
                at_ns = done_ns;
            }
        }
        Crowd::new(reads)
    }

    #[test]
    fn each_number_of_arms_has_its_share() {
        for (count, share) in [(1, 0.0), (2, 0.5), (3, 0.667), (8, 0.875)] {
            let found = coincidence(&[arms(count)], ACCESS, Moment::OfAnyArm, 1 << 37).unwrap();
            let interval = found.all.interval(0.999);
            assert!(interval.low <= share && share <= interval.high, "{count}: {interval:?}");
            assert!(interval.high - interval.low < 0.3, "{count}: {interval:?}");
            let near = found.near.unwrap().interval(0.999);
            assert!(near.low <= share && share <= near.high, "{count}: {near:?}");
        }
    }

    #[test]
    fn answers_that_were_handed_over_together_are_no_more_arms() {
        // Now and then the host sleeps for 20 ms, and then hands over what came meanwhile, 40 µs apart.
        let arms = arms(2);
        let (mut reads, mut until_ns, mut later_ns) = (arms.reads().to_vec(), 0, 0);
        for read in &mut reads {
            if read.completed_ns / 20_000_000 % 50 == 7 {
                let end_ns = read.completed_ns.next_multiple_of(20_000_000);
                later_ns = if end_ns == until_ns { later_ns + 40_000 } else { 0 };
                until_ns = end_ns;
                read.completed_ns = end_ns + later_ns;
            }
        }
        let found = coincidence(&[Crowd::new(reads)], ACCESS, Moment::OfAnyArm, 1 << 37).unwrap().all;
        let interval = found.interval(0.95);
        // Nearer to two arms than to three.
        assert!(interval.low <= 0.5 && 0.5 <= interval.high && interval.value < 0.583, "{interval:?}");
    }

    #[test]
    fn too_few_answers_say_nothing() {
        assert!(coincidence(&[Crowd::new([read(0, 0, 10_000_000)])], ACCESS, Moment::OfAnyArm, 1).is_none());
        assert!(coincidence(&[], ACCESS, Moment::OfAnyArm, 1).is_none());
    }
}
