//! The way around a stretch that cannot be read: forward in growing steps until a sample behind it succeeds, then back
//! by halves to where it ends. A drive may try for seconds at every block, so each sample is a few blocks.

use model::range::ByteRange;
use model::units::{Bytes, MIB, Offset};

/// The first step: most bad stretches are shorter, within 10 MB (Bairavasundaram et al., SIGMETRICS 2007).
const FIRST_STEP_BYTES: u64 = 64 * MIB;
/// How exactly the end is found by samples; from there on every block is tried again.
const END_BYTES: u64 = 16 * MIB;
const SAMPLE_BLOCKS: u64 = 4;
/// After each so many bad stretches the first step doubles, so that a drive that is bad all over has an end too.
const STRETCHES_PER_DOUBLING: u32 = 8;

#[derive(Clone, Debug, PartialEq)]
pub struct BadStretch {
    /// The first byte that was not tried any more.
    front: u64,
    /// Up to here it is bad, as far as samples tell.
    bad_to: u64,
    /// From here on it is good, once a sample was.
    good_from: Option<u64>,
    step: u64,
    end: u64,
    block: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    Sample(ByteRange),
    /// This much is passed over; what follows is gone through again.
    PassOver(ByteRange),
}

impl BadStretch {
    /// A stretch that was given up at `front`, as number `earlier` of the run. Up to `end` there are whole blocks.
    pub fn new(front: Offset, end: Offset, block: Bytes, earlier: u32) -> BadStretch {
        let doublings = (earlier / STRETCHES_PER_DOUBLING).min(32);
        BadStretch {
            front: front.get(),
            bad_to: front.get(),
            good_from: None,
            step: FIRST_STEP_BYTES.max(block.get() * SAMPLE_BLOCKS) << doublings,
            end: end.get(),
            block: block.get(),
        }
    }

    pub fn next_move(&self) -> Move {
        let sample_bytes = SAMPLE_BLOCKS * self.block;
        match self.good_from {
            Some(good_from) if good_from - self.bad_to <= END_BYTES.max(2 * sample_bytes) => {
                self.pass_over(self.bad_to)
            }
            Some(good_from) => self.sample(self.bad_to + (good_from - self.bad_to) / 2),
            None if self.end - self.bad_to <= sample_bytes => self.pass_over(self.end),
            None => self.sample(self.bad_to.saturating_add(self.step).min(self.end - sample_bytes)),
        }
    }

    fn sample(&self, first: u64) -> Move {
        let first = self.front + (first - self.front) / self.block * self.block;
        let bytes = (SAMPLE_BLOCKS * self.block).min(self.end - first);
        Move::Sample(
            ByteRange::new(Offset::new(first), Bytes::new(bytes)).expect("a sample lies inside the range"),
        )
    }

    fn pass_over(&self, end: u64) -> Move {
        let stretch = ByteRange::new(Offset::new(self.front), Bytes::new(end - self.front));
        Move::PassOver(stretch.expect("a bad stretch lies inside the range"))
    }

    pub fn sampled(&mut self, sample: ByteRange, is_good: bool) {
        if is_good {
            self.good_from = Some(sample.first().get());
        } else {
            self.bad_to = sample.end().get();
            self.step = self.step.saturating_mul(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::GIB;

    const BLOCK: Bytes = Bytes::new(MIB);

    /// The samples it takes around `bad`, met after `tried` bytes of it, and what is passed over.
    fn walk(bad: std::ops::Range<u64>, tried: u64, end: u64) -> (u32, ByteRange) {
        let mut stretch = BadStretch::new(Offset::new(bad.start + tried), Offset::new(end), BLOCK, 0);
        let mut samples = 0;
        loop {
            match stretch.next_move() {
                Move::Sample(sample) => {
                    samples += 1;
                    let is_good = sample.first().get() >= bad.end || sample.end().get() <= bad.start;
                    stretch.sampled(sample, is_good);
                }
                Move::PassOver(range) => return (samples, range),
            }
        }
    }

    #[test]
    fn ten_gigabytes_take_few_samples_and_end_within_16_mib() {
        let bad = 100 * GIB..100 * GIB + 10_000_000_000;
        let (samples, passed) = walk(bad.clone(), 30 * MIB, 1000 * GIB);
        assert!(samples <= 20, "{samples}");
        assert_eq!(passed.first(), Offset::new(bad.start + 30 * MIB));
        // Up to the end of a sample of 4 MiB that the bad stretch ends in.
        assert!(
            passed.end().get() < bad.end + 4 * MIB && passed.end().get() + 17 * MIB > bad.end,
            "{passed:?}"
        );
    }

    #[test]
    fn a_stretch_to_the_end_is_passed_over_as_a_whole() {
        let (samples, passed) = walk(GIB..u64::MAX, MIB, 4000 * GIB);
        assert!(samples <= 20, "{samples}");
        assert_eq!(passed.end(), Offset::new(4000 * GIB));
    }

    #[test]
    fn next_to_the_end_nothing_is_left_to_sample() {
        assert_eq!(walk(0..u64::MAX, 0, 2 * MIB), (0, ByteRange::whole(Bytes::new(2 * MIB))));
    }
}
