//! One seeded generator with the same bits on every machine and in every version.
//!
//! Xoshiro256++ by Blackman and Vigna (public domain, <https://prng.di.unimi.it/xoshiro256plusplus.c>), its state
//! filled by SplitMix64. The mapping to bounded integers is our own: a library may change its own, and stored
//! runs must be repeatable.

/// The generator. Two with the same seed and stream give the same numbers.
#[derive(Clone, Debug)]
pub struct Prng {
    state: [u64; 4],
}

impl Prng {
    /// Stream `stream` of `seed`: whoever has one of their own shifts no number of another.
    pub fn new(seed: u64, stream: u64) -> Prng {
        let mut mix = SplitMix64(seed ^ SplitMix64(stream).next());
        Prng { state: [mix.next(), mix.next(), mix.next(), mix.next()] }
    }

    /// The next 64 uniformly distributed bits of the stream.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let shifted = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);
        result
    }

    /// Uniform in `0..bound`, without bias (Lemire 2019, multiply-shift with rejection). Panics when `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a number below zero does not exist");
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let rejected = bound.wrapping_neg() % bound;
            while (product as u64) < rejected {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform in [0, 1), on a grid of 2⁻⁵³.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with mean 1: the waiting time of a Poisson process.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Standard normal (Box and Muller 1958; the second number of each pair is not used).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Puts the items into a uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// Fills `bytes` with uniform bits, which no compressor can shorten.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// Steele, Lea and Flood 2014; the recommended filler for the state of xoshiro.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// First outputs of the reference implementation from the state 1, 2, 3, 4.
    #[test]
    fn the_bits_are_those_of_the_reference() {
        let mut prng = Prng { state: [1, 2, 3, 4] };
        let expected = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205];
        assert_eq!(std::array::from_fn(|_| prng.next_u64()), expected);
    }

    /// SplitMix64 from zero, as published with its reference implementation.
    #[test]
    fn the_seeding_is_that_of_the_reference() {
        let mut mix = SplitMix64(0);
        assert_eq!([mix.next(), mix.next()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn bounded_numbers_are_even() {
        let mut prng = Prng::new(1, 0);
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[prng.below(6) as usize] += 1;
        }
        // 5 standard deviations of a binomial with n = 60000, p = 1/6 are 456.
        assert!(seen.iter().all(|&count| count.abs_diff(10_000) < 456), "{seen:?}");
    }

    #[test]
    fn normal_numbers_have_unit_variance() {
        let mut prng = Prng::new(2, 0);
        let values: Vec<f64> = (0..40_000).map(|_| prng.normal()).collect();
        let mean = values.iter().sum::<f64>() / 40_000.0;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 40_000.0;
        // 5 standard errors: 5/√40000 for the mean, 5·√2/√40000 for the variance.
        assert!(mean.abs() < 0.025 && (variance - 1.0).abs() < 0.036, "{mean} {variance}");
    }

    proptest! {
        #[test]
        fn streams_differ_and_repeat(seed in any::<u64>(), stream in 0u64..1000) {
            let first = Prng::new(seed, stream).next_u64();
            prop_assert_eq!(first, Prng::new(seed, stream).next_u64());
            prop_assert_ne!(first, Prng::new(seed, stream + 1).next_u64());
        }

        #[test]
        fn a_bounded_number_is_below_its_bound(seed in any::<u64>(), bound in 1u64..) {
            prop_assert!(Prng::new(seed, 0).below(bound) < bound);
        }

        #[test]
        fn shuffling_loses_nothing(seed in any::<u64>(), count in 0usize..50) {
            let mut items: Vec<usize> = (0..count).collect();
            Prng::new(seed, 0).shuffle(&mut items);
            items.sort_unstable();
            prop_assert_eq!(items, (0..count).collect::<Vec<_>>());
        }
    }
}
