//! How many arms answer, from how often two answers come at the same moment.
//!
//! An arm that has just answered has to move and to wait for the platter before it answers again: for a millisecond and
//! more it answers nothing. So within a moment of an answer only *other* arms answer. Of n arms that are alike, n − 1 are
//! others, so pairs of answers within a moment are 1 − 1/n of what they would be if all answers were independent: none
//! for one arm, half for two. It is how single emitters of light are counted, by their antibunching (Kimble, Dagenais and
//! Mandel 1977). Independent are answers that are several accesses apart; comparing within a fraction of a second
//! leaves out what changes slowly, such as other load, and other load cannot make one arm answer twice.

use super::crowd::Crowd;
use crate::stats::mean::Mean;
use crate::stats::ratio::{Pair, ratio_of_sums};
use model::record::IoRecord;

/// A moment, in nanoseconds. No arm answers two reads at random places within it: the shortest seeks take as long (0.5 to 1 ms
/// with settling; Ruemmler and Wilkes 1994 and data sheets since), and the platter has to turn to the place besides: a
/// moment is a quarter of a turn at 15,000 a minute.
pub(super) const MOMENT_NS: u64 = 1_000_000;
/// Lags at which answers are independent, in accesses.
const FAR_FROM: u64 = 4;
const FAR_TO: u64 = 8;
/// Stretches of time whose scatter gives the interval.
const BATCHES: usize = 24;

/// Pairs of answers within a moment as a share of those expected of independent answers, 1 − 1/n: all, and of reads that lie
/// near each other.
pub(super) struct Coincidence {
    pub all: Mean,
    pub near: Option<Mean>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    together: f64,
    apart: f64,
}

/// From crowds whose single accesses take `access_ns`; places nearer than `near_bytes` are near. None when too little was
/// answered to expect pairs.
pub(super) fn coincidence(crowds: &[Crowd], access_ns: u64, near_bytes: u64) -> Option<Coincidence> {
    let (from_ns, to_ns) = (FAR_FROM * access_ns, FAR_TO * access_ns);
    let (mut all, mut near) = (Vec::new(), Vec::new());
    for crowd in crowds {
        // What was answered at once came from a cache.
        let moved = |read: &&IoRecord| read.completed_ns.saturating_sub(read.submitted_ns) >= MOMENT_NS;
        let reads: Vec<&IoRecord> = crowd.reads().iter().filter(moved).collect();
        let Some(last) = reads.last() else { continue };
        for (index, read) in reads.iter().enumerate() {
            if read.completed_ns + to_ns > last.completed_ns {
                break;
            }
            let (mut of_all, mut of_near) = (Counts::default(), Counts::default());
            for other in &reads[index + 1..] {
                let lag_ns = other.completed_ns - read.completed_ns;
                if lag_ns >= to_ns {
                    break;
                }
                let is_near = other.offset_bytes.abs_diff(read.offset_bytes) < near_bytes;
                for counts in [Some(&mut of_all), is_near.then_some(&mut of_near)].into_iter().flatten() {
                    counts.together += f64::from(u8::from(lag_ns < MOMENT_NS));
                    counts.apart += f64::from(u8::from(lag_ns >= from_ns));
                }
            }
            all.push(of_all);
            near.push(of_near);
        }
    }
    let scale = MOMENT_NS as f64 / (to_ns - from_ns) as f64;
    Some(Coincidence { all: share(&all, scale)?, near: share(&near, scale) })
}

fn share(counts: &[Counts], scale: f64) -> Option<Mean> {
    let batches: Vec<Pair> = counts
        .chunks(counts.len().div_ceil(BATCHES).max(1))
        .map(|chunk| Pair {
            numerator: chunk.iter().map(|counts| counts.together).sum(),
            denominator: chunk.iter().map(|counts| counts.apart * scale).sum(),
        })
        .collect();
    let mut mean = ratio_of_sums(&batches).filter(|mean| mean.degrees_of_freedom >= 1.0)?;
    // Counts scatter by no less than those of independent events; one is taken where none was seen.
    let expected: f64 = batches.iter().map(|pair| pair.denominator).sum();
    let seen: f64 = batches.iter().map(|pair| pair.numerator).sum();
    mean.variance = mean.variance.max(seen.max(1.0) / (expected * expected));
    Some(mean)
}

#[cfg(test)]
mod tests {
    use super::super::crowd::tests::read;
    use super::*;
    use model::prng::Prng;

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
            let found = coincidence(&[arms(count)], 10_000_000, 1 << 37).unwrap();
            let interval = found.all.interval(0.999);
            assert!(interval.low <= share && share <= interval.high, "{count}: {interval:?}");
            assert!(interval.high - interval.low < 0.3, "{count}: {interval:?}");
            let near = found.near.unwrap().interval(0.999);
            assert!(near.low <= share && share <= near.high, "{count}: {near:?}");
        }
    }

    #[test]
    fn too_few_answers_say_nothing() {
        assert!(coincidence(&[Crowd::new([read(0, 0, 10_000_000)])], 10_000_000, 1).is_none());
        assert!(coincidence(&[], 10_000_000, 1).is_none());
    }
}
