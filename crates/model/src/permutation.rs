//! A random order of all blocks of a drive that needs no memory: a seeded bijection of `0..count`.
//!
//! A balanced Feistel network over the smallest even number of bits that holds `count`, walked on until it
//! lands inside (Black and Rogaway 2002, "cycle walking"): at most four steps on average, since the domain
//! is at most four times `count`. A 30 TB drive has 7·10⁹ blocks of 4 KiB; a list of them would take 59 GB.

use crate::prng::Prng;

/// Four rounds suffice for a pseudo-random permutation (Luby and Rackoff 1988).
const ROUNDS: usize = 4;

#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation that `prng` chooses. Panics when `count` is zero or above 2⁶².
    pub fn new(count: u64, prng: &mut Prng) -> Permutation {
        assert!((1..=1 << 62).contains(&count), "a permutation of 1 to 2^62 items");
        let bits = u64::BITS - (count - 1).leading_zeros();
        Permutation {
            count,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| prng.next_u64()),
        }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Where item `index` goes. Panics unless `index < count`.
    #[inline]
    pub fn apply(&self, index: u64) -> u64 {
        assert!(index < self.count, "an index of the permutation");
        let mut value = self.encipher(index);
        while value >= self.count {
            value = self.encipher(value);
        }
        value
    }

    #[inline]
    fn encipher(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            // The finaliser of MurmurHash3 (Appleby, public domain) as round function.
            let mut round = (right ^ key).wrapping_mul(0xff51_afd7_ed55_8ccd);
            round ^= round >> 33;
            round = round.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
            round ^= round >> 33;
            (left, right) = (right, left ^ (round & mask));
        }
        (left << self.half_bits) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_item_comes_once(count in 1u64..5000, seed in any::<u64>()) {
            let permutation = Permutation::new(count, &mut Prng::new(seed, 0));
            let mut seen: Vec<u64> = (0..count).map(|index| permutation.apply(index)).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..count).collect::<Vec<_>>());
        }

        #[test]
        fn a_huge_domain_stays_inside(count in (1u64 << 40)..=1 << 62, seed in any::<u64>(), index in any::<u64>()) {
            let permutation = Permutation::new(count, &mut Prng::new(seed, 0));
            prop_assert!(permutation.apply(index % count) < count);
        }
    }

    #[test]
    fn the_order_is_not_sequential() {
        let permutation = Permutation::new(100_000, &mut Prng::new(7, 0));
        let order: Vec<u64> = (0..1000).map(|index| permutation.apply(index)).collect();
        let mean_step = order.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum::<u64>() / 999;
        // The mean distance of two uniform points is a third of the span.
        assert!((30_000..37_000).contains(&mean_step), "{mean_step}");
    }
}
